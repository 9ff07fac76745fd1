//! What reads of pages that are not programmed do not go with.

use ninescope_engine::{Forwarding, SuspendPolicyConfig};
use ninescope_ftl::FtlConfig;

use crate::config::{DriveConfig, LoadedDrive, Merges};
use crate::error::Error;

/// # Errors
/// [`Error::Input`] that names both keys.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig, has_tier: bool) -> Result<(), Error> {
    let DriveConfig { nand, scheduler, zns, tier, ftl: section, controller, .. } = &drive.config;
    let forwards = match controller.forwards {
        Forwarding::All => return Ok(()),
        Forwarding::Written => "written",
        Forwarding::Nothing => "nothing",
    };
    // Of flash: a drive without any was refused the key.
    let Some(nand) = nand else { return Ok(()) };
    let refused = |key: &str, message: &str| {
        let keys = [("controller.forwards", forwards.to_owned()), (key, "given".to_owned())];
        Err(drive.error_between(&keys, message))
    };
    if controller.forwards == Forwarding::Written && section.merges != Merges::Sectors {
        let message = "is kept by sector: give ftl.merges = \"sectors\"";
        return Err(drive.error_at("controller.forwards", message));
    }
    let codes = [
        ("nand.ecc", nand.ecc.is_some()),
        ("nand.edc", nand.edc.is_some()),
        ("nand.errors", nand.errors.is_some()),
        ("nand.corruption", nand.corruption.is_some()),
        ("ftl.parity", ftl.geometry.parity.is_some()),
    ];
    if let Some((key, _)) = codes.into_iter().find(|(_, given)| *given) {
        return refused(
            key,
            "a page that is not programmed yet has no codeword and no parity: a drive has one of the two",
        );
    }
    let failures = [
        ("nand.program_failures", nand.program_failures.is_some()),
        ("nand.erase_failures", nand.erase_failures.is_some()),
        ("nand.wear_out", nand.wear_out.is_some()),
    ];
    if let Some((key, _)) = failures.into_iter().find(|(_, given)| *given) {
        return refused(key, "a page that is not programmed yet may get another place: a drive has one of the two");
    }
    if scheduler.suspend != SuspendPolicyConfig::default() {
        return refused(
            "scheduler.suspend",
            "a page cannot be sensed while its own program is suspended: a drive has one of the two",
        );
    }
    if zns.is_some() {
        return refused("zns", "a zone is read up to its write pointer: a drive has one of the two");
    }
    if has_tier && tier.placement.name() != "rewritten" {
        return refused(
            "tier.placement",
            "what is brought up or taken down is the controller's: the one placement it goes with is \"rewritten\"",
        );
    }
    Ok(())
}
