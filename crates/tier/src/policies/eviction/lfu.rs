//! The page that was used least often since it came; of those used equally often the one used longest ago.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CachedPage, EvictionOrder, USES_MAX};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lfu {}

impl EvictionOrder for Lfu {
    fn classes(&self) -> usize {
        usize::from(USES_MAX) + 1
    }

    fn class_of(&self, page: &CachedPage) -> usize {
        usize::from(page.uses)
    }
}
