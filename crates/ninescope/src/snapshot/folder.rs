//! Where a run takes its prepared drive from: a folder of snapshots, each under the hash of its shape, or one file.
//!
//! Several processes may use a folder at once. Each writes under a name of its own and then renames, so that whoever looks
//! finds a whole file or none; two that prepare the same drive write the same bytes, and the last one stays.

use std::path::{Path, PathBuf};
use std::time::Duration as WallTime;

use serde::Serialize;

use super::part::PART_SUFFIX;
use super::prepared::{PreparedDrive, Refusal};
use super::shape::Shape;
use crate::error::Error;

/// How files of a folder end.
const SUFFIX: &str = "snapshot";
/// What a killed process left half-written goes after this long.
const LEFT_BEHIND: WallTime = WallTime::from_secs(24 * 3600);

/// Where prepared drives may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotPlace {
    /// A folder: what is not there is prepared, and kept there.
    Folder(PathBuf),
    /// A file, which must be the drive.
    File(PathBuf),
}

/// What became of the snapshot of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotReport {
    /// Its file.
    pub path: PathBuf,
    /// The hash of its shape.
    pub shape: String,
    /// The drive was read from it.
    pub loaded: bool,
    /// The drive was prepared and written to it.
    pub saved: bool,
    /// What was wrong with it, or with writing it; the run is none the worse.
    pub problem: Option<String>,
}

/// The snapshot of a run: looked for before the drive is prepared, kept afterwards.
#[derive(Debug)]
pub struct Snapshots {
    shape: Shape,
    is_file: bool,
    report: SnapshotReport,
}

impl Snapshots {
    /// The snapshot of a shape in a place; a folder that is not there is made.
    ///
    /// # Errors
    /// [`Error::Input`] when the folder cannot be.
    pub(crate) fn new(place: SnapshotPlace, shape: Shape) -> Result<Self, Error> {
        let hash = shape.hash()?;
        let is_file = matches!(place, SnapshotPlace::File(_));
        let path = match place {
            SnapshotPlace::File(path) => path,
            SnapshotPlace::Folder(folder) => {
                let wrong = |error| Error::Input(format!("snapshots: cannot use {}: {error}", folder.display()));
                std::fs::create_dir_all(&folder).map_err(wrong)?;
                folder.join(format!("{hash}.{SUFFIX}"))
            }
        };
        let report = SnapshotReport { path, shape: hash, loaded: false, saved: false, problem: None };
        Ok(Self { shape, is_file, report })
    }

    /// The prepared drive, if it is there. In a folder, one that cannot be used counts as not there.
    ///
    /// # Errors
    /// [`Error::Input`] when the file that was named cannot be used.
    pub fn find(&mut self) -> Result<Option<PreparedDrive>, Error> {
        let path = &self.report.path;
        match PreparedDrive::load(&self.shape, path) {
            Ok(drive) if !self.is_file && !drive.shelves.is_empty() => {
                let refusal = Refusal::Foreign("it lay on a shelf".to_owned());
                self.report.problem = Some(format!("{}: {refusal}", path.display()));
                Ok(None)
            }
            Ok(drive) => {
                self.report.loaded = true;
                Ok(Some(drive))
            }
            Err(refusal) if self.is_file => Err(Error::Input(format!("{}: {refusal}", path.display()))),
            Err(refusal) if is_absent(&refusal) => Ok(None),
            Err(refusal) => {
                self.report.problem = Some(format!("{}: {refusal}", path.display()));
                Ok(None)
            }
        }
    }

    /// Keeps a drive that had to be prepared. If that fails, the report says so.
    pub fn keep(&mut self, drive: &PreparedDrive) {
        let path = &self.report.path;
        if let Some(folder) = path.parent() {
            remove_left_behind(folder);
        }
        match drive.save(&self.shape, path) {
            Ok(()) => self.report.saved = true,
            Err(error) => {
                let before = self.report.problem.take().map_or_else(String::new, |problem| format!("{problem}; "));
                self.report.problem = Some(format!("{before}{error}"));
            }
        }
    }

    /// What became of it so far.
    pub fn report(&self) -> &SnapshotReport {
        &self.report
    }
}

fn is_absent(refusal: &Refusal) -> bool {
    use ninescope_kernel::SnapshotError;
    matches!(refusal, Refusal::Snapshot(SnapshotError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Removes what processes that were killed long ago left half-written.
fn remove_left_behind(folder: &Path) {
    let ending = format!(".{PART_SUFFIX}");
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_part = name.starts_with('.') && name.contains(SUFFIX) && name.ends_with(&ending);
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        if is_part && age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
