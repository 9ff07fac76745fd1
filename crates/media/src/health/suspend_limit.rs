//! How many suspensions an erase bears, and what those beyond cost.
//!
//! SSR (Kim, Seo, Kim, JKICS 50(9), 2025), measured on 160 3D TLC chips: up to a number of suspensions in an erase
//! the bit errors after a year of retention do not grow; beyond it they grow, faster the more suspensions there
//! are; and the number is smaller the more P/E cycles a block has seen: 30 in a loop at 100 cycles, 10 at 1,000
//! (sections 3.2, 3.3, figure 7). **Inferred here**: that the number falls linearly in the logarithm of the cycles
//! in between, and the law of the growth, whose sign and trend alone are published.

/// So many suspensions per erase loop at so many P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WearPoint {
    /// P/E cycles [count].
    pub cycles: u32,
    /// Suspensions an erase loop bears [count].
    pub per_loop: u32,
}

/// How many suspensions a loop bears, by wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitByWear {
    young: WearPoint,
    worn: WearPoint,
}

/// What an erase bears, and what more does to its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuspendLimit {
    by_wear: LimitByWear,
    rber_factor: f64,
    rber_exponent: f64,
}

/// Why a limit makes no sense: the parameter at fault, and the rest of the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {problem}")]
pub struct LimitError {
    /// `young.cycles`, `worn.per_loop` and the like.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl LimitByWear {
    /// Up to `young.cycles` a loop bears `young.per_loop` suspensions, from `worn.cycles` on `worn.per_loop`.
    ///
    /// # Errors
    /// When a number is zero that must not be, or the two points are not in order.
    pub fn new(young: WearPoint, worn: WearPoint) -> Result<Self, LimitError> {
        for (parameter, value) in
            [("young.cycles", young.cycles), ("young.per_loop", young.per_loop), ("worn.per_loop", worn.per_loop)]
        {
            if value == 0 {
                return Err(LimitError { parameter, problem: "must not be zero" });
            }
        }
        if worn.cycles <= young.cycles {
            return Err(LimitError {
                parameter: "worn.cycles",
                problem: "must be more than young_cycles, those of a young block",
            });
        }
        if worn.per_loop > young.per_loop {
            return Err(LimitError {
                parameter: "worn.per_loop",
                problem: "must not be more than that of a young block",
            });
        }
        Ok(Self { young, worn })
    }

    /// Up to which wear a block is young, and what it bears then.
    pub fn young(&self) -> WearPoint {
        self.young
    }

    /// From which wear on a block is worn, and what it bears then.
    pub fn worn(&self) -> WearPoint {
        self.worn
    }

    /// Suspensions that one loop bears after `cycles` P/E cycles [count], at least one.
    pub fn per_loop(&self, cycles: u32) -> u32 {
        let cycles = cycles.clamp(self.young.cycles, self.worn.cycles);
        let logarithm = |value: u32| libm::log(f64::from(value));
        let span = logarithm(self.worn.cycles) - logarithm(self.young.cycles);
        let share = (logarithm(cycles) - logarithm(self.young.cycles)) / span;
        let number = f64::from(self.young.per_loop) * (1.0 - share) + f64::from(self.worn.per_loop) * share;
        // A hair above: at the ends the sum is exact but for rounding.
        libm::floor(number + 1e-9).max(1.0) as u32
    }
}

impl SuspendLimit {
    /// `s` suspensions beyond what an erase bears add `rber_factor * s ^ rber_exponent` to the raw bit error rate.
    ///
    /// # Errors
    /// When a constant of the law lies where it makes no sense.
    pub fn new(by_wear: LimitByWear, rber_factor: f64, rber_exponent: f64) -> Result<Self, LimitError> {
        if !(0.0..=1.0).contains(&rber_factor) {
            return Err(LimitError { parameter: "rber_factor", problem: "must be 0 to 1" });
        }
        if !(0.0..=10.0).contains(&rber_exponent) {
            return Err(LimitError { parameter: "rber_exponent", problem: "must be 0 to 10" });
        }
        Ok(Self { by_wear, rber_factor, rber_exponent })
    }

    /// Suspensions that an erase of `loops` loops had beyond what it bears after `cycles` P/E cycles [count].
    pub fn excess(&self, suspensions: u32, loops: u32, cycles: u32) -> u32 {
        suspensions.saturating_sub(loops.saturating_mul(self.by_wear.per_loop(cycles)))
    }

    /// What `excess` suspensions too many in one erase add to the raw bit error rate of the block.
    pub fn added_rber(&self, excess: u32) -> f64 {
        if excess == 0 { 0.0 } else { self.rber_factor * libm::pow(f64::from(excess), self.rber_exponent) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YOUNG: WearPoint = WearPoint { cycles: 100, per_loop: 30 };
    const WORN: WearPoint = WearPoint { cycles: 1_000, per_loop: 10 };

    fn limit(young: WearPoint, worn: WearPoint, factor: f64, exponent: f64) -> Result<SuspendLimit, LimitError> {
        SuspendLimit::new(LimitByWear::new(young, worn)?, factor, exponent)
    }

    #[test]
    fn an_erase_bears_the_published_numbers_at_both_ends() {
        let limit = LimitByWear::new(YOUNG, WORN).expect("published");
        // 30 - 20 log10(cycles / 100), floored; by hand at the ends and in the middle (log10 3.1623 = 0.5).
        for (cycles, number) in
            [(0, 30), (99, 30), (100, 30), (101, 29), (316, 20), (317, 19), (999, 10), (1_000, 10), (9_999, 10)]
        {
            assert_eq!(limit.per_loop(cycles), number, "{cycles} cycles");
        }
    }

    /// The three observations of figure 7, as properties.
    #[test]
    fn errors_grow_beyond_the_limit_ever_faster_and_sooner_in_worn_blocks() {
        let limit = limit(YOUNG, WORN, 1e-6, 2.0).expect("published");
        let added = |suspensions, cycles| limit.added_rber(limit.excess(suspensions, 1, cycles));
        assert!([0, 9, 10].into_iter().all(|suspensions| added(suspensions, 1_000).to_bits() == 0));
        // 1e-6 (s - 10)^2, by hand.
        assert!((added(11, 1_000) - 1e-6).abs() < 1e-18 && (added(100, 1_000) - 8.1e-3).abs() < 1e-12);
        for suspensions in 12..100 {
            let step = added(suspensions, 1_000) - added(suspensions - 1, 1_000);
            assert!(step > added(suspensions - 1, 1_000) - added(suspensions - 2, 1_000));
            assert!(added(suspensions, 1_000) > added(suspensions, 100));
        }
        assert_eq!(limit.excess(90, 3, 100), 0, "three loops bear three times as many");
    }

    #[test]
    fn limits_without_a_meaning_name_their_parameter() {
        let point = |cycles, per_loop| WearPoint { cycles, per_loop };
        for (young, worn, factor, exponent, parameter) in [
            (point(0, 30), WORN, 0.0, 1.0, "young.cycles"),
            (point(100, 0), WORN, 0.0, 1.0, "young.per_loop"),
            (YOUNG, point(1_000, 0), 0.0, 1.0, "worn.per_loop"),
            (YOUNG, point(100, 10), 0.0, 1.0, "worn.cycles"),
            (YOUNG, point(1_000, 31), 0.0, 1.0, "worn.per_loop"),
            (YOUNG, WORN, -1.0, 1.0, "rber_factor"),
            (YOUNG, WORN, f64::NAN, 1.0, "rber_factor"),
            (YOUNG, WORN, 0.1, f64::INFINITY, "rber_exponent"),
        ] {
            let error = limit(young, worn, factor, exponent).expect_err(parameter);
            assert_eq!(error.parameter, parameter);
        }
    }
}
