//! Saving a quiet translation layer, and making the same one from what was saved.
//!
//! What the media hold is saved: which unit lies at every physical place, which places are valid, what was done to each
//! block group, in which order groups are free. What was filled in order and not erased since is said by the order alone, and
//! of groups that were never written nothing. The map, all counts of valid units and what may be a victim follow from that
//! and are made anew, so that they cannot contradict it. Everything read is checked before it is used: whatever the
//! bytes say, the result is a translation layer that works, or a refusal.

use std::ops::Range;

use ninescope_kernel::{NONE, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa, Stream};

use super::Ftl;
use crate::block::{BlockRecord, GroupState};
use crate::filling_order::FillingOrder;
use crate::policies::victim_selection::NOT_A_CANDIDATE;
use crate::pool::Frontier;

/// Erases that a group may have behind it; as many more can be counted [count].
const ERASES_MAX: u32 = 1 << 31;

impl Snapshot for Ftl {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.must_be_quiet()?;
        to.begin("groups")?;
        to.u32(self.closed_groups)?;
        for column in COLUMNS {
            to.column(self.groups.iter().map(column))?;
        }
        to.begin("pools")?;
        for pool in &self.pools {
            to.u32(pool.free.len() as u32)?;
            to.column(pool.free.iter().copied())?;
            for frontier in &pool.frontiers[..self.saved_frontiers()] {
                to.u32(frontier.group)?;
            }
        }
        to.begin("filling")?;
        self.order.save(to)?;
        to.begin("contents")?;
        let told = (0..self.geometry.groups()).flat_map(|group| self.told_places(BlockGroup(group)));
        to.column(told.map(|place| self.content(Ppa(place as u32)).0))?;
        to.begin("valid")?;
        self.valid.save(to)?;
        to.begin("clean")?;
        self.clean.save(to)?;
        to.begin("policies")?;
        match &self.partitioned {
            None => match &self.homes {
                None => self.page_allocation.save(to)?,
                Some(homes) => homes.save(to)?,
            },
            Some(partitioned) => partitioned.save(to)?,
        }
        self.stream_choice.save(to)?;
        self.free_block_choice.save(to)?;
        self.gc_trigger.save(to)?;
        self.victim_selection.save(to)?;
        self.breakage.as_ref().map_or(Ok(()), |breakage| breakage.save(to))?;
        self.leveling.as_ref().map_or(Ok(()), |leveling| leveling.save(to))?;
        self.block_map.as_ref().map_or(Ok(()), |map| map.save(to))
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        from.begin("groups")?;
        self.closed_groups = from.u32()?;
        self.load_groups(from)?;
        from.begin("pools")?;
        for pool in (0..self.geometry.pools()).map(Pool) {
            self.load_pool(pool, from)?;
        }
        from.begin("filling")?;
        self.load_order(from)?;
        from.begin("contents")?;
        self.load_contents(from)?;
        from.begin("valid")?;
        self.valid.load(from)?;
        from.begin("clean")?;
        self.clean.load(from)?;
        self.map_contents()?;
        self.count_homes();
        self.tell_of_closed_groups();
        from.begin("policies")?;
        match &mut self.partitioned {
            None => match &mut self.homes {
                None => self.page_allocation.load(from)?,
                Some(homes) => homes.load(from)?,
            },
            Some(partitioned) => partitioned.load(from)?,
        }
        self.stream_choice.load(from)?;
        self.free_block_choice.load(from)?;
        self.gc_trigger.load(from)?;
        self.victim_selection.load(from)?;
        self.prepare_zones();
        self.load_breakage(from)?;
        self.load_leveling(from)?;
        self.load_block_map(from)?;
        self.clear_counters();
        Ok(())
    }
}

/// What is saved of the record of a group.
const COLUMNS: [fn(&BlockRecord) -> u32; 6] = [
    |record| record.state as u32,
    |record| u32::from(record.stream),
    |record| record.write_pointer,
    |record| record.erase_count,
    |record| record.reads_since_erase,
    |record| record.closed_sequence,
];

impl Ftl {
    /// Nothing is under way: all that is allocated is programmed, no page is partly filled, nothing is collected.
    fn must_be_quiet(&self) -> Result<(), SnapshotError> {
        let not_quiet = |problem: String| Err(SnapshotError::NotQuiet(problem));
        for (number, record) in self.groups.iter().enumerate() {
            let at_rest =
                matches!(record.state, GroupState::Free | GroupState::Open | GroupState::Closed | GroupState::Retired);
            let used = record.pending > 0 || record.readers > 0 || record.refreshed || record.failed;
            if !at_rest || used || record.programmed != record.write_pointer {
                return not_quiet(format!("group {number} is in use"));
            }
        }
        let together = self.geometry.units_padded_together();
        for (number, pool) in self.pools.iter().enumerate() {
            if !pool.collects_nothing() {
                return not_quiet(format!("pool {number} collects garbage"));
            }
            let open = |frontier: &&Frontier| frontier.group != NONE && !frontier.next.is_multiple_of(together);
            if let Some(frontier) = pool.frontiers.iter().find(open) {
                return not_quiet(format!("a page of group {} is partly filled", frontier.group));
            }
        }
        Ok(())
    }

    fn load_groups(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let mut columns = COLUMNS.map(|_| vec![0; self.groups.len()]);
        for column in &mut columns {
            from.column(column, |number| number)?;
        }
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let numbers = columns.each_ref().map(|column| column[group.index()]);
            self.groups[group.index()] = self.group_of(group, numbers)?;
        }
        Ok(())
    }

    /// A group whose record says these numbers.
    fn group_of(&self, group: BlockGroup, numbers: [u32; COLUMNS.len()]) -> Result<BlockRecord, SnapshotError> {
        let [state, stream, written, erase_count, reads_since_erase, closed_sequence] = numbers;
        let known = [GroupState::Free, GroupState::Open, GroupState::Closed, GroupState::Retired];
        let Some(state) = known.into_iter().find(|known| *known as u32 == state) else {
            return Err(SnapshotError::Impossible(format!("group {group} is in state {state}")));
        };
        let there = Stream(stream).kind() < self.kinds;
        must_hold(there, || format!("group {group} is of stream {stream}"))?;
        let record = BlockRecord {
            state,
            stream: stream as u8,
            write_pointer: written,
            programmed: written,
            erase_count,
            reads_since_erase,
            closed_sequence,
            ..BlockRecord::default()
        };
        let whole = self.geometry.units_per_group();
        let pages_are_full = written.is_multiple_of(self.geometry.units_padded_together());
        let fits = match state {
            GroupState::Open => written > 0 && written < whole && pages_are_full,
            GroupState::Closed => written == whole,
            _ => written == 0 && record.reads_since_erase == 0,
        };
        must_hold(fits, || format!("group {group} is {state:?}, and {written} of its {whole} units are written"))?;
        must_hold(record.erase_count <= ERASES_MAX && record.reads_since_erase <= ERASES_MAX, || {
            format!("group {group} was erased {} times, read {} times", record.erase_count, record.reads_since_erase)
        })?;
        Ok(record)
    }

    /// Frontiers of a pool that are saved: two kinds' at least.
    fn saved_frontiers(&self) -> usize {
        2 * self.kinds.max(2) as usize
    }

    /// Every group of a pool is in its free list, a frontier, or closed, as its record says.
    fn load_pool(&mut self, pool: Pool, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let blocks = self.geometry.blocks_per_plane;
        let first = pool.0 * blocks;
        let of_pool = first..first + blocks;
        let mut unseen: Vec<bool> = vec![true; blocks as usize];
        let mut take = |groups: &[BlockRecord], group: u32, state: GroupState| {
            let known = of_pool.contains(&group)
                && groups[group as usize].state == state
                && std::mem::take(&mut unseen[(group - first) as usize]);
            must_hold(known, || format!("group {group} cannot be {state:?} in pool {pool}"))
        };
        let free = from.u32()?;
        must_hold(free <= blocks && free >= self.reserve_groups, || {
            format!("pool {pool} has {free} free groups of {blocks}, {} of them in reserve", self.reserve_groups)
        })?;
        let saved = self.saved_frontiers();
        let record = &mut self.pools[pool.index()];
        let mut groups = vec![0; free as usize];
        from.column(&mut groups, |group| group)?;
        groups.iter().try_for_each(|&group| take(&self.groups, group, GroupState::Free))?;
        record.free = groups.into();
        for (stream, frontier) in record.frontiers[..saved].iter_mut().enumerate() {
            let group = from.u32()?;
            *frontier = Frontier::default();
            if group == NONE {
                continue;
            }
            take(&self.groups, group, GroupState::Open)?;
            let block = &self.groups[group as usize];
            must_hold(usize::from(block.stream) == stream, || {
                format!("group {group} is a frontier of stream {stream}")
            })?;
            *frontier = Frontier { group, next: block.write_pointer };
        }
        // Which groups a map by block has open it says itself.
        let known = |state| {
            matches!(state, GroupState::Closed | GroupState::Retired)
                || state == GroupState::Open && self.block_map.is_some()
        };
        let groups = &self.groups[of_pool.start as usize..of_pool.end as usize];
        let lost = groups.iter().zip(&unseen).position(|(group, &unseen)| unseen && !known(group.state));
        must_hold(lost.is_none(), || {
            format!("a group of pool {pool} is neither free nor open nor closed nor retired")
        })?;
        self.refresh_space(pool);
        Ok(())
    }

    /// Reads what was filled in order. Groups that were not erased since hold it.
    fn load_order(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.order = FillingOrder::load(from, &self.geometry, self.logical_units(), |group| self.position(group))?;
        must_hold(self.order.units() == 0 || self.partitioned.is_none(), || {
            "a drive of several partitions was filled in the order of a whole one".to_owned()
        })?;
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let (record, filled) = (&self.groups[group.index()], self.filled(group).len() as u32);
            must_hold(record.erase_count > 0 || record.write_pointer >= filled, || {
                format!("group {group} was filled to {filled} units, and {} are written", record.write_pointer)
            })?;
        }
        Ok(())
    }

    /// The places of a group that were filled in order, whatever came of them.
    fn filled(&self, group: BlockGroup) -> Range<usize> {
        let begin = self.geometry.first_unit(group).index();
        begin..begin + self.order.units_in(group, self.position(group)) as usize
    }

    /// The places of a group that still hold what was filled in order.
    fn as_filled(&self, group: BlockGroup) -> Range<usize> {
        let filled = self.filled(group);
        let erased = self.groups[group.index()].erase_count > 0;
        if erased { filled.start..filled.start } else { filled }
    }

    /// The places of a group whose content is told by the group itself: none where nothing came after its filling.
    fn told_places(&self, group: BlockGroup) -> Range<usize> {
        let as_filled = self.as_filled(group);
        let record = &self.groups[group.index()];
        let nothing_else = record.erase_count == 0 && record.write_pointer as usize == as_filled.len();
        let end = as_filled.start + self.geometry.units_per_group() as usize;
        if nothing_else { end..end } else { as_filled.end..end }
    }

    /// Reads what groups tell of their places: one column, each number of which is told by the one before.
    fn load_contents(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let (units, mut before) = (self.map.len() as u32, 0_u32);
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let places = self.told_places(group);
            if places.is_empty() {
                continue;
            }
            from.column(&mut self.reverse.words_mut()[places.clone()], |lpa| !before.wrapping_add(lpa))?;
            for place in places {
                let lpa = Lpa(self.reverse.get(place));
                must_hold(lpa.0 < units || lpa == Lpa::NONE, || format!("unit {lpa} is beyond the drive"))?;
                self.put_content(Ppa(place as u32), lpa);
                before = lpa.0;
            }
        }
        Ok(())
    }

    /// Makes the map and the counts of valid units from what the places hold.
    fn map_contents(&mut self) -> Result<(), SnapshotError> {
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            self.forget_what_was_filled(group);
        }
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let begin = self.geometry.first_unit(group).index();
            let written = begin + self.groups[group.index()].write_pointer as usize;
            let end = begin + self.geometry.units_per_group() as usize;
            let beyond = self.valid.next_set_before(written, end);
            must_hold(beyond.is_none(), || {
                format!("place {} is valid and was not written", beyond.unwrap_or_default())
            })?;
            self.map_what_came_later(self.as_filled(group).end..written)?;
            let valid = self.valid.count_range(begin, written);
            self.mapped_units += valid;
            self.valid_counts.change_aside(group.index(), |_| valid | NOT_A_CANDIDATE);
            self.refresh_candidate(group);
        }
        let of_map = (0..self.translation_units).map(|page| self.translation_unit(page));
        self.mapped_units -= of_map.filter(|&unit| self.translate(unit) != Ppa::UNMAPPED).count() as u32;
        Ok(())
    }

    /// Units that were filled into a group and are not valid there any more lie nowhere, as far as is known yet.
    fn forget_what_was_filled(&mut self, group: BlockGroup) {
        let (filled, erased) = (self.filled(group), self.as_filled(group).is_empty());
        let mut place = filled.start;
        loop {
            let next = if erased { Some(place) } else { self.valid.next_clear_before(place, filled.end) };
            let Some(invalid) = next.filter(|&place| place < filled.end) else { return };
            self.remap(self.filled_content(Ppa(invalid as u32)), Ppa::UNMAPPED);
            place = invalid + 1;
        }
    }

    /// Whether a place is of the partition of a unit.
    fn may_lie_at(&self, lpa: Lpa, at: Ppa) -> bool {
        let pool = self.geometry.pool_and_block(self.geometry.group_and_offset(at).0).0;
        self.partitions().is_none_or(|partitions| partitions.of_unit(lpa) == partitions.of_pool(pool))
    }

    /// Valid units of these places, which were not filled in order, lie there and nowhere else.
    fn map_what_came_later(&mut self, places: Range<usize>) -> Result<(), SnapshotError> {
        let mut next = self.valid.next_set_before(places.start, places.end);
        while let Some(place) = next {
            let at = Ppa(place as u32);
            let lpa = self.content(at);
            must_hold(lpa != Lpa::NONE, || format!("place {place} is valid and holds nothing"))?;
            must_hold(self.may_lie_at(lpa, at), || format!("unit {lpa} lies at {place}, in another partition"))?;
            let before = self.remap(lpa, at);
            must_hold(before == Ppa::UNMAPPED, || format!("unit {lpa} is valid at {before} and at {place}"))?;
            next = self.valid.next_set_before(place + 1, places.end);
        }
        Ok(())
    }
}
