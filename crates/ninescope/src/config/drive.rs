//! The schema of a drive description. Every field says its meaning and unit; TOML keys are the field names.

use std::collections::BTreeMap;
use std::fmt;

use super::reliability::{BackingStoreSection, CorruptionSection};
use ninescope_ecc::EccSchemeConfig;
use ninescope_engine::policies::read_retry::ReadRetryConfig;
use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::policies::scrub::ScrubPolicyConfig;
use ninescope_engine::{SuspendPolicyConfig, TransactionSchedulerConfig, WriteCompletion};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, SectorWearLevelingConfig, StreamChoiceConfig,
    VictimSelectionConfig,
};
use ninescope_media::health::ErrorModelConfig;
use ninescope_media::scm::ProgramVerifyConfig;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use ninescope_model::{optional_string_or_table, string_or_table};
use ninescope_tier::PlacementConfig;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

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
    /// Scheduling of the dies.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
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

/// Shape of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels of the controller [count].
    #[schemars(range(min = 1))]
    pub channels: u32,
    /// Packages on a channel [count].
    #[schemars(range(min = 1))]
    pub packages_per_channel: u32,
    /// Dies in a package [count].
    #[schemars(range(min = 1))]
    pub dies_per_package: u32,
    /// Planes in a die, 1 to 4 [count].
    #[schemars(range(min = 1, max = 4))]
    pub planes_per_die: u32,
    /// Blocks in a plane [count].
    #[schemars(range(min = 1))]
    pub blocks_per_plane: u32,
    /// Pages in a block [count].
    #[schemars(range(min = 1))]
    pub pages_per_block: u32,
    /// User bytes of a page [B].
    pub page_size: Bytes,
}

impl DriveConfig {
    /// Blocks in a plane; 0 without flash [count].
    pub fn blocks_per_plane(&self) -> u32 {
        self.geometry.map_or(0, |geometry| geometry.blocks_per_plane)
    }
}

impl GeometryConfig {
    /// What one more block per plane adds to the drive [B].
    pub fn bytes_per_block_index(&self) -> f64 {
        let factors = [
            self.channels,
            self.packages_per_channel,
            self.dies_per_package,
            self.planes_per_die,
            self.pages_per_block,
        ];
        factors.iter().map(|&factor| f64::from(factor)).product::<f64>() * self.page_size.0 as f64
    }
}

/// Storage-class memory: sectors of 512 B that are overwritten in place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScmConfig {
    /// Channels, each with a bus of its own [count].
    pub channels: u32,
    /// Banks on a channel, which work side by side [count].
    pub banks_per_channel: u32,
    /// What the host can address; spare sectors of wear levelling come on top [B].
    pub capacity: Bytes,
    /// What one transaction can access: 512 B x 2^n up to 16 KiB [B].
    #[serde(default = "slot_of_16_kib")]
    pub slot_size: Bytes,
    /// Reading a sector [ns].
    pub read: Duration,
    /// The set pulse of a sector write [ns].
    pub set: Duration,
    /// The reset pulse of a sector write [ns].
    pub reset: Duration,
    /// How set and reset pulses of a sector follow each other: "together" or "in-turn".
    #[serde(default)]
    pub pulse_order: PulseOrderConfig,
    /// Command and address cycles on the channel [ns].
    #[serde(default = "zero_duration")]
    pub command_address: Duration,
    /// Rate of a channel [B/s].
    pub channel_rate: BytesPerSecond,
    /// The code that guards each sector; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub ecc: Option<EccSchemeConfig>,
    /// How often bits fail; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub errors: Option<ErrorModelConfig>,
    /// Rated writes of a sector [count].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance_writes: Option<u32>,
    /// Cost of a bit, that of TLC flash being 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_cost: Option<f64>,
    /// How the wear of sectors is levelled.
    #[serde(default, deserialize_with = "string_or_table")]
    pub wear_leveling: SectorWearLevelingConfig,
    /// Which way its copies take: "through-controller", over the channel and back, or "in-memory".
    #[serde(default)]
    pub wear_leveling_copies: CopyPathConfig,
    /// When the verifying of a sector write ends; absent: writes are not verified.
    #[serde(default, deserialize_with = "optional_string_or_table", skip_serializing_if = "Option::is_none")]
    pub verify: Option<ProgramVerifyConfig>,
}

/// How set and reset pulses of a sector write follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PulseOrderConfig {
    /// Side by side: the longer one decides.
    #[default]
    Together,
    /// One after the other.
    InTurn,
}

/// Which way the copies of wear levelling take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPathConfig {
    /// Out over the channel and back in: the controller corrects what it copies.
    #[default]
    ThroughController,
    /// From array to array, in memory that copies by itself.
    InMemory,
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

/// Bits a cell stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// 1 bit.
    Slc,
    /// 2 bits.
    Mlc,
    /// 3 bits.
    Tlc,
    /// 4 bits.
    Qlc,
}

impl Cell {
    /// Bits of a cell = pages of a wordline.
    pub fn bits(self) -> usize {
        self as usize + 1
    }
}

/// NAND media.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandConfig {
    /// Bits a cell stores.
    pub cell: Cell,
    /// tR by page type: one value, or one per bit of the cell [ns].
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema")]
    pub read: Vec<Duration>,
    /// tPROG by page type: as many values as `read` [ns].
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema")]
    pub program: Vec<Duration>,
    /// Pulses of a program [count].
    #[serde(default = "one")]
    pub program_pulses: u32,
    /// One erase loop, pulse and verify [ns].
    pub erase_loop: Duration,
    /// Loops of an erase [count]: a number, or which share of the blocks takes how many, by P/E cycles.
    #[serde(default)]
    pub erase_loops: EraseLoopsConfig,
    /// Command and address cycles on the channel, per plane addressed [ns].
    #[serde(default = "zero_duration")]
    pub command_address: Duration,
    /// Recovery of voltages after a suspend [ns].
    #[serde(default = "zero_duration")]
    pub suspend_recover: Duration,
    /// Ramp of voltages before a resume [ns].
    #[serde(default = "zero_duration")]
    pub resume_ramp: Duration,
    /// Whether one multi-plane read may address different blocks.
    #[serde(default)]
    pub read_any_block: bool,
    /// Rated P/E cycles [count].
    #[serde(default)]
    pub endurance_cycles: Option<u32>,
    /// Cost of a bit, that of TLC flash being 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_cost: Option<f64>,
    /// P/E cycles that every block has behind it at the start [count]; absent: 0, where nothing depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_cycles: Option<u32>,
    /// Rate of a channel [B/s].
    pub channel_rate: BytesPerSecond,
    /// How many suspensions an erase bears, and what more of them do; absent: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_limit: Option<SuspendLimitConfig>,
    /// Spare bytes of a page; absent: as many as the parity needs [B].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_size: Option<Bytes>,
    /// The code that guards data; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub ecc: Option<EccSchemeConfig>,
    /// The code of clean data, where ftl.streams keeps that apart; absent: that of the rest.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub edc: Option<EccSchemeConfig>,
    /// How often bits fail; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub errors: Option<ErrorModelConfig>,
    /// How old data is that was there at the start; absent: new [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_age: Option<Duration>,
    /// How pages that do not decode are read again; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub retry: Option<ReadRetryConfig>,
    /// Errors that are injected and stay; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corruption: Option<CorruptionSection>,
}

/// Loops of an erase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EraseLoopsConfig {
    /// The same for all blocks [count].
    Fixed(u32),
    /// By P/E cycles, rows ascending; between two rows shares change linearly.
    ByWear(Vec<LoopSharesConfig>),
}

impl Default for EraseLoopsConfig {
    fn default() -> Self {
        Self::Fixed(1)
    }
}

/// Which share of the blocks takes how many loops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopSharesConfig {
    /// P/E cycles [count].
    pub cycles: u32,
    /// The first share of the blocks takes one loop, the second two, and so on; in sum 1.
    pub shares: Vec<f64>,
}

/// How many suspensions an erase bears: per loop, falling with the wear of the block, linearly in the logarithm of
/// its P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendLimitConfig {
    /// P/E cycles up to which a block is young [count].
    pub young_cycles: u32,
    /// Suspensions a loop of a young block bears [count].
    pub young_suspensions: u32,
    /// P/E cycles from which a block is worn [count].
    pub worn_cycles: u32,
    /// Suspensions a loop of a worn block bears [count].
    pub worn_suspensions: u32,
    /// `s` suspensions too many in an erase add `rber_factor * s ^ rber_exponent` to the raw bit error rate.
    pub rber_factor: f64,
    /// See `rber_factor`.
    pub rber_exponent: f64,
}

/// Translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlSection {
    /// Bytes mapped as one: 512 B x 2^n up to the page [B].
    pub mapping_unit: Bytes,
    /// (physical - logical) / logical.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub over_provisioning: f64,
    /// Planes that share a write frontier, and so program and erase together; absent: all planes of the die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontier_planes: Option<u32>,
    /// Free blocks per plane that host writes never take [count].
    pub gc_reserve_blocks: u32,
    /// Pages one plane group's garbage collection may have between read and end of program [count];
    /// absent: two stripes' worth of reads and two of programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_pages_in_flight: Option<u32>,
    /// Which pool takes the next unit.
    #[serde(deserialize_with = "string_or_table")]
    pub page_allocation: PageAllocationConfig,
    /// Which write stream takes a unit: whether clean data is kept apart.
    #[serde(deserialize_with = "string_or_table", skip_serializing_if = "is_single")]
    pub streams: StreamChoiceConfig,
    /// Which free block is opened next.
    #[serde(deserialize_with = "string_or_table")]
    pub free_block_choice: FreeBlockChoiceConfig,
    /// When garbage collection is needed.
    #[serde(deserialize_with = "string_or_table")]
    pub gc_trigger: GcTriggerConfig,
    /// What garbage collection empties next.
    #[serde(deserialize_with = "string_or_table")]
    pub victim: VictimSelectionConfig,
}

impl Default for FtlSection {
    fn default() -> Self {
        Self {
            mapping_unit: Bytes(4096),
            over_provisioning: 0.07,
            frontier_planes: None,
            gc_reserve_blocks: 1,
            gc_pages_in_flight: None,
            page_allocation: PageAllocationConfig::default(),
            streams: StreamChoiceConfig::default(),
            free_block_choice: FreeBlockChoiceConfig::default(),
            gc_trigger: GcTriggerConfig::default(),
            victim: VictimSelectionConfig::default(),
        }
    }
}

/// Controller and host interface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerConfig {
    /// Commands inside the device at a time [count].
    #[schemars(range(min = 1))]
    pub queue_depth: u32,
    /// Rate of the host link, each direction by itself [B/s].
    pub link_rate: BytesPerSecond,
    /// Controller time per command [ns].
    pub command_cost: Duration,
    /// When a host write completes: "buffer" or "program".
    pub write_completion: WriteCompletion,
    /// Filled pages of a die that wait for their program [count]; absent: two stripes per frontier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffered_pages: Option<u32>,
    /// Filled pages of all dies together that wait for their program [count]: with as many, one die that is stuck holds up
    /// the writes to all; absent: what the dies may have is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffered_pages: Option<u32>,
    /// After this long a partly filled page is padded and programmed [ns]; absent: it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_timeout: Option<Duration>,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            queue_depth: 1024,
            link_rate: BytesPerSecond(4_000_000_000),
            command_cost: Duration(1_000),
            write_completion: WriteCompletion::default(),
            buffered_pages: None,
            shared_buffered_pages: None,
            page_timeout: None,
        }
    }
}

/// Scheduling of the dies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerConfig {
    /// Which queue of a die goes next.
    #[serde(deserialize_with = "string_or_table")]
    pub transactions: TransactionSchedulerConfig,
    /// When a running erase or program is suspended.
    #[serde(deserialize_with = "string_or_table")]
    pub suspend: SuspendPolicyConfig,
    /// Whether commands to several planes of a die are merged.
    pub multi_plane: bool,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            transactions: TransactionSchedulerConfig::default(),
            suspend: SuspendPolicyConfig::default(),
            multi_plane: true,
        }
    }
}

impl<'de> Deserialize<'de> for EraseLoopsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrRows;

        impl<'de> Visitor<'de> for NumberOrRows {
            type Value = EraseLoopsConfig;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of loops, or rows { cycles = 500, shares = [0.92, 0.08] }")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                let loops = u32::try_from(value).map_err(|_| E::custom(format!("{value} is no number of loops")))?;
                Ok(EraseLoopsConfig::Fixed(loops))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                let loops = u32::try_from(value).map_err(|_| E::custom(format!("{value} is no number of loops")))?;
                Ok(EraseLoopsConfig::Fixed(loops))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(EraseLoopsConfig::ByWear)
            }
        }

        deserializer.deserialize_any(NumberOrRows)
    }
}

/// A duration by itself stands for a list of one.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Duration>, D::Error> {
    struct OneOrMany;

    impl<'de> Visitor<'de> for OneOrMany {
        type Value = Vec<Duration>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a duration, or a list of one per page type")
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
            Duration::deserialize(value.into_deserializer()).map(|one| vec![one])
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
            Duration::deserialize(value.into_deserializer()).map(|one| vec![one])
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Duration::deserialize(text.into_deserializer()).map(|one| vec![one])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(OneOrMany)
}

fn is_single(streams: &StreamChoiceConfig) -> bool {
    *streams == StreamChoiceConfig::default()
}

fn slot_of_16_kib() -> Bytes {
    Bytes(16_384)
}

fn one_or_many_schema(generator: &mut SchemaGenerator) -> Schema {
    let one = generator.subschema_for::<Duration>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}

fn one() -> u32 {
    1
}

fn zero_duration() -> Duration {
    Duration(0)
}
