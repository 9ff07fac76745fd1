//! What a trace reader had to skip or mend.

use serde::Serialize;

use super::text::{EXCERPT_BYTES, excerpt};
use crate::{LineProblem, Place};

/// A broken line that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedLine {
    /// Number of the line or record, from 1.
    pub line: u64,
    /// The line's beginning; a binary record's bytes in hexadecimal.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a trace reader had to skip or mend so far, counted over one pass of the trace.
///
/// The reader looks ahead by its reorder window, so the counts may be ahead of the requests it gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceHealth {
    /// Lines or records that gave no request: blank, comment, broken, or of another command.
    pub skipped_lines: u64,
    /// Those of them that are broken.
    pub broken_lines: u64,
    /// Those of them that are valid commands other than read and write.
    pub other_commands: u64,
    /// Those of these that are discards of the volumes read: [`TraceOptions::trims`](crate::TraceOptions) takes them.
    pub skipped_discards: u64,
    /// The first broken one.
    pub first_skipped: Option<SkippedLine>,
    /// Requests that were out of order in time and put right.
    pub reordered: u64,
    /// Requests that were further out of order than the window; their time was raised to the previous one.
    pub clamped: u64,
    /// Requests not aligned to sectors; they were widened to whole sectors.
    pub unaligned: u64,
    /// Volumes in the trace (counted up to 65 536).
    pub devices: u64,
}

impl TraceHealth {
    /// Counts a line that gives no request.
    pub(super) fn skip(&mut self, place: Place, text: &[u8], problem: LineProblem) {
        if matches!(problem, LineProblem::OtherVolume | LineProblem::Head) {
            return;
        }
        self.skipped_lines += 1;
        let is_discard = problem == LineProblem::Discard;
        self.other_commands += u64::from(is_discard || problem == LineProblem::OtherCommand);
        self.skipped_discards += u64::from(is_discard);
        if !problem.is_broken() {
            return;
        }
        self.broken_lines += 1;
        if self.first_skipped.is_none() {
            let text = text_of(place, text);
            self.first_skipped = Some(SkippedLine { line: place.number(), text, reason: problem.to_string() });
        }
    }

    /// The first broken line in words, and how many are discards.
    pub(super) fn first_in_words(&self) -> String {
        let broken = match &self.first_skipped {
            Some(first) => format!("{} is broken: {}: `{}`", first.line, first.reason, first.text),
            None => "none is broken".to_owned(),
        };
        match self.skipped_discards {
            0 => broken,
            discards => format!("{broken}; discards (--trims takes them): {discards}"),
        }
    }
}

/// The content at `place` for a message.
pub(super) fn text_of(place: Place, content: &[u8]) -> String {
    match place {
        Place::Line(_) => excerpt(content),
        Place::Record(_) => {
            content.iter().take(EXCERPT_BYTES).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
        }
    }
}
