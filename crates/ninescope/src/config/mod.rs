//! Drive descriptions: the structs that own the schema, and the reading of them from TOML.

mod diagnostics;
mod drive;
mod fio;
mod load;

pub use diagnostics::suggestion;
pub(crate) use diagnostics::with_suggestion;
pub use drive::{
    Cell, ControllerConfig, DriveConfig, EraseLoopsConfig, FtlSection, GeometryConfig, LoopSharesConfig, NandConfig,
    PlacementConfig, PulseOrderConfig, SchedulerConfig, ScmConfig, SuspendLimitConfig, TierSection, Whole,
};
pub use fio::parse_fio;
pub(crate) use load::unknown_preset;
pub use load::{LoadedDrive, LoadedJobs, load_drive, parse_jobs};
