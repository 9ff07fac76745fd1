//! A log-linear latency histogram: 128 buckets per octave, so that a value is known to 0.8 %.

/// Bits of mantissa a bucket keeps.
const MANTISSA_BITS: u32 = 7;
const BUCKETS_PER_OCTAVE: usize = 1 << MANTISSA_BITS;
/// Octaves above the linear start that are kept: up to 2^47 ns, 39 hours. Longer values share the last bucket.
const OCTAVES: usize = 40;
/// Buckets of a histogram.
pub const BUCKETS: usize = BUCKETS_PER_OCTAVE * (OCTAVES + 1);

/// Count, extremes, sum and sum of squares of values: all exact. Moments add.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    count: u64,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum: 0, squares: 0, min: u64::MAX, max: 0 }
    }
}

impl Moments {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value, 0 when there is none.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The largest value, 0 when there is none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean, 0 when there is no value.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The standard deviation of the sample (over the count less one, as in fio), 0 of fewer than two values.
    pub fn standard_deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let (count, sum) = (u128::from(self.count), self.sum);
        // In whole numbers while they suffice, so that nearly equal values of long latencies do not cancel.
        let exact = count.checked_mul(self.squares).and_then(|all| all.checked_sub(sum.checked_mul(sum)?));
        let spread = exact.map_or_else(
            || (self.squares as f64 - sum as f64 * (sum as f64 / count as f64)).max(0.0) * count as f64,
            |exact| exact as f64,
        );
        libm::sqrt(spread / (count as f64 * (count - 1) as f64))
    }
}

/// Counts of values by bucket, with their exact moments. Histograms add.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    moments: Moments,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], moments: Moments::default() }
    }
}

impl Histogram {
    /// The bucket of a value: linear below 128, then 128 buckets per octave.
    #[inline]
    pub fn bucket_of(value: u64) -> usize {
        if value < BUCKETS_PER_OCTAVE as u64 {
            return value as usize;
        }
        let octave = value.ilog2() - MANTISSA_BITS;
        let mantissa = (value >> octave) as usize - BUCKETS_PER_OCTAVE;
        (BUCKETS_PER_OCTAVE * (octave as usize + 1) + mantissa).min(BUCKETS - 1)
    }

    /// The largest value of a bucket.
    pub fn upper_bound(bucket: usize) -> u64 {
        if bucket < BUCKETS_PER_OCTAVE {
            return bucket as u64;
        }
        let octave = bucket / BUCKETS_PER_OCTAVE - 1;
        let mantissa = (bucket % BUCKETS_PER_OCTAVE) as u64;
        ((mantissa + BUCKETS_PER_OCTAVE as u64 + 1) << octave) - 1
    }

    /// Counts a value and returns its bucket.
    #[inline]
    pub fn record(&mut self, value: u64) -> usize {
        let bucket = Self::bucket_of(value);
        self.counts[bucket] += 1;
        self.moments.record(value);
        bucket
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.moments.merge(&other.moments);
    }

    /// Values by bucket.
    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Count, extremes, mean and deviation of the values.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// Sum of all values.
    pub fn sum(&self) -> u128 {
        self.moments.sum
    }

    /// The smallest value, 0 when there is none.
    pub fn min(&self) -> u64 {
        self.moments.min()
    }

    /// The largest value, 0 when there is none.
    pub fn max(&self) -> u64 {
        self.moments.max()
    }

    /// The mean, 0 when there is no value.
    pub fn mean(&self) -> f64 {
        self.moments.mean()
    }

    /// How many values the percentile's rank has: the smallest `r` with `r / count >= parts_per_billion / 1e9`.
    pub fn rank(&self, parts_per_billion: u64) -> u64 {
        (u128::from(self.count()) * u128::from(parts_per_billion)).div_ceil(1_000_000_000) as u64
    }

    /// The bucket that holds the value of rank `rank` (1 is the smallest value).
    pub fn bucket_at_rank(&self, rank: u64) -> usize {
        let mut seen = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) && count > 0 {
                return bucket;
            }
        }
        Self::bucket_of(self.max())
    }

    /// The percentile as the upper bound of its bucket, within the exact minimum and maximum; 0 when empty.
    pub fn percentile(&self, parts_per_billion: u64) -> u64 {
        if self.count() == 0 {
            return 0;
        }
        Self::upper_bound(self.bucket_at_rank(self.rank(parts_per_billion))).clamp(self.min(), self.max())
    }

    /// `(upper bound, count)` of each bucket that is not empty, ascending.
    pub fn nonempty(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bucket, &count)| (Self::upper_bound(bucket), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_the_sample_also_far_from_zero() {
        let deviation = |values: &[u64]| {
            let mut moments = Moments::default();
            for &value in values {
                moments.record(value);
            }
            moments.standard_deviation()
        };
        assert_eq!((deviation(&[]), deviation(&[7]), deviation(&[7, 7, 7])), (0.0, 0.0, 0.0));
        // Of 2, 4, 4, 4, 5, 5, 7, 9 the squares of the distances from 5 sum to 32.
        let near = deviation(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((near - libm::sqrt(32.0 / 7.0)).abs() < 1e-12, "{near}");
        let far = deviation(&[2, 4, 4, 4, 5, 5, 7, 9].map(|value| value + 1_000_000_000_000));
        assert!((far - near).abs() < 1e-9, "{far}");
    }

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        let mut previous = 0;
        for bucket in 1..BUCKETS {
            let upper = Histogram::upper_bound(bucket);
            assert_eq!(Histogram::bucket_of(previous + 1), bucket);
            assert_eq!(Histogram::bucket_of(upper), bucket);
            assert!((upper - previous) as f64 <= 0.008 * upper as f64 + 1.0);
            previous = upper;
        }
        assert_eq!(Histogram::bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_the_ranked_values_within_a_bucket() {
        let mut histogram = Histogram::default();
        for value in 1..=100_000_u64 {
            histogram.record(value);
        }
        for (parts_per_billion, exact) in [(500_000_000, 50_000), (990_000_000, 99_000), (999_990_000, 99_999)] {
            let measured = histogram.percentile(parts_per_billion);
            assert!(measured >= exact && measured as f64 <= exact as f64 * 1.008, "{measured} for {exact}");
        }
        assert_eq!((histogram.min(), histogram.max(), histogram.mean()), (1, 100_000, 50_000.5));
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut left, mut right, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for value in (0..5_000_u64).map(|i| i * i) {
            if value % 3 == 0 {
                left.record(value)
            } else {
                right.record(value)
            };
            both.record(value);
        }
        left.merge(&right);
        assert_eq!((left.count(), left.sum(), left.max()), (both.count(), both.sum(), both.max()));
        assert!(left.nonempty().eq(both.nonempty()));
    }
}
