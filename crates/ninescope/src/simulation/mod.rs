//! A run from its plan to its result, advanced in slices of wall time: its drive is prepared, then its device runs.

mod any;
mod measured;
mod preparation;
mod recorded;

use std::time::{Duration as WallTime, Instant};

use ninescope_engine::{Device, Kind, LaneConfig, NoProbe, Plain, RequestLogEntry, Seen, SimulationError};
use ninescope_kernel::Ns;

use crate::error::Error;
use crate::plan::Plan;
use crate::precondition::SteadyState;
use crate::prepare::Preparing;
use crate::request::{CheckLevel, RunRequest};
use crate::result::{ResultInput, result_json};
use crate::snapshot::{PreparedDrive, SnapshotReport};

pub use any::AnySimulation;
pub use preparation::DrivePreparation;
pub use recorded::RecordedSimulation;

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
    /// What is to be done; drive and workloads are taken out of it as they come to their turn.
    plan: Plan,
    stage: Stage<K>,
    steady: Option<SteadyState>,
    prepared_units: u64,
    snapshot: Option<SnapshotReport>,
    finished: bool,
    prepare_time: WallTime,
    run_time: WallTime,
}

impl<K: Kind> std::fmt::Debug for Simulation<K> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Simulation")
            .field("plan", &self.plan)
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
        let (preparing, lanes) = (plan.preparing()?, std::mem::take(&mut plan.lanes));
        Ok(Self {
            plan,
            stage: Stage::Preparing(Box::new(Waiting { preparing, lanes, probe })),
            steady: None,
            prepared_units: 0,
            snapshot: None,
            finished: false,
            prepare_time: WallTime::ZERO,
            run_time: WallTime::ZERO,
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
                self.finished = progress.map_err(|error| positioned(error, self.plan.seed, &device.seen()))?.finished;
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
        let PreparedDrive { ftl, steady, written, shelves } = drive;
        (self.steady, self.prepared_units) = (steady, written);
        self.snapshot = preparing.report().cloned();
        self.plan.assembly.lay_on(&shelves)?;
        self.plan.notes.extend(shelves.iter().map(ToString::to_string));
        let device = self.plan.assembly.device(&self.plan.limits, ftl, lanes, probe)?;
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
                total: self.plan.total_requests,
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
        &self.plan.job_names
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
        let plan = &self.plan;
        let notes: Vec<String> = plan.notes.iter().cloned().chain(probe_notes).collect();
        let input = ResultInput {
            assembly: &plan.assembly,
            device: self.device().map(Device::seen),
            utilization,
            complete: complete && self.finished,
            ramped: plan.limits.warmup_time.is_some(),
            seed: plan.seed,
            prefill: plan.prefill,
            steady: self.steady.as_ref(),
            prepared_units: self.prepared_units,
            snapshot: self.snapshot.as_ref(),
            report: &plan.report,
            job_names: &plan.job_names,
            job_partitions: &plan.job_partitions,
            prepare_seconds: self.prepare_time.as_secs_f64(),
            run_seconds: self.run_time.as_secs_f64(),
            notes: &notes,
            drive_name: &plan.drive_name,
            run: &plan.run,
        };
        result_json(&input)
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
