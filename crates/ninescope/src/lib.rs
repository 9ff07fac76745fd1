//! The library that programs call: configuration in, result out. It holds no mechanism of its own.
//!
//! A run goes through one pipeline. Each stage is a room; in time they follow one another, and which knows which a test keeps:
//!
//! ```text
//! request      what a caller asks for, from its JSON: drive, workload, how to run it; checked by itself
//! plan         what the run will do: the request's drive assembled, its workload laid out on it, its limits
//!   config       descriptions of drives and jobs, read from files
//!   assembly     from a drive's description to its parts
//! prepare      the drive as its run finds it: from a snapshot, or by preconditioning
//!   snapshot     what is kept of a prepared drive
//!   precondition what is written into a drive, until it has settled
//! simulation   the run, in slices of wall time: first the drive is prepared, then the device runs
//!   record       a probe beside the device: the slowest requests, a timeline
//! result       what was measured, as JSON
//!   steadiness   whether the measured window had settled
//!   endurance    how long the drive lasts like that, and what it costs
//! ```

mod assembly;
pub mod codes;
pub mod config;
mod digits;
pub mod endurance;
mod error;
mod plan;
mod policies;
mod precondition;
mod prepare;
mod presets;
mod profiles;
pub mod record;
mod request;
mod result;
mod schema;
mod simulation;
mod snapshot;
mod steadiness;
mod traces;
mod version;

// The crates below, for policies that live in a program's own crate.
pub use {
    ninescope_engine as engine, ninescope_ftl as ftl, ninescope_kernel as kernel, ninescope_media as media,
    ninescope_model as model, ninescope_tier as tier,
};

pub use config::{AddressPolicy, DriveConfig};
pub use error::Error;
pub use ninescope_engine::RequestLogEntry;
pub use ninescope_engine::meter::{Histogram, bootstrap};
pub use ninescope_generators::profile::{Profile, ProfileWorkload};
pub use ninescope_model::{Op, Workload};
pub use ninescope_traces::{TraceOptions, TraceReader, TraceWriter, WriteReport, checked_request};
pub use plan::Plan;
pub use policies::{PolicyRegistry, policies, policies_json};
pub use precondition::{OverwrittenBy, PrefillMode, PrefillOrder, SteadyState};
pub use presets::{Preset, PresetKind, presets, presets_of};
pub use profiles::{drawn_from_profile, parse_profile, profile_of_trace, profile_text};
pub use request::{
    CheckLevel, DriveSource, RunRequest, TraceWindow, VolumePlacement, Warmup, WorkloadSource, resolve_drive,
    suspend_limit,
};
pub use schema::schemas;
pub use simulation::{AnySimulation, DrivePreparation, Phase, RecordedSimulation, Simulation, SliceProgress};
pub use snapshot::{
    FORMAT as SNAPSHOT_FORMAT, PreparedDrive, Refusal, Shape, SnapshotReport, Snapshots, check_snapshot,
    describe_snapshot, shelve_snapshot, snapshot_report_json,
};
pub use steadiness::{Change, Reason, Steadiness, Verdict};
pub use traces::{trace_columns, trace_health_json, trace_options, trace_stat_json, write_report_json};
pub use version::VERSION;
