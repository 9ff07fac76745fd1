//! Snapshots that lay on a shelf: the same prepared drive, whose data is older.
//!
//! Nothing happens to a drive without power but that its charge leaks, so that a file of one that lay there is the file of before with
//! a line more in its head. Which errors that makes is the business of the run that begins with it.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ninescope_kernel::SnapshotError;
use ninescope_media::health::CELSIUS;
use ninescope_model::units::Duration;

use super::describe::named;
use super::prepared::{PreparedDrive, Refusal, open, read_shape};
use crate::assembly::{Shelf, memory};
use crate::error::Error;

/// The longest time that a drive lies there, all times together: a hundred years, beyond which sums of times could overflow [ns].
const LONGEST: u64 = 100 * 365 * 86_400_000_000_000;

/// Writes a snapshot whose data is older than that of another one, which may be the same file.
///
/// # Errors
/// [`Error::Input`] that names the option or the file.
pub fn shelve_snapshot(from: &Path, to: &Path, time: &str, celsius: Option<f64>) -> Result<(), Error> {
    let time: Duration = time.parse().map_err(|error| Error::Input(format!("--for {time}: {error}")))?;
    if time.0 == 0 {
        return Err(Error::Input("--for 0s: no time passes on that shelf".to_owned()));
    }
    if let Some(celsius) = celsius.filter(|celsius| !(CELSIUS.0..=CELSIUS.1).contains(celsius)) {
        let message = format!("--at {celsius}: a shelf has {} to {} degrees Celsius", CELSIUS.0, CELSIUS.1);
        return Err(Error::Input(message));
    }
    let loaded = (|| -> Result<_, Refusal> {
        let mut file = open(BufReader::new(File::open(from)?))?;
        let shape = read_shape(&mut file)?;
        memory::check_tables(&shape.ftl)
            .map_err(|error| SnapshotError::Io(std::io::Error::other(error.to_string())))?;
        let drive = PreparedDrive::read_rest(&shape, file)?;
        Ok((shape, drive))
    })();
    let (mut shape, drive) = loaded.map_err(|refusal| named(from, &refusal))?;
    let before: u64 = shape.shelves.iter().map(|shelf| shelf.time.0).sum();
    if before.saturating_add(time.0) > LONGEST {
        return Err(Error::Input(format!("--for {time}: a drive lies on shelves for 100 years at most")));
    }
    shape.shelves.push(Shelf { time, celsius });
    drive.save(&shape, to)
}
