//! Text of `blkparse`: `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
//!
//! The manual page blkparse(1), section "Default output", and Axboe and Brunelle, "blktrace User Guide". A request is
//! a D (issue) event, or Q (queue) where the beginning of the content has no D, or C (complete) where it has neither.
//! What follows the events (per-CPU and total sums) is skipped, and so are flushes without data.

use ninescope_model::Op;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator, integer};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "8,16 0 5 0.000024673 5314 D R 1611592 + 256 [java]";

pub(crate) struct Parser {
    /// The event that is a request.
    action: u8,
    is_in_sums: bool,
}

impl FormatParser for Parser {
    fn new(start: &[u8]) -> Self {
        let action_of = |line: &[u8]| {
            let action = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|text| !text.is_empty()).nth(5)?;
            (action.len() == 1).then(|| action[0])
        };
        let mut seen = [false; 256];
        start.split(|&byte| byte == b'\n').filter_map(action_of).for_each(|action| seen[usize::from(action)] = true);
        let action = *b"DQC".iter().find(|&&action| seen[usize::from(action)]).unwrap_or(&b'D');
        Self { action, is_in_sums: false }
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let device = fields.text("device")?;
        self.is_in_sums |= device.starts_with(b"CPU") || device == b"Total";
        if self.is_in_sums {
            return Err(LineProblem::Comment);
        }
        let device = device_number(device)?;
        fields.number("CPU")?;
        fields.number("sequence")?;
        let time_ns = fields.time("time", 1_000_000_000)?;
        fields.number("process id")?;
        if fields.text("action")? != [self.action] {
            return Err(LineProblem::OtherCommand);
        }
        let flags = fields.text("flags")?;
        let op = operation(flags).ok_or(LineProblem::OtherCommand)?;
        let sector = fields.text("sector")?;
        if fields.text("plus sign")? != b"+" {
            // A command that is passed through has its bytes here.
            return Err(LineProblem::OtherCommand);
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

/// The number of `major,minor`, as the kernel has it.
pub(super) fn device_number(text: &[u8]) -> Result<u64, LineProblem> {
    let comma = memchr::memchr(b',', text).ok_or(LineProblem::NotANumber("device"))?;
    let major = integer(&text[..comma], "device")?;
    let minor = integer(&text[comma + 1..], "device")?;
    if major >= 1 << 12 || minor >= 1 << 20 {
        return Err(LineProblem::Overflow("device"));
    }
    Ok(major << 20 | minor)
}

/// The name of a device's number.
pub(super) fn volume(device: u64) -> String {
    format!("{},{}", device >> 20, device & 0xf_ffff)
}

/// The operation that `rwbs` flags mean, where it moves or discards data.
pub(super) fn operation(flags: &[u8]) -> Option<Op> {
    let has = |flag| flags.contains(&flag);
    match () {
        () if has(b'D') => Some(Op::Trim),
        () if has(b'W') => Some(Op::Write),
        () if has(b'R') => Some(Op::Read),
        () => None,
    }
}

/// Whether `rwbs` flags ask for the data to be on the media: an F behind the operation. (One before it is a flush.)
pub(super) fn is_forced(flags: &[u8]) -> bool {
    flags.iter().position(|&flag| flag == b'W').is_some_and(|at| flags[at..].contains(&b'F'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_requests_and_the_rest_is_skipped() {
        let mut parser = Parser::new(b"8,16 0 4 0.1 5314 Q R 8 + 8 [x]\n8,16 0 5 0.1 5314 D R 8 + 8 [x]\n");
        let mut parse = |line: &str| parser.parse(line.as_bytes());
        let record = parse("  8,16   1        5     1.000024673  5314  D  WSM 1611592 + 256 [java]\r").expect("good");
        let found = (record.time_ns, record.device, record.lba, record.sectors, record.op);
        assert_eq!(found, (1_000_024_673, 8 << 20 | 16, 1_611_592, 256, Op::Write));
        assert_eq!(Parser::volume(b"", record.device), "8,16");
        assert_eq!(parse("8,16 1 5 1.0 5314 D RA 8 + 8 [java]").map(|record| record.op), Ok(Op::Read));
        assert_eq!(parse("8,16 1 5 1.0 5314 D DS 8 + 8 [java]").map(|record| record.op), Ok(Op::Trim));
        for (flags, forced) in [("WFS", true), ("FWFSM", true), ("W", false), ("FWS", false), ("RFS", false)] {
            let record = parse(&format!("8,16 1 5 1.0 5314 D {flags} 8 + 8 [java]")).expect("good");
            assert_eq!(record.fua, forced, "{flags}");
        }
        for other in ["8,16 1 5 1.0 5314 C R 8 + 8 [0]", "8,16 1 5 1.0 0 m N cfq", "8,16 1 5 1.0 0 D FN [x]"] {
            assert_eq!(parse(other), Err(LineProblem::OtherCommand), "{other}");
        }
        assert_eq!(parse("8,16 1 5 1.0 5314 D R 36 (12 00) [x]"), Err(LineProblem::OtherCommand));
        assert_eq!(parse("8,16 1 5 1.0 5314 D W 8 + 0 [x]"), Err(LineProblem::ZeroSize));
        assert_eq!(parse("8,16 1 5 1.0 5314 D W -8 + 8 [x]"), Err(LineProblem::Negative("sector")));
        assert_eq!(parse("nonsense"), Err(LineProblem::NotANumber("device")));
        assert_eq!(parse("CPU0 (8,16):"), Err(LineProblem::Comment));
        assert_eq!(parse(" Reads Queued:           0,        0KiB"), Err(LineProblem::Comment));
    }

    #[test]
    fn without_issues_queue_events_count() {
        let line = b"8,0 0 1 0.5 7 Q W 16 + 8 [x]";
        assert_eq!(Parser::new(line).parse(line).map(|record| record.lba), Ok(16));
    }
}
