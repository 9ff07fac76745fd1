//! Traces: request logs of real systems, read as a stream in constant memory.
//!
//! Bytes pass through one module after the other: `input` (file, compression, lines and fixed-length
//! records), `msr`, `mqsim` or `vscsi` (one line to one record), `records` (what is skipped, and counted),
//! `reorder` (time order), `timeline` (start at zero, time scale, loops), `reader` (the workload).
//!
//! A trace may hold several volumes. This version keeps every address as it stands and merges the volumes
//! into one address space; [`TraceHealth::devices`] says how many there are.

mod fields;
mod format;
mod health;
mod input;
mod mqsim;
mod msr;
mod options;
mod reader;
mod record;
mod records;
mod reorder;
mod stat;
mod summary;
mod timeline;
mod vscsi;
mod write;

pub use format::TraceFormat;
pub use health::{SkippedLine, TraceHealth};
pub use options::TraceOptions;
pub use reader::TraceReader;
pub use stat::{
    Activity, InterArrival, PageSample, Popularity, PopularityByOp, Quantiles, ReuseCurve, Sequentiality, SizeCount,
    SizeHistograms, TraceStatistics, WorkloadClass,
};
pub use summary::TraceSummary;
pub use write::{Compression, TraceWriter, WriteReport, WrittenFormat, checked_request};
