//! Clean pages go first, as long as one is among those used longest ago: they need not be copied (CFLRU; Park et al., CASES 2006,
//! whose window of the list this is).

use ninescope_model::schema::above_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EvictionOrder;

/// The most pages that are looked at [count].
const WINDOW_MAX: u32 = 1024;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CleanFirst {
    /// Among so many, used longest ago, a clean one is looked for.
    #[schemars(transform = above_zero)]
    pub window: u32,
}

impl Default for CleanFirst {
    fn default() -> Self {
        Self { window: 16 }
    }
}

impl EvictionOrder for CleanFirst {
    fn clean_among(&self) -> usize {
        self.window as usize
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let window = self.window;
        let legal = (1..=WINDOW_MAX).contains(&window);
        (!legal).then(|| ("victim.window", format!("is {window}, it must be a number of pages from 1 to {WINDOW_MAX}")))
    }
}
