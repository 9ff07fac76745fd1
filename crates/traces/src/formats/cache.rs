//! What the binary formats of libCacheSim have in common: records of one access each, little-endian, of a fixed length.
//!
//! `traceReader/customizedReader` of `github.com/1a1a11a/libCacheSim`; Yang et al., OSDI'20. These are traces of caches: what
//! is accessed is an object with a number, not a place. Conversions of block traces have the sector there, and it is taken
//! as one of 512 bytes. Keys of key-value caches are hashes, which lie nowhere on a drive: each gets a page of 4 KiB of its
//! own by its number, so that what is used again is, and what lies beside what is made up.

use std::marker::PhantomData;

use ninescope_model::{Op, PAGE_BYTES, SECTOR_BYTES};

use super::{FormatParser, Head};
use crate::LineProblem;
use crate::record::TraceRecord;

/// One access.
pub(crate) struct Access {
    pub seconds: u64,
    pub object: u64,
    pub bytes: u64,
    /// As libCacheSim numbers them; `None` where the format has none.
    pub op: Option<u64>,
    /// The number of the next access to the object.
    pub next: Option<i64>,
}

/// What the number of an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    /// A sector of 512 bytes.
    AreSectors,
    /// The hash of a key.
    AreHashes,
}

/// How the records of a format are laid out.
pub(crate) trait Layout {
    /// Length of a record [bytes].
    const BYTES: usize;
    const OBJECTS: Objects = Objects::AreSectors;
    /// So many records must make sense together to be told from noise; `None`: they are never told.
    const TOLD_FROM: Option<usize> = Some(1);

    /// The access in a record of that length.
    fn access(record: &[u8]) -> Access;
}

pub(crate) struct Parser<L>(PhantomData<L>);

const ARE_SECTORS: &str = "an object's number is taken as its sector of 512 bytes, and its time is in whole seconds";
const ARE_HASHES: &str = "keys are hashes and no addresses: each has a page of 4 KiB of its own, whose place is made up; times are in whole seconds";
/// Hashes are cut to so many pages of 4 KiB.
const HASHED_PAGES: u64 = 1 << 44;

/// The number of `length` bytes at `at`.
pub(super) fn number(record: &[u8], at: usize, length: usize) -> u64 {
    record[at..at + length].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The operation of a number: what stores an object writes it, what is not told reads.
pub(super) fn operation(code: u64) -> Result<Op, LineProblem> {
    match code {
        0..=2 | 12 => Ok(Op::Read),
        3..=8 | 10 | 11 | 13 | 14 => Ok(Op::Write),
        9 => Ok(Op::Trim),
        _ => Err(LineProblem::UnknownOperation),
    }
}

/// The request of an access.
pub(super) fn request(access: &Access, objects: Objects, device: u64) -> Result<TraceRecord, LineProblem> {
    let op = access.op.map_or(Ok(Op::Read), operation)?;
    let offset = match objects {
        Objects::AreSectors => access.object.checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("object number"))?,
        Objects::AreHashes => access.object % HASHED_PAGES * PAGE_BYTES,
    };
    TraceRecord::from_bytes(access.seconds * 1_000_000_000, device, offset, access.bytes, op)
}

impl<L: Layout> FormatParser for Parser<L> {
    const RECORD_BYTES: Option<usize> = Some(L::BYTES);

    fn new(_start: &[u8]) -> Self {
        Self(PhantomData)
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        let record = record.get(..L::BYTES).ok_or(LineProblem::Truncated)?;
        request(&L::access(record), L::OBJECTS, 0)
    }

    /// Nothing marks the format: all of the first records must make sense together.
    fn matches(head: &Head<'_>) -> usize {
        const RECORDS: usize = 256;
        let Some(least) = L::TOLD_FROM else { return 0 };
        if head.is_whole && !head.start.len().is_multiple_of(L::BYTES) {
            return 0;
        }
        let (mut count, mut latest) = (0_usize, None);
        for record in head.start.chunks_exact(L::BYTES).take(RECORDS) {
            let access = L::access(record);
            if !makes_sense(&access, i64::try_from(count).unwrap_or(i64::MAX), latest) {
                return 0;
            }
            latest = Some(access.seconds);
            count += 1;
        }
        if count >= least { count } else { 0 }
    }

    fn assumes() -> &'static [&'static str] {
        match L::OBJECTS {
            Objects::AreSectors => &[ARE_SECTORS],
            Objects::AreHashes => &[ARE_HASHES],
        }
    }
}

/// Whether an access can be the one after `count` others, the latest of which was at `latest`.
fn makes_sense(access: &Access, count: i64, latest: Option<u64>) -> bool {
    const YEAR_S: u64 = 366 * 86_400;
    let never = [-1, i64::MAX];
    let is_later = |next: i64| never.contains(&next) || (count + 1..1 << 40).contains(&next);
    (1..=1 << 30).contains(&access.bytes)
        && latest.is_none_or(|latest| (latest..=latest + YEAR_S).contains(&access.seconds))
        && access.op.is_none_or(|op| operation(op).is_ok())
        && access.next.is_none_or(is_later)
}

/// Bytes of fields for tests: the value and the length of each.
#[cfg(test)]
pub(super) fn bytes_of(fields: &[(u64, usize)]) -> Vec<u8> {
    fields.iter().flat_map(|&(value, length)| value.to_le_bytes()[..length].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stores_an_object_writes_it() {
        let ops: Vec<_> = (0..16).map(|code| operation(code).ok()).collect();
        let (read, write) = (Some(Op::Read), Some(Op::Write));
        let expected = [read, read, read, write, write, write, write, write, write, Some(Op::Trim), write, write];
        assert_eq!(ops[..12], expected);
        assert_eq!(ops[12..], [read, write, write, None]);
    }
}
