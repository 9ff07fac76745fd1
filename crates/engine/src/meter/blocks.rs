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
    let cumulative = Cumulative::of(rows);
    let mut stream = RandomStream::new(0, "meter", "bootstrap");
    let mut found = vec![Vec::with_capacity(RESAMPLES); parts_per_billion.len()];
    let mut times = vec![0_u64; rows.len()];
    for _ in 0..RESAMPLES {
        times.fill(0);
        (0..rows.len()).for_each(|_| times[stream.below(rows.len() as u64) as usize] += 1);
        for (found, &parts) in found.iter_mut().zip(parts_per_billion) {
            found.push(cumulative.bucket_of_percentile(&times, parts));
        }
    }
    let bounds = found.into_iter().map(|mut found| {
        found.sort_unstable();
        (found[LOW], found[HIGH])
    });
    bounds.collect()
}

/// How many requests of each block lie in a bucket or below. A percentile of blocks put together is searched for in it, which
/// looks at few buckets, where their sum would look at all.
struct Cumulative {
    /// The buckets with requests.
    buckets: Vec<usize>,
    /// For each of these, the number of each block.
    counts: Vec<u64>,
}

impl Cumulative {
    fn of(rows: &[Vec<(usize, u64)>]) -> Self {
        let mut is_used = [false; BUCKETS];
        rows.iter().flatten().for_each(|&(bucket, _)| is_used[bucket] = true);
        let buckets: Vec<usize> = (0..BUCKETS).filter(|&bucket| is_used[bucket]).collect();
        let blocks = rows.len();
        let mut counts = vec![0; buckets.len() * blocks];
        for (block, row) in rows.iter().enumerate() {
            let (mut row, mut below) = (row.iter().peekable(), 0);
            for (place, &bucket) in buckets.iter().enumerate() {
                below += row.next_if(|&&(next, _)| next == bucket).map_or(0, |&(_, count)| count);
                counts[place * blocks + block] = below;
            }
        }
        Self { buckets, counts }
    }

    /// The bucket of a percentile of the run in which each block comes so many times.
    fn bucket_of_percentile(&self, times: &[u64], parts_per_billion: u64) -> usize {
        let at_or_below = |place: usize| -> u64 {
            let counts = &self.counts[place * times.len()..][..times.len()];
            counts.iter().zip(times).map(|(count, times)| count * times).sum()
        };
        let last = self.buckets.len() - 1;
        let rank = (u128::from(at_or_below(last)) * u128::from(parts_per_billion)).div_ceil(1_000_000_000) as u64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = usize::midpoint(low, high);
            if at_or_below(middle) < rank.max(1) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.buckets[low]
    }
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

    #[test]
    fn a_percentile_of_blocks_put_together_is_that_of_all_their_requests() {
        let mut stream = RandomStream::new(3, "tests", "values");
        for _ in 0..200 {
            let row = |stream: &mut RandomStream| -> Vec<(usize, u64)> {
                (0..40)
                    .filter(|bucket| bucket % 3 > 0)
                    .map(|bucket| (bucket, stream.below(4)))
                    .filter(|one| one.1 > 0)
                    .collect()
            };
            let rows: Vec<_> = (0..9).map(|_| row(&mut stream)).collect();
            let times: Vec<u64> = (0..9).map(|_| stream.below(3)).collect();
            let each = rows
                .iter()
                .zip(&times)
                .flat_map(|(row, &times)| row.iter().map(move |&(bucket, count)| (bucket, count * times)));
            let mut requests: Vec<usize> = each.flat_map(|(bucket, count)| vec![bucket; count as usize]).collect();
            requests.sort_unstable();
            if requests.is_empty() {
                continue;
            }
            for parts in [1, 250_000_000, 500_000_000, 990_000_000, 1_000_000_000] {
                let rank = (requests.len() as u64 * parts).div_ceil(1_000_000_000);
                let found = Cumulative::of(&rows).bucket_of_percentile(&times, parts);
                assert_eq!(found, requests[rank as usize - 1], "{parts} of {requests:?}");
            }
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
