//! Memory of the host that a drive without much of its own uses for its map (the host memory buffer of NVMe): what left the
//! drive's cache is held there, and comes back after a round trip over the link.
//!
//! What the drive writes there costs nothing. What it fetches takes the link where it is told to: its bytes wait there behind what
//! the host writes, and what the host writes behind them.

use std::collections::VecDeque;

use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;

use super::cache::MapCache;

/// The memory, and what is on its way from there.
#[derive(Debug)]
pub(super) struct HostMemory {
    cache: MapCache,
    access: Ns,
    takes_link: bool,
    /// Pages of the map of which something is on its way, in the order in which it comes to the link, or is there where that
    /// takes none of it.
    on_their_way: VecDeque<Asked>,
    /// Those that cross the link, with when they have, in that order.
    crossing: VecDeque<(Ns, u32)>,
}

/// Something of a page that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// When it comes to the link.
    at: Ns,
    /// The page.
    pub page: u32,
    /// What of it crosses the link; 0 where that takes no time [B].
    pub bytes: u32,
}

impl HostMemory {
    /// Nothing in it, for so many commands at a time.
    pub fn new(cache: MapCache, access: Ns, takes_link: bool, commands: u32) -> Self {
        let at_a_time = commands as usize;
        let crossing = VecDeque::with_capacity(if takes_link { at_a_time } else { 0 });
        Self { cache, access, takes_link, on_their_way: VecDeque::with_capacity(at_a_time), crossing }
    }

    /// Whether what is fetched takes the link.
    pub fn takes_link(&self) -> bool {
        self.takes_link
    }

    /// From asking for something until it comes to the link, or is there.
    pub fn access(&self) -> Ns {
        self.access
    }

    /// What the item takes that tells of a unit, which is here [B].
    pub fn bytes_of(&self, unit: u32) -> u32 {
        self.cache.bytes_held(unit)
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

    /// So many bytes of a page are asked for. Returns when they come to the link, or are there.
    pub fn asked_for(&mut self, page: u32, bytes: u32, now: Ns) -> Ns {
        let at = now + self.access;
        self.on_their_way.push_back(Asked { at, page, bytes });
        at
    }

    /// What has come to the link by now, or is there.
    pub fn next(&mut self, now: Ns) -> Option<Asked> {
        let is_there = self.on_their_way.front().is_some_and(|asked| asked.at <= now);
        if is_there { self.on_their_way.pop_front() } else { None }
    }

    /// Something of a page crosses the link until then.
    pub fn crosses(&mut self, page: u32, until: Ns) {
        self.crossing.push_back((until, page));
    }

    /// The page of which something has crossed the link by now.
    pub fn next_crossed(&mut self, now: Ns) -> Option<u32> {
        let has_crossed = self.crossing.front().is_some_and(|(until, _)| *until <= now);
        if has_crossed { self.crossing.pop_front().map(|(_, page)| page) } else { None }
    }

    /// When the next one comes to the link, or has crossed it.
    pub fn next_at(&self) -> Option<Ns> {
        let asked = self.on_their_way.front().map(|asked| asked.at);
        asked.into_iter().chain(self.crossing.front().map(|(until, _)| *until)).min()
    }
}
