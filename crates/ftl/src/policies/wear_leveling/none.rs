//! No static wear levelling.

use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WearLeveling, WearLevelingParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct None {}

impl WearLevelingParameters for None {
    fn build(&self, _geometry: &Geometry) -> Option<Box<dyn WearLeveling>> {
        None
    }
}
