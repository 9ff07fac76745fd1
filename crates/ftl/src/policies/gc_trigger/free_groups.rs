//! Collect while no more than `beyond_reserve` groups beyond the reserve are free.

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GcTrigger, GcTriggerParameters, PoolSpace};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FreeGroups {
    /// Free groups, beyond the reserve, at or below which garbage collection is needed.
    pub beyond_reserve: u32,
}

impl Default for FreeGroups {
    fn default() -> Self {
        Self { beyond_reserve: 1 }
    }
}

impl GcTriggerParameters for FreeGroups {
    fn build(&self) -> Box<dyn GcTrigger> {
        Box::new(*self)
    }
}

impl GcTrigger for FreeGroups {
    fn needed(&self, space: PoolSpace) -> bool {
        space.free_in_prospect <= space.reserve.saturating_add(self.beyond_reserve)
    }
}

impl Snapshot for FreeGroups {}
