//! The flash in a drive description: its shape, its time constants, what its blocks bear.

use std::fmt;

use ninescope_ecc::EccSchemeConfig;
use ninescope_engine::policies::read_retry::ReadRetryConfig;
use ninescope_ftl::policies::WearOutConfig;
use ninescope_media::health::ErrorModelConfig;
use ninescope_model::optional_string_or_table;
use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::reliability::{CorruptionSection, DieFailureSection, TemperatureSection, VariationSection};

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
    #[schemars(transform = above_zero)]
    pub page_size: Bytes,
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

/// The types of a block's pages where wordlines are filled staggered: each 0 for the bit of a cell that is written first, 1 for
/// the next, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageTypesConfig {
    /// Types of the first pages.
    #[serde(default)]
    pub first: Vec<u8>,
    /// Types of those behind them, over and over again.
    pub then: Vec<u8>,
    /// Types of the last pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<u8>,
}

/// Which planes one command may address, where that is not all of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaneGroupsConfig {
    /// With 2 of 4 the first two, or the last two.
    #[default]
    Neighbours,
    /// With 2 of 4 the first and the third, or the second and the fourth.
    Interleaved,
}

/// How the planes of a die read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaneReadsConfig {
    /// A die does one command at a time; a read of several planes is one.
    #[default]
    Together,
    /// Each plane by itself, beside reads of other planes, whenever those began.
    Independently,
}

/// What one program is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramsConfig {
    /// A page of each plane: the pages of a wordline are programmed one after the other, with a time each.
    #[default]
    Page,
    /// A wordline of each plane: all its pages are loaded, and then programmed in one go.
    OneShot,
}

/// NAND media.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandConfig {
    /// Bits a cell stores.
    pub cell: Cell,
    /// tR by page type: one value, or one per bit of the cell [ns].
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema", transform = above_zero)]
    pub read: Vec<Duration>,
    /// tPROG by page type: as many values as `read`, or that of a whole wordline where `programs` says so [ns].
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema", transform = above_zero)]
    pub program: Vec<Duration>,
    /// What one program is of; absent: a page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub programs: ProgramsConfig,
    /// For how long a plane is busy with a page of a wordline before it takes the next one (tPBSY), where wordlines are programmed in
    /// one go; absent: for none [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_load: Option<Duration>,
    /// tR of pages in blocks that hold one bit in each cell (`ftl.slc_cache`) [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub slc_read: Option<Duration>,
    /// tPROG of such pages [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub slc_program: Option<Duration>,
    /// In which order the page types of a block come; absent: in turn, the pages of a wordline one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypesConfig>,
    /// Pulses of a program [count].
    #[serde(default = "one")]
    #[schemars(transform = above_zero)]
    pub program_pulses: u32,
    /// One erase loop, pulse and verify [ns].
    #[schemars(transform = above_zero)]
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
    /// Whether one multi-plane read or program may address different pages, of different blocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub any_page: bool,
    /// Planes that one command may address [count]; absent: all of a die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub planes_per_command: Option<u32>,
    /// Which planes these are; absent: neighbours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plane_groups: PlaneGroupsConfig,
    /// How the planes of a die read; absent: together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plane_reads: PlaneReadsConfig,
    /// Cache reads: a page moves for so long to a second register, from which it leaves while the next one is sensed (tRCBSY);
    /// absent: it leaves from the register that it was sensed into [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<Duration>,
    /// By how much reads, programs and erases take longer or shorter by layer and by wear; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimesSection>,
    /// Rated P/E cycles [count].
    #[serde(default)]
    #[schemars(transform = above_zero)]
    pub endurance_cycles: Option<u32>,
    /// Cost of a bit, that of TLC flash being 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub bit_cost: Option<f64>,
    /// P/E cycles that every block has behind it at the start [count]; absent: 0, where nothing depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_cycles: Option<u32>,
    /// Rate of a channel [B/s].
    #[schemars(transform = above_zero)]
    pub channel_rate: BytesPerSecond,
    /// What a read brings over the channel of a unit that is asked for in part; absent: the whole unit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_moves: ReadMoves,
    /// What a program takes over the channel; absent: the whole page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub program_moves: ProgramMoves,
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
    /// By how much that differs from page to page and from block to block; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<VariationSection>,
    /// How old data is that was there at the start; absent: new [ns].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_age: Option<Duration>,
    /// How warm the drive is, by which data ages; absent: ages are those of the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<TemperatureSection>,
    /// How pages that do not decode are read again; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub retry: Option<ReadRetryConfig>,
    /// How many P/E cycles a block bears; absent: any number.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub wear_out: Option<WearOutConfig>,
    /// The chance that the program of a page of a new block fails; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub program_failures: Option<f64>,
    /// The same of the erase of a block; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub erase_failures: Option<f64>,
    /// By which factor either grows while a block has its rated cycles; absent: they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1e9))]
    pub failures_rise: Option<f64>,
    /// The share of blocks that are bad from the start; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub factory_bad_blocks: Option<f64>,
    /// Errors that are injected and stay; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corruption: Option<CorruptionSection>,
    /// Dies that fail as a whole; absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub die_failures: Vec<DieFailureSection>,
}

/// By how much accesses take longer or shorter than `nand.read`, `nand.program` and `nand.erase_loop` say: by the product of these
/// factors, each 0.01 to 100.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimesSection {
    /// Of tR, from the first layer of a block to its last, each of as many pages; absent: 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_layers: Vec<f64>,
    /// Of tPROG, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program_layers: Vec<f64>,
    /// By P/E cycles of the block, rows ascending; between two rows factors change linearly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wear: Vec<WearTimes>,
}

/// Factors of a block after so many P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WearTimes {
    /// P/E cycles [count].
    pub cycles: u32,
    /// Of tPROG; absent: 1.
    #[serde(default = "factor_of_one")]
    #[schemars(range(min = 0.01, max = 100))]
    pub program: f64,
    /// Of each loop of an erase; absent: 1.
    #[serde(default = "factor_of_one")]
    #[schemars(range(min = 0.01, max = 100))]
    pub erase: f64,
}

fn factor_of_one() -> f64 {
    1.0
}

/// What a read brings over the channel of a unit that is asked for in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadMoves {
    /// All of it.
    #[default]
    Units,
    /// The sectors that are asked for.
    Sectors,
}

/// What a program takes over the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProgramMoves {
    /// The whole page.
    #[default]
    Pages,
    /// The sectors that were written, as if the die held what they are merged with.
    Sectors,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Loops of an erase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EraseLoopsConfig {
    /// The same for all blocks [count].
    Fixed(#[schemars(range(min = 1))] u32),
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
    #[schemars(transform = above_zero)]
    pub young_cycles: u32,
    /// Suspensions a loop of a young block bears [count].
    #[schemars(transform = above_zero)]
    pub young_suspensions: u32,
    /// P/E cycles from which a block is worn [count].
    #[schemars(transform = above_zero)]
    pub worn_cycles: u32,
    /// Suspensions a loop of a worn block bears [count].
    #[schemars(transform = above_zero)]
    pub worn_suspensions: u32,
    /// `s` suspensions too many in an erase add `rber_factor * s ^ rber_exponent` to the raw bit error rate.
    #[schemars(range(min = 0, max = 1))]
    pub rber_factor: f64,
    /// See `rber_factor`.
    #[schemars(range(min = 0, max = 10))]
    pub rber_exponent: f64,
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
