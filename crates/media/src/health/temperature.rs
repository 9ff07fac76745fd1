//! How much faster data ages where it is warmer: the law of Arrhenius.
//!
//! Charge leaves a cell at a rate that grows with `exp(-Ea / k T)`, so that a time at one temperature does what another time
//! does at another one. Their ratio is the acceleration factor of JEDEC's standards for stressing drives (JESD218, JESD22-A117);
//! 1.1 eV is the activation energy that bakes of flash are planned with: from 40 C to 66 C it is 22.76, by which 96 hours are three
//! months. Errors of baked flash are of another kind than those of flash that was kept for a year ("How the Common Retention
//! Acceleration Method of 3D NAND Flash Memory Goes Wrong", Hot Topics in Storage 2021, by its abstract): one energy is a planner's choice.

use crate::ParameterError;
use crate::parameter::within;

/// Boltzmann's constant, to the four digits that planners of bakes use [eV/K].
pub const BOLTZMANN: f64 = 8.617e-5;
/// 0 C [K].
const ZERO_CELSIUS: f64 = 273.15;
/// Between which temperatures there is flash that holds data [C].
pub const CELSIUS: (f64, f64) = (-55.0, 150.0);
/// The highest activation energy: more is a slip [eV].
pub const ACTIVATION_ENERGY_MAX: f64 = 2.0;

/// How the speed of ageing depends on temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrhenius {
    /// [eV]
    activation_energy: f64,
    /// At which ages are told [C].
    reference: f64,
}

impl Arrhenius {
    /// Ages told at a temperature [C], and an activation energy [eV].
    ///
    /// # Errors
    /// Names the one that makes no sense.
    pub fn new(activation_energy: f64, reference: f64) -> Result<Self, ParameterError> {
        within("activation_energy", activation_energy, 0.0, ACTIVATION_ENERGY_MAX)?;
        within("reference", reference, CELSIUS.0, CELSIUS.1)?;
        Ok(Self { activation_energy, reference })
    }

    /// How much faster than at the reference data ages at a temperature [C]. `key` is what that is called where it is refused.
    ///
    /// # Errors
    /// For a temperature at which no flash holds data.
    pub fn acceleration(&self, key: &'static str, celsius: f64) -> Result<f64, ParameterError> {
        within(key, celsius, CELSIUS.0, CELSIUS.1)?;
        let inverse = |celsius: f64| 1.0 / (celsius + ZERO_CELSIUS);
        Ok(libm::exp(self.activation_energy / BOLTZMANN * (inverse(self.reference) - inverse(celsius))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn factor(energy: f64, reference: f64, celsius: f64) -> f64 {
        Arrhenius::new(energy, reference).expect("a law").acceleration("at", celsius).expect("a temperature")
    }

    /// 1.1 / 8.617e-5 = 12,765.5 K; 1 / 313.15 - 1 / 339.15 = 2.44810e-4 / K; exp(3.1251) = 22.76. And the 96 hours of a bake are
    /// 2,185 of the 2,190 hours that three months have.
    #[test]
    fn a_bake_at_66_degrees_is_22_76_times_as_long_at_40() {
        let bake = factor(1.1, 40.0, 66.0);
        assert!((bake - 22.76).abs() < 0.005, "{bake}");
        assert!((bake * 96.0 / 2_190.0 - 1.0).abs() < 0.003, "{bake}");
    }

    /// 1.108 eV / k x (1 / 303.15 - 1 / 358.15) = 12,858.3 x 5.06570e-4 = 6.5137: 674, by which 13 hours at 85 C are the 8,760 hours
    /// of a year at 30 C.
    #[test]
    fn thirteen_hours_at_85_degrees_are_a_year_at_30() {
        let bake = factor(1.108, 30.0, 85.0);
        assert!((bake * 13.0 / 8_760.0 - 1.0).abs() < 0.01, "{bake}");
    }

    #[test]
    fn at_the_reference_and_without_an_energy_time_is_time() {
        for celsius in [-55.0, 0.0, 40.0, 150.0] {
            assert_eq!(factor(1.1, celsius, celsius).to_bits(), 1.0_f64.to_bits());
            assert_eq!(factor(0.0, 40.0, celsius).to_bits(), 1.0_f64.to_bits());
        }
    }

    #[test]
    fn what_no_flash_bears_is_refused_by_its_key() {
        let key = |law: Result<Arrhenius, ParameterError>| law.expect_err("refused").key;
        assert_eq!(key(Arrhenius::new(-0.1, 40.0)), "activation_energy");
        assert_eq!(key(Arrhenius::new(2.1, 40.0)), "activation_energy");
        assert_eq!(key(Arrhenius::new(f64::NAN, 40.0)), "activation_energy");
        assert_eq!(key(Arrhenius::new(1.1, 313.15)), "reference");
        let law = Arrhenius::new(1.1, 40.0).expect("a law");
        for celsius in [-55.1, 150.5, f64::NAN, f64::INFINITY] {
            assert_eq!(law.acceleration("running", celsius).expect_err("refused").key, "running");
        }
    }

    proptest! {
        /// There and back is where one was; by way of a third temperature it is the product.
        #[test]
        fn factors_multiply(a in -55.0..150.0_f64, b in -55.0..150.0_f64, c in -55.0..150.0_f64, energy in 0.0..2.0_f64) {
            let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
            prop_assert!(near(factor(energy, a, b) * factor(energy, b, a), 1.0));
            prop_assert!(near(factor(energy, a, b) * factor(energy, b, c), factor(energy, a, c)));
            prop_assert!((factor(energy, a, b) >= 1.0) == (b >= a || energy == 0.0) || (factor(energy, a, b) - 1.0).abs() < 1e-9);
        }
    }
}
