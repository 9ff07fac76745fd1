//! Accesses that wait for the bus: in the order in which they are asked for, and of one instant in that of announcing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ninescope_kernel::Ns;

use super::DramAccess;

/// An access with its place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    order: u64,
    access: DramAccess,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.access.asked, self.order).cmp(&(other.access.asked, other.order))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: BinaryHeap<Reverse<Waiting>>,
    queued: u64,
}

impl Queue {
    pub fn push(&mut self, access: DramAccess) {
        self.waiting.push(Reverse(Waiting { order: self.queued, access }));
        self.queued += 1;
    }

    pub fn pop(&mut self) -> Option<DramAccess> {
        self.waiting.pop().map(|Reverse(waiting)| waiting.access)
    }

    /// When the first one was asked for, or will be.
    pub fn first_asked(&self) -> Option<Ns> {
        self.waiting.peek().map(|Reverse(waiting)| waiting.access.asked)
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}
