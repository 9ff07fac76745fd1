//! Cleaning in the foreground: when no more than `beyond_reserve` groups beyond the reserve are free, host writes open no group
//! of the pool until garbage collection has freed `gain` more, so that the pool never falls below its mark while there is
//! anything to reclaim. Groups that are open already are filled meanwhile, and other pools take what they can.
//!
//! `DiskSim`'s SSD extension of 2008 cleans so: an element whose free blocks fall to a low watermark (5 % of all unless told
//! otherwise) does nothing but clean until they have passed the high one, which is the low one and one more, hence a gain of two.

use std::num::NonZeroU32;

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GcTrigger, GcTriggerParameters, PoolSpace};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Foreground {
    /// Free groups, beyond the reserve, at or below which host writes wait for garbage collection.
    pub beyond_reserve: u32,
    /// Groups that must be free beyond those before they go on.
    pub gain: NonZeroU32,
}

impl Default for Foreground {
    fn default() -> Self {
        Self { beyond_reserve: 1, gain: NonZeroU32::new(2).expect("two is not zero") }
    }
}

impl GcTriggerParameters for Foreground {
    fn build(&self) -> Box<dyn GcTrigger> {
        Box::new(*self)
    }

    fn holds_host_at(&self, reserve: u32) -> Option<(u32, u32)> {
        let low = reserve.saturating_add(self.beyond_reserve);
        Some((low, low.saturating_add(self.gain.get())))
    }
}

impl Foreground {
    fn low(self, space: PoolSpace) -> u32 {
        space.reserve.saturating_add(self.beyond_reserve)
    }

    fn high(self, space: PoolSpace) -> u32 {
        self.low(space).saturating_add(self.gain.get())
    }
}

impl GcTrigger for Foreground {
    fn needed(&self, space: PoolSpace) -> bool {
        let low = self.low(space);
        space.free_in_prospect <= low || space.holds_host && space.free_in_prospect < self.high(space)
    }

    fn holds_host(&self, space: PoolSpace) -> bool {
        space.free <= self.low(space) || space.holds_host && space.free < self.high(space)
    }
}

impl Snapshot for Foreground {}
