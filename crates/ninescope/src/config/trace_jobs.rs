//! Traces that are replayed beside others, as a file of jobs describes them: a table of `[[traces]]` each.
//!
//! It must not know how traces are read, nor where on a drive they come to lie.

use std::path::{Path, PathBuf};

use ninescope_model::UrgencyClass;
use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostics::nearest_location;
use crate::error::Error;

/// What becomes of addresses beyond the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddressPolicy {
    /// The trace is refused.
    #[default]
    Refuse,
    /// They are taken modulo the drive's size.
    Wrap,
    /// All pages that are touched, here or there, are put next to each other in the order of their addresses.
    Compact,
}

/// A trace that is replayed beside others, on a part of the drive of its own or on one that it shares.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceJob {
    /// What results call it; the name of its file, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The trace file; one that is no absolute path lies beside the file that names it.
    pub trace: PathBuf,
    /// Its format; absent: told from its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What its columns are, in place of a format: `time=COLUMN:UNIT,op=COLUMN,offset=COLUMN:UNIT,size=COLUMN:UNIT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// Whether skipped and out-of-order lines are errors.
    #[serde(default)]
    pub strict: bool,
    /// The namespace of the drive that it goes into, by its number; 1, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub namespace: Option<u32>,
    /// Where its first address lies in that, a multiple of 4 KiB [B].
    #[serde(default)]
    pub offset: Bytes,
    /// What becomes of addresses beyond the drive's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressPolicy>,
    /// The stream that the host names for its writes (`ftl.streams` as `hinted` or `fdp`), where the trace names none.
    #[serde(default)]
    pub stream: u8,
    /// Its volumes that are replayed, by name; all, if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volume: Vec<String>,
    /// Where these lie from `offset` on: `in-order` (if left out), `merge`, or `map:NAME=OFFSET;NAME=OFFSET`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<String>,
    /// How often it is replayed.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub loop_count: Option<u32>,
    /// Factor on the gaps between its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub time_scale: Option<f64>,
    /// Whether its times are left out, and `iodepth` requests are kept in flight instead.
    #[serde(default)]
    pub closed_loop: bool,
    /// Requests that a closed loop keeps in flight; absent: as many as the drive takes [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub iodepth: Option<u32>,
    /// Whether its discards are requests too.
    #[serde(default)]
    pub trims: bool,
    /// It submits no more than this many requests [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests: Option<u64>,
    /// It submits nothing when it has run for so long [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub duration: Option<Duration>,
    /// It begins at that time of the run [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startdelay: Option<Duration>,
    /// Its class among others (`scheduler.arbitration`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<UrgencyClass>,
    /// Its weight, in place of that of its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub weight: Option<u32>,
    /// Commands of its queue that the drive has at a time [count]; absent: as the drive says (`controller.commands_per_queue`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub commands_per_queue: Option<u32>,
    /// So many requests per second are taken in at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub iops_max: Option<f64>,
    /// So many bytes of reads and writes per second are taken in at most [B/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub bandwidth_max: Option<BytesPerSecond>,
    /// So much time's worth of either limit is saved up while nothing comes [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_burst: Option<Duration>,
    /// Channels of the drive that it lies on, and no other's [numbers from 0]; absent: those that nobody names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub channels: Option<Vec<u32>>,
    /// In place of `channels`, dies of the drive, counted through all channels [numbers from 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub dies: Option<Vec<u32>>,
    /// Of these dies, the planes that it lies in [numbers from 0]; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub planes: Option<Vec<u32>>,
    /// How much of the memory above another is its alone, in whole pages [B]; absent: it shares, or has a part of, what others
    /// leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub cache_size: Option<Bytes>,
    /// How many filled pages of the drive's write buffer are its alone, out of `controller.shared_buffered_pages` [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub buffer_pages: Option<u32>,
}

/// Traces of a file of jobs, with what is needed to point at their mistakes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedTraces {
    /// In the order of the file.
    pub traces: Vec<TraceJob>,
    path: PathBuf,
    text: String,
}

/// Keys by which whoever reads a trace names what is wrong with how it is to be read.
const OF_READING: [&str; 5] = ["time_scale", "loop", "format", "columns", "volumes"];

/// The key that a problem is about, and what it is.
fn key_of(problem: &str) -> Option<(&str, &str)> {
    problem.split_once(": ").filter(|(key, _)| OF_READING.contains(key))
}

impl LoadedTraces {
    /// Those of a file.
    pub fn of_file(path: &Path, text: &str, traces: Vec<TraceJob>) -> Self {
        Self { traces, path: path.to_owned(), text: text.to_owned() }
    }

    /// Where traces lie that are no absolute paths.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// What is wrong with a trace, with where it is described: at the key that it is about, where that is one of the description.
    pub fn of_trace(&self, index: usize, error: Error) -> Error {
        match error {
            Error::Input(problem) if key_of(&problem).is_some() => {
                let (key, problem) = key_of(&problem).unwrap_or_default();
                self.error_at(index, key, problem)
            }
            Error::Input(problem) => Error::Input(format!("{}: traces[{index}]: {problem}", self.path.display())),
            internal @ Error::Internal(_) => internal,
        }
    }

    /// An error about a key of a trace, with its line in the file.
    pub fn error_at(&self, index: usize, key: &str, problem: &str) -> Error {
        let line = nearest_location(&self.text, &format!("traces[{index}].{key}"));
        Error::Input(format!("{}: traces[{index}].{key}: {problem}{line}", self.path.display()))
    }
}
