//! Exact division of `u32` by a constant known only at run time.

/// Divides any `u32` by a fixed divisor with one multiplication.
///
/// With `magic = ceil(2^64 / d)` the quotient `(magic * n) >> 64` is exact for every 32-bit `n` and `d`
/// (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
#[derive(Clone, Copy, Debug)]
pub struct FastDiv {
    divisor: u32,
    /// `ceil(2^64 / divisor)`; 0 stands for the 2^64 of divisor 1.
    magic: u64,
}

impl FastDiv {
    /// # Panics
    /// When `divisor` is zero.
    #[must_use]
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "a divisor is positive");
        Self { divisor, magic: (1_u128 << 64).div_ceil(u128::from(divisor)) as u64 }
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
        if self.magic == 0 {
            return n;
        }
        ((u128::from(self.magic) * u128::from(n)) >> 64) as u32
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
