//! A prepared drive, to and from a file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use ninescope_ftl::Ftl;
use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use thiserror::Error as ThisError;

use super::container::{FileReader, FileWriter, HeadError};
use super::part::new_part;
use super::shape::{FORMAT, Shape};
use crate::assembly::Shelf;
use crate::error::Error;
use crate::precondition::{OverwrittenBy, SteadyState};

/// The longest text of a shape, and the most windows of a steady state: more than any can have.
const SHAPE_BYTES_MAX: usize = 1 << 20;
const WINDOWS_MAX: u32 = 1 << 16;

/// A drive that is ready for its workload.
#[derive(Debug)]
pub struct PreparedDrive {
    /// What it holds.
    pub ftl: Ftl,
    /// How overwriting it ended, if it was overwritten to a steady state.
    pub steady: Option<SteadyState>,
    /// Units that were written to prepare it [count].
    pub written: u64,
    /// Where it lay since.
    pub shelves: Vec<Shelf>,
}

/// Why a file is not the prepared drive that is asked for.
#[derive(Debug, ThisError)]
pub enum Refusal {
    /// It is something else.
    #[error("not a snapshot of ninescope")]
    NotASnapshot,
    /// It was written by another ninescope.
    #[error("a snapshot of format {0}; this ninescope reads and writes format {FORMAT}")]
    OtherFormat(u32),
    /// It is one of another drive, or of one that was prepared otherwise.
    #[error("a snapshot of another drive: {0}")]
    Foreign(String),
    /// It cannot be read, or not used.
    #[error("{0}")]
    Snapshot(#[from] SnapshotError),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Snapshot(error.into())
    }
}

impl From<HeadError> for Refusal {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::NotASnapshot => Self::NotASnapshot,
            HeadError::OtherFormat(format) => Self::OtherFormat(format),
            HeadError::Snapshot(error) => Self::Snapshot(error),
        }
    }
}

impl PreparedDrive {
    /// Writes the drive, which was prepared to a shape.
    ///
    /// # Errors
    /// When it is not quiet, or cannot be written.
    pub fn write<W: Write>(&self, shape: &Shape, to: W) -> Result<W, Error> {
        let text = shape.text()?;
        let written = FileWriter::new(to, FORMAT).and_then(|mut file| {
            file.begin("shape")?;
            file.bytes(text.as_bytes())?;
            self.save_account(&mut file)?;
            self.ftl.save(&mut file)?;
            file.finish()
        });
        written.map_err(|error| match error {
            SnapshotError::Io(error) => Error::Input(error.to_string()),
            error => Error::Internal(error.to_string()),
        })
    }

    /// Writes the drive into a file, which is there whole or not at all.
    ///
    /// # Errors
    /// [`Error::Input`] that names the file when it cannot be written.
    pub fn save(&self, shape: &Shape, path: &Path) -> Result<(), Error> {
        let wrong = |error: &dyn std::fmt::Display| Error::Input(format!("cannot write {}: {error}", path.display()));
        let (part, file) = new_part(path).map_err(|error| wrong(&error))?;
        let written = self.write(shape, BufWriter::new(file)).map_err(|error| match error {
            Error::Input(problem) => wrong(&problem),
            internal @ Error::Internal(_) => internal,
        });
        let written = written.and_then(|_| std::fs::rename(&part, path).map_err(|error| wrong(&error)));
        if written.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        written
    }

    /// The shape that a file says it is of. What follows in it is not read.
    ///
    /// # Errors
    /// Why it is no snapshot.
    pub fn read_shape(from: impl Read) -> Result<Shape, Refusal> {
        Ok(read_shape(&mut open(from)?)?)
    }

    /// Reads the drive of a shape. Its memory must be known to suffice.
    ///
    /// # Errors
    /// Why there is none.
    pub fn read(shape: &Shape, from: impl Read) -> Result<Self, Refusal> {
        let mut file = open(from)?;
        let found = read_shape(&mut file)?;
        let as_prepared = Shape { shelves: Vec::new(), ..found.clone() };
        if let Some(difference) = shape.difference(&as_prepared) {
            return Err(Refusal::Foreign(difference));
        }
        Self::read_rest(&found, file)
    }

    /// Reads the drive of a shape from a file.
    ///
    /// # Errors
    /// Why there is none.
    pub fn load(shape: &Shape, path: &Path) -> Result<Self, Refusal> {
        Self::read(shape, BufReader::new(File::open(path)?))
    }

    /// What follows the shape.
    pub(super) fn read_rest(shape: &Shape, mut file: FileReader<impl Read>) -> Result<Self, Refusal> {
        let (steady, written) = read_account(&mut file)?;
        let impossible = |error: ninescope_ftl::FtlError| SnapshotError::Impossible(error.to_string());
        let mut ftl = Ftl::new(&shape.ftl).map_err(impossible)?;
        ftl.load(&mut file)?;
        file.finish()?;
        Ok(Self { ftl, steady, written, shelves: shape.shelves.clone() })
    }

    /// What the result of a run says about preparing.
    fn save_account(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.begin("account")?;
        to.u64(self.written)?;
        to.u8(u8::from(self.steady.is_some()))?;
        let Some(steady) = &self.steady else { return Ok(()) };
        to.u8(u8::from(steady.by == OverwrittenBy::Workload))?;
        to.u8(u8::from(steady.composed))?;
        to.u8(u8::from(steady.converged))?;
        to.f64(steady.drive_writes)?;
        to.u8(u8::from(steady.replays.is_some()))?;
        to.f64(steady.replays.unwrap_or_default())?;
        to.f64(steady.unreached)?;
        to.u32(steady.window_waf.len() as u32)?;
        steady.window_waf.iter().try_for_each(|&waf| to.f64(waf))
    }
}

/// A file whose head was read.
pub(super) fn open<R: Read>(from: R) -> Result<FileReader<R>, Refusal> {
    Ok(FileReader::new(from, FORMAT)?)
}

pub(super) fn read_shape(file: &mut FileReader<impl Read>) -> Result<Shape, SnapshotError> {
    file.begin("shape")?;
    let text = file.rest_of_section(SHAPE_BYTES_MAX)?;
    serde_json::from_slice(&text).map_err(|error| SnapshotError::Impossible(format!("its shape is none: {error}")))
}

/// How overwriting ended, and the units that were written.
pub(super) fn read_account(from: &mut dyn SectionReader) -> Result<(Option<SteadyState>, u64), SnapshotError> {
    from.begin("account")?;
    let written = from.u64()?;
    if !flag(from)? {
        return Ok((None, written));
    }
    let by = if flag(from)? { OverwrittenBy::Workload } else { OverwrittenBy::Uniform };
    let (composed, converged, drive_writes) = (flag(from)?, flag(from)?, from.f64()?);
    let (replayed, replays) = (flag(from)?, from.f64()?);
    let (unreached, windows) = (from.f64()?, from.u32()?);
    must_hold(windows <= WINDOWS_MAX, || format!("there are {windows} windows of overwriting"))?;
    let window_waf = (0..windows).map(|_| from.f64()).collect::<Result<Vec<f64>, _>>()?;
    let finite = drive_writes.is_finite()
        && replays.is_finite()
        && (0.0..=1.0).contains(&unreached)
        && window_waf.iter().all(|waf| waf.is_finite());
    must_hold(finite, || "a write amplification is no number".to_owned())?;
    let replays = replayed.then_some(replays);
    let steady =
        SteadyState { by, composed, converged, drive_writes, replays, unreached, window_waf, ..SteadyState::default() };
    Ok((Some(steady.judged()), written))
}

fn flag(from: &mut dyn SectionReader) -> Result<bool, SnapshotError> {
    let byte = from.u8()?;
    must_hold(byte <= 1, || format!("{byte} is neither yes nor no"))?;
    Ok(byte == 1)
}
