//! Job files with a host cache or a file system.

use std::path::Path;

use ninescope_generators::{FileSystemConfig, HostCacheConfig, JobConfig, JobError, ZoneLogConfig};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use super::diagnostics::{location, nearest_location, of_toml};
use crate::error::Error;

/// What makes the requests to the disk, or to the drive itself.
#[derive(Clone, Debug, PartialEq)]
pub enum JobWork {
    /// A job in fio's words.
    Job(Box<JobConfig>),
    /// Operations on files.
    FileSystem(FileSystemConfig),
}

/// A job file with a host cache or a file system.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// What makes the requests.
    pub work: JobWork,
    /// The cache on the drive, where the requests go to a disk behind it.
    pub host_cache: Option<HostCacheConfig>,
    /// The log on the zones of the drive that the requests go to.
    pub zone_log: Option<ZoneLogConfig>,
    /// What its mistakes are pointed out in.
    pub origin: JobText,
}

/// The text of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct JobText {
    name: String,
    text: String,
}

impl JobText {
    /// An error about a key, with its line, or that of its table where it is not written.
    pub fn error(&self, error: &JobError) -> Error {
        let (table, key) = error.key.split_once('.').unwrap_or(("job", error.key));
        let line = nearest_location(&self.text, &format!("{table}.{key}"));
        Error::Input(format!("{}: {error}{line}", self.name))
    }
}

impl JobFile {
    /// What a drive must hold, as far as the file says it [B].
    pub fn drive_bytes(&self) -> u64 {
        if let Some(log) = &self.zone_log {
            return log.size.0;
        }
        match (&self.host_cache, &self.work) {
            (Some(cache), _) => cache.size.map_or(0, |size| size.0),
            (None, JobWork::FileSystem(system)) => system.disk_size.0,
            (None, JobWork::Job(job)) => job.drive_bytes(),
        }
    }
}

/// The tables of a job file with one workload.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobTables {
    /// One line for the list of what is shipped.
    pub summary: Option<String>,
    /// The job.
    pub job: Option<JobConfig>,
    /// Operations on files, in place of a job.
    pub file_system: Option<FileSystemConfig>,
    /// A write-back cache on the drive, in front of a disk, to which the requests go.
    pub host_cache: Option<HostCacheConfig>,
    /// A log-structured store on the zones of the drive, to which the requests go.
    pub zone_log: Option<ZoneLogConfig>,
}

/// A job file from its TOML text: the tables `[job]` or `[file_system]`, and `[host_cache]`. None where it has neither
/// a file system nor a host cache; such files are read by [`super::parse_jobs`].
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_job_file(path: &Path, text: &str) -> Result<Option<JobFile>, Error> {
    let has_tables = toml::from_str::<Table>(text)
        .is_ok_and(|table| ["file_system", "host_cache", "zone_log"].iter().any(|name| table.contains_key(*name)));
    if !has_tables {
        return Ok(None);
    }
    let wrong = |problem: &str| Error::Input(format!("{}: {problem}", path.display()));
    let tables = parse_tables(path, text)?;
    let work = match (tables.job, tables.file_system) {
        (Some(job), None) => JobWork::Job(Box::new(job)),
        (None, Some(system)) => JobWork::FileSystem(system),
        (None, None) => {
            let table = if tables.zone_log.is_some() { "zone_log" } else { "host_cache" };
            return Err(wrong(&format!("[{table}] needs requests: a table [job] or [file_system]")));
        }
        (Some(_), Some(_)) => return Err(wrong("[job] and [file_system] are two workloads; give one")),
    };
    if tables.zone_log.is_some() && tables.host_cache.is_some() {
        return Err(wrong("[host_cache] and [zone_log] both take the requests; give one"));
    }
    let origin = JobText { name: path.display().to_string(), text: text.to_owned() };
    Ok(Some(JobFile { work, host_cache: tables.host_cache, zone_log: tables.zone_log, origin }))
}

/// The table `[host_cache]` of a TOML text, which may be a whole job file.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_host_cache(path: &Path, text: &str) -> Result<HostCacheConfig, Error> {
    table_of(path, text, "host_cache", |tables| tables.host_cache)
}

/// The table `[zone_log]` of a TOML text, which may be a whole job file.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_zone_log(path: &Path, text: &str) -> Result<ZoneLogConfig, Error> {
    table_of(path, text, "zone_log", |tables| tables.zone_log)
}

/// One table of a job file, whatever else is there. A file of another kind is told as that, and not by the first of its keys.
fn table_of<T>(path: &Path, text: &str, name: &str, of: impl FnOnce(JobTables) -> Option<T>) -> Result<T, Error> {
    let missing = || Error::Input(format!("{}: has no table [{name}]", path.display()));
    if toml::from_str::<Table>(text).is_ok_and(|table| !table.contains_key(name)) {
        return Err(missing());
    }
    of(parse_tables(path, text)?).ok_or_else(missing)
}

fn parse_tables(path: &Path, text: &str) -> Result<JobTables, Error> {
    let wrong = |problem: &str| Error::Input(format!("{}: {problem}", path.display()));
    if toml::from_str::<Table>(text).is_ok_and(|table| table.contains_key("jobs")) {
        let problem = "several jobs go with no file system, host cache or log on zones; give one [job]";
        return Err(wrong(&format!("{problem}{}", location(text, "jobs[0]"))));
    }
    toml::from_str(text).map_err(|error| wrong(&of_toml(text, &error)))
}
