//! A FLUSH of a drive whose upper medium loses what it holds without power: before it completes, what is dirty there goes down.
//!
//! One FLUSH is carried out at a time. A slot that was dirty when it began owes a copy below that was read since, or before and
//! is not behind what was written by then. What is written later is the next one's.

use std::collections::VecDeque;

use ninescope_kernel::BitTable;
use ninescope_tier::{Residency, SlotState};

/// Each FLUSH that waits, and what the first of them waits for.
#[derive(Debug)]
pub(super) struct Drain {
    /// The commands, in order: the first is carried out.
    commands: VecDeque<u32>,
    /// By slot: whether it owes.
    owes: BitTable,
    /// By slot that owes: the copy on its way down may have been read before the last of what it owes was written.
    again: BitTable,
    owed: u32,
    /// Slots whose copy is to be read, and perhaps some that do not owe any more.
    to_leave: VecDeque<u32>,
}

impl Drain {
    /// Of so many slots and commands at a time.
    pub fn new(slots: u32, depth: u32) -> Self {
        Self {
            commands: VecDeque::with_capacity(depth as usize),
            owes: BitTable::new(slots as usize),
            again: BitTable::new(slots as usize),
            owed: 0,
            to_leave: VecDeque::with_capacity(slots as usize),
        }
    }

    /// A FLUSH comes. Returns whether it begins now.
    pub fn comes(&mut self, command: u32) -> bool {
        self.commands.push_back(command);
        self.commands.len() == 1
    }

    /// The first FLUSH begins: what is dirty is owed.
    pub fn begin(&mut self, residency: &Residency) {
        for slot in 0..residency.slots() {
            let record = residency.slot(slot);
            if record.dirty == 0 || !matches!(record.state, SlotState::Resident | SlotState::Leaving) {
                continue;
            }
            self.owes.set(slot as usize);
            self.owed += 1;
            if record.state == SlotState::Leaving {
                // Whether its copy was read already is not known: one too many does no harm, one too few would.
                if record.rewritten != 0 {
                    self.again.set(slot as usize);
                }
            } else {
                self.to_leave.push_back(slot);
            }
        }
    }

    /// The first FLUSH, if nothing is owed to it.
    pub fn ends(&mut self) -> Option<u32> {
        if self.owed > 0 { None } else { self.commands.pop_front() }
    }

    /// Whether another one waits to begin.
    pub fn goes_on(&self) -> bool {
        !self.commands.is_empty()
    }

    /// The next slot whose dirty sectors are to be copied down.
    pub fn next(&mut self, residency: &Residency) -> Option<u32> {
        while let Some(slot) = self.to_leave.pop_front() {
            let record = residency.slot(slot);
            if self.owes.get(slot as usize) && record.state == SlotState::Resident && record.dirty != 0 {
                return Some(slot);
            }
            // One that leaves by itself meanwhile is read from now on.
        }
        None
    }

    /// A copy of a slot is below, with all that is dirty there where nothing is left `behind`; nothing is where it was `void`.
    pub fn left(&mut self, slot: u32, behind: bool, void: bool) {
        let misses_some = void || behind && self.again.get(slot as usize);
        if misses_some && self.owes.get(slot as usize) {
            self.again.clear(slot as usize);
            self.to_leave.push_back(slot);
        } else {
            self.forgotten(slot);
        }
    }

    /// What a slot held is of no use any more: it owes nothing.
    pub fn forgotten(&mut self, slot: u32) {
        self.again.clear(slot as usize);
        self.owed -= u32::from(self.owes.get(slot as usize));
        self.owes.clear(slot as usize);
    }
}
