//! Proportional: where fewer than `below` groups beyond the reserve are free in the pool that took a unit, the next one of the host waits
//! after it, for `gap` where none is free and for a part of that, as what is free is a part of `below`, else. Writes slow down
//! before they would have to stop, and collection has gone on for longer when they would.

use std::num::NonZeroU32;

use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WriteThrottle, WriteThrottleParameters};

/// The longest gap [ns]: beyond it is a slip.
const GAP_MAX: u64 = 1_000_000_000;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Proportional {
    /// Free groups, beyond the reserve, below which writes are held back.
    pub below: NonZeroU32,
    /// Time between two units where nothing is free beyond the reserve.
    pub gap: Duration,
}

impl Default for Proportional {
    fn default() -> Self {
        Self { below: NonZeroU32::new(2).expect("two is not zero"), gap: Duration(20_000) }
    }
}

impl WriteThrottleParameters for Proportional {
    fn build(&self) -> Option<Box<dyn WriteThrottle>> {
        Some(Box::new(*self))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        (self.gap.0 > GAP_MAX).then(|| ("gap", format!("is {}, at most {} is allowed", self.gap, Duration(GAP_MAX))))
    }
}

impl WriteThrottle for Proportional {
    fn gap(&self, free: u32) -> Ns {
        let below = u64::from(self.below.get());
        Ns(self.gap.0 * below.saturating_sub(u64::from(free)) / below)
    }
}
