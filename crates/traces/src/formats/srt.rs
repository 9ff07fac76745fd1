//! SRT of HP Labs, versions 1 to 4 (cello of 1992, snake), in either byte order: a head of text that ends with a form feed, which may
//! be left out, and records of 32-bit numbers: `bytes of the record, version and type, seconds, microseconds, start, stop,
//! bytes, sector, device, driver, cylinder, flags, origin`, since version 4 `queue length`, and in suspect ones `errors`.
//!
//! As `disksim_iotrace.c` and `disksim_hptrace.h` of DiskSim 4.0 read them, after HP's SRTlite. Time is that of entering the
//! driver. Suspect records, of which HP says that a field is wrong, are left out as they are there. Version 7, of 1999 and
//! later, has records of another layout, which is not published; `dssrt2txt` makes text of it (`srt-text`).

use ninescope_model::{Op, SECTOR_BYTES};

use super::{FormatParser, Head};
use crate::LineProblem;
use crate::record::TraceRecord;

/// Length of what every record begins with [bytes].
const ID_BYTES: usize = 16;
const FORM_FEED: u8 = 0x0c;
/// A word of the head that every one has.
const HEAD_WORD: &[u8] = b"tracedate";
const IO: u64 = 1;
const SUSPECT_IO: u64 = 4;
const READ: u64 = 1;

pub(crate) struct Parser {
    /// Length of the head [bytes]; 0 when it was read.
    head: usize,
    is_big_endian: bool,
}

/// The length of the head of text.
fn head_bytes(start: &[u8]) -> usize {
    let end = memchr::memchr(FORM_FEED, start).map_or(0, |at| at + 1);
    let has_word = start[..end].windows(HEAD_WORD.len()).any(|word| word == HEAD_WORD);
    if has_word { end } else { 0 }
}

impl Parser {
    fn number(&self, record: &[u8], index: usize) -> u64 {
        let bytes: [u8; 4] = *record[4 * index..].first_chunk().unwrap_or(&[0; 4]);
        u64::from(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The length of a record and whether it is a suspect one, if it is one of a version that is read.
    fn kind(&self, record: &[u8]) -> Option<(usize, bool)> {
        let (size, id) = (self.number(record, 0), self.number(record, 1));
        let (version, kind) = (id >> 16, id & 0xffff);
        let numbers = 13 + u64::from(version == 4) + u64::from(kind == SUSPECT_IO);
        let is_it = (1..=4).contains(&version) && [IO, SUSPECT_IO].contains(&kind) && size == 4 * numbers;
        is_it.then_some((size as usize, kind == SUSPECT_IO))
    }
}

impl FormatParser for Parser {
    const RECORD_BYTES: Option<usize> = Some(ID_BYTES);

    fn new(start: &[u8]) -> Self {
        let head = head_bytes(start);
        let first = start.get(head..head + ID_BYTES).unwrap_or(&[0; ID_BYTES]);
        let is_big_endian = Self { head, is_big_endian: true }.kind(first).is_some();
        Self { head, is_big_endian }
    }

    fn record_bytes(&self, header: &[u8]) -> usize {
        if self.head > 0 { self.head } else { self.kind(header).map_or(header.len(), |(bytes, _)| bytes) }
    }

    fn parse(&mut self, record: &[u8]) -> Result<TraceRecord, LineProblem> {
        if std::mem::take(&mut self.head) > 0 {
            return Err(LineProblem::Head);
        }
        let (bytes, is_suspect) = self.kind(record).ok_or(LineProblem::UnknownVersion)?;
        let record = record.get(..bytes).ok_or(LineProblem::Truncated)?;
        if is_suspect {
            return Err(LineProblem::OtherCommand);
        }
        let time_ns = self.number(record, 2) * 1_000_000_000 + self.number(record, 3) * 1000;
        let op = if self.number(record, 11) & READ == 0 { Op::Write } else { Op::Read };
        let offset = self.number(record, 7) * SECTOR_BYTES;
        TraceRecord::from_bytes(time_ns, self.number(record, 8), offset, self.number(record, 6), op)
    }

    fn matches(head: &Head<'_>) -> usize {
        let parser = Self::new(head.start);
        let (mut rest, mut count) = (&head.start[parser.head..], 0);
        while rest.len() >= ID_BYTES {
            // A head of SRT and records of another version are one too, and are refused as such.
            let Some((bytes, _)) = parser.kind(rest) else { return usize::from(parser.head > 0) };
            rest = rest.get(bytes..).unwrap_or_default();
            count += 1;
        }
        count
    }

    fn volume(_record: &[u8], device: u64) -> String {
        format!("{device:#x}")
    }

    fn assumes() -> &'static [&'static str] {
        &["sectors are taken as of 512 bytes"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of numbers by hand: version and type, seconds, microseconds, bytes, sector, device, flags.
    fn record(id: u32, numbers: [u32; 6], is_big: bool) -> Vec<u8> {
        let [seconds, micros, bytes, sector, device, flags] = numbers;
        let mut all = vec![0, id, seconds, micros, 11, 12, bytes, sector, device, 77, 78, flags, 79];
        if id >> 16 == 4 {
            all.push(3);
        }
        if id & 0xffff == 4 {
            all.push(0xff);
        }
        all[0] = 4 * all.len() as u32;
        all.into_iter().flat_map(|number| if is_big { number.to_be_bytes() } else { number.to_le_bytes() }).collect()
    }

    const HEAD: &[u8] = b"tracename\t= \"cello\";\ntracedate\t= \"Sat Apr 18 00:00:00 1992\";\n\x0c";
    const NUMBERS: [u32; 6] = [5, 7, 1024, 16, 0x1f00, 0x81];

    #[test]
    fn versions_byte_orders_and_heads_are_read() {
        for (version, is_big, head) in [(1, true, HEAD), (2, false, b""), (3, true, b""), (4, false, HEAD), (4, true, HEAD)] {
            let bytes = record(version << 16 | 1, NUMBERS, is_big);
            let content = [head, &bytes, &bytes].concat();
            let mut parser = Parser::new(&content);
            if !head.is_empty() {
                assert_eq!(parser.record_bytes(&content[..16]), head.len());
                assert_eq!(parser.parse(head), Err(LineProblem::Head));
            }
            assert_eq!(parser.record_bytes(&bytes[..16]), bytes.len());
            let read = parser.parse(&bytes).expect("good");
            assert_eq!((read.time_ns, read.lba, read.sectors, read.op), (5_000_007_000, 16, 2, Op::Read));
            assert_eq!(Parser::volume(&bytes, read.device), "0x1f00");
            assert_eq!(Parser::matches(&Head::new(&content, true)), 2);
        }
        let write = record(1 << 16 | 1, [0, 0, 512, 1, 0, 0x80], true);
        assert_eq!(Parser::new(&write).parse(&write).map(|write| write.op), Ok(Op::Write));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = record(4 << 16 | 1, NUMBERS, true);
        let mut parser = Parser::new(&good);
        assert_eq!(parser.parse(&record(4 << 16 | 4, NUMBERS, true)), Err(LineProblem::OtherCommand), "a suspect one");
        assert_eq!(parser.parse(&record(7 << 16 | 1, NUMBERS, true)), Err(LineProblem::UnknownVersion));
        assert_eq!(parser.parse(&good[..40]), Err(LineProblem::Truncated));
        assert_eq!(parser.parse(&record(4 << 16 | 1, [0; 6], true)), Err(LineProblem::ZeroSize));
        let matches = |content: &[u8]| Parser::matches(&Head::new(content, true));
        assert_eq!((matches(&[good, vec![9; 16]].concat()), matches(&[0; 64]), matches(b"")), (0, 0, 0));
        assert_eq!(matches(&[HEAD, &record(7 << 16 | 1, NUMBERS, true)].concat()), 1, "to be refused by its version");
    }
}
