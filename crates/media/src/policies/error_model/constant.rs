//! Bits fail at one rate, as in the sweeps of papers that choose a rate and ask what it does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorModel, ErrorModelParameters, Health, RBER_MAX};
use crate::ParameterError;
use crate::parameter::within;

/// One raw bit error rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constant {
    /// Chance that a bit reads back wrong; the default is chosen [1/bit].
    #[schemars(range(min = 0, max = 0.5))]
    pub rber: f64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { rber: 1e-4 }
    }
}

impl ErrorModelParameters for Constant {
    fn build(&self) -> Result<Box<dyn ErrorModel>, ParameterError> {
        Ok(Box::new(self.checked()?))
    }
}

impl Constant {
    fn checked(self) -> Result<Self, ParameterError> {
        within("rber", self.rber, 0.0, RBER_MAX)?;
        Ok(self)
    }
}

impl ErrorModel for Constant {
    fn rber(&self, _: &Health) -> f64 {
        self.rber
    }

    fn rber_of_all(&self) -> Option<f64> {
        Some(self.rber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_stays_what_it_is_and_one_beyond_a_coins_is_refused() {
        let model = Constant { rber: 3e-7 }.checked().expect("a rate");
        let old = Health { cycles: 9_999, reads: 7, ..Health::default() };
        assert_eq!(model.rber(&old).to_bits(), 3e-7_f64.to_bits());
        assert_eq!(model.rber_of_all(), Some(3e-7));
        assert!(Constant { rber: 0.0 }.checked().is_ok() && Constant { rber: 0.5 }.checked().is_ok());
        for rber in [-1e-9, 0.500_001, f64::NAN, f64::INFINITY] {
            let error = Constant { rber }.checked().expect_err("refused");
            assert!(error.key == "rber" && error.message.contains("0 to 0.5"), "{error}");
        }
    }
}
