//! Everything in storage-class memory, slot after slot, overwritten in place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Below, DataPlacement, PlacementParameters, Rules};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScmOnly {}

impl PlacementParameters for ScmOnly {
    fn below(&self) -> Below {
        Below::Nothing
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        None
    }
}
