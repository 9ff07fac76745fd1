//! What a flash translation layer is built from, and why building or driving it can fail.

use ninescope_model::{Geometry, Pool, Stream};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::block_map::BlockMapConfig;
use crate::breakdown::{Breakdown, BreakdownConfig};
use crate::homes::Homes;
use crate::partition::{self, Partition};
use crate::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
    WearLevelingConfig,
};
use crate::zones::ZoneConfig;

/// Everything the FTL's behaviour depends on. As text it names a drive whose state is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlConfig {
    /// The drive's shape.
    pub geometry: Geometry,
    /// Mapping units the host can address.
    pub logical_units: u32,
    /// Units that hold the map itself, where it is not all in memory; 0 where it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub translation_units: u32,
    /// Units of the host that each of these tells of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub translation_entries: u32,
    /// Free block groups per pool that host writes never take, so that garbage collection can always go on.
    pub reserve_groups: u32,
    /// Which pool takes the next unit.
    pub page_allocation: PageAllocationConfig,
    /// Which write stream takes a unit.
    pub stream_choice: StreamChoiceConfig,
    /// Which free group becomes a frontier.
    pub free_block_choice: FreeBlockChoiceConfig,
    /// When garbage collection is needed.
    pub gc_trigger: GcTriggerConfig,
    /// What garbage collection empties next.
    pub victim_selection: VictimSelectionConfig,
    /// Planes that hold some addresses alone; none: all of them hold all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
    /// By kind of data that is written: the pools that it has for itself; none: all kinds go to all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<Vec<u32>>,
    /// The zones that the host's addresses are; absent: they are written in any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneConfig>,
    /// The map by block; absent: it is by unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_map: Option<BlockMapConfig>,
    /// Which groups make way so that wear is level.
    #[serde(default, skip_serializing_if = "is_none")]
    pub wear_leveling: WearLevelingConfig,
    /// Which blocks hold one bit in a cell for a while; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheConfig>,
    /// How blocks break; none: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<BreakdownConfig>,
    /// The run's seed.
    pub seed: u64,
}

/// Block groups that take what the host writes with one bit in each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCacheConfig {
    /// Pages of a block that does [count].
    pub pages: u32,
    /// Groups of each pool that are kept for that.
    pub fixed: u32,
    /// More groups of each pool that may be so while nothing has to be collected for it.
    pub borrowed: u32,
    /// What becomes of host writes while no more groups may be.
    pub when_full: WhenSlcFull,
}

/// What becomes of host writes while the cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenSlcFull {
    /// They go to other blocks.
    #[default]
    Direct,
    /// They wait until something is folded.
    Wait,
}

/// Block groups a pool needs beyond what its share of the logical space fills: the frontiers of the
/// host and of garbage collection, and one group's worth of reclaimable space. The reserve comes on top.
const WORKING_GROUPS: u32 = 3;
/// Moves may need a group in either stream before a victim is empty.
const RESERVE_FOR_CLEAN_DATA: u32 = 2;

impl FtlConfig {
    /// A layer of that shape with the default policies, and nothing that a drive has only where it says so: no units for the host, no
    /// reserve, seed 0.
    pub fn bare(geometry: Geometry) -> Self {
        Self {
            geometry,
            logical_units: 0,
            translation_units: 0,
            translation_entries: 0,
            reserve_groups: 0,
            page_allocation: Default::default(),
            stream_choice: Default::default(),
            free_block_choice: Default::default(),
            gc_trigger: Default::default(),
            victim_selection: Default::default(),
            partitions: Vec::new(),
            homes: Vec::new(),
            zones: None,
            block_map: None,
            wear_leveling: Default::default(),
            slc_cache: None,
            breakdown: None,
            seed: 0,
        }
    }

    /// Block groups of each pool that cannot hold the host's data at rest.
    pub fn spare_groups_needed(&self) -> u32 {
        self.spare_groups_of(self.geometry.blocks_per_plane)
    }

    /// The same of a pool of so many block groups.
    pub fn spare_groups_of(&self, groups: u32) -> u32 {
        if let Some(map) = &self.block_map {
            return map.spare_blocks();
        }
        let (of_writes, of_moves) = self.kinds_of_streams();
        // Each kind that is kept apart has a frontier more of what is written, and of garbage collection.
        let of_leveling = u32::from(self.wear_leveling.levels());
        // The host may leave a group open for those of one bit in a cell.
        let of_slc_cache = self.slc_cache.map_or(0, |cache| cache.fixed + 1);
        let needed = self
            .reserve_groups
            .saturating_add(of_slc_cache)
            .saturating_add(WORKING_GROUPS + of_writes - 1 + of_moves - 1 + of_leveling);
        if !self.stream_choice.isolates() {
            return needed;
        }
        // Of all groups one has to hold a page of invalid units (or a wordline), or padding takes what moving gives: more than one unit
        // less in each.
        let padding = u64::from(groups) * u64::from(self.geometry.units_padded_together() - 1);
        let for_padding = (padding / u64::from(self.geometry.units_per_group())) as u32;
        needed.saturating_add(for_padding)
    }

    /// The fewest groups that host writes must leave alone.
    pub fn reserve_groups_min(&self) -> u32 {
        self.kept_groups() + if self.stream_choice.knows_clean() { RESERVE_FOR_CLEAN_DATA } else { 1 }
    }

    /// Of the reserve, groups that garbage collection leaves alone as well, where blocks break: for what a failed program was to write,
    /// and for what is to be moved when an erase gave nothing.
    pub fn kept_groups(&self) -> u32 {
        u32::from(self.breakdown.as_ref().is_some_and(BreakdownConfig::breaks_in_use))
    }

    /// By pool, the groups without which it could not hold its share of what the host may write.
    pub fn groups_needed(&self) -> Vec<u32> {
        let needed = |units: u32, pools: u32| {
            let share = units.div_ceil(pools).div_ceil(self.geometry.units_per_group());
            share.saturating_add(self.spare_groups_needed())
        };
        let mut all = vec![needed(self.units_at_rest(), self.geometry.pools()); self.geometry.pools() as usize];
        for partition in &self.partitions {
            let of_each = needed(partition.unit_count(), partition.pools.len() as u32);
            partition.pools.iter().for_each(|&pool| all[pool as usize] = of_each);
        }
        all
    }

    /// The pool with fewest good groups beyond those it needs, and how many it has and needs, where it lacks some.
    fn lacks_good_blocks(&self) -> Option<(Pool, u32, u32)> {
        let breakdown = self.breakdown.as_ref()?;
        let mut good = vec![self.geometry.blocks_per_plane; self.geometry.pools() as usize];
        for group in Breakdown::bad_from_the_start(breakdown, &self.geometry, self.seed) {
            good[self.geometry.pool_and_block(group).0.index()] -= 1;
        }
        let pools = good.into_iter().zip(self.groups_needed()).zip(0..).filter(|((good, needed), _)| good < needed);
        pools.map(|((good, needed), pool)| (Pool(pool), good, needed)).min_by_key(|&(_, good, needed)| needed - good)
    }

    /// Kinds of data, in as many streams of what is written and of what is moved: the map is one besides data.
    fn kinds_of_streams(&self) -> (u32, u32) {
        if self.translation_units > 0 { (2, 2) } else { self.stream_choice.kinds() }
    }

    /// Kinds of data that are kept apart; 1 where none are.
    pub fn kinds(&self) -> u32 {
        self.kinds_of_data() + u32::from(self.wear_leveling.levels())
    }

    /// The same without what is moved for wear to be level, which is the last kind where there is one.
    fn kinds_of_data(&self) -> u32 {
        let (of_writes, of_moves) = self.kinds_of_streams();
        of_writes.max(of_moves)
    }

    /// The stream of what is moved for wear to be level, where that is.
    pub fn stream_of_leveling(&self) -> Stream {
        Stream::of_moves(self.kinds_of_data())
    }

    /// Units that go to one pool before the next has its turn, where the address alone decides where they go.
    pub fn turn_by_address(&self) -> Option<u32> {
        let positions: Vec<u32> = (0..self.geometry.pools()).collect();
        self.page_allocation.build(&self.geometry, &positions).turn_by_address()
    }

    /// Units that lie on the media when all is written: those of the host and those of the map.
    pub fn units_at_rest(&self) -> u32 {
        self.logical_units.saturating_add(self.translation_units)
    }

    /// Checks that garbage collection can always make progress.
    ///
    /// # Errors
    /// [`FtlError::TooLittleSpare`] with both numbers, of a partition [`FtlError::Partition`].
    pub fn check(&self) -> Result<(), FtlError> {
        self.check_partitions()?;
        self.check_homes()?;
        if self.zones.is_some() {
            // Nothing is collected, and so nothing is spare.
            return Ok(());
        }
        let geometry = &self.geometry;
        let share = self.units_at_rest().div_ceil(geometry.pools());
        let needed = share.div_ceil(geometry.units_per_group()).saturating_add(self.spare_groups_needed());
        if self.logical_units == 0
            || self.block_map.is_none() && self.reserve_groups < self.reserve_groups_min()
            || needed > geometry.blocks_per_plane
        {
            return Err(FtlError::TooLittleSpare {
                blocks_per_plane: geometry.blocks_per_plane,
                needed,
                spare: self.spare_groups_needed(),
            });
        }
        match self.lacks_good_blocks() {
            None => Ok(()),
            Some((pool, good, needed)) => Err(FtlError::TooManyBadBlocks { pool, good, needed }),
        }
    }

    /// The most units that so many pools can hold at rest, garbage collection going on.
    pub fn units_that_fit(&self, pools: u32) -> u32 {
        let groups = self.geometry.blocks_per_plane.saturating_sub(self.spare_groups_needed());
        groups * self.geometry.units_per_group() * pools
    }

    /// What has planes of its own finds room, there or elsewhere.
    fn check_homes(&self) -> Result<(), FtlError> {
        if self.homes.is_empty() {
            return Ok(());
        }
        let refused = |problem: &str| Err(FtlError::Homes(problem.to_owned()));
        if self.translation_units > 0 {
            return refused("pages of the map would lie in all of them");
        }
        if !self.partitions.is_empty() {
            return refused("some addresses have planes of their own");
        }
        if !self.page_allocation.chosen().goes_anywhere() {
            return refused("the address says where a unit goes");
        }
        let room = (self.units_that_fit(1), self.logical_units);
        match Homes::problem(&self.homes, self.kinds_of_streams().0, &self.geometry, room) {
            Some(problem) => Err(FtlError::Homes(problem)),
            None => Ok(()),
        }
    }

    /// All of the drive belongs to a partition, which has room for its units.
    fn check_partitions(&self) -> Result<(), FtlError> {
        if self.partitions.is_empty() {
            return Ok(());
        }
        if let Some(problem) = partition::problem(&self.partitions, self.geometry.pools(), self.units_at_rest()) {
            return Err(FtlError::Partition(problem));
        }
        for partition in &self.partitions {
            let (units, most) = (partition.unit_count(), self.units_that_fit(partition.pools.len() as u32));
            if units > most {
                return Err(FtlError::Partition(format!("one has {units} units, and room for {most}")));
            }
        }
        Ok(())
    }

    /// Bytes of the tables: map, reverse map, valid bits, valid counts and block records [B].
    pub fn table_bytes(geometry: &Geometry, logical_units: u32) -> u64 {
        let units = u64::from(geometry.units());
        u64::from(logical_units) * 4 + units * 4 + units / 8 + u64::from(geometry.groups()) * 40
    }
}

fn is_none(leveling: &WearLevelingConfig) -> bool {
    !leveling.levels()
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(units: &u32) -> bool {
    *units == 0
}

/// Why the FTL cannot go on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FtlError {
    /// Too few blocks beyond the logical space for frontiers, reserve and garbage collection.
    #[error(
        "over-provisioning leaves too few spare blocks: {blocks_per_plane} blocks per plane, {needed} needed \
         ({spare} of them for frontiers, reserve and garbage collection); raise over_provisioning or blocks_per_plane"
    )]
    TooLittleSpare {
        /// Blocks there are.
        blocks_per_plane: u32,
        /// Blocks it would take.
        needed: u32,
        /// How many of the needed ones hold no data at rest.
        spare: u32,
    },
    /// Too many blocks are bad from the start.
    #[error("of pool {pool} {good} groups of blocks are good from the start, and it needs {needed}")]
    TooManyBadBlocks {
        /// The pool that lacks most.
        pool: Pool,
        /// Good groups there are.
        good: u32,
        /// Groups it needs.
        needed: u32,
    },
    /// So many blocks broke while the drive was prepared that it takes no more writes.
    #[error("the drive has become read-only: too few blocks of pool {0} are left")]
    ReadOnly(Pool),
    /// Partitions that are none, or too small.
    #[error("partitions: {0}")]
    Partition(String),
    /// Kinds of data cannot have planes of their own so.
    #[error("planes of a kind of data: {0}")]
    Homes(String),
    /// No pool can take a write, and garbage collection frees nothing.
    #[error("no free page anywhere, and garbage collection finds nothing to reclaim (first stuck pool: {0})")]
    Full(Pool),
}
