//! Blocks that break: what is written again elsewhere, which groups are retired, and when the drive takes no more writes.
//!
//! A group is retired with all its blocks. When a program fails, its group is filled no more: what was to be programmed there
//! from the failed page on goes to another group of the pool and stream, page by page, and what lies before it is moved as if the
//! group was refreshed. A drive is read-only from when a pool has fewer groups than it takes to hold its share and to collect
//! garbage, or finds no group for what has to be written again.

use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use super::{BitTable, Ftl};
use crate::block::{BlockRecord, GroupState};
use crate::breakdown::{Breakdown, Broken};

/// What broke since the counters were last cleared, in groups of blocks unless named otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadBlocks {
    /// Page programs that failed [pages].
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Groups that had as many cycles as one of their blocks bears.
    pub worn_out: u64,
    /// Groups that were retired, for whatever reason.
    pub retired: u64,
}

/// What breaks, and what is left.
#[derive(Debug)]
pub(super) struct Breakage {
    draws: Breakdown,
    /// By pool: groups without which it cannot go on.
    needed: Vec<u32>,
    /// By pool: groups that are retired.
    retired: Vec<u32>,
    counts: BadBlocks,
    /// The pool that lacks groups, so that the drive takes no more writes.
    read_only: Option<Pool>,
}

impl Breakage {
    pub fn new(draws: Breakdown, needed: Vec<u32>) -> Self {
        let retired = vec![0; needed.len()];
        Self { draws, needed, retired, counts: BadBlocks::default(), read_only: None }
    }

    pub fn clear_counters(&mut self) {
        self.counts = BadBlocks::default();
    }

    pub fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.begin("broken")?;
        self.draws.save(to)
    }
}

/// A page that is programmed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The first unit of its new place.
    pub to: Ppa,
    /// It opened a new group.
    pub opened: bool,
    /// It filled its group.
    pub closed: bool,
}

impl Ftl {
    /// Whether blocks break.
    #[inline]
    pub fn blocks_break(&self) -> bool {
        self.breakage.is_some()
    }

    /// The drive takes no more writes.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only_pool().is_some()
    }

    /// The pool that lacks groups where the drive takes no more writes.
    #[inline]
    pub fn read_only_pool(&self) -> Option<Pool> {
        self.breakage.as_ref().and_then(|breakage| breakage.read_only)
    }

    /// What broke since the last [`Self::clear_counters`].
    pub fn bad_blocks(&self) -> BadBlocks {
        self.breakage.as_ref().map_or_else(BadBlocks::default, |breakage| breakage.counts)
    }

    /// The table of bad blocks: groups that are retired, from the start or since.
    pub fn bad_block_table(&self) -> impl Iterator<Item = BlockGroup> + '_ {
        let groups = if self.breakage.is_some() { &self.groups[..] } else { &[] };
        (0..)
            .map(BlockGroup)
            .zip(groups)
            .filter(|(_, record)| record.state == GroupState::Retired)
            .map(|(group, _)| group)
    }

    /// Groups that are retired, from the start or since.
    pub fn retired_groups(&self) -> u32 {
        self.breakage.as_ref().map_or(0, |breakage| breakage.retired.iter().sum())
    }

    /// Groups that the pool which has fewest to spare may lose before the drive takes no more writes.
    pub fn spare_groups_left(&self) -> u32 {
        let blocks = self.geometry.blocks_per_plane;
        let Some(breakage) = &self.breakage else { return blocks };
        let left = |(retired, needed): (&u32, &u32)| (blocks - retired).saturating_sub(*needed);
        breakage.retired.iter().zip(&breakage.needed).map(left).min().unwrap_or(blocks)
    }

    /// Groups that a pool cannot go on without, where blocks break.
    pub fn groups_needed(&self, pool: Pool) -> u32 {
        self.breakage.as_ref().map_or(0, |breakage| breakage.needed[pool.index()])
    }

    /// Erases after which a group is worn out, where there is a number.
    pub fn endurance(&self, group: BlockGroup) -> Option<u32> {
        self.breakage.as_ref().and_then(|breakage| breakage.draws.endurance(group))
    }

    // ---- programs ----------------------------------------------------------------------------------

    /// Whether the program of a page that ended failed.
    pub fn program_failed(&mut self, page: Ppa) -> bool {
        let erases = self.groups[self.geometry.group_and_offset(page).0.index()].erase_count;
        let Some(breakage) = &mut self.breakage else { return false };
        let failed = breakage.draws.program_fails(erases);
        breakage.counts.program_failures += u64::from(failed);
        failed
    }

    /// A program of a group failed, and all that was handed out of it waits for its program or has had it: it is filled no more.
    pub fn group_failed(&mut self, group: BlockGroup) {
        let pool = self.geometry.pool_and_block(group).0;
        let record = &mut self.groups[group.index()];
        debug_assert!(matches!(record.state, GroupState::Open | GroupState::Closed) && !record.failed);
        record.failed = true;
        if record.state == GroupState::Open {
            let frontier = &mut self.pools[pool.index()].frontiers[usize::from(record.stream)];
            *frontier = Default::default();
            record.state = GroupState::Closed;
            record.closed_sequence = self.closed_groups;
            self.closed_groups = self.closed_groups.wrapping_add(1);
            self.refresh_space(pool);
        } else {
            self.victim_selection.taken(pool, group);
            self.refresh_candidate(group);
        }
    }

    /// Gives a page of a group that failed another place of its pool and stream, whatever is to be left alone there; `None` where
    /// no group is free. `programmed`: it was programmed, in vain; otherwise it never will be there. It carries so many `moves`.
    pub fn rewrite(&mut self, stream: Stream, from: Ppa, programmed: bool, moves: u32) -> Option<Rewritten> {
        let (group, _) = self.geometry.group_and_offset(from);
        let pool = self.geometry.pool_and_block(group).0;
        let units = self.geometry.units_per_page();
        let mut rewritten = Rewritten { to: Ppa::UNMAPPED, opened: false, closed: false };
        if self.frontier(pool, stream).is_none() {
            if !self.open_any_group(pool, stream) {
                return None;
            }
            rewritten.opened = true;
        }
        for unit in (0..units).map(|number| Ppa(from.0 + number)) {
            let lpa = self.content(unit);
            let placed = self.allocate(pool, stream, lpa)?;
            if unit == from {
                rewritten.to = placed.new;
            }
            rewritten.closed = placed.closed;
            if self.is_valid(unit) {
                self.remap(lpa, placed.new);
                self.invalidate(unit);
                self.validate(placed.new);
            }
        }
        let to = self.geometry.group_and_offset(rewritten.to).0;
        self.groups[group.index()].pending -= moves;
        self.groups[to.index()].pending += moves;
        if programmed {
            self.counters.rewritten_units += u64::from(units);
            if let Some(counted) = &mut self.reclaim_units {
                counted.rewritten(stream, units);
            }
        } else {
            self.groups[group.index()].write_pointer -= units;
        }
        Some(rewritten)
    }

    /// All that was to be programmed in a group that failed has another place: it is emptied, and retired then.
    pub fn empty_failed(&mut self, group: BlockGroup) {
        let pool = self.geometry.pool_and_block(group).0;
        self.pools[pool.index()].refresh.push_back((group.0, self.groups[group.index()].erase_count));
    }

    /// What was to be programmed in a group that failed from this page on has no other place: the controller keeps it.
    pub fn keep_in_controller(&mut self, page: Ppa, moves: u32) {
        let (group, offset) = self.geometry.group_and_offset(page);
        let record = &mut self.groups[group.index()];
        record.programmed = record.programmed.min(offset);
        record.pending -= moves;
    }

    /// A unit that was handed out to be moved finds no place: it stays where it is, and the drive takes no more writes. `kind` as of
    /// [`Self::move_is_current`].
    pub fn give_move_up(&mut self, pool: Pool, kind: u32) {
        self.pools[pool.index()].takes_back(1, kind);
        self.turn_read_only(pool);
    }

    // ---- erases ------------------------------------------------------------------------------------

    /// An erase ended: its group is free, or it is retired for what broke.
    pub fn erase_ended(&mut self, group: BlockGroup) -> Option<Broken> {
        let erases = self.groups[group.index()].erase_count + 1;
        let broken = self.breakage.as_mut().and_then(|breakage| breakage.draws.erase_breaks(group, erases));
        match broken {
            None => self.erased(group),
            Some(broken) => self.erased_and_broken(group, broken),
        }
        broken
    }

    #[cold]
    fn erased_and_broken(&mut self, group: BlockGroup, broken: Broken) {
        let pool = self.geometry.pool_and_block(group).0;
        let record = &mut self.groups[group.index()];
        let unwritten = self.geometry.units_per_group() - record.write_pointer;
        self.counters.erased_unwritten_units += u64::from(unwritten);
        *record = BlockRecord { erase_count: record.erase_count + 1, stream: record.stream, ..BlockRecord::default() };
        let of = Stream(u32::from(record.stream));
        self.pools[pool.index()].erasing -= 1;
        self.counters.erased_groups += 1;
        if self.chooses_streams {
            self.stream_choice.erased(group, of);
            if let Some(units) = &mut self.reclaim_units {
                units.erased(of);
            }
        }
        if let Some(breakage) = &mut self.breakage {
            match broken {
                Broken::Erase => breakage.counts.erase_failures += 1,
                Broken::WornOut => breakage.counts.worn_out += 1,
            }
        }
        self.retire(group);
    }

    // ---- bad blocks --------------------------------------------------------------------------------

    /// Groups are in the table of bad blocks from the start.
    pub(super) fn leave_out(&mut self, groups: &[BlockGroup]) {
        for &group in groups {
            let pool = self.geometry.pool_and_block(group).0;
            self.pools[pool.index()].free.retain(|&free| free != group.0);
            self.level_without(group);
            self.groups[group.index()].state = GroupState::Retired;
            if let Some(breakage) = &mut self.breakage {
                breakage.retired[pool.index()] += 1;
            }
            self.refresh_space(pool);
        }
    }

    /// A group that holds nothing valid is used no more. Reads that are queued on it go on.
    pub(super) fn retire(&mut self, group: BlockGroup) {
        let pool = self.geometry.pool_and_block(group).0;
        let record = &mut self.groups[group.index()];
        // What it holds lies there for ever.
        *record = BlockRecord { state: GroupState::Retired, failed: false, refreshed: false, ..*record };
        if let Some(units) = &mut self.reclaim_units {
            units.retired(Stream(record.stream.into()));
        }
        let Some(breakage) = &mut self.breakage else { return };
        breakage.counts.retired += 1;
        breakage.retired[pool.index()] += 1;
        self.level_without(group);
        let Some(breakage) = &mut self.breakage else { return };
        if self.geometry.blocks_per_plane - breakage.retired[pool.index()] < breakage.needed[pool.index()] {
            self.turn_read_only(pool);
        }
    }

    /// The drive takes no more writes, for want of groups in a pool.
    #[cold]
    pub fn turn_read_only(&mut self, pool: Pool) {
        let Some(breakage) = &mut self.breakage else { return };
        breakage.read_only.get_or_insert(pool);
        let positions = self.geometry.pools() as usize;
        self.has_room = BitTable::new(positions);
        self.accepting.iter_mut().for_each(|accepting| *accepting = BitTable::new(positions));
    }

    /// Garbage collection of a pool has no place to move to, and waits for nothing that would make some. Where blocks break that
    /// may be so for ever.
    pub(super) fn may_be_exhausted(&mut self, pool: Pool) {
        let record = &self.pools[pool.index()];
        if self.blocks_break() && record.free.is_empty() && record.erasing == 0 && record.handed_out == 0 {
            self.turn_read_only(pool);
        }
    }

    pub(super) fn load_breakage(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let retired = self.groups.iter().filter(|record| record.state == GroupState::Retired).count();
        must_hold(retired == 0 || self.blocks_break(), || "blocks are retired, and none breaks".to_owned())?;
        let Some(breakage) = &mut self.breakage else { return Ok(()) };
        from.begin("broken")?;
        breakage.draws.load(from)?;
        breakage.retired.fill(0);
        let pools = self.groups.chunks(self.geometry.blocks_per_plane as usize);
        for ((groups, retired), needed) in pools.zip(&mut breakage.retired).zip(&breakage.needed) {
            *retired = groups.iter().filter(|record| record.state == GroupState::Retired).count() as u32;
            must_hold(groups.len() as u32 - *retired >= *needed, || "too few blocks are left".to_owned())?;
        }
        Ok(())
    }
}
