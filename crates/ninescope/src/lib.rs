//! The library that programs call: configuration in, result out.
//!
//! It puts the rooms together (a drive from its description, a workload from a trace or a job), prepares
//! the drive, runs it in slices and turns what was measured into a result. It holds no mechanism of its own.

mod assembly;
mod cached;
pub mod codes;
pub mod config;
mod digits;
pub mod endurance;
mod error;
mod jobs;
mod memory;
mod own_writes;
mod plan;
mod prepare;
mod preparing;
mod presets;
mod profiles;
pub mod record;
mod reliability;
mod request;
mod result;
mod schema;
mod scm;
mod settling;
mod simulation;
mod snapshot;
mod steadiness;
mod tier;

use std::path::Path;

use ninescope_ecc::{EccSchemeConfig, LatencyConfig};
use ninescope_engine::policies::read_retry::ReadRetryConfig;
use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::policies::scrub::ScrubPolicyConfig;
use ninescope_engine::{SuspendPolicyConfig, TransactionSchedulerConfig};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, SectorWearLevelingConfig, StreamChoiceConfig,
    VictimSelectionConfig,
};
use ninescope_media::health::ErrorModelConfig;
use ninescope_media::scm::ProgramVerifyConfig;
use ninescope_model::schema::Parameter;
use ninescope_tier::PlacementConfig;
use ninescope_traces::TraceStatistics;
pub use ninescope_traces::{TraceOptions, TraceReader, TraceWriter, WriteReport, checked_request};

pub use config::DriveConfig;
pub use error::Error;
pub use ninescope_engine::RequestLogEntry;
pub use ninescope_engine::meter::{Histogram, bootstrap};
pub use ninescope_generators::profile::{Profile, ProfileWorkload};
pub use ninescope_model::{Op, Workload};
pub use plan::Plan;
pub use prepare::{PrefillMode, PrefillOrder};
pub use preparing::DrivePreparation;
pub use presets::{Preset, PresetKind, presets, presets_of};
pub use profiles::{drawn_from_profile, parse_profile, profile_of_trace, profile_text};
pub use request::{
    AddressPolicy, CheckLevel, DriveSource, RunRequest, TraceWindow, VolumePlacement, Warmup, WorkloadSource,
    resolve_drive, suspend_limit,
};
pub use schema::schemas;
pub use settling::{OverwrittenBy, SteadyState};
pub use simulation::{AnySimulation, Phase, RecordedSimulation, Simulation, SliceProgress};
pub use snapshot::{
    FORMAT as SNAPSHOT_FORMAT, PreparedDrive, Refusal, Shape, SnapshotReport, Snapshots, check_snapshot,
    describe_snapshot, snapshot_report_json,
};
pub use steadiness::{Change, Steadiness, Verdict};

/// Version of ninescope.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A policy registry: its configuration key, and (name, summary) of each policy.
pub type PolicyRegistry = (&'static str, &'static [(&'static str, &'static str)]);

/// A registry with what gives the parameters of each of its policies.
type ToldRegistry = (PolicyRegistry, fn() -> Vec<Vec<Parameter>>);

/// Every registry.
const REGISTRIES: &[ToldRegistry] = &[
    (("ftl.page_allocation", PageAllocationConfig::LIST), PageAllocationConfig::parameters),
    (("ftl.streams", StreamChoiceConfig::LIST), StreamChoiceConfig::parameters),
    (("ftl.free_block_choice", FreeBlockChoiceConfig::LIST), FreeBlockChoiceConfig::parameters),
    (("ftl.gc_trigger", GcTriggerConfig::LIST), GcTriggerConfig::parameters),
    (("ftl.victim", VictimSelectionConfig::LIST), VictimSelectionConfig::parameters),
    (("scheduler.transactions", TransactionSchedulerConfig::LIST), TransactionSchedulerConfig::parameters),
    (("scheduler.suspend", SuspendPolicyConfig::LIST), SuspendPolicyConfig::parameters),
    (("scm.wear_leveling", SectorWearLevelingConfig::LIST), SectorWearLevelingConfig::parameters),
    (("scm.verify", ProgramVerifyConfig::LIST), ProgramVerifyConfig::parameters),
    (("tier.placement", PlacementConfig::LIST), PlacementConfig::parameters),
    (("nand.ecc", EccSchemeConfig::LIST), EccSchemeConfig::parameters),
    (("nand.ecc.latency", LatencyConfig::LIST), LatencyConfig::parameters),
    (("nand.errors", ErrorModelConfig::LIST), ErrorModelConfig::parameters),
    (("nand.retry", ReadRetryConfig::LIST), ReadRetryConfig::parameters),
    (("scrub", ScrubPolicyConfig::LIST), ScrubPolicyConfig::parameters),
    (("refresh", RefreshPolicyConfig::LIST), RefreshPolicyConfig::parameters),
];

/// Every policy of every registry.
pub fn policies() -> Vec<PolicyRegistry> {
    REGISTRIES.iter().map(|(registry, _)| *registry).collect()
}

/// The policies of a registry that have a parameter.
fn policies_with(registry: &str, parameter: &str) -> Vec<&'static str> {
    // Both parts of storage-class memory have the same.
    let registry = registry.strip_prefix("storage_").unwrap_or(registry);
    let of = REGISTRIES.iter().filter(|((key, _), _)| *key == registry);
    let named = of.flat_map(|((_, list), parameters)| list.iter().zip(parameters()));
    let has = |parameters: &[Parameter]| parameters.iter().any(|one| one.name == parameter);
    named.filter(|(_, parameters)| has(parameters)).map(|((name, _), _)| *name).collect()
}

/// Every policy of the registries that a drive of flash alone without codes has a choice of.
pub fn policies_of_flash() -> Vec<PolicyRegistry> {
    let chosen = |key: &str| key.starts_with("scheduler.") || (key.starts_with("ftl.") && key != "ftl.streams");
    policies().into_iter().filter(|(key, _)| chosen(key)).collect()
}

/// Every policy as JSON: `{registry: [{"name", "summary", "parameters"}]}`.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn policies_json() -> Result<String, Error> {
    let entry = |((name, summary), parameters): (&(&str, &str), Vec<Parameter>)| serde_json::json!({"name": name, "summary": summary, "parameters": parameters});
    let registry = |((key, list), parameters): &ToldRegistry| {
        ((*key).to_owned(), list.iter().zip(parameters()).map(entry).collect())
    };
    let registries: serde_json::Map<String, serde_json::Value> = REGISTRIES.iter().map(registry).collect();
    serde_json::to_string(&registries).map_err(|error| Error::Internal(error.to_string()))
}

/// What is wrong with an option, without the place in a JSON text that the caller did not write.
fn option_problem(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let message = config::with_suggestion(message);
    if message.starts_with("format: ") { message } else { format!("trace options: {message}") }
}

/// What a trace contains, as the JSON of `trace stat`. `options_json` holds [`TraceOptions`].
///
/// # Errors
/// [`Error::Input`] that names file and line.
pub fn trace_stat_json(path: &Path, options_json: &str) -> Result<String, Error> {
    let options = trace_options(options_json)?;
    let statistics = TraceStatistics::scan(path, &options)?;
    serde_json::to_string(&statistics).map_err(|error| Error::Internal(error.to_string()))
}

/// How a trace is to be read, from JSON.
///
/// # Errors
/// [`Error::Input`] that names the option.
pub fn trace_options(json: &str) -> Result<TraceOptions, Error> {
    let options: TraceOptions =
        serde_json::from_str(json).map_err(|error| Error::Input(option_problem(&error.to_string())))?;
    options.validate()?;
    Ok(options)
}

/// What a reader skipped and mended so far, and the trace's format, as JSON.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn trace_health_json(reader: &TraceReader) -> Result<String, Error> {
    let mut health = serde_json::to_value(reader.health()).map_err(|error| Error::Internal(error.to_string()))?;
    health["format"] = reader.format().name().into();
    Ok(health.to_string())
}

/// What became of written requests, as JSON.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn write_report_json(report: WriteReport) -> Result<String, Error> {
    serde_json::to_string(&report).map_err(|error| Error::Internal(error.to_string()))
}
