//! Exact division of `u32` by a constant known only at run time.

/// Divides any `u32` by a fixed divisor with one multiplication.
///
/// With `magic = floor((2^64 - 1) / d)` the quotient `(magic * (n + 1)) >> 64` is exact for every 32-bit `n` and `d`, 1 among
/// them: `magic * d` is `2^64 - e` with `1 <= e <= d`, so that `magic * (n + 1) / 2^64` is less than `(n + 1) / d` by something,
/// and by no more than `1 / d` (Robison, "N-bit unsigned division via N-bit multiply-add", 2005).
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    divisor: u32,
    /// `floor((2^64 - 1) / divisor)`.
    magic: u64,
}

impl FastDiv {
    /// # Panics
    /// When `divisor` is zero.
    #[must_use]
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "a divisor is positive");
        Self { divisor, magic: u64::MAX / u64::from(divisor) }
    }

    /// The divisor.
    #[inline]
    #[must_use]
    pub fn divisor(self) -> u32 {
        self.divisor
    }

    /// `n / divisor`.
    #[inline]
    #[must_use]
    pub fn quotient(self, n: u32) -> u32 {
        ((u128::from(self.magic) * u128::from(u64::from(n) + 1)) >> 64) as u32
    }

    /// `(n / divisor, n % divisor)`.
    #[inline]
    #[must_use]
    pub fn div_rem(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n);
        (quotient, n - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_equals_the_hardware_division_at_the_edges() {
        for divisor in [1, 2, 3, 5, 7, 384, 576, 4096, 65_535, 1 << 31, u32::MAX] {
            let fast = FastDiv::new(divisor);
            for base in [0, 1, divisor - 1, divisor, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
                for n in [base, base.wrapping_add(1), base.wrapping_sub(1)] {
                    assert_eq!(fast.div_rem(n), (n / divisor, n % divisor), "{n} / {divisor}");
                }
            }
        }
    }
}
