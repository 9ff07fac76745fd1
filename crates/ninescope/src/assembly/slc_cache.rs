//! Blocks of one bit in a cell: what is wrong with the table `[ftl.slc_cache]`, the parts made of it, and what it does not go with.

use ninescope_ftl::{FtlConfig, SlcCacheConfig};
use ninescope_kernel::Ns;
use ninescope_media::nand::SlcTimes;
use ninescope_model::Geometry;
use ninescope_tier::PlacementConfig;

use super::key_of_breakdown;
use crate::config::{Cell, DriveConfig, FtlSection, LoadedDrive, SlcCacheSection};
use crate::error::Error;
use ninescope_engine::MergeBy;

/// What pages of such blocks take; `None` where there are none.
///
/// # Errors
/// [`Error::Input`] that names the time that is missing, or told for nothing.
pub fn times(drive: &LoadedDrive) -> Result<Option<SlcTimes>, Error> {
    let Some(nand) = &drive.config.nand else { return Ok(None) };
    let told = [("nand.slc_read", nand.slc_read), ("nand.slc_program", nand.slc_program)];
    if drive.config.ftl.slc_cache.is_none() {
        return match told.into_iter().find(|(_, time)| time.is_some()) {
            Some((key, _)) => {
                Err(drive.error_at(key, "is given, and no blocks hold one bit in a cell ([ftl.slc_cache])"))
            }
            None => Ok(None),
        };
    }
    let [read, program] = told.map(|(key, time)| {
        let message = format!("has blocks of one bit in a cell, of which {key} is missing");
        time.ok_or_else(|| drive.error_at("ftl.slc_cache", &message))
    });
    Ok(Some(SlcTimes { read: Ns(read?.0), program: Ns(program?.0) }))
}

/// How many blocks, of how many pages; `None` where there are none.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn rules(drive: &LoadedDrive, geometry: &Geometry) -> Result<Option<SlcCacheConfig>, Error> {
    let (Some(cache), Some(nand)) = (&drive.config.ftl.slc_cache, &drive.config.nand) else { return Ok(None) };
    if nand.cell == Cell::Slc {
        return Err(drive
            .error_at("nand.cell", "holds one bit in each cell anyway: no blocks are to hold fewer (ftl.slc_cache)"));
    }
    if cache.fixed_blocks == 0 && cache.borrowed_blocks == 0 {
        return Err(drive.error_at("ftl.slc_cache", "has no blocks: give fixed_blocks or borrowed_blocks"));
    }
    for (key, blocks) in [("fixed_blocks", cache.fixed_blocks), ("borrowed_blocks", cache.borrowed_blocks)] {
        if blocks > geometry.blocks_per_plane {
            let message = format!("is {blocks}, and a plane has {} blocks", geometry.blocks_per_plane);
            return Err(drive.error_at(&format!("ftl.slc_cache.{key}"), &message));
        }
    }
    let pages = geometry.pages_per_block / nand.cell.bits() as u32;
    if pages == 0 {
        let message = format!("of {} leaves no page of one bit in a cell", geometry.pages_per_block);
        return Err(drive.error_at("geometry.pages_per_block", &message));
    }
    Ok(Some(SlcCacheConfig {
        pages,
        fixed: cache.fixed_blocks,
        borrowed: cache.borrowed_blocks,
        when_full: cache.when_full,
    }))
}

/// # Errors
/// [`Error::Input`] that names what does not go with such blocks.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let DriveConfig { ftl: section, nand, tier, scheduler, .. } = &drive.config;
    let Some(cache) = &section.slc_cache else { return Ok(()) };
    let plain = FtlSection::default();
    let breakdown = ftl.breakdown.as_ref().filter(|breakdown| breakdown.breaks_in_use());
    let broken = breakdown.zip(nand.as_ref()).map(|(breakdown, nand)| key_of_breakdown(breakdown, nand).0);
    let fails = nand.as_ref().is_some_and(|nand| !nand.die_failures.is_empty());
    let others = [
        ("zns", drive.config.zns.is_some()),
        ("ftl.map", ftl.block_map.is_some() || ftl.translation_units > 0),
        ("ftl.streams", section.streams != plain.streams),
        ("ftl.parity", section.parity.is_some()),
        ("ftl.superblock", section.superblock.is_some()),
        ("ftl.wear_leveling", section.wear_leveling != plain.wear_leveling),
        ("ftl.gc_copybacks", section.gc_copybacks > 0),
        ("firmware", drive.config.firmware.is_some()),
        ("tier.placement", tier.placement != PlacementConfig::default()),
        ("scheduler.merge_by", scheduler.merge_by != MergeBy::Page),
        ("nand.die_failures", fails),
        (broken.unwrap_or_default(), broken.is_some()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(drive.error_at(key, "does not go with blocks of one bit in a cell (ftl.slc_cache)")),
        None => check_trigger(drive, ftl, cache),
    }
}

/// What garbage collection is begun by leaves the cache its part.
fn check_trigger(drive: &LoadedDrive, ftl: &FtlConfig, cache: &SlcCacheSection) -> Result<(), Error> {
    let trigger = drive.config.ftl.gc_trigger.chosen();
    let refused = |message: &str| Err(drive.error_at("ftl.gc_trigger", message));
    if trigger.holds_host_at(ftl.reserve_groups).is_some() {
        return refused(
            "has host writes wait for garbage collection, and does not go with blocks of one bit in a cell (ftl.slc_cache)",
        );
    }
    if cache.fold_after.is_some() && trigger.timing().is_some() {
        return refused("goes by the rest of dies itself, and does not go with ftl.slc_cache.fold_after");
    }
    Ok(())
}
