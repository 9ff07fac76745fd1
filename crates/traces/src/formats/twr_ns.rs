//! Binary twrNS of libCacheSim, of Twitter's caches: little-endian records of 22 bytes, `seconds u32, key u64, bytes of the key
//! (10 bits) and of the value (22 bits), operation (8 bits) and time to live (24 bits), namespace u16`, the first of two in the upper bits.
//!
//! `twrNSBin.h` there.

use super::cache::{self, Access, Layout, Objects};

pub(crate) type Parser = cache::Parser<TwrNs>;

pub(crate) struct TwrNs;

impl Layout for TwrNs {
    const BYTES: usize = 22;
    const OBJECTS: Objects = Objects::AreHashes;
    const TOLD_FROM: Option<usize> = Some(8);

    fn access(record: &[u8]) -> Access {
        super::twr::access(record)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::super::{FormatParser, Head};
    use super::*;

    #[test]
    fn a_namespace_follows() {
        let record =
            |at: u64| bytes_of(&[(7 + at, 4), (at, 8), ((10 << 22) + 502, 4), (1 << 24, 4), (0xffff, 2)]);
        let get = Parser::new(b"").parse(&record(5)).expect("good");
        assert_eq!((get.time_ns, get.lba, get.sectors, get.op), (12_000_000_000, 40, 1, Op::Read));
        let all: Vec<u8> = (0..9).flat_map(record).collect();
        assert_eq!(Parser::matches(&Head::new(&all, true)), 9);
        assert_eq!(super::super::twr::Parser::matches(&Head::new(&all, true)), 0);
    }
}
