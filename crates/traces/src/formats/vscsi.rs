//! vSCSI version 1 (`VMware`, `CloudPhysics`): little-endian records of 32 bytes,
//! `serial u32, bytes u32, segments u32, command u16, version u16, LBA u64, microseconds u64`.

use ninescope_model::{Op, SECTOR_BYTES};

use super::Head;
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
    let field = |at: usize, length: usize| {
        record[at..at + length].iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
    };
    if field(14, 2) >> 8 != 1 {
        return Err(LineProblem::UnknownVersion);
    }
    let op = match field(12, 2) {
        0x0a | 0x2a | 0x8a | 0xaa => Op::Write,
        0x08 | 0x28 | 0x88 | 0xa8 => Op::Read,
        _ => return Err(LineProblem::OtherCommand),
    };
    let time_ns = field(24, 8).checked_mul(1000).ok_or(LineProblem::Overflow("time"))?;
    let offset = field(16, 8).checked_mul(SECTOR_BYTES).ok_or(LineProblem::Overflow("address"))?;
    TraceRecord::from_bytes(time_ns, 0, offset, field(4, 4), op)
}

/// Whether content that begins with `start` is vSCSI version 1: the first records all say so. No text has
/// the bytes 0 and 1 where these are looked for.
fn looks_like(start: &[u8]) -> bool {
    const RECORDS: usize = 8;
    let mut records = start.chunks_exact(RECORD_BYTES).take(RECORDS).peekable();
    records.peek().is_some() && records.all(|record| record[13] == 0 && record[15] == 1)
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
