//! Pages that were last written sequentially go first: they are the least likely to be written again soon, and flash takes them
//! well (CDE; Onagi, Sun, Takeuchi, IMW 2015).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CachedPage, EvictionOrder};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialFirst {}

impl EvictionOrder for SequentialFirst {
    fn classes(&self) -> usize {
        2
    }

    fn class_of(&self, page: &CachedPage) -> usize {
        usize::from(!page.sequential)
    }
}
