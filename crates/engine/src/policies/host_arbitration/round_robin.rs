//! One command each, in turn: the arbitration that every NVMe controller has.

use ninescope_model::Turns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HostArbitration, HostArbitrationParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {}

impl HostArbitrationParameters for RoundRobin {
    fn build(&self, _lanes: &[Turns]) -> Option<Box<dyn HostArbitration>> {
        None
    }

    fn knows_weights(&self) -> bool {
        false
    }
}
