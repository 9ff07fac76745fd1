//! All cycles, always: the deterministic form.
//!
//! Where bit errors are as frequent as there (5e-4 and more), nearly every sector has a cell that still fails after the
//! last cycle, so that a loop that stops when all pass runs to its cap anyway; that is why a write is slowed in equal
//! steps by each cycle (figure 5).

use ninescope_kernel::RandomStream;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::curve::VerifyCurve;
use super::{ProgramVerify, ProgramVerifyParameters, VerifyLoop, WrittenCells};
use crate::ParameterError;

/// A fixed number of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToTheCap {
    /// Cycles after the first pulses; 0 to 20 are published [count].
    #[schemars(range(max = 1000))]
    pub cycles: u32,
    /// Cycles in which cells are set; absent: `cycles` [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub cycles_set: Option<u32>,
    /// Cycles in which cells are reset; absent: `cycles` [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub cycles_reset: Option<u32>,
    /// A verify read of a sector; absent: as long as any read of it [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_read: Option<Duration>,
    /// By how much `reference_cycles` cut bit errors; 0.49 is published.
    #[schemars(range(min = 0, max = 1))]
    pub reduction: f64,
    /// After how many cycles that was measured; 20 is published [count].
    #[schemars(range(min = 1))]
    pub reference_cycles: u32,
    /// After how many cycles the cut has come within 1/e of its limit; 5 is inferred [cycles].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub decay: f64,
}

impl Default for ToTheCap {
    fn default() -> Self {
        let VerifyCurve { reduction, reference_cycles, decay } = VerifyCurve::default();
        Self { cycles: 20, cycles_set: None, cycles_reset: None, verify_read: None, reduction, reference_cycles, decay }
    }
}

impl ProgramVerifyParameters for ToTheCap {
    fn build(&self, _cells: &WrittenCells) -> Result<Box<dyn ProgramVerify>, ParameterError> {
        Ok(Box::new(self.built()?))
    }
}

impl ToTheCap {
    fn built(&self) -> Result<AllCycles, ParameterError> {
        let Self { reduction, reference_cycles, decay, .. } = *self;
        let curve = VerifyCurve { reduction, reference_cycles, decay };
        let caps = (self.cycles_set, self.cycles_reset);
        Ok(AllCycles(VerifyLoop::of(self.cycles, caps, self.verify_read, curve)?))
    }
}

/// Every sector takes all cycles of its loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllCycles(VerifyLoop);

impl ProgramVerify for AllCycles {
    fn verify_loop(&self) -> &VerifyLoop {
        &self.0
    }

    fn cycles(&self, _: &mut RandomStream) -> u32 {
        self.0.cap()
    }

    fn reads(&self, cycles: u32) -> u32 {
        cycles
    }

    /// Half of the cells are set, the others reset.
    fn ber_factor(&self) -> f64 {
        let [set, reset] = self.0.factors(self.0.cap());
        f64::midpoint(set, reset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cycles_are_made_and_cut_errors_as_the_curve_says() {
        let factor = |policy: ToTheCap| policy.built().expect("legal").ber_factor();
        let by_default = ToTheCap::default();
        assert_eq!(factor(by_default).to_bits(), 0.51_f64.to_bits());
        assert_eq!(factor(ToTheCap { cycles: 0, ..by_default }).to_bits(), 1.0_f64.to_bits());
        // Cells that are set are not verified: their half of the errors stays.
        let resets = ToTheCap { cycles_set: Some(0), ..by_default };
        assert!((factor(resets) - 0.755).abs() < 1e-12);
        let resets = resets.built().expect("legal");
        let mut stream = RandomStream::new(1, "tests", "verify");
        assert_eq!((resets.cycles(&mut stream), resets.reads(20)), (20, 20));
        assert_eq!(stream.bits(), RandomStream::new(1, "tests", "verify").bits(), "nothing is drawn");
    }
}
