//! The beginning of a trace, as formats look at it to say whether they can read it.

use super::FormatParser;

/// The most lines that are looked at.
const LINES_MAX: usize = 16_384;
/// How often requests must follow each other in one unit, and how many times as often as in another, to show the unit.
const FOLLOW_UPS_MIN: usize = 32;
const FOLLOW_UPS_RATIO: usize = 4;

/// The beginning of a trace.
pub(crate) struct Head<'a> {
    /// Its bytes, which end within a line unless they are the whole content.
    pub start: &'a [u8],
    pub is_whole: bool,
    lines: Vec<&'a [u8]>,
}

impl<'a> Head<'a> {
    pub fn new(start: &'a [u8], is_whole: bool) -> Self {
        let complete = if is_whole { start.len() } else { memchr::memrchr(b'\n', start).unwrap_or(start.len()) };
        let is_text = |line: &&[u8]| line.trim_ascii_start().first().is_some_and(|&byte| byte != b'#');
        let lines = start[..complete].split(|&byte| byte == b'\n').filter(is_text).take(LINES_MAX).collect();
        Self { start, is_whole, lines }
    }

    /// The complete lines with text that is no comment.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.lines.iter().copied()
    }

    /// How many lines `parser` reads as requests.
    pub fn count(&self, parser: &mut impl FormatParser) -> usize {
        self.lines().filter(|line| parser.parse(line).is_ok()).count()
    }

    /// The same, of those whose first column has a decimal point.
    pub fn count_with_point(&self, parser: &mut impl FormatParser) -> usize {
        let has_point = |line: &&[u8]| {
            let mut columns = line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty());
            columns.next().is_some_and(|first| first.contains(&b'.'))
        };
        self.lines().filter(has_point).filter(|line| parser.parse(line).is_ok()).count()
    }

    /// How many lines begin where the one before ends, when their sizes count `unit` addresses. `columns` gives the
    /// address and the size of a line.
    pub fn follow_ups(&self, columns: &mut impl FnMut(&[u8]) -> Option<(u64, u64)>, unit: u64) -> usize {
        let (mut count, mut expected) = (0, None);
        for line in self.lines() {
            let row = columns(line);
            count += usize::from(row.is_some() && row.map(|(address, _)| address) == expected);
            expected = row.and_then(|(address, size)| address.checked_add(size.checked_mul(unit)?));
        }
        count
    }

    /// Whether `often` follow-ups in one unit, against `seldom` in another, show that it is the unit.
    pub fn is_decided(often: usize, seldom: usize) -> bool {
        often >= FOLLOW_UPS_MIN && often >= seldom * FOLLOW_UPS_RATIO
    }
}
