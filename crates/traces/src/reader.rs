//! A trace as a workload.

use std::io::Read;
use std::path::{Path, PathBuf};

use ninescope_model::{Arrival, Lba, Op, Request, Workload, WorkloadError};

use super::input::Input;
use super::record::TraceRecord;
use super::records::Records;
use super::reorder::{Placement, ReorderWindow};
use super::timeline::Timeline;
use super::{TraceFormat, TraceHealth, TraceOptions, TraceVolume};
use crate::{LineProblem, TraceError};

/// A trace as a workload: requests in order of time, the first one at zero.
pub struct TraceReader {
    /// The file to read again; `None` for an input that can be read only once.
    path: Option<PathBuf>,
    options: TraceOptions,
    records: Records,
    window: ReorderWindow,
    timeline: Timeline,
    /// Passes begun.
    pass: u32,
    /// Requests given.
    delivered: u64,
    /// What the first pass found; later ones would count the same again.
    first_pass: Option<TraceHealth>,
    is_over: bool,
}

impl TraceReader {
    /// Opens a trace; compression and format are told from its content.
    ///
    /// # Errors
    /// When an option has no meaning, the file cannot be read, is empty, or is of no known format.
    pub fn open(path: &Path, options: TraceOptions) -> Result<Self, TraceError> {
        options.validate()?;
        let records = Records::new(Input::open(path)?, &options)?;
        Ok(Self::new(Some(path.to_owned()), records, options))
    }

    /// Reads a trace from `source`, which messages call `name`. It can be read only once.
    ///
    /// # Errors
    /// Those of [`Self::open`], and when the options ask for more than one pass.
    pub fn from_source(name: &str, source: Box<dyn Read + Send>, options: TraceOptions) -> Result<Self, TraceError> {
        options.validate()?;
        if options.loop_count > 1 {
            return Err(TraceError::NotRepeatable { file: name.to_owned() });
        }
        let records = Records::new(Input::new(name.to_owned(), source)?, &options)?;
        Ok(Self::new(None, records, options))
    }

    fn new(path: Option<PathBuf>, records: Records, options: TraceOptions) -> Self {
        let window = ReorderWindow::new(options.reorder_window);
        let timeline = Timeline::new(options.time_scale);
        let (pass, delivered) = (1, 0);
        Self { path, options, records, window, timeline, pass, delivered, first_pass: None, is_over: false }
    }

    /// Goes back to the trace's beginning.
    ///
    /// # Errors
    /// When the file can no longer be read, or the input can be read only once.
    pub fn rewind(&mut self) -> Result<(), TraceError> {
        let records = self.reopened()?;
        *self = Self::new(self.path.clone(), records, self.options.clone());
        Ok(())
    }

    /// The trace's format.
    pub fn format(&self) -> TraceFormat {
        self.records.format()
    }

    /// How the trace is read.
    pub fn options(&self) -> &TraceOptions {
        &self.options
    }

    /// What had to be skipped or mended so far, in the first pass.
    pub fn health(&self) -> &TraceHealth {
        self.first_pass.as_ref().unwrap_or(&self.records.health)
    }

    /// What the trace does not say and is assumed, and what of it is not read.
    pub fn remarks(&self) -> Vec<String> {
        self.records.remarks()
    }

    /// The volumes found so far, in the latest pass.
    pub fn volumes(&self) -> &[TraceVolume] {
        self.records.volumes()
    }

    /// The next request, as of a workload, with what is wrong as a trace has it.
    pub(crate) fn read(&mut self) -> Result<Option<Request>, TraceError> {
        if self.is_over {
            return Ok(None);
        }
        let next = self.advance();
        self.is_over = !matches!(next, Ok(Some(_)));
        next
    }

    /// The records of a new pass.
    fn reopened(&self) -> Result<Records, TraceError> {
        match &self.path {
            // The format is kept: it is what the first pass found.
            Some(path) => {
                let options = TraceOptions { format: Some(self.format()), ..self.options.clone() };
                Records::new(Input::open(path)?, &options)
            }
            None => Err(TraceError::NotRepeatable { file: self.records.file().to_owned() }),
        }
    }

    fn advance(&mut self) -> Result<Option<Request>, TraceError> {
        if self.options.requests.is_some_and(|limit| self.delivered >= limit) {
            return Ok(None);
        }
        loop {
            if let Some(record) = self.next_in_order()? {
                self.delivered += 1;
                return self.request(&record).map(Some);
            }
            if self.delivered == 0 {
                return Err(self.records.none_usable());
            }
            // Of several that are named one may be there.
            if let Some(problem) = self.records.missing_volume() {
                return Err(problem);
            }
            if self.pass == self.options.loop_count {
                return Ok(None);
            }
            self.start_pass()?;
        }
    }

    /// The pass's next record in order of time.
    fn next_in_order(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        while !self.window.is_over_full() {
            let Some(record) = self.records.next()? else { break };
            let placement = self.window.push(record);
            if placement != Placement::InOrder {
                self.note_out_of_order(&record, placement)?;
            }
        }
        Ok(self.window.pop())
    }

    #[cold]
    fn note_out_of_order(&mut self, record: &TraceRecord, placement: Placement) -> Result<(), TraceError> {
        if self.options.strict {
            return Err(TraceError::BadLine {
                file: self.records.file().to_owned(),
                place: self.records.place(),
                problem: LineProblem::OutOfOrder,
                text: format!("{} ns", record.time_ns),
            });
        }
        let health = &mut self.records.health;
        health.reordered += u64::from(placement == Placement::Reordered);
        health.clamped += u64::from(placement == Placement::Clamped);
        Ok(())
    }

    fn start_pass(&mut self) -> Result<(), TraceError> {
        self.timeline.start_pass().ok_or_else(|| self.time_overflow())?;
        let next_pass = self.reopened()?;
        let finished = std::mem::replace(&mut self.records, next_pass);
        self.first_pass.get_or_insert(finished.health);
        self.window = ReorderWindow::new(self.options.reorder_window);
        self.pass += 1;
        Ok(())
    }

    fn request(&mut self, record: &TraceRecord) -> Result<Request, TraceError> {
        let placed = self.timeline.place(record.time_ns).ok_or_else(|| self.time_overflow())?;
        let submitted = if self.options.closed_loop { ninescope_kernel::Ns::ZERO } else { placed };
        let TraceRecord { lba, sectors, op, fua, stream, .. } = *record;
        let stream = match (op, stream) {
            (Op::Write, 0) => self.options.stream,
            (Op::Write, named) => named,
            _ => 0,
        };
        Ok(Request { submitted, lba: Lba(lba), sectors, op, fua, stream, ..Request::default() })
    }

    fn time_overflow(&self) -> TraceError {
        TraceError::TimeOverflow { file: self.records.file().to_owned(), place: self.records.place() }
    }
}

impl Workload for TraceReader {
    fn arrival(&self) -> Arrival {
        if self.options.closed_loop { Arrival::Closed } else { Arrival::Open }
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.read()?)
    }
}
