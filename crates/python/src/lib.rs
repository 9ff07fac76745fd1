//! The Python binding: thin. It turns arguments into library calls, results into Python values, and
//! errors into the package's two exceptions; every decision is the library's.

// PyO3's macros and calling conventions fix these shapes.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]

mod codes;
mod measured;
mod policies;
mod profiles;
mod snapshots;
mod traces;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ninescope::{AnySimulation, Error, Histogram, Phase, PresetKind, RunRequest, SliceProgress};
use ninescope::{Op, trace_stat_json};
use numpy::IntoPyArray;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use measured::{Column, Measured};

create_exception!(ninescope._native, ConfigError, PyValueError, "Bad input; the message names file, line and key.");
create_exception!(ninescope._native, SimulationError, PyRuntimeError, "ninescope contradicts itself: a bug.");

fn to_python(error: Error) -> PyErr {
    match &error {
        Error::Input(_) => ConfigError::new_err(error.to_string()),
        Error::Internal(message) => SimulationError::new_err(message.clone()),
    }
}

/// One run, advanced in slices.
#[pyclass(module = "ninescope._native")]
struct Simulation {
    /// Python may share the object between threads; a run belongs to one at a time.
    run: Mutex<Box<dyn AnySimulation>>,
    seed: u64,
}

impl Simulation {
    fn lock(&self) -> MutexGuard<'_, Box<dyn AnySimulation>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work`; a panic becomes an internal error with seed and position, and the process lives on.
    fn guarded<T: Send>(
        &mut self,
        python: Python<'_>,
        work: impl FnOnce(&mut dyn AnySimulation) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let run = self.run.get_mut().unwrap_or_else(PoisonError::into_inner);
        let outcome = python.detach(|| catch_unwind(AssertUnwindSafe(|| work(run.as_mut()))));
        let panic = match outcome {
            Ok(result) => return result.map_err(to_python),
            Err(panic) => panic,
        };
        if let Ok(error) = policies::raised(panic) {
            return Err(error);
        }
        let progress = self.lock().progress();
        Err(SimulationError::new_err(format!(
            "internal error: panic with seed {} at {} after {} requests",
            self.seed, progress.simulated, progress.done
        )))
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(python: Python<'_>, request_json: &str) -> PyResult<Self> {
        let request = RunRequest::from_json(request_json).map_err(to_python)?;
        let run = policies::detached(python, || ninescope_check::simulation(&request))?.map_err(to_python)?;
        Ok(Self { run: Mutex::new(run), seed: request.seed })
    }

    fn run_slice(&mut self, python: Python<'_>, milliseconds: u64) -> PyResult<bool> {
        let budget = Duration::from_millis(milliseconds);
        self.guarded(python, move |run| run.run_slice(budget).map(|progress| progress.finished))
    }

    fn progress<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        progress_entries(python, &self.lock().progress())
    }

    fn result_json(&mut self, python: Python<'_>, complete: bool) -> PyResult<String> {
        self.guarded(python, move |run| run.result_json(complete))
    }

    fn measured(&self) -> Measured {
        Measured::of(self.lock().as_ref())
    }

    fn request_log<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(python);
        let run = self.lock();
        let log = run.request_log();
        if log.is_empty() {
            return Ok(columns);
        }
        let column = |value: fn(&ninescope::RequestLogEntry) -> u64| -> Column<'py> {
            log.iter().map(value).collect::<Vec<u64>>().into_pyarray(python)
        };
        columns.set_item("id", column(|entry| entry.id))?;
        columns.set_item("submitted_ns", column(|entry| entry.submitted.0))?;
        columns.set_item("latency_ns", column(|entry| entry.latency.0))?;
        columns.set_item("host_queue_ns", column(|entry| entry.host_queue.0))?;
        columns.set_item("op", log.iter().map(|entry| entry.op as u8).collect::<Vec<u8>>().into_pyarray(python))?;
        columns.set_item("lba", column(|entry| entry.lba))?;
        columns.set_item("sectors", column(|entry| u64::from(entry.sectors)))?;
        if !run.job_names().is_empty() {
            columns.set_item("job", column(|entry| u64::from(entry.lane)))?;
        }
        Ok(columns)
    }

    fn snapshot_json(&self) -> PyResult<Option<String>> {
        ninescope::snapshot_report_json(self.lock().snapshot()).map_err(to_python)
    }

    fn timeline_json(&self, python: Python<'_>) -> Option<String> {
        python.detach(|| self.lock().timeline_json())
    }
}

fn progress_entries<'py>(python: Python<'py>, progress: &SliceProgress) -> PyResult<Bound<'py, PyDict>> {
    let entries = PyDict::new(python);
    entries.set_item("phase", if progress.phase == Phase::Prepare { "prepare" } else { "run" })?;
    entries.set_item("done", progress.done)?;
    entries.set_item("total", progress.total)?;
    entries.set_item("simulated_ns", progress.simulated.0)?;
    Ok(entries)
}

fn op_named(name: &str) -> PyResult<Op> {
    Op::ALL
        .into_iter()
        .find(|op| op.name() == name)
        .ok_or_else(|| ConfigError::new_err(format!("`{name}` is not one of read, write, trim, flush")))
}

/// Where the percentiles (parts per billion) lie in 95 % of runs put together from these blocks of
/// `(upper bound, count)`.
#[pyfunction]
fn bootstrap(blocks: Vec<(Vec<u64>, Vec<u64>)>, parts_per_billion: Vec<u64>) -> Vec<(u64, u64)> {
    let row = |(bounds, counts): (Vec<u64>, Vec<u64>)| {
        bounds.into_iter().map(Histogram::bucket_of).zip(counts).filter(|&(_, count)| count > 0).collect()
    };
    let rows: Vec<Vec<(usize, u64)>> = blocks.into_iter().map(row).collect();
    let bounds = ninescope::bootstrap(&rows, &parts_per_billion).into_iter();
    bounds.map(|(low, high)| (Histogram::upper_bound(low), Histogram::upper_bound(high))).collect()
}

/// The presets of a kind, "drives" or "jobs": name, summary, TOML text.
#[pyfunction]
#[pyo3(signature = (kind = "drives"))]
fn presets(kind: &str) -> PyResult<Vec<(String, String, String)>> {
    let kind = PresetKind::ALL
        .into_iter()
        .find(|known| known.name() == kind)
        .ok_or_else(|| ConfigError::new_err(format!("there are no presets of `{kind}`")))?;
    let entry = |preset: &ninescope::Preset| (preset.name.to_owned(), preset.summary(), preset.toml.to_owned());
    Ok(ninescope::presets_of(kind).iter().map(entry).collect())
}

/// The JSON Schemas of files that people write: kind of file, schema.
#[pyfunction]
fn schemas() -> Vec<(&'static str, String)> {
    ninescope::schemas()
}

/// The complete TOML of a drive.
#[pyfunction]
fn resolve_drive(python: Python<'_>, request_json: &str) -> PyResult<String> {
    policies::detached(python, || ninescope::resolve_drive(request_json))?.map_err(to_python)
}

/// What is to be said about a run before it begins; whatever is wrong with its drive or workload is found.
#[pyfunction]
fn check_run(python: Python<'_>, request_json: &str) -> PyResult<Vec<String>> {
    let request = RunRequest::from_json(request_json).map_err(to_python)?;
    let plan = policies::detached(python, || ninescope::Plan::new(&request))?;
    plan.map(|plan| plan.notes().to_vec()).map_err(to_python)
}

/// The same, with how much it takes: requests, where they are known, bytes of the drive's tables, and how many requests
/// at its beginning are not measured.
#[pyfunction]
fn needs_of_run(python: Python<'_>, request_json: &str) -> PyResult<(Vec<String>, Option<u64>, u64, u64)> {
    let request = RunRequest::from_json(request_json).map_err(to_python)?;
    let plan = policies::detached(python, || ninescope::Plan::new(&request))?.map_err(to_python)?;
    Ok((plan.notes().to_vec(), plan.requests(), plan.table_bytes(), plan.warmup_requests()))
}

/// What so many suspensions in an erase add to the raw bit error rate of a block of a drive, by P/E cycles and
/// suspensions.
#[pyfunction]
fn added_rber(request_json: &str, loops: u32, cycles: Vec<u32>, suspensions: Vec<u32>) -> PyResult<Vec<Vec<f64>>> {
    let limit = ninescope::suspend_limit(request_json).map_err(to_python)?;
    let at = |cycles: u32| {
        suspensions.iter().map(|&count| limit.added_rber(limit.excess(count, loops, cycles))).collect::<Vec<f64>>()
    };
    Ok(cycles.into_iter().map(at).collect())
}

/// What a trace contains, as JSON.
#[pyfunction]
fn trace_stat(python: Python<'_>, path: std::path::PathBuf, options_json: &str) -> PyResult<String> {
    python.detach(|| trace_stat_json(&path, options_json)).map_err(to_python)
}

/// How the columns of a table of requests are described, and which of them are read, by their places.
#[pyfunction]
#[pyo3(signature = (names, description=None))]
#[allow(clippy::needless_pass_by_value, reason = "Python hands over owned values")]
fn trace_columns(names: Vec<String>, description: Option<String>) -> PyResult<(String, Vec<usize>)> {
    ninescope::trace_columns(&names, description.as_deref()).map_err(to_python)
}

/// The policies of every registry, as JSON.
#[pyfunction]
#[pyo3(name = "policies")]
fn every_policy() -> PyResult<String> {
    ninescope::policies_json().map_err(to_python)
}

/// The version of the engine.
#[pyfunction]
fn version() -> &'static str {
    ninescope::VERSION
}

/// The engine.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ConfigError", module.py().get_type::<ConfigError>())?;
    module.add("SimulationError", module.py().get_type::<SimulationError>())?;
    module.add_class::<Simulation>()?;
    module.add_class::<codes::Code>()?;
    module.add_class::<Measured>()?;
    module.add_class::<profiles::ProfileBatches>()?;
    module.add_class::<snapshots::Preparation>()?;
    module.add_class::<traces::TraceBatches>()?;
    module.add_class::<traces::TraceEncoder>()?;
    module.add_class::<policies::Access>()?;
    module.add_class::<policies::Candidates>()?;
    module.add_class::<policies::Suspendable>()?;
    module.add_class::<policies::WaitingOnDie>()?;
    module.add_class::<policies::Written>()?;
    module.add_function(wrap_pyfunction!(added_rber, module)?)?;
    module.add_function(wrap_pyfunction!(policies::add_policy, module)?)?;
    module.add_function(wrap_pyfunction!(bootstrap, module)?)?;
    module.add_function(wrap_pyfunction!(check_run, module)?)?;
    module.add_function(wrap_pyfunction!(codes::joint_choices, module)?)?;
    module.add_function(wrap_pyfunction!(codes::strongest_bch, module)?)?;
    module.add_function(wrap_pyfunction!(codes::weakest_bch, module)?)?;
    module.add_function(wrap_pyfunction!(needs_of_run, module)?)?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_function(wrap_pyfunction!(profiles::profile_of_trace, module)?)?;
    module.add_function(wrap_pyfunction!(schemas, module)?)?;
    module.add_function(wrap_pyfunction!(resolve_drive, module)?)?;
    module.add_function(wrap_pyfunction!(snapshots::check_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(snapshots::describe_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(snapshots::shelve_snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(trace_columns, module)?)?;
    module.add_function(wrap_pyfunction!(trace_stat, module)?)?;
    module.add_function(wrap_pyfunction!(every_policy, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    Ok(())
}
