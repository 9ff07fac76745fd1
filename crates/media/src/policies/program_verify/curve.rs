//! What verify cycles do to bit errors.
//!
//! Kinoshita et al. (error remedies of SCM) publish one point: 20 cycles cut the bit error rate by 49 %. **Inferred**:
//! that the cut saturates exponentially, `BER(V) = BER0 (1 - reduction (1 - exp(-V / decay)) / (1 - exp(-reference /
//! decay)))`, and its decay of 5 cycles; the measured curve (Ning et al., JJAP 2014) was not readable.

use crate::ParameterError;
use crate::parameter::within;

/// Longest decay: beyond it the curve is a straight line, and its quotients lose their digits [cycles].
const DECAY_MAX: f64 = 1e6;

/// The share of bit errors that is left after so many cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyCurve {
    /// By how much `reference_cycles` cut the errors, 0 to 1.
    pub reduction: f64,
    /// After how many cycles that was measured [count].
    pub reference_cycles: u32,
    /// After how many cycles the cut has come within 1/e of its limit [cycles].
    pub decay: f64,
}

impl Default for VerifyCurve {
    fn default() -> Self {
        Self { reduction: 0.49, reference_cycles: 20, decay: 5.0 }
    }
}

impl VerifyCurve {
    pub(super) fn checked(self) -> Result<Self, ParameterError> {
        within("reduction", self.reduction, 0.0, 1.0)?;
        if self.reference_cycles == 0 {
            return Err(ParameterError::new("reference_cycles", "must not be zero"));
        }
        if !(self.decay > 0.0 && self.decay <= DECAY_MAX) {
            let message = format!("is {}, it must be above 0 and at most {DECAY_MAX}", self.decay);
            return Err(ParameterError::new("decay", message));
        }
        Ok(self)
    }

    /// Bit errors after `cycles` cycles as a share of those after none: from 1 down, never below 0.
    pub fn factor(&self, cycles: u32) -> f64 {
        let cut = |cycles: u32| -libm::expm1(-f64::from(cycles) / self.decay);
        (1.0 - self.reduction * (cut(cycles) / cut(self.reference_cycles))).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published end of the curve: 49 % fewer errors.
    #[test]
    fn twenty_cycles_leave_51_percent_of_the_errors() {
        let curve = VerifyCurve::default();
        assert_eq!((curve.factor(0).to_bits(), curve.factor(20).to_bits()), (1.0_f64.to_bits(), 0.51_f64.to_bits()));
        // By hand: after 5 cycles 1 - 1/e of the limit, 1 - 0.49 x 0.632121 / 0.981684 = 0.684482.
        assert!((curve.factor(5) - 0.684_482).abs() < 1e-6, "{}", curve.factor(5));
        // The limit is 1 - 0.49 / (1 - exp(-4)) = 0.500858.
        assert!((curve.factor(1_000) - 0.500_858).abs() < 1e-6);
    }

    #[test]
    fn each_cycle_leaves_fewer_errors_and_gains_less_than_the_one_before() {
        for curve in [
            VerifyCurve::default(),
            VerifyCurve { decay: 40.0, ..VerifyCurve::default() },
            VerifyCurve { reduction: 1.0, reference_cycles: 30, decay: 7.0 },
        ] {
            let gains: Vec<f64> = (0..30).map(|cycles| curve.factor(cycles) - curve.factor(cycles + 1)).collect();
            assert!(gains.iter().all(|&gain| gain > 0.0));
            assert!(gains.is_sorted_by(|gain, next| next < gain), "{gains:?}");
        }
    }

    #[test]
    fn a_curve_may_be_flat_straight_or_a_step_and_never_falls_below_nothing() {
        let flat = VerifyCurve { reduction: 0.0, ..VerifyCurve::default() };
        assert!((0..99).all(|cycles| flat.factor(cycles).to_bits() == 1.0_f64.to_bits()));
        let straight = VerifyCurve { decay: 1e6, ..VerifyCurve::default() };
        assert!((straight.factor(10) - 0.755).abs() < 1e-4, "half the cycles cut half as much");
        let step = VerifyCurve { decay: 1e-3, ..VerifyCurve::default() };
        assert!((step.factor(1) - 0.51).abs() < 1e-12);
        let all = VerifyCurve { reduction: 1.0, ..VerifyCurve::default() };
        assert!((20..999).all(|cycles| all.factor(cycles).to_bits() == 0));
    }
}
