//! Writes of the host that a policy holds back before they get a slot, in the order of coming.

use std::collections::VecDeque;

use ninescope_kernel::Ns;

use super::TierPart;
use crate::policies::back_pressure::{Admission, BackPressure, CacheView};

/// A write of a page that waits to be taken in.
#[derive(Clone, Copy, Debug)]
pub struct HeldWrite {
    /// The command.
    pub command: u32,
    /// The page.
    pub page: u32,
    /// Its sectors.
    pub sectors: u32,
}

/// Who waits to be taken into a part of the cache, and who says until when.
#[derive(Debug)]
pub(super) struct HeldWrites {
    policy: Box<dyn BackPressure>,
    waiting: VecDeque<HeldWrite>,
    /// When the first of them is taken in; none: when a page is below.
    first_at: Option<Ns>,
}

impl HeldWrites {
    /// Nobody, with room for so many.
    pub fn new(policy: Box<dyn BackPressure>, most: u32) -> Self {
        Self { policy, waiting: VecDeque::with_capacity(most as usize), first_at: None }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A write comes. Returns whether it is taken in at once.
    pub fn comes(&mut self, view: &CacheView, write: HeldWrite) -> bool {
        if self.waiting.is_empty() && self.ask(view) {
            return true;
        }
        self.waiting.push_back(write);
        false
    }

    /// The next that is taken in now.
    pub fn next(&mut self, view: &CacheView) -> Option<HeldWrite> {
        self.waiting.front()?;
        let is_let_in = match self.first_at {
            Some(at) => at <= view.now,
            None => self.ask(view),
        };
        if !is_let_in {
            return None;
        }
        self.first_at = None;
        self.waiting.pop_front()
    }

    /// When the first is to be looked at, where time alone lets it in.
    pub fn next_at(&self) -> Option<Ns> {
        self.first_at
    }

    /// Whether the write that is next is taken in now.
    fn ask(&mut self, view: &CacheView) -> bool {
        let admission = self.policy.admit(view);
        self.first_at = if let Admission::At(at) = admission { Some(at) } else { None };
        admission == Admission::Now
    }
}

impl TierPart {
    fn view_of(&self, part: usize, now: Ns) -> CacheView {
        let residency = self.tier.residency();
        let (slots, free) = (residency.slots_of(part), residency.free_soon_of(part));
        CacheView { now, slots, free, leaving: self.tier.leaving(part) }
    }

    /// A write comes to a part. Returns whether it is held back.
    pub(crate) fn holds_back(&mut self, part: usize, now: Ns, write: HeldWrite) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let view = self.view_of(part, now);
        let held = !self.held[part].comes(&view, write);
        self.tier.counters_mut().writes_held += u64::from(held);
        held
    }

    /// The next write of a part that is held back no longer.
    pub(crate) fn next_let_in(&mut self, part: usize, now: Ns) -> Option<HeldWrite> {
        if self.held.get(part).is_none_or(|held| held.len() == 0) {
            return None;
        }
        let view = self.view_of(part, now);
        self.held[part].next(&view)
    }

    /// When the passing of time alone lets the next one in, if it does.
    pub(crate) fn lets_in_at(&self) -> Option<Ns> {
        self.held.iter().filter_map(HeldWrites::next_at).min()
    }

    /// Time has come for one of them.
    pub(crate) fn time_has_come(&mut self) {
        self.touched = true;
    }
}
