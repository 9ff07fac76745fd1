//! Jobs as a file describes them: reading them from TOML, and pointing at their mistakes in files of either kind.

use std::path::{Path, PathBuf};

use ninescope_workload::{JobConfig, JobError};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use super::diagnostics::{nearest_location, with_suggestion};
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
    #[schemars(length(min = 1))]
    pub jobs: Vec<JobConfig>,
}

/// The jobs of a run, with what is needed to point at their mistakes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedJobs {
    /// At least one.
    pub jobs: Vec<JobConfig>,
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
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    /// The table that holds its keys; empty: none.
    table: String,
    /// What stands before a key in messages.
    prefix: String,
}

impl LoadedJobs {
    /// Jobs from no file.
    pub fn without_file(jobs: Vec<JobConfig>) -> Self {
        Self { jobs, ..Self::default() }
    }

    fn in_file(path: &Path, text: &str, places: Vec<Place>, jobs: Vec<JobConfig>) -> Self {
        let file = Source { path: path.to_owned(), text: text.to_owned(), places };
        Self { jobs, notes: Vec::new(), file: Some(file) }
    }

    /// Jobs of a file of fio, each from the section of its name.
    pub(super) fn of_sections(path: &Path, text: &str, names: &[&str], jobs: Vec<JobConfig>) -> Self {
        let place = |(index, name): (usize, &&str)| Place {
            // Of two sections of one name, the second would be taken for the first.
            table: if names[..index].contains(name) { String::new() } else { (*name).to_owned() },
            prefix: if names.len() > 1 { format!("job `{name}`: ") } else { String::new() },
        };
        let places = names.iter().enumerate().map(place).collect();
        Self::in_file(path, text, places, jobs)
    }

    /// An error about a key of a job, with the key's line in the file, or the job's where the key is not written.
    /// Without a file, `name` says which of several jobs, or of their copies, it is about.
    pub fn error_at(&self, index: usize, name: Option<&str>, error: &JobError) -> Error {
        let Some(Source { path, text, places }) = &self.file else {
            let name = name.map(|name| format!(" `{name}`")).unwrap_or_default();
            return Error::Input(format!("job{name}: {error}"));
        };
        let Place { table, prefix } = &places[index];
        let line = nearest_location(text, format!("{table}.{}", error.key).trim_start_matches('.'));
        Error::Input(format!("{}: {prefix}{error}{line}", path.display()))
    }

    /// An error about the jobs as a whole.
    pub fn error(&self, message: &str) -> Error {
        let file = self.file.as_ref().map(|file| format!("{}: ", file.path.display()));
        Error::Input(format!("{}{message}", file.unwrap_or_default()))
    }
}

/// Jobs from their TOML text: the keys of one [`JobConfig`] at top level or in a `[job]` table, or several `[[jobs]]`.
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
    let one = |table: &str| vec![Place { table: table.to_owned(), prefix: String::new() }];
    let parsed = if holds("jobs") {
        toml::from_str::<JobsTable>(text).map(|file| (listed(file.jobs.len()), file.jobs))
    } else if holds("job") {
        toml::from_str::<JobTable>(text).map(|file| (one("job"), vec![file.job]))
    } else {
        toml::from_str(text).map(|job| (one(""), vec![job]))
    };
    let (places, jobs) = parsed.map_err(|error| refused(&with_suggestion(&error.to_string())))?;
    if jobs.is_empty() { Err(refused("`jobs` is empty")) } else { Ok(LoadedJobs::in_file(path, text, places, jobs)) }
}

/// The places of jobs in a list.
fn listed(jobs: usize) -> Vec<Place> {
    let place = |index: usize| Place { table: format!("jobs[{index}]"), prefix: format!("jobs[{index}].") };
    (0..jobs).map(place).collect()
}
