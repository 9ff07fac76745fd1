//! The capacity alone: as long as a slot is free writes go on at the speed of the cache, and then at that of what is below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BackPressure, BackPressureParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeSlots {}

impl BackPressureParameters for FreeSlots {
    fn build(&self, _planes: u32) -> Option<Box<dyn BackPressure>> {
        None
    }
}
