//! MSR Cambridge CSV (SNIA IOTTA 388): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! The time is a Windows FILETIME (100 ns units since 1601), offset and size are bytes.

use ninescope_model::Op;

use crate::fields::{Fields, Separator, key_of};
use crate::record::TraceRecord;
use super::FormatParser;
use crate::LineProblem;

pub(super) const EXAMPLE: &str = "128166372003061629,hm,0,Write,2654453760,4096,54086";
pub(super) const FILETIME_UNIT_NS: u64 = 100;

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        parse(line)
    }

    /// Host and disk, as the traces' files are called.
    fn volume(line: &[u8], _device: u64) -> String {
        let mut fields = line.split(|&byte| byte == b',').skip(1);
        let mut next = || String::from_utf8_lossy(fields.next().unwrap_or_default()).trim().to_owned();
        format!("{}_{}", next(), next())
    }
}

/// The request on `line`.
#[inline]
fn parse(line: &[u8]) -> Result<TraceRecord, LineProblem> {
    let mut fields = Fields::new(line, Separator::Comma)?;
    let ticks = fields.number("timestamp")?;
    let time_ns = ticks.checked_mul(FILETIME_UNIT_NS).ok_or(LineProblem::Overflow("timestamp"))?;
    let host = fields.text("host name")?;
    let disk = fields.number("disk number")?;
    let op = operation(fields.text("operation")?)?;
    let offset = fields.number("offset")?;
    let bytes = fields.number("size")?;
    // Not used, but a line without it was cut off, and then its size may be cut as well.
    fields.number("response time")?;
    fields.end()?;
    TraceRecord::from_bytes(time_ns, device(host, disk), offset, bytes, op)
}

pub(super) fn operation(text: &[u8]) -> Result<Op, LineProblem> {
    if text.eq_ignore_ascii_case(b"read") {
        Ok(Op::Read)
    } else if text.eq_ignore_ascii_case(b"write") {
        Ok(Op::Write)
    } else {
        Err(LineProblem::UnknownOperation)
    }
}

/// One number per (host, disk).
fn device(host: &[u8], disk: u64) -> u64 {
    key_of(host) ^ disk.rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_and_widened_to_sectors() {
        let record = parse(b"128166385295514663, hm,0,Write,1025,511,2833\r").expect("a good row");
        assert_eq!((record.time_ns, record.lba, record.sectors), (12_816_638_529_551_466_300, 2, 1));
        assert!(record.op == Op::Write && record.is_unaligned);
        let other = parse(b"1,hm,1,READ,1024,512,2833").expect("a good row");
        assert!(other.op == Op::Read && !other.is_unaligned && other.device != record.device);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: [(&[u8], LineProblem); 16] = [
            (b"", LineProblem::Blank),
            (b" \t\r", LineProblem::Blank),
            (b"  # a remark", LineProblem::Comment),
            (b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", LineProblem::NotANumber("timestamp")),
            (b"-1,hm,0,Write,0,512,1", LineProblem::Negative("timestamp")),
            (b"1,hm,0,Write,-512,512,1", LineProblem::Negative("offset")),
            (b"184467440737095517,hm,0,Write,0,512,1", LineProblem::Overflow("timestamp")),
            (b"1,hm,0,Write,99999999999999999999,512,1", LineProblem::Overflow("offset")),
            (b"1,hm,0,Write,18446744073709551615,512,1", LineProblem::Overflow("address")),
            (b"1,hm,0,Write,0,2199023255552,1", LineProblem::Overflow("size")),
            (b"1,hm,0,Write,0,0,1", LineProblem::ZeroSize),
            (b"1,hm,0,Erase,0,512,1", LineProblem::UnknownOperation),
            (b"1,hm,0,Write,0,512", LineProblem::Missing("response time")),
            (b"1,,0,Write,0,512,1", LineProblem::Missing("host name")),
            (b"1,hm,0,Write,1.82083E+11,512,1", LineProblem::NotANumber("offset")),
            (b"1,hm,0,Write,0,512,1,9", LineProblem::ExtraFields),
        ];
        for (line, problem) in cases {
            assert_eq!(parse(line), Err(problem), "{}", String::from_utf8_lossy(line));
        }
    }
}
