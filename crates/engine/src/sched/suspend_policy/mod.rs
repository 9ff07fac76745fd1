//! When a running erase or program is suspended for a read.

pub mod every_safe_point;
pub mod none;

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_media::nand::Operation;
use ninescope_model::policy_registry;

/// What to do with the running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendDecision {
    /// Let it run to its end.
    Continue,
    /// Stop it at once.
    Now,
    /// Stop it at this time; a time at or after its end lets it run to its end.
    At(Ns),
}

/// Decides suspends. Asked when a read is queued on a die that erases or programs, and when an erase or
/// program begins or goes on with reads waiting.
pub trait SuspendPolicy: Debug + Send {
    /// What to do with `operation` at `now`.
    fn decide(&mut self, operation: &Operation, now: Ns) -> SuspendDecision;
}

policy_registry! {
    /// When a running erase or program is suspended for a read.
    SuspendPolicyConfig;
    "none" => None(none::NoSuspend), "never: reads wait for the end";
    "every-safe-point" => EverySafePoint(every_safe_point::EverySafePoint), "at the next of n equally spaced points of the loop or pulse";
}

impl SuspendPolicyConfig {
    /// `None` where nothing is ever suspended, so that the question is not asked.
    pub(crate) fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        match self {
            Self::None(_) => None,
            Self::EverySafePoint(parameters) => Some(Box::new(*parameters)),
        }
    }
}

impl Default for SuspendPolicyConfig {
    fn default() -> Self {
        Self::None(none::NoSuspend {})
    }
}
