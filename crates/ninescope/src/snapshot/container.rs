//! The file of a snapshot: named sections of checked blocks, each compressed where that pays.
//!
//! ```text
//! file     magic (8 bytes) · format u32 · check     section …     0 u8 · check
//! section  length of its name u8 · name · check     block …       0 u32 · 0 u32 · check
//! block    bytes u32 · stored bytes u32 · what is stored · check
//! ```
//!
//! All numbers are little-endian. A block whose stored bytes are as many as its bytes is stored as it is, any other is one
//! frame of zstd. A check is the CRC-32 of everything in the file before it but the checks, so that a piece that is changed,
//! missing or in another place does not pass; nothing is used before its check has passed. This module must not know what
//! sections hold.

use std::io::{self, Read, Write};

use ninescope_kernel::{SectionReader, SectionWriter, SnapshotError};

/// What every snapshot begins with. Like that of PNG it does not survive transfers that take it for text.
pub const MAGIC: [u8; 8] = *b"\x899SCOPE\n";
/// Bytes of a block at most [B].
const BLOCK_BYTES: usize = 1 << 19;
/// A frame is stored where it is at most seven eighths of its content.
const WORTHWHILE: (usize, usize) = (7, 8);
/// The fastest level: what is left of the tables is close to random.
const LEVEL: i32 = 1;

/// Writes a file.
pub struct FileWriter<W: Write> {
    to: W,
    checked: crc32fast::Hasher,
    compressor: zstd::bulk::Compressor<'static>,
    /// Bytes of the present block.
    block: Vec<u8>,
    packed: Vec<u8>,
    in_section: bool,
}

impl<W: Write> FileWriter<W> {
    /// Writes the head of a file of a format.
    pub fn new(to: W, format: u32) -> Result<Self, SnapshotError> {
        let mut writer = Self {
            to,
            checked: crc32fast::Hasher::new(),
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
            block: Vec::with_capacity(BLOCK_BYTES),
            packed: vec![0; BLOCK_BYTES * WORTHWHILE.0 / WORTHWHILE.1],
            in_section: false,
        };
        writer.put(&MAGIC)?;
        writer.put(&format.to_le_bytes())?;
        writer.put_check()?;
        Ok(writer)
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W, SnapshotError> {
        self.end_section()?;
        self.put(&[0])?;
        self.put_check()?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checked.update(bytes);
        self.to.write_all(bytes)
    }

    fn put_check(&mut self) -> io::Result<()> {
        self.to.write_all(&self.checked.clone().finalize().to_le_bytes())
    }

    fn put_block(&mut self) -> io::Result<()> {
        let bytes = self.block.len();
        let room = bytes * WORTHWHILE.0 / WORTHWHILE.1;
        // It fails where the room does not suffice.
        let packed = self.compressor.compress_to_buffer(&self.block, &mut self.packed[..room]);
        let stored = packed.as_ref().map_or(self.block.as_slice(), |&len| &self.packed[..len]);
        let lengths = [bytes as u32, stored.len() as u32].map(u32::to_le_bytes);
        self.checked.update(lengths.as_flattened());
        self.checked.update(stored);
        self.to.write_all(lengths.as_flattened())?;
        self.to.write_all(stored)?;
        self.block.clear();
        self.put_check()
    }

    fn end_section(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.in_section) {
            return Ok(());
        }
        if !self.block.is_empty() {
            self.put_block()?;
        }
        self.put(&[0; 8])?;
        self.put_check()
    }
}

impl<W: Write> SectionWriter for FileWriter<W> {
    fn begin(&mut self, name: &str) -> Result<(), SnapshotError> {
        debug_assert!(!name.is_empty() && name.len() < 256, "a section has a short name");
        self.end_section()?;
        self.in_section = true;
        self.put(&[name.len() as u8])?;
        self.put(name.as_bytes())?;
        Ok(self.put_check()?)
    }

    fn bytes(&mut self, mut bytes: &[u8]) -> Result<(), SnapshotError> {
        while !bytes.is_empty() {
            let (taken, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.block.len()));
            self.block.extend_from_slice(taken);
            bytes = rest;
            if self.block.len() == BLOCK_BYTES {
                self.put_block()?;
            }
        }
        Ok(())
    }
}

/// Reads a file.
pub struct FileReader<R: Read> {
    from: R,
    checked: crc32fast::Hasher,
    decompressor: zstd::bulk::Decompressor<'static>,
    /// Bytes of the present block, and how many of them were taken.
    block: Vec<u8>,
    taken: usize,
    packed: Vec<u8>,
    /// The present section; empty before the first.
    section: String,
    /// Its end was not read yet.
    in_section: bool,
}

/// Why a file is none of these.
#[derive(Debug)]
pub enum HeadError {
    /// It does not begin like one.
    NotASnapshot,
    /// It is one of another format.
    OtherFormat(u32),
    /// It cannot be read.
    Snapshot(SnapshotError),
}

impl<R: Read> FileReader<R> {
    /// Reads the head of a file, which must be of a format.
    pub fn new(from: R, format: u32) -> Result<Self, HeadError> {
        let decompressor = zstd::bulk::Decompressor::new().map_err(|error| HeadError::Snapshot(error.into()))?;
        let mut reader = Self {
            from,
            checked: crc32fast::Hasher::new(),
            decompressor,
            block: Vec::with_capacity(BLOCK_BYTES),
            taken: 0,
            packed: Vec::new(),
            section: String::new(),
            in_section: false,
        };
        let magic = reader.array().map_err(|error| match error {
            SnapshotError::Damaged(_) => HeadError::NotASnapshot,
            error => HeadError::Snapshot(error),
        })?;
        if magic != MAGIC {
            return Err(HeadError::NotASnapshot);
        }
        let found = reader.array().map(u32::from_le_bytes).map_err(HeadError::Snapshot)?;
        reader.take_check().map_err(HeadError::Snapshot)?;
        if found == format { Ok(reader) } else { Err(HeadError::OtherFormat(found)) }
    }

    /// Takes the rest of the present section.
    pub fn rest_of_section(&mut self, bytes_max: usize) -> Result<Vec<u8>, SnapshotError> {
        let mut rest = self.block.split_off(self.taken);
        while self.next_block()? {
            rest.append(&mut self.block);
            if rest.len() > bytes_max {
                return Err(self.damaged("is too long"));
            }
        }
        Ok(rest)
    }

    /// Takes the end of the file.
    pub fn finish(mut self) -> Result<(), SnapshotError> {
        self.end_section()?;
        if self.array::<1>()? != [0] {
            return Err(SnapshotError::Impossible(format!("another section follows `{}`", self.section)));
        }
        self.take_check()?;
        match self.from.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(SnapshotError::Damaged("something follows its end".to_owned())),
        }
    }

    fn damaged(&self, problem: &str) -> SnapshotError {
        let place = if self.section.is_empty() { "its head".to_owned() } else { format!("section `{}`", self.section) };
        SnapshotError::Damaged(format!("{place} {problem}"))
    }

    fn array<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], SnapshotError> {
        let mut bytes = [0; BYTES];
        self.take(&mut bytes)?;
        self.checked.update(&bytes);
        Ok(bytes)
    }

    /// Takes bytes that are not counted into the check.
    fn take(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        self.from.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged("is cut off"),
            _ => error.into(),
        })
    }

    fn take_check(&mut self) -> Result<(), SnapshotError> {
        let mut check = [0; 4];
        self.take(&mut check)?;
        let sound = u32::from_le_bytes(check) == self.checked.clone().finalize();
        if sound { Ok(()) } else { Err(self.damaged("differs from its checksum")) }
    }

    /// Takes the next block of the section; returns whether there is one.
    fn next_block(&mut self) -> Result<bool, SnapshotError> {
        if !self.in_section {
            return Ok(false);
        }
        let bytes = u32::from_le_bytes(self.array()?) as usize;
        let stored = u32::from_le_bytes(self.array()?) as usize;
        if bytes > BLOCK_BYTES || stored > bytes || (stored == 0 && bytes > 0) {
            return Err(self.damaged("has a block of an impossible length"));
        }
        self.taken = 0;
        self.block.resize(bytes, 0);
        if stored == bytes {
            let mut block = std::mem::take(&mut self.block);
            self.take(&mut block)?;
            self.checked.update(&block);
            self.block = block;
            self.take_check()?;
            self.in_section = bytes > 0;
            return Ok(self.in_section);
        }
        let mut packed = std::mem::take(&mut self.packed);
        packed.resize(stored, 0);
        self.take(&mut packed)?;
        self.checked.update(&packed);
        self.packed = packed;
        self.take_check()?;
        match self.decompressor.decompress_to_buffer(&self.packed, self.block.as_mut_slice()) {
            Ok(len) if len == bytes => Ok(true),
            _ => Err(self.damaged("has a block that cannot be unpacked")),
        }
    }

    fn end_section(&mut self) -> Result<(), SnapshotError> {
        if self.taken < self.block.len() || self.next_block()? {
            return Err(SnapshotError::Impossible(format!("section `{}` holds more than is expected", self.section)));
        }
        Ok(())
    }
}

impl<R: Read> SectionReader for FileReader<R> {
    fn begin(&mut self, name: &str) -> Result<(), SnapshotError> {
        self.end_section()?;
        let [len] = self.array()?;
        let mut found = vec![0; usize::from(len)];
        self.take(&mut found)?;
        self.checked.update(&found);
        self.take_check()?;
        if found != name.as_bytes() {
            let found = String::from_utf8_lossy(&found);
            return Err(SnapshotError::Impossible(format!("section `{name}` is expected, `{found}` is there")));
        }
        name.clone_into(&mut self.section);
        self.in_section = true;
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        let mut filled = 0;
        while filled < bytes.len() {
            if self.taken == self.block.len() && !self.next_block()? {
                return Err(SnapshotError::Impossible(format!("section `{}` ends early", self.section)));
            }
            let take = (bytes.len() - filled).min(self.block.len() - self.taken);
            bytes[filled..filled + take].copy_from_slice(&self.block[self.taken..self.taken + take]);
            (filled, self.taken) = (filled + take, self.taken + take);
        }
        Ok(())
    }
}
