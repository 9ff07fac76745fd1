//! SPC trace format: `ASU,LBA,bytes,opcode,seconds`, sectors of 512 bytes, opcode R or W in either case.
//!
//! "SPC Trace File Format Specification", revision 1.0.1, Storage Performance Council, as the UMass Trace Repository
//! publishes its Financial and WebSearch traces. Further fields, which the specification allows, are not read.


use ninescope_model::{Op, SECTOR_BYTES};

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "0,20941264,8192,W,0.551706";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Comma)?;
        let unit = fields.number("application storage unit")?;
        let lba = fields.number("address")?;
        let bytes = fields.number("size")?;
        let op = operation(fields.text("opcode")?)?;
        let time_ns = fields.time("time", 1_000_000_000)?;
        let offset = lba.checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("address"))?;
        TraceRecord::from_bytes(time_ns, unit, offset, bytes, op)
    }
}

/// R or W, in either case.
pub(super) fn operation(text: &[u8]) -> Result<Op, LineProblem> {
    match text {
        b"R" | b"r" => Ok(Op::Read),
        b"W" | b"w" => Ok(Op::Write),
        _ => Err(LineProblem::UnknownOperation),
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::testing::{assert_problems, assert_rows};
    use super::*;

    #[test]
    #[allow(clippy::unreadable_literal, reason = "as on the lines")]
    fn rows_are_read() {
        let cases = [
            ("0,20941264,8192,W,0.551706", (551706000, 0, 20941264, 16, Op::Write)),
            ("3, 1, 100, r, 2.5,more", (2500000000, 3, 1, 1, Op::Read)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("0,1,0,W,0", LineProblem::ZeroSize),
            ("0,1,512,X,0", LineProblem::UnknownOperation),
            ("0,-1,512,W,0", LineProblem::Negative("address")),
            ("0,99999999999999999,512,W,0", LineProblem::Overflow("address")),
            ("0,1,512,W", LineProblem::Missing("time")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
