//! When an erase or a program is suspended.

use ninescope::engine::policies::suspend::{SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion};
use ninescope::kernel::Ns;
use ninescope::media::nand::{CommandKind, Operation};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::scheduler::{queued_in, waiting_counts};
use super::{Maker, Policy};

/// An operation that runs or is parked, and what waits for its die.
#[pyclass(module = "ninescope._native", frozen)]
pub struct Suspendable {
    operation: Operation,
    #[pyo3(get)]
    now: u64,
    #[pyo3(get)]
    cycles: u32,
    #[pyo3(get)]
    oldest_write_wait: u64,
    queued: [u32; 6],
}

impl Suspendable {
    fn of(question: &SuspendQuestion<'_>) -> Self {
        Self {
            operation: *question.operation,
            now: question.now.0,
            cycles: question.cycles,
            oldest_write_wait: question.oldest_write_wait.0,
            queued: waiting_counts(|class| question.queued(class)),
        }
    }
}

#[pymethods]
impl Suspendable {
    #[getter]
    fn kind(&self) -> &'static str {
        match self.operation.command.kind {
            CommandKind::Erase => "erase",
            CommandKind::Program => "program",
            CommandKind::Read => "read",
        }
    }

    #[getter]
    fn total(&self) -> u64 {
        self.operation.total.0
    }

    #[getter]
    fn done(&self) -> u64 {
        self.operation.done.0
    }

    #[getter]
    fn progress(&self) -> u64 {
        self.operation.progress(Ns(self.now)).0
    }

    #[getter]
    fn end(&self) -> u64 {
        self.operation.end().0
    }

    #[getter]
    fn segments(&self) -> u32 {
        self.operation.segments
    }

    #[getter]
    fn segment(&self) -> u32 {
        self.operation.segment_at(Ns(self.now))
    }

    #[getter]
    fn suspensions(&self) -> u32 {
        self.operation.suspensions
    }

    #[getter]
    fn stopped(&self) -> u64 {
        self.operation.stopped.0
    }

    fn next_safe_point(&self, points_per_segment: u32) -> u64 {
        self.operation.next_safe_point(Ns(self.now), points_per_segment).0
    }

    fn queued(&self, class_: &str) -> PyResult<u32> {
        queued_in(&self.queued, class_)
    }
}

impl SuspendPolicyParameters for Maker {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        let policy = self.policy(|python| Ok(PyDict::new(python)));
        let watches = policy.says("watches_writes");
        Some(Box::new(Suspend { policy, watches }))
    }

    fn needs_wear(&self) -> bool {
        self.says("needs_wear")
    }

    fn needs_loops(&self) -> bool {
        self.says("needs_loops")
    }
}

#[derive(Debug)]
struct Suspend {
    policy: Policy,
    watches: bool,
}

/// None lets an operation run, "now" and "restart-loop" stop it, and so does a time.
fn decision(answer: &Bound<'_, PyAny>) -> PyResult<SuspendDecision> {
    if answer.is_none() {
        return Ok(SuspendDecision::Continue);
    }
    if let Ok(time) = answer.extract::<u64>() {
        return Ok(SuspendDecision::At(Ns(time)));
    }
    match answer.extract::<&str>() {
        Ok("now") => Ok(SuspendDecision::Now),
        Ok("restart-loop") => Ok(SuspendDecision::RestartLoop),
        _ => Err(PyTypeError::new_err(format!(
            "decide returned {}; there is None, \"now\", \"restart-loop\" and a time [ns]",
            answer.repr()?
        ))),
    }
}

impl SuspendPolicy for Suspend {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let told = (Suspendable::of(question),);
        let decided = self.policy.ask("decide", |policy| decision(&policy.call_method1("decide", told)?));
        match decided {
            SuspendDecision::At(time) if time < question.now => {
                let problem = format!("decide returned {} ns, and it is {} ns already", time.0, question.now.0);
                self.policy.refuse(&problem)
            }
            decided => decided,
        }
    }

    fn goes_before_reads(&mut self, question: &SuspendQuestion<'_>) -> bool {
        let told = (Suspendable::of(question),);
        self.policy.ask("goes_before_reads", |policy| policy.call_method1("goes_before_reads", told)?.extract())
    }

    fn watches_writes(&self) -> bool {
        self.watches
    }
}
