//! Iologs of fio. Version 2: `file operation offset length`, without times but for `file wait microseconds`.
//! Version 3: `microseconds file operation offset length`. Offset and length are bytes.
//!
//! fio's HOWTO, section "Trace file format v2" and "v3". The first line says the version. Files added, opened and closed
//! are skipped. `sync` and `datasync` are flushes; their offset and length mean nothing. The waits of version 2 add up, as
//! the HOWTO takes each relative to the one before. The HOWTO does not give the unit of version 3: it is that of
//! `utime_since_now`, with which `log_io_u` in fio's `iolog.c` writes it, and of `iolog_delay`, which waits for it.

use ninescope_model::Op;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator, integer, key_of};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "fio version 3 iolog";

const HEADER: &[u8] = b"fio version ";

pub(crate) struct Parser {
    version: u8,
    waited_ns: u64,
}

impl FormatParser for Parser {
    fn new(start: &[u8]) -> Self {
        let version = start.strip_prefix(HEADER).and_then(|rest| rest.first());
        Self { version: version.map_or(0, |digit| digit.wrapping_sub(b'0')), waited_ns: 0 }
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        if !matches!(self.version, 2 | 3) {
            return Err(LineProblem::UnknownVersion);
        }
        if line.starts_with(HEADER) {
            return Err(LineProblem::Comment);
        }
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let stamp = if self.version == 3 { Some(fields.time("time", 1000)?) } else { None };
        let file = key_of(fields.text("file name")?);
        let op = match fields.text("operation")? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"wait" if stamp.is_none() => return Err(self.wait(&mut fields)),
            b"sync" | b"datasync" => Op::Flush,
            b"add" | b"open" | b"close" | b"sync_file_range" | b"wait" => return Err(LineProblem::OtherCommand),
            _ => return Err(LineProblem::UnknownOperation),
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("length")?;
        fields.end()?;
        TraceRecord::from_bytes(stamp.unwrap_or(self.waited_ns), file, offset, bytes, op)
    }

    fn volume(line: &[u8], device: u64) -> String {
        let mut texts = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|text| !text.is_empty());
        let name = texts.find(|text| key_of(text) == device).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

impl Parser {
    /// Notes a wait, which is no request.
    fn wait(&mut self, fields: &mut Fields<'_>) -> LineProblem {
        let wait = fields.text("wait").and_then(|text| integer(text, "wait"));
        let waited_ns = wait.map(|wait| wait.checked_mul(1000).and_then(|wait| self.waited_ns.checked_add(wait)));
        match waited_ns {
            Ok(Some(waited_ns)) => {
                self.waited_ns = waited_ns;
                LineProblem::OtherCommand
            }
            Ok(None) => LineProblem::Overflow("wait"),
            Err(problem) => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(text: &str) -> Parser {
        Parser::new(text.as_bytes())
    }

    #[test]
    fn version_3_has_times() {
        let mut parser = parser("fio version 3 iolog\n");
        let mut parse = |line: &str| parser.parse(line.as_bytes());
        let record = parse("17 /dev/sdb trim 4096 1024").expect("good");
        assert_eq!((record.time_ns, record.lba, record.sectors, record.op), (17_000, 8, 2, Op::Trim));
        assert_eq!(Parser::volume(b"17 /dev/sdb trim 4096 1024", record.device), "/dev/sdb");
        assert_eq!(parse("0 /dev/sdb add"), Err(LineProblem::OtherCommand));
        assert_eq!(parse("0 /dev/sdb datasync 0 0").map(|flush| (flush.sectors, flush.op)), Ok((0, Op::Flush)));
        assert_eq!(parse("0 /dev/sdb read 0 0"), Err(LineProblem::ZeroSize));
        assert_eq!(parse("0 /dev/sdb eat 0 1"), Err(LineProblem::UnknownOperation));
        assert_eq!(parse("/dev/sdb read 0 512"), Err(LineProblem::NotANumber("time")));
    }

    #[test]
    fn waits_of_version_2_add_up() {
        let mut parser = parser("fio version 2 iolog\n");
        let mut parse = |line: &str| parser.parse(line.as_bytes());
        assert_eq!(parse("fio version 2 iolog"), Err(LineProblem::Comment));
        assert_eq!(parse("/dev/sdb read 512 512").map(|record| (record.time_ns, record.lba)), Ok((0, 1)));
        assert_eq!(parse("/dev/sdb wait 200 0"), Err(LineProblem::OtherCommand));
        assert_eq!(parse("/dev/sdb wait 300 0"), Err(LineProblem::OtherCommand));
        assert_eq!(parse("/dev/sdb write 0 512").map(|record| record.time_ns), Ok(500_000));
        assert_eq!(parse("/dev/sdb wait 18446744073709551615 0"), Err(LineProblem::Overflow("wait")));
    }

    #[test]
    fn without_a_version_nothing_is_read() {
        assert_eq!(parser("0 x read 0 512").parse(b"0 x read 0 512"), Err(LineProblem::UnknownVersion));
    }
}
