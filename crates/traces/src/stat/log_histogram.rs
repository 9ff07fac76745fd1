//! Counts of times in buckets of equal relative width: quantiles in constant memory.

use serde::Serialize;

/// Buckets per power of two: a bucket is at most 1/256 of its values wide.
const FRACTION_BITS: u32 = 8;
const FRACTIONS: usize = 1 << FRACTION_BITS;
const BUCKETS: usize = (u64::BITS - FRACTION_BITS + 1) as usize * FRACTIONS;

/// A histogram of times [ns] with weights.
pub(super) struct LogHistogram {
    counts: Vec<u64>,
    total: u64,
    min: u64,
    max: u64,
}

/// What a distribution of times is, in numbers [ns]. A quantile is the upper end of its bucket, less than 0.4 %
/// above the value; minimum and maximum are exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// Values.
    pub count: u64,
    /// The least.
    pub min_ns: u64,
    /// Half of the values are no greater.
    pub p50_ns: u64,
    /// Nine in ten are no greater.
    pub p90_ns: u64,
    /// 99 in a hundred are no greater.
    pub p99_ns: u64,
    /// The greatest.
    pub max_ns: u64,
    /// The distribution: (upper end of a stretch [ns], values up to there), a few points per power of two.
    pub cumulative: Vec<(u64, u64)>,
}

impl LogHistogram {
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, min: u64::MAX, max: 0 }
    }

    /// Counts `value` as often as `weight` says.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        self.counts[bucket(value)] += weight;
        self.total += weight;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    pub fn quantiles(&self) -> Quantiles {
        if self.total == 0 {
            return Quantiles::default();
        }
        Quantiles {
            count: self.total,
            min_ns: self.min,
            p50_ns: self.quantile(50),
            p90_ns: self.quantile(90),
            p99_ns: self.quantile(99),
            max_ns: self.max,
            cumulative: self.cumulative(),
        }
    }

    /// The least value that `percent` of the values do not exceed, up to the width of its bucket.
    fn quantile(&self, percent: u64) -> u64 {
        let wanted = (u128::from(self.total) * u128::from(percent)).div_ceil(100) as u64;
        let mut below = 0;
        let reached = self.counts.iter().position(|&count| {
            below += count;
            below >= wanted.max(1)
        });
        upper_end(reached.unwrap_or(BUCKETS - 1)).clamp(self.min, self.max)
    }

    fn cumulative(&self) -> Vec<(u64, u64)> {
        const JOINED: usize = FRACTIONS / 4;
        let mut points = Vec::new();
        let mut below = 0;
        for (index, joined) in self.counts.chunks(JOINED).enumerate() {
            let count: u64 = joined.iter().sum();
            if count > 0 {
                below += count;
                points.push((upper_end(index * JOINED + JOINED - 1).min(self.max), below));
            }
        }
        points
    }
}

/// The bucket of a value: values below 256 have one each.
#[inline]
fn bucket(value: u64) -> usize {
    if value < FRACTIONS as u64 {
        return value as usize;
    }
    let shift = value.ilog2() - FRACTION_BITS;
    (shift as usize + 1) * FRACTIONS + (value >> shift) as usize - FRACTIONS
}

/// The greatest value of a bucket.
fn upper_end(bucket: usize) -> u64 {
    if bucket < FRACTIONS {
        return bucket as u64;
    }
    let shift = (bucket / FRACTIONS - 1) as u32;
    let next = (bucket % FRACTIONS + FRACTIONS + 1) as u128;
    ((next << shift) - 1) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(shifts in prop::collection::vec((any::<u64>(), 0_u32..64), 1..300)) {
            let mut values: Vec<u64> = shifts.into_iter().map(|(value, shift)| value >> shift).collect();
            let mut histogram = LogHistogram::new();
            for &value in &values {
                histogram.add(value, 1);
            }
            values.sort_unstable();
            let quantiles = histogram.quantiles();
            let found = [(50, quantiles.p50_ns), (90, quantiles.p90_ns), (99, quantiles.p99_ns)];
            for (percent, found) in found {
                let exact = values[(values.len() * percent).div_ceil(100) - 1];
                prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 / 256.0, "{found} for {exact}");
            }
            prop_assert_eq!((quantiles.min_ns, quantiles.max_ns), (values[0], values[values.len() - 1]));
            for (upper, count) in quantiles.cumulative {
                prop_assert_eq!(values.iter().filter(|&&value| value <= upper).count() as u64, count);
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_have_buckets() {
        assert_eq!((bucket(0), bucket(255), bucket(256), bucket(u64::MAX)), (0, 255, 256, BUCKETS - 1));
        assert_eq!((upper_end(255), upper_end(256), upper_end(BUCKETS - 1)), (255, 256, u64::MAX));
    }
}
