//! A pair of watermarks: collection begins when no more than `beyond_reserve` groups beyond the reserve are free, and goes on until
//! `gain` more are. Groups are freed several at a time and then none for a while, where `free-groups` frees one for each that is
//! opened; host writes do not wait for it, as they do with `foreground`.

use std::num::NonZeroU32;

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GcTrigger, GcTriggerParameters, PoolSpace};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Watermarks {
    /// Free groups, beyond the reserve, at or below which collection begins.
    pub beyond_reserve: u32,
    /// Groups that must be free beyond those before it ends.
    pub gain: NonZeroU32,
}

impl Default for Watermarks {
    fn default() -> Self {
        Self { beyond_reserve: 1, gain: NonZeroU32::new(4).expect("four is not zero") }
    }
}

impl GcTriggerParameters for Watermarks {
    fn build(&self) -> Box<dyn GcTrigger> {
        Box::new(*self)
    }
}

impl GcTrigger for Watermarks {
    fn needed(&self, space: PoolSpace) -> bool {
        let low = space.reserve.saturating_add(self.beyond_reserve);
        space.free_in_prospect <= low
            || space.collecting && space.free_in_prospect < low.saturating_add(self.gain.get())
    }
}

impl Snapshot for Watermarks {}
