//! What a trace is like: everything that `trace stat` says beyond the summary that a run needs.
//!
//! One pass, in memory that does not grow with the trace: request by request (`requests`), and page by page (`pages`)
//! up to a number of pages, beyond it from a sample. `docs/trace-statistics.md` defines every number.

mod class;
mod log_histogram;
mod lru_stack;
mod pages;
mod popularity;
mod requests;
mod reuse;

use std::path::Path;

use ninescope_model::{Op, PAGE_BYTES, SECTOR_BYTES};
use serde::Serialize;

use super::summary::Tally;
use super::{TraceOptions, TraceReader, TraceSummary};
use crate::TraceError;
use pages::Pages;
use requests::Requests;

pub use class::WorkloadClass;
pub use log_histogram::Quantiles;
pub use lru_stack::LruStack;
pub use popularity::Popularity;
pub use requests::{Activity, InterArrival, Sequentiality, SizeCount, SizeHistograms};
pub use reuse::ReuseCurve;

/// Pages that are followed one by one: a footprint of 8 GiB, in some 150 MB of memory.
const PAGES_MAX: usize = 1 << 21;

/// From how many pages the numbers by page are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PageSample {
    /// Whether from all.
    pub exact: bool,
    /// Share of the pages that were followed.
    pub share: f64,
    /// Pages followed to the end.
    pub pages: u64,
}

/// Popularity by operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopularityByOp {
    /// Of reads over the pages read.
    pub read: Popularity,
    /// Of writes over the pages written.
    pub write: Popularity,
}

/// What a trace is like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStatistics {
    /// What a run needs to know.
    #[serde(flatten)]
    pub summary: TraceSummary,
    /// Distinct 4 KiB pages read [bytes].
    pub read_footprint_bytes: u64,
    /// Share of the page writes that go to the busiest hundredth of the written pages.
    pub top_1_percent_write_share: Option<f64>,
    /// The class in eight.
    pub class: Option<WorkloadClass>,
    /// Request sizes.
    pub sizes: SizeHistograms,
    /// Gaps between requests.
    pub inter_arrival: InterArrival,
    /// Order in address.
    pub sequentiality: Sequentiality,
    /// From one write of a page to its next.
    pub rewrite_interval: Quantiles,
    /// How accesses spread over pages.
    pub popularity: PopularityByOp,
    /// The miss ratio of an LRU cache.
    pub reuse: ReuseCurve,
    /// From how many pages `rewrite_interval`, `popularity` and `reuse` are.
    pub page_sample: PageSample,
    /// Requests over time.
    pub activity: Activity,
}

impl TraceStatistics {
    /// Reads the trace once, as [`TraceSummary::scan`] does.
    ///
    /// # Errors
    /// Those of reading the trace.
    pub fn scan(path: &Path, options: &TraceOptions) -> Result<Self, TraceError> {
        Self::scan_following(path, options, PAGES_MAX)
    }

    /// The same with at most `pages_max` pages followed one by one.
    ///
    /// # Errors
    /// Those of reading the trace.
    pub fn scan_following(path: &Path, options: &TraceOptions, pages_max: usize) -> Result<Self, TraceError> {
        options.validate()?;
        let mut reader = TraceReader::open(path, options.for_one_pass())?;
        let (mut tally, mut requests, mut pages) = (Tally::default(), Requests::new(), Pages::new(pages_max));
        while let Some(request) = reader.read()? {
            tally.add(&request);
            requests.add(&request);
            if matches!(request.op, Op::Read | Op::Write) {
                let page_sectors = PAGE_BYTES / SECTOR_BYTES;
                for page in request.lba.0 / page_sectors..request.end().div_ceil(page_sectors) {
                    pages.access(page, request.op == Op::Write, request.submitted);
                }
            }
        }
        Ok(Self::of(tally.finish(&reader), requests, pages))
    }

    fn of(summary: TraceSummary, requests: Requests, pages: Pages) -> Self {
        let by_page = pages.finish();
        let (sizes, inter_arrival, sequentiality, activity) = requests.finish();
        let is_exact = by_page.sampled_share >= 1.0;
        Self {
            read_footprint_bytes: summary.read_pages.len() * PAGE_BYTES,
            top_1_percent_write_share: by_page.write_popularity.top_1_percent_share,
            class: WorkloadClass::of(&summary),
            sizes,
            inter_arrival,
            sequentiality,
            rewrite_interval: by_page.rewrite_interval,
            popularity: PopularityByOp { read: by_page.read_popularity, write: by_page.write_popularity },
            reuse: by_page.reuse,
            page_sample: PageSample { exact: is_exact, share: by_page.sampled_share, pages: by_page.tracked },
            activity,
            summary,
        }
    }
}
