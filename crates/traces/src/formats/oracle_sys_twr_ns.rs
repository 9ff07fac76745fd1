//! Binary oracleSysTwrNS of libCacheSim, of Twitter's caches: little-endian records of 34 bytes, `seconds u32, key u64, bytes of
//! the key u16, bytes of the value u32, operation u16, namespace u16, time to live i32, next access i64`.
//!
//! `oracle/oracleTwrNSBin.h` there.

use super::cache::{self, Access, Layout, Objects, number};

pub(crate) type Parser = cache::Parser<OracleSysTwrNs>;

pub(crate) struct OracleSysTwrNs;

impl Layout for OracleSysTwrNs {
    const BYTES: usize = 34;
    const OBJECTS: Objects = Objects::AreHashes;

    fn access(record: &[u8]) -> Access {
        Access {
            seconds: number(record, 0, 4),
            object: number(record, 4, 8),
            bytes: number(record, 12, 2) + number(record, 14, 4),
            op: Some(number(record, 18, 2)),
            next: Some(number(record, 26, 8).cast_signed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::super::{FormatParser, Head};
    use super::*;

    fn record(seconds: u64, key: u64, op: u64, next: i64) -> Vec<u8> {
        let ttl = 3600;
        bytes_of(&[(seconds, 4), (key, 8), (40, 2), (4056, 4), (op, 2), (1, 2), (ttl, 4), (next.cast_unsigned(), 8)])
    }

    #[test]
    fn a_key_has_a_page_of_its_own() {
        let mut parser = Parser::new(b"");
        let set = parser.parse(&record(7, u64::MAX, 3, -1)).expect("a hash may be any number");
        assert_eq!((set.time_ns, set.lba, set.sectors, set.op), (7_000_000_000, ((1 << 44) - 1) * 8, 8, Op::Write));
        let get = parser.parse(&record(8, 5, 1, -1)).expect("good");
        assert_eq!((get.lba, get.sectors, get.op), (40, 8, Op::Read));
        assert!(Parser::assumes()[0].contains("hashes and no addresses"));
    }

    #[test]
    fn only_records_that_make_sense_are_taken_for_the_format() {
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        assert_eq!(matches(&[record(7, 16, 1, 2), record(8, 16, 1, -1)].concat()), 2);
        assert_eq!(matches(&[record(7, 16, 1, 2), record(6, 16, 1, -1)].concat()), 0, "time goes back");
    }
}
