//! Descriptions of drives and jobs: the structs that own the schema, and the reading of them from files.

mod controller;
mod diagnostics;
mod dram;
mod drive;
mod firmware;
mod flash;
mod job_file;
mod jobs;
mod keys;
mod load;
mod loaded;
mod power;
mod reliability;
mod scm;
mod trace_jobs;
mod zones;

pub use controller::{ControllerConfig, SchedulerConfig};
pub(crate) use diagnostics::{nearest_location, with_suggestion};
pub(crate) use dram::DRAM_BANKS;
pub use dram::{DramConfig, TransferTime};
pub use drive::{
    Acknowledge, CacheParts, DriveConfig, EnduranceSection, FtlSection, Merges, NamespaceConfig, SlcCacheSection,
    TierSection,
};
pub use firmware::FirmwareConfig;
pub use flash::{
    Cell, EraseLoopsConfig, GeometryConfig, LoopSharesConfig, NandConfig, PageTypesConfig, PlaneGroupsConfig,
    PlaneReadsConfig, ProgramMoves, ProgramsConfig, ReadMoves, SuspendLimitConfig, TimesSection, WearTimes,
};
pub use job_file::{JobFile, JobTables, JobText, JobWork, parse_host_cache, parse_job_file, parse_zone_log};
pub use jobs::{JobOptions, JobsTable, LoadedJobs, parse_fio, parse_jobs, words_of};
pub use keys::drive_keys;
pub(crate) use keys::{WAYS, referred, schema_of};
pub use load::load_drive;
pub(crate) use load::unknown_preset;
pub use loaded::LoadedDrive;
pub use ninescope_generators::JobConfig;
pub use power::{HeatSection, PowerSection, PowerStateSection, ThrottleSection};
pub use reliability::{
    BackingStoreSection, CorruptionSection, DieFailureSection, TemperatureSection, VariationSection,
};
pub use scm::{CopyPathConfig, PulseOrderConfig, ScmConfig};
pub use trace_jobs::{AddressPolicy, LoadedTraces, TraceJob};
pub use zones::ZnsConfig;
