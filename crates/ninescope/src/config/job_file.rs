//! Job files in TOML: a job in fio's words or a file-system workload, each perhaps behind a host cache.

use std::path::Path;

use ninescope_workload::{FileSystemConfig, HostCacheConfig, JobConfig};
use serde::Deserialize;
use toml::Table;

use super::diagnostics::with_suggestion;
use crate::error::Error;

/// What makes the requests to the disk, or to the drive itself.
#[derive(Clone, Debug, PartialEq)]
pub enum JobWork {
    /// A job in fio's words.
    Job(JobConfig),
    /// Operations on files.
    FileSystem(FileSystemConfig),
}

/// A job file.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// What makes the requests.
    pub work: JobWork,
    /// The cache on the drive, where the requests go to a disk behind it.
    pub host_cache: Option<HostCacheConfig>,
}

impl JobFile {
    /// What a drive must hold, as far as the file says it [B].
    pub fn drive_bytes(&self) -> u64 {
        match (&self.host_cache, &self.work) {
            (Some(cache), _) => cache.size.map_or(0, |size| size.0),
            (None, JobWork::FileSystem(system)) => system.disk_size.0,
            (None, JobWork::Job(job)) => job.size.map_or(0, |size| job.offset.0.saturating_add(size.0)),
        }
    }
}

/// The tables of a job file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    /// One line for the list of what is shipped.
    #[serde(rename = "summary")]
    _summary: Option<String>,
    job: Option<JobConfig>,
    file_system: Option<FileSystemConfig>,
    host_cache: Option<HostCacheConfig>,
}

/// A job file from its TOML text: the keys of [`JobConfig`] at top level, or tables `[job]` or `[file_system]`,
/// and `[host_cache]`.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_job_file(path: &Path, text: &str) -> Result<JobFile, Error> {
    let wrong = |problem: String| Error::Input(format!("{}: {problem}", path.display()));
    let table = toml::from_str::<Table>(text).ok();
    if table.as_ref().is_some_and(Table::is_empty) {
        return Err(wrong("the file is empty; a job says at least `rw`".to_owned()));
    }
    let named = |names: &[&str]| table.as_ref().is_some_and(|table| names.iter().any(|name| table.contains_key(*name)));
    if !named(&["job", "file_system", "host_cache"]) {
        let job = toml::from_str(text).map_err(|error| wrong(with_suggestion(&error.to_string())))?;
        return Ok(JobFile { work: JobWork::Job(job), host_cache: None });
    }
    let tables: Tables = toml::from_str(text).map_err(|error| wrong(with_suggestion(&error.to_string())))?;
    let work = match (tables.job, tables.file_system) {
        (Some(job), None) => JobWork::Job(job),
        (None, Some(system)) => JobWork::FileSystem(system),
        (None, None) => return Err(wrong("[host_cache] needs requests: a table [job] or [file_system]".to_owned())),
        (Some(_), Some(_)) => return Err(wrong("[job] and [file_system] are two workloads; give one".to_owned())),
    };
    Ok(JobFile { work, host_cache: tables.host_cache })
}

/// The table `[host_cache]` of a TOML text, which may be a whole job file.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_host_cache(path: &Path, text: &str) -> Result<HostCacheConfig, Error> {
    let wrong = |problem: String| Error::Input(format!("{}: {problem}", path.display()));
    let tables: Tables = toml::from_str(text).map_err(|error| wrong(with_suggestion(&error.to_string())))?;
    tables.host_cache.ok_or_else(|| wrong("has no table [host_cache]".to_owned()))
}
