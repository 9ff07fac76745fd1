//! Named random streams and the few distributions the simulator draws from.
//!
//! A stream is keyed by (seed, component, purpose), so that a new draw in one component changes no
//! other component's numbers. The generator is named (xoshiro256++) and every function of a float
//! comes from `libm`, so that the same seed gives the same numbers on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};

/// A word with its bits mixed, each of which depends on all of `word`'s (the finalizer of splitmix64): a hash, and a
/// random number for whoever has no stream.
#[inline]
#[must_use]
pub fn mixed(word: u64) -> u64 {
    let mut mixed = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// How likely something is that is drawn for a number and not from a stream: whoever asks finds the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// It never is.
    pub const NEVER: Self = Self(0);

    /// It is for this share of all numbers, from 0 to 1.
    #[must_use]
    pub fn of(share: f64) -> Self {
        Self((share * 4_294_967_296.0) as u64)
    }

    /// Whether it is so for a number.
    #[inline]
    #[must_use]
    pub fn falls_on(self, number: u64) -> bool {
        mixed(number) >> 32 < self.0
    }
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct RandomStream {
    generator: Xoshiro256PlusPlus,
}

impl RandomStream {
    /// The stream of `component` for `purpose` under the run's `seed`.
    #[must_use]
    pub fn new(seed: u64, component: &str, purpose: &str) -> Self {
        // FNV-1a over the names, with a separator that no name holds.
        let mut key = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
        for byte in component.bytes().chain([0]).chain(purpose.bytes()) {
            key = (key ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // The generator spreads the key over its state itself (SplitMix64).
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(key ^ seed.rotate_left(32)) }
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A uniform integer in `0..bound` (Lemire's multiply-shift with rejection: exactly uniform).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no member");
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A uniform float in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An exponential draw with the given mean, same unit as `mean`.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

/// What was drawn already is not drawn again.
impl Snapshot for RandomStream {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.bytes(&self.generator.state())
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let mut state = [0; 32];
        from.bytes(&mut state)?;
        // From nothing but zeros the generator would draw zeros for ever.
        must_hold(state.iter().any(|&byte| byte != 0), || "a random stream has no state".to_owned())?;
        self.generator = Xoshiro256PlusPlus::from_seed(state);
        Ok(())
    }
}

/// Draws ranks `0..n` with probability proportional to `1 / (rank + 1)^s`.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", 1996): exact for every `n` and `s >= 0`, constant memory.
#[derive(Clone, Debug)]
pub struct Zipf {
    n: u64,
    s: f64,
    integral_first: f64,
    integral_last: f64,
    shortcut: f64,
}

impl Zipf {
    /// # Panics
    /// When `n` is zero or `s` is negative or not finite.
    #[must_use]
    pub fn new(n: u64, s: f64) -> Self {
        assert!(n > 0 && s >= 0.0 && s.is_finite(), "a Zipf law needs n > 0 and a finite s >= 0");
        let integral_first = Self::integral(s, 1.5) - 1.0;
        let integral_last = Self::integral(s, n as f64 + 0.5);
        let shortcut = 2.0 - Self::inverse_integral(s, Self::integral(s, 2.5) - Self::weight(s, 2.0));
        Self { n, s, integral_first, integral_last, shortcut }
    }

    fn weight(s: f64, x: f64) -> f64 {
        libm::exp(-s * libm::log(x))
    }

    /// The integral of `x^-s` up to a constant.
    fn integral(s: f64, x: f64) -> f64 {
        let log_x = libm::log(x);
        let exponent = (1.0 - s) * log_x;
        if exponent.abs() > 1e-8 { libm::expm1(exponent) / exponent * log_x } else { log_x * (1.0 + exponent / 2.0) }
    }

    fn inverse_integral(s: f64, y: f64) -> f64 {
        let t = (y * (1.0 - s)).max(-1.0);
        let log_x = if t.abs() > 1e-8 { libm::log1p(t) / t * y } else { y * (1.0 - t / 2.0) };
        libm::exp(log_x)
    }

    /// The next rank, 0 the most popular.
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        loop {
            let u = self.integral_last + stream.unit() * (self.integral_first - self.integral_last);
            let x = Self::inverse_integral(self.s, u);
            let k = libm::floor(x + 0.5).clamp(1.0, self.n as f64);
            if k - x <= self.shortcut || u >= Self::integral(self.s, k + 0.5) - Self::weight(self.s, k) {
                return k as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_component_and_purpose() {
        let first = |seed, component, purpose| RandomStream::new(seed, component, purpose).bits();
        let base = first(1, "gc", "victim");
        assert_eq!(base, first(1, "gc", "victim"));
        for other in [first(2, "gc", "victim"), first(1, "gcv", "ictim"), first(1, "gc", "wear")] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn bounded_draws_are_uniform() {
        let mut stream = RandomStream::new(7, "test", "below");
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[stream.below(10) as usize] += 1);
        // Chi-square with 9 degrees of freedom: 33.7 is the 99.99 % quantile.
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 1e4).powi(2) / 1e4).sum();
        assert!(chi_square < 33.7, "chi-square {chi_square}");
    }

    #[test]
    fn exponential_draws_have_the_mean_and_the_tail() {
        let mut stream = RandomStream::new(7, "test", "exponential");
        let draws: Vec<f64> = (0..200_000).map(|_| stream.exponential(3.0)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let beyond = draws.iter().filter(|&&x| x > 9.0).count() as f64 / draws.len() as f64;
        assert!((mean - 3.0).abs() < 0.03, "mean {mean}");
        assert!((beyond - (-3.0_f64).exp_m1() - 1.0).abs() < 0.002, "P(x > 3 mean) = {beyond}");
    }

    #[test]
    fn zipf_ranks_follow_the_law() {
        for s in [0.0, 0.6, 1.0, 1.2] {
            let zipf = Zipf::new(1000, s);
            let mut stream = RandomStream::new(7, "test", "zipf");
            let draws = 300_000;
            let mut counts = vec![0_u32; 1000];
            (0..draws).for_each(|_| counts[zipf.draw(&mut stream) as usize] += 1);
            let weights: Vec<f64> = (1..=1000).map(|rank| libm::pow(f64::from(rank), -s)).collect();
            let norm: f64 = weights.iter().sum();
            // 999 degrees of freedom: mean 999, standard deviation 44.7; the limit is over 5 of them.
            let chi_square: f64 = weights
                .iter()
                .zip(&counts)
                .map(|(weight, &count)| {
                    let expected = weight / norm * f64::from(draws);
                    (f64::from(count) - expected).powi(2) / expected
                })
                .sum();
            assert!(chi_square < 1230.0, "s = {s}: chi-square {chi_square}");
        }
    }
}
