//! Traces that share a drive with jobs, or with each other: each is read, put in its place, and becomes a lane.

use std::ops::Range;
use std::path::PathBuf;

use ninescope_engine::LaneConfig;
use ninescope_generators::{JobConfig, JobError};
use ninescope_kernel::Ns;
use ninescope_model::{PAGE_BYTES, SECTOR_BYTES, Turns};
use ninescope_traces::{TraceReader, TraceSummary};
use serde_json::Value;

use super::limits::limit_of;
use super::trace::{Trace, footprint};
use super::unheard;
use crate::assembly::Assembly;
use crate::config::{LoadedTraces, TraceJob};
use crate::error::Error;
use crate::request::WorkloadSource;
use crate::result::WorkloadReport;

/// Results tell jobs by their names, and traces like them.
pub(super) const NAMELESS: &str = "is empty; results tell jobs by it";

/// A trace among others, and what it has turned out to hold.
struct TenantTrace {
    name: String,
    job: TraceJob,
    /// A job that says the same of its turn, its limits, its time and its planes.
    stand_in: JobConfig,
    trace: Trace,
    summary: TraceSummary,
    /// Where its first address lies on the drive, once that is known [B].
    begins: u64,
}

/// The traces of a run.
pub(super) struct TenantTraces {
    list: Vec<TenantTrace>,
    described: LoadedTraces,
}

impl TenantTraces {
    /// Reads each of them once.
    ///
    /// # Errors
    /// [`Error::Input`] that names file and line of what is wrong with a description, or the trace and its line.
    pub fn read(described: LoadedTraces) -> Result<Self, Error> {
        let read = |(index, job): (usize, &TraceJob)| -> Result<TenantTrace, Error> {
            let refused = |key: &'static str, problem: String| described.error_at(index, key, &problem);
            if job.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
                return Err(refused("name", NAMELESS.to_owned()));
            }
            if !job.offset.0.is_multiple_of(PAGE_BYTES) {
                return Err(refused("offset", format!("{} is no multiple of 4 KiB", job.offset)));
            }
            if job.requests == Some(0) {
                return Err(refused("requests", "0 is not a number of requests; write at least 1".to_owned()));
            }
            if job.iodepth == Some(0) {
                return Err(refused("iodepth", "0 requests outstanding do no work; write at least 1".to_owned()));
            }
            let path = described.folder().join(&job.trace);
            if !path.is_file() {
                return Err(refused("trace", format!("there is no file {}", path.display())));
            }
            let of_trace = |error| described.of_trace(index, error);
            let mut trace = Trace::new(source_of(job, path)).map_err(of_trace)?;
            let summary = trace.placed().map_err(of_trace)?;
            let of_file = || job.trace.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = job.name.clone().or_else(of_file).unwrap_or_default();
            Ok(TenantTrace { stand_in: stand_in(&name, job), name, job: job.clone(), trace, summary, begins: 0 })
        };
        let list = described.traces.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { list, described })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|tenant| tenant.name.as_str())
    }

    /// That a trace is called like something before it.
    pub fn called_twice(&self, index: usize) -> Error {
        let problem = format!("two are called `{}`; give each a `name` of its own", self.list[index].name);
        self.described.error_at(index, "name", &problem)
    }

    /// What a drive must hold for all of them [B].
    pub fn end(&self) -> u64 {
        self.list.iter().map(|tenant| tenant.job.offset.0.saturating_add(tenant.summary.max_address)).max().unwrap_or(0)
    }

    /// Puts each in its place on a drive that is there.
    ///
    /// # Errors
    /// [`Error::Input`] where it reaches beyond the drive.
    pub fn put_on(&mut self, assembly: &Assembly) -> Result<(), Error> {
        for (index, tenant) in self.list.iter_mut().enumerate() {
            let number = tenant.job.namespace.unwrap_or(1);
            let Some(namespace) = assembly.namespace(number) else {
                let problem = format!("there is no namespace {number} on the drive ([[namespaces]])");
                return Err(self.described.error_at(index, "namespace", &problem));
            };
            let offset = namespace.start + tenant.job.offset.0;
            let room = namespace.end.saturating_sub(offset);
            if room == 0 {
                let size = namespace.end - namespace.start;
                let problem =
                    format!("{} is beyond the drive's {size} B, or those of its namespace", tenant.job.offset);
                return Err(self.described.error_at(index, "offset", &problem));
            }
            tenant.begins = offset;
            let summary = tenant.summary.clone();
            tenant.summary = tenant.trace.folded(summary, room, "no --drive")?;
            let options = &mut tenant.trace.options;
            options.map = options.map.clone().moved(offset / SECTOR_BYTES);
            options.requests = tenant.job.requests;
            tenant
                .stand_in
                .validate(assembly.logical_bytes())
                .map_err(|error| self.described.error_at(index, error.key, &error.problem))?;
        }
        Ok(())
    }

    /// What is wrong with one of them.
    pub fn refused(&self, index: usize, error: &JobError) -> Error {
        self.described.error_at(index, error.key, &error.problem)
    }

    /// What each may touch, in one piece, with a job that says what it wants of planes.
    pub fn regions(&self, assembly: &Assembly) -> Vec<(&JobConfig, Range<u32>)> {
        let unit_bytes = u64::from(assembly.geometry.unit_bytes);
        let region = |tenant: &'_ TenantTrace| {
            let (first, end) = (tenant.begins, tenant.begins + tenant.summary.max_address);
            (first / unit_bytes) as u32..(end.div_ceil(unit_bytes) as u32).min(assembly.ftl.logical_units)
        };
        self.list.iter().map(|tenant| (&tenant.stand_in, region(tenant))).collect()
    }

    /// What each says of its turn, its limits and its part.
    pub fn stand_ins(&self) -> impl Iterator<Item = &JobConfig> {
        self.list.iter().map(|tenant| &tenant.stand_in)
    }

    /// The units that they read.
    pub fn units(&self, assembly: &Assembly) -> Vec<Range<u32>> {
        let of_each = |tenant: &TenantTrace| footprint(&tenant.summary, tenant.begins, assembly);
        self.list.iter().flat_map(of_each).collect()
    }

    /// Requests in all, or of one of them alone; unknown where time may end one.
    pub fn requests(&self, only: Option<usize>) -> Option<u64> {
        let runs = |&(index, _): &(usize, _)| only.is_none_or(|only| only == index);
        let of_each = |tenant: &TenantTrace| {
            let all = tenant.summary.requests.saturating_mul(u64::from(tenant.trace.options.loop_count));
            tenant.job.duration.is_none().then(|| all.min(tenant.job.requests.unwrap_or(u64::MAX)))
        };
        let mut of_all = self.list.iter().enumerate().filter(runs).map(|(_, tenant)| of_each(tenant));
        of_all.try_fold(0_u64, |sum, requests| Some(sum.saturating_add(requests?)))
    }

    /// What is to be said of them.
    pub fn notes(&self) -> Vec<String> {
        let of_each = |tenant: &TenantTrace| {
            let note = |note: &String| format!("trace {}: {note}", tenant.name);
            tenant.trace.notes.iter().map(note).collect::<Vec<_>>()
        };
        self.list.iter().flat_map(of_each).collect()
    }

    /// Streams that they name and nothing hears.
    pub fn streams_unheard(&self, assembly: &Assembly) -> Vec<String> {
        let of_each = |tenant: &TenantTrace| {
            unheard::of_stream(tenant.summary.highest_stream, &format!("trace {}", tenant.name), assembly)
        };
        self.list.iter().filter_map(of_each).collect()
    }

    /// What results say of each: its name, its file's contents and how it is replayed.
    ///
    /// # Errors
    /// [`Error::Internal`] where that is no JSON.
    pub fn reports(&self) -> Result<Vec<Value>, Error> {
        let of_each = |tenant: &TenantTrace| {
            let Trace { path, source, .. } = &tenant.trace;
            let mut value = WorkloadReport::of_trace(path, source, &tenant.summary)?.value().clone();
            value["name"] = tenant.name.clone().into();
            value["offset"] = tenant.job.offset.0.into();
            value["namespace"] = tenant.job.namespace.into();
            Ok(value)
        };
        self.list.iter().map(of_each).collect()
    }

    /// What each was described with.
    pub fn descriptions(&self) -> impl Iterator<Item = (&str, &TraceJob)> {
        self.list.iter().map(|tenant| (tenant.name.as_str(), &tenant.job))
    }

    /// Their lanes, which begin behind no wall.
    ///
    /// # Errors
    /// [`Error::Input`] that names the trace.
    pub fn lanes(self) -> Result<Vec<LaneConfig>, Error> {
        let lane = |tenant: TenantTrace| {
            let TenantTrace { job, stand_in, trace, .. } = tenant;
            let (limit, commands_per_queue) = (limit_of(&stand_in), stand_in.commands_per_queue);
            let workload = Box::new(TraceReader::open(&trace.path, trace.options)?);
            Ok(LaneConfig {
                duration: job.duration.map(|time| Ns(time.0)),
                begins: job.startdelay.map_or(Ns::ZERO, |time| Ns(time.0)),
                turns: Turns { class: job.priority.unwrap_or_default(), weight: job.weight },
                limit,
                commands_per_queue,
                ..LaneConfig::new(workload, job.iodepth.unwrap_or(u32::MAX))
            })
        };
        self.list.into_iter().map(lane).collect()
    }
}

/// The trace as a run of it alone would be asked for.
fn source_of(job: &TraceJob, path: PathBuf) -> WorkloadSource {
    WorkloadSource {
        trace: Some(path),
        format: job.format.clone(),
        columns: job.columns.clone(),
        strict: job.strict,
        loop_count: job.loop_count,
        time_scale: job.time_scale,
        closed_loop: job.closed_loop,
        iodepth: job.iodepth,
        trims: job.trims,
        stream: Some(job.stream),
        volume: job.volume.clone(),
        volumes: job.volumes.clone(),
        addresses: job.addresses,
        ..WorkloadSource::default()
    }
}

/// A job that says the same of its turn, its limits, its time and its planes.
fn stand_in(name: &str, job: &TraceJob) -> JobConfig {
    JobConfig {
        name: name.to_owned(),
        duration: job.duration,
        startdelay: job.startdelay,
        priority: job.priority,
        weight: job.weight,
        iops_max: job.iops_max,
        bandwidth_max: job.bandwidth_max,
        limit_burst: job.limit_burst,
        channels: job.channels.clone(),
        dies: job.dies.clone(),
        planes: job.planes.clone(),
        cache_size: job.cache_size,
        buffer_pages: job.buffer_pages,
        commands_per_queue: job.commands_per_queue,
        ..JobConfig::default()
    }
}
