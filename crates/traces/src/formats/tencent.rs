//! Tencent CBS (SNIA IOTTA repository): `Timestamp,Offset,Size,IOType,VolumeID`, time in seconds since 1970, offset and size
//! in sectors of 512 bytes, type 0 = read, 1 = write.
//!
//! The traces' README; Zhang et al., "OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block Storage
//! Systems", ATC'20. To be told from content the first time stamp must be one of this century.


use ninescope_model::Op;

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "1538323199,12910952,128,0,1063";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Comma)?;
        let time_ns = fields.time("timestamp", 1_000_000_000)?;
        let lba = fields.number("offset")?;
        let sectors = fields.number("size")?;
        let op = match fields.number("type")? {
            0 => Op::Read,
            1 => Op::Write,
            _ => return Err(LineProblem::UnknownOperation),
        };
        let volume = fields.number("volume")?;
        fields.end()?;
        TraceRecord::from_sectors(time_ns, volume, lba, sectors, op)
    }

    fn matches(head: &Head<'_>) -> usize {
        const CENTURY_NS: u64 = 946_684_800_000_000_000;
        let is_recent = |record: TraceRecord| record.time_ns >= CENTURY_NS;
        if head.lines().find_map(|line| Self.parse(line).ok()).is_some_and(is_recent) { head.count(&mut Self) } else { 0 }
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
            ("1538323199,12910952,128,0,1063", (1538323199000000000, 1063, 12910952, 128, Op::Read)),
            ("1538323200,0,8,1,7\r", (1538323200000000000, 7, 0, 8, Op::Write)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("1,0,0,1,7", LineProblem::ZeroSize),
            ("1,0,8,2,7", LineProblem::UnknownOperation),
            ("99999999999999,0,8,1,7", LineProblem::Overflow("timestamp")),
            ("1,0,8,1", LineProblem::Missing("volume")),
        ];
        assert_problems(&mut Parser, cases);
    }
}
