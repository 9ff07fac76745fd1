//! What every run offers, whoever watches it.

use std::time::Duration as WallTime;

use ninescope_engine::{Kind, RequestLogEntry};
use ninescope_model::Op;

use super::{Simulation, SliceProgress};
use crate::error::Error;
use crate::snapshot::SnapshotReport;

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
