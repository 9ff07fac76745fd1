//! Who waits for a slot of a part of the upper medium, in the order of coming.

use std::collections::VecDeque;

use ninescope_kernel::BitTable;

/// Who waits for a slot.
#[derive(Clone, Copy, Debug)]
pub enum SlotWaiter {
    /// A write of the host to sectors of a page.
    Write {
        /// The command.
        command: u32,
        /// The page.
        page: u32,
        /// Its sectors.
        sectors: u32,
    },
    /// A page that goes up.
    Fill(u32),
}

/// Those who wait for a slot of one part.
#[derive(Debug)]
pub(super) struct SlotLine {
    waiting: VecDeque<SlotWaiter>,
    /// By page: somebody waits for a slot for it. And how many such pages there are.
    awaited: BitTable,
    pages_awaited: u32,
}

impl SlotLine {
    /// Nobody yet, with room for so many, for one of so many pages each.
    pub fn new(most: u32, pages: u32) -> Self {
        Self {
            waiting: VecDeque::with_capacity(most as usize),
            awaited: BitTable::new(pages as usize),
            pages_awaited: 0,
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Somebody waits for a slot for a page.
    pub fn join(&mut self, page: u32, waiter: SlotWaiter) {
        self.waiting.push_back(waiter);
        if !self.awaited.get(page as usize) {
            self.awaited.set(page as usize);
            self.pages_awaited += 1;
        }
    }

    /// A page has a slot: those who wait for it need no other.
    pub fn has_slot(&mut self, page: u32) {
        if self.awaited.get(page as usize) {
            self.awaited.clear(page as usize);
            self.pages_awaited -= 1;
        }
    }

    /// The first that waits.
    pub fn first(&self) -> Option<SlotWaiter> {
        self.waiting.front().copied()
    }

    /// It waits no more.
    pub fn first_leaves(&mut self) {
        self.waiting.pop_front();
    }

    /// Slots that are needed: one for each page, and one in any case for the first of them, whose page may have had one and lost
    /// it before its turn.
    pub fn needed(&self) -> u32 {
        self.pages_awaited.max(u32::from(!self.waiting.is_empty()))
    }
}
