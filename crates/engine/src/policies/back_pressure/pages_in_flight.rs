//! A bound on what is on its way down, as in MQSim (Tavakkol et al., FAST 2018): its data cache takes writes in while fewer
//! sectors are on their way to flash than a page for each plane of the drive has, however large the cache is; what comes then
//! waits in the order of coming until a program ends.
//!
//! There a slot can be given away as soon as its page was read, here when that is programmed: with a share of `evict_free` as
//! large as the bound there are as many free slots. What goes to flash without the cache is bounded by the write buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admission, BackPressure, BackPressureParameters, CacheView};

/// Its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PagesInFlight {
    /// Pages on their way down with which writes wait; one for each plane of the drive, or bank below, if left out [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pages: Option<u32>,
}

impl BackPressureParameters for PagesInFlight {
    fn build(&self, planes: u32) -> Option<Box<dyn BackPressure>> {
        Some(Box::new(Bound { pages: self.pages.unwrap_or(planes).max(1) }))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        (self.pages == Some(0)).then(|| ("pages", "is 0, with which no write is ever taken in".to_owned()))
    }
}

/// The bound.
#[derive(Debug)]
struct Bound {
    pages: u32,
}

impl BackPressure for Bound {
    fn admit(&mut self, view: &CacheView) -> Admission {
        if view.leaving < self.pages { Admission::Now } else { Admission::WhenOneIsBelow }
    }
}
