//! Text of HP's SRT version 7 (cello of 1999 and later), as `dssrt2txt` of DataSeries prints it:
//! `seconds start stop bytes R|W KiB device volume thread pid`, device and volume in hexadecimal, under the line
//! `# created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid`.
//!
//! `src/process/dssrt2txt` of `github.com/dataseries/DataSeries`. Time is that of entering the driver, from the first request
//! on. Volumes of the trace are its devices.

use super::FormatParser;
use super::spc::operation;
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = " 0.000123     12   9114   8192 R     524288 1f04a000 40000003 0  1287";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let time_ns = fields.time("time", 1_000_000_000)?;
        fields.text("start")?;
        fields.text("stop")?;
        let bytes = fields.number("size")?;
        let op = operation(fields.text("operation")?)?;
        let kibibytes = fields.number("address")?;
        let device = hexadecimal(fields.text("device")?)?;
        // Volume, thread and process may be absent.
        for _ in 0..3 {
            fields.optional_text();
        }
        fields.end()?;
        let offset = kibibytes.checked_mul(1 << 10).ok_or(LineProblem::Overflow("address"))?;
        TraceRecord::from_bytes(time_ns, device, offset, bytes, op)
    }

    fn volume(_line: &[u8], device: u64) -> String {
        format!("{device:x}")
    }

    fn assumes() -> &'static [&'static str] {
        &["addresses were cut to whole KiB when the text was made"]
    }
}

fn hexadecimal(text: &[u8]) -> Result<u64, LineProblem> {
    let text = str::from_utf8(text).map_err(|_| LineProblem::NotANumber("device"))?;
    u64::from_str_radix(text, 16).map_err(|_| LineProblem::NotANumber("device"))
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::super::testing::{assert_problems, assert_rows};
    use super::*;

    #[test]
    fn rows_are_read() {
        let cases = [
            (EXAMPLE, (123_000, 0x1f04_a000, 1 << 20, 16, Op::Read)),
            ("12.500000 1 2 512 W 3 ff null null 9", (12_500_000_000, 255, 6, 1, Op::Write)),
            ("12.500000 1 2 512 W 3 ff", (12_500_000_000, 255, 6, 1, Op::Write)),
        ];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("# created  start   stop  bytes disk_offset(k) device#", LineProblem::Comment),
            ("1.0 1 2 0 W 3 ff", LineProblem::ZeroSize),
            ("1.0 1 2 512 true 3 ff", LineProblem::UnknownOperation),
            ("1.0 1 2 512 W 3 disk", LineProblem::NotANumber("device")),
            ("-1.0 1 2 512 W 3 ff", LineProblem::Negative("time")),
            ("1.0 1 2 512 W 3 ff 1 2 3 4", LineProblem::ExtraFields),
        ];
        assert_problems(&mut Parser, cases);
    }
}
