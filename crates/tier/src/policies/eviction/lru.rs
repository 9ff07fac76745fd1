//! The page that was used longest ago.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EvictionOrder;

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lru {}

impl EvictionOrder for Lru {}
