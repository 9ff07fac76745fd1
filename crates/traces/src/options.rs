//! How a trace is to be read.

use serde::{Deserialize, Serialize};

use super::{AddressMap, TraceFormat};
use crate::TraceError;

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceOptions {
    /// The format; `None`: told from the content.
    pub format: Option<TraceFormat>,
    /// Whether a broken line or one out of time order is an error, instead of skipped or mended and counted.
    pub strict: bool,
    /// How far a request may be out of order in time and still be put right [requests].
    pub reorder_window: usize,
    /// What gaps between requests are multiplied by; positive.
    pub time_scale: f64,
    /// How often the trace is read. Each pass starts one mean gap after the last request of the one before.
    pub loop_count: u32,
    /// At most this many requests, over all passes.
    pub requests: Option<u64>,
    /// Whether time stamps are dropped and requests submitted as slots free.
    pub closed_loop: bool,
    /// Whether discards are requests too, instead of commands that are skipped.
    pub trims: bool,
    /// The stream that the host names for writes of which the trace says nothing; 0 for none.
    pub stream: u8,
    /// The volumes to read, by name; all when empty.
    pub volume: Vec<String>,
    /// Where the addresses lie on the drive.
    #[serde(skip)]
    pub map: AddressMap,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            format: None,
            strict: false,
            reorder_window: 1024,
            time_scale: 1.0,
            loop_count: 1,
            requests: None,
            closed_loop: false,
            trims: false,
            stream: 0,
            volume: Vec::new(),
            map: AddressMap::default(),
        }
    }
}

impl TraceOptions {
    /// Whether every option has a meaning.
    ///
    /// # Errors
    /// Names the option that has none.
    pub fn validate(&self) -> Result<(), TraceError> {
        if !(self.time_scale.is_finite() && self.time_scale > 0.0) {
            let problem = format!("{} is not a positive number", self.time_scale);
            return Err(TraceError::BadOption { option: "time_scale", problem });
        }
        if self.loop_count == 0 {
            let problem = "a trace is read at least once".to_owned();
            return Err(TraceError::BadOption { option: "loop", problem });
        }
        Ok(())
    }

    /// The same for looking at the trace itself, as stamped, once.
    pub(super) fn for_one_pass(&self) -> Self {
        Self { time_scale: 1.0, loop_count: 1, closed_loop: false, ..self.clone() }
    }
}
