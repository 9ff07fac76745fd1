//! The operating system's page cache: LRU over blocks of the disk, with the dirty ones in the order in which they
//! became dirty.

use ninescope_kernel::Ns;

const NONE: u32 = u32::MAX;

/// Blocks in an order, each at most once; adding and removing take the same time anywhere.
#[derive(Debug)]
struct Order {
    /// Neighbours of each block (before, after); of those that are not in, nothing.
    links: Vec<(u32, u32)>,
    member: Vec<bool>,
    first: u32,
    last: u32,
    count: u32,
}

impl Order {
    fn new(blocks: u32) -> Self {
        let size = blocks as usize;
        Self { links: vec![(NONE, NONE); size], member: vec![false; size], first: NONE, last: NONE, count: 0 }
    }

    fn has(&self, block: u32) -> bool {
        self.member[block as usize]
    }

    fn push_last(&mut self, block: u32) {
        self.links[block as usize] = (self.last, NONE);
        match self.last {
            NONE => self.first = block,
            last => self.links[last as usize].1 = block,
        }
        self.last = block;
        self.member[block as usize] = true;
        self.count += 1;
    }

    fn remove(&mut self, block: u32) {
        if !std::mem::take(&mut self.member[block as usize]) {
            return;
        }
        let (before, after) = self.links[block as usize];
        match before {
            NONE => self.first = after,
            before => self.links[before as usize].1 = after,
        }
        match after {
            NONE => self.last = before,
            after => self.links[after as usize].0 = before,
        }
        self.count -= 1;
    }
}

/// The page cache.
#[derive(Debug)]
pub struct PageCache {
    used: Order,
    dirty: Order,
    /// Since when each dirty block is.
    dirty_since: Vec<Ns>,
    pages: u32,
    dirty_max: u32,
    dirty_expire: Ns,
}

impl PageCache {
    /// An empty cache of `pages` over a disk of `blocks`, of which `dirty_max` may be dirty for up to `dirty_expire`.
    pub fn new(blocks: u32, pages: u32, dirty_max: u32, dirty_expire: Ns) -> Self {
        let dirty_since = vec![Ns::ZERO; blocks as usize];
        Self { used: Order::new(blocks), dirty: Order::new(blocks), dirty_since, pages, dirty_max, dirty_expire }
    }

    /// Whether a block is here; it is used by that.
    pub fn uses(&mut self, block: u32) -> bool {
        let here = self.used.has(block);
        if here {
            self.used.remove(block);
            self.used.push_last(block);
        }
        here
    }

    /// Takes a block in. Returns the one that left for it if that has to be written.
    #[must_use]
    pub fn take_in(&mut self, block: u32) -> Option<u32> {
        if self.uses(block) {
            return None;
        }
        let mut written = None;
        if self.used.count >= self.pages {
            let left = self.used.first;
            self.used.remove(left);
            if self.dirty.has(left) {
                self.dirty.remove(left);
                written = Some(left);
            }
        }
        self.used.push_last(block);
        written
    }

    /// A block that is here was written.
    pub fn make_dirty(&mut self, block: u32, now: Ns) {
        if !self.dirty.has(block) {
            self.dirty_since[block as usize] = now;
            self.dirty.push_last(block);
        }
    }

    /// Whether a block is dirty; it is clean from then on.
    pub fn make_clean(&mut self, block: u32) -> bool {
        let dirty = self.dirty.has(block);
        self.dirty.remove(block);
        dirty
    }

    /// The block that has been dirty for longest, where that is too long or there are too many of them.
    pub fn next_to_write(&self, now: Ns) -> Option<u32> {
        let oldest = self.dirty.first;
        let expired = oldest != NONE && now.saturating_since(self.dirty_since[oldest as usize]) > self.dirty_expire;
        (expired || self.dirty.count > self.dirty_max).then_some(oldest)
    }

    /// Forgets a block whose file is gone, written or not.
    pub fn forget(&mut self, block: u32) {
        self.used.remove(block);
        self.dirty.remove(block);
    }
}
