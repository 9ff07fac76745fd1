//! Block events of ftrace: `process-pid [cpu] flags seconds: block_rq_issue: major,minor rwbs bytes (command) sector +
//! sectors [process]`.
//!
//! The format strings of `include/trace/events/block.h` in Linux, as `/sys/kernel/tracing/trace` and trace-cmd print
//! them. A request is a `block_rq_issue` event, or `block_bio_queue` where the beginning of the content has none.

use super::FormatParser;
use super::blkparse::{device_number, is_forced, operation, volume};
use crate::LineProblem;
use crate::fields::{Fields, Separator, decimal, integer};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str =
    "fio-789 [000] ..... 4455.092003: block_rq_issue: 259,0 WS 65536 () 64 + 128 none,0,0 [fio]";

const ISSUE: &[u8] = b" block_rq_issue: ";
const QUEUE: &[u8] = b" block_bio_queue: ";

pub(crate) struct Parser {
    /// The event that is a request.
    event: &'static [u8],
}

impl FormatParser for Parser {
    fn new(start: &[u8]) -> Self {
        let has = |event| memchr::memmem::find(start, event).is_some();
        Self { event: if has(QUEUE) && !has(ISSUE) { QUEUE } else { ISSUE } }
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        Fields::new(line, Separator::Blanks)?;
        let Some(at) = memchr::memmem::find(line, self.event) else {
            let is_event = memchr::memmem::find(line, b": ").is_some();
            return Err(if is_event { LineProblem::OtherCommand } else { LineProblem::Missing("event") });
        };
        let stamp = line[..at].strip_suffix(b":").ok_or(LineProblem::Missing("time"))?;
        let stamp = stamp.rsplit(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default();
        let time_ns = decimal(stamp, "time", 1_000_000_000)?;
        let mut fields = Fields::new(&line[at + self.event.len()..], Separator::Blanks)?;
        let device = device_number(fields.text("device")?)?;
        let flags = fields.text("flags")?;
        let op = operation(flags).ok_or(LineProblem::OtherCommand)?;
        let mut sector = fields.text("sector")?;
        if self.event == ISSUE {
            // That were the bytes; the command in brackets may hold blanks.
            integer(sector, "size")?;
            let end = memchr::memchr(b')', fields.rest()).ok_or(LineProblem::Missing("command"))?;
            fields = Fields::new(&fields.rest()[end + 1..], Separator::Blanks)?;
            sector = fields.text("sector")?;
        }
        if fields.text("plus sign")? != b"+" {
            return Err(LineProblem::Missing("plus sign"));
        }
        let sectors = fields.number("size")?;
        fields.text("process")?;
        let record = TraceRecord::from_sectors(time_ns, device, integer(sector, "sector")?, sectors, op)?;
        Ok(record.forced(is_forced(flags)))
    }

    fn volume(_line: &[u8], device: u64) -> String {
        volume(device)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::*;

    #[test]
    fn issues_are_requests() {
        let mut parser = Parser::new(EXAMPLE.as_bytes());
        let record = parser.parse(EXAMPLE.as_bytes()).expect("good");
        let found = (record.time_ns, record.device, record.lba, record.sectors, record.op);
        assert_eq!(found, (4_455_092_003_000, 259 << 20, 64, 128, Op::Write));
        let forced = EXAMPLE.replace("WS", "WFS");
        assert!(!record.fua && parser.parse(forced.as_bytes()).expect("good").fua);
        let mut problem = |line: &str| parser.parse(line.as_bytes()).expect_err("no request");
        assert_eq!(problem("# tracer: nop"), LineProblem::Comment);
        assert_eq!(problem("x-1 [000] .... 1.0: block_rq_complete: 8,0 R () 1 + 8 [0]"), LineProblem::OtherCommand);
        assert_eq!(problem("x-1 [000] .... 1.0: block_rq_issue: 8,0 FF 0 () 0 + 0 [x]"), LineProblem::OtherCommand);
        assert_eq!(problem("x-1 [000] .... 1.0: block_rq_issue: 8,0 R 0 (12 00) 0 + 0 [x]"), LineProblem::ZeroSize);
        assert_eq!(problem("x-1 [000] .... 1.0: block_rq_issue: 8,0 R 512 (1"), LineProblem::Missing("command"));
        assert_eq!(problem("nonsense"), LineProblem::Missing("event"));
    }

    #[test]
    fn without_issues_queue_events_count() {
        let line = b"<...>-9 [001] .... 0.5: block_bio_queue: 8,16 R 98400 + 8 [x]";
        assert_eq!(Parser::new(line).parse(line).map(|record| record.lba), Ok(98_400));
    }
}
