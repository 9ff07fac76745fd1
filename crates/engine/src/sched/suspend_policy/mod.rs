//! When a running erase or program is suspended for a read.

pub mod between_loops;
pub mod every_safe_point;
pub mod immediate;
pub mod none;
pub mod practical;
pub mod safe_points_by_wear;

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_media::nand::Operation;
use ninescope_model::policy_registry;
use ninescope_model::units::Duration;

/// What to do with the running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendDecision {
    /// Let it run to its end.
    Continue,
    /// Stop it at once.
    Now,
    /// Stop it at once. An erase has to begin the interrupted loop anew.
    RestartLoop,
    /// Stop it at this time; a time at or after its end lets it run to its end.
    At(Ns),
}

/// Decides suspends. Asked when a read is queued on a die that erases or programs, and when an erase or
/// program begins or goes on with reads waiting.
pub trait SuspendPolicy: Debug + Send {
    /// What to do with the running operation.
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision;

    /// Whether a parked operation goes on now although reads wait. Asked each time a read could be served
    /// beside it.
    fn goes_before_reads(&mut self, _question: &SuspendQuestion<'_>) -> bool {
        false
    }

    /// Whether it looks at [`SuspendQuestion::oldest_write_wait`], which takes a look at every die.
    fn watches_writes(&self) -> bool {
        false
    }
}

/// How long a parked operation lets reads go first where they never cease [ns]. Reads that a die keeps up with
/// are drained in far less; the limit makes sure that the operation ends under any load. Inferred: as long as the
/// anti-starvation timeout of ATC'19.
const PARKED_MAX: Duration = Duration(64_000_000);

/// Whether a parked operation has let reads go first for `parked_max`.
fn parked_too_long(question: &SuspendQuestion<'_>, parked_max: Duration) -> bool {
    question.now.saturating_since(question.operation.stopped) >= Ns(parked_max.0)
}

/// What a policy is told.
#[derive(Clone, Copy, Debug)]
pub struct SuspendQuestion<'a> {
    /// What runs, or is parked.
    pub operation: &'a Operation,
    /// Simulated time.
    pub now: Ns,
    /// P/E cycles of the block it works on, the most worn one of its planes [count].
    pub cycles: u32,
    /// How long the host write has waited that has waited longest, stalled or for its program; 0 for policies that
    /// do not watch writes [ns].
    pub oldest_write_wait: Ns,
}

policy_registry! {
    /// When a running erase or program is suspended for a read.
    SuspendPolicyConfig;
    "none" => None(none::NoSuspend), "never: reads wait for the end";
    "immediate" => Immediate(immediate::Immediate), "at once, however often: an erase may never end (I-ES)";
    "between-loops" => BetweenLoops(between_loops::BetweenLoops), "at the end of the erase loop (D-ES)";
    "every-safe-point" => EverySafePoint(every_safe_point::EverySafePoint), "at the next of n equally spaced points of the loop or pulse (SSR static)";
    "safe-points-by-wear" => SafePointsByWear(safe_points_by_wear::SafePointsByWear), "the same, with fewer points the more often the block was erased (SSR dynamic)";
    "practical" => Practical(practical::Practical), "at once, but the interrupted loop begins anew, and never in the last loop (ATC'19)";
}

impl SuspendPolicyConfig {
    /// `None` where nothing is ever suspended, so that the question is not asked.
    pub(crate) fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        match self {
            Self::None(_) => None,
            Self::Immediate(parameters) => Some(Box::new(*parameters)),
            Self::BetweenLoops(parameters) => Some(Box::new(*parameters)),
            Self::EverySafePoint(parameters) => Some(Box::new(*parameters)),
            Self::SafePointsByWear(parameters) => Some(Box::new(*parameters)),
            Self::Practical(parameters) => Some(Box::new(*parameters)),
        }
    }
}

impl SuspendPolicyConfig {
    /// The key and value of how long reads, or an erase, may be made to wait; `None` for policies without a limit [ns].
    pub fn patience(&self) -> Option<(&'static str, Duration)> {
        match self {
            Self::None(_) | Self::Immediate(_) => None,
            Self::BetweenLoops(parameters) => Some(("parked_max", parameters.parked_max)),
            Self::EverySafePoint(parameters) => Some(("parked_max", parameters.parked_max)),
            Self::SafePointsByWear(parameters) => Some(("parked_max", parameters.parked_max())),
            Self::Practical(parameters) => Some(("timeout", parameters.timeout)),
        }
    }
}

impl Default for SuspendPolicyConfig {
    fn default() -> Self {
        Self::None(none::NoSuspend {})
    }
}
