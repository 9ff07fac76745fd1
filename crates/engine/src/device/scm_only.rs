//! Placement `scm-only`: every sector lies in storage-class memory, slot after slot, and nowhere else.
//!
//! A command becomes one transaction per slot it touches. A write completes when its sectors are written: the memory is
//! non-volatile and fast, so that there is no buffer to hide it, and a FLUSH has nothing to wait for. The order in which a
//! bank issues transactions is the order of contents.

use ninescope_kernel::NONE;
use ninescope_model::{Cause, SlotId};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::meter::Parts;
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Turns a read, or a write whose data is in the controller, into accesses of slots.
    #[inline(never)]
    #[allow(clippy::unnecessary_wraps)] // all paths of a command have the same type
    pub(super) fn start_on_scm(&mut self, index: u32, class: QueueClass) -> Result<(), SimulationError> {
        let command = self.host.sets_out(index, self.run.now);
        let (mut sector, end) = (command.lba, command.lba + u64::from(command.sectors));
        let per_slot = u64::from(self.scm.layout().medium(0).sectors_per_slot);
        let shift = per_slot.trailing_zeros();
        let parts = (((end - 1) >> shift) - (sector >> shift) + 1) as u32;
        self.host.has_parts(index, parts);
        if parts > 1 {
            self.run.transactions.has_several_parts(index, true);
        }
        while sector < end {
            let slot = sector >> shift;
            let (from, to) = (sector - (slot << shift), end.min((slot + 1) << shift) - (slot << shift));
            let mask = (((1_u64 << (to - from)) - 1) << from) as u32;
            let access = Transaction::on_slot(SlotId(slot as u32), mask, class, index);
            self.scm.enqueue(&mut self.run, access);
            sector += to - from;
        }
        Ok(())
    }

    /// Nothing is erased before it is overwritten, so that nothing is gained by forgetting.
    pub(super) fn trim_on_scm(&mut self, index: u32) -> Result<(), SimulationError> {
        self.scm.ignore_trim(self.host.command(index).sectors);
        self.complete(index, &mut Parts::default(), NONE)
    }

    /// The sectors of a write are on the media.
    pub(super) fn slot_written(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let access = self.run.transactions.slab[transaction];
        let (command, queued) = (access.command(), access.queued);
        if self.tier.as_mut().is_some_and(|part| part.awaits_copy(access.slot().0, command)) {
            self.run.transactions.slab.remove(transaction);
            return Ok(());
        }
        let mut parts = Parts::default();
        // Where the page had no slot, it waited for one.
        let came = self.host.command(command).mark;
        parts.add(Cause::MigrationWait, queued - came);
        if queued > came {
            self.waited_for_slot(command, (came, queued));
        }
        self.run.transactions.add_write(transaction, self.run.now, &mut parts);
        self.finish_part(command, &mut parts, transaction)?;
        self.run.transactions.slab.remove(transaction);
        Ok(())
    }
}
