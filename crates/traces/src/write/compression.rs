//! Compressing as the text grows, into memory that the caller empties.

use std::io::{self, Write};
use std::str::FromStr;

use flate2::write::GzEncoder;
use zstd::stream::write::Encoder as ZstdEncoder;

use crate::TraceError;

/// Both trade little size for much speed; a trace is written once and read often.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// How a trace is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// As gzip does.
    Gzip,
    /// As zstd does.
    Zstd,
}

impl FromStr for Compression {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        match name {
            "none" => Ok(Self::None),
            "gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            _ => Err(TraceError::BadOption {
                option: "compression",
                problem: format!("`{name}` is not none, gzip or zstd"),
            }),
        }
    }
}

/// A compressor, and what came out of it.
pub(super) enum Encoder {
    Plain(Vec<u8>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(Box<ZstdEncoder<'static, Vec<u8>>>),
}

impl Encoder {
    pub fn new(compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(Vec::new()),
            Compression::Gzip => Self::Gzip(Box::new(GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL)))),
            Compression::Zstd => Self::Zstd(Box::new(ZstdEncoder::new(Vec::new(), ZSTD_LEVEL)?)),
        })
    }

    /// What came out since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Self::Plain(bytes) => bytes,
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
        })
    }

    /// Ends the archive; returns what came out since the last call of [`Self::take`].
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain(bytes) => Ok(bytes),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }

    fn sink(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Gzip(encoder) => encoder.as_mut(),
            Self::Zstd(encoder) => encoder.as_mut(),
        }
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
