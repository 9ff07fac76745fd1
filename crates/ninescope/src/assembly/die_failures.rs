//! Dies that fail, how they are rebuilt, and what they do not go with.

use ninescope_engine::reliability::NandReliability;
use ninescope_engine::reliability::die_rebuild::DieRebuildConfig;
use ninescope_ftl::FtlConfig;
use ninescope_kernel::Ns;
use ninescope_model::{DieId, Geometry};

use super::key_of_breakdown;
use crate::config::LoadedDrive;
use crate::error::Error;

/// Checks which dies fail, and derives when, and how fast they are rebuilt with so many pages under way.
///
/// # Errors
/// [`Error::Input`] that names the keys at fault.
pub fn add(
    drive: &LoadedDrive,
    (geometry, ftl): (&Geometry, &FtlConfig),
    pages_in_flight: u32,
    nand: &mut NandReliability,
) -> Result<(), Error> {
    let failures = drive.config.nand.as_ref().map_or(&[][..], |nand| &nand.die_failures);
    let key = "nand.die_failures";
    if let (Some(_), true) = (drive.config.ftl.rebuild_rate, failures.is_empty()) {
        return Err(drive.error_at("ftl.rebuild_rate", "is there, and no die fails: give nand.die_failures"));
    }
    if failures.is_empty() {
        return Ok(());
    }
    check_company(drive, ftl)?;
    for (number, failure) in failures.iter().enumerate() {
        if failure.die >= geometry.dies() {
            let message =
                format!("names die {}, of {} that the drive has, which count from 0", failure.die, geometry.dies());
            return Err(drive.error_at(key, &message));
        }
        if failures[..number].iter().any(|before| before.die == failure.die) {
            return Err(drive.error_at(key, &format!("names die {} twice: a die fails once", failure.die)));
        }
    }
    nand.die_failures = failures.iter().map(|failure| (DieId(failure.die), Ns(failure.at.0))).collect();
    nand.die_failures.sort_by_key(|&(_, at)| at);
    let page_interval = match drive.config.ftl.rebuild_rate {
        Some(rate) if rate.0 > 0 => {
            Ns((u128::from(geometry.page_bytes) * 1_000_000_000 / u128::from(rate.0)).try_into().unwrap_or(u64::MAX))
        }
        Some(_) => return Err(drive.error_at("ftl.rebuild_rate", "is 0, it must be above that")),
        None => Ns::ZERO,
    };
    nand.rebuild = DieRebuildConfig { page_interval, pages_in_flight };
    Ok(())
}

/// What dies that fail do not go with.
fn check_company(drive: &LoadedDrive, ftl: &FtlConfig) -> Result<(), Error> {
    let config = &drive.config;
    let has_code = config.nand.as_ref().is_some_and(|nand| nand.ecc.is_some());
    if !has_code {
        let message = "is there, and no code, without which no read fails: give nand.ecc";
        return Err(drive.error_at("nand.die_failures", message));
    }
    if config.ftl.rebuild_rate.is_some() && ftl.geometry.parity.is_none() {
        let message = "is there, and no parity from which anything could be written again: give ftl.parity";
        return Err(drive.error_at("ftl.rebuild_rate", message));
    }
    let refused = |(key, value): (&str, String), why: &str| {
        let values = [("nand.die_failures", "given".to_owned()), (key, value)];
        Err(drive.error_between(&values, &format!("{why}: a drive has one of the two")))
    };
    if let (Some(breakdown), Some(nand)) = (&ftl.breakdown, &config.nand) {
        return refused(key_of_breakdown(breakdown, nand), "blocks that break on a die that fails are not modelled");
    }
    // Zones have no code, and so no die that fails.
    if config.firmware.is_some() {
        let why = "what waits for a decision is not taken along when its die fails";
        return refused(("firmware", "given".to_owned()), why);
    }
    Ok(())
}
