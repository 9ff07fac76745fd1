//! What a job says of its turn among others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest weight of a queue: eight bits, none of which are all zero.
pub const WEIGHT_MAX: u32 = 256;

/// The most queues of commands: what NVMe can number beside the one for administration.
pub const QUEUES_MAX: u32 = 65_535;

/// How urgent the requests of a job are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UrgencyClass {
    /// Before those of all other classes.
    Urgent,
    /// Of the largest weight by default.
    High,
    /// Of the weight that jobs have which say nothing.
    #[default]
    Medium,
    /// Of the smallest weight by default.
    Low,
}

/// What a job says of its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// How urgent its requests are.
    pub class: UrgencyClass,
    /// Commands that it has taken in within a round; absent: that of its class.
    pub weight: Option<u32>,
}
