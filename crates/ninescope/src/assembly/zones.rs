//! The zones of a drive, and what does not go with them.

use ninescope_engine::{Interface, WriteCompletion};
use ninescope_ftl::{FtlConfig, ZoneConfig, ZrwaConfig};
use ninescope_model::Geometry;
use ninescope_model::units::Bytes;

use super::controller::ENTRIES_MAX;
use super::translation::{no_ftl, over_provisioning};
use crate::config::{DriveConfig, FtlSection, LoadedDrive, Merges, ProgramMoves, ReadMoves, ZnsConfig};
use crate::error::Error;

/// Zones that may be active where nothing is said: those of the drives there are.
const ACTIVE_ZONES: u32 = 14;

/// Where units of a drive with zones lie.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn ftl_config(drive: &LoadedDrive, zns: &ZnsConfig, geometry: Geometry, seed: u64) -> Result<FtlConfig, Error> {
    if drive.config.geometry.is_none() {
        return Err(drive.error_at("zns", "is there, and zones lie on flash ([geometry], [nand])"));
    }
    check_others(drive)?;
    // It changes nothing of zones, and is a share all the same.
    over_provisioning(drive)?;
    let pools = width(drive, zns, &geometry)?;
    let capacity = u64::from(pools) * u64::from(geometry.units_per_group());
    let zones = geometry.pools() / pools * geometry.blocks_per_plane;
    let size = size(drive, zns, &geometry, (capacity, zones))?;
    let limit = |key: &str, value: Option<u32>, default: u32| match value {
        Some(0) => Err(drive.error_at(key, "must not be zero")),
        Some(value) => Ok(value.min(zones)),
        None => Ok(default.min(zones)),
    };
    let active = limit("zns.active_zones", zns.active_zones, ACTIVE_ZONES)?;
    let open = limit("zns.open_zones", zns.open_zones, active)?;
    if open > active {
        let values = [("zns.open_zones", open.to_string()), ("zns.active_zones", active.to_string())];
        return Err(drive.error_between(&values, "a zone that is open is active"));
    }
    // Pages of each die may wait for the rest of a stripe in each zone that is active.
    if u64::from(active) * u64::from(geometry.frontier_planes) > ENTRIES_MAX {
        let message = format!("are {active}, which takes a write buffer of more than {ENTRIES_MAX} pages of each die");
        return Err(drive.error_at("zns.active_zones", &message));
    }
    for (key, list) in [("zns.read_only_zones", &zns.read_only_zones), ("zns.offline_zones", &zns.offline_zones)] {
        if let Some(zone) = list.iter().find(|zone| **zone >= zones) {
            return Err(drive.error_at(key, &format!("names zone {zone}, and the drive has {zones}, from 0 on")));
        }
    }
    if let Some(zone) = zns.read_only_zones.iter().find(|zone| zns.offline_zones.contains(zone)) {
        return Err(drive.error_at("zns.read_only_zones", &format!("names zone {zone}, and so does zns.offline_zones")));
    }
    Ok(FtlConfig {
        logical_units: size * zones,
        page_allocation: drive.config.ftl.page_allocation.clone(),
        zones: Some(ZoneConfig {
            pools,
            size,
            open,
            active,
            read_only: zns.read_only_zones.clone(),
            offline: zns.offline_zones.clone(),
            zrwa: zrwa(drive, zns, &geometry, (capacity, active))?,
        }),
        ..no_ftl(geometry, seed)
    })
}

/// Plane groups of a zone.
fn width(drive: &LoadedDrive, zns: &ZnsConfig, geometry: &Geometry) -> Result<u32, Error> {
    let all = geometry.pools();
    let width = zns.zone_width.unwrap_or(all);
    if width == 0 || !all.is_multiple_of(width) {
        let message =
            format!("is {width}, it must divide the {all} plane groups (dies x planes / ftl.frontier_planes)");
        return Err(drive.error_at("zns.zone_width", &message));
    }
    Ok(width)
}

/// From one zone to the next [units].
fn size(
    drive: &LoadedDrive,
    zns: &ZnsConfig,
    geometry: &Geometry,
    (capacity, zones): (u64, u32),
) -> Result<u32, Error> {
    let unit = u64::from(geometry.unit_bytes);
    let bytes = zns.zone_size.map_or(capacity * unit, |size| size.0);
    let refused = |problem: String| Err(drive.error_at("zns.zone_size", &format!("is {}, {problem}", Bytes(bytes))));
    if !bytes.is_multiple_of(unit) {
        return refused(format!("which is no multiple of ftl.mapping_unit, {}", Bytes(unit)));
    }
    if bytes / unit < capacity {
        return refused(format!("and a zone takes {}", Bytes(capacity * unit)));
    }
    if bytes / unit * u64::from(zones) >= u64::from(u32::MAX) {
        return refused(format!("and {zones} zones are more mapping units than a 32-bit address can name"));
    }
    Ok((bytes / unit) as u32)
}

/// The random write areas of zones that take so many units, of which so many may be active.
fn zrwa(
    drive: &LoadedDrive,
    zns: &ZnsConfig,
    geometry: &Geometry,
    (capacity, active): (u64, u32),
) -> Result<Option<ZrwaConfig>, Error> {
    let Some(size) = zns.zrwa_size else {
        let others =
            [("zns.zrwa_granularity", zns.zrwa_granularity.is_some()), ("zns.zrwa_zones", zns.zrwa_zones.is_some())];
        return match others.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(drive.error_at(key, "is given, and zns.zrwa_size is not")),
            None => Ok(None),
        };
    };
    let unit = u64::from(geometry.unit_bytes);
    let (granularity, capacity) = (zns.zrwa_granularity.unwrap_or(Bytes(unit)), Bytes(capacity * unit));
    let refused = |key, bytes: Bytes, problem: String| Err(drive.error_at(key, &format!("is {bytes}, {problem}")));
    if granularity.0 == 0 || !granularity.0.is_multiple_of(unit) || !capacity.0.is_multiple_of(granularity.0) {
        let problem = format!("it must be a multiple of ftl.mapping_unit, {}, that divides {capacity}", Bytes(unit));
        return refused("zns.zrwa_granularity", granularity, format!("{problem}, which a zone takes"));
    }
    if size.0 == 0 || !size.0.is_multiple_of(granularity.0) {
        return refused("zns.zrwa_size", size, format!("it must be a multiple of zns.zrwa_granularity, {granularity}"));
    }
    if size.0 > capacity.0 {
        return refused("zns.zrwa_size", size, format!("and a zone takes {capacity}"));
    }
    let zones = zns.zrwa_zones.unwrap_or(active);
    if zones == 0 {
        return Err(drive.error_at("zns.zrwa_zones", "must not be zero"));
    }
    let units = |bytes: Bytes| (bytes.0 / unit) as u32;
    Ok(Some(ZrwaConfig { size: units(size), granularity: units(granularity), zones: zones.min(active) }))
}

/// What does not go with zones, by its key.
fn check_others(drive: &LoadedDrive) -> Result<(), Error> {
    let DriveConfig { ftl, controller, nand, .. } = &drive.config;
    let plain = FtlSection::default();
    let by_sector = nand
        .as_ref()
        .is_some_and(|nand| nand.read_moves == ReadMoves::Sectors || nand.program_moves == ProgramMoves::Sectors);
    let of_nand = |is: &dyn Fn(&crate::config::NandConfig) -> bool| nand.as_ref().is_some_and(is);
    let has_code = nand.as_ref().is_some_and(|nand| nand.ecc.is_some() || nand.edc.is_some());
    let others = [
        ("dram", drive.config.dram.is_some()),
        ("scm", drive.config.scm.is_some()),
        ("namespaces", !drive.config.namespaces.is_empty()),
        ("backing_store", drive.config.backing_store.is_some()),
        ("scrub", drive.config.scrub.is_some()),
        ("refresh", drive.config.refresh.is_some()),
        (if nand.as_ref().is_some_and(|nand| nand.ecc.is_some()) { "nand.ecc" } else { "nand.edc" }, has_code),
        ("nand.read_moves", by_sector),
        ("nand.program_failures", of_nand(&|nand| nand.program_failures.is_some_and(|share| share > 0.0))),
        ("nand.erase_failures", of_nand(&|nand| nand.erase_failures.is_some_and(|share| share > 0.0))),
        ("nand.factory_bad_blocks", of_nand(&|nand| nand.factory_bad_blocks.is_some_and(|share| share > 0.0))),
        ("nand.wear_out", of_nand(&|nand| nand.wear_out.is_some())),
        ("ftl.merges", ftl.merges == Merges::Sectors),
        ("ftl.map", ftl.map != plain.map),
        ("ftl.wear_leveling", ftl.wear_leveling != plain.wear_leveling),
        ("ftl.streams", ftl.streams != plain.streams),
        ("ftl.parity", ftl.parity.is_some()),
        ("ftl.superblock", ftl.superblock.is_some()),
        ("ftl.stream_channels", !ftl.stream_channels.is_empty()),
        ("ftl.gc_trigger", ftl.gc_trigger != plain.gc_trigger),
        ("ftl.throttle", ftl.throttle != plain.throttle),
        ("controller.interface", controller.interface == Interface::Sata),
        ("controller.page_timeout", controller.page_timeout.is_some()),
        ("controller.write_completion", controller.write_completion == WriteCompletion::Program),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(drive.error_at(key, "does not go with zones ([zns])")),
        None => Ok(()),
    }
}
