//! Pacing, as controllers do it so that a host sees no cliff when a cache fills up: with less free than the watermark writes are
//! taken in one after the other, and the distance between two grows in proportion to how far it is below. A host that writes
//! faster than the cache drains is slowed down to that rate before the cache is full.

use ninescope_kernel::Ns;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admission, BackPressure, BackPressureParameters, CacheView};

/// The longest distance of two writes [ns]: no simulated time overflows.
const LONGEST_MAX: u64 = 3_600_000_000_000;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Paced {
    /// Share of the slots: with as much free, or more, writes are taken in as they come.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub from: f64,
    /// Between two writes where nothing is free [ns].
    #[schemars(transform = above_zero)]
    pub longest: Duration,
}

impl Default for Paced {
    fn default() -> Self {
        Self { from: 0.25, longest: Duration(1_000_000) }
    }
}

impl BackPressureParameters for Paced {
    fn build(&self, _planes: u32) -> Option<Box<dyn BackPressure>> {
        Some(Box::new(Pace { rules: *self, last: Ns::ZERO }))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        if !(self.from > 0.0 && self.from <= 1.0) {
            return Some(("from", format!("is {}, it must be a share of the slots above 0 and up to 1", self.from)));
        }
        if self.longest.0 > LONGEST_MAX {
            return Some(("longest", "is more than an hour".to_owned()));
        }
        (self.longest.0 == 0).then(|| ("longest", "is zero, with which nothing is paced".to_owned()))
    }
}

/// How far it is.
#[derive(Debug)]
struct Pace {
    rules: Paced,
    /// When the last write was or is to be taken in.
    last: Ns,
}

impl BackPressure for Pace {
    fn admit(&mut self, view: &CacheView) -> Admission {
        // A share such as 0.29 of 100 slots is 29 of them, though the product of the two lies just below.
        let from = (self.rules.from * f64::from(view.slots) + 1e-9).floor() as u64;
        let lacking = from.saturating_sub(u64::from(view.free));
        if lacking == 0 {
            self.last = view.now;
            return Admission::Now;
        }
        let distance = Ns((u128::from(self.rules.longest.0) * u128::from(lacking) / u128::from(from)) as u64);
        self.last = view.now.max(self.last + distance);
        if self.last == view.now { Admission::Now } else { Admission::At(self.last) }
    }
}
