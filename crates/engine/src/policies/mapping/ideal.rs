//! Ideal: all of the map is in memory, as on drives with 1 GiB of DRAM for 1 TiB of flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MapParameters, MapRules};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ideal {}

impl MapParameters for Ideal {
    fn rules(&self) -> Option<MapRules> {
        None
    }
}
