//! What parity over dies does not go with.

use ninescope_ftl::FtlConfig;
use ninescope_ftl::policies::PageAllocationConfig;

use super::key_of_breakdown;
use crate::config::LoadedDrive;
use crate::error::Error;

/// # Errors
/// [`Error::Input`] that names both keys.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let Some(parity) = ftl.geometry.parity else { return Ok(()) };
    let refused = |key: &str, value: &str, message: &str| {
        let stripe = ("ftl.parity.stripe", parity.stripe.to_string());
        Err(drive.error_between(&[stripe, (key, value.to_owned())], message))
    };
    let allocation = &drive.config.ftl.page_allocation;
    if !matches!(allocation, PageAllocationConfig::RoundRobin(_)) {
        let message = "where a page goes follows from its stripe: with parity it is allocated by `round-robin`";
        return refused("ftl.page_allocation", allocation.name(), message);
    }
    if drive.config.zns.is_some() {
        return refused("zns", "given", "zones have no parity: a drive has one of the two");
    }
    if !ftl.homes.is_empty() {
        let message = "a stripe lies on several dies, which are no kind's own: a drive has one of the two";
        return refused("ftl.stream_channels", "given", message);
    }
    if let (Some(breakdown), Some(nand)) = (&ftl.breakdown, &drive.config.nand) {
        let (key, value) = key_of_breakdown(breakdown, nand);
        return refused(key, &value, "stripes whose blocks break are not modelled: a drive has one of the two");
    }
    Ok(())
}
