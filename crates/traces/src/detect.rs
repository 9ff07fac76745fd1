//! Tells a trace's format from its beginning.
//!
//! Every format counts the lines or records that it can read. The one that reads most is the format, unless another
//! one reads more than a twentieth of as many: then the content is ambiguous or mixed, and nothing is guessed.

use super::TraceFormat;
use super::formats::csv::{self, Header};
use super::formats::{AnyParser, Head};
use super::text::{excerpt, is_binary};
use crate::{LineProblem, TraceError};

/// Another format that reads one in so many lines makes the content ambiguous.
const RIVAL_SHARE: usize = 20;
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
/// What content that begins with `start` is if it is no text.
pub(super) fn kind_of_binary(start: &[u8]) -> Option<&'static str> {
    if let Some((_, kind)) = BEGINNINGS.iter().find(|(bytes, _)| start.starts_with(bytes)) {
        return Some(kind);
    }
    is_binary(&start[..start.len().min(SHOWN)]).then_some("it is binary, not text")
}

/// The columns that the first line names, if most lines below go with them, or what is wrong with them.
fn described(head: &Head<'_>) -> Option<Result<TraceFormat, String>> {
    let columns = match csv::header_of(head.start) {
        Header::None => return None,
        Header::Unclear(problem) => return Some(Err(problem)),
        Header::Clear(columns) => columns,
    };
    let mut parser = csv::Parser::new(columns, head.start).ok()?.below_header();
    let (mut good, mut bad, mut first) = (0_usize, 0_usize, None);
    for line in head.lines() {
        match parser.parse(line) {
            Ok(_) => good += 1,
            Err(problem) => {
                bad += 1;
                // The header itself is one of them, unless it is a comment.
                first = first.filter(|_| bad > 2).or(Some((problem, line)));
            }
        }
    }
    match first {
        Some((problem, line)) if good == 0 && bad > 1 => {
            let hint = if problem == LineProblem::UnknownOperation {
                "; --columns …,read=WORD,write=WORD says its words"
            } else {
                ""
            };
            Some(Err(format!(
                "the first line names columns ({columns}), and no line below goes with them: {problem}: `{}`{hint}",
                excerpt(line)
            )))
        }
        _ if good + 1 < bad => None,
        _ => Some(Ok(TraceFormat::Csv(columns))),
    }
}

/// The format of a trace that begins with `start`, which ends within a line unless it is the whole content.
pub(super) fn detect(file: &str, start: &[u8], is_whole: bool) -> Result<TraceFormat, TraceError> {
    let head = Head::new(start, is_whole);
    let mut unclear = None;
    match described(&head) {
        Some(Ok(format)) => return Ok(format),
        Some(Err(problem)) => unclear = Some(problem),
        None => {}
    }
    let counts: Vec<_> = TraceFormat::ALL.iter().map(|&format| (format, format.matches(&head))).collect();
    let most = counts.iter().map(|&(_, count)| count).max().unwrap_or(0);
    let is_rival = |&&(_, count): &&(TraceFormat, usize)| count > 0 && count >= most / RIVAL_SHARE;
    let rivals: Vec<_> = counts.iter().filter(is_rival).collect();
    match rivals[..] {
        [&(format, _)] => Ok(format),
        [] if unclear.is_some() => {
            Err(TraceError::BadColumns { file: file.to_owned(), problem: unclear.unwrap_or_default() })
        }
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
