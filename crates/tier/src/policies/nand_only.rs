//! Everything in flash: there is nothing above it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandOnly {}
