//! Causes by latency: the parts of all requests of similar latency are summed, and the sums are folded
//! into percentile bands at the end.

use ninescope_kernel::Ns;
use ninescope_model::{CAUSES, Cause, OCCUPANCIES};

use super::Histogram;
use super::histogram::BUCKETS;
use super::ledger::DieLedger;

/// Fine histogram buckets in one attribution bucket: 16, so that there are 8 per octave.
const FINE_PER_BUCKET_SHIFT: u32 = 4;

/// Where one request's latency went, one lane per cause [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub [u64; CAUSES]);

impl Parts {
    /// Adds time to a cause.
    #[inline]
    pub fn add(&mut self, cause: Cause, time: Ns) {
        self.0[cause as usize] += time.0;
    }

    /// Adds a wait on a die, split by what held the die.
    #[inline]
    pub fn add_die_wait(&mut self, wait: &DieLedger) {
        self.0[..OCCUPANCIES].iter_mut().zip(wait).for_each(|(part, held)| *part += held);
    }

    /// Sum over all causes [ns].
    #[inline]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Sums of parts per latency bucket.
#[derive(Clone, Debug)]
pub struct Attribution {
    sums: Vec<Parts>,
    counts: Vec<u64>,
}

impl Default for Attribution {
    fn default() -> Self {
        let buckets = BUCKETS >> FINE_PER_BUCKET_SHIFT;
        Self { sums: vec![Parts::default(); buckets], counts: vec![0; buckets] }
    }
}

/// A percentile band: the requests whose latency rank lies between two percentiles, exact to a bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Name of the upper end: `p50`, `p99.9`, `max`.
    pub name: String,
    /// Requests in the band.
    pub count: u64,
    /// Smallest latency of the band's buckets [ns].
    pub lower_ns: u64,
    /// Largest latency of the band's buckets [ns].
    pub upper_ns: u64,
    /// Sum of the parts.
    pub parts: Parts,
}

impl Attribution {
    /// Takes a request in; `fine_bucket` is its bucket in the latency histogram.
    #[inline]
    pub fn record(&mut self, fine_bucket: usize, parts: &Parts) {
        let bucket = fine_bucket >> FINE_PER_BUCKET_SHIFT;
        self.counts[bucket] += 1;
        self.sums[bucket].0.iter_mut().zip(&parts.0).for_each(|(sum, part)| *sum += part);
    }

    /// Sum over all requests.
    pub fn total(&self) -> Parts {
        let mut total = Parts::default();
        for sum in &self.sums {
            total.0.iter_mut().zip(&sum.0).for_each(|(sum, part)| *sum += part);
        }
        total
    }

    /// Folds the buckets into bands. `ends` are `(name, parts per billion)`, ascending; a band begins where
    /// the one before ends, and a bucket belongs to the first band whose end lies in it or above it.
    pub fn bands(&self, histogram: &Histogram, ends: &[(&str, u64)]) -> Vec<Band> {
        let mut bands = Vec::with_capacity(ends.len());
        let mut next_bucket = 0;
        for &(name, parts_per_billion) in ends {
            if histogram.count() == 0 {
                break;
            }
            let end = histogram.bucket_at_rank(histogram.rank(parts_per_billion)) >> FINE_PER_BUCKET_SHIFT;
            let mut band = Band { name: name.to_owned(), count: 0, lower_ns: 0, upper_ns: 0, parts: Parts::default() };
            if next_bucket <= end {
                for bucket in next_bucket..=end {
                    band.count += self.counts[bucket];
                    band.parts.0.iter_mut().zip(&self.sums[bucket].0).for_each(|(sum, part)| *sum += part);
                }
                let first_fine = next_bucket << FINE_PER_BUCKET_SHIFT;
                let last_fine = ((end + 1) << FINE_PER_BUCKET_SHIFT) - 1;
                band.lower_ns = if first_fine == 0 { 0 } else { Histogram::upper_bound(first_fine - 1) + 1 };
                band.lower_ns = band.lower_ns.max(histogram.min());
                band.upper_ns = Histogram::upper_bound(last_fine).min(histogram.max());
                next_bucket = end + 1;
            }
            bands.push(band);
        }
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_partition_the_requests_and_keep_every_nanosecond() {
        let (mut histogram, mut attribution) = (Histogram::default(), Attribution::default());
        for latency in (1..=10_000_u64).map(|i| i * 97) {
            let mut parts = Parts::default();
            parts.add(Cause::CommandArray, Ns(latency / 3));
            parts.add(Cause::DieErase, Ns(latency - latency / 3));
            attribution.record(histogram.record(latency), &parts);
        }
        let ends = [("p50", 500_000_000), ("p90", 900_000_000), ("max", 1_000_000_000)];
        let bands = attribution.bands(&histogram, &ends);
        assert_eq!(bands.iter().map(|band| band.count).sum::<u64>(), 10_000);
        assert_eq!(bands.iter().map(|band| u128::from(band.parts.total())).sum::<u128>(), histogram.sum());
        assert!(bands[0].count >= 5_000 && bands[0].upper_ns >= 97 * 5_000 && bands[0].upper_ns < 97 * 5_800);
        assert_eq!(bands[2].upper_ns, 970_000);
    }
}
