//! vSCSI version 1 (`VMware`, `CloudPhysics`): little-endian records of 32 bytes,
//! `serial u32, bytes u32, segments u32, command u16, version u16, LBA u64, microseconds u64`.

use ninescope_model::{Op, SECTOR_BYTES};

use super::Head;
use super::cache::number;
use crate::record::TraceRecord;
use super::FormatParser;
use crate::LineProblem;

/// Bytes of one record.
const RECORD_BYTES: usize = 32;

pub(crate) struct Parser;

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(RECORD_BYTES);

    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        parse(record.first_chunk().ok_or(LineProblem::Truncated)?)
    }

    fn matches(head: &Head<'_>) -> usize {
        if looks_like(head.start) { head.start.len() / RECORD_BYTES } else { 0 }
    }
}

/// The request in `record`.
fn parse(record: &[u8; RECORD_BYTES]) -> Result<TraceRecord, LineProblem> {
    if number(record, 14, 2) >> 8 != 1 {
        return Err(LineProblem::UnknownVersion);
    }
    request(number(record, 12, 2), number(record, 4, 4), number(record, 16, 8), number(record, 24, 8))
}

/// The request of a SCSI command.
pub(super) fn request(command: u64, bytes: u64, lba: u64, microseconds: u64) -> Result<TraceRecord, LineProblem> {
    let op = match command {
        0x0a | 0x2a | 0x8a | 0xaa => Op::Write,
        0x08 | 0x28 | 0x88 | 0xa8 => Op::Read,
        _ => return Err(LineProblem::OtherCommand),
    };
    let time_ns = microseconds.checked_mul(1000).ok_or(LineProblem::Overflow("time"))?;
    let offset = lba.checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("address"))?;
    TraceRecord::from_bytes(time_ns, 0, offset, bytes, op)
}

/// Whether content that begins with `start` is of a version of vSCSI: the first records all say so, behind a command, whose
/// upper byte at `at` is 0. No text has such bytes there.
pub(super) fn with_version(start: &[u8], record_bytes: usize, at: usize, version: u8) -> bool {
    const RECORDS: usize = 8;
    let mut records = start.chunks_exact(record_bytes).take(RECORDS).peekable();
    records.peek().is_some() && records.all(|record| record[at] == 0 && record[at + 2] == version)
}

/// Whether content that begins with `start` is vSCSI version 1.
fn looks_like(start: &[u8]) -> bool {
    with_version(start, RECORD_BYTES, 13, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(command: u16, bytes: u32, lba: u64, microseconds: u64) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        record[4..8].copy_from_slice(&bytes.to_le_bytes());
        record[12..14].copy_from_slice(&command.to_le_bytes());
        record[14..16].copy_from_slice(&[0, 1]);
        record[16..24].copy_from_slice(&lba.to_le_bytes());
        record[24..].copy_from_slice(&microseconds.to_le_bytes());
        record
    }

    #[test]
    fn reads_and_writes_of_every_length_are_known() {
        for (commands, op) in [([0x0a, 0x2a, 0x8a, 0xaa], Op::Write), ([0x08, 0x28, 0x88, 0xa8], Op::Read)] {
            for command in commands {
                let parsed = parse(&record(command, 1024, 7, 5)).expect("a good record");
                assert_eq!((parsed.op, parsed.lba, parsed.sectors, parsed.time_ns), (op, 7, 2, 5000));
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse(&record(0x12, 1024, 7, 5)), Err(LineProblem::OtherCommand));
        assert_eq!(parse(&record(0x28, 0, 7, 5)), Err(LineProblem::ZeroSize));
        assert_eq!(parse(&record(0x28, 512, u64::MAX, 5)), Err(LineProblem::Overflow("address")));
        assert_eq!(parse(&record(0x28, 512, 7, u64::MAX)), Err(LineProblem::Overflow("time")));
        assert_eq!(parse(&[0; RECORD_BYTES]), Err(LineProblem::UnknownVersion));
        assert!(looks_like(&record(0x12, 1024, 7, 5)) && !looks_like(&[b'1'; 64]) && !looks_like(&[]));
    }
}
