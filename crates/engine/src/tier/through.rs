//! Writes that complete when what they wrote is on the media (FUA), under a cache that loses what it holds without power: the
//! page goes down as soon as it is written above, and the write completes with a copy that was read since.
//!
//! Knows nothing of commands but their numbers.

use std::collections::VecDeque;

use ninescope_kernel::{NONE, Ns, Slab};
use ninescope_tier::{Residency, SlotState};

/// A write of a page that waits for a copy of it below.
#[derive(Clone, Copy, Debug, Default)]
struct Waiter {
    command: u32,
    /// How long it had waited for a slot.
    for_slot: Ns,
    /// Its slot has it: where the page is trimmed before, it is done with that.
    above: bool,
    /// The copy that is on its way down was read since.
    carried: bool,
    /// The next one that wrote the same slot, `NONE` for none.
    next: u32,
}

/// What waits, by slot.
#[derive(Debug)]
pub(super) struct Through {
    /// By slot: the first that waits, `NONE` for none.
    first: Vec<u32>,
    waiters: Slab<Waiter>,
    /// Slots whose copy is to be read, and perhaps some for which nobody waits any more.
    to_leave: VecDeque<u32>,
    /// Those that need not wait any more: command, and how long it had waited for a slot.
    done: VecDeque<(u32, Ns)>,
}

impl Through {
    /// Of so many slots and commands at a time.
    pub fn new(slots: u32, depth: u32) -> Self {
        Self {
            first: vec![NONE; slots as usize],
            waiters: Slab::with_capacity(depth as usize),
            to_leave: VecDeque::with_capacity(depth as usize),
            done: VecDeque::with_capacity(depth as usize),
        }
    }

    /// A bank takes up such a write.
    pub fn taken_up(&mut self, slot: u32, command: u32, for_slot: Ns) {
        let next = self.first[slot as usize];
        self.first[slot as usize] = self.waiters.insert(Waiter { command, for_slot, next, ..Waiter::default() });
        // Of one that leaves already that is seen when it has: its copy may have been read or not.
        self.to_leave.push_back(slot);
    }

    /// A slot has what a command wrote. Returns whether that waits for a copy of it: nothing does of a page that was trimmed.
    pub fn written(&mut self, slot: u32, command: u32) -> bool {
        let mut at = self.first[slot as usize];
        while at != NONE && self.waiters[at].command != command {
            at = self.waiters[at].next;
        }
        if at != NONE {
            self.waiters[at].above = true;
        }
        at != NONE
    }

    /// The next slot whose dirty sectors are to be copied down.
    pub fn next(&mut self, residency: &Residency) -> Option<u32> {
        while let Some(slot) = self.to_leave.pop_front() {
            let record = residency.slot(slot);
            let owes = self.first[slot as usize] != NONE && record.dirty != 0;
            if owes && record.state == SlotState::Resident {
                return Some(slot);
            }
        }
        None
    }

    /// The copy of a slot that goes down is read now.
    pub fn copy_read(&mut self, slot: u32) {
        let mut at = self.first[slot as usize];
        while at != NONE {
            self.waiters[at].carried = true;
            at = self.waiters[at].next;
        }
    }

    /// That copy is below: whoever wrote before it was read is done. The slot of others goes down once more.
    pub fn left(&mut self, slot: u32) {
        self.release(slot, |waiter| waiter.carried);
        if self.first[slot as usize] != NONE {
            self.to_leave.push_back(slot);
        }
    }

    /// What a slot held is of no use any more.
    pub fn forgotten(&mut self, slot: u32) {
        self.release(slot, |_| true);
    }

    /// Those that wait for a slot and for whom that `is_over` are done, in the order in which they wrote.
    fn release(&mut self, slot: u32, is_over: impl Fn(&Waiter) -> bool) {
        let (mut at, mut kept) = (std::mem::replace(&mut self.first[slot as usize], NONE), NONE);
        // The last one that wrote is the first in the chain.
        let before = self.done.len();
        while at != NONE {
            let waiter = self.waiters[at];
            let next = waiter.next;
            if is_over(&waiter) {
                if waiter.above {
                    self.done.insert(before, (waiter.command, waiter.for_slot));
                }
                self.waiters.remove(at);
            } else {
                self.waiters[at].next = NONE;
                match kept {
                    NONE => self.first[slot as usize] = at,
                    last => self.waiters[last].next = at,
                }
                kept = at;
            }
            at = next;
        }
    }

    /// The next that is done.
    pub fn next_done(&mut self) -> Option<(u32, Ns)> {
        self.done.pop_front()
    }
}
