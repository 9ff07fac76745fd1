//! What is wrong with a parameter of a policy, and the checks that all policies of the media need.

/// A parameter that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {message}")]
pub struct ParameterError {
    /// The parameter at fault.
    pub key: &'static str,
    /// What is wrong with it, the rest of a sentence that begins with the key.
    pub message: String,
}

impl ParameterError {
    pub(crate) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}

/// Refuses a number outside `least..=most`, and what is no number.
pub(crate) fn within(key: &'static str, value: f64, least: f64, most: f64) -> Result<(), ParameterError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParameterError::new(key, format!("is {value}, it must be {least} to {most}")))
}
