//! What copyback does not go with.

use ninescope_engine::MergeBy;
use ninescope_ftl::FtlConfig;

use super::key_of_breakdown;
use crate::config::LoadedDrive;
use crate::error::Error;

/// # Errors
/// [`Error::Input`] that names both keys.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let limit = drive.config.ftl.gc_copybacks;
    if limit == 0 {
        return Ok(());
    }
    let refused = |key: &str, value: String, message: &str| {
        Err(drive.error_between(&[("ftl.gc_copybacks", limit.to_string()), (key, value)], message))
    };
    if let Some(parity) = ftl.geometry.parity {
        let message = "parity is computed of what crosses the controller: a drive has one of the two";
        return refused("ftl.parity.stripe", parity.stripe.to_string(), message);
    }
    if let Some(superblock) = ftl.geometry.superblock {
        let message = "a page would have to find its die, too, where it is moved to: a drive has one of the two";
        return refused("ftl.superblock.dies", superblock.dies.to_string(), message);
    }
    if drive.config.zns.is_some() {
        return refused("zns", "given".to_owned(), "zones are not collected: nothing is copied");
    }
    let breakdown = ftl.breakdown.as_ref().filter(|breakdown| breakdown.breaks_in_use());
    if let (Some(breakdown), Some(nand)) = (breakdown, &drive.config.nand) {
        let message =
            "a copy whose program fails is in no controller, to be programmed again: a drive has one of the two";
        let (key, value) = key_of_breakdown(breakdown, nand);
        return refused(key, value, message);
    }
    if drive.config.nand.as_ref().is_some_and(|nand| !nand.die_failures.is_empty()) {
        let message = "a copy that waits for a die when that fails is in no controller: a drive has one of the two";
        return refused("nand.die_failures", "given".to_owned(), message);
    }
    if drive.config.nand.as_ref().is_some_and(|nand| nand.corruption.is_some()) {
        let message = "units that are corrupt by injection are not followed through copies: a drive has one of the two";
        return refused("nand.corruption", "given".to_owned(), message);
    }
    let merge_by = match drive.config.scheduler.merge_by {
        MergeBy::Page => None,
        MergeBy::Write => Some("write"),
        MergeBy::Touch => Some("touch"),
    };
    if let Some(merge_by) = merge_by {
        let message = "a plane would copy for the program that is found: a drive has one of the two";
        return refused("scheduler.merge_by", merge_by.to_owned(), message);
    }
    match &drive.config.firmware {
        Some(firmware) if firmware.moving > 0 => {
            let message = "decisions about moves are made of pages in the controller: a drive has one of the two";
            refused("firmware.move", firmware.moving.to_string(), message)
        }
        _ => Ok(()),
    }
}
