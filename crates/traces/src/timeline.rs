//! From a trace's time stamps to simulated time: from zero on, scaled, pass after pass.

use ninescope_kernel::Ns;
use ninescope_model::TIME_MAX;

/// The time of one reader's requests over all passes through its trace.
pub(super) struct Timeline {
    scale: Scale,
    /// The first stamp of the pass [ns].
    first_ns: Option<u64>,
    /// From the pass's first stamp to its latest [ns].
    latest_ns: u64,
    /// Requests of the pass.
    count: u64,
    /// Where the pass begins [ns, not scaled].
    pass_start_ns: u64,
}

impl Timeline {
    pub fn new(time_scale: f64) -> Self {
        Self { scale: Scale::new(time_scale), first_ns: None, latest_ns: 0, count: 0, pass_start_ns: 0 }
    }

    /// The simulated time of the request stamped `stamp_ns`; stamps do not decrease within a pass.
    /// `None` when it lies beyond what can be simulated.
    pub fn place(&mut self, stamp_ns: u64) -> Option<Ns> {
        let first_ns = *self.first_ns.get_or_insert(stamp_ns);
        self.latest_ns = stamp_ns - first_ns;
        self.count += 1;
        self.scale.apply(self.pass_start_ns.checked_add(self.latest_ns)?).map(Ns).filter(|&time| time <= TIME_MAX)
    }

    /// Starts the next pass, one mean gap after the latest request. `None` when its time overflows.
    pub fn start_pass(&mut self) -> Option<()> {
        let gaps = self.count.saturating_sub(1).max(1);
        let mean_gap_ns = self.latest_ns / gaps + u64::from(self.latest_ns % gaps >= gaps.div_ceil(2));
        self.pass_start_ns = self.pass_start_ns.checked_add(self.latest_ns)?.checked_add(mean_gap_ns)?;
        self.first_ns = None;
        self.latest_ns = 0;
        self.count = 0;
        Some(())
    }
}

/// A positive factor as an integer and a power of two, so that scaling is exact and rounds once.
#[derive(Clone, Copy)]
struct Scale {
    mantissa: u64,
    exponent: i32,
}

impl Scale {
    /// `factor` is positive and finite.
    fn new(factor: f64) -> Self {
        let bits = factor.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        // A subnormal number has no hidden bit and the exponent of the smallest normal one.
        let (mantissa, exponent) =
            if bits >> 52 == 0 { (fraction, 1) } else { (fraction | 1 << 52, (bits >> 52) as i32) };
        let zeros = mantissa.trailing_zeros().min(63);
        Self { mantissa: mantissa >> zeros, exponent: exponent - 1075 + zeros.cast_signed() }
    }

    /// `value` times the factor, rounded to the nearest integer, halves up. `None` when it overflows.
    fn apply(self, value: u64) -> Option<u64> {
        if self.mantissa == 1 && self.exponent == 0 {
            return Some(value);
        }
        let product = u128::from(value) * u128::from(self.mantissa);
        if self.exponent >= 0 {
            let shift = self.exponent as u32;
            return if product == 0 {
                Some(0)
            } else if product.leading_zeros() > shift {
                u64::try_from(product << shift).ok()
            } else {
                None
            };
        }
        // The product has at most 117 bits.
        let shift = self.exponent.unsigned_abs().min(119);
        u64::try_from((product + (1 << (shift - 1))) >> shift).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_follow_each_other_at_the_mean_gap() {
        let mut timeline = Timeline::new(1.0);
        assert_eq!([100, 110, 130].map(|stamp| timeline.place(stamp)), [0, 10, 30].map(|ns| Some(Ns(ns))));
        timeline.start_pass().expect("fits");
        assert_eq!([100, 130].map(|stamp| timeline.place(stamp)), [45, 75].map(|ns| Some(Ns(ns))));
        assert_eq!(Timeline::new(2.0).start_pass(), Some(()), "an empty pass takes no time");
    }

    #[test]
    fn scaling_rounds_once_and_exactly() {
        let scaled = |factor, value| Scale::new(factor).apply(value);
        assert_eq!(scaled(0.5, 3), Some(2));
        assert_eq!(scaled(0.5, 1), Some(1));
        assert_eq!(scaled(2.5, 10), Some(25));
        assert_eq!(scaled(1.0, u64::MAX), Some(u64::MAX));
        assert_eq!(scaled(3.0, (1 << 60) + 1), Some((3 << 60) + 3), "beyond the precision of a float");
        assert_eq!(scaled(2.0, u64::MAX), None);
        assert_eq!((scaled(1e300, 1), scaled(1e300, 0)), (None, Some(0)));
        assert_eq!((scaled(5e-324, u64::MAX), scaled(1e-9, 1_500_000_000)), (Some(0), Some(2)));
    }
}
