//! Workloads: where the host's requests come from.
//!
//! Trace readers stream real request logs in constant memory; synthetic jobs draw requests from a
//! description in fio's words; [`TraceSummary`] says in one pass what a trace holds. A workload stamps its
//! requests with times and nothing more: this crate must not know drives, latencies or when a request ends.

mod error;
pub mod file_system;
pub mod host_cache;
pub mod job;
mod page_map;
mod page_set;
pub mod profile;
mod source;
pub mod trace;

pub use error::{LineProblem, Place, WorkloadError};
pub use file_system::{FileOperations, FileSystem, FileSystemConfig, Personality};
pub use host_cache::{HostCache, HostCacheConfig, HostCacheStatistics};
pub use job::{
    AccessPattern, AddressDistribution, EachPass, Grid, JobConfig, JobError, JobRegion, RateProcess, SizeRange,
    SizeSplit, SyntheticJob, Zone,
};
pub use page_set::{PAGE_BYTES, PageRanks, PageSet};
pub use source::{Arrival, REQUEST_SECTORS_MAX, TIME_MAX, Workload};
pub use trace::{
    AddressMap, Compression, CsvColumns, LruStack, SkippedLine, TraceFormat, TraceHealth, TraceOptions, TraceReader,
    TraceStatistics, TraceSummary, TraceVolume, TraceWriter, WriteReport, WrittenFormat, checked_request,
};
