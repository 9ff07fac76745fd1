//! The trace formats, their names, and how one is told from the content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::health::excerpt;
use super::{mqsim, msr, vscsi};
use crate::WorkloadError;

/// A format of request logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// MSR Cambridge CSV: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
    Msr,
    /// `MQSim` text: `nanoseconds device LBA sectors operation`, operation 0 = write, 1 = read.
    MqSim,
    /// vSCSI version 1: binary records of 32 bytes.
    Vscsi,
}

impl TraceFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Msr, Self::MqSim, Self::Vscsi];
    /// The names in one phrase, for messages.
    pub(super) const NAMES: &'static str = "msr, mqsim or vscsi";

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Msr => "msr",
            Self::MqSim => "mqsim",
            Self::Vscsi => "vscsi",
        }
    }

    /// The format of a trace that begins with `start`: the first line that reads as a request decides.
    /// `start` ends within a line unless it is the whole content.
    pub(super) fn sniff(file: &str, start: &[u8], is_whole: bool) -> Result<Self, WorkloadError> {
        if vscsi::looks_like(start) {
            return Ok(Self::Vscsi);
        }
        let complete = if is_whole { start.len() } else { memchr::memrchr(b'\n', start).unwrap_or(start.len()) };
        let mut first = None;
        for line in start[..complete].split(|&byte| byte == b'\n') {
            if msr::parse(line).is_ok() {
                return Ok(Self::Msr);
            }
            if mqsim::parse(line).is_ok() {
                return Ok(Self::MqSim);
            }
            if first.is_none() && !line.trim_ascii().is_empty() {
                first = Some(line);
            }
        }
        let first =
            first.map_or("all lines are blank".to_owned(), |line| format!("it begins with `{}`", excerpt(line)));
        Err(WorkloadError::UnknownFormat { file: file.to_owned(), formats: Self::NAMES, first })
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for TraceFormat {
    type Err = WorkloadError;

    fn from_str(name: &str) -> Result<Self, WorkloadError> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| WorkloadError::BadOption {
            option: "format",
            problem: format!("`{name}` is not a trace format; write {}", Self::NAMES),
        })
    }
}
