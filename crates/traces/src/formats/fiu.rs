//! FIU (SNIA IOTTA repository): `nanoseconds pid process LBA sectors R|W major minor [MD5 ...]`, sectors of 512 bytes. There is
//! one hash for 4 KiB, or in the traces of home directories one for each sector.
//!
//! Koller and Rangaswami, "I/O Deduplication", FAST'10, and Verma et al., "SRCMap", FAST'10; the columns are those of
//! the traces' README.


use super::spc::operation;

use super::FormatParser;
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "89966590000000 4892 syslogd 904265560 8 W 6 0 531e779f2ba8a3d0a0fc7c3ac0c6a7d5";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let time_ns = fields.number("time")?;
        fields.number("process id")?;
        fields.text("process")?;
        let lba = fields.number("address")?;
        let sectors = fields.number("size")?;
        let op = operation(fields.text("operation")?)?;
        let major = fields.number("major device number")?;
        let minor = fields.number("minor device number")?;
        // The hash of the data is not there for all traces.
        fields.optional_text();
        loop {
            match fields.optional_text() {
                b"" => break,
                hash if is_md5(hash) => {}
                _ => return Err(LineProblem::ExtraFields),
            }
        }
        let device = major << 20 | minor & 0xf_ffff;
        TraceRecord::from_sectors(time_ns, device, lba, sectors, op)
    }

    fn volume(_line: &[u8], device: u64) -> String {
        format!("{},{}", device >> 20, device & 0xf_ffff)
    }
}

fn is_md5(text: &[u8]) -> bool {
    text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::testing::{assert_problems, assert_rows};
    use super::*;

    #[test]
    #[allow(clippy::unreadable_literal, reason = "as on the lines")]
    fn rows_are_read() {
        let cases = [
            ("89968195792462 20782 gzip 283193184 8 R 6 0 56f11b711d91a065a2b6458eca924523", (89968195792462, 6291456, 283193184, 8, Op::Read)),
            ("5 1 kjournald 8 16 W 8 1", (5, 8388609, 8, 16, Op::Write)),
            (
                "5 1 x 8 2 W 8 1 56f11b711d91a065a2b6458eca924523 531e779f2ba8a3d0a0fc7c3ac0c6a7d5\r",
                (5, 8388609, 8, 2, Op::Write),
            ),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("5 1 x 8 0 W 8 1", LineProblem::ZeroSize),
            ("5 1 x 8 8 T 8 1", LineProblem::UnknownOperation),
            ("5 1 x 8 8 W 8", LineProblem::Missing("minor device number")),
            ("5 1 x 8 8 W 8 1 a b", LineProblem::ExtraFields),
            ("5 1 x 8 8 W 8 1 56f11b711d91a065a2b6458eca924523 531e", LineProblem::ExtraFields),
        ];
        assert_problems(&mut Parser, cases);
    }
}
