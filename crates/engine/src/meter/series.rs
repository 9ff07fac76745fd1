//! Throughput and latency over simulated time, in at most [`SAMPLES`] intervals of equal length.

use ninescope_kernel::Ns;
use ninescope_model::Op;

/// The largest number of samples; when a run outgrows them, neighbours are merged and the interval doubles.
const SAMPLES: usize = 2048;
const FIRST_INTERVAL: Ns = Ns(1_000_000);

/// What completed in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes read [B].
    pub read_bytes: u64,
    /// Bytes written [B].
    pub write_bytes: u64,
    /// Sum of read latencies [ns].
    pub read_latency_sum: u64,
    /// Sum of write latencies [ns].
    pub write_latency_sum: u64,
    /// Largest read latency [ns].
    pub read_latency_max: u64,
    /// Largest write latency [ns].
    pub write_latency_max: u64,
    /// The tier at the last completion; zeros on a drive of one medium and in intervals without one.
    pub tier: TierSample,
}

/// A tier at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierSample {
    /// Slots that hold something.
    pub slots_used: u64,
    /// Pages of host requests since measuring began.
    pub page_accesses: u64,
    /// Those of them that were in the upper medium.
    pub page_hits: u64,
    /// Pages that went down, dirty or dropped, since then.
    pub evictions: u64,
    /// Pages that came up since then.
    pub fills: u64,
}

impl Sample {
    fn merge(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.read_latency_sum += other.read_latency_sum;
        self.write_latency_sum += other.write_latency_sum;
        self.read_latency_max = self.read_latency_max.max(other.read_latency_max);
        self.write_latency_max = self.write_latency_max.max(other.write_latency_max);
        if other.tier != TierSample::default() {
            self.tier = other.tier;
        }
    }
}

/// The time series of a run.
#[derive(Clone, Debug)]
pub struct Series {
    since: Ns,
    interval: Ns,
    samples: Vec<Sample>,
    /// The sample being filled and the time at which it ends, so that most records need no division.
    open: usize,
    open_end: Ns,
}

impl Series {
    /// An empty series that begins at `since`.
    pub fn new(since: Ns) -> Self {
        let mut samples = Vec::with_capacity(SAMPLES);
        samples.push(Sample::default());
        Self { since, interval: FIRST_INTERVAL, samples, open: 0, open_end: since + FIRST_INTERVAL }
    }

    /// Length of an interval [ns].
    pub fn interval(&self) -> Ns {
        self.interval
    }

    /// The samples; sample `i` begins `i` intervals after the start.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Takes a completion in. Times never decrease.
    #[inline]
    pub fn record(&mut self, op: Op, now: Ns, latency: Ns, bytes: u64) {
        if now >= self.open_end {
            self.advance(now);
        }
        let sample = &mut self.samples[self.open];
        match op {
            Op::Read => {
                sample.reads += 1;
                sample.read_bytes += bytes;
                sample.read_latency_sum += latency.0;
                sample.read_latency_max = sample.read_latency_max.max(latency.0);
            }
            Op::Write => {
                sample.writes += 1;
                sample.write_bytes += bytes;
                sample.write_latency_sum += latency.0;
                sample.write_latency_max = sample.write_latency_max.max(latency.0);
            }
            Op::Trim | Op::Flush => {}
        }
    }

    /// Notes what the tier is like after a completion that was taken in.
    pub fn note_tier(&mut self, tier: TierSample) {
        self.samples[self.open].tier = tier;
    }

    #[cold]
    fn advance(&mut self, now: Ns) {
        let mut index = ((now - self.since).0 / self.interval.0) as usize;
        while index >= SAMPLES {
            self.halve();
            index = ((now - self.since).0 / self.interval.0) as usize;
        }
        self.samples.resize(index + 1, Sample::default());
        self.open = index;
        self.open_end = Ns(self.since.0 + (index as u64 + 1) * self.interval.0);
    }

    fn halve(&mut self) {
        let merged = self.samples.len().div_ceil(2);
        for index in 0..merged {
            let mut sample = self.samples[2 * index];
            if let Some(second) = self.samples.get(2 * index + 1) {
                sample.merge(second);
            }
            self.samples[index] = sample;
        }
        self.samples.truncate(merged);
        self.interval = Ns(self.interval.0 * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_totals_and_its_bound() {
        let mut series = Series::new(Ns(500));
        for i in 0..100_000_u64 {
            series.record(Op::Read, Ns(500 + i * 777_777), Ns(i), 4096);
        }
        assert!(series.samples().len() <= SAMPLES);
        assert_eq!(series.samples().iter().map(|sample| sample.reads).sum::<u64>(), 100_000);
        assert_eq!(series.samples().iter().map(|sample| sample.read_latency_max).max(), Some(99_999));
        let covered = series.interval().0 * series.samples().len() as u64;
        assert!(covered > 99_999 * 777_777 && covered - series.interval().0 <= 99_999 * 777_777);
    }
}
