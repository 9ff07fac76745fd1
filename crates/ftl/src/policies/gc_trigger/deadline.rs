//! Collection by a deadline: needed when no more than `beyond_reserve` groups beyond the reserve are free, it is put off while the die has
//! work of the host, but no longer than `postponed` from when it was needed. A die that has nothing to do collects at once, and
//! stops between two moves when the host comes, until the time is over; where nothing is free beyond the reserve, and writes would wait,
//! nothing is put off.
//!
//! Real-time collection (Chang, Kuo and Lo, "Real-time garbage collection for flash-memory storage systems of real-time embedded
//! systems", 2004) has free space there by the time that it is needed; semi-preemptive collection (Lee and others, "A semi-preemptive garbage
//! collector for solid state drives", ISPASS 2011) lets requests in between its steps and is put off no more when space is short.

use ninescope_kernel::Snapshot;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GcTrigger, GcTriggerParameters, PoolSpace, TIME_MAX, TriggerTiming};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Deadline {
    /// Free groups, beyond the reserve, at or below which garbage collection is needed.
    pub beyond_reserve: u32,
    /// How long it is put off at most.
    pub postponed: Duration,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { beyond_reserve: 3, postponed: Duration(10_000_000) }
    }
}

impl GcTriggerParameters for Deadline {
    fn build(&self) -> Box<dyn GcTrigger> {
        Box::new(*self)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        (self.postponed.0 > TIME_MAX).then(|| ("postponed", "is longer than an hour".to_owned()))
    }

    fn timing(&self) -> Option<TriggerTiming> {
        Some(TriggerTiming { rest: Duration(0), postponed: Some(self.postponed) })
    }
}

impl GcTrigger for Deadline {
    fn needed(&self, space: PoolSpace) -> bool {
        let is_wanted = space.free_in_prospect <= space.reserve.saturating_add(self.beyond_reserve);
        is_wanted && (space.resting || space.overdue || space.free_in_prospect <= space.reserve)
    }
}

impl Snapshot for Deadline {}
