//! Descriptions of drives and jobs: the structs that own the schema, and the reading of them from files.

mod diagnostics;
mod drive;
mod job_file;
mod jobs;
mod load;
mod reliability;

pub(crate) use diagnostics::{nearest_location, with_suggestion};
pub use drive::{
    Cell, ControllerConfig, CopyPathConfig, DriveConfig, EnduranceSection, EraseLoopsConfig, FtlSection,
    GeometryConfig, LoopSharesConfig, NandConfig, PulseOrderConfig, SchedulerConfig, ScmConfig, SuspendLimitConfig,
    TierSection,
};
pub use job_file::{JobFile, JobTables, JobText, JobWork, parse_host_cache, parse_job_file};
pub use jobs::{JobOptions, JobsTable, LoadedJobs, parse_fio, parse_jobs};
pub(crate) use load::unknown_preset;
pub use load::{LoadedDrive, load_drive};
pub use ninescope_generators::JobConfig;
pub use reliability::{BackingStoreSection, CorruptionSection};
