//! Every block bears the same number of cycles.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WearOutParameters, problem_of_cycles};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fixed {
    /// Cycles of every block [cycles].
    #[schemars(range(min = 1, max = 1e7))]
    pub cycles: f64,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { cycles: 3_000.0 }
    }
}

impl WearOutParameters for Fixed {
    fn draw(&self, _stream: &mut RandomStream) -> f64 {
        self.cycles
    }

    fn share_within(&self, cycles: f64) -> f64 {
        if cycles >= self.cycles { 1.0 } else { 0.0 }
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("cycles", self.cycles)
    }
}
