//! What the parts of a drive draw, in a drive description.

use ninescope_model::schema::above_zero;
use ninescope_model::units::{Duration, Femtojoules, Microwatts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the parts of a drive draw; what is left out draws nothing. But for `cap`, `states` and `heat.throttle` it changes nothing of what the drive does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerSection {
    /// A die while its array reads, beside its standby [uW].
    #[serde(default)]
    pub die_read: Microwatts,
    /// The same while it programs [uW].
    #[serde(default)]
    pub die_program: Microwatts,
    /// The same while it erases [uW].
    #[serde(default)]
    pub die_erase: Microwatts,
    /// The same while a suspended operation recovers or ramps up; absent: as the operation itself [uW].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die_suspend: Option<Microwatts>,
    /// Each die at any time [uW].
    #[serde(default)]
    pub die_standby: Microwatts,
    /// A byte that crosses a channel of flash [fJ].
    #[serde(default)]
    pub channel_byte: Femtojoules,
    /// The controller at any time, with its memory, its link and all that is named nowhere else [uW].
    #[serde(default)]
    pub controller: Microwatts,
    /// A core at work, beside that: each of `[firmware]`, and the one that takes `controller.command_cost` for a command [uW].
    #[serde(default)]
    pub core: Microwatts,
    /// The DRAM of `[dram]` at any time [uW].
    #[serde(default)]
    pub dram: Microwatts,
    /// A byte that crosses its bus, or that a cache in it reads or writes [fJ].
    #[serde(default)]
    pub dram_byte: Femtojoules,
    /// The storage-class memory of `[scm]` and `[storage_scm]` at any time [uW].
    #[serde(default)]
    pub scm: Microwatts,
    /// A byte that storage-class memory reads [fJ].
    #[serde(default)]
    pub scm_read_byte: Femtojoules,
    /// A byte that it writes [fJ].
    #[serde(default)]
    pub scm_write_byte: Femtojoules,
    /// The most that the drive may draw at any time and its dies by commands that are under way, together: a command of a die waits until
    /// there is power for it; absent: any [uW].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Microwatts>,
    /// The most power is told as the mean of so long [ns].
    #[serde(default = "window")]
    #[schemars(transform = above_zero)]
    pub window: Duration,
    /// States of less power, into which the drive goes one after another while it has nothing to do: what comes then waits until it is
    /// out again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<PowerStateSection>,
    /// How warm the drive gets by what it draws, and what it does about that; absent: that is not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatSection>,
}

/// How warm the drive gets by what it draws: by `resistance` for each watt in the end, of which it goes 63 % in `time_constant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeatSection {
    /// The air around it [C].
    #[serde(default = "ambient")]
    #[schemars(range(min = -55, max = 150))]
    pub ambient: f64,
    /// How much warmer than that it gets by each watt [K/W].
    #[schemars(range(max = 1000), transform = above_zero)]
    pub resistance: f64,
    /// How long it takes for 63 % of a change [ns].
    #[schemars(transform = above_zero)]
    pub time_constant: Duration,
    /// How warm it is when the run begins, before any warm-up; absent: as the air [C].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -55, max = 150))]
    pub begins_at: Option<f64>,
    /// How often it is measured [ns].
    #[serde(default = "window")]
    #[schemars(transform = above_zero)]
    pub window: Duration,
    /// Steps in which it is throttled while it is hot, each warmer than the one before it and with less power.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<ThrottleSection>,
}

/// A step of a throttle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThrottleSection {
    /// It begins when the drive is warmer than that [C].
    #[schemars(range(min = -55, max = 150))]
    pub above: f64,
    /// It ends when the drive is as cool as that [C].
    #[schemars(range(min = -55, max = 150))]
    pub until: f64,
    /// What the drive may draw at any time and its dies by commands that are under way meanwhile, together, as `power.cap` [uW].
    pub cap: Microwatts,
}

/// A room.
fn ambient() -> f64 {
    25.0
}

/// A state of less power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerStateSection {
    /// It is entered when the drive has had nothing to do for so long, later than those before it [ns].
    pub after: Duration,
    /// What the drive as a whole draws in it, in the place of all that its parts draw at any time [uW].
    pub power: Microwatts,
    /// How long it takes to get in [ns].
    #[serde(default)]
    pub enter: Duration,
    /// How long it takes to get out [ns].
    #[serde(default)]
    pub leave: Duration,
}

/// 1 ms: longer than most programs, shorter than most spells of garbage collection.
fn window() -> Duration {
    Duration(1_000_000)
}

impl PowerSection {
    /// Powers with their keys.
    pub(crate) fn powers(&self) -> [(&'static str, Microwatts); 9] {
        [
            ("power.die_read", self.die_read),
            ("power.die_program", self.die_program),
            ("power.die_erase", self.die_erase),
            ("power.die_suspend", self.die_suspend.unwrap_or_default()),
            ("power.die_standby", self.die_standby),
            ("power.controller", self.controller),
            ("power.core", self.core),
            ("power.dram", self.dram),
            ("power.scm", self.scm),
        ]
    }

    /// Energies of bytes with their keys.
    pub(crate) fn energies(&self) -> [(&'static str, Femtojoules); 4] {
        [
            ("power.channel_byte", self.channel_byte),
            ("power.dram_byte", self.dram_byte),
            ("power.scm_read_byte", self.scm_read_byte),
            ("power.scm_write_byte", self.scm_write_byte),
        ]
    }
}
