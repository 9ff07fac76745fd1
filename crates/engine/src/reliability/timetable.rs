//! What happens at times that are known in advance: decodes and refetches that end, timers.
//!
//! They share one wake-up slot. Of several things at one time, the one noted first comes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ninescope_ftl::Residence;
use ninescope_kernel::Ns;
use ninescope_model::{BankId, Lpa};

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appointment {
    /// The data of a read is at the decoders that all channels share.
    AtDecoder {
        /// The transaction that read it.
        transaction: u32,
    },
    /// Sectors that a bank read are at the decoders that all channels share.
    SectorsAtDecoder {
        /// The bank.
        bank: BankId,
        /// The transaction that read them.
        transaction: u32,
    },
    /// Data that stays in the controller was decoded.
    Decoded {
        /// The transaction that read it.
        transaction: u32,
    },
    /// A page that a host read brought is decoded, for the migration that takes it up as well.
    BroughtUp {
        /// The migration.
        migration: u32,
    },
    /// A read did not decode.
    Failed {
        /// The transaction.
        transaction: u32,
    },
    /// What was lost of a read has come from the backing store.
    Refetched {
        /// The transaction.
        transaction: u32,
    },
    /// Pages of the map that a read lost were found again.
    MapRebuilt {
        /// The transaction that read them.
        transaction: u32,
    },
    /// The content of a unit has come from the backing store, to be written anew.
    Prefetched {
        /// The unit.
        lpa: Lpa,
        /// Where the copy lay that was no good.
        from: Residence,
    },
    /// A pass of the scrubber begins.
    ScrubPass,
    /// All groups are looked at, whether they are to be refreshed.
    RefreshCheck,
    /// Units go wrong at once, or begin to, one after another.
    FirstCorruption,
    /// The time of units has come that go wrong one after another.
    TimedCorruption,
    /// Something in the array becomes corrupt.
    Corruption,
    /// A die is to fail.
    DieFails {
        /// Which one of those that do.
        number: usize,
    },
    /// The rebuild of dies that failed may go on.
    RebuildGoesOn,
}

impl Appointment {
    /// Whether nothing waits for it, so that it is forgotten when the host has ended.
    fn is_timer(self) -> bool {
        matches!(
            self,
            Self::ScrubPass
                | Self::RefreshCheck
                | Self::FirstCorruption
                | Self::TimedCorruption
                | Self::Corruption
                | Self::DieFails { .. }
                | Self::RebuildGoesOn
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Ns,
    order: u64,
    what: Appointment,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Appointments in the order of their times.
#[derive(Debug)]
pub struct Timetable {
    entries: BinaryHeap<Reverse<Entry>>,
    noted: u64,
}

impl Timetable {
    /// An empty one that does not allocate below so many entries.
    pub fn with_capacity(entries: usize) -> Self {
        Self { entries: BinaryHeap::with_capacity(entries), noted: 0 }
    }

    /// Notes something; returns whether it comes before everything else, so that the wake-up must move.
    #[inline]
    pub fn note(&mut self, at: Ns, what: Appointment) -> bool {
        let first = self.next().is_none_or(|next| at < next);
        self.entries.push(Reverse(Entry { at, order: self.noted, what }));
        self.noted += 1;
        first
    }

    /// When the next thing happens.
    #[inline]
    pub fn next(&self) -> Option<Ns> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next thing, if its time has come.
    #[inline]
    pub fn due(&mut self, now: Ns) -> Option<Appointment> {
        if self.next().is_none_or(|next| next > now) {
            return None;
        }
        self.entries.pop().map(|Reverse(entry)| entry.what)
    }

    /// Whether nothing is noted that something waits for.
    pub fn has_only_timers(&self) -> bool {
        self.entries.iter().all(|Reverse(entry)| entry.what.is_timer())
    }

    /// Forgets what nothing waits for.
    pub fn drop_timers(&mut self) {
        self.entries.retain(|Reverse(entry)| !entry.what.is_timer());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_happen_in_the_order_of_their_times_and_then_of_noting() {
        let mut timetable = Timetable::with_capacity(4);
        assert!(timetable.note(Ns(20), Appointment::Failed { transaction: 1 }));
        assert!(!timetable.note(Ns(20), Appointment::Failed { transaction: 2 }), "behind the first");
        assert!(timetable.note(Ns(10), Appointment::ScrubPass));
        assert_eq!(timetable.due(Ns(9)), None);
        assert_eq!(timetable.due(Ns(10)), Some(Appointment::ScrubPass));
        assert!(timetable.note(Ns(5), Appointment::Corruption));
        timetable.drop_timers();
        assert_eq!(timetable.due(Ns(20)), Some(Appointment::Failed { transaction: 1 }));
        assert_eq!(timetable.due(Ns(20)), Some(Appointment::Failed { transaction: 2 }));
        assert_eq!(timetable.next(), None);
    }
}
