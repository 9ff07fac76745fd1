//! When garbage collection is needed. The FTL decides need; the scheduler decides when it runs.

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::policy_registry;
use ninescope_model::units::Duration;

/// What a trigger may look at.
#[allow(clippy::struct_excessive_bools)] // facts of their own
#[derive(Clone, Copy, Debug)]
pub struct PoolSpace {
    /// Groups that are free.
    pub free: u32,
    /// Groups that are free or will be when what was handed out has ended.
    pub free_in_prospect: u32,
    /// Groups that host writes never take.
    pub reserve: u32,
    /// Groups of the pool.
    pub groups: u32,
    /// Host writes wait for garbage collection already, as [`GcTrigger::holds_host`] said.
    pub holds_host: bool,
    /// It was needed when that was asked last, and has not run out of victims since.
    pub collecting: bool,
    /// The die has rested for as long as [`GcTriggerParameters::timing`] says, and nothing of the host has come since.
    pub resting: bool,
    /// Collection has been put off for as long as [`GcTriggerParameters::timing`] says. Always so without time.
    pub overdue: bool,
}

/// The longest time that a trigger may be told [ns]: an hour. Beyond it is a slip.
const TIME_MAX: u64 = 3_600_000_000_000;

/// What a trigger wants to know of time, which the driver measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerTiming {
    /// A die rests when nothing has waited or run there for so long.
    pub rest: Duration,
    /// For how long collection that is needed is put off at most while dies do not rest; `None` where it is not.
    pub postponed: Option<Duration>,
}

/// Decides need. Asked whenever a pool's free groups change.
pub trait GcTrigger: Debug + Send + Snapshot {
    /// Whether the pool should reclaim another group.
    fn needed(&self, space: PoolSpace) -> bool;

    /// Whether host writes leave the pool's free groups alone, and so wait for garbage collection, although there are groups
    /// beyond the reserve. Asked whenever a group is opened or becomes free. Where nothing can be reclaimed they do not wait.
    fn holds_host(&self, _space: PoolSpace) -> bool {
        false
    }
}

/// What a trigger can be told.
pub trait GcTriggerParameters {
    /// The trigger.
    fn build(&self) -> Box<dyn GcTrigger>;

    /// Of a pool with such a reserve: at how many free groups, or fewer, it makes host writes wait, and at how many it lets them
    /// on; `None` where it never does [count].
    fn holds_host_at(&self, _reserve: u32) -> Option<(u32, u32)> {
        None
    }

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }

    /// What it wants to know of time; `None` where that is nothing.
    fn timing(&self) -> Option<TriggerTiming> {
        None
    }
}

policy_registry! {
    /// When garbage collection is needed.
    GcTriggerConfig as dyn GcTriggerParameters;
    "free-groups" => free_groups::FreeGroups, "when no more than a number of groups beyond the reserve are free";
    "foreground" => foreground::Foreground, "as free-groups, and host writes wait until it has freed some more";
    "watermarks" => watermarks::Watermarks, "from a low number of free groups on, until a high one is reached";
    "idle" => idle::Idle, "as free-groups, and in the background while a die rests, until more are free";
    "deadline" => deadline::Deadline, "as free-groups, put off while a die has work of the host, but no longer than a time";
}

impl GcTriggerConfig {
    pub(crate) fn build(&self) -> Box<dyn GcTrigger> {
        self.chosen().build()
    }
}
