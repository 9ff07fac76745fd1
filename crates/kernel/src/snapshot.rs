//! Saving and restoring state: what whoever has some writes it to and reads it from.
//!
//! This module knows numbers in named sections, little-endian. Checksums, compression and files belong to whoever
//! implements [`SectionWriter`] and [`SectionReader`].

use std::fmt;
use std::io;

/// Why state cannot be saved or restored.
#[derive(Debug)]
pub enum SnapshotError {
    /// What is written to or read from failed.
    Io(io::Error),
    /// The bytes are not those that were written.
    Damaged(String),
    /// The bytes are sound, and what they say cannot be.
    Impossible(String),
    /// Something is under way in what should be saved.
    NotQuiet(String),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(formatter),
            Self::Damaged(problem) => write!(formatter, "damaged: {problem}"),
            Self::Impossible(problem) => formatter.write_str(problem),
            Self::NotQuiet(problem) => write!(formatter, "not quiet: {problem}"),
        }
    }
}

impl std::error::Error for SnapshotError {}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// State that outlives a process. What keeps none leaves both methods as they are.
///
/// What `save` writes, `load` reads, in the same order, into a value that was built from the same configuration and
/// has done nothing yet. Whatever the bytes say, `load` either makes a value that works or refuses them; after
/// a refusal the value is to be thrown away.
pub trait Snapshot {
    /// Writes the state.
    ///
    /// # Errors
    /// When it is not quiet, or cannot be written.
    fn save(&self, _to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        Ok(())
    }

    /// Reads the state.
    ///
    /// # Errors
    /// When it cannot be read, or what is read cannot be.
    fn load(&mut self, _from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        Ok(())
    }
}

/// Where state is written to.
pub trait SectionWriter {
    /// Ends the section before, if there is one, and begins another.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin(&mut self, name: &str) -> Result<(), SnapshotError>;

    /// Appends bytes to the section.
    ///
    /// # Errors
    /// When they cannot be written.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;
}

/// Where state is read from.
pub trait SectionReader {
    /// Ends the section before, which must have been read to its end, and begins the next, which must have this name.
    ///
    /// # Errors
    /// When it cannot be read, or is another.
    fn begin(&mut self, name: &str) -> Result<(), SnapshotError>;

    /// Takes the next bytes of the section.
    ///
    /// # Errors
    /// When they cannot be read, or the section holds fewer.
    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError>;
}

/// Sections in memory, one after the other without their names: for looking at them and comparing.
impl SectionWriter for Vec<u8> {
    fn begin(&mut self, _name: &str) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// The same, to be read.
impl SectionReader for &[u8] {
    fn begin(&mut self, _name: &str) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        let (taken, rest) = self
            .split_at_checked(bytes.len())
            .ok_or_else(|| SnapshotError::Damaged("the sections end early".to_owned()))?;
        bytes.copy_from_slice(taken);
        *self = rest;
        Ok(())
    }
}

/// Numbers of a column that are handed on together.
const CHUNK: usize = 2048;

impl dyn SectionWriter + '_ {
    /// Appends a byte.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn u8(&mut self, value: u8) -> Result<(), SnapshotError> {
        self.bytes(&[value])
    }

    /// Appends a number.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn u32(&mut self, value: u32) -> Result<(), SnapshotError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a number.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn u64(&mut self, value: u64) -> Result<(), SnapshotError> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a number, every bit of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn f64(&mut self, value: f64) -> Result<(), SnapshotError> {
        self.u64(value.to_bits())
    }

    /// Appends many numbers, each as its difference to the one before: those that count up compress to nothing.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn column(&mut self, values: impl Iterator<Item = u32>) -> Result<(), SnapshotError> {
        let (mut chunk, mut filled, mut before) = ([0_u8; CHUNK * 4], 0, 0_u32);
        for value in values {
            chunk[filled..filled + 4].copy_from_slice(&value.wrapping_sub(before).to_le_bytes());
            (filled, before) = (filled + 4, value);
            if filled == chunk.len() {
                self.bytes(&chunk)?;
                filled = 0;
            }
        }
        self.bytes(&chunk[..filled])
    }

    /// Appends many numbers as they are.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn words(&mut self, words: &[u64]) -> Result<(), SnapshotError> {
        let mut chunk = [0_u8; CHUNK * 8];
        for words in words.chunks(CHUNK) {
            for (bytes, word) in chunk.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            self.bytes(&chunk[..words.len() * 8])?;
        }
        Ok(())
    }
}

impl dyn SectionReader + '_ {
    fn array<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], SnapshotError> {
        let mut bytes = [0; BYTES];
        self.bytes(&mut bytes)?;
        Ok(bytes)
    }

    /// Takes a byte.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn u8(&mut self) -> Result<u8, SnapshotError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes a number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes a number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn f64(&mut self) -> Result<f64, SnapshotError> {
        self.u64().map(f64::from_bits)
    }

    /// Takes as many numbers as `into` holds, as a writer's `column` wrote them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn column<T>(&mut self, into: &mut [T], entry: impl Fn(u32) -> T) -> Result<(), SnapshotError> {
        let (mut chunk, mut before) = ([0_u8; CHUNK * 4], 0_u32);
        for values in into.chunks_mut(CHUNK) {
            let bytes = &mut chunk[..values.len() * 4];
            self.bytes(bytes)?;
            for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
                before = before.wrapping_add(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                *value = entry(before);
            }
        }
        Ok(())
    }

    /// Takes as many numbers as `into` holds.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn words(&mut self, into: &mut [u64]) -> Result<(), SnapshotError> {
        let mut chunk = [0_u8; CHUNK * 8];
        for words in into.chunks_mut(CHUNK) {
            let bytes = &mut chunk[..words.len() * 8];
            self.bytes(bytes)?;
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes([
                    bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                ]);
            }
        }
        Ok(())
    }
}

/// Refuses what cannot be.
///
/// # Errors
/// [`SnapshotError::Impossible`] in the given words, unless `it_holds`.
#[inline]
pub fn must_hold(it_holds: bool, problem: impl FnOnce() -> String) -> Result<(), SnapshotError> {
    if it_holds { Ok(()) } else { Err(SnapshotError::Impossible(problem())) }
}
