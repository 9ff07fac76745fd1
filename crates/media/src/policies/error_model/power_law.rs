//! Wear, retention and read disturb as sums of powers.
//!
//! Kim, Choi, Min, "Design Tradeoffs for SSD Reliability", FAST 2019: after `N` P/E cycles, `t` days of retention and
//! `r` reads since the erase
//! ```text
//! RBER = floor + cycles_factor N^cycles_exponent
//!      + retention_factor N^retention_cycles_exponent t^retention_exponent
//!      + reads_factor N^reads_cycles_exponent r^reads_exponent
//!      + suspensions_factor s^suspensions_exponent
//! ```
//! where the last summand, of `s` suspensions too many in the last erase, is not theirs: SSR published its
//! sign and trend alone, see [`SuspendLimit`]. The default constants are those of 2y-nm MLC flash in that model, as the
//! public source of SimpleSSD (`ftl/read_reclaim`) has them, with the time in days.
//!
//! In a block that was never erased the cycles are 0, and so is each summand with a power of them.
//!
//! [`SuspendLimit`]: crate::health::SuspendLimit

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorModel, ErrorModelParameters, Health, RBER_MAX};
use crate::ParameterError;
use crate::parameter::within;

/// Nanoseconds in the unit of retention.
const DAY: f64 = 86_400e9;
/// The highest exponent: more is a slip, and below it no product overflows.
const EXPONENT_MAX: f64 = 10.0;

/// Factors and exponents of the law. The defaults are those of 2y-nm MLC flash; those of suspensions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerLaw {
    /// What is left of a new block with fresh data [1/bit].
    #[schemars(range(min = 0, max = 0.5))]
    pub floor: f64,
    /// What a P/E cycle adds, were the exponent 1 [1/bit].
    #[schemars(range(min = 0, max = 1))]
    pub cycles_factor: f64,
    /// Power of the P/E cycles.
    #[schemars(range(min = 0, max = 10))]
    pub cycles_exponent: f64,
    /// What a P/E cycle and a day of retention add, were the exponents 1 [1/bit].
    #[schemars(range(min = 0, max = 1))]
    pub retention_factor: f64,
    /// Power of the P/E cycles in the summand of retention.
    #[schemars(range(min = 0, max = 10))]
    pub retention_cycles_exponent: f64,
    /// Power of the days since the data were written.
    #[schemars(range(min = 0, max = 10))]
    pub retention_exponent: f64,
    /// What a P/E cycle and a read of the block add, were the exponents 1 [1/bit].
    #[schemars(range(min = 0, max = 1))]
    pub reads_factor: f64,
    /// Power of the P/E cycles in the summand of reads.
    #[schemars(range(min = 0, max = 10))]
    pub reads_cycles_exponent: f64,
    /// Power of the reads since the erase.
    #[schemars(range(min = 0, max = 10))]
    pub reads_exponent: f64,
    /// What one suspension too many in the last erase adds; 0 where `nand.suspend_limit` has a law of its own [1/bit].
    #[schemars(range(min = 0, max = 1))]
    pub suspensions_factor: f64,
    /// Power of the suspensions too many.
    #[schemars(range(min = 0, max = 10))]
    pub suspensions_exponent: f64,
}

impl Default for PowerLaw {
    fn default() -> Self {
        Self {
            floor: 8.34e-5,
            cycles_factor: 3.30e-11,
            cycles_exponent: 1.71,
            retention_factor: 5.56e-19,
            retention_cycles_exponent: 2.49,
            retention_exponent: 3.33,
            reads_factor: 6.26e-13,
            reads_cycles_exponent: 1.76,
            reads_exponent: 0.47,
            suspensions_factor: 0.0,
            suspensions_exponent: 1.0,
        }
    }
}

impl ErrorModelParameters for PowerLaw {
    fn build(&self) -> Result<Box<dyn ErrorModel>, ParameterError> {
        Ok(Box::new(self.checked()?))
    }
}

impl PowerLaw {
    fn checked(self) -> Result<Self, ParameterError> {
        within("floor", self.floor, 0.0, RBER_MAX)?;
        for (key, factor) in [
            ("cycles_factor", self.cycles_factor),
            ("retention_factor", self.retention_factor),
            ("reads_factor", self.reads_factor),
            ("suspensions_factor", self.suspensions_factor),
        ] {
            within(key, factor, 0.0, 1.0)?;
        }
        for (key, exponent) in [
            ("cycles_exponent", self.cycles_exponent),
            ("retention_cycles_exponent", self.retention_cycles_exponent),
            ("retention_exponent", self.retention_exponent),
            ("reads_cycles_exponent", self.reads_cycles_exponent),
            ("reads_exponent", self.reads_exponent),
            ("suspensions_exponent", self.suspensions_exponent),
        ] {
            within(key, exponent, 0.0, EXPONENT_MAX)?;
        }
        Ok(self)
    }
}

/// `factor * value ^ exponent`, which is nothing without the value: no time has passed, nothing was read.
fn summand(factor: f64, value: f64, exponent: f64) -> f64 {
    if factor == 0.0 || value == 0.0 { 0.0 } else { factor * libm::pow(value, exponent) }
}

impl ErrorModel for PowerLaw {
    fn rber(&self, health: &Health) -> f64 {
        let cycles = f64::from(health.cycles);
        let with_cycles = |factor: f64, exponent: f64| factor * libm::pow(cycles, exponent);
        let days = health.retention.0 as f64 / DAY;
        let wear = summand(self.cycles_factor, cycles, self.cycles_exponent);
        let retention =
            summand(with_cycles(self.retention_factor, self.retention_cycles_exponent), days, self.retention_exponent);
        let reads = summand(
            with_cycles(self.reads_factor, self.reads_cycles_exponent),
            f64::from(health.reads),
            self.reads_exponent,
        );
        let suspensions = summand(self.suspensions_factor, f64::from(health.suspensions), self.suspensions_exponent);
        (self.floor + wear + retention + reads + suspensions).min(RBER_MAX)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::Ns;
    use proptest::prelude::*;

    use super::*;

    /// A law with numbers that can be done by hand.
    const BY_HAND: PowerLaw = PowerLaw {
        floor: 1e-6,
        cycles_factor: 1e-10,
        cycles_exponent: 2.0,
        retention_factor: 1e-9,
        retention_cycles_exponent: 1.0,
        retention_exponent: 0.5,
        reads_factor: 1e-12,
        reads_cycles_exponent: 1.0,
        reads_exponent: 1.0,
        suspensions_factor: 1e-6,
        suspensions_exponent: 2.0,
    };
    const DAY_NS: u64 = 86_400_000_000_000;

    fn health(cycles: u32, days: u64, reads: u32, suspensions: u32) -> Health {
        Health { cycles, retention: Ns(days * DAY_NS), reads, suspensions, verify_cycles: 0 }
    }

    #[test]
    fn each_summand_has_the_value_done_by_hand() {
        for (health, expected) in [
            (health(0, 0, 0, 0), 1e-6),
            // No cycle: no summand with a power of cycles.
            (health(0, 100, 100, 0), 1e-6),
            // 1e-10 x 100^2 = 1e-6.
            (health(100, 0, 0, 0), 2e-6),
            // + 1e-9 x 100 x sqrt(16) = 4e-7.
            (health(100, 16, 0, 0), 2.4e-6),
            // + 1e-12 x 100 x 5000 = 5e-7.
            (health(100, 16, 5_000, 0), 2.9e-6),
            // + 1e-6 x 3^2 = 9e-6.
            (health(100, 16, 5_000, 3), 1.19e-5),
        ] {
            let rber = BY_HAND.rber(&health);
            assert!((rber / expected - 1.0).abs() < 1e-12, "{health:?}: {rber} for {expected}");
        }
    }

    /// 2y-nm MLC at 3,000 cycles: 8.34e-5 + 3.30e-11 x 3000^1.71 = 1.13e-4 when fresh, and after 90 days
    /// 5.56e-19 x 3000^2.49 x 90^3.33 more, 8.1e-4 (computed apart, with logarithms).
    #[test]
    fn the_default_flash_is_worn_and_old_as_its_constants_say() {
        let law = PowerLaw::default().checked().expect("published");
        let by_logarithms = |factor: f64, powers: &[(f64, f64)]| {
            let sum: f64 = powers.iter().map(|(value, exponent)| exponent * libm::log(*value)).sum();
            libm::exp(libm::log(factor) + sum)
        };
        let fresh = 8.34e-5 + by_logarithms(3.30e-11, &[(3000.0, 1.71)]);
        assert!((law.rber(&health(3000, 0, 0, 0)) / fresh - 1.0).abs() < 1e-12);
        assert!((1.1e-4..1.2e-4).contains(&fresh), "{fresh}");
        let old = fresh + by_logarithms(5.56e-19, &[(3000.0, 2.49), (90.0, 3.33)]);
        assert!((law.rber(&health(3000, 90, 0, 0)) / old - 1.0).abs() < 1e-12);
        let read = old + by_logarithms(6.26e-13, &[(3000.0, 1.76), (1e5, 0.47)]);
        assert!((law.rber(&health(3000, 90, 100_000, 0)) / read - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_health_is_worse_than_a_coin() {
        let ruined = Health { cycles: u32::MAX, retention: Ns::NEVER, reads: u32::MAX, ..health(0, 0, 0, u32::MAX) };
        assert_eq!(BY_HAND.rber(&ruined).to_bits(), RBER_MAX.to_bits());
        let steep = PowerLaw { cycles_exponent: 10.0, retention_exponent: 10.0, reads_exponent: 10.0, ..BY_HAND };
        assert_eq!(steep.rber(&ruined).to_bits(), RBER_MAX.to_bits());
    }

    #[test]
    fn constants_without_a_meaning_name_their_key() {
        let refused = |law: PowerLaw| law.checked().expect_err("refused").key;
        assert_eq!(refused(PowerLaw { floor: 0.51, ..BY_HAND }), "floor");
        assert_eq!(refused(PowerLaw { floor: f64::NAN, ..BY_HAND }), "floor");
        assert_eq!(refused(PowerLaw { cycles_factor: -1e-9, ..BY_HAND }), "cycles_factor");
        assert_eq!(refused(PowerLaw { retention_factor: f64::INFINITY, ..BY_HAND }), "retention_factor");
        assert_eq!(refused(PowerLaw { reads_factor: f64::NAN, ..BY_HAND }), "reads_factor");
        assert_eq!(refused(PowerLaw { suspensions_factor: 2.0, ..BY_HAND }), "suspensions_factor");
        assert_eq!(refused(PowerLaw { cycles_exponent: -1.0, ..BY_HAND }), "cycles_exponent");
        assert_eq!(refused(PowerLaw { retention_cycles_exponent: 11.0, ..BY_HAND }), "retention_cycles_exponent");
        assert_eq!(refused(PowerLaw { retention_exponent: f64::NAN, ..BY_HAND }), "retention_exponent");
        assert_eq!(refused(PowerLaw { reads_cycles_exponent: -0.1, ..BY_HAND }), "reads_cycles_exponent");
        assert_eq!(refused(PowerLaw { reads_exponent: 99.0, ..BY_HAND }), "reads_exponent");
        assert_eq!(refused(PowerLaw { suspensions_exponent: -2.0, ..BY_HAND }), "suspensions_exponent");
    }

    proptest! {
        /// Data written anew are as good as the block allows; an erase forgets reads; nothing else does.
        #[test]
        fn fresh_data_in_an_erased_block_have_its_wear_alone(
            cycles in 0..20_000_u32, days in 1..1_000_u64, reads in 1..1_000_000_u32, suspensions in 1..50_u32,
        ) {
            let old = health(cycles, days, reads, suspensions);
            let wear = BY_HAND.floor + BY_HAND.cycles_factor * f64::from(cycles) * f64::from(cycles);
            let anew = BY_HAND.rber(&health(cycles, 0, 0, 0));
            prop_assert!((anew / wear - 1.0).abs() < 1e-12);
            for less in [Health { retention: Ns::ZERO, ..old }, Health { reads: 0, ..old }] {
                prop_assert!(BY_HAND.rber(&less) <= BY_HAND.rber(&old));
            }
            if cycles > 0 {
                // Each input by itself makes it worse.
                for one in [
                    health(cycles + 1, 0, 0, 0), health(cycles, days, 0, 0),
                    health(cycles, 0, reads, 0), health(cycles, 0, 0, suspensions),
                ] {
                    prop_assert!(BY_HAND.rber(&one) > anew, "{one:?}");
                }
            }
        }
    }
}
