//! When a running erase or program is suspended for a read.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_media::nand::Operation;
use ninescope_model::policy_registry;
use ninescope_model::units::Duration;

use crate::transaction::{CLASSES, QueueClass};

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

    /// Whether it looks at [`SuspendQuestion::oldest_write_wait`], which takes a look at every die. A policy that says it does
    /// not is told 0.
    fn watches_writes(&self) -> bool {
        true
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
    /// What is queued on the die, by class: see [`SuspendQuestion::queued`].
    pub queued: [u32; CLASSES],
}

impl SuspendQuestion<'_> {
    /// How many accesses of a class are queued on the die [count].
    pub fn queued(&self, class: QueueClass) -> u32 {
        self.queued[class as usize]
    }
}

/// What a suspend policy can be told.
pub trait SuspendPolicyParameters {
    /// The policy; `None` where nothing is ever suspended, so that the question is not asked.
    fn build(&self) -> Option<Box<dyn SuspendPolicy>>;

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }

    /// Whether it looks at the P/E cycles of blocks, which a drive must be told then.
    fn needs_wear(&self) -> bool {
        false
    }

    /// Whether it stops erases between loops alone, so that those of one loop are never suspended.
    fn needs_loops(&self) -> bool {
        false
    }
}

/// What is wrong with a time that an operation is suspended for, which is told by this key.
fn no_patience(key: &'static str, time: Duration) -> Option<(&'static str, String)> {
    let message = "must not be zero: an operation would be suspended for no read (`none` suspends nothing)";
    (time == Duration(0)).then(|| (key, message.to_owned()))
}

policy_registry! {
    /// When a running erase or program is suspended for a read.
    SuspendPolicyConfig as dyn SuspendPolicyParameters;
    "none" => none::NoSuspend, "never: reads wait for the end";
    "immediate" => immediate::Immediate, "at once, however often: an erase may never end (I-ES)";
    "between-loops" => between_loops::BetweenLoops, "at the end of the erase loop (D-ES)";
    "every-safe-point" => every_safe_point::EverySafePoint, "at the next of n equally spaced points of the loop or pulse (SSR static)";
    "safe-points-by-wear" => safe_points_by_wear::SafePointsByWear, "the same, with fewer points the more often the block was erased (SSR dynamic)";
    "practical" => practical::Practical, "at once, but the interrupted loop begins anew, and never in the last loop (ATC'19)";
}

impl SuspendPolicyConfig {
    /// `None` where nothing is ever suspended, so that the question is not asked.
    pub(crate) fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        self.chosen().build()
    }
}
