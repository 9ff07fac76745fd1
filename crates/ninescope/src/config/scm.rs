//! The storage-class memory in a drive description.

use ninescope_ecc::EccSchemeConfig;
use ninescope_ftl::policies::SectorWearLevelingConfig;
use ninescope_media::health::ErrorModelConfig;
use ninescope_media::scm::ProgramVerifyConfig;
use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use ninescope_model::{optional_string_or_table, string_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Storage-class memory: sectors of 512 B that are overwritten in place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScmConfig {
    /// Channels, each with a bus of its own [count].
    #[schemars(transform = above_zero)]
    pub channels: u32,
    /// Banks on a channel, which work side by side [count].
    #[schemars(transform = above_zero)]
    pub banks_per_channel: u32,
    /// What the host can address; spare sectors of wear levelling come on top [B].
    #[schemars(transform = above_zero)]
    pub capacity: Bytes,
    /// What one transaction can access: 512 B x 2^n up to 16 KiB [B].
    #[serde(default = "slot_of_16_kib")]
    #[schemars(transform = above_zero)]
    pub slot_size: Bytes,
    /// Reading a sector [ns].
    #[schemars(transform = above_zero)]
    pub read: Duration,
    /// The set pulse of a sector write [ns].
    #[schemars(transform = above_zero)]
    pub set: Duration,
    /// The reset pulse of a sector write [ns].
    #[schemars(transform = above_zero)]
    pub reset: Duration,
    /// How set and reset pulses of a sector follow each other: "together" or "in-turn".
    #[serde(default)]
    pub pulse_order: PulseOrderConfig,
    /// Command and address cycles on the channel [ns].
    #[serde(default = "zero_duration")]
    pub command_address: Duration,
    /// Rate of a channel [B/s].
    #[schemars(transform = above_zero)]
    pub channel_rate: BytesPerSecond,
    /// The code that guards each sector; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub ecc: Option<EccSchemeConfig>,
    /// How often bits fail; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_string_or_table")]
    pub errors: Option<ErrorModelConfig>,
    /// Rated writes of a sector [count].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub endurance_writes: Option<u32>,
    /// Cost of a bit, that of TLC flash being 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
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

fn slot_of_16_kib() -> Bytes {
    Bytes(16_384)
}

fn zero_duration() -> Duration {
    Duration(0)
}
