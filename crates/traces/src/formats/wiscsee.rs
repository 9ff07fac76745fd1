//! Event lists of `WiscSee`: `pid event operation offset size seconds wait sync`, offset and size in bytes.
//!
//! He et al., "The Unwritten Contract of Solid State Drives", `EuroSys`'17, and the simulator's `tests/testdata`. A request
//! is a D (issue) event; the others are skipped.


use ninescope_model::Op;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "909 D read 134217728 4096 0.023623389 0.023623389 False";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        fields.number("process")?;
        if fields.text("event")? != b"D" {
            return Err(LineProblem::OtherCommand);
        }
        let op = match fields.text("operation")? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"discard" => Op::Trim,
            _ => return Err(LineProblem::OtherCommand),
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let time_ns = fields.time("time", 1_000_000_000)?;
        // Not used, but a line without them was cut off.
        fields.text("wait")?;
        fields.text("sync flag")?;
        fields.end()?;
        TraceRecord::from_bytes(time_ns, 0, offset, bytes, op)
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
            ("909 D read 134217728 4096 0.023623389 0.023 False", (23623389, 0, 262144, 8, Op::Read)),
            ("909 D discard 0 1024 1 0 True", (1000000000, 0, 0, 2, Op::Trim)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("909 C read 0 4096 0.1 0 False", LineProblem::OtherCommand),
            ("909 D read 0 4096 0.1 0", LineProblem::Missing("sync flag")),
            ("909 D read 0 0 0.1 0 False", LineProblem::ZeroSize),
        ];
        assert_problems(&mut Parser, cases);
    }
}
