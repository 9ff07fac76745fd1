//! A Weibull law: of so many cells the weakest one fails first. At the scale 63 % of the blocks are worn out, whatever the shape; the
//! larger that is, the closer to each other they are.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WearOutParameters, problem_of_cycles};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Weibull {
    /// The characteristic life: 63 % of the blocks bear no more [cycles].
    #[schemars(range(min = 1, max = 1e7))]
    pub scale: f64,
    /// The shape (0.1 to 100).
    #[schemars(range(min = 0.1, max = 100))]
    pub shape: f64,
}

impl Default for Weibull {
    fn default() -> Self {
        Self { scale: 3_000.0, shape: 10.0 }
    }
}

impl WearOutParameters for Weibull {
    fn draw(&self, stream: &mut RandomStream) -> f64 {
        self.scale * libm::pow(stream.exponential(1.0), 1.0 / self.shape)
    }

    fn share_within(&self, cycles: f64) -> f64 {
        -libm::expm1(-libm::pow(cycles.max(0.0) / self.scale, self.shape))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("scale", self.scale).or_else(|| {
            let fits = (0.1..=100.0).contains(&self.shape);
            (!fits).then(|| ("shape", format!("is {}, it must be 0.1 to 100", self.shape)))
        })
    }
}
