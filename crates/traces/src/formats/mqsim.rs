//! `MQSim` and `SSDSim` text: `nanoseconds device LBA sectors operation`, operation 0 = write, 1 = read.
//!
//! `MQSim`: Tavakkol et al., FAST'18, and its README. `SSDSim`: Hu et al., ICS'11; its traces have the same columns.

use ninescope_model::Op;

use super::Head;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;
use super::FormatParser;
use crate::LineProblem;

pub(super) const EXAMPLE: &str = "938513000 4 264719034 16 0";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        parse(line)
    }

    fn matches(head: &Head<'_>) -> usize {
        if super::mqsim_bytes::is_evident(head) { 0 } else { head.count(&mut Self) }
    }
}

/// The request on `line`.
fn parse(line: &[u8]) -> Result<TraceRecord, LineProblem> {
    let mut fields = Fields::new(line, Separator::Blanks)?;
    let time_ns = fields.number("time")?;
    let device = fields.number("device")?;
    let lba = fields.number("address")?;
    let sectors = fields.number("size")?;
    let op = match fields.number("operation")? {
        0 => Op::Write,
        1 => Op::Read,
        _ => return Err(LineProblem::UnknownOperation),
    };
    fields.end()?;
    TraceRecord::from_sectors(time_ns, device, lba, sectors, op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read() {
        let record = parse(b"938513000 4 264719034\t16 0\r").expect("a good row");
        assert_eq!((record.time_ns, record.device, record.lba, record.sectors), (938_513_000, 4, 264_719_034, 16));
        assert_eq!((record.op, parse(b" 1 0 0 1 1 ").map(|read| read.op)), (Op::Write, Ok(Op::Read)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: [(&[u8], LineProblem); 9] = [
            (b"\r", LineProblem::Blank),
            (b"# time device", LineProblem::Comment),
            (b"1 0 0 8", LineProblem::Missing("operation")),
            (b"1 0 0 8 2", LineProblem::UnknownOperation),
            (b"1 0 0 0 1", LineProblem::ZeroSize),
            (b"1 0 -8 8 1", LineProblem::Negative("address")),
            (b"1 0 18446744073709551615 8 1", LineProblem::Overflow("address")),
            (b"1,0,0,8,1", LineProblem::NotANumber("time")),
            (b"1 0 0 8 1 1", LineProblem::ExtraFields),
        ];
        for (line, problem) in cases {
            assert_eq!(parse(line), Err(problem), "{}", String::from_utf8_lossy(line));
        }
    }
}
