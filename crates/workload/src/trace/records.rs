//! The records of one pass through a trace, in the order of the file: what cannot be used is skipped and
//! counted, or an error where the trace is read strictly.

use std::collections::BTreeSet;

use super::health::text_of;
use super::input::{Input, Record};
use super::record::TraceRecord;
use super::{TraceFormat, TraceHealth, mqsim, msr, vscsi};
use crate::{LineProblem, Place, WorkloadError};

/// How many volumes are told apart; beyond it they are no longer counted, so that memory stays constant.
const DEVICES_MAX: usize = 65_536;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The records of one pass through a trace.
pub(super) struct Records {
    input: Input,
    format: TraceFormat,
    is_strict: bool,
    line: u64,
    pub health: TraceHealth,
    devices: BTreeSet<u64>,
    latest_device: Option<u64>,
}

impl Records {
    pub fn new(mut input: Input, format: Option<TraceFormat>, is_strict: bool) -> Result<Self, WorkloadError> {
        let file = input.file().to_owned();
        let (start, is_whole) = input.peek()?;
        if start.is_empty() {
            return Err(WorkloadError::Empty { file });
        }
        let format = format.map_or_else(|| TraceFormat::sniff(&file, start, is_whole), Ok)?;
        let (health, devices) = (TraceHealth::default(), BTreeSet::new());
        Ok(Self { input, format, is_strict, line: 0, health, devices, latest_device: None })
    }

    pub fn format(&self) -> TraceFormat {
        self.format
    }

    pub fn file(&self) -> &str {
        self.input.file()
    }

    /// Where the latest record was found.
    pub fn place(&self) -> Place {
        place(self.format, self.line)
    }

    /// The next record that can be used.
    pub fn next(&mut self) -> Result<Option<TraceRecord>, WorkloadError> {
        let record = match self.format {
            TraceFormat::Msr => self.next_of_text(msr::parse)?,
            TraceFormat::MqSim => self.next_of_text(mqsim::parse)?,
            TraceFormat::Vscsi => self.next_of_vscsi()?,
        };
        if let Some(record) = &record {
            self.health.unaligned += u64::from(record.is_unaligned);
            self.note_device(record.device);
        }
        Ok(record)
    }

    /// The error for a trace of which not one record could be used.
    pub fn none_usable(&self) -> WorkloadError {
        WorkloadError::NoRequest {
            file: self.file().to_owned(),
            lines: self.line,
            format: self.format.name(),
            first: self.health.first_in_words(),
        }
    }

    #[inline]
    fn next_of_text(
        &mut self,
        parse: impl Fn(&[u8]) -> Result<TraceRecord, LineProblem>,
    ) -> Result<Option<TraceRecord>, WorkloadError> {
        while let Some(line) = self.input.next_line()? {
            self.line += 1;
            let mut text = line.text;
            if self.line == 1 {
                text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
            }
            let parsed = if line.is_too_long { Err(LineProblem::TooLong) } else { parse(text) };
            match parsed {
                Ok(record) => return Ok(Some(record)),
                Err(problem) if self.is_strict && problem.is_broken() => {
                    let (place, text) = (Place::Line(self.line), text_of(Place::Line(self.line), text));
                    return Err(WorkloadError::BadLine { file: self.file().to_owned(), place, problem, text });
                }
                Err(problem) => self.health.skip(Place::Line(self.line), text, problem),
            }
        }
        Ok(None)
    }

    fn next_of_vscsi(&mut self) -> Result<Option<TraceRecord>, WorkloadError> {
        while let Some(record) = self.input.next_record::<{ vscsi::RECORD_BYTES }>()? {
            self.line += 1;
            let (parsed, content) = match record {
                Record::Whole(content) => (vscsi::parse(content), &content[..]),
                Record::Truncated(content) => (Err(LineProblem::Truncated), content),
            };
            match parsed {
                Ok(record) => return Ok(Some(record)),
                Err(problem) if self.is_strict && problem.is_broken() => {
                    let (place, text) = (Place::Record(self.line), text_of(Place::Record(self.line), content));
                    return Err(WorkloadError::BadLine { file: self.file().to_owned(), place, problem, text });
                }
                Err(problem) => self.health.skip(Place::Record(self.line), content, problem),
            }
        }
        Ok(None)
    }

    #[inline]
    fn note_device(&mut self, device: u64) {
        if self.latest_device != Some(device) {
            self.latest_device = Some(device);
            if self.devices.len() < DEVICES_MAX {
                self.devices.insert(device);
                self.health.devices = self.devices.len() as u64;
            }
        }
    }
}

fn place(format: TraceFormat, number: u64) -> Place {
    match format {
        TraceFormat::Msr | TraceFormat::MqSim => Place::Line(number),
        TraceFormat::Vscsi => Place::Record(number),
    }
}
