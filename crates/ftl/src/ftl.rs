//! The FTL itself: map and frontiers; garbage collection is in `collection`, saving and restoring in `snapshot`.
//!
//! What one host write touches outside registers: the map entry of its unit (one cache miss on a large
//! drive), the valid bit and the valid count of the old place, the reverse-map entry, valid bit and
//! 32-byte block record of the new one (the frontier's, warm), and the pool's record (warm).

mod breakage;
mod by_blocks;
mod by_planes;
mod collection;
mod composition;
mod emptied;
mod filling;
mod leveling;
mod map_pages;
mod members;
mod own_planes;
mod slc_cache;
mod snapshot;
mod validity;
mod zoned;

use ninescope_kernel::{BitTable, IdTable, NONE, prefetch};
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};

use crate::block::{BlockRecord, GroupState};
use crate::block_map::BlockMap;
use crate::breakdown::Breakdown;
use crate::config::{FtlConfig, FtlError};
use crate::counters::FtlCounters;
use crate::filling_order::FillingOrder;
use crate::homes::Homes;
use crate::minima::Minima;
use crate::partition::{PartitionedAllocation, Partitions};
use crate::policies::page_allocation::{Load, Placement};
use crate::policies::victim_selection::NOT_A_CANDIDATE;
use crate::policies::{
    FreeBlockChoice, GcTrigger, GcTriggerConfig, PageAllocation, StreamChoice, StreamChoiceConfig, Told,
    VictimSelection, VictimSelectionConfig, WearLevelingConfig, Written,
};
use crate::pool::PoolRecord;
use crate::reclaim_units::ReclaimUnits;
use crate::zones::{ZoneLayout, Zones};

pub use breakage::{BadBlocks, Rewritten};
pub use collection::GcStep;
pub use zoned::ResetGroup;

use breakage::Breakage;
use leveling::Leveling;
use members::Members;
use slc_cache::SlcCache;

/// Where a unit was placed.
#[allow(clippy::struct_excessive_bools)] // four independent facts that the driver acts on
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The unit's new place.
    pub new: Ppa,
    /// Its old place (`Ppa::UNMAPPED` when it had none). For a garbage-collection move it is still valid.
    pub old: Ppa,
    /// The pool that took it.
    pub pool: Pool,
    /// The stream whose frontier took it.
    pub stream: Stream,
    /// It filled its page.
    pub page_complete: bool,
    /// It filled its stripe, or its wordline in all planes where the pages of one are programmed in one go.
    pub stripe_complete: bool,
    /// It opened a new group, so that there is one free group less.
    pub opened: bool,
    /// It filled its group.
    pub closed: bool,
}

/// A place in one of its lives. A place is written once between two erases, so this names one content, which the
/// place alone does not: a group may be erased and filled again while a copy of the old content is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residence {
    /// The place, `Ppa::UNMAPPED` for none.
    pub place: Ppa,
    /// Erases of its group.
    pub life: u32,
}

impl Residence {
    /// Nowhere.
    pub const NONE: Self = Self { place: Ppa::UNMAPPED, life: 0 };
}

/// A page of a frontier that was filled up with padding, or all of its wordline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padded {
    /// The last unit of the page.
    pub last: Ppa,
    /// The last unit before the padding.
    pub written: Ppa,
    /// The page was the last of its stripe.
    pub stripe_complete: bool,
    /// The page was the last of its group.
    pub closed: bool,
}

/// What garbage collection was told to do, and what it is to keep apart.
#[derive(Clone, Debug)]
pub struct CollectionRules {
    /// Which stream takes a unit.
    pub stream_choice: StreamChoiceConfig,
    /// When it is needed.
    pub gc_trigger: GcTriggerConfig,
    /// What it empties next.
    pub victim_selection: VictimSelectionConfig,
    /// By kind of data that is written: the pools that it has for itself.
    pub homes: Vec<Vec<u32>>,
    /// What makes way so that wear is level.
    pub wear_leveling: WearLevelingConfig,
}

/// A page-mapped flash translation layer.
#[allow(clippy::struct_excessive_bools)] // what its policies want to know, each by itself
#[derive(Debug)]
pub struct Ftl {
    geometry: Geometry,
    reserve_groups: u32,
    /// Of these, groups that garbage collection leaves alone as well.
    kept_groups: u32,
    /// What breaks, and what came of it; none where nothing does.
    breakage: Option<Box<Breakage>>,
    /// What makes way so that wear is level; none where that is not asked for.
    leveling: Option<Box<Leveling>>,
    /// How far the programs of groups are that lie on several dies; none where there is no parity, or no time.
    members: Option<Box<Members>>,
    /// Where each unit lies, as it differs from where the filling order put it.
    map: IdTable<u32>,
    /// What lies at each place, as it differs from what the filling order put there.
    reverse: IdTable<u32>,
    order: FillingOrder,
    valid: BitTable,
    /// Valid units of each group, with [`NOT_A_CANDIDATE`] set unless it may be chosen as victim.
    valid_counts: Minima<u32>,
    groups: Vec<BlockRecord>,
    pools: Vec<PoolRecord>,
    /// By kind of data and stripe position: the pool has space that host writes may take.
    has_space: Vec<BitTable>,
    /// By stripe position: the driver lets the pool take host writes.
    has_room: BitTable,
    /// `has_space` and `has_room`.
    accepting: Vec<BitTable>,
    pool_at: Vec<u32>,
    position_of: Vec<u32>,
    page_allocation: Box<dyn PageAllocation>,
    load: Option<Load>,
    /// In its place, where some addresses have planes of their own.
    partitioned: Option<Box<PartitionedAllocation>>,
    stream_choice: Box<dyn StreamChoice>,
    /// Kinds of data that are kept apart.
    kinds: u32,
    /// Whether the stream choice has several kinds of data.
    chooses_streams: bool,
    /// Whether it hears what the host says.
    listens: bool,
    /// Whether what is moved stays with its kind whatever space there is.
    isolates: bool,
    /// What is counted of placement handles, where there are any.
    reclaim_units: Option<Box<ReclaimUnits>>,
    /// The zones, where the host's addresses are zones: nothing is collected then.
    zones: Option<Box<Zones>>,
    /// Groups that hold one bit in a cell, where there may be some.
    slc_cache: Option<Box<SlcCache>>,
    /// The map by block, where it is one: nothing is collected then, and blocks are merged.
    block_map: Option<Box<BlockMap>>,
    /// Whether the stream choice tells clean data from dirty data.
    knows_clean: bool,
    /// Units of the map, behind those of the host.
    translation_units: u32,
    translation_entries: u32,
    /// The stripe position that takes the next unit of the map.
    translation_turn: u32,
    /// By logical unit: another copy of it exists. Empty where that is not known.
    clean: BitTable,
    free_block_choice: Box<dyn FreeBlockChoice>,
    gc_trigger: Box<dyn GcTrigger>,
    victim_selection: Box<dyn VictimSelection>,
    /// Whether that is told of candidates and of what becomes invalid.
    follows_candidates: bool,
    rules: CollectionRules,
    closed_groups: u32,
    /// Where choosing a victim takes time: who may choose.
    choices: Option<Box<collection::Choices>>,
    /// Where pages of victims come by planes.
    by_planes: Option<Box<by_planes::ByPlanes>>,
    /// Where kinds of data have pools for themselves: which these are.
    homes: Option<Box<Homes>>,
    mapped_units: u32,
    counters: FtlCounters,
    /// Erases of each group when the counters were cleared [count].
    erases_before: Vec<u32>,
}

impl Ftl {
    /// An empty drive: everything erased, nothing mapped.
    ///
    /// # Errors
    /// When over-provisioning cannot sustain garbage collection.
    pub fn new(config: &FtlConfig) -> Result<Self, FtlError> {
        config.check()?;
        let mut ftl = Self::unchecked(config);
        ftl.count_homes();
        Ok(ftl)
    }

    /// No translation layer: a drive without flash, whose map is empty.
    pub fn absent() -> Self {
        Self::unchecked(&FtlConfig::bare(Geometry::absent()))
    }

    fn unchecked(config: &FtlConfig) -> Self {
        let geometry = config.geometry;
        let pool_count = geometry.pools() as usize;
        let pool_at = config.page_allocation.chosen().pools_in_order(&geometry);
        let partitioned = PartitionedAllocation::new(&config.partitions, &config.page_allocation, &geometry, &pool_at);
        let positions: Vec<u32> = (0..geometry.pools()).collect();
        let mut position_of = vec![0; pool_count];
        for (position, &pool) in pool_at.iter().enumerate() {
            position_of[pool as usize] = position as u32;
        }
        let mut all = BitTable::new(pool_count);
        (0..pool_count).for_each(|position| all.set(position));
        let homes =
            Homes::new(&config.homes, (&config.page_allocation, &geometry), config.units_that_fit(1), &position_of);
        let zones = config.zones.as_ref().map(|zones| {
            let layout = ZoneLayout::new(zones, &geometry, pool_at.clone());
            Box::new(Zones::new(zones, layout))
        });
        let blocks = geometry.blocks_per_plane;
        let stream_choice = config.stream_choice.build(config.units_at_rest(), geometry.groups());
        let (kinds, knows_clean) = (config.kinds(), stream_choice.knows_clean());
        let breakdown = config.breakdown.as_ref().map(|breakdown| Breakdown::new(breakdown, &geometry, config.seed));
        let leveling = config.wear_leveling.chosen().build(&geometry);
        let leveling = leveling.map(|policy| Leveling::new(policy, config.stream_of_leveling(), geometry.pools()));
        let leveling = leveling.map(Box::new);
        let mut ftl = Self {
            geometry,
            reserve_groups: config.reserve_groups,
            kept_groups: config.kept_groups(),
            members: None,
            breakage: breakdown.map(|breakdown| Box::new(Breakage::new(breakdown, config.groups_needed()))),
            map: IdTable::new(config.units_at_rest() as usize),
            // A group is filled, and read when it is collected, from its beginning to its end.
            reverse: IdTable::of_stretches(geometry.units() as usize),
            order: FillingOrder::of_nothing(),
            valid: BitTable::new(geometry.units() as usize),
            valid_counts: Minima::new(geometry.groups() as usize, NOT_A_CANDIDATE),
            groups: vec![BlockRecord::default(); geometry.groups() as usize],
            pools: (0..geometry.pools())
                .map(|pool| PoolRecord::new(pool * blocks, blocks, stream_choice.isolates()))
                .collect(),
            has_space: vec![all.clone(); kinds as usize],
            has_room: all.clone(),
            accepting: vec![all; kinds as usize],
            pool_at,
            position_of,
            page_allocation: config.page_allocation.build(&geometry, &positions),
            load: config.page_allocation.chosen().load(),
            partitioned,
            chooses_streams: stream_choice.kinds_of_writes().max(stream_choice.kinds_of_moves()) > 1,
            listens: stream_choice.listens(),
            isolates: stream_choice.isolates(),
            reclaim_units: config
                .stream_choice
                .chosen()
                .placement()
                .map(|told| Box::new(ReclaimUnits::new(told.clone()))),
            zones,
            slc_cache: config.slc_cache.map(|rules| Box::new(SlcCache::new(rules, &geometry))),
            block_map: config.block_map.map(|told| {
                let (pages, pools) = (geometry.units_per_group(), geometry.pools());
                Box::new(BlockMap::new(told, config.logical_units, pages, pools))
            }),
            stream_choice,
            kinds,
            knows_clean,
            translation_units: config.translation_units,
            translation_entries: config.translation_entries,
            translation_turn: 0,
            clean: BitTable::new(if knows_clean { config.logical_units as usize } else { 0 }),
            free_block_choice: config.free_block_choice.build(),
            gc_trigger: config.gc_trigger.build(),
            victim_selection: config.victim_selection.build(&geometry, config.seed),
            follows_candidates: config.victim_selection.chosen().follows_candidates() || leveling.is_some(),
            leveling,
            rules: CollectionRules {
                stream_choice: config.stream_choice.clone(),
                gc_trigger: config.gc_trigger.clone(),
                victim_selection: config.victim_selection.clone(),
                homes: config.homes.clone(),
                wear_leveling: config.wear_leveling.clone(),
            },
            closed_groups: 0,
            choices: None,
            by_planes: None,
            homes,
            mapped_units: 0,
            counters: FtlCounters::default(),
            erases_before: vec![0; geometry.groups() as usize],
        };
        if let Some(breakdown) = &config.breakdown {
            ftl.leave_out(&Breakdown::bad_from_the_start(breakdown, &geometry, config.seed));
        }
        ftl
    }

    /// What garbage collection was told to do.
    pub fn rules(&self) -> &CollectionRules {
        &self.rules
    }

    /// Free groups of each pool that host writes never take.
    pub fn reserve_groups(&self) -> u32 {
        self.reserve_groups
    }

    /// Whether the trigger has host writes wait for a pool's garbage collection.
    pub fn holds_host(&self, pool: Pool) -> bool {
        self.block_map.is_none() && self.pools[pool.index()].holds_host
    }

    /// The drive's shape.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Units the host can address.
    pub fn logical_units(&self) -> u32 {
        self.map.len() as u32 - self.translation_units
    }

    /// Logical units that are mapped.
    pub fn mapped_units(&self) -> u32 {
        self.mapped_units
    }

    /// What was counted since the last [`Self::clear_counters`].
    pub fn counters(&self) -> &FtlCounters {
        &self.counters
    }

    /// Sets all counters to zero (after preparing, after warm-up).
    pub fn clear_counters(&mut self) {
        self.counters = FtlCounters::default();
        if let Some(breakage) = &mut self.breakage {
            breakage.clear_counters();
        }
        if let Some(units) = &mut self.reclaim_units {
            units.clear();
        }
        if let Some(zones) = &mut self.zones {
            zones.clear_counts();
        }
        for (before, record) in self.erases_before.iter_mut().zip(&self.groups) {
            *before = record.erase_count;
        }
        let count = self.partitions().map_or(0, Partitions::count);
        let programmed: Vec<u64> = (0..count).map(|partition| self.programmed_of(partition)).collect();
        if let Some(partitioned) = &mut self.partitioned {
            partitioned.clear_counts(&programmed);
        }
    }

    /// Erases of each group since the last [`Self::clear_counters`]; every block of a group has the same [count].
    pub fn erases_since_cleared(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.groups.iter().zip(&self.erases_before).map(|(record, before)| record.erase_count - before)
    }

    /// The record of a group.
    pub fn group(&self, group: BlockGroup) -> &BlockRecord {
        &self.groups[group.index()]
    }

    /// Valid units of a group.
    pub fn valid_units(&self, group: BlockGroup) -> u32 {
        self.valid_counts.get(group.index()) & !NOT_A_CANDIDATE
    }

    /// Whether the unit at `ppa` is valid.
    pub fn is_valid(&self, ppa: Ppa) -> bool {
        self.valid.get(ppa.index())
    }

    /// The logical unit last written to `ppa`; stale when the unit is invalid.
    pub fn content(&self, ppa: Ppa) -> Lpa {
        Lpa(self.reverse.get(ppa.index()) ^ !self.filled_content(ppa).0)
    }

    /// Where a logical unit lies, `Ppa::UNMAPPED` when nowhere.
    #[inline]
    pub fn translate(&self, lpa: Lpa) -> Ppa {
        Ppa(self.map.get(lpa.index()) ^ !self.order.place_of(lpa).0)
    }

    /// A place in its present life.
    #[inline]
    pub fn residence(&self, place: Ppa) -> Residence {
        if place == Ppa::UNMAPPED {
            return Residence::NONE;
        }
        Residence { place, life: self.groups[self.geometry.group_and_offset(place).0.index()].erase_count }
    }

    /// Whether a unit's content is still the one that lay at a place in one of its lives.
    #[inline]
    pub fn resides(&self, lpa: Lpa, at: Residence) -> bool {
        self.translate(lpa) == at.place && self.residence(at.place) == at
    }

    /// Hints that the map entry of `lpa` will be needed soon.
    #[inline]
    pub fn prefetch(&self, lpa: Lpa) {
        prefetch(self.map.words(), lpa.index());
    }

    /// Whether the unit at `ppa` is allocated but not yet on the media.
    #[inline]
    pub fn is_in_flight(&self, ppa: Ppa) -> bool {
        let (group, offset) = self.geometry.group_and_offset(ppa);
        if offset < self.groups[group.index()].programmed {
            return false;
        }
        self.members.as_ref().is_none_or(|members| members.is_in_flight(&self.geometry, group, offset))
    }

    /// Free groups of a pool.
    pub fn free_groups(&self, pool: Pool) -> u32 {
        self.pools[pool.index()].free.len() as u32
    }

    /// The free groups of a pool, in the order in which they became free.
    pub fn free_list(&self, pool: Pool) -> impl Iterator<Item = BlockGroup> + '_ {
        self.pools[pool.index()].free.iter().map(|&group| BlockGroup(group))
    }

    /// The open group of a stream, if there is one.
    pub fn frontier(&self, pool: Pool, stream: Stream) -> Option<BlockGroup> {
        let group = self.pools[pool.index()].frontiers[stream.index()].group;
        (group != NONE).then_some(BlockGroup(group))
    }

    /// Whether it is known which units are clean.
    #[inline]
    pub fn knows_clean(&self) -> bool {
        self.knows_clean
    }

    /// Whether kinds of data are kept apart: by the choice of streams, or the map.
    #[inline]
    pub fn keeps_apart(&self) -> bool {
        self.kinds > 1
    }

    /// Whether the choice of streams has several kinds of data.
    pub fn chooses_streams(&self) -> bool {
        self.chooses_streams
    }

    /// How many kinds of data there are, one of which may be what is moved for wear to be level.
    #[inline]
    pub fn kinds(&self) -> u32 {
        self.kinds
    }

    /// Whether it is of any consequence what a command of the host says of what it writes.
    #[inline]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// Whether what is moved stays with its kind whatever space there is.
    #[inline]
    pub fn isolates(&self) -> bool {
        self.isolates
    }

    /// What is counted of placement handles, where there are any.
    pub fn reclaim_units(&self) -> Option<&ReclaimUnits> {
        self.reclaim_units.as_deref()
    }

    /// The placement handle by which a unit was written last, where there are any.
    pub fn handle_of(&self, lpa: Lpa) -> u32 {
        self.stream_choice.handle_of(lpa)
    }

    /// Whether another copy of a unit exists, where that is known.
    #[inline]
    pub fn is_clean(&self, lpa: Lpa) -> bool {
        self.knows_clean && self.clean.get(lpa.index())
    }

    /// Another copy of a unit exists from now on: it was flushed. It changes streams when it is moved.
    #[inline]
    pub fn set_clean(&mut self, lpa: Lpa) {
        if self.knows_clean {
            self.clean.set(lpa.index());
        }
    }

    /// The stream that fills the group of a place, or filled it.
    #[inline]
    pub fn stream_of(&self, ppa: Ppa) -> Stream {
        Stream(u32::from(self.groups[self.geometry.locate(ppa).group.index()].stream))
    }

    /// The kind of a unit that is written now.
    #[inline]
    fn kind_of_write(&self, lpa: Lpa, clean: bool, told: Told) -> u32 {
        if self.chooses_streams { self.chosen_kind(lpa, clean, told) } else { 0 }
    }

    #[inline(never)]
    fn chosen_kind(&self, lpa: Lpa, clean: bool, told: Told) -> u32 {
        let before = Some(self.translate(lpa)).filter(|&place| place != Ppa::UNMAPPED);
        let before = before.map(|place| self.stream_of_data(place));
        self.stream_choice.of_write(&Written { lpa, clean, told, before })
    }

    /// What a choice of streams remembers of a unit that was written, and what is counted of its handle.
    #[inline(never)]
    fn note_written(&mut self, lpa: Lpa, kind: u32, told: Told) {
        self.stream_choice.written(lpa, kind);
        if let Some(units) = &mut self.reclaim_units {
            units.written(kind, told);
        }
    }

    /// The pools that have no units that host writes of some kind may take.
    pub fn pools_without_space(&self) -> impl Iterator<Item = Pool> + '_ {
        self.has_space.iter().flat_map(|has_space| {
            let positions =
                std::iter::successors(has_space.next_clear(0), |&position| has_space.next_clear(position + 1));
            positions.map(|position| Pool(self.pool_at[position]))
        })
    }

    /// Whether any pool where it may go has units that host writes of the kind of a unit may take.
    pub fn has_space_for(&self, lpa: Lpa, clean: bool, told: Told) -> bool {
        if self.zones.is_some() {
            return !self.is_being_reset(lpa);
        }
        if self.block_map.is_some() {
            return !self.waits_for_merge(lpa);
        }
        let has_space = &self.has_space[self.kind_of_write(lpa, clean, told) as usize];
        match &self.partitioned {
            None => has_space.next_set(0).is_some(),
            Some(partitioned) => partitioned.has_any(lpa, has_space),
        }
    }

    /// Lets (or stops letting) a pool take host writes: how the driver holds back a die whose write
    /// buffer is full.
    pub fn set_room(&mut self, pool: Pool, room: bool) {
        let position = self.position_of[pool.index()] as usize;
        let room = room && !self.is_read_only();
        self.has_room.put(position, room);
        for (accepting, has_space) in self.accepting.iter_mut().zip(&self.has_space) {
            accepting.put(position, room && has_space.get(position));
        }
    }

    /// Places a unit that the host writes, of which no other copy exists, and maps it there at once. `None`: no pool can
    /// take it now.
    #[inline]
    pub fn write(&mut self, lpa: Lpa) -> Option<Placed> {
        self.write_as(lpa, false, Told::default())
    }

    /// The same for a unit that is `clean` or not, of which the host `told` something.
    // Host writes and pages that come down from a tier call it: with two callers it would be inlined into neither.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn write_as(&mut self, lpa: Lpa, clean: bool, told: Told) -> Option<Placed> {
        if self.block_map.is_some() {
            return self.write_by_block(lpa);
        }
        let kind = self.kind_of_write(lpa, clean, told);
        let accepting = &self.accepting[kind as usize];
        let position = match &mut self.partitioned {
            None => match &mut self.homes {
                None => self.page_allocation.choose(lpa, accepting)?,
                Some(homes) => homes.choose(kind, lpa, accepting)?,
            },
            Some(partitioned) => partitioned.choose(lpa, accepting)?,
        };
        let pool = Pool(self.pool_at[position as usize]);
        let mut placed = self.allocate(pool, Stream::of_writes(kind), lpa)?;
        if self.knows_clean {
            self.clean.put(lpa.index(), clean);
        }
        placed.old = self.lies_at(lpa, placed.new);
        if self.chooses_streams {
            self.counters.streams[placed.stream.index()] += 1;
            self.note_written(lpa, kind, told);
            if let Some(homes) = &self.homes {
                self.counters.away_units += u64::from(!homes.is_own(kind, position));
                self.home_changes(placed.old, placed.new);
            }
        }
        self.counters.host_units += 1;
        if self.slc_cache.is_some() {
            let in_slc = self.is_slc(self.geometry.group_and_offset(placed.new).0);
            self.counters.slc_units += u64::from(in_slc);
        }
        let Placed { page_complete, stripe_complete, .. } = placed;
        self.tell_placed(kind, Placement { position, page_complete, stripe_complete });
        Some(placed)
    }

    /// Forgets a unit. Returns where it was.
    pub fn trim(&mut self, lpa: Lpa) -> Ppa {
        let old = self.remap(lpa, Ppa::UNMAPPED);
        if old != Ppa::UNMAPPED {
            self.invalidate(old);
            self.mapped_units -= 1;
            self.counters.trimmed_units += 1;
            if self.homes.is_some() {
                self.home_changes(old, Ppa::UNMAPPED);
            }
        }
        old
    }

    /// Pages of each plane that one program of a group is of.
    #[inline]
    pub fn pages_per_program(&self, group: BlockGroup) -> u32 {
        // A wordline of one bit in a cell is a page.
        if self.geometry.pages_per_program > 1 && self.is_slc(group) { 1 } else { self.geometry.pages_per_program }
    }

    /// Units of a group that are programmed together or not at all.
    pub(super) fn units_padded_together(&self, group: BlockGroup) -> u32 {
        if self.pages_per_program(group) > 1 {
            self.geometry.units_per_program()
        } else {
            self.geometry.units_per_page()
        }
    }

    /// Fills the open page of a stream's frontier with padding, or the open wordline where its pages are programmed in one go. `None`
    /// when none is partly filled.
    pub fn pad(&mut self, pool: Pool, stream: Stream) -> Option<Padded> {
        let frontier = self.pools[pool.index()].frontiers[stream.index()];
        if frontier.group == NONE {
            return None;
        }
        let together = self.units_padded_together(BlockGroup(frontier.group));
        if frontier.next.is_multiple_of(together) {
            return None;
        }
        let by_page = together == self.geometry.units_per_page();
        let written = Ppa(self.geometry.first_unit(BlockGroup(frontier.group)).0 + frontier.next - 1);
        loop {
            let placed = self.allocate(pool, stream, Lpa::NONE)?;
            self.counters.padding_units += 1;
            if let Some(units) = &mut self.reclaim_units {
                units.padded(stream);
            }
            if placed.page_complete && (by_page || placed.stripe_complete) {
                let Placed { new: last, stripe_complete, closed, .. } = placed;
                if !stream.is_of_moves() {
                    let position = self.position_of[pool.index()];
                    self.tell_placed(stream.kind(), Placement { position, page_complete: true, stripe_complete });
                }
                return Some(Padded { last, written, stripe_complete, closed });
            }
        }
    }

    /// The unit last handed out of a stream's open group, `None` when no group is open or it is untouched.
    pub fn last_allocated(&self, pool: Pool, stream: Stream) -> Option<Ppa> {
        if self.zones.is_some() {
            return self.last_in_block(pool, stream);
        }
        let frontier = self.pools[pool.index()].frontiers[stream.index()];
        let open = frontier.group != NONE && frontier.next > 0;
        open.then(|| Ppa(self.geometry.first_unit(BlockGroup(frontier.group)).0 + frontier.next - 1))
    }

    /// Reports that the program of a group's units up to offset `end` has ended. Programs of one group
    /// end in the order of allocation.
    pub fn programmed(&mut self, group: BlockGroup, end: u32) {
        let record = &mut self.groups[group.index()];
        debug_assert!(record.programmed <= end && end <= record.write_pointer, "programs end in order");
        record.programmed = end;
        self.refresh_candidate(group);
    }

    /// Counts a read that is queued on a group: it is not erased before [`Self::read_ended`].
    #[inline]
    pub fn read_queued(&mut self, group: BlockGroup) {
        let record = &mut self.groups[group.index()];
        record.readers += 1;
        record.reads_since_erase += 1;
    }

    /// Counts that a queued read senses its page once more.
    #[inline]
    pub fn read_again(&mut self, group: BlockGroup) {
        self.groups[group.index()].reads_since_erase += 1;
    }

    /// The first valid unit from a place on.
    pub fn next_valid(&self, from: Ppa) -> Option<Ppa> {
        self.valid.next_set(from.index()).map(|unit| Ppa(unit as u32))
    }

    /// Writes a unit that comes down from a tier above. `None`: no pool can take it now.
    pub fn take_down(&mut self, lpa: Lpa) -> Option<Placed> {
        let placed = self.write_as(lpa, false, Told::default())?;
        // The host wrote it to the tier.
        self.counters.host_units -= 1;
        self.counters.migrated_units += 1;
        Some(placed)
    }

    /// Writes a unit anew whose content came from elsewhere, as clean data. `None`: no pool can take it now.
    pub fn heal(&mut self, lpa: Lpa) -> Option<Placed> {
        let placed = self.write_as(lpa, true, Told::default())?;
        // The host did not write it.
        self.counters.host_units -= 1;
        self.counters.healed_units += 1;
        if let Some(partitioned) = &mut self.partitioned {
            partitioned.not_of_host(lpa);
        }
        Some(placed)
    }

    /// Reports the end of a read; returns whether it was the last one queued on its group.
    #[inline]
    pub fn read_ended(&mut self, group: BlockGroup) -> bool {
        let record = &mut self.groups[group.index()];
        debug_assert!(record.readers > 0, "a read ends once");
        record.readers -= 1;
        record.readers == 0
    }

    // ---- inside ----------------------------------------------------------------------------------

    // Tables hold identifiers that are none where nothing differs from the filling order: a drive that is filled in order,
    // and one that is empty, has tables of zeros.

    /// What the filling order put at a place.
    #[inline]
    fn filled_content(&self, ppa: Ppa) -> Lpa {
        if self.order.units() == 0 {
            return Lpa::NONE;
        }
        let (group, offset) = self.geometry.group_and_offset(ppa);
        self.order.content_of(group, self.position(group), offset)
    }

    /// The stripe position of a group's pool.
    #[inline]
    fn position(&self, group: BlockGroup) -> u32 {
        self.position_of[self.geometry.pool_and_block(group).0.index()]
    }

    /// A unit lies there from now on; returns where it lay.
    #[inline]
    fn remap(&mut self, lpa: Lpa, to: Ppa) -> Ppa {
        let filled = !self.order.place_of(lpa).0;
        Ppa(self.map.replace(lpa.index(), to.0 ^ filled) ^ filled)
    }

    /// A unit that is written lies there from now on, and what lay before where it lay is invalid; returns where that was.
    // Each way to write calls it, and it is short: with several callers it would be inlined into none.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn lies_at(&mut self, lpa: Lpa, place: Ppa) -> Ppa {
        let old = self.remap(lpa, place);
        if old == Ppa::UNMAPPED {
            self.mapped_units += 1;
        } else {
            self.invalidate(old);
        }
        self.validate(place);
        old
    }

    #[inline]
    fn tell_placed(&mut self, kind: u32, placement: Placement) {
        match &mut self.partitioned {
            None => match &mut self.homes {
                None => self.page_allocation.placed(placement),
                Some(homes) => homes.placed(kind, placement),
            },
            Some(partitioned) => partitioned.placed(placement),
        }
    }

    #[inline]
    fn put_content(&mut self, at: Ppa, lpa: Lpa) {
        let filled = !self.filled_content(at).0;
        self.reverse.put(at.index(), lpa.0 ^ filled);
    }

    #[inline]
    fn allocate(&mut self, pool: Pool, stream: Stream, lpa: Lpa) -> Option<Placed> {
        let opened = self.pools[pool.index()].frontiers[stream.index()].group == NONE;
        if opened && !self.open_group(pool, stream) {
            return None;
        }
        let frontier = &mut self.pools[pool.index()].frontiers[stream.index()];
        let (group, offset) = (BlockGroup(frontier.group), frontier.next);
        frontier.next += 1;
        let next = frontier.next;
        let closed = next == self.capacity_of(group);
        if closed {
            self.pools[pool.index()].frontiers[stream.index()].group = NONE;
        }
        let new = Ppa(self.geometry.first_unit(group).0 + offset);
        self.put_content(new, lpa);
        self.groups[group.index()].write_pointer = next;
        if closed {
            self.close_group(pool, group);
        }
        let page_complete = next & (self.geometry.units_per_page() - 1) == 0;
        let stripe_complete = page_complete && self.completes_stripe(group, next);
        if stripe_complete && self.slc_cache.is_some() && !stream.is_of_moves() {
            self.leaves_for_slc(pool);
        }
        if stripe_complete && self.geometry.parity.is_some() {
            self.count_parity(next - self.geometry.units_per_stripe(), next);
        }
        let opened = opened && offset == 0;
        Some(Placed { new, old: Ppa::UNMAPPED, pool, stream, page_complete, stripe_complete, opened, closed })
    }

    /// Whether a group is written up to the end of a stripe, or of a wordline where the pages of one are programmed in one go.
    #[inline]
    fn completes_stripe(&self, group: BlockGroup, next: u32) -> bool {
        let (page, plane, _) = self.geometry.within_group(next);
        plane == 0 && (self.geometry.pages_per_program == 1 || page.is_multiple_of(self.pages_per_program(group)))
    }

    #[inline(never)]
    fn open_group(&mut self, pool: Pool, stream: Stream) -> bool {
        let record = &self.pools[pool.index()];
        let of_host = !stream.is_of_moves();
        let reserve = if of_host { self.reserve_groups as usize } else { 0 };
        let has_one = match &self.slc_cache {
            Some(_) if of_host => self.may_open_beside_slc(pool),
            _ => record.free.len() > reserve,
        };
        if !has_one || of_host && record.holds_host {
            return false;
        }
        self.open_any_group(pool, stream)
    }

    /// The same, whatever is to be left alone. False where no group is free.
    fn open_any_group(&mut self, pool: Pool, stream: Stream) -> bool {
        let is_slc = self.next_is_slc(pool, stream);
        if self.slc_cache.is_some() && !is_slc && self.goes_on_with_left(pool, stream) {
            return true;
        }
        let most_worn = self.most_worn_free(pool, stream);
        let record = &mut self.pools[pool.index()];
        if record.free.is_empty() {
            return false;
        }
        let position = match most_worn {
            Some(position) => position,
            None => self.free_block_choice.choose(&record.free, &self.groups),
        };
        let Some(group) = record.free.remove(position) else { return false };
        let frontier = &mut record.frontiers[stream.index()];
        frontier.group = group;
        frontier.next = 0;
        let block = &mut self.groups[group as usize];
        block.state = GroupState::Open;
        block.stream = stream.0 as u8;
        if is_slc {
            self.opened_as_slc(pool, group);
        }
        if self.chooses_streams {
            self.stream_choice.opened(BlockGroup(group), stream);
            if let Some(units) = &mut self.reclaim_units {
                units.begun(stream);
            }
        }
        self.hold_host(pool);
        self.refresh_space(pool);
        true
    }

    #[inline(never)]
    fn close_group(&mut self, pool: Pool, group: BlockGroup) {
        let record = &mut self.groups[group.index()];
        record.state = GroupState::Closed;
        if let Some(units) = &mut self.reclaim_units {
            units.filled(Stream(record.stream.into()));
        }
        record.closed_sequence = self.closed_groups;
        self.closed_groups = self.closed_groups.wrapping_add(1);
        // What is folded is no victim of anybody's choice.
        if !self.slc_filled(pool, group) {
            self.victim_selection.closed(pool, group);
        }
        if self.leveling.is_some() {
            self.tell_leveling_of_filled(pool, group);
        }
        self.refresh_candidate(group);
        self.refresh_space(pool);
    }

    fn refresh_space(&mut self, pool: Pool) {
        let record = &self.pools[pool.index()];
        let free = match &self.block_map {
            None if self.slc_cache.is_some() => self.may_open_beside_slc(pool) && !record.holds_host,
            None => record.free.len() as u32 > self.reserve_groups && !record.holds_host,
            Some(_) => !record.holds_host,
        };
        let position = self.position_of[pool.index()] as usize;
        let room = self.has_room.get(position);
        for (kind, (has_space, accepting)) in self.has_space.iter_mut().zip(&mut self.accepting).enumerate() {
            let space = (free || record.frontiers[Stream::of_writes(kind as u32).index()].group != NONE)
                && self.homes.as_ref().is_none_or(|homes| homes.takes(kind, position));
            has_space.put(position, space);
            accepting.put(position, space && room);
        }
    }
}
