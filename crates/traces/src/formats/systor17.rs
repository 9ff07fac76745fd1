//! SYSTOR'17 (SNIA IOTTA repository): `Timestamp,Response,IOType,LUN,Offset,Size`, times in seconds, offset and size in
//! bytes, type R or W.
//!
//! Lee et al., "Understanding storage traffic characteristics on enterprise virtual desktop infrastructure",
//! SYSTOR'17. The first line names the columns; the response time may be empty.


use super::spc::operation;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator, decimal};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "1455592266.059000015,0.000291,R,3,12345344,4096";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Comma)?;
        if line.starts_with(b"Timestamp,") {
            return Err(LineProblem::Comment);
        }
        let time_ns = fields.time("timestamp", 1_000_000_000)?;
        let response = fields.optional_text();
        if !response.is_empty() {
            decimal(response, "response time", 1)?;
        }
        let op = operation(fields.text("type")?)?;
        let unit = fields.number("logical unit")?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        fields.end()?;
        TraceRecord::from_bytes(time_ns, unit, offset, bytes, op)
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
            ("1455592266.059000015,0.000291,R,3,12345344,4096\r", (1455592266059000015, 3, 24112, 8, Op::Read)),
            ("1.5,,W,0,0,512", (1500000000, 0, 0, 1, Op::Write)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("Timestamp,Response,IOType,LUN,Offset,Size", LineProblem::Comment),
            ("1.5,x,W,0,0,512", LineProblem::NotANumber("response time")),
            ("1.5,,W,0,0,0", LineProblem::ZeroSize),
            ("1.5,,W,0,0", LineProblem::Missing("size")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
