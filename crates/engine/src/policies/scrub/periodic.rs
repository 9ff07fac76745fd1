//! Periodic: passes over all pages at a fixed rate, the first one at the start unless told otherwise (the scrubber of Huang et
//! al., "FlexECC", USENIX ATC 2014, whose period is not published: its table needs a pass before the host has read much,
//! hence the default).

use ninescope_kernel::Ns;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ScrubPolicy, ScrubPolicyParameters};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Periodic {
    /// From the beginning of a pass to that of the next one [ns].
    #[schemars(transform = above_zero)]
    pub period: Duration,
    /// When the first pass begins [ns].
    pub first: Duration,
    /// Pages that are read at a time at most [count].
    #[schemars(transform = above_zero)]
    pub pages_in_flight: u32,
}

impl Default for Periodic {
    fn default() -> Self {
        Self { period: Duration(3_600_000_000_000), first: Duration(0), pages_in_flight: 4 }
    }
}

impl ScrubPolicyParameters for Periodic {
    fn build(&self) -> Result<Box<dyn ScrubPolicy>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(*self))
    }
}

/// Most pages at a time: as many as a queue holds.
const PAGES_MAX: u32 = 65_535;

impl Periodic {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.period.0 == 0 {
            return Err(("period", "must not be zero".to_owned()));
        }
        if self.pages_in_flight == 0 || self.pages_in_flight > PAGES_MAX {
            let message = format!("is {}, it must lie between 1 and {PAGES_MAX}", self.pages_in_flight);
            return Err(("pages_in_flight", message));
        }
        Ok(())
    }
}

impl ScrubPolicy for Periodic {
    fn first_pass(&self) -> Ns {
        Ns(self.first.0)
    }

    fn period(&self) -> Ns {
        Ns(self.period.0)
    }

    fn pages_in_flight(&self) -> u32 {
        self.pages_in_flight
    }
}
