//! MSR Cambridge rows cut to `timestamp operation offset size`, separated by blanks.
//!
//! Published with CASO (Shen et al., "Correlation-Aware Stripe Organization for Efficient Writes in Erasure-Coded
//! Storage Systems", SRDS'17). The time is a Windows FILETIME, offset and size are bytes. A spreadsheet has written
//! some of the offsets with an exponent; those have the digits that it left.

use crate::fields::{Fields, Separator, integer};
use crate::record::TraceRecord;
use super::FormatParser;
use super::msr::{FILETIME_UNIT_NS, operation};
use crate::LineProblem;

pub(super) const EXAMPLE: &str = "128166465299039000 Read 32256 8192";

pub(crate) struct Parser;

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        let mut fields = Fields::new(line, Separator::Blanks)?;
        let ticks = fields.number("timestamp")?;
        let time_ns = ticks.checked_mul(FILETIME_UNIT_NS).ok_or(LineProblem::Overflow("timestamp"))?;
        let op = operation(fields.text("operation")?)?;
        let offset = rounded(fields.text("offset")?)?;
        let bytes = fields.number("size")?;
        fields.end()?;
        TraceRecord::from_bytes(time_ns, 0, offset, bytes, op)
    }
}

/// A whole number, or one with an exponent as spreadsheets write it.
fn rounded(text: &[u8]) -> Result<u64, LineProblem> {
    const FIELD: &str = "offset";
    let Some(at) = text.iter().position(|byte| matches!(byte, b'E' | b'e')) else { return integer(text, FIELD) };
    let exponent = text[at + 1..].strip_prefix(b"+").ok_or(LineProblem::NotANumber(FIELD))?;
    let exponent = u32::try_from(integer(exponent, FIELD)?).map_err(|_| LineProblem::Overflow(FIELD))?;
    let (whole, fraction) = match memchr::memchr(b'.', &text[..at]) {
        Some(point) => (&text[..point], &text[point + 1..at]),
        None => (&text[..at], &b""[..]),
    };
    let zeros = exponent.checked_sub(fraction.len() as u32).ok_or(LineProblem::NotANumber(FIELD))?;
    let shifted = |digits: &[u8], places: u32| match integer(digits, FIELD)? {
        0 => Ok(0),
        value => {
            10_u64.checked_pow(places).and_then(|scale| value.checked_mul(scale)).ok_or(LineProblem::Overflow(FIELD))
        }
    };
    let fraction = if fraction.is_empty() { 0 } else { shifted(fraction, zeros)? };
    shifted(whole, exponent)?.checked_add(fraction).ok_or(LineProblem::Overflow(FIELD))
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::*;

    #[test]
    fn rows_with_and_without_an_exponent_are_read() {
        let plain = Parser.parse(b"128166465299039000 \tRead\t32256\t8192\r").expect("good");
        assert_eq!((plain.time_ns, plain.lba, plain.sectors, plain.op), (12_816_646_529_903_900_000, 63, 16, Op::Read));
        let rounded = Parser.parse(b"1 \tWrite\t1.82083E+11\t4096").expect("good");
        assert_eq!((rounded.lba, rounded.is_unaligned), (182_083_000_000 / 512, true));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let problem = |offset: &str| Parser.parse(format!("1 Read {offset} 512").as_bytes()).expect_err("wrong");
        for wrong in ["1.5E-3", "1.23456E+2", "1E", "E+1", "1.E+x"] {
            assert!(matches!(problem(wrong), LineProblem::NotANumber(_) | LineProblem::Missing(_)), "{wrong}");
        }
        assert_eq!(problem("1E+99"), LineProblem::Overflow("offset"));
        assert_eq!(problem("-1E+3"), LineProblem::Negative("offset"));
    }
}
