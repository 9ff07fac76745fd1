//! Everything in flash: there is nothing above it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Below, DataPlacement, PlacementParameters, Rules};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandOnly {}

impl PlacementParameters for NandOnly {
    fn below(&self) -> Below {
        Below::Nothing
    }

    fn has_upper(&self) -> bool {
        false
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        None
    }
}
