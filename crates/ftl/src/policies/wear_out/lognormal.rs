//! A lognormal law: the logarithm of the cycles is normal, so that few blocks bear much less and some bear much more.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WearOutParameters, problem_of_cycles, standard_normal, standard_normal_within};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lognormal {
    /// Half of the blocks bear no more cycles than these [cycles].
    #[schemars(range(min = 1, max = 1e7))]
    pub median: f64,
    /// The standard deviation of the logarithm of the cycles (0 to 3).
    #[schemars(range(min = 0, max = 3))]
    pub sigma: f64,
}

impl Default for Lognormal {
    fn default() -> Self {
        Self { median: 3_000.0, sigma: 0.1 }
    }
}

impl WearOutParameters for Lognormal {
    fn draw(&self, stream: &mut RandomStream) -> f64 {
        self.median * libm::exp(self.sigma * standard_normal(stream))
    }

    fn share_within(&self, cycles: f64) -> f64 {
        if self.sigma == 0.0 || cycles <= 0.0 {
            return if cycles >= self.median { 1.0 } else { 0.0 };
        }
        standard_normal_within(libm::log(cycles / self.median) / self.sigma)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("median", self.median).or_else(|| {
            let fits = (0.0..=3.0).contains(&self.sigma);
            (!fits).then(|| ("sigma", format!("is {}, it must be 0 to 3", self.sigma)))
        })
    }
}
