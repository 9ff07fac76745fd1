//! What is dirty above goes down when the host rests: writes that come then find room, and a FLUSH little to wait for.

use std::collections::VecDeque;

use ninescope_kernel::Ns;
use ninescope_tier::{Residency, SlotState};

/// Whether the host rests, and what goes down because of it.
#[derive(Debug)]
pub(super) struct Rest {
    /// It rests when nothing has been inside for so long.
    after: Ns,
    /// When it does, unless it comes with something before.
    begins: Option<Ns>,
    /// Slots that are to go down, and perhaps some that need not any more.
    to_leave: VecDeque<u32>,
}

impl Rest {
    /// Of so many slots.
    pub fn new(after: Ns, slots: u32) -> Self {
        Self { after, begins: None, to_leave: VecDeque::with_capacity(slots as usize) }
    }

    /// Nothing is inside any more. Returns when the host rests.
    pub fn may_begin(&mut self, now: Ns) -> Ns {
        *self.begins.insert(now + self.after)
    }

    /// The host comes with something.
    pub fn ends(&mut self) {
        self.begins = None;
        self.to_leave.clear();
    }

    /// A time has come at which the host may have begun to rest: what is dirty is to go down then. Returns whether it has, or
    /// else when it may.
    pub fn begins(&mut self, now: Ns, residency: &Residency) -> Result<(), Option<Ns>> {
        match self.begins {
            Some(begins) if begins <= now => {
                self.begins = None;
                residency.dirty_in_order(&mut self.to_leave);
                Ok(())
            }
            later => Err(later),
        }
    }

    /// The next slot that goes down.
    pub fn next(&mut self, residency: &Residency) -> Option<u32> {
        while let Some(slot) = self.to_leave.pop_front() {
            let record = residency.slot(slot);
            if record.state == SlotState::Resident && record.dirty != 0 && record.writers == 0 {
                return Some(slot);
            }
        }
        None
    }
}
