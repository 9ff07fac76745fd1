//! Tells a trace's format from its beginning.
//!
//! Every format counts the lines or records that it can read. The one that reads most is the format, unless another
//! one reads more than a twentieth of as many: then the content is ambiguous or mixed, and nothing is guessed.

use super::TraceFormat;
use super::formats::{AnyParser, FormatParser};
use super::health::excerpt;
use crate::{LineProblem, TraceError};

/// The most lines that are looked at.
const LINES_MAX: usize = 16_384;
/// Another format that reads one in so many lines makes the content ambiguous.
const RIVAL_SHARE: usize = 20;
/// How often requests must follow each other in one unit, and how many times as often as in another, to show the unit.
const FOLLOW_UPS_MIN: usize = 32;
const FOLLOW_UPS_RATIO: usize = 4;

/// The beginning of a trace.
pub(super) struct Head<'a> {
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

/// How the first lines are of a format but for a value that cannot be.
fn near_miss(head: &Head<'_>) -> String {
    const LINES: usize = 4;
    let misses = |line: &[u8], format: TraceFormat| {
        let problem = AnyParser::new(format, head.start).ok()?.parse(line).err()?;
        let is_value = matches!(problem, LineProblem::Negative(_) | LineProblem::Overflow(_) | LineProblem::ZeroSize);
        is_value.then(|| format!("; as {format}, {problem}"))
    };
    let formats = || TraceFormat::ALL.iter().filter(|format| format.record_bytes().is_none());
    let mut lines = head.lines().take(LINES);
    lines.find_map(|line| formats().find_map(|&format| misses(line, format))).unwrap_or_default()
}

/// What begins with bytes that no text does.
const BEGINNINGS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "it is a PNG image"),
    (b"\xff\xd8\xff", "it is a JPEG image"),
    (b"GIF8", "it is a GIF image"),
    (b"%PDF-", "it is a PDF document"),
    (b"PK\x03\x04", "it is a zip archive"),
    (b"7z\xbc\xaf", "it is a 7z archive"),
    (b"\x7fELF", "it is a program"),
    (b"SQLite format 3", "it is a database of SQLite"),
];
/// So many bytes show whether a file is text.
const SHOWN: usize = 4096;
/// More than so many bytes that are in no text, and than one in so many, are not astray.
const ASTRAY_MAX: usize = 2;
const ASTRAY_SHARE: usize = 20;

/// What content that begins with `start` is if it is no text.
pub(super) fn kind_of_binary(start: &[u8]) -> Option<&'static str> {
    if let Some((_, kind)) = BEGINNINGS.iter().find(|(bytes, _)| start.starts_with(bytes)) {
        return Some(kind);
    }
    is_binary(&start[..start.len().min(SHOWN)]).then_some("it is binary, not text")
}

/// Whether bytes are no text: a letter of another encoding, or a byte that went astray, leave it text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let is_strange = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    bytes.contains(&0) || bytes.iter().filter(is_strange).count() > ASTRAY_MAX + bytes.len() / ASTRAY_SHARE
}

/// The format of a trace that begins with `start`, which ends within a line unless it is the whole content.
pub(super) fn detect(file: &str, start: &[u8], is_whole: bool) -> Result<TraceFormat, TraceError> {
    let head = Head::new(start, is_whole);
    let counts: Vec<_> = TraceFormat::ALL.iter().map(|&format| (format, format.matches(&head))).collect();
    let most = counts.iter().map(|&(_, count)| count).max().unwrap_or(0);
    let is_rival = |&&(_, count): &&(TraceFormat, usize)| count > 0 && count >= most / RIVAL_SHARE;
    let rivals: Vec<_> = counts.iter().filter(is_rival).collect();
    match rivals[..] {
        [&(format, _)] => Ok(format),
        [] if kind_of_binary(start).is_some() => {
            let kind = kind_of_binary(start).unwrap_or_default();
            let problem = format!("{kind}, and no trace in a format that is known ({})", TraceFormat::names());
            Err(TraceError::Binary { file: file.to_owned(), problem })
        }
        [] => {
            let first = head.lines().next();
            let first = first.map_or("all lines are blank".to_owned(), |line| {
                format!("it begins with `{}`{}", excerpt(line), near_miss(&head))
            });
            Err(TraceError::UnknownFormat { file: file.to_owned(), formats: TraceFormat::names(), first })
        }
        _ => {
            let candidates: Vec<_> = rivals.iter().map(|(format, count)| format!("{format} ({count} times)")).collect();
            Err(TraceError::AmbiguousFormat { file: file.to_owned(), candidates: candidates.join(" and as ") })
        }
    }
}
