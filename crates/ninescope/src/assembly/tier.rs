//! From the description of a tier to its parts.

use ninescope_engine::policies::back_pressure::BackPressureConfig;
use ninescope_engine::{Lower, TierConfig};
use ninescope_model::Geometry;
use ninescope_model::units::Bytes;
use ninescope_tier::policies::Below;

use crate::config::{Acknowledge, CacheParts, LoadedDrive};
use crate::error::Error;

use super::controller::ENTRIES_MAX;
use super::scm::{ScmAssembly, check_shape, check_shape_without_capacity};

/// Migrations per die, or per bank of the lower memory, that are under way at a time.
const MIGRATIONS_PER_UNIT: u32 = 4;

/// The drive with the capacity of its upper memory worked out, where that is given as a ratio.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn sized(drive: &LoadedDrive, geometry: &Geometry) -> Result<LoadedDrive, Error> {
    let mut sized = drive.clone();
    let Some(ratio) = drive.config.tier.scm_ratio else { return Ok(sized) };
    if drive.config.dram.is_some() {
        return Err(drive.error_at("tier.scm_ratio", "is given, and what is above is [dram], which has a capacity"));
    }
    let below = match drive.config.tier.placement.chosen().below() {
        Below::Nothing => {
            let name = drive.config.tier.placement.name();
            let message = format!("is given, and tier.placement = \"{name}\" has nothing below [scm]");
            return Err(drive.error_at("tier.scm_ratio", &message));
        }
        Below::Flash => geometry.raw_bytes(),
        Below::Scm => {
            let Some(storage) = &drive.config.storage_scm else { return Ok(sized) };
            check_shape(drive, "storage_scm", storage)?;
            storage.capacity.0
        }
    };
    let Some(scm) = &mut sized.config.scm else { return Ok(sized) };
    check_shape_without_capacity(drive, "scm", scm)?;
    let banks = u64::from(scm.channels) * u64::from(scm.banks_per_channel);
    let step = (scm.slot_size.0 * banks).max(1);
    if !(ratio > 0.0 && ratio <= 1.0) {
        let message = format!("is {ratio}, it must be a share greater than 0 of what is below, at most 1");
        return Err(drive.error_at("tier.scm_ratio", &message));
    }
    let capacity = (ratio * below as f64) as u64 / step * step;
    if capacity == 0 {
        let message = format!("is {ratio}, which is less than one slot of {} for each of {banks} banks", scm.slot_size);
        return Err(drive.error_at("tier.scm_ratio", &message));
    }
    scm.capacity = Bytes(capacity);
    Ok(sized)
}

/// Checks the section `[tier]` and the two media against each other. `None` for a drive of one medium.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn config(drive: &LoadedDrive, geometry: &Geometry, scm: &ScmAssembly) -> Result<Option<TierConfig>, Error> {
    let section = &drive.config.tier;
    if let Some((key, message)) = section.placement.problem() {
        return Err(drive.error_at(&format!("tier.placement.{key}"), &message));
    }
    if section.placement.chosen().below() == Below::Nothing {
        let name = section.placement.name();
        let is_given = |key: &str| {
            let message = format!("is given, and tier.placement = \"{name}\" has no memory above another");
            Err(drive.error_at(key, &message))
        };
        if section.parts != CacheParts::default() {
            return is_given("tier.parts");
        }
        if section.back_pressure != BackPressureConfig::default() {
            return is_given("tier.back_pressure");
        }
        if section.acknowledge != Acknowledge::default() {
            return is_given("tier.acknowledge");
        }
    }
    let volatile = drive.config.dram.as_ref().is_some_and(|dram| !dram.power_protected);
    if section.acknowledge == Acknowledge::Program && !volatile {
        let message =
            "is `program`, and what is above keeps what it holds without power: a write is on the media with its slot";
        return Err(drive.error_at("tier.acknowledge", message));
    }
    if let Some((key, message)) = section.back_pressure.chosen().problem() {
        return Err(drive.error_at(&format!("tier.back_pressure.{key}"), &message));
    }
    if section.migrations_in_flight == Some(0) {
        return Err(drive.error_at("tier.migrations_in_flight", "must not be zero"));
    }
    if let Some(pages) = section.migrations_in_flight.filter(|&pages| u64::from(pages) > ENTRIES_MAX) {
        let message = format!("is {pages}, at most {ENTRIES_MAX} are supported");
        return Err(drive.error_at("tier.migrations_in_flight", &message));
    }
    let Some(upper) = scm.upper().copied() else { return Ok(None) };
    let slot_bytes = u64::from(upper.sectors_per_slot) * ninescope_model::SECTOR_BYTES;
    let (lower, raw, units, planes) = match section.placement.chosen().below() {
        Below::Nothing => return Ok(None),
        Below::Flash => {
            if u64::from(geometry.unit_bytes) != slot_bytes || geometry.units_per_page() != 1 {
                let (unit, page) = (Bytes(u64::from(geometry.unit_bytes)), Bytes(u64::from(geometry.page_bytes)));
                // A cache in DRAM has slots of whole pages, whatever is said.
                let others = match drive.config.scm {
                    Some(_) => format!("the page {page} and the slot {}", Bytes(slot_bytes)),
                    None => format!("the page {page}"),
                };
                let keys =
                    if drive.config.scm.is_some() { "geometry.page_size, scm.slot_size" } else { "geometry.page_size" };
                let message = format!(
                    "is {unit}, {others}: a page moves between the media as a whole, so all must be equal ({keys})"
                );
                return Err(drive.error_at("ftl.mapping_unit", &message));
            }
            (Lower::Flash, geometry.raw_bytes(), geometry.dies(), geometry.dies() * geometry.planes_per_die)
        }
        Below::Scm => {
            let storage = scm.lowest().copied().unwrap_or(upper);
            if storage.sectors_per_slot != upper.sectors_per_slot {
                let bytes = u64::from(storage.sectors_per_slot) * ninescope_model::SECTOR_BYTES;
                let message = format!("is {}, that of [scm] {}: they must be equal", Bytes(bytes), Bytes(slot_bytes));
                return Err(drive.error_at("storage_scm.slot_size", &message));
            }
            let bytes = storage.logical_sectors() * ninescope_model::SECTOR_BYTES;
            (Lower::Scm, bytes, storage.banks(), storage.banks())
        }
    };
    let capacity = upper.logical_sectors() * ninescope_model::SECTOR_BYTES;
    if capacity > raw {
        let message = format!("is {}, more than the {} below it", Bytes(capacity), Bytes(raw));
        let key = match &drive.config.dram {
            Some(dram) if dram.cache.is_some() => "dram.cache",
            Some(_) => "dram.capacity",
            None => "scm.capacity",
        };
        return Err(drive.error_at(key, &message));
    }
    let tier = ninescope_tier::Tier::new(&section.placement, upper.slots, 1, upper.sectors_per_slot);
    if let Some(reserve) = tier.map(|tier| tier.reserve(0)).filter(|&reserve| reserve >= upper.slots) {
        let message = format!("keeps {reserve} of {} slots free, so that no page stays there", upper.slots);
        return Err(drive.error_at("tier.placement.evict_free", &message));
    }
    let migrations_in_flight = section.migrations_in_flight.unwrap_or(MIGRATIONS_PER_UNIT * units);
    Ok(Some(TierConfig {
        placement: section.placement.clone(),
        lower,
        migrations_in_flight,
        back_pressure: section.back_pressure.clone(),
        // With more a bound on what is on its way would never be reached.
        planes_below: planes.min(migrations_in_flight),
        parts: Vec::new(),
        part_of_tenant: Vec::new(),
        volatile,
        acknowledges_at_program: section.acknowledge == Acknowledge::Program,
    }))
}
