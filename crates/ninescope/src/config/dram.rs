//! The DRAM in a drive description: what lies in it, a cache above what holds the data among that, and its bus.

use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scm::{CopyPathConfig, PulseOrderConfig, ScmConfig};

/// DRAM of the controller: a cache of pages, which loses what it holds without power, the write buffer, the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // independent facts of a DRAM
pub struct DramConfig {
    /// What it holds: cache, write buffer and map together [B].
    #[schemars(transform = above_zero)]
    pub capacity: Bytes,
    /// The part that caches data, a whole number of pages for each bank; absent: what the others leave of it [B].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub cache: Option<Bytes>,
    /// What the host writes to flash lies in it until it is programmed, and takes its bus on the way in and out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub write_buffer: bool,
    /// What the host writes goes to the dies as it comes in: it takes the bus once, beside what becomes of it otherwise, and a program
    /// reads nothing of it from there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut_through: bool,
    /// What is read of flash for the host goes through it, and takes its bus on the way in and out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_data: bool,
    /// What is in memory of the map lies in it, and takes its bus for each look-up and each page of the map.
    #[serde(default, skip_serializing_if = "is_false")]
    pub map: bool,
    /// Banks of the cache behind its bus [count].
    #[serde(default = "eight_banks")]
    #[schemars(transform = above_zero)]
    pub banks: u32,
    /// Opening a row and asking for its first column: time of the bus that each access takes beside its data [ns].
    pub access: Duration,
    /// Rate of its bus [B/s].
    #[schemars(transform = above_zero)]
    pub rate: BytesPerSecond,
    /// How long data take of its bus where that is not by the rate: for some sizes, which rise; between two of them along a line, and
    /// beyond the last in proportion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer_times: Vec<TransferTime>,
    /// Jobs have its bus in turn, what the drive does for itself as one of them, and not whoever asked first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub jobs_in_turn: bool,
    /// What the cache holds survives a loss of power, so that a FLUSH has nothing to wait for.
    #[serde(default)]
    pub power_protected: bool,
}

/// What data of a size take of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferTime {
    /// The size [B].
    #[schemars(transform = above_zero)]
    pub size: Bytes,
    /// How long that many bytes take, beside `access` [ns].
    pub time: Duration,
}

/// Banks of a cache of which nothing is said.
pub(crate) const DRAM_BANKS: u32 = 8;

fn eight_banks() -> u32 {
    DRAM_BANKS
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_false(value: &bool) -> bool {
    !value
}

impl DramConfig {
    /// The memory that its cache is for the engine: pages that are overwritten in place, whose sectors take as good as no time in
    /// their bank.
    pub(crate) fn as_memory(&self, cache: Bytes, page: Bytes) -> ScmConfig {
        ScmConfig {
            channels: 1,
            banks_per_channel: self.banks,
            capacity: cache,
            slot_size: page,
            read: Duration(1),
            set: Duration(1),
            reset: Duration(1),
            pulse_order: PulseOrderConfig::default(),
            command_address: self.access,
            channel_rate: self.rate,
            ecc: None,
            errors: None,
            endurance_writes: None,
            bit_cost: None,
            wear_leveling: Default::default(),
            wear_leveling_copies: CopyPathConfig::default(),
            verify: None,
        }
    }
}
