//! What a drive holds when its run begins, in the words of a request.

use serde::{Deserialize, Serialize};

/// What the drive holds when the run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefillMode {
    /// Every address the workload may read is present.
    #[default]
    Footprint,
    /// Every address of the drive was written once, in order.
    Full,
    /// Full, then overwritten at random until as much was written as the drive has flash: every page was programmed
    /// once, and garbage collection has begun.
    Raw,
    /// Full, then overwritten by the workload's own writes until write amplification and wear are stationary.
    Steady,
    /// Full, then overwritten at random, all addresses alike, until write amplification is stationary; a large drive is
    /// composed, which leaves the same.
    SteadyUniform,
    /// The same, overwritten whatever its size.
    SteadyOverwritten,
    /// The same, composed whatever its size: of what one of its pools is overwritten to.
    SteadyComposed,
    /// Nothing: reads of what was never written are answered with zeros.
    None,
}

/// In which order the units are written that a drive holds when the run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefillOrder {
    /// By their addresses.
    #[default]
    Ascending,
    /// At random, all orders alike, so that neighbours lie apart: as in a cache, which fills in the order of its misses.
    Random,
}

impl PrefillOrder {
    /// Whether it is what nobody need ask for.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub fn is_ascending(&self) -> bool {
        *self == Self::Ascending
    }
}
