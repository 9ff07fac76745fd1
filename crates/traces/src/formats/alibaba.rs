//! Alibaba block traces: `device_id,opcode,offset,length,timestamp`, opcode R or W, offset and length in bytes, time in
//! microseconds since 1970.
//!
//! The README of `github.com/alibaba/block-traces`; Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads
//! in Large-Scale Production", IISWC'20.


use super::spc::operation;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "419,W,8792731648,16384,1577808144360767";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Comma)?;
        let device = fields.number("device")?;
        let op = operation(fields.text("opcode")?)?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("length")?;
        let microseconds = fields.number("timestamp")?;
        fields.end()?;
        let time_ns = microseconds.checked_mul(1000).ok_or(LineProblem::Overflow("timestamp"))?;
        TraceRecord::from_bytes(time_ns, device, offset, bytes, op)
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
            ("419,W,8792731648,16384,1577808144360767", (1577808144360767000, 419, 17173304, 32, Op::Write)),
            ("0,R,126703644672,4096,1577808000000626\r", (1577808000000626000, 0, 247468056, 8, Op::Read)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("0,R,0,0,1", LineProblem::ZeroSize),
            ("0,X,0,1,1", LineProblem::UnknownOperation),
            ("0,R,0,1,18446744073709551615", LineProblem::Overflow("timestamp")),
            ("0,R,0,1", LineProblem::Missing("timestamp")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
