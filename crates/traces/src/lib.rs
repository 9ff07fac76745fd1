//! Traces: request logs of real systems, read as a stream in constant memory, measured and written.
//!
//! A trace gives its requests with times and nothing more: this crate must not know drives, latencies, or that requests
//! can be made up.
//!
//! Bytes pass through one module after the other: `input` (file, compression, lines and fixed-length
//! records), `formats` (one line to one record; `detect` finds out which), `records` (what is skipped, and counted),
//! `reorder` (time order), `timeline` (start at zero, time scale, loops), `reader` (the workload). `summary` and `stat` say
//! what a trace holds, in pages of a `page_set` or a `page_map`.
//!
//! A trace may hold several volumes. Unless an [`AddressMap`] says otherwise every address is kept as it stands, and
//! all volumes share one address space.

mod detect;
mod error;
mod fields;
mod format;
#[allow(clippy::doc_markdown, reason = "summaries and heads are full of names of traces")]
mod formats;
mod health;
mod input;
mod options;
mod page_map;
mod page_set;
mod reader;
mod record;
mod records;
mod reorder;
mod stat;
mod summary;
mod text;
mod timeline;
mod volumes;
mod write;

pub use error::{LineProblem, Place, TraceError};
pub use formats::TraceFormat;
pub use formats::csv::CsvColumns;
pub use health::{SkippedLine, TraceHealth};
pub use options::TraceOptions;
pub use page_set::{PageRanks, PageSet};
pub use reader::TraceReader;
pub use stat::{
    Activity, InterArrival, LruStack, PageSample, Popularity, PopularityByOp, Quantiles, ReuseCurve, Sequentiality,
    SizeCount, SizeHistograms, TraceStatistics, WorkloadClass,
};
pub use summary::TraceSummary;
pub use volumes::{AddressMap, TraceVolume};
pub use write::{Compression, TraceWriter, WriteReport, WrittenFormat, checked_request};
