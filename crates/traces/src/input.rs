//! The bytes of a trace: the file, its compression, and one buffer that lines and records are views into.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use lzma_rust2::XzReader;

use super::text::EXCERPT_BYTES;
use crate::TraceError;

const BUFFER_BYTES: usize = 256 * 1024;
const MAGIC_BYTES: usize = 6;
/// Allows what `zstd --long=31` writes.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;
/// Allows what `xz -9` writes, which is 64 MiB of dictionary.
const XZ_MEMORY_KIB: u32 = 160 * 1024;

/// One line of text, without its end.
pub(super) struct Line<'a> {
    pub text: &'a [u8],
    /// Whether the line is longer than the buffer; `text` is its beginning then.
    pub is_too_long: bool,
}

/// One record of a binary format.
pub(super) enum Record<'a> {
    Whole(&'a [u8]),
    /// The content ends within the record.
    Truncated(&'a [u8]),
}

/// The decompressed content of a trace, read once from start to end.
pub(super) struct Input {
    file: String,
    source: Box<dyn Read + Send>,
    compression: Option<&'static str>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    bytes_read: u64,
    is_at_end: bool,
    long_line: [u8; EXCERPT_BYTES + 1],
}

impl Input {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(name, Box::new(file)),
            Err(source) => Err(TraceError::Io { file: name, source }),
        }
    }

    /// Takes bytes from `source`, whose first ones say how they are compressed.
    pub fn new(file: String, mut source: Box<dyn Read + Send>) -> Result<Self, TraceError> {
        let mut magic = Vec::with_capacity(MAGIC_BYTES);
        let decompressed = source.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic).and_then(|_| {
            let compression = compression_of(&magic);
            decompress(compression, Box::new(Cursor::new(magic).chain(source))).map(|source| (compression, source))
        });
        let (compression, source) = match decompressed {
            Ok(opened) => opened,
            Err(source) => return Err(TraceError::Io { file, source }),
        };
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        let long_line = [0; EXCERPT_BYTES + 1];
        Ok(Self { file, source, compression, buffer, start: 0, end: 0, bytes_read: 0, is_at_end: false, long_line })
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The content's beginning, as far as the buffer holds it, and whether it is the whole content.
    /// Nothing is consumed.
    pub fn peek(&mut self) -> Result<(&[u8], bool), TraceError> {
        while self.end - self.start < self.buffer.len() && self.fill()? {}
        Ok((&self.buffer[self.start..self.end], self.is_at_end))
    }

    /// The next line.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                let text = self.start..self.start + searched + at;
                self.start = text.end + 1;
                return Ok(Some(Line { text: &self.buffer[text], is_too_long: false }));
            }
            searched = self.end - self.start;
            if searched == self.buffer.len() {
                return self.skip_long_line().map(Some);
            }
            if !self.fill()? {
                let text = self.start..self.end;
                self.start = self.end;
                return Ok((!text.is_empty()).then(|| Line { text: &self.buffer[text], is_too_long: false }));
            }
        }
    }

    /// Steps over a line that fills the whole buffer.
    fn skip_long_line(&mut self) -> Result<Line<'_>, TraceError> {
        self.long_line.copy_from_slice(&self.buffer[..=EXCERPT_BYTES]);
        loop {
            self.start = self.end;
            if !self.fill()? {
                break;
            }
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                break;
            }
        }
        Ok(Line { text: &self.long_line, is_too_long: true })
    }

    /// The next record, of at least `least` bytes; `length` says from those how long it is.
    pub fn next_record(
        &mut self,
        least: usize,
        length: impl Fn(&[u8]) -> usize,
    ) -> Result<Option<Record<'_>>, TraceError> {
        while self.end - self.start < least && self.fill()? {}
        let bytes = self.buffer[self.start..self.end].get(..least).map_or(least, length);
        while self.end - self.start < bytes && self.fill()? {}
        let content = &self.buffer[self.start..self.end];
        let record = content.get(..bytes).map_or(Record::Truncated(content), Record::Whole);
        self.start += content.len().min(bytes);
        Ok((!content.is_empty()).then_some(record))
    }

    /// Reads on; says whether there was anything. What is not consumed moves to the buffer's beginning.
    fn fill(&mut self) -> Result<bool, TraceError> {
        if self.is_at_end {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let count = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.refused(error)),
            }
        };
        self.is_at_end = count == 0;
        self.end += count;
        self.bytes_read += count as u64;
        Ok(count > 0)
    }

    fn refused(&mut self, source: io::Error) -> TraceError {
        self.is_at_end = true;
        let (file, bytes) = (self.file.clone(), self.bytes_read);
        match (self.compression, source.kind()) {
            // The operating system's own errors carry a code; what is left comes from the decompressor.
            (Some(compression), io::ErrorKind::UnexpectedEof) => {
                TraceError::TruncatedArchive { file, compression, bytes }
            }
            (Some(compression), _) if source.raw_os_error().is_none() => {
                TraceError::DamagedArchive { file, compression, bytes, source }
            }
            _ => TraceError::Io { file, source },
        }
    }
}

/// The compression of content that begins with `magic`.
fn compression_of(magic: &[u8]) -> Option<&'static str> {
    match *magic {
        [0x1f, 0x8b, 0x08, ..] => Some("gzip"),
        // A zstd frame, or a skippable frame as parallel compressors put before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        _ => None,
    }
}

/// The content behind `source`. Archives of several members, frames or streams are read to their end.
fn decompress(compression: Option<&'static str>, source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Some("gzip") => Box::new(flate2::read::MultiGzDecoder::new(source)),
        Some("bzip2") => Box::new(bzip2::read::MultiBzDecoder::new(source)),
        Some("xz") => Box::new(XzReader::new_mem_limit(source, true, XZ_MEMORY_KIB)),
        Some(_) => {
            let mut decoder = zstd::stream::read::Decoder::new(source)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        None => source,
    })
}
