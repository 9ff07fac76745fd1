//! How wear is spread over the sectors or blocks of a medium.

use serde::Serialize;

/// Counts of wear over all units of a medium. Percentiles are exact: the smallest count that so many percent of the
/// units do not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Of the least worn unit [count].
    pub min: u32,
    /// Of all units [count].
    pub mean: f64,
    /// Of the unit in the middle [count].
    pub p50: u32,
    /// [count].
    pub p90: u32,
    /// [count].
    pub p99: u32,
    /// Of the most worn unit [count].
    pub max: u32,
    /// How uneven it is: 1 is level; none where nothing is worn.
    pub max_over_mean: Option<f64>,
}

impl Distribution {
    /// The distribution of `values`, which are walked over several times instead of being copied: memory may have
    /// billions of sectors.
    pub fn of(values: &(impl Iterator<Item = u32> + Clone)) -> Self {
        let (mut units, mut sum, mut min, mut max) = (0_u64, 0_u64, u32::MAX, 0);
        for value in values.clone() {
            units += 1;
            sum += u64::from(value);
            min = min.min(value);
            max = max.max(value);
        }
        if units == 0 {
            return Self::default();
        }
        let percentile = |percent: u64| ranked(values.clone(), (units * percent).div_ceil(100).max(1));
        let mean = sum as f64 / units as f64;
        Self {
            min,
            mean,
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max,
            max_over_mean: (sum > 0).then(|| f64::from(max) / mean),
        }
    }
}

/// The value of rank `rank`, from 1, in ascending order: first its upper half, then its lower one.
fn ranked(values: impl Iterator<Item = u32> + Clone, rank: u64) -> u32 {
    let (upper, within) = bucket_of_rank(values.clone().map(|value| value >> 16), rank);
    let lower = values.filter(|value| value >> 16 == upper).map(|value| value & 0xFFFF);
    upper << 16 | bucket_of_rank(lower, within).0
}

/// The number below 2^16 that holds a rank, and the rank among those equal to it.
fn bucket_of_rank(values: impl Iterator<Item = u32>, rank: u64) -> (u32, u64) {
    let mut counts = vec![0_u64; 1 << 16];
    values.for_each(|value| counts[value as usize] += 1);
    let mut left = rank;
    for (value, &count) in (0..).zip(&counts) {
        if left <= count {
            return (value, left);
        }
        left -= count;
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u32]) -> Distribution {
        Distribution::of(&values.iter().copied())
    }

    #[test]
    fn a_spread_by_hand() {
        // Ten sectors: 0 0 1 1 1 2 2 3 10 20, in any order; 40 writes.
        let spread = of(&[20, 0, 1, 3, 1, 2, 10, 0, 1, 2]);
        assert_eq!((spread.min, spread.p50, spread.p90, spread.p99, spread.max), (0, 1, 10, 20, 20));
        assert_eq!((spread.mean, spread.max_over_mean), (4.0, Some(5.0)));
    }

    #[test]
    fn ranks_are_those_of_a_sorted_list_beyond_sixteen_bits_too() {
        let mut values: Vec<u32> =
            (0..997_u32).map(|value| value.wrapping_mul(2_654_435_761) >> (value % 17)).collect();
        let spread = of(&values);
        values.sort_unstable();
        let rank = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1];
        assert!(values[500] > 1 << 16, "the values need both halves");
        assert_eq!((spread.min, spread.max), (values[0], values[996]));
        assert_eq!((spread.p50, spread.p90, spread.p99), (rank(50), rank(90), rank(99)));
    }

    #[test]
    fn nothing_worn_and_nothing_there_have_no_ratio() {
        assert_eq!(of(&[0, 0]).max_over_mean, None);
        assert_eq!(of(&[]), Distribution::default());
        let one = of(&[7]);
        assert_eq!((one.min, one.p50, one.p99, one.max, one.mean), (7, 7, 7, 7, 7.0));
    }
}
