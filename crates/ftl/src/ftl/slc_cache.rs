//! Block groups that hold one bit in each cell, and take what the host writes before it is folded into the others.
//!
//! Which groups are so, when another one may be, and which is folded next. How a group is emptied is the business of garbage
//! collection, when a drive rests that of the driver.

use std::collections::VecDeque;

use ninescope_kernel::{BitTable, NONE};
use ninescope_model::{BlockGroup, Geometry, Pool, Stream};

use super::Ftl;
use crate::block::GroupState;
use crate::config::{SlcCacheConfig, WhenSlcFull};
use crate::policies::gc_trigger::PoolSpace;
use crate::pool::{Collection, Frontier};

/// The cache of one drive.
#[derive(Debug)]
pub(super) struct SlcCache {
    rules: SlcCacheConfig,
    /// Units of a group that holds one bit in a cell.
    units: u32,
    /// Host writes go there: not while a drive is prepared, which has rested when a run begins.
    active: bool,
    /// By group: it holds one bit in a cell.
    groups: BitTable,
    pools: Vec<PoolCache>,
}

/// The part of one pool.
#[derive(Clone, Debug, Default)]
struct PoolCache {
    /// Groups that hold one bit in a cell, until they are erased.
    in_use: u32,
    /// Those that are full and are not folded yet, the oldest first.
    full: VecDeque<u32>,
    /// Everything is to be folded.
    drains: bool,
    /// The group that the host was filling when one of one bit in a cell could be had again: it goes on with that when none can.
    left: Frontier,
}

impl SlcCache {
    pub fn new(rules: SlcCacheConfig, geometry: &Geometry) -> Self {
        Self {
            units: rules.pages * (geometry.units_per_group() / geometry.pages_per_block),
            active: false,
            groups: BitTable::new(geometry.groups() as usize),
            pools: vec![PoolCache::default(); geometry.pools() as usize],
            rules,
        }
    }

    /// Groups of a pool that are kept for the cache and are not in use.
    fn set_apart(&self, pool: Pool) -> u32 {
        self.rules.fixed.saturating_sub(self.pools[pool.index()].in_use)
    }
}

impl Ftl {
    /// What is told of groups that hold one bit in a cell, where there may be some.
    pub fn slc_rules(&self) -> Option<&SlcCacheConfig> {
        self.slc_cache.as_ref().map(|cache| &cache.rules)
    }

    /// From now on what the host writes goes to groups of one bit in a cell, as long as there are such.
    pub fn begin_slc_cache(&mut self) {
        if let Some(cache) = &mut self.slc_cache {
            cache.active = true;
            (0..self.geometry.pools()).for_each(|pool| self.refresh_space(Pool(pool)));
        }
    }

    /// Whether a group holds one bit in a cell.
    #[inline]
    pub fn is_slc(&self, group: BlockGroup) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.groups.get(group.index()))
    }

    /// Groups of a pool that do.
    pub fn slc_groups(&self, pool: Pool) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.pools[pool.index()].in_use)
    }

    /// The group of a pool that the host left before it was full, to go on with it later.
    pub fn left_group(&self, pool: Pool) -> Option<BlockGroup> {
        let group = self.slc_cache.as_ref()?.pools[pool.index()].left.group;
        (group != NONE).then_some(BlockGroup(group))
    }

    /// Units that a group takes.
    #[inline]
    pub fn capacity_of(&self, group: BlockGroup) -> u32 {
        match &self.slc_cache {
            Some(cache) if cache.groups.get(group.index()) => cache.units,
            _ => self.geometry.units_per_group(),
        }
    }

    /// The driver says that a pool's die rests, so that everything is folded, or does so no more.
    pub fn set_slc_drain(&mut self, pool: Pool, drains: bool) {
        if let Some(cache) = &mut self.slc_cache {
            cache.pools[pool.index()].drains = drains;
        }
    }

    // ---- space -------------------------------------------------------------------------------------

    /// Groups of a pool that nothing but the cache takes.
    #[inline]
    pub(super) fn set_apart_for_slc(&self, pool: Pool) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.set_apart(pool))
    }

    /// Whether the next group that the host writes to may hold one bit in a cell. One of those that are kept for that may as long as
    /// the reserve is left; another is borrowed where nothing would have to be collected for it.
    fn opens_slc(&self, pool: Pool) -> bool {
        let Some(cache) = self.slc_cache.as_ref().filter(|cache| cache.active) else { return false };
        let (in_use, free) = (cache.pools[pool.index()].in_use, self.pools[pool.index()].free.len() as u32);
        if free <= self.reserve_groups {
            return false;
        }
        if in_use < cache.rules.fixed {
            return true;
        }
        let space = self.space_of(pool);
        let one_less = PoolSpace {
            free: space.free.saturating_sub(1),
            // What is free by and by is not: nobody asks again when it is.
            free_in_prospect: space.free.saturating_sub(1),
            holds_host: false,
            collecting: false,
            resting: false,
            overdue: true,
            ..space
        };
        in_use < cache.rules.fixed + cache.rules.borrowed
            && free > self.reserve_groups + 1
            && !self.gc_trigger.needed(one_less)
    }

    /// Whether the host waits for a group of the cache, although others are free.
    fn waits_for_slc(&self, pool: Pool) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| {
            cache.active && cache.rules.when_full == WhenSlcFull::Wait && cache.pools[pool.index()].in_use > 0
        }) && !self.opens_slc(pool)
    }

    /// Whether the host may open a group in a pool.
    #[cold]
    pub(super) fn may_open_beside_slc(&self, pool: Pool) -> bool {
        let free = self.pools[pool.index()].free.len() as u32;
        let is_other = free > self.reserve_groups + self.set_apart_for_slc(pool) || self.has_left_one(pool);
        self.opens_slc(pool) || is_other && !self.waits_for_slc(pool)
    }

    /// Whether the host left a group before it was full.
    fn has_left_one(&self, pool: Pool) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.pools[pool.index()].left.group != NONE)
    }

    /// The host goes on with the group that it left. Returns whether there is one.
    #[cold]
    pub(super) fn goes_on_with_left(&mut self, pool: Pool, stream: Stream) -> bool {
        let Some(cache) = self.slc_cache.as_mut().filter(|_| !stream.is_of_moves()) else { return false };
        let left = std::mem::take(&mut cache.pools[pool.index()].left);
        let is_one = left.group != NONE;
        if is_one {
            self.pools[pool.index()].frontiers[stream.index()] = left;
            self.refresh_space(pool);
        }
        is_one
    }

    /// The host has filled a stripe, or a group was erased: if one of one bit in a cell can be had it leaves the one it fills.
    #[cold]
    pub(super) fn leaves_for_slc(&mut self, pool: Pool) {
        let frontier = self.pools[pool.index()].frontiers[Stream::HOST.index()];
        let is_whole = frontier.group != NONE && frontier.next.is_multiple_of(self.geometry.units_per_program());
        if !is_whole || self.is_slc(BlockGroup(frontier.group)) || !self.opens_slc(pool) {
            return;
        }
        if let Some(cache) = &mut self.slc_cache {
            debug_assert!(cache.pools[pool.index()].left.group == NONE, "one is left at a time");
            cache.pools[pool.index()].left = frontier;
            self.pools[pool.index()].frontiers[Stream::HOST.index()] = Frontier::default();
            self.refresh_space(pool);
        }
    }

    /// A group was opened that holds one bit in a cell.
    #[cold]
    pub(super) fn opened_as_slc(&mut self, pool: Pool, group: u32) {
        if let Some(cache) = &mut self.slc_cache {
            cache.groups.set(group as usize);
            cache.pools[pool.index()].in_use += 1;
        }
    }

    /// Whether the group that a stream opens next holds one bit in a cell.
    #[inline]
    pub(super) fn next_is_slc(&self, pool: Pool, stream: Stream) -> bool {
        self.slc_cache.is_some() && !stream.is_of_moves() && self.opens_slc(pool)
    }

    // ---- folding -----------------------------------------------------------------------------------

    /// A group is full. Returns whether it is one of the cache.
    #[inline]
    pub(super) fn slc_filled(&mut self, pool: Pool, group: BlockGroup) -> bool {
        let is_slc = self.is_slc(group);
        if let Some(cache) = self.slc_cache.as_mut().filter(|_| is_slc) {
            cache.pools[pool.index()].full.push_back(group.0);
        }
        is_slc
    }

    /// Whether a pool folds: everything when it rests, what the host waits for, and what was borrowed where space is needed.
    #[cold]
    pub(super) fn folds(&self, pool: Pool, space_is_needed: bool) -> bool {
        let Some(cache) = &self.slc_cache else { return false };
        let of_pool = &cache.pools[pool.index()];
        let collecting = self.pools[pool.index()].collection;
        let goes_on = collecting.is_some_and(|collection| cache.groups.get(collection.group as usize));
        // What is emptied for another reason is emptied first.
        let may_begin = of_pool.full.front().is_some_and(|&group| self.is_on_media(group));
        let is_borrowed = of_pool.in_use > cache.rules.fixed;
        (goes_on || may_begin) && (of_pool.drains || self.waits_for_slc(pool) || space_is_needed && is_borrowed)
    }

    /// Whether all of a full group is programmed.
    fn is_on_media(&self, group: u32) -> bool {
        let record = &self.groups[group as usize];
        record.state == GroupState::Closed && record.programmed == record.write_pointer
    }

    /// The oldest full group of the cache is folded next. Returns whether there is one.
    #[cold]
    pub(super) fn start_fold(&mut self, pool: Pool) -> bool {
        let Some(cache) = &mut self.slc_cache else { return false };
        let Some(group) = cache.pools[pool.index()].full.pop_front() else { return false };
        self.counters.folded_groups += 1;
        self.collect(Collection { group, cursor: 0, to_fill: false, to_refresh: false });
        true
    }

    /// A group was erased: if it was one of the cache it is none from now on.
    #[cold]
    pub(super) fn erased_beside_slc(&mut self, pool: Pool, group: BlockGroup) {
        if let Some(cache) = &mut self.slc_cache
            && cache.groups.get(group.index())
        {
            cache.groups.clear(group.index());
            cache.pools[pool.index()].in_use -= 1;
        }
        self.leaves_for_slc(pool);
    }
}
