//! What is known by request: sizes, gaps, order, and how busy the trace is over time.

use ninescope_kernel::Ns;
use ninescope_model::{Op, Request, SECTOR_BYTES};
use serde::Serialize;

use super::log_histogram::{LogHistogram, Quantiles};

/// Stretches of a [`Activity`] at most; half as many at least, for a trace that is long enough.
const STRETCHES: usize = 512;
const FIRST_STRETCH_NS: u64 = 1 << 10;
const SIZES: usize = 32;

/// One bar of a size histogram: requests greater than half of `up_to_bytes` and no greater than it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// A power of two.
    pub up_to_bytes: u64,
    /// Requests.
    pub count: u64,
}

/// Request sizes by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeHistograms {
    /// Of reads.
    pub read: Vec<SizeCount>,
    /// Of writes.
    pub write: Vec<SizeCount>,
    /// Of trims.
    pub trim: Vec<SizeCount>,
}

/// The gaps between one request and the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterArrival {
    /// Their distribution.
    #[serde(flatten)]
    pub gaps: Quantiles,
    /// Their mean [ns].
    pub mean_ns: f64,
    /// Their standard deviation over their mean: 0 for a clock, 1 for a Poisson process, more for bursts.
    pub coefficient_of_variation: Option<f64>,
}

/// How requests follow each other in address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequentiality {
    /// Share of the reads that begin where the read before them ended, whatever came between.
    pub reads: Option<f64>,
    /// The same of writes.
    pub writes: Option<f64>,
    /// The longest row of requests of which each begins where the one before ended.
    pub longest_run_requests: u64,
    /// The most bytes in such a row.
    pub longest_run_bytes: u64,
}

/// Requests over time, in stretches of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// The length of a stretch [ns].
    pub stretch_ns: u64,
    /// Reads in each.
    pub reads: Vec<u64>,
    /// Writes in each.
    pub writes: Vec<u64>,
    /// Bytes read and written in each.
    pub bytes: Vec<u64>,
}

/// The requests of a trace under way.
pub(super) struct Requests {
    sizes: [[u64; SIZES]; Op::ALL.len()],
    gaps: Gaps,
    order: Order,
    activity: Activity,
}

impl Requests {
    pub fn new() -> Self {
        let activity = Activity { stretch_ns: FIRST_STRETCH_NS, ..Activity::default() };
        Self { sizes: [[0; SIZES]; Op::ALL.len()], gaps: Gaps::new(), order: Order::default(), activity }
    }

    pub fn add(&mut self, request: &Request) {
        self.gaps.add(request.submitted);
        self.activity.add(request);
        // A flush has neither size nor place.
        if request.op != Op::Flush {
            let size_class = u64::from(request.sectors).next_power_of_two().ilog2();
            self.sizes[request.op as usize][(size_class as usize).min(SIZES - 1)] += 1;
            self.order.add(request);
        }
    }

    pub fn finish(self) -> (SizeHistograms, InterArrival, Sequentiality, Activity) {
        let bars = |op: Op| {
            let counts = self.sizes[op as usize].iter().enumerate().filter(|&(_, &count)| count > 0);
            counts.map(|(class, &count)| SizeCount { up_to_bytes: SECTOR_BYTES << class, count }).collect()
        };
        let sizes = SizeHistograms { read: bars(Op::Read), write: bars(Op::Write), trim: bars(Op::Trim) };
        (sizes, self.gaps.finish(), self.order.finish(), self.activity)
    }
}

/// Mean and variance as they grow (Welford, Technometrics 4(3), 1962).
struct Gaps {
    histogram: LogHistogram,
    previous: Option<Ns>,
    count: f64,
    mean: f64,
    squares: f64,
}

impl Gaps {
    fn new() -> Self {
        Self { histogram: LogHistogram::new(), previous: None, count: 0.0, mean: 0.0, squares: 0.0 }
    }

    fn add(&mut self, time: Ns) {
        if let Some(previous) = self.previous.replace(time) {
            let gap = time.0 - previous.0;
            self.histogram.add(gap, 1);
            self.count += 1.0;
            let difference = gap as f64 - self.mean;
            self.mean += difference / self.count;
            self.squares += difference * (gap as f64 - self.mean);
        }
    }

    fn finish(self) -> InterArrival {
        let deviation = (self.squares / self.count).sqrt();
        let coefficient_of_variation = (self.mean > 0.0).then(|| deviation / self.mean);
        InterArrival { gaps: self.histogram.quantiles(), mean_ns: self.mean, coefficient_of_variation }
    }
}

/// Where requests end, to see which begin there.
#[derive(Default)]
struct Order {
    previous_end: Option<u64>,
    previous_end_of: [Option<u64>; 2],
    count: [u64; 2],
    sequential: [u64; 2],
    run_requests: u64,
    run_sectors: u64,
    longest_run_requests: u64,
    longest_run_sectors: u64,
}

impl Order {
    fn add(&mut self, request: &Request) {
        let (start, end) = (Some(request.lba.0), Some(request.end()));
        if let index @ (0 | 1) = request.op as usize {
            self.count[index] += 1;
            self.sequential[index] += u64::from(self.previous_end_of[index] == start);
            self.previous_end_of[index] = end;
        }
        if self.previous_end != start {
            (self.run_requests, self.run_sectors) = (0, 0);
        }
        self.previous_end = end;
        self.run_requests += 1;
        self.run_sectors += u64::from(request.sectors);
        self.longest_run_requests = self.longest_run_requests.max(self.run_requests);
        self.longest_run_sectors = self.longest_run_sectors.max(self.run_sectors);
    }

    fn finish(self) -> Sequentiality {
        let share = |index: usize| {
            let count = self.count[index];
            (count > 0).then(|| self.sequential[index] as f64 / count as f64)
        };
        Sequentiality {
            reads: share(0),
            writes: share(1),
            longest_run_requests: self.longest_run_requests,
            longest_run_bytes: self.longest_run_sectors.saturating_mul(SECTOR_BYTES),
        }
    }
}

impl Activity {
    fn add(&mut self, request: &Request) {
        while request.submitted.0 / self.stretch_ns >= STRETCHES as u64 {
            self.double();
        }
        let stretch = (request.submitted.0 / self.stretch_ns) as usize;
        if stretch >= self.reads.len() {
            for column in [&mut self.reads, &mut self.writes, &mut self.bytes] {
                column.resize(stretch + 1, 0);
            }
        }
        match request.op {
            Op::Read => self.reads[stretch] += 1,
            Op::Write => self.writes[stretch] += 1,
            Op::Trim | Op::Flush => return,
        }
        self.bytes[stretch] += u64::from(request.sectors) * SECTOR_BYTES;
    }

    /// Makes one stretch of every two.
    fn double(&mut self) {
        self.stretch_ns *= 2;
        for column in [&mut self.reads, &mut self.writes, &mut self.bytes] {
            *column = column.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }
}
