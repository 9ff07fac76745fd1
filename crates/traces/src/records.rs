//! The records of one pass through a trace, in the order of the file: what cannot be used is skipped and
//! counted, or an error where the trace is read strictly.

use super::health::text_of;
use super::input::{Input, Record};
use super::record::TraceRecord;
use ninescope_model::Op;

use super::detect::{detect, kind_of_binary};
use super::formats::AnyParser;
use super::volumes::Volumes;
use super::{TraceFormat, TraceHealth, TraceOptions, TraceVolume};
use crate::{LineProblem, Place, TraceError};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The records of one pass through a trace.
pub(super) struct Records {
    input: Input,
    format: TraceFormat,
    parser: AnyParser,
    /// The least length of a binary format's record.
    record_bytes: Option<usize>,
    is_strict: bool,
    /// What the file is if it is no text.
    binary: Option<&'static str>,
    line: u64,
    pub health: TraceHealth,
    has_trims: bool,
    volumes: Volumes,
}

impl Records {
    pub fn new(mut input: Input, options: &TraceOptions) -> Result<Self, TraceError> {
        let file = input.file().to_owned();
        let (start, is_whole) = input.peek()?;
        if start.is_empty() {
            return Err(TraceError::Empty { file });
        }
        let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        let named = options.columns.map(TraceFormat::Csv).or(options.format);
        let format = named.map_or_else(|| detect(&file, start, is_whole), Ok)?;
        let parser = AnyParser::new(format, start)
            .map_err(|error| TraceError::BadColumns { file, problem: error.to_string() })?;
        let binary = kind_of_binary(start);
        Ok(Self {
            input,
            format,
            binary,
            parser,
            record_bytes: format.record_bytes(),
            is_strict: options.strict,
            line: 0,
            health: TraceHealth::default(),
            has_trims: options.trims,
            volumes: Volumes::new(options.volume.clone(), options.map.clone()),
        })
    }

    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// The volumes found so far.
    pub fn volumes(&self) -> &[TraceVolume] {
        self.volumes.list()
    }

    /// What the trace does not say and is assumed, and what of it is not read.
    pub fn remarks(&self) -> Vec<String> {
        self.parser.remarks()
    }

    pub fn file(&self) -> &str {
        self.input.file()
    }

    /// Where the latest record was found.
    pub fn place(&self) -> Place {
        if self.record_bytes.is_some() { Place::Record(self.line) } else { Place::Line(self.line) }
    }

    /// The next record that can be used.
    pub fn next(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        let record = match self.record_bytes {
            None => self.next_of_text()?,
            Some(least) => self.next_of_binary(least)?,
        };
        self.health.devices = self.volumes.list().len() as u64;
        if let Some(record) = &record {
            self.health.unaligned += u64::from(record.is_unaligned);
        }
        Ok(record)
    }

    /// The error for a file that is no text and is read as such.
    fn no_text(&self) -> Option<TraceError> {
        let kind = self.binary.filter(|_| self.record_bytes.is_none())?;
        let problem = format!("{kind}, and {} is a format of text", self.format.name());
        Some(TraceError::Binary { file: self.file().to_owned(), problem })
    }

    /// The error for a volume that was named and is not among those found so far.
    pub fn missing_volume(&self) -> Option<TraceError> {
        let problem = self.volumes.missing()?;
        Some(TraceError::NoVolume { file: self.file().to_owned(), problem })
    }

    /// The error for a trace of which not one record could be used.
    pub fn none_usable(&self) -> TraceError {
        // Where nothing can be read, no volume can be either.
        if let Some(problem) = self.missing_volume().filter(|_| !self.volumes.list().is_empty()) {
            return problem;
        }
        if let Some(problem) = self.no_text() {
            return problem;
        }
        TraceError::NoRequest {
            file: self.file().to_owned(),
            lines: self.line,
            format: self.format.name(),
            first: self.health.first_in_words(),
        }
    }

    #[inline]
    fn next_of_text(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        while let Some(line) = self.input.next_line()? {
            self.line += 1;
            let mut text = line.text;
            if self.line == 1 {
                text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
            }
            let parsed = if line.is_too_long { Err(LineProblem::TooLong) } else { self.parser.parse(text) };
            let parsed = parsed.and_then(|record| {
                let name = || self.parser.volume(text, record.device);
                admitted(record, self.has_trims, &mut self.volumes, name)
            });
            match parsed {
                Ok(record) => return Ok(Some(record)),
                Err(problem) if self.is_strict && problem.is_broken() => {
                    let (place, text) = (Place::Line(self.line), text_of(Place::Line(self.line), text));
                    if let Some(problem) = self.no_text() {
                        return Err(problem);
                    }
                    return Err(TraceError::BadLine { file: self.file().to_owned(), place, problem, text });
                }
                Err(problem) => self.health.skip(Place::Line(self.line), text, problem),
            }
        }
        Ok(None)
    }

    fn next_of_binary(&mut self, least: usize) -> Result<Option<TraceRecord>, TraceError> {
        while let Some(record) = self.input.next_record(least, |header| self.parser.record_bytes(header))? {
            self.line += 1;
            let (parsed, content) = match record {
                Record::Whole(content) => (self.parser.parse(content), content),
                Record::Truncated(content) => (Err(LineProblem::Truncated), content),
            };
            let parsed = parsed.and_then(|record| {
                let name = || self.parser.volume(content, record.device);
                admitted(record, self.has_trims, &mut self.volumes, name)
            });
            match parsed {
                Ok(record) => return Ok(Some(record)),
                Err(problem) if self.is_strict && problem.is_broken() => {
                    let (place, text) = (Place::Record(self.line), text_of(Place::Record(self.line), content));
                    return Err(TraceError::BadLine { file: self.file().to_owned(), place, problem, text });
                }
                Err(problem) => self.health.skip(Place::Record(self.line), content, problem),
            }
        }
        Ok(None)
    }
}

/// What is let through of what was parsed.
#[inline]
fn admitted(
    record: TraceRecord,
    has_trims: bool,
    volumes: &mut Volumes,
    name: impl Fn() -> String,
) -> Result<TraceRecord, LineProblem> {
    if record.op != Op::Trim || has_trims {
        return volumes.admit(record, name);
    }
    Err(if volumes.are_read(name) { LineProblem::Discard } else { LineProblem::OtherVolume })
}
