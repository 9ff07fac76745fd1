//! Wordlines that are programmed in one go, and what they do not go with.

use ninescope_engine::MergeBy;
use ninescope_ftl::FtlConfig;
use ninescope_tier::policies::Below;

use super::key_of_breakdown;
use crate::config::{DriveConfig, LoadedDrive, ProgramMoves, ProgramsConfig};
use crate::error::Error;

/// The key that says so.
pub const KEY: &str = "nand.programs";

/// Pages of a block that one program is of.
pub fn pages_per_program(drive: &DriveConfig) -> u32 {
    match &drive.nand {
        Some(nand) if nand.programs == ProgramsConfig::OneShot => nand.cell.bits() as u32,
        _ => 1,
    }
}

/// # Errors
/// [`Error::Input`] that names the key that does not go with it.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let config = &drive.config;
    let above_flash = config.tier.placement.chosen().below() == Below::Flash;
    let Some(nand) = &config.nand else { return Ok(()) };
    if nand.programs == ProgramsConfig::Page {
        if nand.program_load.is_none() {
            return Ok(());
        }
        let message = "is between the pages of a wordline that are programmed in one go, and each is programmed by itself: \
                       give nand.programs = \"one-shot\"";
        return Err(drive.error_at("nand.program_load", message));
    }
    if nand.program.len() > 1 {
        let message = format!(
            "has {} values, and the pages of a wordline are programmed in one go (nand.programs = \"one-shot\"): give the \
             time of that",
            nand.program.len()
        );
        return Err(drive.error_at("nand.program", &message));
    }
    let breaks = ftl.breakdown.as_ref().map(|breakdown| key_of_breakdown(breakdown, nand).0);
    let waits = config.ftl.map.chosen().rules().is_some_and(|rules| rules.programs_wait);
    let others = [
        ("nand.page_types", nand.page_types.is_some()),
        ("nand.program_moves", nand.program_moves == ProgramMoves::Sectors),
        (breaks.unwrap_or_default(), breaks.is_some()),
        ("nand.die_failures", !nand.die_failures.is_empty()),
        ("ftl.gc_copybacks", config.ftl.gc_copybacks > 0),
        ("ftl.map", ftl.block_map.is_some()),
        ("ftl.map.programs_wait", waits),
        ("zns", ftl.zones.is_some()),
        ("scheduler.merge_by", config.scheduler.merge_by != MergeBy::Page),
        ("tier.placement", above_flash),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => {
            let message = "does not go with wordlines that are programmed in one go (nand.programs = \"one-shot\")";
            Err(drive.error_at(key, message))
        }
        None => Ok(()),
    }
}
