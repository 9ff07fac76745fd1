//! A random order of `0..n` that nobody has to hold in memory: a bijection that is computed number by number.

use crate::RandomStream;

/// Rounds of mixing; after two, neighbours still lie at distances that are too much alike.
const ROUNDS: usize = 4;

/// The numbers `0..n`, each once, in an order drawn from a stream.
///
/// A round multiplies by an odd number, adds one, and folds the upper half of the bits into the lower half: each of the three can be
/// undone modulo a power of two, so all numbers below it come, and those below `n` are kept. Of all orders there are, only
/// some can be drawn; they are as good as any where neighbours must not lie together.
#[derive(Clone, Debug)]
pub struct RandomOrder {
    n: u64,
    mask: u64,
    fold: u32,
    keys: [(u64, u64); ROUNDS],
    /// The next number to be mixed, and how many of those below `n` are still to come.
    next: u64,
    left: u64,
}

impl RandomOrder {
    /// An order of `0..n`.
    #[must_use]
    pub fn new(n: u32, stream: &mut RandomStream) -> Self {
        let bits = u64::from(n).next_power_of_two().trailing_zeros().max(2);
        let keys = std::array::from_fn(|_| (stream.bits() | 1, stream.bits()));
        let n = u64::from(n);
        Self { n, mask: (1 << bits) - 1, fold: bits.div_ceil(2), keys, next: 0, left: n }
    }

    #[inline]
    fn mixed(&self, number: u64) -> u64 {
        self.keys.iter().fold(number, |number, (factor, addend)| {
            let product = number.wrapping_mul(*factor).wrapping_add(*addend) & self.mask;
            product ^ (product >> self.fold)
        })
    }
}

impl Iterator for RandomOrder {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        loop {
            let number = self.mixed(self.next);
            self.next += 1;
            if number < self.n {
                return Some(number as u32);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for RandomOrder {}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(n: u32, seed: u64) -> RandomOrder {
        RandomOrder::new(n, &mut RandomStream::new(seed, "kernel", "order"))
    }

    #[test]
    fn every_number_comes_once() {
        for n in (0..70).chain([1 << 12, (1 << 12) + 1, 9_973, 100_000]) {
            let mut all: Vec<u32> = order(n, 7).collect();
            assert_eq!(all.len(), n as usize);
            all.sort_unstable();
            assert!((0..n).eq(all), "of {n}");
        }
    }

    /// Chi-square of counts that should be alike, less its mean, in standard deviations.
    fn excess(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        let degrees = counts.len() as f64 - 1.0;
        (chi_square - degrees) / libm::sqrt(2.0 * degrees)
    }

    #[test]
    fn neighbours_lie_anywhere() {
        const N: u32 = 1 << 16;
        const PARTS: u32 = 16;
        let part = |number: u32| (number * PARTS / N) as usize;
        for n in [N, N - 1_000, 50_000] {
            for seed in 0..20 {
                let all: Vec<u32> = order(n, seed).collect();
                let mut places = vec![0_u32; n as usize];
                (0..).zip(&all).for_each(|(place, &number)| places[number as usize] = place);
                // How two that come one after another lie, and how the places of two neighbours do, with some way between.
                for way in [1, 2, 4, 16, 1_000] {
                    for numbers in [&all, &places] {
                        let mut counts = vec![0; (PARTS * PARTS) as usize];
                        for pair in numbers.windows(way + 1) {
                            counts[part(pair[0]) * PARTS as usize + part(pair[way])] += 1;
                        }
                        // The last parts of fewer numbers hold less: look where both are among the first three quarters.
                        let full = 3 * PARTS as usize / 4;
                        let kept: Vec<u32> = (0..counts.len())
                            .filter(|at| at / (PARTS as usize) < full && at % (PARTS as usize) < full)
                            .map(|at| counts[at])
                            .collect();
                        assert!(excess(&kept).abs() < 6.0, "of {n}, seed {seed}, way {way}: {}", excess(&kept));
                    }
                }
            }
        }
    }

    #[test]
    fn seeds_give_orders_of_their_own() {
        let first = |seed| order(1_000, seed).take(10).collect::<Vec<_>>();
        assert_ne!(first(1), first(2));
        assert_eq!(first(1), first(1));
    }
}
