//! vSCSI version 2 (`VMware`, `CloudPhysics`): little-endian records of 40 bytes,
//! `command u16, version u16, serial u32, bytes u32, segments u32, LBA u64, microseconds u64, microseconds of the response u64`.
//!
//! `traceReader/customizedReader/vscsi.h` of `github.com/1a1a11a/libCacheSim`.

use super::cache::number;
use super::vscsi::{request, with_version};
use super::{FormatParser, Head};
use crate::LineProblem;
use crate::record::TraceRecord;

const RECORD_BYTES: usize = 40;

pub(crate) struct Parser;

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(RECORD_BYTES);

    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        let record = record.get(..RECORD_BYTES).ok_or(LineProblem::Truncated)?;
        if number(record, 2, 2) >> 8 != 2 {
            return Err(LineProblem::UnknownVersion);
        }
        request(number(record, 0, 2), number(record, 8, 4), number(record, 16, 8), number(record, 24, 8))
    }

    fn matches(head: &Head<'_>) -> usize {
        if with_version(head.start, RECORD_BYTES, 1, 2) { head.start.len() / RECORD_BYTES } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::*;

    fn record(command: u64, version: u64) -> Vec<u8> {
        bytes_of(&[(command, 2), (version, 2), (9, 4), (1024, 4), (1, 4), (7, 8), (5, 8), (99, 8)])
    }

    #[test]
    fn records_are_read_and_told_by_their_version() {
        let read = Parser.parse(&record(0x28, 0x200)).expect("good");
        assert_eq!((read.op, read.lba, read.sectors, read.time_ns), (Op::Read, 7, 2, 5000));
        assert_eq!(Parser.parse(&record(0x8a, 0x201)).map(|write| write.op), Ok(Op::Write));
        assert_eq!(Parser.parse(&record(0x12, 0x200)), Err(LineProblem::OtherCommand));
        assert_eq!(Parser.parse(&record(0x28, 0x100)), Err(LineProblem::UnknownVersion));
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        let two = [record(0x28, 0x200), record(0x2a, 0x200)].concat();
        assert_eq!((matches(&two), matches(&record(0x28, 0x100)), matches(&[b'1'; 80])), (2, 0, 0));
        assert_eq!(super::super::vscsi::Parser::matches(&Head::new(&two, true)), 0);
    }
}
