//! How sure a percentile is: the run is cut into blocks of as many requests each, and percentiles of runs put
//! together from these blocks at random say how far it may be off.
//!
//! The slow requests of a drive come in bursts (all that one erase or one collection keeps waiting), so that single
//! requests are no independent samples and the usual interval of a percentile is far too narrow. Blocks much longer
//! than a burst are nearly independent: the block bootstrap (Künsch, "The jackknife and the bootstrap for general
//! stationary observations", Annals of Statistics 17(3), 1989), with blocks that do not overlap.

use ninescope_kernel::RandomStream;

use super::Histogram;
use super::histogram::BUCKETS;

/// The most blocks; when a run outgrows them, neighbours are merged and blocks are twice as long from then on.
const BLOCKS: usize = 64;
/// Requests of a block at first.
const FIRST_LENGTH: u64 = 1024;
/// Fewer closed blocks say nothing of chance.
const BLOCKS_MIN: usize = 8;
/// Runs put together for an interval.
const RESAMPLES: usize = 400;
/// Which of them, sorted, bound 95 %.
const LOW: usize = RESAMPLES / 40;
const HIGH: usize = RESAMPLES - 1 - LOW;

/// The latencies of a run by block. What a request costs is one comparison.
#[derive(Debug)]
pub struct Blocks {
    length: u64,
    /// Requests at which the open block ends.
    end: u64,
    closed: usize,
    /// Closed blocks, row by row.
    counts: Vec<u32>,
    /// The histogram when the open block began.
    before: Vec<u64>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            length: FIRST_LENGTH,
            end: FIRST_LENGTH,
            closed: 0,
            counts: vec![0; BLOCKS * BUCKETS],
            before: vec![0; BUCKETS],
        }
    }
}

impl Blocks {
    /// A value was recorded in the histogram of the run.
    #[inline]
    pub fn recorded(&mut self, histogram: &Histogram) {
        if histogram.count() == self.end {
            self.close(histogram);
        }
    }

    #[cold]
    fn close(&mut self, histogram: &Histogram) {
        if self.closed == BLOCKS {
            self.merge_neighbours();
            // The block that ends here is half of one now.
            self.end += self.length / 2;
            return;
        }
        let row = &mut self.counts[self.closed * BUCKETS..][..BUCKETS];
        for ((count, &now), before) in row.iter_mut().zip(histogram.counts()).zip(&mut self.before) {
            *count = u32::try_from(now - *before).unwrap_or(u32::MAX);
            *before = now;
        }
        self.closed += 1;
        self.end += self.length;
    }

    fn merge_neighbours(&mut self) {
        for pair in 0..BLOCKS / 2 {
            for bucket in 0..BUCKETS {
                let sum = self.counts[2 * pair * BUCKETS + bucket] + self.counts[(2 * pair + 1) * BUCKETS + bucket];
                self.counts[pair * BUCKETS + bucket] = sum;
            }
        }
        self.closed = BLOCKS / 2;
        self.length *= 2;
    }

    /// Whether there are so many that they say how sure a percentile is.
    pub fn are_enough(&self) -> bool {
        self.closed >= BLOCKS_MIN
    }

    /// The blocks with what is left of the run as `(bucket, count)` of buckets with requests: of a short run what is
    /// left is all. None where nothing was recorded.
    pub fn rows(&self, histogram: &Histogram) -> Vec<Vec<(usize, u64)>> {
        if histogram.count() == 0 {
            return Vec::new();
        }
        let closed = (0..self.closed).map(|block| {
            let row = &self.counts[block * BUCKETS..][..BUCKETS];
            row.iter().map(|&count| u64::from(count)).enumerate().filter(|&(_, count)| count > 0).collect()
        });
        let open = histogram.counts().iter().zip(&self.before).map(|(now, before)| now - before);
        closed.chain([open.enumerate().filter(|&(_, count)| count > 0).collect()]).collect()
    }
}

/// Where the percentiles `(parts per billion)` lie in 95 % of the runs put together from blocks, as buckets; empty
/// where there are no blocks.
pub fn bootstrap(rows: &[Vec<(usize, u64)>], parts_per_billion: &[u64]) -> Vec<(usize, usize)> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut used: Vec<usize> = rows.iter().flatten().map(|&(bucket, _)| bucket).collect();
    used.sort_unstable();
    used.dedup();
    let place = |bucket| used.binary_search(&bucket).unwrap_or_default();
    let compact: Vec<Vec<(usize, u64)>> =
        rows.iter().map(|row| row.iter().map(|&(bucket, count)| (place(bucket), count)).collect()).collect();
    let mut stream = RandomStream::new(0, "meter", "bootstrap");
    let mut found = vec![Vec::with_capacity(RESAMPLES); parts_per_billion.len()];
    let mut counts = vec![0_u64; used.len()];
    for _ in 0..RESAMPLES {
        counts.fill(0);
        for _ in 0..compact.len() {
            for &(place, count) in &compact[stream.below(compact.len() as u64) as usize] {
                counts[place] += count;
            }
        }
        let total: u64 = counts.iter().sum();
        for (found, &parts) in found.iter_mut().zip(parts_per_billion) {
            found.push(used[place_of_percentile(&counts, total, parts)]);
        }
    }
    let bounds = found.into_iter().map(|mut found| {
        found.sort_unstable();
        (found[LOW], found[HIGH])
    });
    bounds.collect()
}

/// From above, because the percentiles that matter lie there.
fn place_of_percentile(counts: &[u64], total: u64, parts_per_billion: u64) -> usize {
    let rank = (u128::from(total) * u128::from(parts_per_billion)).div_ceil(1_000_000_000) as u64;
    let mut at_or_below = total;
    for place in (0..counts.len()).rev() {
        at_or_below -= counts[place];
        if at_or_below < rank.max(1) {
            return place;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: impl Iterator<Item = u64>) -> (Histogram, Blocks) {
        let (mut histogram, mut blocks) = (Histogram::default(), Blocks::default());
        for value in values {
            histogram.record(value);
            blocks.recorded(&histogram);
        }
        (histogram, blocks)
    }

    #[test]
    fn blocks_hold_every_request_once_however_long_the_run() {
        for requests in [0_u64, 1, 1_023, 1_024, 5_000, 8 * 1_024, 65_536, 65_537, 300_000] {
            let (histogram, blocks) = recorded((0..requests).map(|index| index % 5_000));
            let rows = blocks.rows(&histogram);
            assert_eq!(blocks.are_enough(), requests >= 8 * 1_024, "{requests}");
            assert_eq!(rows.is_empty(), requests == 0);
            assert!(
                !blocks.are_enough() || rows.len() >= BLOCKS_MIN && rows.len() <= BLOCKS + 1,
                "{requests}: {}",
                rows.len()
            );
            let mut sum = vec![0; BUCKETS];
            rows.iter().flatten().for_each(|&(bucket, count)| sum[bucket] += count);
            assert_eq!(sum, histogram.counts(), "{requests}");
            let lengths: Vec<u64> = rows.iter().map(|row| row.iter().map(|&(_, count)| count).sum()).collect();
            let closed = &lengths[..rows.len().saturating_sub(1)];
            assert!(closed.windows(2).all(|pair| pair[0] == pair[1]), "{lengths:?}");
        }
    }

    /// The 95 % interval of a percentile of independent samples covers the true value in about 95 of 100 runs.
    #[test]
    fn intervals_cover_the_true_percentile_as_often_as_they_say() {
        let mut covered = [0; 2];
        for seed in 0..100 {
            let mut stream = RandomStream::new(seed, "tests", "values");
            let (histogram, blocks) = recorded((0..20_000).map(|_| stream.exponential(100_000.0) as u64));
            let intervals = bootstrap(&blocks.rows(&histogram), &[500_000_000, 990_000_000]);
            // An exponential law's percentile p is mean x -ln(1 - p).
            for (index, truth) in [69_315, 460_517].into_iter().enumerate() {
                let bucket = Histogram::bucket_of(truth);
                covered[index] += u32::from((intervals[index].0..=intervals[index].1).contains(&bucket));
            }
        }
        // 95 less three standard deviations (2.2 each), and a bucket's width makes them no narrower.
        assert!(covered.iter().all(|&count| count >= 88), "{covered:?} of 100");
    }

    #[test]
    fn bursts_make_an_interval_as_wide_as_they_are_rare() {
        // One request in a thousand takes 1 ms, spread evenly or all in one of the 40 blocks.
        let slow = 1_000_000;
        let (even, even_blocks) = recorded((0..40_960).map(|index| if index % 1_000 == 0 { slow } else { 1_000 }));
        let (burst, burst_blocks) = recorded((0..40_960).map(|index| if index < 41 { slow } else { 1_000 }));
        let parts = [999_500_000];
        let even = bootstrap(&even_blocks.rows(&even), &parts)[0];
        let burst = bootstrap(&burst_blocks.rows(&burst), &parts)[0];
        assert_eq!(even, (Histogram::bucket_of(slow), Histogram::bucket_of(slow)));
        // Of the runs put together, a third has no burst.
        assert_eq!(burst, (Histogram::bucket_of(1_000), Histogram::bucket_of(slow)));
    }
}
