//! Rows, binary, of ninescope itself: what a Parquet trace is copied to, with every operation and every nanosecond.
//! Little-endian records of 24 bytes: `nanoseconds u64, sector u64, sectors u32`, one byte for the operation (0 read, 1 write,
//! 2 trim, 3 flush; with 128 added a write that asks to be on the media), and three that mark the format.

use ninescope_model::{Op, Request};

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::record::TraceRecord;

const RECORD_BYTES: usize = 24;
const OP_AT: usize = 20;
/// Added to the operation of a write that asks to be on the media.
const FUA: u8 = 128;
/// The end of each record; the last byte is the version.
const MARK: [u8; 3] = *b"n9\x01";

pub(crate) struct Parser;

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(RECORD_BYTES);

    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        let record: &[u8; RECORD_BYTES] = record.first_chunk().ok_or(LineProblem::Truncated)?;
        if record[OP_AT + 1..] != MARK {
            return Err(LineProblem::UnknownVersion);
        }
        let number = |at: usize, length: usize| {
            record[at..at + length].iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
        };
        let (op, fua) = (record[OP_AT] & !FUA, record[OP_AT] & FUA != 0);
        let known = Op::ALL.get(usize::from(op)).filter(|&&op| op == Op::Write || !fua);
        let op = *known.ok_or(LineProblem::UnknownOperation)?;
        Ok(TraceRecord::from_sectors(number(0, 8), 0, number(8, 8), number(16, 4), op)?.forced(fua))
    }

    fn matches(head: &Head<'_>) -> usize {
        let records = head.start.chunks_exact(RECORD_BYTES);
        let count = records.len();
        if records.into_iter().all(|record| record[OP_AT + 1..] == MARK) { count } else { 0 }
    }
}

/// The record of a request.
pub(crate) fn record(request: &Request) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    record[..8].copy_from_slice(&request.submitted.0.to_le_bytes());
    record[8..16].copy_from_slice(&request.lba.0.to_le_bytes());
    record[16..OP_AT].copy_from_slice(&request.sectors.to_le_bytes());
    record[OP_AT] = request.op as u8 | if request.fua { FUA } else { 0 };
    record[OP_AT + 1..].copy_from_slice(&MARK);
    record
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::Ns;
    use ninescope_model::{Lba, Remark};

    use super::*;

    const FLUSH: Request = Request { submitted: Ns(7), lba: Lba(0), sectors: 0, op: Op::Flush, remark: Remark::None, fua: false, stream: 0 };

    #[test]
    fn a_row_is_what_it_was_made_of() {
        let read = Parser.parse(&record(&FLUSH)).expect("good");
        assert_eq!((read.time_ns, read.lba, read.sectors, read.op), (7, 0, 0, Op::Flush));
        assert_eq!(Parser.parse(&record(&Request { op: Op::Trim, ..FLUSH })), Err(LineProblem::ZeroSize));
        let write = Request { sectors: 8, op: Op::Write, fua: true, ..FLUSH };
        assert!(Parser.parse(&record(&write)).expect("good").fua);
        assert!(!Parser.parse(&record(&Request { fua: false, ..write })).expect("good").fua);
        assert_eq!(Parser.parse(&record(&Request { fua: true, ..FLUSH })), Err(LineProblem::UnknownOperation));
        let (mut odd, mut later) = (record(&FLUSH), record(&FLUSH));
        (odd[OP_AT], later[RECORD_BYTES - 1]) = (4, 2);
        assert_eq!(Parser.parse(&odd), Err(LineProblem::UnknownOperation));
        assert_eq!(Parser.parse(&later), Err(LineProblem::UnknownVersion));
    }

    #[test]
    fn the_mark_tells_the_format() {
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        let row = record(&FLUSH);
        assert_eq!((matches(&[row, row].concat()), matches(&[row, [0; 24]].concat()), matches(b"")), (2, 0, 0));
    }
}
