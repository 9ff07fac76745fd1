//! `MQSim` text whose third column is the offset in bytes: `nanoseconds device offset sectors operation`.
//!
//! Not what `MQSim` reads, but what some converters of MSR traces write. It is told from `MQSim` text only where
//! requests follow each other in bytes and not in sectors.


use ninescope_model::{Op, SECTOR_BYTES};

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "0 0 383496192 64 0";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let time_ns = fields.number("time")?;
        let device = fields.number("device")?;
        let offset = fields.number("offset")?;
        let sectors = fields.number("size")?;
        let op = read_if_one(fields.number("operation")?)?;
        fields.end()?;
        let bytes = sectors.checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("size"))?;
        TraceRecord::from_bytes(time_ns, device, offset, bytes, op)
    }

    fn matches(head: &Head<'_>) -> usize {
        if is_evident(head) { head.count(&mut Self) } else { 0 }
    }
}

/// Operation 0 = write, 1 = read.
pub(super) fn read_if_one(operation: u64) -> Result<Op, LineProblem> {
    match operation {
        0 => Ok(Op::Write),
        1 => Ok(Op::Read),
        _ => Err(LineProblem::UnknownOperation),
    }
}

/// Whether the addresses of rows in `MQSim`'s columns are evidently bytes.
pub(super) fn is_evident(head: &Head<'_>) -> bool {
    let mut columns = |line: &[u8]| {
        let mut fields = Fields::new(line, Separator::Blanks).ok()?;
        fields.number("").ok()?;
        fields.number("").ok()?;
        Some((fields.number("").ok()?, fields.number("").ok()?))
    };
    let in_bytes = head.follow_ups(&mut columns, SECTOR_BYTES);
    let in_sectors = head.follow_ups(&mut columns, 1);
    let is_whole = |line: &&[u8]| columns(line).is_none_or(|(offset, _)| offset.is_multiple_of(SECTOR_BYTES));
    Head::is_decided(in_bytes, in_sectors) && head.lines().filter(is_whole).count() == head.lines().count()
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
            ("5 1 1024 2 0", (5, 1, 2, 2, Op::Write)),
            ("5 1 1000\t1 1\r", (5, 1, 1, 2, Op::Read)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("5 1 0 0 1", LineProblem::ZeroSize),
            ("5 1 0 18446744073709551615 1", LineProblem::Overflow("size")),
            ("5 1 0 8 2", LineProblem::UnknownOperation),
            ("5 1 0 8", LineProblem::Missing("operation")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
