//! What a snapshot is, and whether it is sound: for whoever has a file and no run.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ninescope_kernel::SnapshotError;
use ninescope_model::BlockGroup;
use serde_json::{Value, json};

use super::folder::SnapshotReport;
use super::prepared::{PreparedDrive, Refusal, open, read_account, read_shape};
use super::shape::Shape;
use crate::assembly::memory;
use crate::error::Error;

/// What the head of a snapshot says, as JSON. The tables behind it are not read.
///
/// # Errors
/// [`Error::Input`] that names the file and says why it is no snapshot.
pub fn describe_snapshot(path: &Path) -> Result<String, Error> {
    let description = (|| {
        let mut file = open(reader(path)?)?;
        let shape = read_shape(&mut file)?;
        let (steady, written) = read_account(&mut file)?;
        describe(path, &shape, written, &json!(steady))
    })();
    description.map(|description| description.to_string()).map_err(|refusal| named(path, &refusal))
}

/// The same of a snapshot that was read to its end, with what its drive holds.
///
/// # Errors
/// [`Error::Input`] that names the file and says what is wrong with it.
pub fn check_snapshot(path: &Path) -> Result<String, Error> {
    let description = (|| {
        let mut file = open(reader(path)?)?;
        let shape = read_shape(&mut file)?;
        memory::check_tables(&shape.ftl)
            .map_err(|error| SnapshotError::Io(std::io::Error::other(error.to_string())))?;
        let drive = PreparedDrive::read_rest(&shape, file)?;
        let mut description = describe(path, &shape, drive.written, &json!(drive.steady))?;
        let erases = (0..shape.ftl.geometry.groups()).map(|group| drive.ftl.group(BlockGroup(group)).erase_count);
        let sum: u64 = erases.clone().map(u64::from).sum();
        description["mapped_units"] = json!(drive.ftl.mapped_units());
        description["wear"] = json!({
            "erases_min": erases.clone().min(),
            "erases_mean": sum as f64 / f64::from(shape.ftl.geometry.groups().max(1)),
            "erases_max": erases.max(),
        });
        Ok(description)
    })();
    description.map(|description: Value| description.to_string()).map_err(|refusal| named(path, &refusal))
}

/// What became of the snapshot of a run, as JSON.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn snapshot_report_json(report: Option<&SnapshotReport>) -> Result<Option<String>, Error> {
    report.map(serde_json::to_string).transpose().map_err(|error| Error::Internal(error.to_string()))
}

fn reader(path: &Path) -> Result<BufReader<File>, Refusal> {
    Ok(BufReader::new(File::open(path)?))
}

pub(super) fn named(path: &Path, refusal: &Refusal) -> Error {
    Error::Input(format!("{}: {refusal}", path.display()))
}

fn describe(path: &Path, shape: &Shape, written: u64, steady: &Value) -> Result<Value, Refusal> {
    let hash = shape.hash().map_err(|error| SnapshotError::Impossible(error.to_string()))?;
    let unit_bytes = u64::from(shape.ftl.geometry.unit_bytes);
    Ok(json!({
        "shape": hash,
        "file_bytes": std::fs::metadata(path)?.len(),
        "logical_bytes": u64::from(shape.ftl.logical_units) * unit_bytes,
        "raw_bytes": shape.ftl.geometry.raw_bytes(),
        "prepared_units": written,
        "steady_state": steady,
        "drive": serde_json::to_value(shape).map_err(|error| SnapshotError::Impossible(error.to_string()))?,
    }))
}
