//! The firmware's cores in a drive description, and what decisions take of them.

use ninescope_engine::Dealing;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Hertz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cores of the controller on which firmware makes its decisions, each for so many cycles; of what is left out a decision takes
/// no time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirmwareConfig {
    /// Cores [count].
    #[schemars(range(min = 1, max = 1024))]
    pub cores: u32,
    /// Cycles of each core per second [Hz].
    #[schemars(transform = above_zero)]
    pub clock: Hertz,
    /// Which core makes a decision.
    #[serde(default)]
    pub dealing: Dealing,
    /// What a host command asks for [cycles per command].
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub command: u32,
    /// Where what a command reads, writes or trims lies [cycles per mapping unit].
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub look_up: u32,
    /// Where what a command writes is to lie [cycles per mapping unit].
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub allocation: u32,
    /// That a page is read or programmed, or a block group erased: a stripe of pages that is programmed together is one decision
    /// [cycles].
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub transaction: u32,
    /// Which block group is emptied [cycles].
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    pub victim: u32,
    /// Whether what was read for garbage collection is still to be moved, and where to [cycles per mapping unit].
    #[serde(default, rename = "move")]
    #[schemars(range(max = 1_000_000_000))]
    pub moving: u32,
}

impl FirmwareConfig {
    /// Cycles of each decision with its key, in the engine's order.
    pub(crate) fn cycles(&self) -> [(&'static str, u32); 6] {
        [
            ("firmware.command", self.command),
            ("firmware.look_up", self.look_up),
            ("firmware.allocation", self.allocation),
            ("firmware.transaction", self.transaction),
            ("firmware.victim", self.victim),
            ("firmware.move", self.moving),
        ]
    }
}
