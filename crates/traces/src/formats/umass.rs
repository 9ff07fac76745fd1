//! UMass traces (Financial, WebSearch) as `FlashSim` and its descendants read them:
//! `milliseconds device sector pages operation`, sectors of 512 bytes, pages of 4 KiB, operation 0 = write, 1 = read.
//!
//! The columns are `DiskSim`'s, but sizes count 4 KiB; content tells the two apart only where requests follow each
//! other. The original traces are the format `spc`.


use super::disksim::{SECTORS_PER_PAGE, size_unit};
use super::mqsim_bytes::read_if_one;

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "26.214000 0 303574 1 0";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let time_ns = fields.time("time", 1_000_000)?;
        let device = fields.number("device")?;
        let lba = fields.number("address")?;
        let size = fields.number("size")?;
        let op = read_if_one(fields.number("operation")?)?;
        fields.end()?;
        let sectors = size.checked_mul(SECTORS_PER_PAGE).ok_or(LineProblem::Overflow("size"))?;
        TraceRecord::from_sectors(time_ns, device, lba, sectors, op)
    }

    fn matches(head: &Head<'_>) -> usize {
        if size_unit(head) == Some(1) { 0 } else { head.count_with_point(&mut Self) }
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
            ("26.214000\t0\t303574\t1\t0", (26214000, 0, 303574, 8, Op::Write)),
            ("0.1 1 8 2 1", (100000, 1, 8, 16, Op::Read)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("0.1 0 8 0 1", LineProblem::ZeroSize),
            ("0.1 0 8 1 3", LineProblem::UnknownOperation),
            ("0.1 0 8 18446744073709551615 1", LineProblem::Overflow("size")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
