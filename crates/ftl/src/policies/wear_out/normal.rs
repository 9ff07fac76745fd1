//! A normal law: most blocks bear about the mean, as many more as less.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WearOutParameters, problem_of_cycles, standard_normal, standard_normal_within};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Normal {
    /// Cycles of a block in the mean [cycles].
    #[schemars(range(min = 1, max = 1e7))]
    pub mean: f64,
    /// Their standard deviation, no more than the mean [cycles].
    #[schemars(range(min = 0, max = 1e7))]
    pub deviation: f64,
}

impl Default for Normal {
    fn default() -> Self {
        Self { mean: 3_000.0, deviation: 300.0 }
    }
}

impl WearOutParameters for Normal {
    fn draw(&self, stream: &mut RandomStream) -> f64 {
        self.mean + self.deviation * standard_normal(stream)
    }

    fn share_within(&self, cycles: f64) -> f64 {
        if self.deviation == 0.0 {
            return if cycles >= self.mean { 1.0 } else { 0.0 };
        }
        standard_normal_within((cycles - self.mean) / self.deviation)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("mean", self.mean).or_else(|| {
            let fits = (0.0..=self.mean).contains(&self.deviation);
            (!fits).then(|| ("deviation", format!("is {}, it must be 0 to the mean of {}", self.deviation, self.mean)))
        })
    }
}
