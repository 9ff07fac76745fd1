//! What can be wrong with a trace, said with file and line.

use std::{fmt, io};

use ninescope_model::WorkloadError;

/// Why a trace gives no (more) requests, or is not written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}")]
    Io {
        /// The file's name.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A compressed file ends too early.
    #[error("{file}: the {compression} archive is truncated (after {bytes} bytes of content)")]
    TruncatedArchive {
        /// The file's name.
        file: String,
        /// "gzip" or "zstd".
        compression: &'static str,
        /// Content that could be read [bytes].
        bytes: u64,
    },
    /// A compressed file cannot be decompressed.
    #[error("{file}: the {compression} archive is damaged (after {bytes} bytes of content): {source}")]
    DamagedArchive {
        /// The file's name.
        file: String,
        /// "gzip" or "zstd".
        compression: &'static str,
        /// Content that could be read [bytes].
        bytes: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// The file has no content.
    #[error("{file}: the trace is empty")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// The format cannot be told from the content.
    #[error("{file}: reads as no known format ({formats}); {first}")]
    UnknownFormat {
        /// The file's name.
        file: String,
        /// The formats tried.
        formats: String,
        /// What the first line with text looks like.
        first: String,
    },
    /// The content is no text, and of no known binary format.
    #[error("{file}: {problem}")]
    Binary {
        /// The file's name.
        file: String,
        /// What it is instead.
        problem: String,
    },
    /// The content can be of several formats, or is of several.
    #[error("{file}: reads as {candidates}; name the format with --format")]
    AmbiguousFormat {
        /// The file's name.
        file: String,
        /// The formats, and how often the beginning reads as each.
        candidates: String,
    },
    /// The columns of a text are not those that are described.
    #[error("{file}:1: {problem}")]
    BadColumns {
        /// The file's name.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A volume that is named is not in the trace.
    #[error("{file}: {problem}")]
    NoVolume {
        /// The file's name.
        file: String,
        /// What there is instead.
        problem: String,
    },
    /// No line of the trace gives a request.
    #[error("{file}: no request in {lines} lines of {format}; {first}")]
    NoRequest {
        /// The file's name.
        file: String,
        /// Lines or records read.
        lines: u64,
        /// The format read.
        format: &'static str,
        /// What is wrong with the first broken line.
        first: String,
    },
    /// A line or record is wrong and the trace is read strictly.
    #[error("{file}{place}: {problem}: `{text}`")]
    BadLine {
        /// The file's name.
        file: String,
        /// Where in the file.
        place: Place,
        /// What is wrong.
        problem: LineProblem,
        /// The line's beginning.
        text: String,
    },
    /// Time stamps leave the range of simulated time (73 years).
    #[error("{file}{place}: the time stamp overflows; use a smaller time scale or fewer loops")]
    TimeOverflow {
        /// The file's name.
        file: String,
        /// Where in the file.
        place: Place,
    },
    /// The input can be read only once.
    #[error("{file}: cannot be read again (a loop or a rewind needs a file)")]
    NotRepeatable {
        /// The input's name.
        file: String,
    },
    /// An option has no meaning.
    #[error("{option}: {problem}")]
    BadOption {
        /// The option's key.
        option: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
}

impl From<TraceError> for WorkloadError {
    fn from(error: TraceError) -> Self {
        Self::new(error)
    }
}

/// A place in a trace, 1-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text format.
    Line(u64),
    /// A record of a binary format.
    Record(u64),
}

impl Place {
    /// The number of the line or record.
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Record(number) => number,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(formatter, ":{number}"),
            Self::Record(number) => write!(formatter, ": record {number}"),
        }
    }
}

/// Why a line or record gives no request. The text is the name of the field it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineProblem {
    /// There is nothing on the line. Not broken, only skipped.
    Blank,
    /// The line is a comment. Not broken, only skipped.
    Comment,
    /// What stands before the requests: names of columns, or a file's own head. Not broken, only skipped, and not counted.
    Head,
    /// A record of a command that neither reads nor writes. Not broken, only skipped.
    OtherCommand,
    /// A discard where discards are no requests. Not broken, only skipped.
    Discard,
    /// A request of a volume that is not read. Not broken, only skipped, and not counted.
    OtherVolume,
    /// A field is absent or empty.
    Missing(&'static str),
    /// A field is no whole number.
    NotANumber(&'static str),
    /// A field is below zero.
    Negative(&'static str),
    /// A field, or what is computed from it, is too large.
    Overflow(&'static str),
    /// The request has no bytes.
    ZeroSize,
    /// The operation is none of the format's.
    UnknownOperation,
    /// There are more fields than the format has.
    ExtraFields,
    /// The line does not end within the reader's buffer.
    TooLong,
    /// The record does not have its full length.
    Truncated,
    /// The record is of a version that is not read.
    UnknownVersion,
    /// The time stamp lies before that of an earlier line.
    OutOfOrder,
}

impl LineProblem {
    /// Whether the line is wrong, as opposed to one that never was a request.
    pub fn is_broken(self) -> bool {
        !matches!(
            self,
            Self::Blank | Self::Comment | Self::Head | Self::OtherCommand | Self::Discard | Self::OtherVolume
        )
    }
}

impl fmt::Display for LineProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Missing(field) => return write!(formatter, "the {field} is missing"),
            Self::NotANumber(field) => return write!(formatter, "the {field} is not a whole number"),
            Self::Negative(field) => return write!(formatter, "the {field} is negative"),
            Self::Overflow(field) => return write!(formatter, "the {field} is too large"),
            Self::Blank => "the line is blank",
            Self::Comment => "the line is a comment",
            Self::Head => "it is the head of the file",
            Self::OtherCommand => "the command neither reads nor writes",
            Self::Discard => "the command is a discard",
            Self::OtherVolume => "the volume is not read",
            Self::ZeroSize => "the size is zero",
            Self::UnknownOperation => "the operation is unknown",
            Self::ExtraFields => "there are too many fields",
            Self::TooLong => "the line is too long",
            Self::Truncated => "the record is truncated",
            Self::UnknownVersion => "the version is unknown",
            Self::OutOfOrder => "the time lies before that of an earlier line",
        };
        formatter.write_str(text)
    }
}
