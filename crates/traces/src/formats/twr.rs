//! Binary twr of libCacheSim, of Twitter's caches: little-endian records of 20 bytes, `seconds u32, key u64, bytes of the key
//! (10 bits) and of the value (22 bits), operation (8 bits) and time to live (24 bits)`, the first of two in the upper bits.
//!
//! `twrBin.h` there.

use super::cache::{self, Access, Layout, Objects};
use super::cache::number;

pub(crate) type Parser = cache::Parser<Twr>;

pub(crate) struct Twr;

impl Layout for Twr {
    const BYTES: usize = 20;
    const OBJECTS: Objects = Objects::AreHashes;
    const TOLD_FROM: Option<usize> = Some(8);

    fn access(record: &[u8]) -> Access {
        access(record)
    }
}

/// The access in a record, which may be longer.
pub(super) fn access(record: &[u8]) -> Access {
    let sizes = number(record, 12, 4);
    Access {
        seconds: number(record, 0, 4),
        object: number(record, 4, 8),
        bytes: (sizes >> 22) + (sizes & 0x3f_ffff),
        op: Some(number(record, 16, 4) >> 24),
        next: None,
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::super::{FormatParser, Head};
    use super::*;

    fn record(seconds: u64, key: u64, op: u64) -> Vec<u8> {
        bytes_of(&[(seconds, 4), (key, 8), ((40 << 22) + 4056, 4), ((op << 24) + 3600, 4)])
    }

    #[test]
    fn two_numbers_stand_in_one_word() {
        let mut parser = Parser::new(b"");
        let set = parser.parse(&record(7, 5, 3)).expect("good");
        assert_eq!((set.time_ns, set.lba, set.sectors, set.op), (7_000_000_000, 40, 8, Op::Write));
        let delete = parser.parse(&record(7, 5, 9)).expect("good");
        assert_eq!(delete.op, Op::Trim);
    }

    #[test]
    fn eight_records_tell_the_format() {
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        let all: Vec<u8> = (0..8).flat_map(|at| record(7 + at, (1 << 60) + at, 1)).collect();
        assert_eq!((matches(&all), matches(&all[..140])), (8, 0));
        assert_eq!(matches(&[&all[..140], &record(15, 3, 77)].concat()), 0, "no such operation");
    }
}
