//! What programs that wait for the map do not go with.

use ninescope_ftl::FtlConfig;

use super::key_of_breakdown;
use crate::config::LoadedDrive;
use crate::error::Error;

const KEY: &str = "ftl.map.programs_wait";

/// # Errors
/// [`Error::Input`] that names both keys.
pub fn check(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let Some(rules) = drive.config.ftl.map.chosen().rules().filter(|rules| rules.programs_wait) else { return Ok(()) };
    let refused = |key: &str, value: String, message: &str| {
        Err(drive.error_between(&[(KEY, "true".to_owned()), (key, value)], message))
    };
    if rules.writes_wait {
        let message = "either a write waits for what is missing or its program does: say ftl.map.writes_wait = false";
        return refused("ftl.map.writes_wait", "true".to_owned(), message);
    }
    let breakdown = ftl.breakdown.as_ref().filter(|breakdown| breakdown.breaks_in_use());
    if let (Some(breakdown), Some(nand)) = (breakdown, &drive.config.nand) {
        let message =
            "what a block that breaks was to take is looked for on its die, and not before: a drive has one of the two";
        let (key, value) = key_of_breakdown(breakdown, nand);
        return refused(key, value, message);
    }
    if drive.config.nand.as_ref().is_some_and(|nand| !nand.die_failures.is_empty()) {
        let message =
            "what a die that fails was to take is looked for on it, and not before: a drive has one of the two";
        return refused("nand.die_failures", "given".to_owned(), message);
    }
    Ok(())
}
