//! Expected errors: a group is written anew when its raw bit error rate, as the drive's model of errors has it, comes to a limit. So an
//! old block is refreshed sooner than a new one, a warm drive sooner than a cool one, and what is read often sooner than what is not
//! (adaptive-rate refresh: Cai et al., "Flash correct-and-refresh: retention-aware error management for increased flash memory
//! lifetime", ICCD 2012). A real drive estimates the rate by reading pages; this one knows it.

use ninescope_kernel::Ns;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RefreshPolicy, RefreshPolicyParameters};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectedErrors {
    /// Raw bit error rate at which a group is written anew: choose it below what its code corrects, and above what new data has.
    #[schemars(transform = above_zero)]
    pub rber: f64,
    /// How often groups are looked at, the first time after that long [ns].
    #[schemars(transform = above_zero)]
    pub period: Duration,
}

impl Default for ExpectedErrors {
    /// About what a code of 40 bits for a kilobyte corrects of nearly all codewords, and every hour.
    fn default() -> Self {
        Self { rber: 2e-3, period: Duration(3_600_000_000_000) }
    }
}

impl RefreshPolicyParameters for ExpectedErrors {
    fn build(&self) -> Result<Box<dyn RefreshPolicy>, (&'static str, String)> {
        if self.rber <= 0.0 || self.rber >= 0.5 || self.rber.is_nan() {
            return Err(("rber", format!("is {}, it must lie between 0 and 0.5, both excluded", self.rber)));
        }
        if self.period.0 == 0 {
            return Err(("period", "must not be zero".to_owned()));
        }
        Ok(Box::new(*self))
    }
}

impl RefreshPolicy for ExpectedErrors {
    fn is_due_by_reads(&self, _: u32) -> bool {
        false
    }

    fn is_due_by_age(&self, _: Ns) -> bool {
        false
    }

    fn is_due_by_rate(&self, rber: f64) -> bool {
        rber >= self.rber
    }

    fn goes_by_rate(&self) -> bool {
        true
    }

    fn check_period(&self) -> Option<Ns> {
        Some(Ns(self.period.0))
    }
}
