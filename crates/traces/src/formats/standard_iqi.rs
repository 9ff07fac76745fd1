//! Binary standardIQI of libCacheSim: little-endian records of 16 bytes, `seconds u32, object u64, bytes u32`. Nothing in them tells
//! the format.
//!
//! `standardBin.h` there. Each access is a read.

use super::cache::{self, Access, Layout, number};

pub(crate) type Parser = cache::Parser<StandardIqi>;

pub(crate) struct StandardIqi;

impl Layout for StandardIqi {
    const BYTES: usize = 16;
    const TOLD_FROM: Option<usize> = None;

    fn access(record: &[u8]) -> Access {
        Access {
            seconds: number(record, 0, 4),
            object: number(record, 4, 8),
            bytes: number(record, 12, 4),
            op: None,
            next: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::super::{FormatParser, Head};
    use super::*;

    #[test]
    fn records_are_reads_and_never_guessed() {
        let record = bytes_of(&[(7, 4), (16, 8), (1000, 4)]);
        let read = Parser::new(b"").parse(&record).expect("good");
        assert_eq!((read.time_ns, read.lba, read.sectors, read.op), (7_000_000_000, 16, 2, Op::Read));
        assert_eq!(Parser::matches(&Head::new(&record, true)), 0);
    }
}
