//! Earliest free: a page, or a stripe, goes to the die that will be through first with what it has to do, by mean times of reads,
//! programs and erases.

use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_load::ByLoad;
use super::round_robin::Granularity;
use super::{Load, PageAllocation, PageAllocationParameters};

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarliestFree {
    /// How much goes to one pool before another one is chosen.
    pub granularity: Granularity,
}

impl PageAllocationParameters for EarliestFree {
    fn build(&self, geometry: &Geometry, _positions: &[u32]) -> Box<dyn PageAllocation> {
        Box::new(ByLoad::new(self.granularity, geometry))
    }

    fn load(&self) -> Option<Load> {
        Some(Load::FreeAt)
    }
}
