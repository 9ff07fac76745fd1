//! Saving a quiet translation layer, and making the same one from what was saved.
//!
//! What the media hold is saved: which unit lies at every physical place, which places are valid, what was done to each
//! block group, in which order groups are free. The map, all counts of valid units and what may be a victim follow from that
//! and are made anew, so that they cannot contradict it. Everything read is checked before it is used: whatever the
//! bytes say, the result is a translation layer that works, or a refusal.

use ninescope_kernel::{NONE, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa, Stream};

use super::Ftl;
use crate::block::{BlockRecord, GroupState};
use crate::policies::victim_selection::NOT_A_CANDIDATE;
use crate::pool::Frontier;

/// Erases that a group may have behind it; as many more can be counted [count].
const ERASES_MAX: u32 = 1 << 31;

impl Snapshot for Ftl {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.must_be_quiet()?;
        to.begin("groups")?;
        to.u32(self.closed_groups)?;
        for record in &self.groups {
            save_group(record, to)?;
        }
        to.begin("pools")?;
        for pool in &self.pools {
            to.u32(pool.free.len() as u32)?;
            for &group in &pool.free {
                to.u32(group)?;
            }
            for frontier in &pool.frontiers {
                to.u32(frontier.group)?;
            }
        }
        to.begin("contents")?;
        to.column((0..self.reverse.len()).map(|place| self.content(Ppa(place as u32)).0))?;
        to.begin("valid")?;
        self.valid.save(to)?;
        to.begin("clean")?;
        self.clean.save(to)?;
        to.begin("policies")?;
        self.page_allocation.save(to)?;
        self.stream_choice.save(to)?;
        self.free_block_choice.save(to)?;
        self.gc_trigger.save(to)?;
        self.victim_selection.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        from.begin("groups")?;
        self.closed_groups = from.u32()?;
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            self.groups[group.index()] = self.load_group(group, from)?;
        }
        from.begin("pools")?;
        for pool in (0..self.geometry.pools()).map(Pool) {
            self.load_pool(pool, from)?;
        }
        from.begin("contents")?;
        from.column(self.reverse.words_mut(), |lpa| !lpa)?;
        from.begin("valid")?;
        self.valid.load(from)?;
        from.begin("clean")?;
        self.clean.load(from)?;
        self.map_contents()?;
        self.tell_of_closed_groups();
        from.begin("policies")?;
        self.page_allocation.load(from)?;
        self.stream_choice.load(from)?;
        self.free_block_choice.load(from)?;
        self.gc_trigger.load(from)?;
        self.victim_selection.load(from)?;
        self.clear_counters();
        Ok(())
    }
}

fn save_group(record: &BlockRecord, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
    to.u8(record.state as u8)?;
    to.u8(record.stream)?;
    for number in [record.write_pointer, record.erase_count, record.reads_since_erase, record.closed_sequence] {
        to.u32(number)?;
    }
    Ok(())
}

impl Ftl {
    /// Nothing is under way: all that is allocated is programmed, no page is partly filled, nothing is collected.
    fn must_be_quiet(&self) -> Result<(), SnapshotError> {
        let not_quiet = |problem: String| Err(SnapshotError::NotQuiet(problem));
        for (number, record) in self.groups.iter().enumerate() {
            let at_rest = matches!(record.state, GroupState::Free | GroupState::Open | GroupState::Closed);
            let used = record.pending > 0 || record.readers > 0 || record.refreshed;
            if !at_rest || used || record.programmed != record.write_pointer {
                return not_quiet(format!("group {number} is in use"));
            }
        }
        let units_per_page = self.geometry.units_per_page();
        for (number, pool) in self.pools.iter().enumerate() {
            let collects = pool.collection.is_some() || !pool.draining.is_empty() || !pool.refresh.is_empty();
            if collects || pool.erasing > 0 || pool.handed_out > 0 || pool.holds_host {
                return not_quiet(format!("pool {number} collects garbage"));
            }
            let open = |frontier: &&Frontier| frontier.group != NONE && !frontier.next.is_multiple_of(units_per_page);
            if let Some(frontier) = pool.frontiers.iter().find(open) {
                return not_quiet(format!("a page of group {} is partly filled", frontier.group));
            }
        }
        Ok(())
    }

    fn load_group(&self, group: BlockGroup, from: &mut dyn SectionReader) -> Result<BlockRecord, SnapshotError> {
        let state = match from.u8()? {
            state if state == GroupState::Free as u8 => GroupState::Free,
            state if state == GroupState::Open as u8 => GroupState::Open,
            state if state == GroupState::Closed as u8 => GroupState::Closed,
            state => return Err(SnapshotError::Impossible(format!("group {group} is in state {state}"))),
        };
        let stream = from.u8()?;
        let written = from.u32()?;
        let record = BlockRecord {
            state,
            stream,
            write_pointer: written,
            programmed: written,
            erase_count: from.u32()?,
            reads_since_erase: from.u32()?,
            closed_sequence: from.u32()?,
            ..BlockRecord::default()
        };
        let whole = self.geometry.units_per_group();
        let pages_are_full = written.is_multiple_of(self.geometry.units_per_page());
        let fits = match state {
            GroupState::Open => written > 0 && written < whole && pages_are_full,
            GroupState::Closed => written == whole,
            _ => written == 0 && record.reads_since_erase == 0,
        };
        must_hold(fits, || format!("group {group} is {state:?}, and {written} of its {whole} units are written"))?;
        let stream = Stream(u32::from(stream));
        let there = Stream::ALL.contains(&stream) && (self.knows_clean || !stream.is_of_clean_data());
        must_hold(there, || format!("group {group} is of stream {stream}"))?;
        must_hold(record.erase_count <= ERASES_MAX && record.reads_since_erase <= ERASES_MAX, || {
            format!("group {group} was erased {} times, read {} times", record.erase_count, record.reads_since_erase)
        })?;
        Ok(record)
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
        let record = &mut self.pools[pool.index()];
        record.free.clear();
        for _ in 0..free {
            let group = from.u32()?;
            take(&self.groups, group, GroupState::Free)?;
            record.free.push_back(group);
        }
        for (stream, frontier) in record.frontiers.iter_mut().enumerate() {
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
        let groups = &self.groups[of_pool.start as usize..of_pool.end as usize];
        let lost = groups.iter().zip(&unseen).position(|(group, &unseen)| unseen && group.state != GroupState::Closed);
        must_hold(lost.is_none(), || format!("a group of pool {pool} is neither free nor open nor closed"))?;
        self.refresh_space(pool);
        Ok(())
    }

    /// Makes the map and the counts of valid units from what the places hold.
    fn map_contents(&mut self) -> Result<(), SnapshotError> {
        let logical = self.map.len() as u32;
        let strange = self.reverse.iter().find(|&lpa| lpa != Lpa::NONE.0 && lpa >= logical);
        must_hold(strange.is_none(), || format!("unit {} is beyond the drive", strange.unwrap_or_default()))?;
        let mut place = self.valid.next_set(0);
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let begin = self.geometry.first_unit(group).index();
            let written = begin + self.groups[group.index()].write_pointer as usize;
            let end = begin + self.geometry.units_per_group() as usize;
            let mut valid = 0;
            while let Some(unit) = place.filter(|&unit| unit < end) {
                must_hold(unit < written, || format!("place {unit} is valid and was not written"))?;
                let lpa = self.content(Ppa(unit as u32));
                must_hold(lpa != Lpa::NONE, || format!("place {unit} is valid and holds nothing"))?;
                let before = self.remap(lpa, Ppa(unit as u32));
                must_hold(before == Ppa::UNMAPPED, || format!("unit {lpa} is valid at {before} and at {unit}"))?;
                valid += 1;
                place = self.valid.next_set(unit + 1);
            }
            self.mapped_units += valid;
            self.valid_counts[group.index()] = valid | NOT_A_CANDIDATE;
            self.refresh_candidate(group);
        }
        Ok(())
    }
}
