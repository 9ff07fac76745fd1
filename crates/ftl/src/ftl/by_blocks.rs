//! A map by block is carried out: a page of the host goes where the scheme has it, and merges copy page after page, in the order in which
//! blocks are programmed, until the page that waits can be written.
//!
//! What is to be merged, and into what, is the scheme's. A merge moves its pages as garbage collection does, one at a time, and the map of
//! units follows each. Pages of the host and pages that are moved may share a block; as each kind is programmed in its own order, a page of
//! one waits for those of the other to be on the media.

use ninescope_kernel::{NONE, SectionReader, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa, Stream};

use super::{Ftl, GcStep, Padded, Placed};
use crate::block::GroupState;
use crate::block_map::{BlockMap, BlockScheme, Log, Merge, MergeOf, Next, PoolView, Role};

/// Where a page of the host goes now.
#[derive(Clone, Copy)]
enum Goes {
    /// Into an open group.
    To(u32),
    /// Into one that is opened.
    Opens(Role),
}

impl Ftl {
    /// The map, where it is by block.
    #[inline]
    pub fn block_map(&self) -> Option<&BlockMap> {
        self.block_map.as_deref()
    }

    /// The pool of a logical block: they take turns.
    fn pool_of_block(&self, block: u32) -> Pool {
        Pool(self.pool_at[block as usize % self.pool_at.len()])
    }

    /// Whether a page of the host waits for a merge in the pool of a unit.
    #[cold]
    pub(super) fn waits_for_merge(&self, lpa: Lpa) -> bool {
        self.block_map().is_some_and(|map| {
            let pool = self.pool_of_block(lpa.0 / map.pages);
            map.pools[pool.index()].waiting.is_some()
        })
    }

    /// What waited in a pool may be written now; told once.
    pub fn merge_lets_host_go_on(&mut self, pool: Pool) -> bool {
        self.block_map.as_mut().is_some_and(|map| std::mem::take(&mut map.pools[pool.index()].may_go_on))
    }

    /// Places a unit that the host writes. `None`: its die has no room for it, or a merge is to end first.
    #[inline(never)]
    pub(super) fn write_by_block(&mut self, lpa: Lpa) -> Option<Placed> {
        let pages = self.block_map()?.pages;
        let (block, offset) = (lpa.0 / pages, lpa.0 % pages);
        let pool = self.pool_of_block(block);
        if !self.has_room.get(self.position_of[pool.index()] as usize) {
            self.comes_into_merge(pool, (block, offset));
            return None;
        }
        let Some(goes) = self.where_it_goes(pool, (block, offset)) else {
            self.wait_for_merge(pool, Some((block, offset)));
            return None;
        };
        let group = match goes {
            Goes::To(group) => group,
            Goes::Opens(role) => self.open_as(pool, block, role)?,
        };
        let mut placed = self.append(pool, group, lpa, Stream::HOST);
        placed.old = self.lies_at(lpa, placed.new);
        self.counters.host_units += 1;
        self.host_page_placed(pool, (block, offset), group);
        Some(placed)
    }

    /// Where a page goes now; `None` where it waits for a merge, for an erase, or for programs of pages before it.
    fn where_it_goes(&self, pool: Pool, (block, offset): (u32, u32)) -> Option<Goes> {
        let map = self.block_map()?;
        let free = self.pools[pool.index()].free.len();
        if let Some(merge) = map.pools[pool.index()].merge.filter(|merge| merge.of.block == block) {
            let comes = merge.expects() == Some(offset) && self.pools[pool.index()].handed_out == 0;
            return match merge.of.into.filter(|_| comes) {
                Some(into) => self.takes(into, offset, Stream::HOST).then_some(Goes::To(into)),
                None => (comes && offset == 0 && free > 0).then_some(Goes::Opens(Role::Data)),
            };
        }
        // A merge of another logical block may still be to open one.
        let kept = usize::from(map.pools[pool.index()].merge.is_some_and(|merge| merge.of.into.is_none()));
        match self.next_of_scheme(pool, (block, offset)) {
            Next::Append(group) => {
                let next = self.groups[group as usize].write_pointer;
                self.takes(group, next, Stream::HOST).then_some(Goes::To(group))
            }
            Next::Open(role) => (free > kept).then_some(Goes::Opens(role)),
            Next::Merge(_) | Next::Release(_) => None,
        }
    }

    fn next_of_scheme(&self, pool: Pool, (block, offset): (u32, u32)) -> Next {
        let map = self.block_map().expect("a map by block was asked about");
        let logs = &map.pools[pool.index()];
        map.config.scheme.rules().next(&PoolView {
            block,
            offset,
            data: Some(map.data[block as usize]).filter(|&group| group != NONE),
            logs: &logs.logs,
            sequential: logs.sequential,
            log_blocks: map.config.log_blocks,
            pages: map.pages,
            written: &|group| self.groups[group as usize].write_pointer,
            first_valid: &|group| self.first_valid_block(BlockGroup(group), map.pages),
        })
    }

    /// The logical block of the first valid unit of a group.
    fn first_valid_block(&self, group: BlockGroup, pages: u32) -> Option<u32> {
        let first = self.geometry.first_unit(group);
        let valid = self.next_valid(first).filter(|valid| valid.0 < first.0 + pages)?;
        Some(self.content(valid).0 / pages)
    }

    /// Whether a page of a stream may be the next one of a group: all that are before it are on the media, or of its stream.
    fn takes(&self, group: u32, offset: u32, stream: Stream) -> bool {
        let record = &self.groups[group as usize];
        record.write_pointer == offset
            && (record.programmed == offset || u32::from(record.stream) == stream.0)
            && offset < self.geometry.units_per_group()
    }

    /// A page waits in a pool, or none does any more.
    fn wait_for_merge(&mut self, pool: Pool, waiting: Option<(u32, u32)>) {
        if let Some(map) = &mut self.block_map {
            map.pools[pool.index()].waiting = waiting;
        }
        self.pools[pool.index()].holds_host = waiting.is_some();
        self.refresh_space(pool);
    }

    /// A page of the host waits for room in the write buffer: where it goes into a merge, that waits for it.
    fn comes_into_merge(&mut self, pool: Pool, (block, offset): (u32, u32)) {
        let merge = self.block_map.as_mut().and_then(|map| map.pools[pool.index()].merge.as_mut());
        if let Some(merge) = merge.filter(|merge| merge.of.block == block && merge.expects() == Some(offset)) {
            merge.comes = true;
        }
    }

    /// Opens a free group for a logical block.
    fn open_as(&mut self, pool: Pool, block: u32, role: Role) -> Option<u32> {
        let record = &mut self.pools[pool.index()];
        if record.free.is_empty() {
            return None;
        }
        let position = self.free_block_choice.choose(&record.free, &self.groups);
        let group = record.free.remove(position)?;
        self.groups[group as usize].state = GroupState::Open;
        let map = self.block_map.as_mut()?;
        let logs = &mut map.pools[pool.index()];
        match role {
            Role::Data => match logs.merge.as_mut().filter(|merge| merge.of.block == block) {
                Some(merge) => merge.of.into = Some(group),
                None => map.data[block as usize] = group,
            },
            Role::Log => logs.logs.push(Log { group, owner: block, in_order: true }),
            Role::Sequential => logs.sequential = Some(Log { group, owner: block, in_order: true }),
        }
        Some(group)
    }

    /// The next page of a group holds a unit, or padding.
    fn append(&mut self, pool: Pool, group: u32, lpa: Lpa, stream: Stream) -> Placed {
        let id = BlockGroup(group);
        let record = &mut self.groups[id.index()];
        let new = Ppa(self.geometry.first_unit(id).0 + record.write_pointer);
        let opened = record.write_pointer == 0;
        record.write_pointer += 1;
        record.stream = stream.0 as u8;
        let closed = record.write_pointer == self.geometry.units_per_group();
        if closed {
            record.state = GroupState::Closed;
            record.closed_sequence = self.closed_groups;
            self.closed_groups = self.closed_groups.wrapping_add(1);
        }
        self.put_content(new, lpa);
        Placed { new, old: Ppa::UNMAPPED, pool, stream, page_complete: true, stripe_complete: true, opened, closed }
    }

    /// What a scheme remembers of a page of the host; a log block that is full in its order takes the place of the data block.
    fn host_page_placed(&mut self, pool: Pool, (block, offset): (u32, u32), group: u32) {
        let full = self.groups[group as usize].state == GroupState::Closed;
        let place = self.groups[group as usize].write_pointer - 1;
        let Some(map) = &mut self.block_map else { return };
        let shared = map.config.scheme == BlockScheme::Fast;
        let logs = &mut map.pools[pool.index()];
        if let Some(merge) = logs.merge.as_mut().filter(|merge| merge.of.into == Some(group)) {
            (merge.of.awaits, merge.next, merge.comes) = (None, Some(offset + 1), false);
        }
        let is_what_waits = logs.waiting == Some((block, offset));
        let mut switches = logs.sequential.is_some_and(|log| log.group == group) && full;
        if let Some(at) = logs.logs.iter().position(|log| log.group == group) {
            let mut log = logs.logs[at];
            log.in_order &= place == offset && !shared;
            log.owner = if shared { NONE } else { block };
            switches = log.in_order && full;
            logs.logs[at] = log;
            if !shared {
                // That which was written longest ago is first.
                logs.logs[at..].rotate_left(1);
            }
        }
        if switches {
            logs.logs.retain(|log| log.group != group);
            logs.sequential = logs.sequential.filter(|log| log.group != group);
            let before = std::mem::replace(&mut map.data[block as usize], group);
            self.counters.switch_merges += 1;
            self.leaves_map(pool, before);
        }
        if is_what_waits {
            self.wait_for_merge(pool, None);
        }
    }

    /// A group is to be erased when nothing valid is left in it, and nothing is on its way to it.
    fn leaves_map(&mut self, pool: Pool, group: u32) {
        if group != NONE {
            self.groups[group as usize].state = GroupState::Draining;
            self.refresh_candidate(BlockGroup(group));
            self.pools[pool.index()].draining.push(group);
        }
    }

    /// What is done next in a pool.
    #[inline(never)]
    pub(super) fn next_of_merge(&mut self, pool: Pool) -> GcStep {
        loop {
            if let Some(group) = self.take_left(pool) {
                self.groups[group.index()].state = GroupState::Erasing;
                self.pools[pool.index()].erasing += 1;
                return GcStep::Erase(group);
            }
            let logs = self.block_map().map(|map| &map.pools[pool.index()]);
            let Some(logs) = logs.filter(|_| self.pools[pool.index()].handed_out == 0) else { return GcStep::Nothing };
            match (logs.merge, logs.waiting) {
                (Some(merge), _) => {
                    if let Some(step) = self.merge_goes_on(pool, merge) {
                        return step;
                    }
                }
                (None, None) => return GcStep::Nothing,
                (None, Some(waiting)) if self.where_it_goes(pool, waiting).is_some() => return self.host_goes_on(pool),
                (None, Some(waiting)) => {
                    if !self.begin_merge(pool, waiting) {
                        return GcStep::Nothing;
                    }
                }
            }
        }
    }

    /// What waits may be written.
    fn host_goes_on(&mut self, pool: Pool) -> GcStep {
        self.wait_for_merge(pool, None);
        if let Some(map) = &mut self.block_map {
            map.pools[pool.index()].may_go_on = true;
        }
        GcStep::Nothing
    }

    /// A group that has left the map and can be erased.
    fn take_left(&mut self, pool: Pool) -> Option<BlockGroup> {
        let is_over = |group: &u32| {
            let record = &self.groups[*group as usize];
            let on_media = record.programmed == record.write_pointer && record.pending == 0;
            on_media && self.valid_units(BlockGroup(*group)) == 0
        };
        let position = self.pools[pool.index()].draining.iter().position(is_over)?;
        Some(BlockGroup(self.pools[pool.index()].draining.remove(position)))
    }

    /// Begins what is to be merged for a page that waits. Returns whether anything was done.
    fn begin_merge(&mut self, pool: Pool, waiting: (u32, u32)) -> bool {
        match self.next_of_scheme(pool, waiting) {
            Next::Append(_) | Next::Open(_) => false,
            Next::Release(log) => {
                let Some(map) = &mut self.block_map else { return false };
                let left = map.pools[pool.index()].logs.remove(log).group;
                self.counters.log_blocks_emptied += 1;
                self.leaves_map(pool, left);
                true
            }
            Next::Merge(of) => {
                let Some(map) = &mut self.block_map else { return false };
                let data = map.data[of.block as usize];
                // Moves of the merge before are to end: until then the map says where their pages were.
                if data != NONE && self.groups[data as usize].pending > 0 {
                    return false;
                }
                map.pools[pool.index()].merge = Some(Merge { of, filled: 0, next: None, comes: false });
                true
            }
        }
    }

    /// The next page of a merge; `None` where it is over.
    fn merge_goes_on(&mut self, pool: Pool, merge: Merge) -> Option<GcStep> {
        let written = merge.of.into.map_or(0, |into| self.groups[into as usize].write_pointer);
        let to_copy = self.next_to_copy(merge, written);
        let awaits = merge.of.awaits.or(merge.next.filter(|_| merge.comes));
        if awaits == Some(written) {
            let awaited = (merge.of.block, written);
            return match self.block_map()?.pools[pool.index()].waiting {
                Some(waiting) if waiting != awaited => {
                    self.waits_for_nobody(pool);
                    self.merge_goes_on(pool, Merge { of: MergeOf { awaits: None, ..merge.of }, comes: false, ..merge })
                }
                Some(_) if self.where_it_goes(pool, awaited).is_some() => Some(self.host_goes_on(pool)),
                _ => Some(GcStep::Nothing),
            };
        }
        let needed = match (to_copy, awaits) {
            (None, None) => {
                self.end_merge(pool, merge);
                return None;
            }
            (copy, awaits) => copy.map_or(u32::MAX, |(offset, _)| offset).min(awaits.unwrap_or(u32::MAX)),
        };
        let source = to_copy.filter(|_| needed == written).map(|(_, source)| source);
        // One that is to be opened is, when there is something to put into it.
        let can_take = match merge.of.into {
            Some(into) => self.takes(into, written, Stream::GC),
            None => !self.pools[pool.index()].free.is_empty(),
        };
        if !can_take || source.is_some_and(|source| self.is_in_flight(source)) {
            return Some(GcStep::Nothing);
        }
        match source {
            None => self.pad_merge(pool),
            Some(first) => {
                self.pools[pool.index()].hands_out(1, 0);
                Some(GcStep::MovePage { first, mask: 1 })
            }
        }
    }

    /// Another page than the awaited one waits, and the awaited one behind it, or it is not ready: it is merged for once more.
    fn waits_for_nobody(&mut self, pool: Pool) {
        if let Some(merge) = self.block_map.as_mut().and_then(|map| map.pools[pool.index()].merge.as_mut()) {
            (merge.of.awaits, merge.comes) = (None, false);
        }
    }

    /// A page that a logical block has nothing for: blocks are programmed in order.
    fn pad_merge(&mut self, pool: Pool) -> Option<GcStep> {
        let into = self.group_of_merge(pool)?;
        let placed = self.append(pool, into, Lpa::NONE, Stream::GC);
        self.counters.padding_units += 1;
        let Placed { new: last, stripe_complete, closed, .. } = placed;
        Some(GcStep::Padded(Padded { last, written: last, stripe_complete, closed }))
    }

    /// Places a page that a merge copies.
    #[inline(never)]
    pub(super) fn place_in_merge(&mut self, pool: Pool, lpa: Lpa, from: Ppa) -> Option<Placed> {
        let into = self.group_of_merge(pool)?;
        let mut placed = self.append(pool, into, lpa, Stream::GC);
        placed.old = from;
        self.pools[pool.index()].takes_back(1, 0);
        self.counters.gc_units += 1;
        self.groups[into as usize].pending += 1;
        Some(placed)
    }

    /// The group that a merge fills, for one page more; opened where it is not.
    fn group_of_merge(&mut self, pool: Pool) -> Option<u32> {
        let merge = self.block_map.as_mut()?.pools[pool.index()].merge.as_mut()?;
        merge.filled += 1;
        // The page behind the host's last one is copied or left empty: it is too late for one of the host.
        (merge.next, merge.comes) = (None, false);
        let of = merge.of;
        of.into.or_else(|| self.open_as(pool, of.block, Role::Data))
    }

    /// A logical block has all its pages in one group, or on their way to it: what held them leaves the map.
    fn end_merge(&mut self, pool: Pool, merge: Merge) {
        let Some(map) = &mut self.block_map else { return };
        let (block, into) = (merge.of.block, merge.of.into.unwrap_or(NONE));
        map.pools[pool.index()].merge = None;
        let before = std::mem::replace(&mut map.data[block as usize], into);
        self.leaves_unless(pool, before, into);
        let mut is_of_log = false;
        while let Some(log) = self.block_map.as_mut().and_then(|map| map.pools[pool.index()].take_log_of(block)) {
            is_of_log |= log == into;
            self.leaves_unless(pool, log, into);
        }
        // Of a logical block that was trimmed as a whole nothing is left to merge.
        if merge.of.is_merge && into != NONE {
            let counters = &mut self.counters;
            *match (is_of_log, merge.filled) {
                (true, 0) => &mut counters.switch_merges,
                (true, _) => &mut counters.partial_merges,
                (false, _) => &mut counters.full_merges,
            } += 1;
        }
    }

    /// The same of what held a logical block, but for the group that holds it now.
    fn leaves_unless(&mut self, pool: Pool, group: u32, holds: u32) {
        if group != holds {
            self.leaves_map(pool, group);
        }
    }

    /// The next page of a logical block, from one on, that lies elsewhere than in the group that it is merged into.
    fn next_to_copy(&self, merge: Merge, from: u32) -> Option<(u32, Ppa)> {
        let pages = self.block_map()?.pages;
        let end = pages.min(self.logical_units() - merge.of.block * pages);
        (from..end).find_map(|offset| {
            let place = self.translate(Lpa(merge.of.block * pages + offset));
            let elsewhere = place != Ppa::UNMAPPED
                && merge.of.into.is_none_or(|into| self.geometry.group_and_offset(place).0.0 != into);
            elsewhere.then_some((offset, place))
        })
    }

    // ---- what was saved ------------------------------------------------------------------------------

    /// Reads which groups are whose: each that holds anything has one place in the map, and what is valid there is of it.
    pub(super) fn load_block_map(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let Some(mut map) = self.block_map.take() else { return Ok(()) };
        map.load(from)?;
        let mut seen = vec![false; self.groups.len()];
        for (block, &group) in (0..).zip(&map.data).filter(|(_, group)| **group != NONE) {
            self.may_hold(&map, group, &mut seen, (self.pool_of_block(block), Some((block, true))))?;
        }
        for (pool, logs) in (0..).map(Pool).zip(&map.pools) {
            for log in logs.logs.iter().chain(&logs.sequential) {
                let owner = Some((log.owner, log.in_order)).filter(|(owner, _)| *owner != NONE);
                self.may_hold(&map, log.group, &mut seen, (pool, owner))?;
            }
        }
        let lost = self.groups.iter().zip(&seen).position(|(record, seen)| record.write_pointer > 0 && !seen);
        must_hold(lost.is_none(), || format!("group {} is in no place of the map", lost.unwrap_or_default()))?;
        self.block_map = Some(map);
        Ok(())
    }

    /// A group of a pool holds pages of a logical block, each at its place or in any order, or of all of the pool's.
    fn may_hold(
        &self,
        map: &BlockMap,
        group: u32,
        seen: &mut [bool],
        (pool, owner): (Pool, Option<(u32, bool)>),
    ) -> Result<(), SnapshotError> {
        let there = self.groups.get(group as usize).is_some_and(|record| record.write_pointer > 0);
        let there = there && self.geometry.pool_and_block(BlockGroup(group)).0 == pool;
        must_hold(there && !std::mem::replace(&mut seen[group as usize], true), || {
            format!("group {group} cannot have this place in the map")
        })?;
        let first = self.geometry.first_unit(BlockGroup(group)).0;
        let fits = (0..map.pages).filter(|page| self.is_valid(Ppa(first + page))).all(|page| {
            let lpa = self.content(Ppa(first + page)).0;
            let (block, offset) = (lpa / map.pages, lpa % map.pages);
            match owner {
                Some((owner, in_place)) => block == owner && (offset == page || !in_place),
                None => self.pool_of_block(block) == pool,
            }
        });
        must_hold(fits, || format!("group {group} holds pages that are not of its place in the map"))
    }
}
