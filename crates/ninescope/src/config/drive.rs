//! A drive description as a whole. Every field, here and in the tables of its parts, says its meaning and unit; TOML keys
//! are the field names.

use std::collections::BTreeMap;

use ninescope_engine::policies::back_pressure::BackPressureConfig;
use ninescope_engine::policies::mapping::MapConfig;
use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::policies::scrub::ScrubPolicyConfig;
use ninescope_engine::{TrimConfig, WriteThrottleConfig};
use ninescope_ftl::WhenSlcFull;
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
    WearLevelingConfig,
};
use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use ninescope_model::{Parity, Superblock};
use ninescope_model::{optional_string_or_table, string_or_table};
use ninescope_tier::PlacementConfig;
use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::controller::{ControllerConfig, SchedulerConfig};
use super::dram::DramConfig;
use super::firmware::FirmwareConfig;
use super::flash::{GeometryConfig, NandConfig};
use super::power::PowerSection;
use super::reliability::BackingStoreSection;
use super::scm::ScmConfig;
use super::zones::ZnsConfig;

/// A whole drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// One line for lists.
    #[serde(default)]
    pub summary: String,
    /// Shape of the flash; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<GeometryConfig>,
    /// Flash; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand: Option<NandConfig>,
    /// DRAM above flash or storage-type memory, which caches it; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<DramConfig>,
    /// Storage-class memory; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scm: Option<ScmConfig>,
    /// Storage-type memory below [scm], for placements of two memories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_scm: Option<ScmConfig>,
    /// Which medium holds what.
    #[serde(default, skip_serializing_if = "TierSection::is_default")]
    pub tier: TierSection,
    /// Translation layer.
    #[serde(default)]
    pub ftl: FtlSection,
    /// Controller and host interface.
    #[serde(default)]
    pub controller: ControllerConfig,
    /// Cores on which decisions take time; absent: they take none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// What its parts draw; absent: it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSection>,
    /// Scheduling of the dies.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// Zones; absent: what the host writes goes anywhere, in any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zns: Option<ZnsConfig>,
    /// Parts of the addresses, one behind the other from the first on; absent: the whole drive is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "at_least_one")]
    #[schemars(length(min = 1))]
    pub namespaces: Vec<NamespaceConfig>,
    /// The store behind a drive that serves as a cache; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_store: Option<BackingStoreSection>,
    /// When data at rest is read to see whether it is still good; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub scrub: Option<ScrubPolicyConfig>,
    /// When data is written anew before its errors become too many; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub refresh: Option<RefreshPolicyConfig>,
    /// How lifetimes are told.
    #[serde(default, skip_serializing_if = "EnduranceSection::is_default")]
    pub endurance: EnduranceSection,
    /// Where values come from, by key.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// A list that says something, or is left out.
fn at_least_one<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Vec::deserialize(deserializer)?;
    if list.is_empty() {
        return Err(D::Error::custom("the list is empty; leave it out where there are none"));
    }
    Ok(list)
}

impl DriveConfig {
    /// Blocks in a plane; 0 without flash [count].
    pub fn blocks_per_plane(&self) -> u32 {
        self.geometry.map_or(0, |geometry| geometry.blocks_per_plane)
    }
}

/// A part of the addresses, which jobs name by its number from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceConfig {
    /// How much it holds [B].
    #[schemars(transform = above_zero)]
    pub size: Bytes,
}

/// Which medium holds what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TierSection {
    /// Where data is placed.
    #[serde(deserialize_with = "string_or_table")]
    pub placement: PlacementConfig,
    /// Capacity of [scm] as a share of what the medium below has, spare blocks included: it replaces scm.capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1))]
    pub scm_ratio: Option<f64>,
    /// Pages on their way down at a time, and as many on their way up; four per die or per bank below, if left out
    /// [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub migrations_in_flight: Option<u32>,
    /// Whether all jobs share the memory above, or each has a part of its own, but for those that say `cache_size`.
    #[serde(skip_serializing_if = "CacheParts::is_shared")]
    pub parts: CacheParts,
    /// When a write completes above a medium that is not lost with the power: on its arrival in a cache, or when its pages are
    /// programmed.
    #[serde(skip_serializing_if = "Acknowledge::is_arrival")]
    pub acknowledge: Acknowledge,
    /// When a write that goes to the memory above is taken in.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_default")]
    pub back_pressure: BackPressureConfig,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Whose the memory above another is, of which no job says how much it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheParts {
    /// All jobs': whoever needs a slot may have anybody's emptied.
    #[default]
    Shared,
    /// As much of it is each job's alone.
    Separate,
}

/// When writes complete of which a cache that can be lost holds what they wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Acknowledge {
    /// When the cache has taken it in, but for those that ask to be on the media.
    #[default]
    Arrival,
    /// When it is on the media below.
    Program,
}

impl Acknowledge {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_arrival(&self) -> bool {
        *self == Self::Arrival
    }
}

impl CacheParts {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_shared(&self) -> bool {
        *self == Self::Shared
    }
}

impl TierSection {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How lifetimes are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnduranceSection {
    /// The years over which drive writes per day are told [years].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub dwpd_years: f64,
}

impl Default for EnduranceSection {
    fn default() -> Self {
        Self { dwpd_years: 5.0 }
    }
}

impl EnduranceSection {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlSection {
    /// Bytes mapped as one: 512 B x 2^n up to the page [B].
    #[schemars(transform = above_zero)]
    pub mapping_unit: Bytes,
    /// (physical - logical) / logical.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub over_provisioning: f64,
    /// Planes that share a write frontier, and so program and erase together; absent: all planes of the die.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub frontier_planes: Option<u32>,
    /// Free blocks per plane that host writes never take [count].
    #[schemars(transform = above_zero)]
    pub gc_reserve_blocks: u32,
    /// Pages one plane group's garbage collection may have between read and end of program [count];
    /// absent: two stripes' worth of reads and two of programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub gc_pages_in_flight: Option<u32>,
    /// How often in a row a page that is moved as it is may be copied by its die, without the channel and without a decoder; the
    /// next time it goes through the controller [count]. 0: never.
    #[serde(skip_serializing_if = "is_default")]
    pub gc_copybacks: u16,
    /// Which pool takes the next unit.
    #[serde(deserialize_with = "string_or_table")]
    pub page_allocation: PageAllocationConfig,
    /// Which write stream takes a unit: whether clean data is kept apart.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_single")]
    pub streams: StreamChoiceConfig,
    /// By kind of data that is written, in the order of `streams`: the channels that it has for itself, by their numbers from 0 on;
    /// absent: all kinds go to all channels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stream_channels: Vec<Vec<u32>>,
    /// Parity over dies: one page of each stripe of them holds what the others' come to; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// How fast what lay on a die that failed is written again; absent: as fast as its reads and programs let it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub rebuild_rate: Option<BytesPerSecond>,
    /// Super-blocks: the dies that a block group lies on, which is filled row by row round them and erased on all of them; absent: one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superblock: Option<Superblock>,
    /// Blocks that take what the host writes with one bit in each cell, before it is folded into others; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheSection>,
    /// Which free block is opened next.
    #[serde(deserialize_with = "string_or_table")]
    pub free_block_choice: FreeBlockChoiceConfig,
    /// Static wear levelling: which group of blocks is emptied because data lies still in it.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_not_leveled")]
    pub wear_leveling: WearLevelingConfig,
    /// When garbage collection is needed.
    #[serde(deserialize_with = "string_or_table")]
    pub gc_trigger: GcTriggerConfig,
    /// What garbage collection empties next.
    #[serde(deserialize_with = "string_or_table")]
    pub victim: VictimSelectionConfig,
    /// How host writes are held back while little is free.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_stop_and_go")]
    pub throttle: WriteThrottleConfig,
    /// What a TRIM comes to, and when.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_default")]
    pub trim: TrimConfig,
    /// How much of the map is in memory.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_ideal")]
    pub map: MapConfig,
    /// Of which units that are written in part the rest is read; absent: of all that hold anything.
    #[serde(skip_serializing_if = "is_default")]
    pub merges: Merges,
    /// By equal pieces of a mapping unit: the share of units whose first sector of the piece was used before the run, each by itself;
    /// absent: none was. For `merges = "sectors"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub used_at_start: Vec<f64>,
}

/// Blocks that take what the host writes with one bit in each cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlcCacheSection {
    /// Blocks of each plane, or of planes that share a frontier together, that are kept for that [count].
    pub fixed_blocks: u32,
    /// More of them that may be so while nothing has to be collected for it [count].
    pub borrowed_blocks: u32,
    /// What becomes of writes while no more may be.
    pub when_full: WhenSlcFull,
    /// They are folded when their die has had nothing to do for so long; absent: only when they have to be [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold_after: Option<Duration>,
}

/// Of which units that are written in part the rest is read, to be merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Merges {
    /// Of all that hold anything.
    #[default]
    Units,
    /// Of those of whose rest the host has used sectors since the drive was prepared: a bit for each sector says so.
    Sectors,
}

impl Default for FtlSection {
    fn default() -> Self {
        Self {
            mapping_unit: Bytes(4096),
            over_provisioning: 0.07,
            frontier_planes: None,
            gc_reserve_blocks: 1,
            gc_pages_in_flight: None,
            gc_copybacks: 0,
            page_allocation: PageAllocationConfig::default(),
            streams: StreamChoiceConfig::default(),
            stream_channels: Vec::new(),
            parity: None,
            rebuild_rate: None,
            superblock: None,
            slc_cache: None,
            free_block_choice: FreeBlockChoiceConfig::default(),
            wear_leveling: WearLevelingConfig::default(),
            gc_trigger: GcTriggerConfig::default(),
            victim: VictimSelectionConfig::default(),
            throttle: WriteThrottleConfig::default(),
            trim: TrimConfig::default(),
            map: MapConfig::default(),
            merges: Merges::default(),
            used_at_start: Vec::new(),
        }
    }
}

fn is_stop_and_go(throttle: &WriteThrottleConfig) -> bool {
    *throttle == WriteThrottleConfig::default()
}

fn is_not_leveled(leveling: &WearLevelingConfig) -> bool {
    !leveling.levels()
}

fn is_ideal(map: &MapConfig) -> bool {
    *map == MapConfig::default()
}

fn is_single(streams: &StreamChoiceConfig) -> bool {
    *streams == StreamChoiceConfig::default()
}
