//! What block groups on several dies, with parity or without, do not go with.

use ninescope_ftl::FtlConfig;
use ninescope_ftl::policies::PageAllocationConfig;

use super::key_of_breakdown;
use crate::config::LoadedDrive;
use crate::error::Error;

/// # Errors
/// [`Error::Input`] that names both keys.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let spans = match (ftl.geometry.parity, ftl.geometry.superblock) {
        (Some(parity), _) => ("ftl.parity.stripe", parity.stripe),
        (None, Some(superblock)) => ("ftl.superblock.dies", superblock.dies),
        (None, None) => return Ok(()),
    };
    let refused = |key: &str, value: &str, message: &str| {
        let spans = (spans.0, spans.1.to_string());
        Err(drive.error_between(&[spans, (key, value.to_owned())], message))
    };
    let allocation = &drive.config.ftl.page_allocation;
    if !matches!(allocation, PageAllocationConfig::RoundRobin(_)) {
        let message = "where a page goes follows from the stripes of its block group: it is allocated by `round-robin`";
        return refused("ftl.page_allocation", allocation.name(), message);
    }
    if drive.config.zns.is_some() {
        return refused("zns", "given", "zones have block groups of their own: a drive has one of the two");
    }
    if !ftl.homes.is_empty() {
        let message = "a block group lies on several dies, which are no kind's own: a drive has one of the two";
        return refused("ftl.stream_channels", "given", message);
    }
    if let (Some(breakdown), Some(nand)) = (&ftl.breakdown, &drive.config.nand) {
        let (key, value) = key_of_breakdown(breakdown, nand);
        return refused(
            key,
            &value,
            "block groups on several dies whose blocks break are not modelled: a drive has one of the two",
        );
    }
    Ok(())
}
