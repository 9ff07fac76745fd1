//! The class of a workload in eight: write or read, hot or cold, random or sequential.
//!
//! The classes are those of Yamada, Matsui and Takeuchi (IEICE Transactions on Electronics E100-C, 373, 2017). Hotness is
//! their measure, how often the data was written (or read) over; where it begins is not published and was chosen so
//! that the volumes that the paper names fall into the classes that it gives them.

use serde::Serialize;

use super::super::TraceSummary;

/// A mean request below this is random [bytes].
const RANDOM_BELOW_BYTES: u64 = 8192;
/// Data that is accessed as often as this is hot.
const HOT_FROM: f64 = 20.0;

/// The class of a workload, and what it follows from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadClass {
    /// 1 to 8.
    pub number: u8,
    /// The class in words, "write-hot-random" for 1.
    pub name: String,
    /// The operation of most requests, "read" where there are as many of both.
    pub dominant: &'static str,
    /// Mean size of its requests [bytes].
    pub mean_bytes: f64,
    /// Below this the workload is random [bytes].
    pub random_below_bytes: u64,
    /// All bytes of the dominant operation over the footprint.
    pub hotness: f64,
    /// From here on it is hot.
    pub hot_from: f64,
}

impl WorkloadClass {
    /// The class of a trace that reads or writes something.
    pub(super) fn of(summary: &TraceSummary) -> Option<Self> {
        let is_write = summary.writes > summary.reads;
        let (dominant, count, bytes) = if is_write {
            ("write", summary.writes, summary.write_bytes)
        } else {
            ("read", summary.reads, summary.read_bytes)
        };
        if count == 0 || summary.footprint_bytes == 0 {
            return None;
        }
        let mean_bytes = bytes as f64 / count as f64;
        let hotness = bytes as f64 / summary.footprint_bytes as f64;
        let (is_hot, is_random) = (hotness >= HOT_FROM, mean_bytes < RANDOM_BELOW_BYTES as f64);
        let temperature = if is_hot { "hot" } else { "cold" };
        let order = if is_random { "random" } else { "sequential" };
        Some(Self {
            number: 1 + 4 * u8::from(!is_write) + 2 * u8::from(!is_hot) + u8::from(!is_random),
            name: format!("{dominant}-{temperature}-{order}"),
            dominant,
            mean_bytes,
            random_below_bytes: RANDOM_BELOW_BYTES,
            hotness,
            hot_from: HOT_FROM,
        })
    }
}
