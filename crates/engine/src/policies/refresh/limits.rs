//! Limits: a group is written anew when its data is older than a retention limit, or was read more often than a
//! read-disturb limit (Cai et al., "Flash correct-and-refresh: retention-aware error management for increased flash memory
//! lifetime", ICCD 2012; its in-place reprogramming is not modelled, data moves to another group).

use ninescope_kernel::Ns;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RefreshPolicy, RefreshPolicyParameters};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Age at which data is written anew [ns]; absent: ages do not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub retention: Option<Duration>,
    /// Page reads since the erase at which a group is written anew [count]; absent: reads do not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub reads: Option<u32>,
    /// How often ages are looked at, the first time after that long [ns].
    #[schemars(transform = above_zero)]
    pub period: Duration,
}

impl Default for Limits {
    /// No limit; whoever refreshes says at least one.
    fn default() -> Self {
        Self { retention: None, reads: None, period: Duration(3_600_000_000_000) }
    }
}

impl RefreshPolicyParameters for Limits {
    fn build(&self) -> Result<Box<dyn RefreshPolicy>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(*self))
    }
}

impl Limits {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let zero = |key: &'static str| Err((key, "must not be zero".to_owned()));
        if self.retention.is_none() && self.reads.is_none() {
            let message =
                "has no limit: give `retention`, `reads` or both, as in { policy = \"limits\", retention = \"30d\" }";
            return Err(("", message.to_owned()));
        }
        if self.period.0 == 0 {
            return zero("period");
        }
        if self.retention.is_some_and(|retention| retention.0 == 0) {
            return zero("retention");
        }
        if self.reads == Some(0) {
            return zero("reads");
        }
        Ok(())
    }
}

impl RefreshPolicy for Limits {
    fn is_due_by_reads(&self, reads: u32) -> bool {
        self.reads.is_some_and(|limit| reads >= limit)
    }

    fn is_due_by_age(&self, age: Ns) -> bool {
        self.retention.is_some_and(|limit| age.0 >= limit.0)
    }

    fn is_due_by_rate(&self, _: f64) -> bool {
        false
    }

    fn check_period(&self) -> Option<Ns> {
        self.retention.map(|_| Ns(self.period.0))
    }
}
