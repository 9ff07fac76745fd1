//! Causes by latency: the parts of all requests of similar latency are summed, and the sums are folded
//! into percentile bands at the end.

use std::ops::Range;

use ninescope_kernel::Ns;
use ninescope_model::{CAUSES, Cause, OCCUPANCIES};

use super::Histogram;
use super::histogram::BUCKETS;
use super::ledger::DieLedger;

/// Where one request's latency went, one lane per cause [ns], and what that sums to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    lanes: [u64; CAUSES],
    total: u64,
}

impl Default for Parts {
    #[inline]
    fn default() -> Self {
        Self { lanes: [0; CAUSES], total: 0 }
    }
}

impl Parts {
    /// Adds time to a cause.
    #[inline]
    pub fn add(&mut self, cause: Cause, time: Ns) {
        self.lanes[cause as usize] += time.0;
        self.total += time.0;
    }

    /// Adds a wait on a die, split by what held the die.
    #[inline]
    pub fn add_die_wait(&mut self, wait: &DieLedger) {
        for (part, held) in self.lanes[..OCCUPANCIES].iter_mut().zip(wait) {
            *part += held;
        }
        // By itself: one number is added to, and not one in memory for each lane.
        let mut total = 0;
        for held in wait {
            total += held;
        }
        self.total += total;
    }

    /// Adds all that another has.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        self.total += other.total;
        for lane in 0..CAUSES {
            self.lanes[lane] += other.lanes[lane];
        }
    }

    /// Takes a part of a cause away.
    pub fn take(&mut self, cause: Cause, time: Ns) {
        self.lanes[cause as usize] -= time.0;
        self.total -= time.0;
    }

    /// What a cause took [ns].
    #[inline]
    pub fn of(&self, cause: Cause) -> u64 {
        self.lanes[cause as usize]
    }

    /// By cause, in the order of [`Cause::ALL`] [ns].
    pub fn lanes(&self) -> [u64; CAUSES] {
        self.lanes
    }

    /// Sum over all causes [ns].
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What an access of a medium took and waited for behind others is for this one cause.
    pub fn name_media(&mut self, cause: Cause) {
        let of_access = [Cause::Channel, Cause::CommandArray, Cause::Transfer].map(|part| part as usize);
        let time: u64 = (0..OCCUPANCIES).chain(of_access).map(|lane| std::mem::take(&mut self.lanes[lane])).sum();
        self.lanes[cause as usize] += time;
    }
}

/// Sums of parts per bucket of the latency histogram, so that a band ends where its percentile lies.
#[derive(Clone, Debug)]
pub struct Attribution {
    buckets: Vec<Bucket>,
}

/// What the requests of one bucket come to, on cache lines of its own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    parts: Parts,
    count: u64,
}

impl Default for Attribution {
    fn default() -> Self {
        Self { buckets: vec![Bucket::default(); BUCKETS] }
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
    /// Takes a request in; `bucket` is its bucket in the latency histogram.
    #[inline]
    pub fn record(&mut self, bucket: usize, parts: &Parts) {
        let bucket = &mut self.buckets[bucket];
        bucket.count += 1;
        bucket.parts.add_all(parts);
    }

    /// Sum over all requests.
    pub fn total(&self) -> Parts {
        let mut total = Parts::default();
        for bucket in &self.buckets {
            total.add_all(&bucket.parts);
        }
        total
    }

    /// Folds the buckets into bands.
    pub fn bands(&self, histogram: &Histogram, ends: &[(&str, u64)]) -> Vec<Band> {
        let of_range = |BandRange { name, lower_ns, upper_ns, buckets }: BandRange| {
            let mut band = Band { name, count: 0, lower_ns, upper_ns, parts: Parts::default() };
            for bucket in &self.buckets[buckets] {
                band.count += bucket.count;
                band.parts.add_all(&bucket.parts);
            }
            band
        };
        ranges(histogram, ends).into_iter().map(of_range).collect()
    }
}

/// Which requests a band has: those of some buckets of the latency histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandRange {
    /// Name of the upper end.
    pub name: String,
    /// Smallest latency of the band's buckets [ns].
    pub lower_ns: u64,
    /// Largest latency of the band's buckets [ns].
    pub upper_ns: u64,
    /// Its buckets.
    pub buckets: Range<usize>,
}

/// Cuts a histogram into bands. `ends` are `(name, parts per billion)`, ascending; a band begins where the one before ends,
/// and a bucket belongs to the first band whose end lies in it or above it.
pub fn ranges(histogram: &Histogram, ends: &[(&str, u64)]) -> Vec<BandRange> {
    if histogram.count() == 0 {
        return Vec::new();
    }
    let mut next = 0;
    let range = |&(name, parts_per_billion): &(&str, u64)| {
        let end = histogram.bucket_at_rank(histogram.rank(parts_per_billion));
        let mut range = BandRange { name: name.to_owned(), lower_ns: 0, upper_ns: 0, buckets: 0..0 };
        if next <= end {
            let lower = if next == 0 { 0 } else { Histogram::upper_bound(next - 1) + 1 };
            range.lower_ns = lower.max(histogram.min());
            range.upper_ns = Histogram::upper_bound(end).min(histogram.max());
            range.buckets = next..end + 1;
            next = end + 1;
        }
        range
    };
    ends.iter().map(range).collect()
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
        assert!(bands[0].count >= 5_000 && bands[0].upper_ns >= 97 * 5_000 && bands[0].upper_ns < 97 * 5_050);
        assert_eq!(bands[2].upper_ns, 970_000);
    }
}
