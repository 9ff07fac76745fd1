//! Garbage collection and refresh: which group of a pool is emptied next, what of it moves and where to, and when it can
//! be erased.
//!
//! It says what is to be done and is told what was: it must not know when that is, nor who reads, programs and erases.
//! What the host writes, and how a frontier hands out its units, is not its business; all it does to the map is to have an
//! entry follow a move.

use std::ops::Range;

use ninescope_kernel::{BitTable, NONE};
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};

use super::{Ftl, Padded, Placed, Residence};
use crate::block::{BlockRecord, GroupState};
use crate::policies::CandidateView;
use crate::policies::gc_trigger::{PoolSpace, TriggerTiming};
use crate::policies::victim_selection::NOT_A_CANDIDATE;
use crate::pool::Collection;

/// Choices of victims, where these take time. Nothing of it is kept in a snapshot: at rest nothing is chosen.
#[derive(Debug)]
pub(super) struct Choices {
    /// By pool: the next one was made.
    made: BitTable,
    /// By pool: one is wanted.
    awaited: BitTable,
}

/// What garbage collection wants done next in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcStep {
    /// Read these units of one page and place each with [`Ftl::place_move`].
    MovePage {
        /// The first unit of the page.
        first: Ppa,
        /// Units to move, bit `i` for unit `first + i`.
        mask: u32,
    },
    /// This page was filled with padding: it is to be programmed.
    Padded(Padded),
    /// Erase this group and report [`Ftl::erase_ended`].
    Erase(BlockGroup),
    /// This group, a program of which failed, was emptied and is retired. Nothing is to be done.
    Retired(BlockGroup),
    /// Victims wait for moves that have not ended.
    Wait,
    /// No need, or nothing can be done before an erase has ended.
    Nothing,
}

impl Ftl {
    /// Whether host writes wait for this pool's garbage collection: nothing is free beyond the reserve, or the trigger has
    /// them wait.
    #[inline]
    pub fn gc_is_urgent(&self, pool: Pool) -> bool {
        self.pools[pool.index()].holds_host || self.lacks_space(pool)
    }

    /// Whether nothing is free beyond the reserve.
    #[inline]
    pub fn lacks_space(&self, pool: Pool) -> bool {
        match &self.slc_cache {
            None => self.pools[pool.index()].free.len() as u32 <= self.reserve_groups,
            Some(_) => !self.may_open_beside_slc(pool),
        }
    }

    /// The driver has nothing of this pool's garbage collection under way, and [`Self::gc_next`] gives it nothing to do: what
    /// the trigger has host writes wait for does not come by itself, and they go on. Returns whether any waited.
    pub fn gc_rests(&mut self, pool: Pool) -> bool {
        let record = &mut self.pools[pool.index()];
        if record.erasing > 0 || self.block_map.is_some() {
            return false;
        }
        // What was begun is over: it begins again as the trigger has it.
        record.collecting = false;
        if !record.holds_host {
            return false;
        }
        record.holds_host = false;
        self.refresh_space(pool);
        true
    }

    /// Whether a pool's garbage collection empties a group to refresh it, which gives nobody space who waits for some.
    #[inline]
    pub fn is_refreshing(&self, pool: Pool) -> bool {
        self.pools[pool.index()].collection.is_some_and(|collection| collection.to_refresh)
    }

    /// The group of a pool whose units are handed out to be moved.
    pub fn victim(&self, pool: Pool) -> Option<BlockGroup> {
        self.pools[pool.index()].collection.map(|collection| BlockGroup(collection.group))
    }

    /// Has garbage collection empty a group soon, whatever it holds: its data is to be written anew. A group that is no
    /// candidate (open, or a victim already) is left alone; returns whether it was taken.
    pub fn refresh(&mut self, group: BlockGroup) -> bool {
        let candidate = self.valid_counts.get(group.index()) & NOT_A_CANDIDATE == 0;
        if candidate {
            let pool = self.geometry.pool_and_block(group).0;
            self.pools[pool.index()].refresh.push_back((group.0, self.groups[group.index()].erase_count));
        }
        candidate
    }

    /// Whether a group that is refreshed waits for moves that have not ended: they are not to lie in an open page, because
    /// its data is read where it was until then.
    pub fn refresh_waits(&self, pool: Pool) -> bool {
        let is_awaited = |&group: &u32| self.groups[group as usize].refreshed || self.is_slc(BlockGroup(group));
        self.pools[pool.index()].draining.iter().any(is_awaited)
    }

    /// What garbage collection wants done next in a pool. With `fill`, it goes on although enough groups
    /// will be free, so that an open page of moves gets full.
    pub fn gc_next(&mut self, pool: Pool, fill: bool) -> GcStep {
        if self.zones.is_some() {
            return GcStep::Nothing;
        }
        if self.block_map.is_some() {
            return self.next_of_merge(pool);
        }
        loop {
            if self.is_read_only() {
                return GcStep::Nothing;
            }
            if let Some(group) = self.take_drained(pool) {
                if self.groups[group.index()].failed {
                    self.pools[pool.index()].leaving -= 1;
                    self.retire(group);
                    return GcStep::Retired(group);
                }
                self.groups[group.index()].state = GroupState::Erasing;
                self.pools[pool.index()].erasing += 1;
                return GcStep::Erase(group);
            }
            let for_space = fill || self.gc_is_needed(pool);
            let folds = self.slc_cache.is_some() && self.folds(pool, for_space && !fill);
            let goes_on = for_space || folds || self.pools[pool.index()].has_refresh();
            if !(goes_on && self.has_collection(pool, fill, (for_space, folds))) {
                let idle = self.pools[pool.index()].draining.is_empty();
                return if idle { GcStep::Nothing } else { GcStep::Wait };
            }
            if let Some(step) = self.next_page_of_collection(pool, fill) {
                return step;
            }
            // The victim was handed out completely; perhaps it holds nothing valid already.
        }
    }

    /// Whether a pool's collection goes on when it is asked, as far as anything is worth it: it empties a group, or the trigger has it
    /// needed.
    pub fn gc_goes_on(&self, pool: Pool) -> bool {
        let record = &self.pools[pool.index()];
        self.zones.is_none()
            && (record.collection.is_some()
                || record.has_refresh()
                || self.gc_trigger.needed(self.space_of(pool))
                || self.slc_cache.is_some() && self.folds(pool, false))
    }

    /// Whether the pool has too few free groups, counting those that what was handed out will free.
    fn gc_is_needed(&mut self, pool: Pool) -> bool {
        let needed = self.gc_trigger.needed(self.space_of(pool));
        self.pools[pool.index()].collecting = needed;
        needed
    }

    /// What the trigger wants the driver to measure; `None` where that is nothing.
    pub fn trigger_timing(&self) -> Option<TriggerTiming> {
        self.rules.gc_trigger.chosen().timing()
    }

    /// The die of a pool rests, or does so no more, as the trigger wants to know.
    pub fn set_resting(&mut self, pool: Pool, resting: bool) {
        self.pools[pool.index()].resting = resting;
    }

    /// Whether a pool's collection would be needed if it had been put off for long enough.
    pub fn gc_is_put_off(&self, pool: Pool) -> bool {
        self.gc_trigger.needed(PoolSpace { overdue: true, ..self.space_of(pool) })
    }

    /// Whether a pool's collection was put off for long enough, as the driver says.
    pub fn is_overdue(&self, pool: Pool) -> bool {
        self.pools[pool.index()].overdue
    }

    /// Whether a pool's collection goes on because it was put off for long enough.
    pub fn gc_is_overdue(&self, pool: Pool) -> bool {
        let record = &self.pools[pool.index()];
        record.overdue && record.collecting
    }

    /// A pool's collection was put off for long enough, or may be put off.
    pub fn set_overdue(&mut self, pool: Pool, overdue: bool) {
        self.pools[pool.index()].overdue = overdue;
    }

    pub(super) fn space_of(&self, pool: Pool) -> PoolSpace {
        let record = &self.pools[pool.index()];
        let set_apart = self.set_apart_for_slc(pool);
        PoolSpace {
            free: (record.free.len() as u32).saturating_sub(set_apart),
            free_in_prospect: record.free_in_prospect().saturating_sub(set_apart),
            reserve: self.reserve_groups,
            groups: self.geometry.blocks_per_plane,
            holds_host: record.holds_host,
            collecting: record.collecting,
            resting: record.resting,
            overdue: record.overdue,
        }
    }

    /// Has host writes wait, or go on, after the number of free groups has changed.
    pub(super) fn hold_host(&mut self, pool: Pool) {
        if self.block_map.is_some() {
            return;
        }
        let holds = self.gc_trigger.holds_host(self.space_of(pool));
        let before = std::mem::replace(&mut self.pools[pool.index()].holds_host, holds);
        self.counters.host_holds += u64::from(holds && !before);
    }

    /// Whether a move of `lpa` from `from` still makes sense: its content is the unit's still.
    /// Otherwise the move is dropped here. `kind` is that of [`Self::kind_of_moves_from`] when it was handed out: its group may hold
    /// something else by now.
    #[inline]
    pub fn move_is_current(&mut self, lpa: Lpa, from: Residence, kind: u32) -> bool {
        let current = lpa != Lpa::NONE && self.resides(lpa, from);
        if !current {
            self.counters.moves_dropped_after_read += 1;
            let group = self.geometry.group_and_offset(from.place).0;
            self.pools[self.geometry.pool_and_block(group).0.index()].takes_back(1, kind);
        }
        current
    }

    /// Places the copy of a unit that garbage collection moves. The map still points at the source until
    /// [`Self::moved`]; until then the destination counts as pending. `None`: the pool is full, which cannot
    /// happen to a unit that was handed out: its space was counted then.
    #[inline]
    pub fn place_move(&mut self, pool: Pool, lpa: Lpa, from: Ppa) -> Option<Placed> {
        if self.block_map.is_some() {
            return self.place_in_merge(pool, lpa, from);
        }
        let stream = if self.keeps_apart() { self.stream_of_move(pool, lpa, from) } else { Stream::GC };
        if self.leveling.is_some() && self.stream_of_leveling(pool, from).is_some() {
            self.counters.leveled_units += 1;
        }
        let mut placed = match self.allocate(pool, stream, lpa) {
            Some(placed) => placed,
            // Where programs fail less may be left than was counted.
            None if self.kept_groups > 0 && self.open_any_group(pool, stream) => self.allocate(pool, stream, lpa)?,
            None => return None,
        };
        placed.old = from;
        if self.chooses_streams {
            self.counters.streams[stream.index()] += 1;
            if let Some(units) = &mut self.reclaim_units {
                units.moved(self.stream_choice.handle_of(lpa));
            }
        }
        self.pools[pool.index()].takes_back(1, stream.kind());
        self.counters.gc_units += 1;
        if self.slc_cache.is_some() {
            let folded = self.is_slc(self.geometry.group_and_offset(from).0);
            self.counters.folded_units += u64::from(folded);
        }
        let (group, _) = self.geometry.group_and_offset(placed.new);
        self.groups[group.index()].pending += 1;
        Some(placed)
    }

    /// Whether moves take a whole page of valid units as it is: one stream takes all of them, and the next unit that it hands out
    /// begins a page in the same plane. Where clean data may have a code of its own, it is encoded anew where it stays no longer.
    pub fn copies_page_as_it_is(&self, pool: Pool, first: Ppa) -> bool {
        let units = self.geometry.units_per_page();
        let stream_of = |unit: u32| match Ppa(first.0 + unit) {
            from if self.keeps_apart() => self.stream_of_move(pool, self.content(from), from),
            _ => Stream::GC,
        };
        let stream = stream_of(0);
        let frontier = &self.pools[pool.index()].frontiers[stream.index()];
        let next = if frontier.group == NONE { 0 } else { frontier.next };
        let plane = next / units % self.geometry.frontier_planes;
        let fits = next.is_multiple_of(units) && plane == self.geometry.locate(first).plane_in_group;
        let same_code = !self.knows_clean() || stream.is_apart() == self.stream_of(first).is_apart();
        fits && same_code && (1..units).all(|unit| stream_of(unit) == stream)
    }

    /// Each kind of data, or the map, goes where it is kept apart, unless space is short.
    fn stream_of_move(&self, pool: Pool, lpa: Lpa, from: Ppa) -> Stream {
        let stream = match (self.stream_of_leveling(pool, from), self.chooses_streams) {
            (Some(stream), _) => stream,
            (None, true) => {
                Stream::of_moves(self.stream_choice.of_move(lpa, self.is_clean(lpa), self.stream_of_data(from)))
            }
            (None, false) if self.is_translation(lpa) => Stream::GC_APART,
            (None, false) => Stream::GC,
        };
        let goes_apart = self.isolates || self.pools[pool.index()].takes_apart(stream, self.reserve_groups);
        if goes_apart { stream } else { Stream::GC }
    }

    /// The kind of the moves of all that a group holds, where kinds stay apart for good; otherwise of no consequence.
    #[inline]
    pub fn kind_of_moves_from(&self, group: BlockGroup) -> u32 {
        if !self.isolates {
            return 0;
        }
        let from = Stream(self.groups[group.index()].stream.into());
        self.stream_choice.of_move(Lpa::NONE, false, from)
    }

    /// Reports the end of a move's program. The map changes only if the content at the source is still the
    /// unit's; returns whether it was.
    #[inline]
    pub fn moved(&mut self, lpa: Lpa, from: Residence, to: Ppa) -> bool {
        let (group, _) = self.geometry.group_and_offset(to);
        let current = self.resides(lpa, from);
        if current {
            self.remap(lpa, to);
            self.invalidate(from.place);
            self.validate(to);
            self.counters.moves_completed += 1;
        } else {
            self.counters.moves_dropped_after_program += 1;
        }
        let record = &mut self.groups[group.index()];
        debug_assert!(record.pending > 0, "a move ends once");
        record.pending -= 1;
        // One that is open is no candidate whatever ends in it.
        if record.pending == 0 && record.state == GroupState::Closed {
            self.refresh_candidate(group);
        }
        current
    }

    /// Reports the end of an erase: the group is free again.
    pub fn erased(&mut self, group: BlockGroup) {
        let (pool, _) = self.geometry.pool_and_block(group);
        let record = &mut self.groups[group.index()];
        debug_assert!(record.readers == 0 && record.pending == 0, "nothing uses a group that is erased");
        let of = Stream(u32::from(record.stream));
        let unwritten = self.geometry.units_per_group() - record.write_pointer;
        self.counters.erased_unwritten_units += u64::from(unwritten);
        if let Some(members) = &mut self.members {
            members.erased(group);
        }
        *record = BlockRecord { erase_count: record.erase_count + 1, ..BlockRecord::default() };
        let pool_record = &mut self.pools[pool.index()];
        pool_record.erasing -= 1;
        pool_record.free.push_back(group.0);
        self.counters.erased_groups += 1;
        if self.slc_cache.is_some() {
            self.erased_beside_slc(pool, group);
        }
        if self.chooses_streams {
            self.stream_choice.erased(group, of);
            if let Some(units) = &mut self.reclaim_units {
                units.erased(of);
            }
        }
        self.hold_host(pool);
        self.refresh_space(pool);
        if self.leveling.is_some() {
            self.level_wear(pool, group);
        }
    }

    // ---- choices that take time --------------------------------------------------------------------

    /// From now on the driver is asked for the time of each choice of a victim.
    pub fn choices_take_time(&mut self) {
        let none = || BitTable::new(self.geometry.pools() as usize);
        self.choices = Some(Box::new(Choices { made: none(), awaited: none() }));
    }

    /// Whether a pool's collection waits for that.
    #[inline]
    pub fn awaits_choice(&self, pool: Pool) -> bool {
        self.choices.as_ref().is_some_and(|choices| choices.awaited.get(pool.index()))
    }

    /// The time for the next choice in a pool was taken. One that finds no victim is not made again.
    pub fn may_choose(&mut self, pool: Pool) {
        if let Some(choices) = &mut self.choices {
            choices.made.set(pool.index());
            choices.awaited.clear(pool.index());
        }
    }

    // ---- inside ----------------------------------------------------------------------------------

    fn take_drained(&mut self, pool: Pool) -> Option<BlockGroup> {
        let counts = &self.valid_counts;
        let draining = &mut self.pools[pool.index()].draining;
        let position = draining.iter().position(|&group| counts.get(group as usize) & !NOT_A_CANDIDATE == 0)?;
        Some(BlockGroup(draining.remove(position)))
    }

    /// Whether there is a victim to go on with; chooses one where there is none. What a page of moves was
    /// filled from is gone on with for its own sake only where collecting frees a group: moving valid units
    /// in circles would never end, and would keep host programs waiting.
    #[inline]
    fn has_collection(&mut self, pool: Pool, fill: bool, (for_space, folds): (bool, bool)) -> bool {
        match self.pools[pool.index()].collection {
            // Space first: there may be more to refresh than is ever done, and that frees nothing.
            None => {
                (folds && self.start_fold(pool))
                    || (for_space && self.has_choice(pool) && self.start_collection(pool, fill))
                    || self.start_refresh(pool)
            }
            Some(collection) if collection.to_fill && !fill => self.adopt_collection(pool, collection),
            Some(_) => true,
        }
    }

    /// Whether a victim may be chosen now: where that takes time, the driver is to let it have it first.
    #[inline]
    fn has_choice(&mut self, pool: Pool) -> bool {
        let Some(choices) = &mut self.choices else { return true };
        let chosen = choices.made.get(pool.index());
        choices.awaited.put(pool.index(), !chosen);
        chosen
    }

    /// Takes up the next group that is to be refreshed and is still the one it was.
    #[inline]
    fn start_refresh(&mut self, pool: Pool) -> bool {
        !self.pools[pool.index()].refresh.is_empty() && self.start_next_refresh(pool)
    }

    #[cold]
    fn start_next_refresh(&mut self, pool: Pool) -> bool {
        while let Some((group, life)) = self.pools[pool.index()].refresh.pop_front() {
            if self.groups[group as usize].erase_count != life {
                continue;
            }
            // It may have become a victim by itself: it does not wait longer for that.
            self.groups[group as usize].refreshed = true;
            if self.groups[group as usize].failed {
                self.collect(Collection { group, cursor: 0, to_fill: false, to_refresh: true });
                return true;
            }
            if self.valid_counts.get(group as usize) & NOT_A_CANDIDATE == 0 {
                let levels = self.leveled_group(pool) == Some(BlockGroup(group));
                self.counters.leveled_groups += u64::from(levels);
                self.counters.refreshed_groups += u64::from(!levels);
                self.victim_selection.taken(pool, BlockGroup(group));
                self.collect(Collection { group, cursor: 0, to_fill: false, to_refresh: true });
                return true;
            }
        }
        false
    }

    #[cold]
    fn adopt_collection(&mut self, pool: Pool, collection: Collection) -> bool {
        let units_per_group = self.geometry.units_per_group();
        let invalid = units_per_group - self.valid_units(BlockGroup(collection.group));
        // Behind it wait groups that are refreshed whatever is gained.
        let worthwhile = !self.pools[pool.index()].refresh.is_empty()
            || self.slc_cache.is_some() && self.folds(pool, false)
            || reclaimable_units(&self.candidates(pool), invalid) >= units_per_group;
        if worthwhile {
            self.pools[pool.index()].collection = Some(Collection { to_fill: false, ..collection });
        }
        worthwhile
    }

    fn candidates(&self, pool: Pool) -> CandidateView<'_> {
        CandidateView::of(pool, &self.geometry, (&self.valid_counts, &self.groups), self.closed_groups)
    }

    /// Chooses a victim. Without `fill` it does so only where the candidates together hold at least one
    /// group's worth of invalid units: less could not free a group, however often it is moved about.
    #[inline(never)]
    fn start_collection(&mut self, pool: Pool, fill: bool) -> bool {
        // Not by `candidates`, which would borrow the policy with all the rest.
        let view = CandidateView::of(pool, &self.geometry, (&self.valid_counts, &self.groups), self.closed_groups);
        if !fill && reclaimable_units(&view, 0) < view.units_per_group {
            return false;
        }
        if self.isolates && !gives_more_than_padding(&view, view.fewest_valid(), &self.geometry) {
            return false;
        }
        let Some(index) = self.victim_selection.select(&view) else { return false };
        let mut group = view.group(index);
        if self.isolates && !gives_more_than_padding(&view, Some(index), &self.geometry) {
            let fewest = view.group(view.fewest_valid().expect("there is one"));
            self.pass_over(pool, group, fewest);
            group = fewest;
        }
        let is_candidate = self.valid_counts.get(group.index()) & NOT_A_CANDIDATE == 0;
        // A policy may be a program's own.
        assert!(is_candidate, "the victim policy chose group {group}, which is no candidate");
        let valid = self.valid_units(group);
        self.counters.gc_victims += 1;
        self.counters.gc_victim_valid_units += u64::from(valid);
        self.collect(Collection { group: group.0, cursor: 0, to_fill: fill, to_refresh: false });
        if let Some(choices) = &mut self.choices {
            choices.made.clear(pool.index());
        }
        true
    }

    pub(super) fn collect(&mut self, collection: Collection) {
        let group = BlockGroup(collection.group);
        let pool = self.geometry.pool_and_block(group).0;
        if let Some(by_planes) = &mut self.by_planes {
            by_planes.begins(pool);
        }
        self.groups[group.index()].state = GroupState::Collecting;
        self.refresh_candidate(group);
        self.pools[pool.index()].collection = Some(collection);
        let valid = self.valid_units(group);
        if let Some(units) = self.reclaim_units.as_mut().filter(|_| valid > 0) {
            units.reallocates();
        }
    }

    /// A victim that was chosen gives too little, and another is taken: the policy has it come as if it had just been filled.
    #[cold]
    fn pass_over(&mut self, pool: Pool, group: BlockGroup, instead: BlockGroup) {
        self.groups[group.index()].closed_sequence = self.closed_groups;
        self.closed_groups = self.closed_groups.wrapping_add(1);
        self.victim_selection.closed(pool, group);
        self.victim_selection.taken(pool, instead);
        if let Some(units) = &mut self.reclaim_units {
            units.passed();
        }
    }

    /// The next units of the current victim that lie in one page, as many as there is space to move to, to
    /// `fill` the open page no more than that takes: what is moved beyond would wait in the next page, and that
    /// would have to be filled in its turn. Moves the victim to the draining list when there is none left.
    fn next_page_of_collection(&mut self, pool: Pool, fill: bool) -> Option<GcStep> {
        let collection = self.pools[pool.index()].collection?;
        let group = BlockGroup(collection.group);
        let units_per_group = self.geometry.units_per_group();
        let start = self.geometry.first_unit(group).0;
        let end = start + units_per_group;
        let next = match &self.by_planes {
            Some(_) => self.next_page_by_plane(pool, group),
            None => self.next_page(start + collection.cursor),
        };
        let kind = self.kind_of_moves_from(group);
        let record = &mut self.pools[pool.index()];
        let Some((first, left)) = next.filter(|(first, _)| first.0 < end) else {
            self.groups[group.index()].state = GroupState::Draining;
            record.collection = None;
            record.draining.push(group.0);
            record.leaving += u32::from(self.groups[group.index()].failed);
            return None;
        };
        let units_per_page = self.geometry.units_per_page();
        let most = if fill { record.rest_of_open_page(self.geometry.units_padded_together()) } else { units_per_page };
        let space = record.space_for_moves(units_per_group, self.reserve_groups, self.kept_groups, kind).min(most);
        if space == 0 {
            // The erase of an earlier victim will make some; that one may wait for an open page of clean moves.
            let waits = !record.draining.is_empty();
            if !waits {
                self.may_be_exhausted(pool);
            }
            return Some(if waits { GcStep::Wait } else { GcStep::Nothing });
        }
        let mask = lowest_bits(left, space);
        record.hands_out(mask.count_ones(), kind);
        let handed_out = first.0 + u32::BITS - mask.leading_zeros() - start;
        record.collection = Some(Collection { cursor: handed_out, ..collection });
        if let Some(by_planes) = &mut self.by_planes {
            by_planes.handed_out(&self.geometry, pool, handed_out);
        }
        Some(GcStep::MovePage { first, mask })
    }

    /// The page of the first valid unit from one on: its first unit, and those from that one on that are valid.
    #[inline]
    fn next_page(&self, from: u32) -> Option<(Ppa, u32)> {
        let next = self.valid.next_set(from as usize)? as u32;
        let first = self.geometry.first_unit_of_page(Ppa(next));
        let in_page = self.valid.aligned_bits(first.index(), self.geometry.units_per_page());
        Some((first, in_page & u32::MAX << (next - first.0)))
    }
}

/// Whether a group gives at least a page of units, or a wordline of them where that is programmed in one go: what is moved of kinds that
/// stay apart for good may have to be padded, as no other fills its page, and padding takes less than that.
fn gives_more_than_padding(view: &CandidateView<'_>, index: Option<u32>, geometry: &Geometry) -> bool {
    let valid = index.and_then(|index| view.valid_units(index));
    valid.is_some_and(|valid| view.units_per_group - valid >= geometry.units_padded_together())
}

/// The lowest `count` set bits of `mask`.
fn lowest_bits(mask: u32, count: u32) -> u32 {
    if mask.count_ones() <= count {
        return mask;
    }
    let mut rest = mask;
    (0..count).for_each(|_| rest &= rest - 1);
    mask & !rest
}

/// Groups that are looked at one by one before those with most to gain are looked for.
const FIRST_LOOK: u32 = 64;

/// `known` and the candidates' invalid units, counted up to one group. Where the first groups do not hold as many, it is gone on
/// with where the fewest units are valid: what is never written, wherever it lies, is not counted each time.
fn reclaimable_units(view: &CandidateView<'_>, known: u32) -> u32 {
    let mut reclaimable = known;
    let mut count = |range: Range<u32>| {
        for index in range {
            if reclaimable >= view.units_per_group {
                break;
            }
            reclaimable += view.valid_units(index).map_or(0, |valid| view.units_per_group - valid);
        }
        reclaimable
    };
    let looked_at = FIRST_LOOK.min(view.len());
    if count(0..looked_at) < view.units_per_group {
        let begin = view.fewest_valid().map_or(looked_at, |index| index.max(looked_at));
        count(begin..view.len());
        count(looked_at..begin);
    }
    reclaimable
}
