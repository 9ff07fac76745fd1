//! Profiles: of traces, and requests drawn from them in batches of columns.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ninescope::{Profile, ProfileWorkload, drawn_from_profile};
use pyo3::prelude::*;

use super::to_python;
use super::traces::{Columns, next_columns};

/// Requests drawn from a profile.
#[pyclass(module = "ninescope._native")]
pub struct ProfileBatches {
    profile: Profile,
    workload: Mutex<ProfileWorkload>,
}

#[pymethods]
impl ProfileBatches {
    #[new]
    fn new(origin: &str, text: &str, requests: Option<u64>, seed: u64) -> PyResult<Self> {
        let (profile, workload) = drawn_from_profile(origin, text, requests, seed).map_err(to_python)?;
        Ok(Self { profile, workload: Mutex::new(workload) })
    }

    fn next<'py>(&mut self, python: Python<'py>, limit: usize) -> PyResult<Columns<'py>> {
        let workload = self.workload.get_mut().unwrap_or_else(PoisonError::into_inner);
        next_columns(workload, python, limit)
    }

    /// What the profile stands for.
    #[getter]
    fn name(&self) -> &str {
        &self.profile.name
    }

    /// What requests drawn from it are called.
    #[getter]
    fn label(&self) -> &str {
        &self.profile.label
    }

    /// Where its numbers come from.
    #[getter]
    fn source(&self) -> Vec<String> {
        self.profile.source.clone()
    }

    /// Requests of the original.
    #[getter]
    fn original_requests(&self) -> u64 {
        self.profile.original.requests
    }

    /// How far the requests so far are what the profile asked for: drawn, replaced, left out, crowded.
    fn report(&self) -> (u64, u64, u64, u64) {
        let report = self.workload.lock().unwrap_or_else(PoisonError::into_inner).report();
        (report.requests, report.replaced, report.left_out, report.crowded)
    }
}

/// The profile of a trace, as the text of its file.
#[pyfunction]
pub fn profile_of_trace(
    python: Python<'_>,
    path: PathBuf,
    options_json: &str,
    name: &str,
    source: Vec<String>,
) -> PyResult<String> {
    python.detach(|| ninescope::profile_of_trace(&path, options_json, name, source)).map_err(to_python)
}
