//! How many program/erase cycles a block bears: a law from which each block draws its own number when the drive is made.

use ninescope_kernel::RandomStream;
use ninescope_model::policy_registry;

/// The most cycles that a law may be about: more is a slip.
const CYCLES_MAX: f64 = 1e7;

/// What a law of endurance can be told.
pub trait WearOutParameters {
    /// The cycles of a block, whose numbers come from a stream of the drive [cycles].
    fn draw(&self, stream: &mut RandomStream) -> f64;

    /// The chance that a block bears no more than so many cycles, by the law itself.
    fn share_within(&self, cycles: f64) -> f64;

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)>;
}

policy_registry! {
    /// How many program/erase cycles a block bears.
    WearOutConfig as dyn WearOutParameters;
    "fixed" => fixed::Fixed, "every block the same number";
    "normal" => normal::Normal, "a normal law about a mean";
    "lognormal" => lognormal::Lognormal, "a lognormal law about a median";
    "weibull" => weibull::Weibull, "a Weibull law: the weakest of many parts fails";
}

/// A standard normal number, by Box and Muller, of whose two numbers one is taken, so that a stream has no state beside its own.
fn standard_normal(stream: &mut RandomStream) -> f64 {
    let (radius, angle) = (libm::sqrt(-2.0 * libm::log(1.0 - stream.unit())), std::f64::consts::TAU * stream.unit());
    radius * libm::cos(angle)
}

/// The share of a standard normal law that is no more than `x`.
fn standard_normal_within(x: f64) -> f64 {
    libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// Cycles that a law is about have to be some, and no slip.
fn problem_of_cycles(key: &'static str, cycles: f64) -> Option<(&'static str, String)> {
    (!(1.0..=CYCLES_MAX).contains(&cycles)).then(|| (key, format!("is {cycles}, it must be 1 to {CYCLES_MAX}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_distributed_as_each_law_says() {
        let (draws, cycles) = (40_000, [2_500.0, 2_800.0, 3_000.0, 3_100.0, 3_400.0]);
        for law in WearOutConfig::all() {
            let mut stream = RandomStream::new(5, "test", law.name());
            let drawn: Vec<f64> = (0..draws).map(|_| law.chosen().draw(&mut stream)).collect();
            for bound in cycles {
                let share = drawn.iter().filter(|&&cycles| cycles <= bound).count() as f64 / f64::from(draws);
                let expected = law.chosen().share_within(bound);
                // Five standard deviations of a binomial share.
                let off = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                assert!((share - expected).abs() <= off + 1e-9, "{}: {share} within {bound}, {expected}", law.name());
            }
        }
    }

    /// By hand: Phi(1) = 0.841345, Phi(-2) = 0.022750, 1 - exp(-1) = 0.632121, 1 - exp(-(1/2)^2) = 0.221199.
    #[test]
    fn each_law_has_the_shares_done_by_hand() {
        let near = |share: f64, expected: f64| assert!((share - expected).abs() < 1e-6, "{share} for {expected}");
        let normal = normal::Normal { mean: 3_000.0, deviation: 300.0 };
        near(normal.share_within(3_300.0), 0.841_345);
        near(normal.share_within(2_400.0), 0.022_750);
        let lognormal = lognormal::Lognormal { median: 1_000.0, sigma: 0.5 };
        near(lognormal.share_within(1_000.0 * libm::exp(0.5)), 0.841_345);
        let weibull = weibull::Weibull { scale: 1_000.0, shape: 2.0 };
        near(weibull.share_within(1_000.0), 0.632_121);
        near(weibull.share_within(500.0), 0.221_199);
        near(fixed::Fixed { cycles: 10.0 }.share_within(9.0), 0.0);
        near(fixed::Fixed { cycles: 10.0 }.share_within(10.0), 1.0);
    }

    #[test]
    fn parameters_that_make_no_sense_are_named() {
        let key = |law: &dyn WearOutParameters| law.problem().map(|(key, _)| key);
        assert!(WearOutConfig::all().iter().all(|law| law.chosen().problem().is_none()));
        assert_eq!(key(&fixed::Fixed { cycles: 0.0 }), Some("cycles"));
        assert_eq!(key(&normal::Normal { mean: f64::NAN, deviation: 1.0 }), Some("mean"));
        assert_eq!(key(&normal::Normal { mean: 10.0, deviation: 11.0 }), Some("deviation"));
        assert_eq!(key(&lognormal::Lognormal { median: 10.0, sigma: -1.0 }), Some("sigma"));
        assert_eq!(key(&weibull::Weibull { scale: 1e9, shape: 1.0 }), Some("scale"));
        assert_eq!(key(&weibull::Weibull { scale: 10.0, shape: 0.0 }), Some("shape"));
    }
}
