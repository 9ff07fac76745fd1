//! lcs of libCacheSim: a head of 1,024 or 8,192 bytes that begins and ends with a magic number and says the version, and
//! little-endian records by that: `seconds u32, object u64, bytes u32, next access i64` (1); with `operation u8, tenant u24` behind
//! the bytes (2); with bytes of 64 bits and `time to live u32` behind the tenant (3); and with 1, 2, 4, 8 or 16 features of
//! four bytes at the end (4 to 8).
//!
//! `generalReader/lcs.h` and `customizedReader/lcs.h` there. Tenants are volumes.

use super::cache::{Access, Objects, number, request};
use super::{FormatParser, Head};
use crate::LineProblem;
use crate::record::TraceRecord;

const MAGIC: u64 = 0x1234_5678_9abc_def0;
const HEADS: [usize; 2] = [1024, 8192];
/// Lengths of records by version [bytes].
const RECORDS: [usize; 9] = [0, 24, 28, 36, 40, 44, 52, 68, 100];

pub(crate) struct Parser {
    /// What is left of the head [bytes]: all of it until it was read.
    head: usize,
    version: usize,
}

fn starts(start: &[u8]) -> bool {
    start.len() >= 8 && number(start, 0, 8) == MAGIC
}

/// The length of the head of content that begins with `start`, if it has both magic numbers.
fn head_bytes(start: &[u8]) -> Option<usize> {
    let ends = |&bytes: &usize| start.len() >= bytes && number(start, bytes - 8, 8) == MAGIC;
    HEADS.into_iter().find(ends).filter(|_| starts(start))
}

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(RECORDS[1]);

    fn new(start: &[u8]) -> Self {
        let head = head_bytes(start);
        let version = head.map_or(0, |_| number(start, 8, 8));
        let version = usize::try_from(version).ok().filter(|&version| version < RECORDS.len()).unwrap_or(0);
        Self { head: head.unwrap_or(HEADS[0]), version }
    }

    fn record_bytes(&self, header: &[u8]) -> usize {
        match (self.head, RECORDS[self.version]) {
            (0, 0) => header.len(),
            (0, record) => record,
            (head, _) => head,
        }
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        if self.head > 0 {
            self.head = 0;
            return if head_bytes(record).is_some() && self.version > 0 {
                Err(LineProblem::Head)
            } else {
                Err(LineProblem::UnknownVersion)
            };
        }
        if self.version == 0 {
            return Err(LineProblem::UnknownVersion);
        }
        let record = record.get(..RECORDS[self.version]).ok_or(LineProblem::Truncated)?;
        let size_bytes = if self.version < 3 { 4 } else { 8 };
        let bytes = number(record, 12, size_bytes);
        let op_and_tenant = if self.version > 1 { number(record, 12 + size_bytes, 4) } else { 0 };
        let op = (self.version > 1).then_some(op_and_tenant & 0xff);
        let access = Access { seconds: number(record, 0, 4), object: number(record, 4, 8), bytes, op, next: None };
        request(&access, Objects::AreSectors, op_and_tenant >> 8)
    }

    fn matches(head: &Head<'_>) -> usize {
        // One that is cut in its head is one too, and is refused as such.
        if starts(head.start) { (head.start.len() / RECORDS[1]).max(1) } else { 0 }
    }

    fn volume(_record: &[u8], device: u64) -> String {
        format!("tenant{device}")
    }

    fn assumes() -> &'static [&'static str] {
        &["an object's number is taken as its sector of 512 bytes, and its time is in whole seconds"]
    }
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::cache::bytes_of;
    use super::*;

    fn head(bytes: usize, version: u64) -> Vec<u8> {
        let mut head = vec![0; bytes];
        head[..8].copy_from_slice(&MAGIC.to_le_bytes());
        head[8..16].copy_from_slice(&version.to_le_bytes());
        head[bytes - 8..].copy_from_slice(&MAGIC.to_le_bytes());
        head
    }

    fn record(version: u64) -> Vec<u8> {
        let (time, object, next) = ((7, 4), (16, 8), (u64::MAX, 8));
        let op_and_tenant = (13 + (0x000a_bcde << 8), 4);
        match version {
            1 => bytes_of(&[time, object, (1000, 4), next]),
            2 => bytes_of(&[time, object, (1000, 4), op_and_tenant, next]),
            _ => {
                let features = [0, 1, 2, 4, 8, 16][version as usize - 3];
                let base = bytes_of(&[time, object, (1000, 8), op_and_tenant, (60, 4), next]);
                [base, vec![9; 4 * features]].concat()
            }
        }
    }

    #[test]
    fn every_version_is_read_behind_either_head() {
        for (version, bytes) in (1..=8).flat_map(|version| HEADS.map(|bytes| (version, bytes))) {
            let (head, record) = (head(bytes, version), record(version));
            let start = [&head[..], &record].concat();
            let mut parser = Parser::new(&start);
            assert_eq!(parser.record_bytes(&start[..24]), bytes);
            assert_eq!(parser.parse(&head), Err(LineProblem::Head));
            assert_eq!(parser.record_bytes(&record[..24]), record.len(), "version {version}");
            let read = parser.parse(&record).expect("good");
            let (op, tenant) = if version == 1 { (Op::Read, 0) } else { (Op::Write, 0xa_bcde) };
            assert_eq!((read.time_ns, read.lba, read.sectors), (7_000_000_000, 16, 2));
            assert_eq!((read.op, read.device), (op, tenant));
            assert!(Parser::matches(&Head::new(&start, true)) > 0);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for start in [head(1024, 0), head(1024, 9), head(1024, u64::MAX), head(8192, 1)[..8000].to_vec(), vec![0; 2000]] {
            let mut parser = Parser::new(&start);
            assert_eq!(parser.parse(&start[..1024]), Err(LineProblem::UnknownVersion));
            assert_eq!(parser.parse(&record(1)), Err(LineProblem::UnknownVersion));
        }
        let mut parser = Parser::new(&head(1024, 2));
        assert_eq!(parser.parse(&head(1024, 2)), Err(LineProblem::Head));
        assert_eq!(parser.parse(&record(2)[..27]), Err(LineProblem::Truncated));
    }
}
