//! Drive descriptions: the structs that own the schema, and the reading of them from TOML.

mod diagnostics;
mod drive;
mod fio;
mod job_file;
mod load;

pub use diagnostics::suggestion;
pub(crate) use diagnostics::with_suggestion;
pub use drive::{
    Cell, ControllerConfig, DriveConfig, EraseLoopsConfig, FtlSection, GeometryConfig, LoopSharesConfig, NandConfig,
    SchedulerConfig, SuspendLimitConfig,
};
pub use fio::{FioJob, parse_fio};
pub use job_file::{JobFile, JobWork, parse_host_cache, parse_job_file};
pub(crate) use load::unknown_preset;
pub use load::{LoadedDrive, load_drive, parse_job};
