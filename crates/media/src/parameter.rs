//! What is wrong with a parameter, and the checks that several parts of the media need.

use ninescope_kernel::Ns;

/// No pulse, and no read between two, may be longer: a longer one is a slip of the unit, and below it sums of times cannot
/// overflow.
pub(crate) const PULSE_TIME_MAX: Ns = Ns(3_600_000_000_000);

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
