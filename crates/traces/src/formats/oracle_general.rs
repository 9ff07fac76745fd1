//! Binary oracleGeneral of libCacheSim: little-endian records of 24 bytes, `seconds u32, object u64, bytes u32, next
//! access i64`.
//!
//! The FAQ and `traceReader/customizedReader/oracle` of `github.com/1a1a11a/libCacheSim`; Yang et al., OSDI'20. These are
//! traces of caches: each record is a read, and the object's number is taken as its sector (512 bytes), which is what
//! the conversions of block traces have there. Objects that are numbered by a hash have no place on a drive; those
//! whose number is no address are broken records.

use ninescope_model::{Op, SECTOR_BYTES};

use super::FormatParser;
use crate::LineProblem;
use super::Head;
use crate::record::TraceRecord;

const RECORD_BYTES: usize = 24;

pub(crate) struct Parser;

struct Fields {
    seconds: u64,
    object: u64,
    bytes: u64,
    next_access: i64,
}

fn fields(record: &[u8; RECORD_BYTES]) -> Fields {
    let number = |at: usize, length: usize| {
        record[at..at + length].iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
    };
    Fields {
        seconds: number(0, 4),
        object: number(4, 8),
        bytes: number(12, 4),
        next_access: number(16, 8).cast_signed(),
    }
}

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(RECORD_BYTES);

    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        let record = fields(record.first_chunk().ok_or(LineProblem::Truncated)?);
        let offset = record.object.checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("object number"))?;
        TraceRecord::from_bytes(record.seconds * 1_000_000_000, 0, offset, record.bytes, Op::Read)
    }

    /// Nothing marks the format: all of the first records must make sense together.
    fn matches(head: &Head<'_>) -> usize {
        const RECORDS: usize = 256;
        const YEAR_S: u64 = 366 * 86_400;
        if head.is_whole && !head.start.len().is_multiple_of(RECORD_BYTES) {
            return 0;
        }
        let (mut count, mut latest) = (0, None);
        for record in head.start.chunks_exact(RECORD_BYTES).take(RECORDS) {
            let Some(record) = record.first_chunk().map(fields) else { return 0 };
            let never = [-1, i64::MAX];
            let makes_sense = (1..=1 << 30).contains(&record.bytes)
                && latest.is_none_or(|latest| (latest..=latest + YEAR_S).contains(&record.seconds))
                && (never.contains(&record.next_access) || (count + 1..1 << 40).contains(&record.next_access));
            if !makes_sense {
                return 0;
            }
            latest = Some(record.seconds);
            count += 1;
        }
        count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seconds: u32, object: u64, bytes: u32, next_access: i64) -> Vec<u8> {
        [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &bytes.to_le_bytes(), &next_access.to_le_bytes()].concat()
    }

    #[test]
    fn records_are_reads_of_the_object() {
        let read = Parser.parse(&record(7, 16, 1000, -1)).expect("good");
        assert_eq!((read.time_ns, read.lba, read.sectors, read.op), (7_000_000_000, 16, 2, Op::Read));
        assert_eq!(Parser.parse(&record(7, u64::MAX, 1000, -1)), Err(LineProblem::Overflow("object number")));
        assert_eq!(Parser.parse(&record(7, 1, 0, -1)), Err(LineProblem::ZeroSize));
    }

    #[test]
    fn only_records_that_make_sense_are_taken_for_the_format() {
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        let good = [record(7, 16, 4096, 2), record(8, 16, 4096, i64::MAX)].concat();
        assert_eq!(matches(&good), 2);
        assert_eq!(matches(&[good.as_slice(), b"x"].concat()), 0);
        assert_eq!(matches(&[record(7, 16, 4096, 2), record(6, 16, 4096, -1)].concat()), 0, "time goes back");
        assert_eq!(matches(&[record(7, 16, 4096, 2), record(8, 16, 4096, 1)].concat()), 0, "the past is next");
        assert_eq!(matches(b"938513000 4 264719034 16 0\n1234567890 1 2 3 4 5"), 0);
    }
}
