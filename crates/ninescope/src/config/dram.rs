//! The DRAM in a drive description: a cache above what holds the data.

use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scm::{CopyPathConfig, PulseOrderConfig, ScmConfig};

/// DRAM: a cache of pages, which loses what it holds without power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// What it caches: a whole number of pages for each bank [B].
    #[schemars(transform = above_zero)]
    pub capacity: Bytes,
    /// Banks behind its bus [count].
    #[serde(default = "eight_banks")]
    #[schemars(transform = above_zero)]
    pub banks: u32,
    /// Opening a row and asking for its first column: time of the bus that each access takes beside its data [ns].
    pub access: Duration,
    /// Rate of its bus [B/s].
    #[schemars(transform = above_zero)]
    pub rate: BytesPerSecond,
    /// What it holds survives a loss of power, so that a FLUSH has nothing to wait for.
    #[serde(default)]
    pub power_protected: bool,
}

fn eight_banks() -> u32 {
    8
}

impl DramConfig {
    /// The memory that it is for the engine: pages that are overwritten in place, whose sectors take as good as no time in
    /// their bank.
    pub(crate) fn as_memory(&self, page: Bytes) -> ScmConfig {
        ScmConfig {
            channels: 1,
            banks_per_channel: self.banks,
            capacity: self.capacity,
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
