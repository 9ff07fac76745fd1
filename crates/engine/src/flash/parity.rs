//! Block groups on several dies: programs of one end on each of them, and it is erased on all. Where one of these holds parity, its
//! pages go there behind the data of their stripe.
//!
//! The controller adds pages up as they go to their dies, so that the parity of a stripe that is not full stays there: nothing
//! is padded for it, and a FLUSH does not wait for it.

use ninescope_kernel::WakeQueue;
use ninescope_model::{BlockGroup, Ppa, Stream};

use super::Flash;
use super::programs::FirstWriter;
use crate::meter::LastingShare;
use crate::run::Run;
use crate::transaction::{QueueClass, Transaction};

impl Flash {
    /// All pages of a row went to their die, the one at `last` as the last: behind the last row of a stripe goes its parity.
    #[cold]
    pub(super) fn row_sent<Q: WakeQueue>(&mut self, run: &mut Run<Q>, stream: Stream, last: Ppa) {
        let (group, offset) = self.geometry.group_and_offset(last);
        let (page, member) = self.geometry.page_and_member(self.geometry.within_group(offset).0);
        if member + 1 != self.geometry.data_dies() {
            return;
        }
        let class = if stream.is_of_moves() { QueueClass::MoveProgram } else { QueueClass::HostProgram };
        let units = self.geometry.units_per_page() as u8;
        for plane in 0..self.geometry.frontier_planes {
            let ppa = self.geometry.parity_page(group, page, plane);
            let index = self.enqueue_in_set(run, Transaction::parity_program(ppa, units, class));
            // It is nobody's own.
            run.transactions.filled_by(index, LastingShare::NONE);
            if run.transactions.tenants.is_some() {
                self.program_counts_for(run, index, FirstWriter::NONE);
            }
        }
    }

    /// A page of a parity stripe is about to be read: its group, which is returned, is not erased before that ends.
    #[cold]
    pub fn stripe_read_queued(&mut self, ppa: Ppa) -> BlockGroup {
        let group = self.geometry.locate(ppa).group;
        self.ftl.read_queued(group);
        group
    }

    /// A page of data or parity was programmed. Returns its group where it is the first one of that.
    #[cold]
    pub(super) fn page_of_set_programmed(&mut self, ppa: Ppa) -> Option<BlockGroup> {
        let group = self.geometry.locate(ppa).group;
        let is_new = self.ftl.page_programmed(ppa);
        if self.ftl.group(group).programmed == self.geometry.units_per_group() {
            // It may be the victim that garbage collection had been waiting for.
            self.collection.touch(self.geometry.pool_and_block(group).0);
        }
        is_new.then_some(group)
    }

    /// Queues the erases of a group, one on each of its dies.
    #[cold]
    pub(super) fn queue_erases<Q: WakeQueue>(&mut self, run: &mut Run<Q>, group: BlockGroup) {
        let geometry = self.geometry;
        for row in 0..geometry.data_dies() {
            let ppa = Ppa(geometry.first_unit(group).0 + row * geometry.units_per_stripe());
            self.enqueue_in_set(run, Transaction::erase(ppa));
        }
        if geometry.parity.is_some() {
            self.enqueue_in_set(run, Transaction::erase(geometry.parity_page(group, 0, 0)));
        }
    }

    /// A die has erased its blocks of a group. Returns whether it was the last one that had to.
    #[inline]
    pub fn is_erased(&mut self, group: BlockGroup) -> bool {
        !self.geometry.spans_dies() || self.ftl.blocks_erased(group)
    }
}
