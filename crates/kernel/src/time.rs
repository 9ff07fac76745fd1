//! Simulated time in integer nanoseconds, and transfer rates that turn bytes into time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Ns(pub u64);

impl Ns {
    /// The beginning of a run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that can happen: "no wake-up".
    pub const NEVER: Self = Self(u64::MAX);

    /// The span from `earlier` to `self`, or zero where `earlier` lies later.
    #[inline]
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ns {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Ns {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Ns {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Ns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..=9_999 => return write!(formatter, "{} ns", self.0),
            10_000..=9_999_999 => (self.0 as f64 / 1e3, "us"),
            10_000_000..=9_999_999_999 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        write!(formatter, "{value:.3} {unit}")
    }
}

/// A transfer rate [bytes per second]. A rate of zero means "takes no time".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub u64);

impl Rate {
    /// The time one burst of `bytes` takes: rounded up once for the whole burst, never per unit,
    /// so that no rate makes a transfer free.
    #[inline]
    #[must_use]
    pub fn burst(self, bytes: u64) -> Ns {
        if self.0 == 0 {
            return Ns::ZERO;
        }
        match bytes.checked_mul(1_000_000_000) {
            Some(product) => Ns(product.div_ceil(self.0)),
            // More than 18 GB at once.
            None => Ns((u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.0)) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_rounded_up_once() {
        // 4096 B at 333 MB/s take 12 300.3 ns; per-byte rounding would give 4096 * 4 or 4096 * 3.
        assert_eq!(Rate(333_000_000).burst(4096), Ns(12_301));
        assert_eq!(Rate(1_000_000_000).burst(1), Ns(1));
        assert_eq!(Rate(4_000_000_000).burst(1), Ns(1));
        assert_eq!(Rate(0).burst(4096), Ns::ZERO);
        assert_eq!(Rate(3_000_000_000).burst(1 << 40), Ns(366_503_875_926), "1 TiB, 366503875925.3 ns");
    }

    #[test]
    fn a_span_prints_in_a_readable_unit() {
        assert_eq!(Ns(850).to_string(), "850 ns");
        assert_eq!(Ns(45_500).to_string(), "45.500 us");
    }
}
