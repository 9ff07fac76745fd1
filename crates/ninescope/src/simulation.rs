//! A run from its request to its result, advanced in slices of wall time.

use std::time::{Duration as WallTime, Instant};

use ninescope_engine::meter::Sample;
use ninescope_engine::{Device, NoProbe, RequestLogEntry, RunLimits};
use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;
use ninescope_model::{Geometry, Op};
use ninescope_workload::{JobConfig, SyntheticJob, TraceOptions, TraceReader, TraceSummary, Workload};

use crate::assembly::{Assembly, fit_drive};
use crate::error::Error;
use crate::prepare::{PrefillMode, Preparation, SteadyState};
use crate::request::{RunRequest, Warmup, WorkloadSource};
use crate::result::{ResultInput, WorkloadReport, result_json};

/// Units prepared, or events handled, between two looks at the clock.
const PREPARE_STEP_UNITS: u32 = 200_000;
const RUN_STEP_EVENTS: u64 = 50_000;

/// What a simulation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Filling the drive.
    Prepare,
    /// Running the workload.
    Run,
}

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceProgress {
    /// What it is doing.
    pub phase: Phase,
    /// Units written, or commands completed.
    pub done: u64,
    /// Of how many, where that is known.
    pub total: Option<u64>,
    /// Simulated time.
    pub simulated: Ns,
    /// Nothing is left to do.
    pub finished: bool,
}

/// What exists before the device does.
struct Preparing {
    ftl: Ftl,
    preparation: Preparation,
    workload: Box<dyn Workload>,
}

enum Stage {
    Preparing(Box<Preparing>),
    Running(Box<Device>),
    /// Between two stages, or after a failed change of stage.
    Nothing,
}

/// One run.
pub struct Simulation {
    assembly: Assembly,
    seed: u64,
    prefill: PrefillMode,
    limits: RunLimits,
    report: WorkloadReport,
    total_requests: Option<u64>,
    stage: Stage,
    steady: Option<SteadyState>,
    prepared_units: u64,
    finished: bool,
    prepare_time: WallTime,
    run_time: WallTime,
    notes: Vec<String>,
    /// What the result calls the drive.
    drive_name: String,
    /// How the run was asked for, for the result.
    run: serde_json::Value,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Simulation")
            .field("seed", &self.seed)
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Reads and checks everything; nothing is simulated yet.
    ///
    /// # Errors
    /// [`Error::Input`] that names file, line or key.
    pub fn new(request: &RunRequest) -> Result<Self, Error> {
        let source = request.workload.clone().unwrap_or_default();
        let named = [source.trace.is_some(), source.job_file.is_some(), source.job.is_some()];
        if named.iter().filter(|&&is_named| is_named).count() != 1 {
            return Err(Error::Input("workload: give exactly one of a trace, a job file and a job".into()));
        }
        match source.load_job()? {
            Some(job) => Self::of_job(request, &source, job),
            None => Self::of_trace(request, &source),
        }
    }

    fn of_trace(request: &RunRequest, source: &WorkloadSource) -> Result<Self, Error> {
        let path = source.trace.clone().unwrap_or_default();
        let options = TraceOptions {
            format: source.trace_format()?,
            strict: source.strict,
            time_scale: source.time_scale.unwrap_or(1.0),
            loop_count: source.loop_count.unwrap_or(1),
            closed_loop: source.closed_loop,
            ..TraceOptions::default()
        };
        options.validate()?;
        let summary = TraceSummary::scan(&path, &options)?;
        let mut notes = Vec::new();
        let mut drive = request.load_drive()?;
        if request.drive.is_none()
            && !request.set.iter().any(|set| set.trim_start().starts_with("geometry.blocks_per_plane"))
        {
            fit_drive(&mut drive.config, summary.max_address)
                .map_err(|message| Error::Input(format!("{}: {message}", path.display())))?;
            notes.push(format!(
                "default drive, sized to the trace: {} blocks per plane",
                drive.config.geometry.blocks_per_plane
            ));
        }
        let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
        if summary.max_address > assembly.logical_bytes() {
            return Err(Error::Input(format!(
                "{}: the trace reaches address {} B ({:.2} GiB), beyond the drive's {} B ({:.2} GiB); use a larger \
                 drive (geometry.blocks_per_plane), or no --drive to have one sized to the trace",
                path.display(),
                summary.max_address,
                gibibytes(summary.max_address),
                assembly.logical_bytes(),
                gibibytes(assembly.logical_bytes()),
            )));
        }
        let unit_bytes = u64::from(assembly.geometry.unit_bytes);
        let footprint = || {
            let pages = summary.read_pages.ranges();
            let bytes = pages
                .map(|pages| pages.start * ninescope_workload::PAGE_BYTES..pages.end * ninescope_workload::PAGE_BYTES);
            // A page may reach beyond an odd end of the drive.
            bytes
                .map(|bytes| {
                    (bytes.start / unit_bytes) as u32
                        ..(bytes.end.div_ceil(unit_bytes) as u32).min(assembly.ftl.logical_units)
                })
                .collect()
        };
        let whole = 0..assembly.ftl.logical_units;
        let preparation = preparation(request, footprint, whole, &assembly.geometry);
        let total = summary.requests * u64::from(options.loop_count);
        let limits = limits(
            request,
            total,
            request.requests,
            request.duration.map(|duration| Ns(duration.0)),
            source.iodepth.unwrap_or(u32::MAX),
        )?;
        let report = WorkloadReport::of_trace(&path, source, &summary)?;
        let workload = Box::new(TraceReader::open(&path, options)?);
        Self::assembled(request, assembly, limits, report, Some(total), preparation, workload, notes)
    }

    fn of_job(request: &RunRequest, source: &WorkloadSource, mut job: JobConfig) -> Result<Self, Error> {
        let mut notes = vec!["synthetic workload".to_owned()];
        let mut drive = request.load_drive()?;
        job.requests = request.requests.or(job.requests);
        job.duration = request.duration.or(job.duration);
        job.iodepth = source.iodepth.unwrap_or(job.iodepth);
        if request.drive.is_none()
            && !request.set.iter().any(|set| set.trim_start().starts_with("geometry.blocks_per_plane"))
        {
            fit_drive(&mut drive.config, job.size.map_or(0, |size| job.offset.0.saturating_add(size.0)))
                .map_err(|message| Error::Input(format!("job: size: {message}")))?;
            notes.push(format!("default drive: {} blocks per plane", drive.config.geometry.blocks_per_plane));
        }
        let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
        let region = job.validate(assembly.logical_bytes())?;
        let per_unit = u64::from(assembly.geometry.sectors_per_unit());
        let first = region.first_sector / per_unit;
        let last_place = region.first_sector + (region.places - 1) * region.stride_sectors;
        let end = (last_place + u64::from(region.request_sectors)).div_ceil(per_unit);
        let units = first as u32..end as u32;
        let whole = 0..assembly.ftl.logical_units;
        let preparation = preparation(request, || vec![units], whole, &assembly.geometry);
        let depth = job.iodepth;
        let report = WorkloadReport::of_job(source, &job)?;
        let total = job.requests;
        let workload = SyntheticJob::new(job, assembly.logical_sectors(), request.seed)?;
        let config = workload.config();
        let endless = config.requests.is_none() && config.duration.is_some();
        let known = total.or((!endless).then_some(region.places));
        let limits = limits(request, known.unwrap_or(0), None, config.duration.map(|duration| Ns(duration.0)), depth)?;
        Self::assembled(request, assembly, limits, report, known, preparation, Box::new(workload), notes)
    }

    #[allow(clippy::too_many_arguments)] // the parts that both kinds of workload have made
    fn assembled(
        request: &RunRequest,
        assembly: Assembly,
        limits: RunLimits,
        report: WorkloadReport,
        total_requests: Option<u64>,
        preparation: Preparation,
        workload: Box<dyn Workload>,
        notes: Vec<String>,
    ) -> Result<Self, Error> {
        let mut notes = notes;
        notes.extend(assembly.spare_note());
        let ftl = assembly.empty_ftl().map_err(|error| Error::Internal(error.to_string()))?;
        let bounded = match (total_requests, limits.requests) {
            (Some(total), Some(limit)) => Some(total.min(limit)),
            (total, limit) => total.or(limit),
        };
        Ok(Self {
            assembly,
            seed: request.seed,
            prefill: request.prefill,
            limits,
            report,
            total_requests: bounded,
            stage: Stage::Preparing(Box::new(Preparing { ftl, preparation, workload })),
            steady: None,
            prepared_units: 0,
            finished: false,
            prepare_time: WallTime::ZERO,
            run_time: WallTime::ZERO,
            notes,
            drive_name: request.drive_name(),
            run: request.run_settings(),
        })
    }

    /// Goes on for about `budget` of wall time. How a run is cut into slices changes nothing in it.
    ///
    /// # Errors
    /// See [`Error`]; the run is over then.
    pub fn run_slice(&mut self, budget: WallTime) -> Result<SliceProgress, Error> {
        let begin = Instant::now();
        while !self.finished {
            let step = Instant::now();
            let preparing = matches!(self.stage, Stage::Preparing(_));
            self.step()?;
            *(if preparing { &mut self.prepare_time } else { &mut self.run_time }) += step.elapsed();
            if begin.elapsed() >= budget {
                break;
            }
        }
        Ok(self.progress())
    }

    fn step(&mut self) -> Result<(), Error> {
        match &mut self.stage {
            Stage::Preparing(preparing) => {
                let Preparing { ftl, preparation, .. } = preparing.as_mut();
                let ready =
                    preparation.advance(ftl, PREPARE_STEP_UNITS).map_err(|error| Error::Internal(error.to_string()))?;
                if ready {
                    self.begin_run()?;
                }
            }
            Stage::Running(device) => self.finished = device.run_slice(RUN_STEP_EVENTS)?.finished,
            Stage::Nothing => self.finished = true,
        }
        Ok(())
    }

    fn begin_run(&mut self) -> Result<(), Error> {
        let Stage::Preparing(preparing) = std::mem::replace(&mut self.stage, Stage::Nothing) else {
            return Ok(());
        };
        let Preparing { ftl, preparation, workload } = *preparing;
        self.steady = preparation.steady_state().cloned();
        self.prepared_units = preparation.written();
        let nand = self.assembly.media_for(&ftl)?;
        let device = Device::new(&self.assembly.engine, &self.limits, ftl, nand, workload, NoProbe);
        self.stage = Stage::Running(Box::new(device));
        Ok(())
    }

    /// How far it is.
    pub fn progress(&self) -> SliceProgress {
        match &self.stage {
            Stage::Preparing(preparing) => SliceProgress {
                phase: Phase::Prepare,
                done: preparing.preparation.written(),
                total: Some(preparing.preparation.total()),
                simulated: Ns::ZERO,
                finished: false,
            },
            Stage::Running(device) => SliceProgress {
                phase: Phase::Run,
                done: device.completed(),
                total: self.total_requests,
                simulated: device.now(),
                finished: self.finished,
            },
            Stage::Nothing => {
                SliceProgress { phase: Phase::Run, done: 0, total: None, simulated: Ns::ZERO, finished: self.finished }
            }
        }
    }

    /// The device, once it runs.
    pub fn device(&self) -> Option<&Device> {
        match &self.stage {
            Stage::Running(device) => Some(device),
            _ => None,
        }
    }

    /// The request log so far.
    pub fn request_log(&self) -> &[RequestLogEntry] {
        self.device().map(Device::request_log).unwrap_or_default()
    }

    /// `(upper bound [ns], count)` of the latency buckets of one kind of command.
    pub fn histogram(&self, op: Op) -> Vec<(u64, u64)> {
        self.device().map(|device| device.meter().ops[op as usize].latency.nonempty().collect()).unwrap_or_default()
    }

    /// The time series so far, by column; one row per interval of equal length.
    pub fn series(&self) -> Vec<(&'static str, Vec<u64>)> {
        let Some(device) = self.device() else { return Vec::new() };
        let series = &device.meter().series;
        let (since, interval) = (device.meter().since.0, series.interval().0);
        let column = |value: fn(&Sample) -> u64| series.samples().iter().map(value).collect::<Vec<u64>>();
        vec![
            ("begin_ns", (0..series.samples().len() as u64).map(|index| since + index * interval).collect()),
            ("reads", column(|sample| sample.reads)),
            ("writes", column(|sample| sample.writes)),
            ("read_bytes", column(|sample| sample.read_bytes)),
            ("write_bytes", column(|sample| sample.write_bytes)),
            ("read_latency_sum_ns", column(|sample| sample.read_latency_sum)),
            ("write_latency_sum_ns", column(|sample| sample.write_latency_sum)),
            ("read_latency_max_ns", column(|sample| sample.read_latency_max)),
            ("write_latency_max_ns", column(|sample| sample.write_latency_max)),
        ]
    }

    /// The result so far as JSON (the shape of the design, section 6). `complete` says whether the caller let it finish.
    ///
    /// # Errors
    /// [`Error::Internal`] when the result cannot be written.
    pub fn result_json(&mut self, complete: bool) -> Result<String, Error> {
        let utilization = match &mut self.stage {
            Stage::Running(device) => Some(device.utilization()),
            _ => None,
        };
        let input = ResultInput {
            assembly: &self.assembly,
            device: self.device(),
            utilization,
            complete: complete && self.finished,
            seed: self.seed,
            prefill: self.prefill,
            steady: self.steady.as_ref(),
            prepared_units: self.prepared_units,
            report: &self.report,
            prepare_seconds: self.prepare_time.as_secs_f64(),
            run_seconds: self.run_time.as_secs_f64(),
            notes: &self.notes,
            drive_name: &self.drive_name,
            run: &self.run,
        };
        serde_json::to_string(&result_json(&input)?).map_err(|error| Error::Internal(error.to_string()))
    }
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

fn preparation(
    request: &RunRequest,
    footprint: impl FnOnce() -> Vec<std::ops::Range<u32>>,
    overwritten: std::ops::Range<u32>,
    geometry: &Geometry,
) -> Preparation {
    let round = geometry.units_per_group() * geometry.pools();
    let seed = request.seed;
    match request.prefill {
        PrefillMode::None => Preparation::new(Vec::new(), None, round, seed),
        PrefillMode::Footprint => Preparation::new(footprint(), None, round, seed),
        PrefillMode::Full => Preparation::new(vec![overwritten], None, round, seed),
        PrefillMode::Steady => Preparation::new(vec![overwritten.clone()], Some(overwritten), round, seed),
    }
}

fn limits(
    request: &RunRequest,
    total: u64,
    requests: Option<u64>,
    duration: Option<Ns>,
    closed_queue_depth: u32,
) -> Result<RunLimits, Error> {
    let total = requests.map_or(total, |requests| requests.min(total));
    let warmup_requests = match request.warmup {
        None => 0,
        Some(Warmup::Requests(requests)) => requests,
        Some(Warmup::Share(share)) if (0.0..1.0).contains(&share) => (total as f64 * share) as u64,
        Some(Warmup::Share(share)) => {
            return Err(Error::Input(format!("warmup: {share} is neither a whole number nor a share below 1")));
        }
    };
    if warmup_requests > 0 && total > 0 && warmup_requests >= total {
        return Err(Error::Input(format!(
            "warmup: {warmup_requests} requests are not fewer than the {total} of the workload"
        )));
    }
    Ok(RunLimits { requests, duration, warmup_requests, closed_queue_depth })
}
