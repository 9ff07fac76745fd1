//! Accesses that wait for the bus: in the order in which they are asked for, and of one instant in that of announcing; or each
//! holder's in that order, and the holders in turn.

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
#[derive(Debug)]
pub(super) struct Queue {
    /// One line for all, or one for each holder.
    lines: Vec<BinaryHeap<Reverse<Waiting>>>,
    /// The line that had the bus last.
    turn: usize,
    queued: u64,
}

impl Queue {
    /// Of so many lines.
    pub fn new(lines: usize) -> Self {
        Self { lines: vec![BinaryHeap::new(); lines.max(1)], turn: 0, queued: 0 }
    }

    pub fn push(&mut self, access: DramAccess) {
        let line = if self.lines.len() == 1 { 0 } else { usize::from(access.holder) };
        self.lines[line].push(Reverse(Waiting { order: self.queued, access }));
        self.queued += 1;
    }

    /// Which line has its turn, and when its first was asked for: of those of which something waits by now.
    pub fn next(&self, now: Ns) -> Option<(usize, Ns)> {
        let of = |line: usize| Some((line, first(&self.lines[line])?));
        let count = self.lines.len();
        (1..=count).filter_map(|step| of((self.turn + step) % count)).find(|(_, asked)| *asked <= now)
    }

    pub fn pop(&mut self, line: usize) -> Option<DramAccess> {
        self.turn = line;
        self.lines[line].pop().map(|Reverse(waiting)| waiting.access)
    }

    /// When the first one was asked for, or will be.
    pub fn first_asked(&self) -> Option<Ns> {
        self.lines.iter().filter_map(first).min()
    }

    pub fn len(&self) -> usize {
        self.lines.iter().map(BinaryHeap::len).sum()
    }
}

fn first(line: &BinaryHeap<Reverse<Waiting>>) -> Option<Ns> {
    line.peek().map(|Reverse(waiting)| waiting.access.asked)
}
