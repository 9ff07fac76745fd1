//! What a caller asks for: a drive, a workload, and how to run it. What is wrong with a request by itself is found here;
//! what is wrong with what it names, by the plan.

mod workload;

use std::path::{Path, PathBuf};

use ninescope_kernel::Ns;
use ninescope_media::health::SuspendLimit;
use ninescope_model::TIME_MAX;
use ninescope_model::units::Duration;
use serde::{Deserialize, Serialize};

use crate::assembly::Assembly;
use crate::config::{LoadedDrive, load_drive, with_suggestion};
use crate::error::Error;
use crate::precondition::{PrefillMode, PrefillOrder};
use crate::presets::{DEFAULT_PRESET, preset};
use crate::record::RecordSettings;
use crate::snapshot::SnapshotPlace;

pub use workload::{VolumePlacement, WorkloadSource};

/// The most slow requests of an operation that can be explained.
const SLOWEST_MAX: u64 = 1_000;

/// Where the drive's description is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum DriveSource {
    /// One of the presets.
    Preset(String),
    /// A TOML file.
    File(PathBuf),
    /// TOML text.
    Toml(String),
}

/// Requests that are not measured: a number, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a number of requests, or a share of them below 1 (0.2 is 20 %), is wanted")]
pub enum Warmup {
    /// Completions.
    Requests(u64),
    /// Share of the requests, below 1.
    Share(f64),
}

impl Warmup {
    /// Whether everything is measured: what is sent where nobody asked for a warm-up.
    pub fn is_nothing(self) -> bool {
        match self {
            Self::Requests(requests) => requests == 0,
            Self::Share(share) => share == 0.0,
        }
    }
}

/// A run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The drive; absent: the default preset, sized to the workload.
    #[serde(default)]
    pub drive: Option<DriveSource>,
    /// `key=value` changes of the drive.
    #[serde(default)]
    pub set: Vec<String>,
    /// The workload; absent only where a drive alone is asked for.
    #[serde(default)]
    pub workload: Option<WorkloadSource>,
    /// The run's seed.
    #[serde(default)]
    pub seed: u64,
    /// What is not measured at the start; absent: what jobs lead in with after preparing to a steady state, else nothing.
    #[serde(default)]
    pub warmup: Option<Warmup>,
    /// Submit no more than this many requests.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Submit nothing after this simulated time ("10s").
    #[serde(default)]
    pub duration: Option<Duration>,
    /// What the drive holds at the start.
    #[serde(default)]
    pub prefill: PrefillMode,
    /// In which order that is written.
    #[serde(default)]
    pub prefill_order: PrefillOrder,
    /// A folder of prepared drives: one that is there is not prepared again, one that is not is kept there. It
    /// changes nothing in the run.
    #[serde(default)]
    pub snapshots: Option<PathBuf>,
    /// The file of the prepared drive.
    #[serde(default)]
    pub from_snapshot: Option<PathBuf>,
    /// Of several jobs this one runs alone, on the drive as it is prepared for all of them.
    #[serde(default)]
    pub only_job: Option<String>,
    /// Keep a record of each request.
    #[serde(default)]
    pub log_requests: bool,
    /// How much the checker looks at.
    #[serde(default)]
    pub check: CheckLevel,
    /// How many of the slowest reads and writes are explained.
    #[serde(default)]
    pub explain_slowest: Option<u64>,
    /// The window of simulated time of which a timeline is kept.
    #[serde(default)]
    pub trace_window: Option<TraceWindow>,
}

/// A window of simulated time, as `{"from": "10ms", "until": "12ms"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceWindow {
    /// Its beginning.
    pub from: Duration,
    /// Its end.
    pub until: Duration,
}

/// How much a checker that walks beside the run looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckLevel {
    /// No checker, no cost.
    #[default]
    Off,
    /// Each step against its neighbours; a walk over everything once, at the end.
    Cheap,
    /// Also a map of its own, a version for the data of every sector, and regular walks over everything.
    Full,
}

impl CheckLevel {
    /// The name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Cheap => "cheap",
            Self::Full => "full",
        }
    }
}

impl RunRequest {
    /// The request in a JSON text.
    ///
    /// # Errors
    /// [`Error::Input`] with the key.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let request: Self = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| Error::Input(keyed(&error.path().to_string(), &error.inner().to_string())))?;
        deserializer.end().map_err(|error| Error::Input(error.to_string()))?;
        if request.duration.is_some_and(|duration| duration.0 == 0) {
            return Err(Error::Input("duration: must be longer than nothing".into()));
        }
        if request.duration.is_some_and(|duration| duration.0 > TIME_MAX.0) {
            return Err(Error::Input("duration: is longer than 73 years, the most that can be simulated".into()));
        }
        request.record_settings()?;
        request.snapshot_place()?;
        Ok(request)
    }

    /// Where the prepared drive may be.
    pub(crate) fn snapshot_place(&self) -> Result<Option<SnapshotPlace>, Error> {
        match (&self.snapshots, &self.from_snapshot) {
            (None, None) => Ok(None),
            (Some(folder), None) if !folder.as_os_str().is_empty() => Ok(Some(SnapshotPlace::Folder(folder.clone()))),
            (Some(_), None) => Err(Error::Input("snapshots: the name of the folder is empty".into())),
            (None, Some(file)) => Ok(Some(SnapshotPlace::File(file.clone()))),
            (Some(_), Some(_)) => Err(Error::Input(
                "from_snapshot: a drive is taken from one file or looked for in a folder (snapshots), not both".into(),
            )),
        }
    }

    /// The workload, which is one.
    ///
    /// # Errors
    /// [`Error::Input`] where none is named, or several are.
    pub(crate) fn workload(&self) -> Result<WorkloadSource, Error> {
        let source = self.workload.clone().unwrap_or_default();
        let named = [source.trace.is_some(), source.job_file.is_some(), source.job.is_some(), source.preset.is_some()];
        if named.iter().filter(|&&is_named| is_named).count() != 1 {
            return Err(Error::Input("workload: give exactly one of a trace, a job file, a job and a preset".into()));
        }
        Ok(source)
    }

    /// What is to be recorded beside the run.
    ///
    /// # Errors
    /// [`Error::Input`] with the key.
    pub fn record_settings(&self) -> Result<RecordSettings, Error> {
        let slowest = self.explain_slowest.unwrap_or_default();
        if self.explain_slowest == Some(0) || slowest > SLOWEST_MAX {
            return Err(Error::Input(format!(
                "explain_slowest: {slowest} requests cannot be explained, only 1 to {SLOWEST_MAX}"
            )));
        }
        let window = match self.trace_window {
            Some(TraceWindow { from, until }) if from >= until => {
                let how = if from == until { "holds no time" } else { "ends before it begins" };
                return Err(Error::Input(format!("trace_window: the window from {from} to {until} {how}")));
            }
            window => window.map(|window| (Ns(window.from.0), Ns(window.until.0))),
        };
        Ok(RecordSettings { slowest: slowest as usize, window })
    }

    /// What the result calls the drive: its preset or its file.
    pub fn drive_name(&self) -> String {
        match &self.drive {
            None => DEFAULT_PRESET.to_owned(),
            Some(DriveSource::Preset(name)) => name.clone(),
            Some(DriveSource::Toml(_)) => "custom".to_owned(),
            Some(DriveSource::File(path)) => {
                path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
            }
        }
    }

    /// Whether the drive is the default one and takes its size from the workload.
    pub(crate) fn sizes_drive(&self) -> bool {
        self.drive.is_none() && self.set_of_size().is_none()
    }

    /// The setting that gives a drive its size.
    pub(crate) fn set_of_size(&self) -> Option<&str> {
        let sets_size = |set: &&String| set.trim_start().starts_with("geometry.blocks_per_plane");
        self.set.iter().rev().find(sets_size).map(String::as_str)
    }

    /// The settings of the run that the result repeats, so that it can be run again.
    pub fn run_settings(&self) -> serde_json::Value {
        let warmup = match self.warmup {
            None => serde_json::Value::Null,
            Some(Warmup::Requests(requests)) => requests.into(),
            Some(Warmup::Share(share)) => share.into(),
        };
        let mut settings = serde_json::json!({
            "seed": self.seed,
            "prefill": self.prefill,
            "warmup": warmup,
            "requests": self.requests,
            "duration": self.duration,
            "set": self.set,
            "check": self.check,
        });
        if !self.prefill_order.is_ascending() {
            settings["prefill_order"] = serde_json::json!(self.prefill_order);
        }
        if let Some(job) = &self.only_job {
            settings["only_job"] = serde_json::json!(job);
        }
        settings
    }

    /// The drive's description with all changes applied.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and key.
    pub fn load_drive(&self) -> Result<LoadedDrive, Error> {
        match &self.drive {
            None => load_preset(DEFAULT_PRESET, &self.set),
            Some(DriveSource::Preset(name)) => load_preset(name, &self.set),
            Some(DriveSource::Toml(text)) => load_drive("drive", text, &self.set),
            Some(DriveSource::File(path)) => load_drive(&path.display().to_string(), &read_text(path)?, &self.set),
        }
    }
}

/// The complete TOML of the drive a JSON request describes (keys `drive` and `set`).
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn resolve_drive(request_json: &str) -> Result<String, Error> {
    let drive = RunRequest::from_json(request_json)?.load_drive()?;
    toml::to_string(&drive.config).map_err(|error| Error::Internal(error.to_string()))
}

/// How many suspensions an erase of the drive that a JSON request describes bears.
///
/// # Errors
/// [`Error::Input`] with file, line and key, or when the drive does not say.
pub fn suspend_limit(request_json: &str) -> Result<SuspendLimit, Error> {
    let drive = RunRequest::from_json(request_json)?.load_drive()?;
    Assembly::new(&drive, 0, false)?.wear.suspend_limit.ok_or_else(|| {
        drive.error("nand.suspend_limit is absent: the drive does not say how many suspensions an erase bears")
    })
}

/// A message about a key, which it names once. Where it stands in the JSON text says nothing to a user.
fn keyed(key: &str, message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = message.strip_prefix(&format!("{key}: ")).unwrap_or(message);
    if key == "." { with_suggestion(message) } else { with_suggestion(&format!("{key}: {message}")) }
}

fn load_preset(name: &str, sets: &[String]) -> Result<LoadedDrive, Error> {
    let preset = preset(name).ok_or_else(|| Error::Input(crate::config::unknown_preset(name)))?;
    load_drive(&format!("preset {name}"), preset.toml, sets)
}

fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| {
        let is_no_text = error.kind() == std::io::ErrorKind::InvalidData;
        let problem = if is_no_text { "not a text file".to_owned() } else { error.to_string() };
        Error::Input(format!("{}: {problem}", path.display()))
    })
}
