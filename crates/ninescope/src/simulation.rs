//! A run from its plan to its result, advanced in slices of wall time.

use std::time::{Duration as WallTime, Instant};

use ninescope_engine::meter::{Histogram, Sample, Written};
use ninescope_engine::{
    Device, Kind, LaneConfig, NoProbe, Pair, Plain, Probe, RequestLogEntry, RunLimits, Seen, SimulationError, Watched,
};
use ninescope_kernel::Ns;
use ninescope_model::Op;

use crate::assembly::Assembly;
use crate::error::Error;
use crate::plan::Plan;
use crate::prepare::PrefillMode;
use crate::preparing::Preparing;
use crate::record::{RecordSettings, Recorder};
use crate::request::{CheckLevel, RunRequest};
use crate::result::{ResultInput, WorkloadReport, result_json};
use crate::settling::SteadyState;
use crate::snapshot::{PreparedDrive, SnapshotReport};

/// Events handled between two looks at the clock.
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
struct Waiting<K: Kind> {
    preparing: Preparing,
    lanes: Vec<LaneConfig>,
    probe: K::Probe,
}

enum Stage<K: Kind> {
    Preparing(Box<Waiting<K>>),
    Running(Box<Device<K>>),
    /// Between two stages, or after a failed change of stage.
    Nothing,
}

/// One run, watched or not.
pub struct Simulation<K: Kind = Plain> {
    assembly: Assembly,
    seed: u64,
    prefill: PrefillMode,
    limits: RunLimits,
    report: WorkloadReport,
    total_requests: Option<u64>,
    stage: Stage<K>,
    job_names: Vec<String>,
    steady: Option<SteadyState>,
    prepared_units: u64,
    snapshot: Option<SnapshotReport>,
    finished: bool,
    prepare_time: WallTime,
    run_time: WallTime,
    notes: Vec<String>,
    /// What the result calls the drive.
    drive_name: String,
    /// How the run was asked for, for the result.
    run: serde_json::Value,
}

impl<K: Kind> std::fmt::Debug for Simulation<K> {
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
    /// [`Error::Input`] that names file, line or key, or when the request asks for a checker: that belongs to
    /// another crate, which hands out checked runs.
    pub fn new(request: &RunRequest) -> Result<Self, Error> {
        if request.check != CheckLevel::Off {
            return Err(Error::Input(format!("check: `{}` needs a run with a checker", request.check.name())));
        }
        if request.record_settings()?.any() {
            return Err(Error::Input("explain_slowest and trace_window need a run with a recorder".to_owned()));
        }
        Self::of_plan(Plan::new(request)?, NoProbe)
    }
}

impl<K: Kind> Simulation<K> {
    /// The run of a plan, with a probe.
    ///
    /// # Errors
    /// [`Error::Input`] when its snapshot cannot be there.
    pub fn of_plan(mut plan: Plan, probe: K::Probe) -> Result<Self, Error> {
        let preparing = Preparing::of_plan(&mut plan)?;
        Ok(Self {
            assembly: plan.assembly,
            seed: plan.seed,
            prefill: plan.prefill,
            limits: plan.limits,
            report: plan.report,
            total_requests: plan.total_requests,
            stage: Stage::Preparing(Box::new(Waiting { preparing, lanes: plan.lanes, probe })),
            job_names: plan.job_names,
            steady: None,
            prepared_units: 0,
            snapshot: None,
            finished: false,
            prepare_time: WallTime::ZERO,
            run_time: WallTime::ZERO,
            notes: plan.notes,
            drive_name: plan.drive_name,
            run: plan.run,
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
            Stage::Preparing(waiting) => {
                if let Some(drive) = waiting.preparing.step()? {
                    self.begin_run(drive)?;
                }
            }
            Stage::Running(device) => {
                let progress = device.run_slice(RUN_STEP_EVENTS);
                self.finished = progress.map_err(|error| positioned(error, self.seed, &device.seen()))?.finished;
            }
            Stage::Nothing => self.finished = true,
        }
        Ok(())
    }

    fn begin_run(&mut self, drive: PreparedDrive) -> Result<(), Error> {
        let Stage::Preparing(waiting) = std::mem::replace(&mut self.stage, Stage::Nothing) else {
            return Ok(());
        };
        let Waiting { preparing, lanes, probe } = *waiting;
        let PreparedDrive { ftl, steady, written } = drive;
        (self.steady, self.prepared_units) = (steady, written);
        self.snapshot = preparing.report().cloned();
        let device = self.assembly.device(&self.limits, ftl, lanes, probe)?;
        self.stage = Stage::Running(Box::new(device));
        Ok(())
    }

    /// How far it is.
    pub fn progress(&self) -> SliceProgress {
        match &self.stage {
            Stage::Preparing(waiting) => {
                let (done, total) = waiting.preparing.progress();
                SliceProgress { phase: Phase::Prepare, done, total: Some(total), simulated: Ns::ZERO, finished: false }
            }
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
    pub fn device(&self) -> Option<&Device<K>> {
        match &self.stage {
            Stage::Running(device) => Some(device),
            _ => None,
        }
    }

    /// What became of the snapshot of the prepared drive, where one was asked for and the drive is ready.
    pub fn snapshot(&self) -> Option<&SnapshotReport> {
        self.snapshot.as_ref()
    }

    /// The request log so far.
    pub fn request_log(&self) -> &[RequestLogEntry] {
        self.device().map(|device| device.seen().request_log).unwrap_or_default()
    }

    /// What the jobs are called, by the lanes of the request log; none where there is one alone.
    pub fn job_names(&self) -> &[String] {
        &self.job_names
    }

    /// `(upper bound [ns], count)` of the latency buckets of one kind of command.
    pub fn histogram(&self, op: Op) -> Vec<(u64, u64)> {
        self.device().map(|device| device.meter().ops[op as usize].latency.nonempty().collect()).unwrap_or_default()
    }

    /// The latencies of one kind of command by block of the run, each as `(upper bound [ns], count)`: of few commands
    /// one block holds all.
    pub fn latency_blocks(&self, op: Op) -> Vec<Vec<(u64, u64)>> {
        let Some(device) = self.device() else { return Vec::new() };
        let meter = &device.meter().ops[op as usize];
        let bounded = |(bucket, count)| (Histogram::upper_bound(bucket), count);
        meter.blocks.rows(&meter.latency).into_iter().map(|row| row.into_iter().map(bounded).collect()).collect()
    }

    /// The time series so far, by column; one row per interval of equal length.
    pub fn series(&self) -> Vec<(&'static str, Vec<u64>)> {
        let Some(device) = self.device() else { return Vec::new() };
        let series = &device.meter().series;
        let (since, interval) = (device.meter().since.0, series.interval().0);
        let column = |value: fn(&Sample) -> u64| series.samples().iter().map(value).collect::<Vec<u64>>();
        let written = series.written(device.written());
        let of_written = |value: fn(&Written) -> u64| written.iter().map(value).collect::<Vec<u64>>();
        let mut columns = vec![
            ("begin_ns", (0..series.samples().len() as u64).map(|index| since + index * interval).collect()),
            ("reads", column(|sample| sample.reads)),
            ("writes", column(|sample| sample.writes)),
            ("read_bytes", column(|sample| sample.read_bytes)),
            ("write_bytes", column(|sample| sample.write_bytes)),
            ("read_latency_sum_ns", column(|sample| sample.read_latency_sum)),
            ("write_latency_sum_ns", column(|sample| sample.write_latency_sum)),
            ("read_latency_max_ns", column(|sample| sample.read_latency_max)),
            ("write_latency_max_ns", column(|sample| sample.write_latency_max)),
            ("host_written_bytes", of_written(|written| written.host)),
            ("flash_programmed_bytes", of_written(|written| written.flash)),
            ("flash_erased_bytes", of_written(|written| written.erased)),
        ];
        if device.seen().tier.is_some() {
            columns.extend([
                ("scm_slots_used", column(|sample| sample.tier.slots_used)),
                ("scm_page_accesses_total", column(|sample| sample.tier.page_accesses)),
                ("scm_page_hits_total", column(|sample| sample.tier.page_hits)),
                ("scm_evictions_total", column(|sample| sample.tier.evictions)),
                ("scm_fills_total", column(|sample| sample.tier.fills)),
            ]);
        }
        columns
    }

    /// The result so far as JSON (docs/results.md). `complete` says whether the caller let it finish.
    ///
    /// # Errors
    /// [`Error::Internal`] when the result cannot be written.
    pub fn result_json(&mut self, complete: bool) -> Result<String, Error> {
        serde_json::to_string(&self.result_value(complete)?).map_err(|error| Error::Internal(error.to_string()))
    }

    fn result_value(&mut self, complete: bool) -> Result<serde_json::Value, Error> {
        let utilization = match &mut self.stage {
            Stage::Running(device) => Some(device.utilization_for_host()),
            _ => None,
        };
        let probe_notes = self.device().map(Device::notes).unwrap_or_default();
        let notes: Vec<String> = self.notes.iter().cloned().chain(probe_notes).collect();
        let input = ResultInput {
            assembly: &self.assembly,
            device: self.device().map(Device::seen),
            utilization,
            complete: complete && self.finished,
            ramped: self.limits.warmup_time.is_some(),
            seed: self.seed,
            prefill: self.prefill,
            steady: self.steady.as_ref(),
            prepared_units: self.prepared_units,
            snapshot: self.snapshot.as_ref(),
            report: &self.report,
            job_names: &self.job_names,
            prepare_seconds: self.prepare_time.as_secs_f64(),
            run_seconds: self.run_time.as_secs_f64(),
            notes: &notes,
            drive_name: &self.drive_name,
            run: &self.run,
        };
        result_json(&input)
    }
}

/// A run that is recorded, beside any other probe: its result also holds the slowest requests.
#[derive(Debug)]
pub struct RecordedSimulation(Simulation<Watched>);

/// What such a run is watched by.
type Watchers = Pair<Option<Box<dyn Probe>>, Recorder>;

impl RecordedSimulation {
    /// The run of a plan, with the recorder, and beside it any other probe.
    ///
    /// # Errors
    /// [`Error::Input`] where the drive holds what the recorder does not follow; [`Error::Internal`] when a checked
    /// drive cannot be built.
    pub fn of_plan(plan: Plan, beside: Option<Box<dyn Probe>>, settings: RecordSettings) -> Result<Self, Error> {
        if !plan.assembly.scm.media.is_empty() {
            let message = "explain_slowest and trace_window follow flash; they do not know storage-class memory yet";
            return Err(Error::Input(message.to_owned()));
        }
        let watchers: Watchers = Pair(beside, Recorder::new(settings));
        Ok(Self(Simulation::<Watched>::of_plan(plan, Box::new(watchers))?))
    }

    /// What was recorded, once the device runs.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.device().map(|device| &device.probe::<Watchers>().1)
    }
}

/// An internal error with what it takes to find it again. Bad input stays as it is.
fn positioned(error: SimulationError, seed: u64, seen: &Seen<'_>) -> Error {
    match Error::from(error) {
        Error::Internal(message) => Error::Internal(format!(
            "{message} (seed {seed}, after {} completed requests and {} events)",
            seen.completed, seen.counters.events
        )),
        input @ Error::Input(_) => input,
    }
}

/// A run whose kind of probe does not matter to the caller.
pub trait AnySimulation: Send {
    /// See [`Simulation::run_slice`].
    ///
    /// # Errors
    /// See [`Error`]; the run is over then.
    fn run_slice(&mut self, budget: WallTime) -> Result<SliceProgress, Error>;
    /// See [`Simulation::progress`].
    fn progress(&self) -> SliceProgress;
    /// See [`Simulation::result_json`].
    ///
    /// # Errors
    /// [`Error::Internal`] when the result cannot be written.
    fn result_json(&mut self, complete: bool) -> Result<String, Error>;
    /// See [`Simulation::histogram`].
    fn histogram(&self, op: Op) -> Vec<(u64, u64)>;
    /// See [`Simulation::latency_blocks`].
    fn latency_blocks(&self, op: Op) -> Vec<Vec<(u64, u64)>>;
    /// See [`Simulation::series`].
    fn series(&self) -> Vec<(&'static str, Vec<u64>)>;
    /// See [`Simulation::snapshot`].
    fn snapshot(&self) -> Option<&SnapshotReport>;
    /// See [`Simulation::request_log`].
    fn request_log(&self) -> &[RequestLogEntry];
    /// See [`Simulation::job_names`].
    fn job_names(&self) -> &[String];
    /// The timeline so far in Chrome's trace-event format, of a run that keeps one.
    fn timeline_json(&self) -> Option<String> {
        None
    }
}

impl<K: Kind> AnySimulation for Simulation<K> {
    fn run_slice(&mut self, budget: WallTime) -> Result<SliceProgress, Error> {
        Self::run_slice(self, budget)
    }

    fn progress(&self) -> SliceProgress {
        Self::progress(self)
    }

    fn result_json(&mut self, complete: bool) -> Result<String, Error> {
        Self::result_json(self, complete)
    }

    fn histogram(&self, op: Op) -> Vec<(u64, u64)> {
        Self::histogram(self, op)
    }

    fn latency_blocks(&self, op: Op) -> Vec<Vec<(u64, u64)>> {
        Self::latency_blocks(self, op)
    }

    fn series(&self) -> Vec<(&'static str, Vec<u64>)> {
        Self::series(self)
    }

    fn snapshot(&self) -> Option<&SnapshotReport> {
        Self::snapshot(self)
    }

    fn request_log(&self) -> &[RequestLogEntry] {
        Self::request_log(self)
    }

    fn job_names(&self) -> &[String] {
        Self::job_names(self)
    }
}

impl AnySimulation for RecordedSimulation {
    fn run_slice(&mut self, budget: WallTime) -> Result<SliceProgress, Error> {
        self.0.run_slice(budget)
    }

    fn progress(&self) -> SliceProgress {
        self.0.progress()
    }

    fn result_json(&mut self, complete: bool) -> Result<String, Error> {
        let mut result = self.0.result_value(complete)?;
        if let Some(slowest) = self.recorder().and_then(Recorder::slowest_json) {
            result["slowest"] = slowest;
        }
        serde_json::to_string(&result).map_err(|error| Error::Internal(error.to_string()))
    }

    fn histogram(&self, op: Op) -> Vec<(u64, u64)> {
        self.0.histogram(op)
    }

    fn latency_blocks(&self, op: Op) -> Vec<Vec<(u64, u64)>> {
        self.0.latency_blocks(op)
    }

    fn series(&self) -> Vec<(&'static str, Vec<u64>)> {
        self.0.series()
    }

    fn snapshot(&self) -> Option<&SnapshotReport> {
        self.0.snapshot()
    }

    fn request_log(&self) -> &[RequestLogEntry] {
        self.0.request_log()
    }

    fn job_names(&self) -> &[String] {
        self.0.job_names()
    }

    fn timeline_json(&self) -> Option<String> {
        self.recorder().and_then(Recorder::timeline_json)
    }
}
