//! The two kinds of failure a user sees.

use ninescope_engine::SimulationError;
use ninescope_generators::JobError;
use ninescope_model::WorkloadError;
use ninescope_traces::TraceError;
use thiserror::Error;

use crate::digits::without_long_numbers;

/// What went wrong, and whose fault it is.
#[derive(Debug, Error)]
pub enum Error {
    /// Bad input: the message names file, line and key. Exit code 2.
    #[error("{}", without_long_numbers(.0))]
    Input(String),
    /// ninescope contradicts itself. Exit code 1.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<SimulationError> for Error {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Workload(_) | SimulationError::BeyondDrive { .. } => Self::Input(error.to_string()),
            _ => Self::Internal(error.to_string()),
        }
    }
}

impl From<WorkloadError> for Error {
    fn from(error: WorkloadError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        Self::Input(format!("job: {error}"))
    }
}
