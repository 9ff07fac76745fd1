//! Binary of blktrace, versions 7 and 8 (Linux 6.19), in either byte order: a header of 48 or 64 bytes and a payload of
//! the length that it names.
//!
//! `include/uapi/linux/blktrace_api.h` in Linux, `struct blk_io_trace` and `struct blk_io_trace2`. The version is the
//! lowest byte of the magic number; version 8 puts a 64-bit action after the process and pads to 64 bytes. A
//! request is an issue event, or a queue event where the beginning of the content has no issue. The files of several
//! CPUs are each in order; put them together with `blkparse -d` first.

use ninescope_model::{Op, SECTOR_BYTES};

use super::FormatParser;
use super::blkparse::volume;
use crate::LineProblem;
use super::Head;
use crate::record::TraceRecord;

const MAGIC: u32 = 0x6561_7400;
const HEADER_BYTES: usize = 48;
const HEADER_BYTES_8: usize = 64;

const QUEUE: u64 = 1;
const ISSUE: u64 = 7;

// Categories, in the upper half of an action.
const CATEGORY_WRITE: u64 = 1 << 17;
const CATEGORY_PASSED_THROUGH: u64 = 1 << 25;
const CATEGORY_NOTE: u64 = 1 << 26;
const CATEGORY_DISCARD: u64 = 1 << 29;
const CATEGORY_FUA: u64 = 1 << 31;

pub(crate) struct Parser {
    /// The event that is a request.
    event: u64,
}

/// One record's header.
struct Header<'a> {
    bytes: &'a [u8],
    version: u8,
    is_big_endian: bool,
}

impl<'a> Header<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let magic: [u8; 4] = *bytes.first_chunk()?;
        let is = |magic: u32| magic & !0xff == MAGIC;
        let is_big_endian = is(u32::from_be_bytes(magic));
        let version = if is_big_endian { magic[3] } else { magic[0] };
        (bytes.len() >= HEADER_BYTES && (is_big_endian || is(u32::from_le_bytes(magic)))).then_some(Self {
            bytes,
            version,
            is_big_endian,
        })
    }

    /// The number of `length` bytes at `at`; 0 beyond the end.
    fn number(&self, at: usize, length: usize) -> u64 {
        let Some(bytes) = self.bytes.get(at..at + length) else { return 0 };
        let add = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        if self.is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    fn action(&self) -> u64 {
        if self.version == 8 { self.number(32, 8) } else { self.number(28, 4) }
    }

    /// Header and payload.
    fn record_bytes(&self) -> usize {
        if self.version == 8 {
            HEADER_BYTES_8 + self.number(50, 2) as usize
        } else {
            HEADER_BYTES + self.number(46, 2) as usize
        }
    }
}

/// The records of `start`.
fn records(start: &[u8]) -> impl Iterator<Item = Header<'_>> {
    let mut rest = start;
    std::iter::from_fn(move || {
        let header = Header::new(rest)?;
        rest = rest.get(header.record_bytes()..).unwrap_or_default();
        Some(header)
    })
}

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(HEADER_BYTES);

    fn new(start: &[u8]) -> Self {
        let has = |event| records(start).any(|header| header.action() & 0xffff == event);
        Self { event: if has(QUEUE) && !has(ISSUE) { QUEUE } else { ISSUE } }
    }

    fn record_bytes(&self, header: &[u8]) -> usize {
        Header::new(header).map_or(header.len(), |header| header.record_bytes())
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        let header = Header::new(record).ok_or(LineProblem::Missing("magic number"))?;
        if !matches!(header.version, 7 | 8) {
            return Err(LineProblem::UnknownVersion);
        }
        let action = header.action();
        if action & 0xffff != self.event || action & (CATEGORY_NOTE | CATEGORY_PASSED_THROUGH) != 0 {
            return Err(LineProblem::OtherCommand);
        }
        let bytes = header.number(24, 4);
        let op = match () {
            () if action & CATEGORY_DISCARD != 0 => Op::Trim,
            () if action & CATEGORY_WRITE != 0 => Op::Write,
            () => Op::Read,
        };
        if bytes == 0 {
            // A flush has no data.
            return Err(LineProblem::OtherCommand);
        }
        let device = header.number(if header.version == 8 { 40 } else { 36 }, 4);
        let offset = header.number(16, 8).checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("sector"))?;
        let record = TraceRecord::from_bytes(header.number(8, 8), device, offset, bytes, op)?;
        Ok(record.forced(action & CATEGORY_FUA != 0))
    }

    fn matches(head: &Head<'_>) -> usize {
        records(head.start).filter(|header| matches!(header.version, 7 | 8)).count()
    }

    fn volume(_record: &[u8], device: u64) -> String {
        volume(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An issue event; the numbers after it are (time, sector, bytes, action, device).
    fn record(version: u8, [time, sector, bytes, action, device]: [u64; 5], payload: &[u8], is_big: bool) -> Vec<u8> {
        let mut record = Vec::new();
        let mut put = |value: u64, length: usize| {
            let bytes = value.to_be_bytes();
            let mut field = bytes[8 - length..].to_vec();
            if !is_big {
                field.reverse();
            }
            record.extend(field);
        };
        put(u64::from(MAGIC) | u64::from(version), 4);
        put(1, 4);
        put(time, 8);
        put(sector, 8);
        put(bytes, 4);
        if version == 8 {
            put(99, 4);
            put(action, 8);
        } else {
            put(action, 4);
            put(99, 4);
        }
        put(device, 4);
        put(0, 4);
        put(0, 2);
        put(payload.len() as u64, 2);
        if version == 8 {
            put(0, 8);
            put(0, 4);
        }
        record.extend(payload);
        record
    }

    #[test]
    fn both_versions_and_byte_orders_are_read() {
        for (version, is_big) in [(7, false), (7, true), (8, false), (8, true)] {
            for (category, op) in [(0, Op::Read), (CATEGORY_WRITE, Op::Write), (CATEGORY_DISCARD, Op::Trim)] {
                let bytes = record(version, [5, 8, 4096, ISSUE | category, 8 << 20 | 16], b"abc", is_big);
                assert_eq!(Parser::new(&bytes).record_bytes(&bytes[..HEADER_BYTES_8.min(bytes.len())]), bytes.len());
                let parsed = Parser::new(&bytes).parse(&bytes).expect("good");
                assert_eq!((parsed.time_ns, parsed.lba, parsed.sectors, parsed.op), (5, 8, 8, op));
                assert_eq!(Parser::volume(&bytes, parsed.device), "8,16");
            }
        }
    }

    #[test]
    fn a_write_may_ask_to_be_on_the_media() {
        for version in [7, 8] {
            for (categories, forced) in
                [(CATEGORY_WRITE, false), (CATEGORY_WRITE | CATEGORY_FUA, true), (CATEGORY_FUA, false)]
            {
                let bytes = record(version, [5, 8, 4096, ISSUE | categories, 1], b"", false);
                assert_eq!(Parser::new(&bytes).parse(&bytes).expect("good").fua, forced);
            }
        }
    }

    #[test]
    fn what_is_no_request_is_named() {
        let good = record(7, [5, 8, 4096, ISSUE, 0], b"", false);
        let mut parser = Parser::new(&good);
        let mut problem = |record: &[u8]| parser.parse(record).expect_err("no request");
        assert_eq!(problem(&record(7, [5, 8, 4096, QUEUE, 0], b"", false)), LineProblem::OtherCommand);
        assert_eq!(problem(&record(7, [5, 0, 0, ISSUE | CATEGORY_WRITE, 0], b"", false)), LineProblem::OtherCommand);
        assert_eq!(problem(&record(6, [5, 8, 4096, ISSUE, 0], b"", false)), LineProblem::UnknownVersion);
        assert_eq!(problem(&record(7, [5, 1 << 60, 512, ISSUE, 0], b"", false)), LineProblem::Overflow("sector"));
        assert_eq!(problem(&[0; 48]), LineProblem::Missing("magic number"));
    }
}
