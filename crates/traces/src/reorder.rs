//! Puts records in order of time by holding back a bounded number of them.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::record::TraceRecord;

/// What became of a record's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// It came in order.
    InOrder,
    /// It came late and was put in order.
    Reordered,
    /// It came too late: a later one has left the window; its time was raised to that one's.
    Clamped,
}

/// A record held back, ordered by (time, order of arrival).
struct Held {
    record: TraceRecord,
    sequence: u64,
}

impl Held {
    fn key(&self) -> (u64, u64) {
        (self.record.time_ns, self.sequence)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// A priority queue of the records held back. Almost all records of a real trace are in order, so those
/// wait in a plain queue, sorted by construction, and only the late ones go through a heap.
pub(super) struct ReorderWindow {
    capacity: usize,
    in_order: VecDeque<Held>,
    late: BinaryHeap<Reverse<Held>>,
    arrived: u64,
    released_ns: u64,
}

impl ReorderWindow {
    /// A window that holds back `capacity` records; 0 passes every record on.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, in_order: VecDeque::new(), late: BinaryHeap::new(), arrived: 0, released_ns: 0 }
    }

    /// Whether the window holds more than its capacity, so that a record must leave before the next comes.
    pub fn is_over_full(&self) -> bool {
        self.in_order.len() + self.late.len() > self.capacity
    }

    /// Takes a record in.
    pub fn push(&mut self, mut record: TraceRecord) -> Placement {
        let latest_ns = self.in_order.back().map_or(self.released_ns, |held| held.record.time_ns);
        let sequence = self.arrived;
        self.arrived += 1;
        if record.time_ns >= latest_ns {
            self.in_order.push_back(Held { record, sequence });
            return Placement::InOrder;
        }
        let is_too_late = record.time_ns < self.released_ns;
        record.time_ns = record.time_ns.max(self.released_ns);
        self.late.push(Reverse(Held { record, sequence }));
        if is_too_late { Placement::Clamped } else { Placement::Reordered }
    }

    /// Lets the earliest record go.
    pub fn pop(&mut self) -> Option<TraceRecord> {
        let is_late_first = match (self.in_order.front(), self.late.peek()) {
            (Some(in_order), Some(Reverse(late))) => late < in_order,
            (in_order, _) => in_order.is_none(),
        };
        let held = if is_late_first { self.late.pop().map(|Reverse(held)| held) } else { self.in_order.pop_front() }?;
        self.released_ns = held.record.time_ns;
        Some(held.record)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;
    use proptest::prelude::*;

    use super::*;

    /// The times and first sectors that come out, and what was said about each record.
    fn pass(capacity: usize, times: &[u64]) -> (Vec<(u64, u64)>, Vec<Placement>) {
        let mut window = ReorderWindow::new(capacity);
        let (mut out, mut placements) = (Vec::new(), Vec::new());
        for (index, &time) in times.iter().enumerate() {
            let record = TraceRecord::from_sectors(time, 0, index as u64, 1, Op::Read).expect("valid");
            placements.push(window.push(record));
            if window.is_over_full() {
                out.extend(window.pop());
            }
        }
        out.extend(std::iter::from_fn(|| window.pop()));
        (out.into_iter().map(|record| (record.time_ns, record.lba)).collect(), placements)
    }

    #[test]
    fn a_late_record_is_put_right_within_the_window_and_clamped_beyond() {
        use Placement::{Clamped, InOrder, Reordered};
        let (out, placements) = pass(2, &[10, 20, 15, 30, 40, 12]);
        assert_eq!(out, [(10, 0), (15, 2), (20, 1), (20, 5), (30, 3), (40, 4)]);
        assert_eq!(placements, [InOrder, InOrder, Reordered, InOrder, InOrder, Clamped]);
        assert_eq!(pass(0, &[10, 5]).0, [(10, 0), (10, 1)]);
    }

    proptest! {
        #[test]
        fn a_wide_window_is_a_stable_sort(times in prop::collection::vec(0_u64..50, 0..60)) {
            let mut sorted: Vec<(u64, u64)> = times.iter().copied().zip(0..).collect();
            sorted.sort_unstable();
            prop_assert_eq!(pass(64, &times).0, sorted);
        }

        #[test]
        fn any_window_gives_every_record_once_in_order(times: Vec<u64>, capacity in 0_usize..10) {
            let (out, _) = pass(capacity, &times);
            prop_assert!(out.is_sorted_by_key(|&(time, _)| time));
            let mut records: Vec<u64> = out.iter().map(|&(_, index)| index).collect();
            records.sort_unstable();
            prop_assert!(records.into_iter().eq(0..times.len() as u64));
        }
    }
}
