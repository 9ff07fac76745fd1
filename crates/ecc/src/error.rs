//! What a code refuses, by the key that names it in configurations.

/// A parameter that no code can have: "correctable is 0, …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {message}")]
pub struct CodeError {
    /// The parameter's key within the code's table, as in `latency.cycle`.
    pub key: &'static str,
    /// The rest of a sentence that begins with the key.
    pub message: String,
}

impl CodeError {
    pub(crate) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}
