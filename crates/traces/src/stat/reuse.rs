//! The miss ratio of an LRU cache over its size, from stack distances.

use serde::Serialize;

use ninescope_model::PAGE_BYTES;

/// Sizes are 1, 2, 3 pages, then four per power of two.
const CLASSES: usize = 3 + 4 * 62;

/// Counts of accesses by the least cache that would have held the page.
pub(super) struct ReuseCounts {
    /// Accesses that hit from this class's size on.
    hits_from: [u64; CLASSES],
    /// First accesses: no cache holds the page.
    cold: u64,
}

/// How an LRU cache of 4 KiB pages would do, for all reads and writes, filled with every page it misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReuseCurve {
    /// Page accesses.
    pub accesses: u64,
    /// Share of them that are the first to their page: what the largest cache misses.
    pub cold_share: f64,
    /// (cache size [bytes], miss ratio), up to the size beyond which no more is gained.
    pub miss_ratio: Vec<(u64, f64)>,
}

impl ReuseCounts {
    pub fn new() -> Self {
        Self { hits_from: [0; CLASSES], cold: 0 }
    }

    /// Counts an access with `distance` others since the last one to its page, or a first one.
    #[inline]
    pub fn add(&mut self, distance: Option<u64>, weight: u64) {
        match distance {
            Some(distance) => self.hits_from[class_that_holds(distance)] += weight,
            None => self.cold += weight,
        }
    }

    /// The curve of `accesses` in all. Where the counts are those of a sample, its misses are set against the true
    /// number of accesses: what the sample has too many or too few of are hits of the hottest pages (the
    /// correction "SHARDS-adj").
    pub fn curve(&self, accesses: u64) -> ReuseCurve {
        let last = self.hits_from.iter().rposition(|&hits| hits > 0).map_or(1, |last| last + 1);
        let mut misses = self.cold + self.hits_from.iter().sum::<u64>();
        let ratio = |misses: u64| if accesses == 0 { 0.0 } else { (misses as f64 / accesses as f64).min(1.0) };
        let point = |class: usize| {
            misses -= self.hits_from[class];
            (size_of(class) * PAGE_BYTES, ratio(misses))
        };
        ReuseCurve { accesses, cold_share: ratio(self.cold), miss_ratio: (0..last).map(point).collect() }
    }
}

/// Pages of a class.
fn size_of(class: usize) -> u64 {
    let above = class.saturating_sub(3);
    if class < 3 { class as u64 + 1 } else { (4 + above as u64 % 4) << (above / 4) }
}

/// The least class of more than `distance` pages.
#[inline]
fn class_that_holds(distance: u64) -> usize {
    if distance <= 3 {
        return distance as usize;
    }
    let shift = distance.ilog2() - 2;
    (shift * 4) as usize + (distance >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_least_that_hold() {
        let sizes: Vec<u64> = (0..14).map(size_of).collect();
        assert_eq!(sizes, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]);
        for distance in (0..5000).chain([1 << 40, (1 << 40) - 1, (1 << 52) + 12_345]) {
            let class = class_that_holds(distance);
            assert!(size_of(class) > distance && (class == 0 || size_of(class - 1) <= distance), "{distance}");
        }
    }

    #[test]
    fn a_curve_falls_to_the_cold_misses() {
        let mut counts = ReuseCounts::new();
        for distance in [None, None, Some(1), Some(0), Some(9)] {
            counts.add(distance, 1);
        }
        let curve = counts.curve(5);
        assert_eq!((curve.cold_share, curve.miss_ratio.len()), (0.4, 9));
        assert_eq!(curve.miss_ratio[..3], [(4096, 0.8), (8192, 0.6), (12_288, 0.6)]);
        assert_eq!(curve.miss_ratio[8], (40_960, 0.4));
        assert_eq!(ReuseCounts::new().curve(0).miss_ratio, [(4096, 0.0)]);
    }
}
