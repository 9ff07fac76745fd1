//! What a job's description is refused with.

/// A key of a job that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct JobError {
    /// The key in the job file.
    pub key: &'static str,
    /// What is wrong with its value.
    pub problem: String,
}

impl JobError {
    /// What is wrong with the value of a key.
    pub fn new(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key, problem: problem.into() }
    }
}
