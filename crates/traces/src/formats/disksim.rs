//! `DiskSim` ASCII: `milliseconds device block blocks flags`, blocks of 512 bytes, flags in hexadecimal with bit 0 set
//! for a read.
//!
//! Bucy et al., "The `DiskSim` Simulation Environment Version 4.0 Reference Manual", CMU-PDL-08-101, section on input
//! workload formats. The same columns with sizes in 4 KiB are the format `umass`; content tells the two apart only
//! where requests follow each other.


use ninescope_model::Op;

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "26.214000 0 303574 8 1";

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
        let flags = fields.text("flags")?;
        let flags = std::str::from_utf8(flags).ok().and_then(|flags| u32::from_str_radix(flags, 16).ok());
        let op = if flags.ok_or(LineProblem::NotANumber("flags"))? & 1 == 1 { Op::Read } else { Op::Write };
        fields.end()?;
        TraceRecord::from_sectors(time_ns, device, lba, size, op)
    }

    fn matches(head: &Head<'_>) -> usize {
        if size_unit(head) == Some(SECTORS_PER_PAGE) { 0 } else { head.count_with_point(&mut Self) }
    }
}

/// Sectors of 4 KiB.
pub(super) const SECTORS_PER_PAGE: u64 = 8;

/// The unit of the sizes of rows in these columns [sectors], where requests that follow each other show it.
pub(super) fn size_unit(head: &Head<'_>) -> Option<u64> {
    let mut columns = |line: &[u8]| {
        let mut fields = Fields::new(line, Separator::Blanks).ok()?;
        fields.time("", 1).ok()?;
        fields.number("").ok()?;
        Some((fields.number("").ok()?, fields.number("").ok()?))
    };
    let in_sectors = head.follow_ups(&mut columns, 1);
    let in_pages = head.follow_ups(&mut columns, SECTORS_PER_PAGE);
    if Head::is_decided(in_sectors, in_pages) {
        return Some(1);
    }
    Head::is_decided(in_pages, in_sectors).then_some(SECTORS_PER_PAGE)
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
            ("0.5 2 100 8 1", (500000, 2, 100, 8, Op::Read)),
            ("7 0 100 8 10\r", (7000000, 0, 100, 8, Op::Write)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("0.5 0 0 0 1", LineProblem::ZeroSize),
            ("0.5 0 -1 8 1", LineProblem::Negative("address")),
            ("0.5 0 1 8 z", LineProblem::NotANumber("flags")),
            ("0.5 0 1 8 1 1", LineProblem::ExtraFields),
            ("1e3 0 1 8 1", LineProblem::NotANumber("time")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
