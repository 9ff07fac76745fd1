//! Whose pages hold the slots of an upper medium, and whose are on their way between the media, where several tenants share the drive.
//!
//! A page in a slot counts for the tenant for whom it came there, whoever writes it later, and so does its way down; a page on its way
//! up counts for the tenant that asked for it.
//!
//! Knows nothing of why pages move.

use ninescope_kernel::Ns;

use super::SharedPlaces;

/// Who holds what requests behind a cache wait for.
#[derive(Debug)]
pub struct CacheHolders {
    /// By slot: for whom its page came.
    of_slot: Vec<u16>,
    /// By part of the upper medium: slots with a page.
    slots: Vec<SharedPlaces>,
    /// By part: pages on their way down.
    down: Vec<SharedPlaces>,
    /// Pages on their way up.
    up: SharedPlaces,
}

impl CacheHolders {
    /// Nobody holds any, of so many slots in so many parts.
    pub fn new(slots: u32, parts: usize, holders: usize) -> Self {
        let places = || (0..parts).map(|_| SharedPlaces::new(holders)).collect();
        Self { of_slot: vec![0; slots as usize], slots: places(), down: places(), up: SharedPlaces::new(holders) }
    }

    /// A slot of a part gets a page for a holder.
    pub fn slot_taken(&mut self, now: Ns, (slot, part): (u32, usize), holder: u16) {
        self.of_slot[slot as usize] = holder;
        self.slots[part].taken(now, holder);
    }

    /// For whom the page of a slot came.
    pub fn of_slot(&self, slot: u32) -> u16 {
        self.of_slot[slot as usize]
    }

    /// Its page is not there any more.
    pub fn slot_left(&mut self, now: Ns, (slot, part): (u32, usize)) {
        self.slots[part].left(now, self.of_slot[slot as usize]);
    }

    /// The page of a slot begins to go down. Returns whose it is.
    pub fn goes_down(&mut self, now: Ns, (slot, part): (u32, usize)) -> u16 {
        let holder = self.of_slot[slot as usize];
        self.down[part].taken(now, holder);
        holder
    }

    /// It is down.
    pub fn is_down(&mut self, now: Ns, (slot, part): (u32, usize)) {
        self.down[part].left(now, self.of_slot[slot as usize]);
    }

    /// A page begins to come up for a holder.
    pub fn comes_up(&mut self, now: Ns, holder: u16) {
        self.up.taken(now, holder);
    }

    /// It is up.
    pub fn is_up(&mut self, now: Ns, holder: u16) {
        self.up.left(now, holder);
    }

    /// Shares the wait of a write for a slot of a part out: by who had slots of it or, where pages on their way down are what holds
    /// writes back, by whose these were.
    pub fn share_slot(
        &self,
        (part, by_moves): (usize, bool),
        (from, until): (Ns, Ns),
        own: u16,
        tell: impl FnMut(usize, u64),
    ) {
        let places = if by_moves { &self.down[part] } else { &self.slots[part] };
        places.share((from, until), until - from, own, tell);
    }

    /// The same of a wait for pages to be below.
    pub fn share_down(&self, (from, until): (Ns, Ns), own: u16, tell: impl FnMut(usize, u64)) {
        SharedPlaces::share_of(&self.down.iter(), (from, until), until - from, own, tell);
    }

    /// The same of a wait for pages that move either way.
    pub fn share_moves(&self, (from, until): (Ns, Ns), own: u16, tell: impl FnMut(usize, u64)) {
        SharedPlaces::share_of(&self.down.iter().chain([&self.up]), (from, until), until - from, own, tell);
    }
}
