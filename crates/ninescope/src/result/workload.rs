//! What the result says about the workload.

use std::path::Path;

use ninescope_generators::{HostCacheConfig, JobConfig, ZoneLogConfig};
use ninescope_traces::TraceSummary;
use serde_json::{Value, json};

use crate::config::{JobFile, JobOptions, JobWork};
use crate::error::Error;
use crate::request::WorkloadSource;

/// The workload's entry in the result.
#[derive(Clone, Debug)]
pub struct WorkloadReport {
    value: Value,
    options: JobOptions,
    /// The job of each lane.
    jobs: Vec<JobConfig>,
}

impl WorkloadReport {
    /// Of a trace: what was read, how it was replayed, what was skipped.
    pub fn of_trace(path: &Path, source: &WorkloadSource, summary: &TraceSummary) -> Result<Self, Error> {
        let statistics = serde_json::to_value(summary).map_err(|error| Error::Internal(error.to_string()))?;
        let name = source
            .name
            .clone()
            .unwrap_or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        let mut value = json!({
            "kind": "trace",
            "path": name,
            "hash": statistics["hash"],
            "loop": source.loop_count.unwrap_or(1),
            "time_scale": source.time_scale.unwrap_or(1.0),
            "closed_loop": source.closed_loop,
            "addresses": source.addresses.unwrap_or_default(),
        });
        for key in [
            "format",
            "requests",
            "reads",
            "writes",
            "skipped_lines",
            "skipped_discards",
            "first_skipped",
            "reordered",
            "clamped",
            "distinct_times",
            "time_resolution_ns",
            "unaligned",
            "devices",
            "volumes",
        ] {
            value[key] = statistics[key].clone();
        }
        if let Some(stream) = source.stream.filter(|&stream| stream > 0) {
            value["stream"] = stream.into();
        }
        Ok(Self::without_jobs(value))
    }

    /// Of synthetic jobs: their complete descriptions, one as `job`, several as `jobs`; and of the traces behind them what was
    /// read, each by its name.
    pub fn of_jobs(
        source: &WorkloadSource,
        jobs: &[JobConfig],
        traces: Vec<Value>,
        options: JobOptions,
    ) -> Result<Self, Error> {
        let internal = |error: serde_json::Error| Error::Internal(error.to_string());
        let path = source.job_file.as_ref().and_then(|path| path.file_name());
        let mut value = json!({
            "kind": "synthetic",
            "path": path.map(|name| name.to_string_lossy().into_owned()),
            "hash": Value::Null,
        });
        if !traces.is_empty() {
            if jobs.is_empty() {
                value["kind"] = "traces".into();
            }
            value["traces"] = traces.into();
        }
        match jobs {
            [] => {}
            [job] => value["job"] = serde_json::to_value(job).map_err(internal)?,
            jobs => value["jobs"] = serde_json::to_value(jobs).map_err(internal)?,
        }
        Ok(Self { value, options, jobs: jobs.to_vec() })
    }

    /// Of a job file with a file system or a host cache: its complete description.
    pub fn of_job_file(source: &WorkloadSource, file: &JobFile) -> Result<Self, Error> {
        let internal = |error: serde_json::Error| Error::Internal(error.to_string());
        let path = source.job_file.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        let mut value = json!({
            "kind": "synthetic",
            "path": path.map(std::borrow::Cow::into_owned).or_else(|| source.preset.clone()),
            "hash": Value::Null,
        });
        match &file.work {
            JobWork::Job(job) => value["job"] = serde_json::to_value(job).map_err(internal)?,
            JobWork::FileSystem(system) => value["file_system"] = serde_json::to_value(system).map_err(internal)?,
        }
        match (&file.host_cache, &file.zone_log) {
            (Some(cache), _) => Self::without_jobs(value).behind(cache),
            (None, Some(log)) => Self::without_jobs(value).through(log),
            (None, None) => Ok(Self::without_jobs(value)),
        }
    }

    /// The same behind a cache.
    pub fn behind(mut self, cache: &HostCacheConfig) -> Result<Self, Error> {
        self.value["host_cache"] = serde_json::to_value(cache).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(self)
    }

    /// The same through a log on zones.
    pub fn through(mut self, log: &ZoneLogConfig) -> Result<Self, Error> {
        self.value["zone_log"] = serde_json::to_value(log).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(self)
    }

    /// Of a list of requests made by a program.
    pub fn of_list(requests: u64) -> Self {
        Self::without_jobs(json!({"kind": "list", "path": Value::Null, "hash": Value::Null, "requests": requests}))
    }

    /// What the gaps of a trace were multiplied by; nothing of what has no times of its own.
    pub fn time_scale(&self) -> Option<f64> {
        self.value["time_scale"].as_f64()
    }

    /// The job whose requests a lane has; nothing where it has others.
    pub fn job_of_lane(&self, lane: usize) -> Option<&JobConfig> {
        self.jobs.get(lane)
    }

    /// The namespace that a lane goes into, as far as it says one.
    pub fn namespace_of_lane(&self, lane: usize) -> Option<u32> {
        match lane.checked_sub(self.jobs.len()) {
            None => self.jobs[lane].namespace,
            Some(trace) => self.value["traces"][trace]["namespace"].as_u64().map(|number| number as u32),
        }
    }

    /// Whether a job of it writes in passes.
    pub fn writes_in_passes(&self) -> bool {
        self.jobs.iter().any(JobConfig::writes_in_passes)
    }

    /// The entry.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What the jobs were described with; nothing where there are none.
    pub fn options(&self) -> &JobOptions {
        &self.options
    }

    fn without_jobs(value: Value) -> Self {
        Self { value, options: JobOptions::default(), jobs: Vec::new() }
    }
}
