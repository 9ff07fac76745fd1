//! Page accesses that no decoder makes good and that have parity over dies: the rest of their stripe is read, and what those pages
//! come to is what was lost, unless one of them is no good at the same place.

use ninescope_model::Source;

use super::Reliability;
use super::code::Decoded;
use super::recovery::is_fetched;
use crate::transaction::{Transaction, TransactionStore};

/// An access the rest of whose stripe is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rebuild {
    /// The access.
    transaction: u32,
    /// Pages of its stripe that are still to come.
    pending: u32,
    /// Units of a page, by their place in it, of which one of the others is lost, or wrong.
    lost: u32,
    wrong: u32,
}

/// What came of an access by the rest of its stripe: its units by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rebuilt {
    /// Units found again, whether or not they are what they should be.
    pub found: u32,
    /// Units that are lost.
    pub lost: u32,
    /// Of those that were found again, the ones that are wrong, which nobody notices.
    pub wrong: u32,
}

impl Reliability {
    /// Whether an access whose data was drawn will be found again by its stripe. A page that is read for that is not.
    pub(super) fn will_be_rebuilt(&self, transaction: &Transaction, index: u32) -> bool {
        let sensed = self.sensed(index);
        self.rebuilds.is_some()
            && transaction.source != Source::Parity
            && sensed.decoded.failed != 0
            && !is_fetched(self, sensed.code, transaction.source)
            && !self.will_be_read_again(transaction, index)
    }

    /// The rest of the stripe of an access is read, which is so many pages.
    pub(crate) fn begin_rebuild(&mut self, (transaction, source): (u32, Source), pages: u32) {
        if source == Source::Rebuild {
            self.counters.rebuild_page_reads += u64::from(pages);
        } else {
            self.counters.degraded_reads += 1;
            self.counters.stripe_page_reads += u64::from(pages);
        }
        let rebuilds = self.rebuilds.as_mut().expect("a drive with parity");
        rebuilds.push(Rebuild { transaction, pending: pages, lost: 0, wrong: 0 });
    }

    /// A page of a stripe was read for an access, its units from the one at `first` of their page on. Returns whether it was the
    /// last one.
    pub(crate) fn stripe_page_read(&mut self, read: u32, transaction: u32, first: u32) -> bool {
        let Decoded { failed, undetected, .. } = self.sensed(read).decoded;
        let Some(rebuild) = self.rebuilds.iter_mut().flatten().find(|rebuild| rebuild.transaction == transaction)
        else {
            return false;
        };
        rebuild.lost |= failed << first;
        rebuild.wrong |= undetected << first;
        rebuild.pending -= 1;
        rebuild.pending == 0
    }

    /// All of the stripe of an access is there.
    pub(crate) fn end_rebuild(
        &mut self,
        transactions: &TransactionStore,
        transaction: u32,
        units_per_page: u32,
    ) -> Rebuilt {
        let rebuilds = self.rebuilds.as_mut().expect("a drive with parity");
        let position = rebuilds.iter().position(|rebuild| rebuild.transaction == transaction);
        let rebuild = rebuilds.swap_remove(position.expect("an access the rest of whose stripe was read"));
        let failed = self.failed_units(transaction);
        let (mut lost, mut wrong) = (0, 0);
        for number in super::ones(failed) {
            let unit = self.unit_of_access(transactions, transaction, number).1.place.0 & (units_per_page - 1);
            lost |= (rebuild.lost >> unit & 1) << number;
            wrong |= (rebuild.wrong >> unit & 1) << number;
        }
        let (found, wrong) = (failed & !lost, wrong & !lost);
        if transactions.slab[transaction].source != Source::Rebuild {
            self.counters.units_rebuilt += u64::from(found.count_ones());
            self.counters.failed_reads += u64::from(lost != 0);
        }
        let decoded = &mut self.sensed[transaction as usize].decoded;
        decoded.failed = lost;
        decoded.undetected |= wrong;
        Rebuilt { found, lost, wrong }
    }
}
