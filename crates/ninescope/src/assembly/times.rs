//! By how much reads, programs and erases take longer or shorter by layer and by wear.

use ninescope_media::nand::{FACTOR_ONE, TimeFactors, WearFactors};

use crate::config::{LoadedDrive, NandConfig, TimesSection, WearTimes};
use crate::error::Error;

/// The factors of a drive's flash, with blocks of so many pages.
///
/// # Errors
/// [`Error::Input`] that names the key. Rows that do not ascend and factors beyond what is sane are the media's to refuse.
pub fn factors(drive: &LoadedDrive, nand: &NandConfig, pages: u32) -> Result<TimeFactors, Error> {
    let Some(TimesSection { read_layers, program_layers, wear }) = &nand.times else {
        return Ok(TimeFactors::default());
    };
    if read_layers.is_empty() && program_layers.is_empty() && wear.is_empty() {
        let message = "says nothing: give read_layers, program_layers or wear";
        return Err(drive.error_at("nand.times", message));
    }
    for (key, layers) in [("read_layers", read_layers), ("program_layers", program_layers)] {
        if layers.len() > pages as usize {
            let message = format!("has {} values, and a block has {pages} pages", layers.len());
            return Err(drive.error_at(&format!("nand.times.{key}"), &message));
        }
    }
    let of_layers = |key: &str, layers: &[f64]| -> Result<Vec<u32>, Error> {
        layers.iter().map(|&factor| millionths(drive, key, "", factor)).collect()
    };
    let of_row = |&WearTimes { cycles, program, erase }: &WearTimes| -> Result<WearFactors, Error> {
        let [program, erase] =
            [("program ", program), ("erase ", erase)].map(|(of, factor)| millionths(drive, "wear", of, factor));
        Ok(WearFactors { cycles, program: program?, erase: erase? })
    };
    Ok(TimeFactors {
        read_layers: of_layers("read_layers", read_layers)?,
        program_layers: of_layers("program_layers", program_layers)?,
        wear: wear.iter().map(of_row).collect::<Result<_, Error>>()?,
        slc_pages: pages / nand.cell.bits() as u32,
    })
}

/// A factor in millionths, to the nearest; what it is of in its row, with a blank behind, or nothing.
fn millionths(drive: &LoadedDrive, key: &str, of: &str, factor: f64) -> Result<u32, Error> {
    if !(0.01..=100.0).contains(&factor) {
        let message = format!("has the {of}factor {factor}, it must lie between 0.01 and 100");
        return Err(drive.error_at(&format!("nand.times.{key}"), &message));
    }
    Ok((factor * f64::from(FACTOR_ONE) + 0.5) as u32)
}
