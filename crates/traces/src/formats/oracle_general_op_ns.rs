//! Binary oracleGeneralOpNS of libCacheSim: little-endian records of 27 bytes, `seconds u32, object u64, bytes u32, operation
//! u8, namespace u16, next access i64`.
//!
//! `oracle/oracleGeneralBin.h` there. The namespace is not read: objects are numbered over all of them.

use super::cache::{self, Access, Layout, number};

pub(crate) type Parser = cache::Parser<OracleGeneralOpNs>;

pub(crate) struct OracleGeneralOpNs;

impl Layout for OracleGeneralOpNs {
    const BYTES: usize = 27;

    fn access(record: &[u8]) -> Access {
        Access {
            seconds: number(record, 0, 4),
            object: number(record, 4, 8),
            bytes: number(record, 12, 4),
            op: Some(number(record, 16, 1)),
            next: Some(number(record, 19, 8).cast_signed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::super::{FormatParser, Head};
    use super::*;
    use crate::LineProblem;

    fn record(seconds: u64, object: u64, op: u64, next: i64) -> Vec<u8> {
        bytes_of(&[(seconds, 4), (object, 8), (4096, 4), (op, 1), (3, 2), (next.cast_unsigned(), 8)])
    }

    #[test]
    fn records_have_operations() {
        let mut parser = Parser::new(b"");
        let write = parser.parse(&record(7, 16, 13, -1)).expect("good");
        assert_eq!((write.time_ns, write.lba, write.sectors, write.op), (7_000_000_000, 16, 8, Op::Write));
        assert_eq!(parser.parse(&record(7, 16, 1, 9)).map(|read| read.op), Ok(Op::Read));
        assert_eq!(parser.parse(&record(7, 16, 15, -1)), Err(LineProblem::UnknownOperation));
        assert_eq!(parser.parse(&[0; 26]), Err(LineProblem::Truncated));
    }

    #[test]
    fn only_records_that_make_sense_are_taken_for_the_format() {
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        assert_eq!(matches(&[record(7, 16, 13, 2), record(8, 16, 1, -1)].concat()), 2);
        assert_eq!(matches(&[record(7, 16, 13, 2), record(8, 16, 99, -1)].concat()), 0, "no such operation");
        assert_eq!(matches(&[record(7, 16, 13, 2), record(8, 16, 1, 1)].concat()), 0, "the past is next");
    }
}
