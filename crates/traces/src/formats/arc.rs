//! Traces of the paper on ARC (`.lis`): `block blocks ignored request`, blocks of 512 bytes, requests counted from 0 on.
//!
//! Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST'03, and the page of its traces: the first
//! line of P6.lis, `110765 64 0 0`, is 64 blocks from 110765 on. They have neither times nor operations.

use ninescope_model::Op;

use super::{FormatParser, Head};
use crate::LineProblem;
use crate::fields::{Fields, Separator};
use crate::record::TraceRecord;

pub(super) const EXAMPLE: &str = "110765 64 0 0";

pub(crate) struct Parser;

/// The request on a line, and its number.
fn numbered(line: &[u8]) -> Result<(TraceRecord, u64), LineProblem> {
    let mut fields = Fields::new(line, Separator::Blanks)?;
    let block = fields.number("block")?;
    let blocks = fields.number("number of blocks")?;
    fields.number("third field")?;
    let request = fields.number("request's number")?;
    fields.end()?;
    Ok((TraceRecord::from_sectors(0, 0, block, blocks, Op::Read)?, request))
}

impl FormatParser for Parser {
    fn new(_start: &[u8]) -> Self {
        Self
    }

    fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        numbered(line).map(|(record, _)| record)
    }

    /// Four numbers may be anything: those at the end must count up.
    fn matches(head: &Head<'_>) -> usize {
        let numbers: Vec<_> = head.lines().filter_map(|line| numbered(line).ok()).map(|(_, number)| number).collect();
        let counts = numbers.windows(2).filter(|pair| pair[0].checked_add(1) == Some(pair[1])).count();
        let is_first = numbers.first() == Some(&0);
        if counts + 1 == numbers.len() && (is_first || counts > 0) { numbers.len() } else { 0 }
    }

    fn assumes() -> &'static [&'static str] {
        &["no line has a time or an operation: all requests come at once (a closed loop leaves that out), and all are taken as reads"]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_problems, assert_rows};
    use super::*;

    #[test]
    fn rows_are_read() {
        let cases = [(EXAMPLE, (0, 0, 110_765, 64, Op::Read)), ("8 1 7 5\r", (0, 0, 8, 1, Op::Read))];
        assert_rows(&mut Parser, &cases);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&str, LineProblem)] = &[
            ("8 0 0 1", LineProblem::ZeroSize),
            ("8 1 0", LineProblem::Missing("request's number")),
            ("8 1 0 1 1", LineProblem::ExtraFields),
            ("8 x 0 1", LineProblem::NotANumber("number of blocks")),
        ];
        assert_problems(&mut Parser, cases);
    }

    #[test]
    fn requests_that_count_up_tell_the_format() {
        let matches = |content: &str| Parser::matches(&Head::new(content.as_bytes(), true));
        assert_eq!((matches("8 1 0 0"), matches("8 1 0 7\n9 1 0 8\n"), matches("8 1 0 7\n")), (1, 2, 0));
        assert_eq!((matches("8 1 0 0\n9 1 0 2\n"), matches("8 1 0 0\n9 1 0 0\n"), matches("")), (0, 0, 0));
    }
}
