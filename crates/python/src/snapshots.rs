//! Prepared drives in files: preparing one to be saved, and saying what a file is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ninescope::{DrivePreparation, Error, RunRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::policies::{detached, raised};
use crate::{progress_entries, to_python};

/// The preparation of a drive, advanced in slices.
#[pyclass(module = "ninescope._native")]
pub struct Preparation {
    /// Python may share the object between threads; a preparation belongs to one at a time.
    preparation: Mutex<DrivePreparation>,
}

impl Preparation {
    fn lock(&self) -> MutexGuard<'_, DrivePreparation> {
        self.preparation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work`; a panic becomes an internal error, and the process lives on.
    fn guarded<T: Send>(
        &self,
        python: Python<'_>,
        work: impl FnOnce(&mut DrivePreparation) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let outcome = python.detach(|| catch_unwind(AssertUnwindSafe(|| work(&mut self.lock()))));
        let panicked = |_| to_python(Error::Internal("panic while a drive was prepared".to_owned()));
        match outcome {
            Ok(done) => done.map_err(to_python),
            Err(panic) => Err(raised(panic).unwrap_or_else(panicked)),
        }
    }
}

#[pymethods]
impl Preparation {
    #[new]
    fn new(python: Python<'_>, request_json: &str) -> PyResult<Self> {
        let request = RunRequest::from_json(request_json).map_err(to_python)?;
        let preparation = detached(python, || DrivePreparation::new(&request))?.map_err(to_python)?;
        Ok(Self { preparation: Mutex::new(preparation) })
    }

    fn run_slice(&self, python: Python<'_>, milliseconds: u64) -> PyResult<bool> {
        let budget = Duration::from_millis(milliseconds);
        self.guarded(python, move |preparation| preparation.advance(budget).map(|progress| progress.finished))
    }

    fn progress<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        progress_entries(python, &self.lock().progress())
    }

    fn save(&self, python: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.guarded(python, move |preparation| preparation.save(&path))
    }
}

/// What the head of a snapshot says, as JSON.
#[pyfunction]
pub fn describe_snapshot(python: Python<'_>, path: PathBuf) -> PyResult<String> {
    python.detach(|| ninescope::describe_snapshot(&path)).map_err(to_python)
}

/// The same of a snapshot that was read to its end.
#[pyfunction]
pub fn check_snapshot(python: Python<'_>, path: PathBuf) -> PyResult<String> {
    python.detach(|| ninescope::check_snapshot(&path)).map_err(to_python)
}

/// Writes a snapshot whose data is older than that of another one.
#[pyfunction]
pub fn shelve_snapshot(
    python: Python<'_>,
    path: PathBuf,
    target: PathBuf,
    time: String,
    celsius: Option<f64>,
) -> PyResult<()> {
    python.detach(|| ninescope::shelve_snapshot(&path, &target, &time, celsius)).map_err(to_python)
}
