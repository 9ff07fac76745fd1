//! Writing traces: requests become the text of a format, compressed as it grows.
//!
//! A writer keeps nothing but what was not taken from it yet, so a conversion runs in constant memory. What
//! a format cannot say (an operation that it lacks, the last digits of a time) is counted, never hidden.

mod compression;
mod text;

use std::io::{self, Write};
use std::str::FromStr;

use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, REQUEST_SECTORS_MAX, Request, TIME_MAX};
use serde::Serialize;

use crate::TraceError;
use compression::Encoder;

pub use compression::Compression;

/// Text that is gathered before it is compressed: a compressor is slow on crumbs.
const GATHERED_BYTES: usize = 1 << 16;

/// No request reaches this sector: beyond it a byte address does not fit 64 bits.
const SECTOR_LIMIT: u64 = 1 << 55;

/// A format that traces are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenFormat {
    /// MSR Cambridge CSV; times in units of 100 ns from zero on, response times of zero.
    Msr,
    /// `MQSim` text; times in nanoseconds.
    MqSim,
    /// fio's I/O log, version 3; times in microseconds.
    Fio,
    /// Binary rows of ninescope, with every operation; times in nanoseconds.
    Rows,
}

impl WrittenFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Msr, Self::MqSim, Self::Fio, Self::Rows];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Msr => "msr",
            Self::MqSim => "mqsim",
            Self::Fio => "fio",
            Self::Rows => "rows",
        }
    }

    /// What one unit of its time stamps is [ns].
    pub fn time_unit_ns(self) -> u64 {
        match self {
            Self::Msr => 100,
            Self::MqSim | Self::Rows => 1,
            Self::Fio => 1000,
        }
    }

    /// Whether it has a word for `op`.
    pub fn knows(self, op: Op) -> bool {
        matches!(self, Self::Fio | Self::Rows) || matches!(op, Op::Read | Op::Write)
    }
}

impl FromStr for WrittenFormat {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| TraceError::BadOption {
            option: "to",
            problem: format!("`{name}` is not a format that is written; write msr, mqsim, fio or rows"),
        })
    }
}

/// What became of the requests given to a writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteReport {
    /// Requests written.
    pub requests: u64,
    /// Requests left out, because the format has no word for their operation.
    pub left_out: u64,
    /// Requests whose time lost digits that the format's unit cannot hold.
    pub rounded: u64,
}

/// A trace under way to its text.
pub struct TraceWriter {
    format: WrittenFormat,
    sink: Encoder,
    gathered: Vec<u8>,
    report: WriteReport,
    latest: Ns,
}

impl TraceWriter {
    /// A writer of an empty trace.
    ///
    /// # Errors
    /// When the compressor cannot be set up.
    pub fn new(format: WrittenFormat, compression: Compression) -> io::Result<Self> {
        let (sink, mut gathered) = (Encoder::new(compression)?, Vec::with_capacity(2 * GATHERED_BYTES));
        text::begin(format, &mut gathered)?;
        Ok(Self { format, sink, gathered, report: WriteReport::default(), latest: Ns::ZERO })
    }

    /// Writes one request; says whether the format could express it. Its time is cut to the format's unit.
    ///
    /// # Errors
    /// Those of the compressor.
    pub fn add(&mut self, request: &Request) -> io::Result<bool> {
        if !self.format.knows(request.op) {
            self.report.left_out += 1;
            return Ok(false);
        }
        self.report.requests += 1;
        self.report.rounded += u64::from(!request.submitted.0.is_multiple_of(self.format.time_unit_ns()));
        self.latest = self.latest.max(request.submitted);
        text::request(self.format, request, &mut self.gathered)?;
        if self.gathered.len() >= GATHERED_BYTES {
            self.compress()?;
        }
        Ok(true)
    }

    /// The text, compressed, that is ready and was not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        self.sink.take()
    }

    /// Ends the trace; returns what was not taken yet.
    ///
    /// # Errors
    /// Those of the compressor.
    pub fn finish(mut self) -> io::Result<Vec<u8>> {
        text::end(self.format, self.latest, &mut self.gathered)?;
        self.compress()?;
        self.sink.finish()
    }

    fn compress(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }

    /// What became of the requests so far.
    pub fn report(&self) -> WriteReport {
        self.report
    }
}

/// The request of four numbers from outside; `op` is an index of [`Op::ALL`].
///
/// # Errors
/// What is wrong with them, in words.
pub fn checked_request(submitted_ns: u64, op: u64, lba: u64, sectors: u64) -> Result<Request, String> {
    let named = Op::ALL.into_iter().find(|&known| known as u64 == op);
    let op = named.ok_or_else(|| format!("{op} is not an operation"))?;
    if submitted_ns > TIME_MAX.0 {
        return Err(format!("the time {submitted_ns} ns lies beyond 73 years"));
    }
    let count = u32::try_from(sectors).ok().filter(|&count| count <= REQUEST_SECTORS_MAX);
    let count = count.ok_or_else(|| format!("{sectors} sectors are more than {REQUEST_SECTORS_MAX}"))?;
    if count == 0 && op != Op::Flush {
        return Err("the size is zero".to_owned());
    }
    if lba.checked_add(sectors).is_none_or(|end| end >= SECTOR_LIMIT) {
        return Err(format!("the address {lba} is too large"));
    }
    Ok(Request { submitted: Ns(submitted_ns), lba: Lba(lba), sectors: count, op, ..Request::default() })
}
