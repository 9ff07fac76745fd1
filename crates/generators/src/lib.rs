//! Workloads that are made up: jobs in fio's words, requests like those of a profiled trace, operations on files, and
//! the cache of a host that requests of any kind pass on their way to a drive.
//!
//! What comes out is stamped with times and nothing more: this crate must not know drives, latencies or when a request
//! ends, nor how a trace is read.

pub mod file_system;
pub mod fio;
pub mod host_cache;
pub mod job;
pub mod profile;
pub mod zone_log;

pub use file_system::{FileOperations, FileSystem, FileSystemConfig, Personality};
pub use host_cache::{HostCache, HostCacheConfig};
pub use job::{
    AccessPattern, AddressDistribution, EachPass, Extent, Grid, JobConfig, JobError, JobRegion, RateProcess,
    SizeNormal, SizeRange, SizeSplit, SyntheticJob, Zone,
};
pub use zone_log::{ZoneLog, ZoneLogConfig, ZoneSpace, ZrwaSpace};
