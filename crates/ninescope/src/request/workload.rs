//! Where the requests of a run come from, as it is asked for: reading the files of jobs that a request names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ninescope_generators::{HostCacheConfig, JobConfig, ZoneLogConfig};
use ninescope_model::units::Bytes;
use ninescope_traces::{CsvColumns, TraceError, TraceFormat};
use serde::Deserialize;

use super::{keyed, read_text};
use crate::config::{
    AddressPolicy, JobFile, LoadedJobs, parse_fio, parse_host_cache, parse_job_file, parse_jobs, parse_zone_log,
};
use crate::error::Error;
use crate::presets::{PresetKind, shipped};

/// Where the requests come from: exactly one of `trace`, `job_file`, `job` and `preset`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadSource {
    /// A trace file.
    pub trace: Option<PathBuf>,
    /// What the result calls the trace, where `trace` is a temporary copy.
    pub name: Option<String>,
    /// The trace's format; absent: found out from its content.
    pub format: Option<String>,
    /// What its columns are, in place of a format.
    pub columns: Option<String>,
    /// Whether skipped and out-of-order lines are errors.
    pub strict: bool,
    /// How often the trace is replayed.
    #[serde(rename = "loop")]
    pub loop_count: Option<u32>,
    /// Factor on the gaps between requests.
    pub time_scale: Option<f64>,
    /// Whether time stamps are ignored and a queue depth is kept instead.
    pub closed_loop: bool,
    /// The queue depth of a closed loop; absent: the drive's.
    pub iodepth: Option<u32>,
    /// Whether the trace's discards are requests too.
    pub trims: bool,
    /// The stream that the host names for writes of which the trace names none; absent: none.
    pub stream: Option<u8>,
    /// The volumes of the trace to replay, by name; all when empty.
    pub volume: Vec<String>,
    /// Where the volumes of the trace lie: `in-order` (the default), `merge`, or `map:NAME=OFFSET,...`.
    pub volumes: Option<String>,
    /// What becomes of addresses beyond the drive: `refuse` (the default), `wrap` or `compact`.
    pub addresses: Option<AddressPolicy>,
    /// A TOML file whose table `[host_cache]` describes a cache on the drive: the trace is that of the disk behind it.
    pub host_cache: Option<PathBuf>,
    /// A TOML file whose table `[zone_log]` describes a log on the zones of the drive, to which the requests of the trace go.
    pub zone_log: Option<PathBuf>,
    /// Jobs in a TOML file, or in one of fio (`.fio`).
    pub job_file: Option<PathBuf>,
    /// A job in fio's words, or a list of jobs.
    pub job: Option<serde_json::Value>,
    /// A job that comes with ninescope, by name.
    pub preset: Option<String>,
}

/// Where the volumes of a trace lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VolumePlacement {
    /// One after the other.
    #[default]
    InOrder,
    /// All at zero.
    Merge,
    /// Each where the map says [bytes].
    Map(BTreeMap<String, u64>),
}

impl FromStr for VolumePlacement {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |problem: String| Error::Input(format!("volumes: {problem}"));
        let entries = match text {
            "in-order" => return Ok(Self::InOrder),
            "merge" => return Ok(Self::Merge),
            _ => text
                .strip_prefix("map:")
                .ok_or_else(|| wrong(format!("`{text}` is not one of in-order, merge, map:NAME=OFFSET;NAME=OFFSET")))?,
        };
        let mut map = BTreeMap::new();
        for entry in entries.split(';') {
            let (name, offset) = entry
                .rsplit_once('=')
                .ok_or_else(|| wrong(format!("`{entry}` is not NAME=OFFSET, as in map:hm_0=0;hm_1=16GiB")))?;
            let offset: Bytes = offset.trim().parse().map_err(|error| wrong(format!("`{entry}`: {error}")))?;
            if map.insert(name.trim().to_owned(), offset.0).is_some() {
                return Err(wrong(format!("`{name}` has two places")));
            }
        }
        Ok(Self::Map(map))
    }
}

impl WorkloadSource {
    /// What messages and results call the job.
    pub(crate) fn job_name(&self) -> String {
        match (&self.preset, &self.job_file) {
            (Some(name), _) => format!("preset {name}"),
            (None, path) => path.as_ref().map_or_else(|| "job".to_owned(), |path| path.display().to_string()),
        }
    }

    /// The cache on the drive that a trace goes through.
    pub(crate) fn load_host_cache(&self) -> Result<Option<HostCacheConfig>, Error> {
        let Some(path) = &self.host_cache else { return Ok(None) };
        if self.trace.is_none() {
            let problem = "is for traces; a job file has a table [host_cache] of its own";
            return Err(Error::Input(format!("host_cache: {} {problem}", path.display())));
        }
        parse_host_cache(path, &read_text(path)?).map(Some)
    }

    /// The log on the zones of the drive that a trace goes to.
    pub(crate) fn load_zone_log(&self) -> Result<Option<ZoneLogConfig>, Error> {
        let Some(path) = &self.zone_log else { return Ok(None) };
        let refused = |problem: &str| Err(Error::Input(format!("zone_log: {} {problem}", path.display())));
        if self.trace.is_none() {
            return refused("is for traces; a job file has a table [zone_log] of its own");
        }
        if self.host_cache.is_some() {
            return refused("and host_cache both take the requests; give one");
        }
        parse_zone_log(path, &read_text(path)?).map(Some)
    }

    /// The job file, where its requests come from a file system or go through a host cache.
    pub(crate) fn load_job_file(&self) -> Result<Option<JobFile>, Error> {
        match self.job_toml()? {
            Some((path, text)) => parse_job_file(&path, &text),
            None => Ok(None),
        }
    }

    /// The text of a shipped job or of a job file, unless it is in fio's own format, and what messages call it.
    fn job_toml(&self) -> Result<Option<(PathBuf, String)>, Error> {
        match (&self.preset, &self.job_file) {
            (Some(name), _) => Ok(Some((self.job_name().into(), shipped(PresetKind::Jobs, name)?.toml.to_owned()))),
            (None, Some(path)) if !is_of_fio(path) => Ok(Some((path.clone(), read_text(path)?))),
            _ => Ok(None),
        }
    }

    /// The jobs, where the workload is made of them.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and key.
    pub fn load_jobs(&self) -> Result<Option<LoadedJobs>, Error> {
        if let Some((path, text)) = self.job_toml()? {
            return parse_jobs(&path, &text).map(Some);
        }
        match (&self.job_file, &self.job) {
            (Some(path), _) => parse_fio(path, &read_text(path)?).map(Some),
            (None, Some(value)) => {
                let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let jobs = values.iter().map(job_of_value).collect::<Result<Vec<_>, _>>()?;
                if jobs.is_empty() {
                    Err(Error::Input("job: the list is empty".into()))
                } else {
                    Ok(Some(LoadedJobs::without_file(jobs)))
                }
            }
            (None, None) => Ok(None),
        }
    }

    /// Where the trace's volumes lie.
    ///
    /// # Errors
    /// [`Error::Input`] with what can be written.
    pub fn volume_placement(&self) -> Result<VolumePlacement, Error> {
        self.volumes.as_deref().map_or_else(|| Ok(VolumePlacement::default()), str::parse)
    }

    /// The trace's format, where it is named.
    ///
    /// # Errors
    /// [`Error::Input`] with the formats there are.
    pub fn trace_format(&self) -> Result<Option<TraceFormat>, Error> {
        let parse = |name: &String| name.parse().map_err(|error: TraceError| Error::Input(error.to_string()));
        self.format.as_ref().map(parse).transpose()
    }

    /// What the trace's columns are, where they are described.
    ///
    /// # Errors
    /// [`Error::Input`] with what is wrong with the description.
    pub fn trace_columns(&self) -> Result<Option<CsvColumns>, Error> {
        let parse = |text: &String| CsvColumns::parse_option(text).map_err(|error| Error::Input(error.to_string()));
        self.columns.as_ref().map(parse).transpose()
    }
}

fn is_of_fio(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "fio")
}

/// What may be said of a job's region in percent by the key of its bytes, as in fio.
const OF_REGION: [(&str, &str); 2] = [("size", "size_percent"), ("offset", "offset_percent")];

/// A job's words with shares of the drive under the keys that are for them: `size = "25%"` is `size_percent = 25`.
fn with_shares(value: &serde_json::Value) -> Result<serde_json::Value, Error> {
    let mut job = value.clone();
    let Some(words) = job.as_object_mut() else { return Ok(job) };
    for (key, of_shares) in OF_REGION {
        let percent = words.get(key).and_then(|size| size.as_str()?.trim().strip_suffix('%'));
        let share: Option<f64> = percent.and_then(|percent| percent.trim().parse().ok());
        if let Some(share) = share.filter(|_| !words.contains_key(of_shares)) {
            if !(0.0..=100.0).contains(&share) {
                return Err(Error::Input(format!("job: {key}: {share} is not a share in percent, from 0 to 100")));
            }
            words.remove(key);
            words.insert(of_shares.to_owned(), share.into());
        }
    }
    Ok(job)
}

fn job_of_value(value: &serde_json::Value) -> Result<JobConfig, Error> {
    serde_path_to_error::deserialize(with_shares(value)?)
        .map_err(|error| Error::Input(format!("job: {}", keyed(&error.path().to_string(), &error.inner().to_string()))))
}
