//! Memory of the host that a drive without much of its own uses for its map (the host memory buffer of NVMe): what left the
//! drive's cache is held there, and comes back after a round trip over the link.
//!
//! What the drive writes there costs nothing, and neither waits for what else is on the link.

use std::collections::VecDeque;

use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;

use super::cache::MapCache;

/// The memory, and what is on its way from there.
#[derive(Debug)]
pub(super) struct HostMemory {
    cache: MapCache,
    access: Ns,
    /// Pages of the map of which something is on its way, with when it is there, in that order.
    on_their_way: VecDeque<(Ns, u32)>,
}

impl HostMemory {
    /// Nothing in it, for so many commands at a time.
    pub fn new(cache: MapCache, access: Ns, commands: u32) -> Self {
        Self { cache, access, on_their_way: VecDeque::with_capacity(commands as usize) }
    }

    /// Whether it holds the entry of a unit.
    pub fn holds(&self, unit: u32) -> bool {
        self.cache.holds(unit)
    }

    /// The entry of a unit, or the page that tells of it, has left the drive: it is what was used last here.
    pub fn takes(&mut self, ftl: &Ftl, unit: u32) {
        self.cache.insert(ftl, unit);
    }

    /// A unit lies elsewhere from now on, which the drive writes here too.
    pub fn changed(&mut self, ftl: &Ftl, unit: u32) {
        self.cache.changed(ftl, unit);
    }

    /// What was used longest ago leaves, if there is too much. Returns its first unit.
    pub fn evict(&mut self) -> Option<u32> {
        self.cache.evict().map(|units| units.start)
    }

    /// Something of a page is asked for. Returns when it is there.
    pub fn asked_for(&mut self, page: u32, now: Ns) -> Ns {
        let at = now + self.access;
        self.on_their_way.push_back((at, page));
        at
    }

    /// The page of which something is there by now.
    pub fn next(&mut self, now: Ns) -> Option<u32> {
        let (at, page) = *self.on_their_way.front()?;
        if at > now {
            return None;
        }
        self.on_their_way.pop_front();
        Some(page)
    }

    /// When the next one is.
    pub fn next_at(&self) -> Option<Ns> {
        self.on_their_way.front().map(|(at, _)| *at)
    }
}
