//! Jobs as a file describes them: reading them from TOML, and pointing at their mistakes in files of either kind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ninescope_generators::fio::{self, FioFile, FioSection, SectionOrigin};
use ninescope_generators::{JobConfig, JobError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::diagnostics::{location_of_line, nearest_location, of_toml};
use super::trace_jobs::{LoadedTraces, TraceJob};
use crate::error::Error;

/// A job file with the keys in a table of their own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobTable {
    #[serde(rename = "summary")]
    _summary: Option<String>,
    job: JobConfig,
}

/// A job file of several jobs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsTable {
    /// One line about them.
    pub summary: Option<String>,
    /// The jobs, which run at the same time.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub jobs: Vec<JobConfig>,
    /// Traces that are replayed at the same time.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub traces: Vec<TraceJob>,
}

/// The jobs of a run, with what is needed to point at their mistakes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedJobs {
    /// At least one, unless there are traces.
    pub jobs: Vec<JobConfig>,
    /// Traces beside them.
    pub traces: LoadedTraces,
    /// What was ignored, and what is meant otherwise than in the file's own words.
    pub notes: Vec<String>,
    file: Option<Source>,
}

/// The file that jobs are from.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    path: PathBuf,
    text: String,
    /// Of each job.
    places: Vec<Place>,
}

/// Where a file has a job.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// In TOML.
    Table {
        /// The table that holds its keys; empty: none.
        table: String,
        /// What stands before a key in messages.
        prefix: String,
    },
    /// In a job file of fio.
    Section { origin: SectionOrigin, prefix: String },
}

/// What jobs were described with, as fio's JSON tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// For all jobs.
    pub global: BTreeMap<String, String>,
    /// The name of each job, and its options.
    pub jobs: Vec<(String, BTreeMap<String, String>)>,
}

impl LoadedJobs {
    /// Jobs from no file.
    pub fn without_file(jobs: Vec<JobConfig>) -> Self {
        Self { jobs, ..Self::default() }
    }

    fn in_file(path: &Path, text: &str, places: Vec<Place>, jobs: Vec<JobConfig>) -> Self {
        let file = Source { path: path.to_owned(), text: text.to_owned(), places };
        Self { jobs, notes: Vec::new(), traces: LoadedTraces::default(), file: Some(file) }
    }

    /// Jobs of a file of fio: for each section the copies that it stands for.
    fn of_fio(path: &Path, text: &str, file: FioFile) -> Self {
        let several = file.sections.len() > 1;
        let place = |FioSection { jobs, origin }: &FioSection| {
            let prefix = if several { format!("job `{}`: ", origin.name) } else { String::new() };
            vec![Place::Section { origin: origin.clone(), prefix }; jobs.len()]
        };
        let places = file.sections.iter().flat_map(place).collect();
        let jobs = file.sections.into_iter().flat_map(|section| section.jobs).collect();
        Self { notes: file.notes, ..Self::in_file(path, text, places, jobs) }
    }

    /// What each of the `jobs` made of these, copies of the `origins`, was described with.
    pub fn options(&self, origins: &[usize], jobs: &[JobConfig]) -> JobOptions {
        let places = self.file.as_ref().map_or(&[][..], |file| &file.places);
        let of_section = |index: usize| match places.get(index) {
            Some(Place::Section { origin, .. }) => Some(origin),
            _ => None,
        };
        let global = of_section(0).map(|origin| origin.global.clone()).unwrap_or_default();
        let own = |(&index, job): (&usize, &JobConfig)| {
            let options = match of_section(index) {
                // fio tells what is global once; a section may have more of it than the first.
                Some(origin) => {
                    let mut options = origin.global.clone();
                    options.retain(|key, value| global.get(key) != Some(value));
                    options.extend(origin.own.clone());
                    options
                }
                None => words_of(job),
            };
            (job.name.clone(), options)
        };
        JobOptions { jobs: origins.iter().zip(jobs).map(own).collect(), global }
    }

    /// Whether the copies of a job lie `offset_increment` behind each other.
    pub fn steps(&self, index: usize) -> bool {
        match self.file.as_ref().map(|file| &file.places[index]) {
            Some(Place::Section { origin, .. }) => origin.lines.contains_key("offset_increment"),
            _ => self.jobs[index].offset_increment.is_some(),
        }
    }

    /// An error about a key of a job, with the key's line in the file, or the job's where the key is not written.
    /// Without a file, `name` says which of several jobs, or of their copies, it is about.
    pub fn error_at(&self, index: usize, name: Option<&str>, error: &JobError) -> Error {
        let Some(Source { path, text, places }) = &self.file else {
            let name = name.map(|name| format!(" `{name}`")).unwrap_or_default();
            return Error::Input(format!("job{name}: {error}"));
        };
        let (prefix, line) = match &places[index] {
            Place::Table { table, prefix } => {
                (prefix, nearest_location(text, format!("{table}.{}", error.key).trim_start_matches('.')))
            }
            Place::Section { origin, prefix } => {
                let line = origin.lines.get(error.key).copied().unwrap_or(origin.line);
                (prefix, location_of_line(text, line))
            }
        };
        Error::Input(format!("{}: {prefix}{error}{line}", path.display()))
    }

    /// An error about the jobs as a whole.
    pub fn error(&self, message: &str) -> Error {
        let file = self.file.as_ref().map(|file| format!("{}: ", file.path.display()));
        Error::Input(format!("{}{message}", file.unwrap_or_default()))
    }
}

/// Jobs of a job file of fio, `[global]` sections and jobs.
///
/// # Errors
/// [`Error::Input`] with file, line and option.
pub fn parse_fio(path: &Path, text: &str) -> Result<LoadedJobs, Error> {
    let file = fio::read(text).map_err(|error| Error::Input(format!("{}: {error}", path.display())))?;
    Ok(LoadedJobs::of_fio(path, text, file))
}

/// Jobs from their TOML text: the keys of one [`JobConfig`] at top level or in a `[job]` table, or several `[[jobs]]` and
/// `[[traces]]`.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_jobs(path: &Path, text: &str) -> Result<LoadedJobs, Error> {
    let refused = |message: &str| Error::Input(format!("{}: {message}", path.display()));
    let table = toml::from_str::<Table>(text).ok();
    if table.as_ref().is_some_and(Table::is_empty) {
        return Err(refused("the file is empty; a job says at least `rw`"));
    }
    let holds = |key: &str| table.as_ref().is_some_and(|table| table.contains_key(key));
    let one = |table: &str| vec![Place::Table { table: table.to_owned(), prefix: String::new() }];
    let mut traces = Vec::new();
    let parsed = if holds("jobs") || holds("traces") {
        read_text::<JobsTable>(text).map(|file| {
            traces = file.traces;
            (listed(file.jobs.len()), file.jobs)
        })
    } else if holds("job") {
        read_text::<JobTable>(text).map(|file| (one("job"), vec![file.job]))
    } else {
        read_text(text).map(|job| (one(""), vec![job]))
    };
    let (places, jobs) = parsed.map_err(|(key, error)| refused(&format!("{key}{}", of_toml(text, &error))))?;
    if jobs.is_empty() && traces.is_empty() {
        return Err(refused(if holds("traces") { "`traces` is empty" } else { "`jobs` is empty" }));
    }
    let traces = LoadedTraces::of_file(path, text, traces);
    Ok(LoadedJobs { traces, ..LoadedJobs::in_file(path, text, places, jobs) })
}

/// What a text describes, or what is wrong with it, and before that the key whose value is wrong, as messages begin with it:
/// none where the key itself is not known.
fn read_text<T: DeserializeOwned>(text: &str) -> Result<T, (String, toml::de::Error)> {
    let deserializer = toml::Deserializer::parse(text).map_err(|error| (String::new(), error))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let key = error.path().to_string();
        let is_of_value = !error.inner().to_string().contains("unknown field");
        (if is_of_value && key != "." { format!("{key}: ") } else { String::new() }, error.into_inner())
    })
}

/// The places of jobs in a list.
fn listed(jobs: usize) -> Vec<Place> {
    let place = |index: usize| Place::Table { table: format!("jobs[{index}]"), prefix: format!("jobs[{index}].") };
    (0..jobs).map(place).collect()
}

/// The keys of a description and their values, as text.
pub fn words_of(described: &impl Serialize) -> BTreeMap<String, String> {
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    match serde_json::to_value(described) {
        Ok(serde_json::Value::Object(keys)) => keys.into_iter().map(|(key, value)| (key, text(value))).collect(),
        _ => BTreeMap::new(),
    }
}
