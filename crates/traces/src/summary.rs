//! What a trace holds, found in one pass.

use std::path::Path;

use ninescope_kernel::RunDigest;
use ninescope_model::{Op, PAGE_BYTES, Request, SECTOR_BYTES};
use serde::Serialize;

use super::{SkippedLine, TraceFormat, TraceOptions, TraceReader, TraceVolume};
use crate::TraceError;
use crate::page_set::PageSet;

/// What a trace holds: `trace stat`, and what a run needs to know before it starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceSummary {
    /// Requests of every kind.
    pub requests: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Writes that name a stream.
    pub stream_writes: u64,
    /// The highest stream that one of them names; 0 where none does.
    pub highest_stream: u8,
    /// Bytes read, in whole sectors.
    pub read_bytes: u64,
    /// Bytes written, in whole sectors.
    pub write_bytes: u64,
    /// Distinct 4 KiB pages touched by any request [bytes].
    pub footprint_bytes: u64,
    /// Distinct 4 KiB pages written [bytes].
    pub written_footprint_bytes: u64,
    /// `1 - distinct pages written / page writes`; 0 without writes.
    pub rewrite_ratio: f64,
    /// Share of requests that begin where the previous one ended.
    pub sequential_share: f64,
    /// From the first request to the last, as stamped [ns].
    pub duration_ns: u64,
    /// Different times that the requests have.
    pub distinct_times: u64,
    /// The longest time of which all times between requests are multiples: how coarse the clock was [ns]; 0 where all
    /// have the same time.
    pub time_resolution_ns: u64,
    /// The byte after the highest one touched: the least a drive must hold.
    pub max_address: u64,
    /// The trace's format.
    pub format: TraceFormat,
    /// What the trace does not say and is assumed, and what of it is not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Lines or records that gave no request.
    pub skipped_lines: u64,
    /// Those of them that are broken.
    pub broken_lines: u64,
    /// Those of them that are commands other than read and write.
    pub other_commands: u64,
    /// Those of these that are discards, which were not to be read.
    pub skipped_discards: u64,
    /// The first broken one.
    pub first_skipped: Option<SkippedLine>,
    /// Requests out of order in time that were put right.
    pub reordered: u64,
    /// Requests whose time was raised to the previous one's.
    pub clamped: u64,
    /// Requests that were widened to whole sectors.
    pub unaligned: u64,
    /// Volumes in the trace.
    pub devices: u64,
    /// Mean size of a read [bytes], `None` without reads.
    pub mean_read_bytes: Option<f64>,
    /// Mean size of a write [bytes], `None` without writes.
    pub mean_write_bytes: Option<f64>,
    /// Hash over time, address, size and operation of every request in order.
    pub hash: String,
    /// The volumes, in the order of their first requests.
    pub volumes: Vec<TraceVolume>,
    /// All 4 KiB pages touched.
    #[serde(skip)]
    pub touched_pages: PageSet,
    /// The 4 KiB pages read: what a drive must hold before the run.
    #[serde(skip)]
    pub read_pages: PageSet,
}

impl TraceSummary {
    /// Reads the trace once. How a run replays it (`time_scale`, `loop_count`, `closed_loop`) does not enter;
    /// `requests` does, as a limit.
    ///
    /// # Errors
    /// Those of reading the trace.
    pub fn scan(path: &Path, options: &TraceOptions) -> Result<Self, TraceError> {
        options.validate()?;
        let mut reader = TraceReader::open(path, options.for_one_pass())?;
        let mut tally = Tally::default();
        while let Some(request) = reader.read()? {
            tally.add(&request);
        }
        Ok(tally.finish(&reader))
    }
}

/// The counts of a scan under way.
#[derive(Default)]
pub(super) struct Tally {
    requests: [u64; Op::ALL.len()],
    sectors: [u64; Op::ALL.len()],
    page_writes: u64,
    stream_writes: u64,
    highest_stream: u8,
    sequential: u64,
    previous_end: Option<u64>,
    highest_end: u64,
    latest_ns: u64,
    distinct_times: u64,
    resolution_ns: u64,
    written_pages: PageSet,
    read_pages: PageSet,
    other_pages: PageSet,
    digest: RunDigest,
}

impl Tally {
    pub fn add(&mut self, request: &Request) {
        self.add_time(request.submitted.0);
        self.requests[request.op as usize] += 1;
        let fields = [request.submitted.0, request.lba.0, u64::from(request.sectors), request.op as u64];
        for word in fields {
            self.digest.word(word);
        }
        if request.op != Op::Flush {
            self.add_place(request);
        }
    }

    /// Counts a time; they count from the first request on.
    fn add_time(&mut self, time_ns: u64) {
        if time_ns == self.latest_ns {
            // The first one's is 0, as the latest is before.
            self.distinct_times = self.distinct_times.max(1);
            return;
        }
        self.distinct_times += 1;
        if self.resolution_ns != 1 {
            self.resolution_ns = greatest_common_divisor(time_ns.abs_diff(self.latest_ns), self.resolution_ns);
        }
        self.latest_ns = time_ns;
    }

    /// Counts where a request is, which a flush has no word in.
    fn add_place(&mut self, request: &Request) {
        let end = request.end();
        self.sectors[request.op as usize] += u64::from(request.sectors);
        self.sequential += u64::from(self.previous_end == Some(request.lba.0));
        self.previous_end = Some(end);
        self.highest_end = self.highest_end.max(end);
        let page_sectors = PAGE_BYTES / SECTOR_BYTES;
        let pages = request.lba.0 / page_sectors..end.div_ceil(page_sectors);
        match request.op {
            Op::Read => self.read_pages.insert(pages),
            Op::Write => {
                self.page_writes += pages.end - pages.start;
                self.stream_writes += u64::from(request.stream > 0);
                self.highest_stream = self.highest_stream.max(request.stream);
                self.written_pages.insert(pages);
            }
            Op::Trim | Op::Flush => self.other_pages.insert(pages),
        }
    }

    /// What was counted, of a reader that is at its end.
    pub fn finish(self, reader: &TraceReader) -> TraceSummary {
        let health = reader.health().clone();
        let requests: u64 = self.requests.iter().sum();
        let [reads, writes, trims, flushes] = self.requests;
        let [read_bytes, write_bytes, ..] = self.sectors.map(|sectors| sectors.saturating_mul(SECTOR_BYTES));
        let mut touched = self.other_pages;
        let ranges = self.read_pages.ranges().chain(self.written_pages.ranges());
        ranges.for_each(|pages| touched.insert(pages));
        let rewrite_ratio = ratio(self.page_writes - self.written_pages.len(), self.page_writes).unwrap_or(0.0);
        TraceSummary {
            requests,
            reads,
            writes,
            trims,
            flushes,
            stream_writes: self.stream_writes,
            highest_stream: self.highest_stream,
            read_bytes,
            write_bytes,
            footprint_bytes: touched.len() * PAGE_BYTES,
            volumes: reader.volumes().to_vec(),
            touched_pages: touched,
            written_footprint_bytes: self.written_pages.len() * PAGE_BYTES,
            rewrite_ratio,
            sequential_share: ratio(self.sequential, requests).unwrap_or(0.0),
            duration_ns: self.latest_ns,
            distinct_times: self.distinct_times,
            time_resolution_ns: self.resolution_ns,
            max_address: self.highest_end * SECTOR_BYTES,
            format: reader.format(),
            remarks: reader.remarks(),
            skipped_lines: health.skipped_lines,
            broken_lines: health.broken_lines,
            other_commands: health.other_commands,
            skipped_discards: health.skipped_discards,
            first_skipped: health.first_skipped,
            reordered: health.reordered,
            clamped: health.clamped,
            unaligned: health.unaligned,
            devices: health.devices,
            mean_read_bytes: ratio(read_bytes, reads),
            mean_write_bytes: ratio(write_bytes, writes),
            hash: self.digest.to_hex(),
            read_pages: self.read_pages,
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `part / whole`, `None` when there is no whole.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_times(times: &[u64]) -> (u64, u64) {
        let mut tally = Tally::default();
        for &time in times {
            tally.add_time(time);
        }
        (tally.distinct_times, tally.resolution_ns)
    }

    #[test]
    fn times_are_counted_once_and_their_clock_is_as_coarse_as_their_gaps() {
        const SECOND: u64 = 1_000_000_000;
        assert_eq!(of_times(&[]), (0, 0));
        assert_eq!(of_times(&[0, 0, 0]), (1, 0));
        assert_eq!(of_times(&[0, 0, SECOND, SECOND]), (2, SECOND));
        assert_eq!(of_times(&[0, 4 * SECOND, 10 * SECOND]), (3, 2 * SECOND));
        assert_eq!(of_times(&[0, 15_000, 40_000, 40_100]), (4, 100));
        assert_eq!(of_times(&[0, 7, SECOND, 2 * SECOND]), (4, 1));
    }
}
