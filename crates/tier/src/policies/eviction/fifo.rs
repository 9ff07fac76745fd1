//! First in, first out: what was used since it came stays where it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EvictionOrder;

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl EvictionOrder for Fifo {
    fn use_renews(&self) -> bool {
        false
    }
}
