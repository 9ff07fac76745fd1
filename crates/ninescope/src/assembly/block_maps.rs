//! A map of blocks, and what does not go with it: such drives are plain ones, of one kind of data and of one page to a mapping unit.

use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use ninescope_ftl::{BreakdownConfig, FtlConfig, FtlError};
use ninescope_model::Geometry;
use ninescope_tier::PlacementConfig;

use super::key_of_breakdown;
use crate::config::{DriveConfig, FtlSection, LoadedDrive, Merges, ProgramMoves, ReadMoves};
use crate::error::Error;

/// The translation layer of a drive whose map is of blocks, of so many units that the host sees.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn ftl_config(
    drive: &LoadedDrive,
    map: BlockMapConfig,
    (geometry, logical_units, seed): (Geometry, u32, u64),
    breakdown: Option<&BreakdownConfig>,
) -> Result<FtlConfig, Error> {
    check_logs(drive, map, &geometry)?;
    check_pages(drive, &geometry)?;
    check_others(drive, breakdown)?;
    let config = FtlConfig {
        logical_units,
        free_block_choice: drive.config.ftl.free_block_choice.clone(),
        block_map: Some(map),
        seed,
        ..FtlConfig::bare(geometry)
    };
    match config.check() {
        Err(FtlError::TooLittleSpare { needed, spare, .. }) => Err(too_little_spare(drive, &geometry, needed, spare)),
        Err(error) => Err(Error::Internal(error.to_string())),
        Ok(()) => Ok(config),
    }
}

fn name(drive: &LoadedDrive) -> (&'static str, String) {
    ("ftl.map", drive.config.ftl.map.name().to_owned())
}

fn too_little_spare(drive: &LoadedDrive, geometry: &Geometry, needed: u32, spare: u32) -> Error {
    let values = [
        name(drive),
        ("ftl.over_provisioning", drive.config.ftl.over_provisioning.to_string()),
        ("geometry.blocks_per_plane", geometry.blocks_per_plane.to_string()),
    ];
    let message = format!(
        "a plane has {} logical blocks, and {spare} more are needed, for logs and to merge into: raise over_provisioning or \
         blocks_per_plane, or give fewer log blocks",
        needed - spare
    );
    drive.error_between(&values, &message)
}

fn check_logs(drive: &LoadedDrive, map: BlockMapConfig, geometry: &Geometry) -> Result<(), Error> {
    let least = match map.scheme {
        BlockScheme::Block => 0,
        BlockScheme::Bast => 1,
        BlockScheme::Fast => 2,
    };
    let refused =
        |message: &str| Err(drive.error_at("ftl.map.log_blocks", &format!("is {}, {message}", map.log_blocks)));
    if map.log_blocks < least {
        return refused(match map.scheme {
            BlockScheme::Fast => "at least 2 are needed: one is for sequential writes",
            _ => "at least 1 is needed",
        });
    }
    if map.log_blocks >= geometry.blocks_per_plane {
        return refused(&format!("and a plane has {} blocks", geometry.blocks_per_plane));
    }
    Ok(())
}

/// A mapping unit is a page, and a block group a block.
fn check_pages(drive: &LoadedDrive, geometry: &Geometry) -> Result<(), Error> {
    if geometry.units_per_page() > 1 {
        let page = drive.config.geometry.as_ref().map_or_else(String::new, |shape| shape.page_size.to_string());
        let values = [name(drive), ("ftl.mapping_unit", drive.config.ftl.mapping_unit.to_string())];
        let message =
            format!("pages have their places in a block, and no parts of them: give ftl.mapping_unit = \"{page}\"");
        return Err(drive.error_between(&values, &message));
    }
    if geometry.frontier_planes > 1 {
        let values = [name(drive), ("ftl.frontier_planes", geometry.frontier_planes.to_string())];
        let message = "a logical block lies in one block of one plane: give ftl.frontier_planes = 1";
        return Err(drive.error_between(&values, message));
    }
    Ok(())
}

/// What does not go with such a map, by its key.
fn check_others(drive: &LoadedDrive, breakdown: Option<&BreakdownConfig>) -> Result<(), Error> {
    let DriveConfig { ftl, nand, tier, .. } = &drive.config;
    let plain = FtlSection::default();
    let of_nand = |is: &dyn Fn(&crate::config::NandConfig) -> bool| nand.as_ref().is_some_and(is);
    let broken = breakdown.zip(nand.as_ref()).map(|(breakdown, nand)| key_of_breakdown(breakdown, nand).0);
    let others = [
        ("dram", drive.config.dram.is_some()),
        ("scm", drive.config.scm.is_some()),
        ("tier.placement", tier.placement != PlacementConfig::default()),
        ("firmware", drive.config.firmware.is_some()),
        ("backing_store", drive.config.backing_store.is_some()),
        ("scrub", drive.config.scrub.is_some()),
        ("refresh", drive.config.refresh.is_some()),
        ("nand.ecc", of_nand(&|nand| nand.ecc.is_some())),
        ("nand.edc", of_nand(&|nand| nand.edc.is_some())),
        ("nand.corruption", of_nand(&|nand| nand.corruption.is_some())),
        ("nand.die_failures", of_nand(&|nand| !nand.die_failures.is_empty())),
        ("nand.read_moves", of_nand(&|nand| nand.read_moves == ReadMoves::Sectors)),
        ("nand.program_moves", of_nand(&|nand| nand.program_moves == ProgramMoves::Sectors)),
        (broken.unwrap_or_default(), broken.is_some()),
        ("ftl.merges", ftl.merges == Merges::Sectors),
        ("ftl.streams", ftl.streams != plain.streams),
        ("ftl.stream_channels", !ftl.stream_channels.is_empty()),
        ("ftl.parity", ftl.parity.is_some()),
        ("ftl.superblock", ftl.superblock.is_some()),
        ("ftl.page_allocation", ftl.page_allocation != plain.page_allocation),
        ("ftl.wear_leveling", ftl.wear_leveling != plain.wear_leveling),
        ("ftl.gc_trigger", ftl.gc_trigger != plain.gc_trigger),
        ("ftl.victim", ftl.victim != plain.victim),
        ("ftl.throttle", ftl.throttle != plain.throttle),
        ("ftl.gc_reserve_blocks", ftl.gc_reserve_blocks != plain.gc_reserve_blocks),
        ("ftl.gc_copybacks", ftl.gc_copybacks != plain.gc_copybacks),
        ("ftl.trim", ftl.trim.chosen().deferral().is_some()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => {
            let message = format!("does not go with a map of blocks (ftl.map = \"{}\")", ftl.map.name());
            Err(drive.error_at(key, &message))
        }
        None => Ok(()),
    }
}
