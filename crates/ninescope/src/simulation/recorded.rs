//! A run with the recorder beside it.

use std::time::Duration as WallTime;

use ninescope_engine::{Pair, Probe, RequestLogEntry, Watched};
use ninescope_model::Op;

use super::{AnySimulation, Simulation, SliceProgress};
use crate::error::Error;
use crate::plan::Plan;
use crate::record::{RecordSettings, Recorder};
use crate::snapshot::SnapshotReport;

/// A run that is recorded, beside any other probe: its result also holds the slowest requests.
#[derive(Debug)]
pub struct RecordedSimulation(Simulation<Watched>);

/// What such a run is watched by.
type Watchers = Pair<Option<Box<dyn Probe>>, Recorder>;

impl RecordedSimulation {
    /// The run of a plan, with the recorder, and beside it any other probe.
    ///
    /// # Errors
    /// [`Error::Internal`] when a checked drive cannot be built, [`Error::Input`] where it is not known what dies do by themselves.
    pub fn of_plan(plan: Plan, beside: Option<Box<dyn Probe>>, settings: RecordSettings) -> Result<Self, Error> {
        if let Some(why) = plan.dies_do_several_things() {
            let key = if settings.slowest > 0 { "explain_slowest" } else { "trace_window" };
            return Err(Error::Input(format!("{key} tells what each die did, one thing at a time, and {why}")));
        }
        let watchers: Watchers = Pair(beside, Recorder::new(settings));
        Ok(Self(Simulation::<Watched>::of_plan(plan, Box::new(watchers))?))
    }

    /// What was recorded, once the device runs.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.device().map(|device| &device.probe::<Watchers>().1)
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
