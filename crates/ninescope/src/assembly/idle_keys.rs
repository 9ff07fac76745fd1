//! Keys that have nothing to act on: what is said of a part that the drive has not is refused, so that nobody takes the numbers of
//! a run for those of what he wrote.

use ninescope_engine::{Forwarding, SuspendPolicyConfig, WriteCompletion};
use ninescope_tier::policies::Below;

use crate::config::{self, DriveConfig, FtlSection, LoadedDrive, SchedulerConfig};
use crate::error::Error;

/// Checks that what is given differs something on the drive. What a result writes out has the defaults, which say nothing.
///
/// # Errors
/// [`Error::Input`] that names the first key that has nothing to act on.
pub(super) fn check(drive: &LoadedDrive) -> Result<(), Error> {
    let config = &drive.config;
    if config.geometry.is_none() {
        check_without_flash(drive)?;
    }
    if config.tier.placement.chosen().below() == Below::Nothing && config.tier.migrations_in_flight.is_some() {
        let name = config.tier.placement.name();
        let message = format!("is given, and tier.placement = \"{name}\" has no memory above another");
        return Err(drive.error_at("tier.migrations_in_flight", &message));
    }
    let is_cache = config.tier.placement.chosen().is_cache();
    let of_cache = |dram: &config::DramConfig| {
        let given = [("dram.banks", dram.banks != config::DRAM_BANKS), ("dram.power_protected", dram.power_protected)];
        given.into_iter().find(|(_, given)| *given)
    };
    match config.dram.as_ref().filter(|_| !is_cache).and_then(of_cache) {
        Some((key, _)) => {
            let name = config.tier.placement.name();
            let message = format!("is of a cache, and tier.placement = \"{name}\" makes none of DRAM");
            Err(drive.error_at(key, &message))
        }
        None => Ok(()),
    }
}

/// What is about pages, programs, erases and the map of flash.
fn check_without_flash(drive: &LoadedDrive) -> Result<(), Error> {
    let DriveConfig { controller, scheduler, ftl, .. } = &drive.config;
    let of_none = SchedulerConfig::default();
    let given = [
        ("controller.write_completion", controller.write_completion != WriteCompletion::default()),
        ("controller.forwards", controller.forwards != Forwarding::All),
        ("controller.buffered_pages", controller.buffered_pages.is_some()),
        ("controller.shared_buffered_pages", controller.shared_buffered_pages.is_some()),
        ("controller.page_timeout", controller.page_timeout.is_some()),
        ("scheduler.suspend", scheduler.suspend != SuspendPolicyConfig::default()),
        ("scheduler.multi_plane", scheduler.multi_plane != of_none.multi_plane),
        ("scheduler.merge_window", scheduler.merge_window != of_none.merge_window),
        ("scheduler.merge_by", scheduler.merge_by != of_none.merge_by),
    ];
    let of_ftl = || ftl_key(ftl).map(|key| format!("ftl.{key}"));
    let key = given.into_iter().find(|(_, given)| *given).map(|(key, _)| key.to_owned()).or_else(of_ftl);
    match key {
        Some(key) => Err(drive.error_at(&key, "is of flash, and the drive has none")),
        None => Ok(()),
    }
}

/// The first key of the translation layer that says something else than what is taken where nothing is said.
fn ftl_key(section: &FtlSection) -> Option<String> {
    let table = |section: &FtlSection| serde_json::to_value(section).ok();
    let (given, unsaid) = (table(section)?, table(&FtlSection::default())?);
    let differs = |(key, value): (&String, &serde_json::Value)| (unsaid.get(key) != Some(value)).then(|| key.clone());
    given.as_object()?.iter().find_map(differs)
}
