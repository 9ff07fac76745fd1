//! Binary oracleGeneral of libCacheSim: little-endian records of 24 bytes, `seconds u32, object u64, bytes u32, next
//! access i64`.
//!
//! The FAQ and `oracle/oracleGeneralBin.h` there. Each access is a read. Objects that are numbered by a hash have no place on
//! a drive; those whose number is no address are broken records.

use super::cache::{self, Access, Layout, number};

pub(crate) type Parser = cache::Parser<OracleGeneral>;

pub(crate) struct OracleGeneral;

impl Layout for OracleGeneral {
    const BYTES: usize = 24;

    fn access(record: &[u8]) -> Access {
        Access {
            seconds: number(record, 0, 4),
            object: number(record, 4, 8),
            bytes: number(record, 12, 4),
            op: None,
            next: Some(number(record, 16, 8).cast_signed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::{FormatParser, Head};
    use super::*;
    use crate::LineProblem;

    fn record(seconds: u32, object: u64, bytes: u32, next_access: i64) -> Vec<u8> {
        [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &bytes.to_le_bytes(), &next_access.to_le_bytes()].concat()
    }

    #[test]
    fn records_are_reads_of_the_object() {
        let mut parser = Parser::new(b"");
        let read = parser.parse(&record(7, 16, 1000, -1)).expect("good");
        assert_eq!((read.time_ns, read.lba, read.sectors, read.op), (7_000_000_000, 16, 2, Op::Read));
        assert_eq!(parser.parse(&record(7, u64::MAX, 1000, -1)), Err(LineProblem::Overflow("object number")));
        assert_eq!(parser.parse(&record(7, 1, 0, -1)), Err(LineProblem::ZeroSize));
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
