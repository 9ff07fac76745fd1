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
    /// What was written in it, until the next interval's first completion.
    pub written: Written,
    /// The tier at the last completion; zeros on a drive of one medium and in intervals without one.
    pub tier: TierSample,
}

/// What the host wrote, and what flash did for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Written by the host: units of it got a place in flash, or banks of storage-class memory took it up [B].
    pub host: u64,
    /// Handed out to be programmed to flash, for whatever reason [B].
    pub flash: u64,
    /// Flash that was erased [B].
    pub erased: u64,
}

impl Written {
    /// The same without what was written before.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { host: self.host - before.host, flash: self.flash - before.flash, erased: self.erased - before.erased }
    }

    /// Takes more in.
    pub fn add(&mut self, more: Self) {
        self.host += more.host;
        self.flash += more.flash;
        self.erased += more.erased;
    }
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
        self.written.add(other.written);
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
    /// What was written since measuring began, as far as samples have it.
    noted: Written,
}

impl Series {
    /// An empty series that begins at `since`.
    pub fn new(since: Ns) -> Self {
        let mut samples = Vec::with_capacity(SAMPLES);
        samples.push(Sample::default());
        Self {
            since,
            interval: FIRST_INTERVAL,
            samples,
            open: 0,
            open_end: since + FIRST_INTERVAL,
            noted: Written::default(),
        }
    }

    /// Length of an interval [ns].
    pub fn interval(&self) -> Ns {
        self.interval
    }

    /// The samples; sample `i` begins `i` intervals after the start.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// What was written in each sample; the last one has all that followed, up to `total` since measuring began.
    pub fn written(&self, total: Written) -> Vec<Written> {
        let mut written: Vec<Written> = self.samples.iter().map(|sample| sample.written).collect();
        if let Some(last) = written.last_mut() {
            last.add(total.since(self.noted));
        }
        written
    }

    /// Whether a completion at `now` begins another sample: what was written is to be noted before it is recorded.
    #[inline]
    pub fn is_over(&self, now: Ns) -> bool {
        now >= self.open_end
    }

    /// Notes what was written since measuring began.
    pub fn note_written(&mut self, total: Written) {
        self.samples[self.open].written.add(total.since(self.noted));
        self.noted = total;
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

    #[test]
    fn what_was_written_is_in_one_sample_each_and_none_of_it_is_lost() {
        let mut series = Series::new(Ns(0));
        let total = |i: u64| Written { host: 4 * i, flash: 9 * i, erased: i };
        for i in 1..=10_000 {
            let now = Ns(i * 777_777);
            if series.is_over(now) {
                series.note_written(total(i));
            }
            series.record(Op::Write, now, Ns(1), 4096);
        }
        let written = series.written(total(10_123));
        assert_eq!(written.len(), series.samples().len());
        let mut sum = Written::default();
        for &of_sample in &written {
            sum.add(of_sample);
        }
        assert_eq!(sum, total(10_123));
        // Each ended with the first completion behind it, so that no two differ by more than what one brings.
        let whole = &written[..written.len() - 1];
        let (least, most) =
            whole.iter().fold((u64::MAX, 0), |(low, high), one| (low.min(one.erased), high.max(one.erased)));
        assert!(most - least <= 1, "{least} to {most} per sample");
    }
}
