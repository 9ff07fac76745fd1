//! What can be wrong with a profile.

/// A key of a profile that cannot be met, and by how much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct ProfileError {
    /// The key in the file, "kinds[3].sizes".
    pub key: String,
    /// What is wrong with its value.
    pub problem: String,
}

impl ProfileError {
    pub(super) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}
