//! Collection in the background: beside what is needed at once, with no more than `beyond_reserve` groups beyond the reserve free, a
//! die that has rested for `after` collects until `gain` more are free, and stops between two moves when the host comes. Writes find
//! space then that they would have had to wait for, and pages are moved that might have become invalid by themselves.
//!
//! Kang, Shin and Yoo ("Reinforcement learning-assisted garbage collection to mitigate long-tail latency in SSD", 2017) learn how much to do
//! in such a time; here it is given.

use std::num::NonZeroU32;

use ninescope_kernel::Snapshot;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GcTrigger, GcTriggerParameters, PoolSpace, TIME_MAX, TriggerTiming};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Idle {
    /// Free groups, beyond the reserve, at or below which garbage collection is needed whatever a die does.
    pub beyond_reserve: u32,
    /// Groups that are freed beyond those while a die rests.
    pub gain: NonZeroU32,
    /// How long a die has had nothing to do when it rests.
    pub after: Duration,
}

impl Default for Idle {
    fn default() -> Self {
        Self { beyond_reserve: 1, gain: NonZeroU32::new(4).expect("four is not zero"), after: Duration(1_000_000) }
    }
}

impl GcTriggerParameters for Idle {
    fn build(&self) -> Box<dyn GcTrigger> {
        Box::new(*self)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        (self.after.0 > TIME_MAX).then(|| ("after", "is longer than an hour".to_owned()))
    }

    fn timing(&self) -> Option<TriggerTiming> {
        Some(TriggerTiming { rest: self.after, postponed: None })
    }
}

impl GcTrigger for Idle {
    fn needed(&self, space: PoolSpace) -> bool {
        let low = space.reserve.saturating_add(self.beyond_reserve);
        space.free_in_prospect <= low || space.resting && space.free_in_prospect < low.saturating_add(self.gain.get())
    }
}

impl Snapshot for Idle {}
