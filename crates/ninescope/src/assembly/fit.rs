//! Making the default drive as large as a workload needs it.

use crate::config::LoadedDrive;
use crate::error::Error;

use super::{controller, flash, memory, translation};

/// The default drive is at least this large [B], and its planes at least this many blocks.
const FITTED_BYTES_MIN: u64 = 8 << 30;
const FITTED_BLOCKS_MIN: u32 = 256;

/// Why a drive cannot be made as large as a workload needs it.
#[derive(Debug)]
pub enum Unfit {
    /// Its description is wrong, whatever its size.
    Description(Error),
    /// No drive of its shape is that large: a sentence without a place.
    TooFar(String),
    /// This machine has no memory for it: a sentence without a place. What a run does never depends on that, so
    /// that nothing is tried in its stead.
    NoMemory(String),
}

impl Unfit {
    /// As an error: that of the description, or the sentence where `placed` puts it.
    pub fn into_error(self, placed: impl FnOnce(String) -> Error) -> Error {
        match self {
            Self::Description(error) => error,
            Self::TooFar(message) | Self::NoMemory(message) => placed(message),
        }
    }
}

/// Gives the default drive as many blocks per plane as `highest_byte` needs, rounded up to a GiB.
///
/// # Errors
/// [`Unfit`], where the description itself is looked at first: what is wrong with it is no fault of the workload.
pub fn fit_drive(drive: &mut LoadedDrive, highest_byte: u64) -> Result<(), Unfit> {
    if drive.config.geometry.is_none() {
        return Ok(());
    }
    let of_one_block = flash::geometry(drive).map_err(Unfit::Description)?;
    let over_provisioning = translation::over_provisioning(drive).map_err(Unfit::Description)?;
    let wanted = highest_byte.div_ceil(1 << 30).max(1) << 30;
    let wanted = wanted.max(FITTED_BYTES_MIN) as f64 * (1.0 + over_provisioning);
    let bytes_per_block_index = of_one_block.raw_bytes() as f64 / f64::from(of_one_block.blocks_per_plane);
    let blocks = (wanted / bytes_per_block_index).ceil();
    let units = blocks * bytes_per_block_index / f64::from(of_one_block.unit_bytes);
    if units >= f64::from(u32::MAX) {
        return Err(Unfit::TooFar(format!(
            "address {highest_byte} B is beyond the largest drive with a mapping unit of {} and ftl.over_provisioning of \
             {over_provisioning} (2^32 units)",
            drive.config.ftl.mapping_unit
        )));
    }
    if let Some(geometry) = &mut drive.config.geometry {
        geometry.blocks_per_plane = (blocks as u32).max(FITTED_BLOCKS_MIN);
    }
    match memory::shortage(flash_table_bytes(drive).map_err(Unfit::Description)?) {
        Some(shortage) => Err(Unfit::NoMemory(format!(
            "a drive that reaches address {highest_byte} B has tables that need {shortage}"
        ))),
        None => Ok(()),
    }
}

/// Bytes of the tables of a drive's flash [B].
fn flash_table_bytes(drive: &LoadedDrive) -> Result<u64, Error> {
    let geometry = flash::geometry(drive)?;
    let ftl = translation::ftl_config(drive, geometry, 0)?;
    Ok(memory::drive_bytes(
        &geometry,
        ftl.logical_units,
        &controller::engine_config(drive, &geometry, ftl.zones.as_ref(), false)?,
    ))
}
