//! Whom requests waited for, where several tenants share a drive: of each cause that is a wait behind others, how much of it
//! was behind which tenant, summed by tenant, kind of command and latency.
//!
//! A *tenant* is a lane of a run. Behind the tenants comes the drive itself: what it does of its own accord and for nobody in
//! particular.

use ninescope_model::{CAUSES, Cause};

use super::Histogram;
use super::attribution::{BandRange, Parts, ranges};

/// The causes that are split by whom was waited for. Of the processor, the link, DRAM and reads of the map the waits for others alone are
/// split: the request's own time there is behind nobody.
pub const SPLIT: [Cause; 18] = [
    Cause::DieWaitingForChannel,
    Cause::DieHostRead,
    Cause::DieHostProgram,
    Cause::Channel,
    Cause::DieMigration,
    Cause::DieMapping,
    Cause::DieGcRead,
    Cause::DieGcProgram,
    Cause::DieErase,
    Cause::CommandProcessing,
    Cause::Link,
    Cause::Dram,
    Cause::MappingRead,
    Cause::HostQueue,
    Cause::BufferStall,
    Cause::MigrationWait,
    Cause::ProgramWait,
    Cause::AllocationStall,
];

/// Of these, the first ones are waits for dies and channels, all of which is behind somebody: by holder they sum to the cause.
pub const SPLIT_WHOLE: usize = 9;
/// Where the last of them is, that for erases.
pub(crate) const ERASE: usize = SPLIT_WHOLE - 1;
/// Where the wait for the controller's processor is.
pub(crate) const PROCESSOR: usize = SPLIT_WHOLE;
/// Where the wait for the link is.
pub(crate) const LINK: usize = PROCESSOR + 1;
/// Where the wait for DRAM is.
pub(crate) const DRAM: usize = LINK + 1;
/// Where the wait for pages of a map in flash is.
pub(crate) const MAP: usize = DRAM + 1;
/// Where the wait for a place in the drive's queue is, and that for room in the write buffer: by holder they sum to the cause, too.
pub(crate) const QUEUE: usize = MAP + 1;
pub(crate) const BUFFER: usize = QUEUE + 1;
/// Where waits for slots of a cache and for pages on their way between two media are, and those for programs that nobody's own page is
/// followed to: they sum to the cause as well.
pub(crate) const MIGRATION: usize = BUFFER + 1;
pub(crate) const PROGRAM: usize = MIGRATION + 1;
/// Where the wait for a free page is, all of which is behind somebody, too.
pub(crate) const FREE_PAGE: usize = PROGRAM + 1;

/// Whether all of a cause of [`SPLIT`] is behind somebody.
pub fn is_split_whole(at: usize) -> bool {
    !(SPLIT_WHOLE..QUEUE).contains(&at)
}

/// Waits behind one holder, by the causes of [`SPLIT`] [ns].
pub type Waits = [u64; SPLIT.len()];

/// So many tenants are told apart by latency too; of more, sums alone are kept: buckets times tenants times tenants are many.
const BY_LATENCY_MAX: usize = 16;

/// Whom requests of one tenant waited for, and where all of their time went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BehindSum {
    /// Requests.
    pub count: u64,
    /// Where their time went.
    pub parts: Parts,
    /// By holder: each tenant, and then the drive. Empty where there are no requests.
    pub behind: Vec<Waits>,
}

impl BehindSum {
    fn add(&mut self, count: u64, parts: &Parts, behind: &[Waits]) {
        self.count += count;
        self.parts.add_all(parts);
        self.behind.resize(self.behind.len().max(behind.len()), Waits::default());
        for (sums, waits) in self.behind.iter_mut().zip(behind) {
            sums.iter_mut().zip(waits).for_each(|(sum, wait)| *sum += wait);
        }
    }
}

/// The same of requests whose latency rank lies between two percentiles.
#[derive(Clone, Debug, PartialEq)]
pub struct BehindBand {
    /// Which requests these are.
    pub range: BandRange,
    /// Whom they waited for.
    pub sum: BehindSum,
}

/// Sums by bucket of the latency histogram; a bucket without requests has none.
#[derive(Clone, Debug, Default)]
pub struct BehindByLatency {
    /// By bucket: which of the sums it is, plus one. Empty before the first request.
    of_bucket: Vec<u32>,
    sums: Vec<BehindSum>,
}

impl BehindByLatency {
    /// Takes a request in; `bucket` is its bucket in the latency histogram.
    pub fn record(&mut self, bucket: usize, parts: &Parts, behind: &[Waits]) {
        let bucket = if behind.len() > BY_LATENCY_MAX + 1 { 0 } else { bucket };
        if self.of_bucket.len() <= bucket {
            self.of_bucket.resize(bucket + 1, 0);
        }
        let place = &mut self.of_bucket[bucket];
        if *place == 0 {
            self.sums.push(BehindSum::default());
            *place = self.sums.len() as u32;
        }
        self.sums[*place as usize - 1].add(1, parts, behind);
    }

    /// Sum over all requests.
    pub fn total(&self) -> BehindSum {
        let mut total = BehindSum::default();
        self.sums.iter().for_each(|sum| total.add(sum.count, &sum.parts, &sum.behind));
        total
    }

    /// Folds the buckets into bands, as [`Attribution::bands`](super::Attribution::bands) does; none where there are too
    /// many tenants for that.
    pub fn bands(&self, histogram: &Histogram, ends: &[(&str, u64)]) -> Vec<BehindBand> {
        if self.sums.first().is_some_and(|sum| sum.behind.len() > BY_LATENCY_MAX + 1) {
            return Vec::new();
        }
        let of_range = |range: BandRange| {
            let end = range.buckets.end.min(self.of_bucket.len());
            let mut sum = BehindSum::default();
            for &place in &self.of_bucket[range.buckets.start.min(end)..end] {
                if let Some(of_bucket) = place.checked_sub(1).map(|place| &self.sums[place as usize]) {
                    sum.add(of_bucket.count, &of_bucket.parts, &of_bucket.behind);
                }
            }
            BehindBand { range, sum }
        };
        ranges(histogram, ends).into_iter().map(of_range).collect()
    }
}

const _: () = assert!(SPLIT.len() <= CAUSES && FREE_PAGE + 1 == SPLIT.len());

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_kernel::Ns;

    #[test]
    fn bands_keep_every_request_and_whom_it_waited_for() {
        let (mut histogram, mut sums) = (Histogram::default(), BehindByLatency::default());
        for latency in 1..=1_000_u64 {
            let mut parts = Parts::default();
            parts.add(Cause::DieHostRead, Ns(latency));
            let half = |time| std::array::from_fn(|at| if at == 1 { time } else { 0 });
            let behind = [half(latency / 3), half(latency - latency / 3)];
            sums.record(histogram.record(latency), &parts, &behind);
        }
        let bands = sums.bands(&histogram, &[("p99", 990_000_000), ("max", 1_000_000_000)]);
        assert_eq!(bands.iter().map(|band| band.sum.count).sum::<u64>(), 1_000);
        assert!(bands[1].sum.count <= 10 && bands[1].range.upper_ns == 1_000);
        let total = sums.total();
        assert_eq!(total.parts.total(), 1_000 * 1_001 / 2);
        assert_eq!(total.behind[0][1] + total.behind[1][1], total.parts.total());
        for band in bands {
            assert_eq!(band.sum.behind[0][1] + band.sum.behind[1][1], band.sum.parts.total());
        }
    }

    #[test]
    fn of_many_tenants_sums_alone_are_kept() {
        let (mut histogram, mut sums) = (Histogram::default(), BehindByLatency::default());
        let behind = vec![Waits::default(); BY_LATENCY_MAX + 2];
        sums.record(histogram.record(7), &Parts::default(), &behind);
        sums.record(histogram.record(9_000), &Parts::default(), &behind);
        assert_eq!(sums.total().count, 2);
        assert!(sums.bands(&histogram, &[("max", 1_000_000_000)]).is_empty());
    }
}
