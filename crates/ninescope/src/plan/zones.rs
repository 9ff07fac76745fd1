//! What a drive with zones does not go with, and which of its zones are full when a run begins.

use std::ops::Range;

use ninescope_generators::{JobError, ZoneLog, ZoneLogConfig, ZoneSpace, ZrwaSpace};
use ninescope_model::{SECTOR_BYTES, Workload};

use crate::assembly::Assembly;
use crate::error::Error;
use crate::precondition::{PrefillMode, PrefillOrder};
use crate::request::RunRequest;

/// The units that are written before a run: whole zones, which are full then.
///
/// # Errors
/// [`Error::Input`] where zones cannot be filled so.
pub fn filled(
    request: &RunRequest,
    footprint: impl FnOnce() -> Vec<Range<u32>>,
    assembly: &Assembly,
) -> Result<Vec<Range<u32>>, Error> {
    let Some(zones) = &assembly.ftl.zones else { return Ok(Vec::new()) };
    if request.prefill_order == PrefillOrder::Random {
        return Err(Error::Input("prefill_order: zones ([zns]) are filled in order".to_owned()));
    }
    let touched = match request.prefill {
        PrefillMode::None => Vec::new(),
        PrefillMode::Footprint => footprint(),
        PrefillMode::Full => std::iter::once(0..assembly.ftl.logical_units).collect(),
        _ => {
            let message = "prefill: nothing of a drive with zones ([zns]) wears in: take `full`, `footprint` or `none`";
            return Err(Error::Input(message.to_owned()));
        }
    };
    let capacity = zones.pools * assembly.geometry.units_per_group();
    let of_zone = |zone: u32| zone * zones.size..zone * zones.size + capacity;
    let is_touched = |zone: &u32| {
        let Range { start, end } = of_zone(*zone);
        !zones.offline.contains(zone) && touched.iter().any(|range| range.start < end && start < range.end)
    };
    Ok((0..assembly.ftl.logical_units / zones.size).filter(is_touched).map(of_zone).collect())
}

/// That a drive is not filled otherwise than the log on its zones believes.
///
/// # Errors
/// [`Error::Input`] that names the key.
pub(super) fn check_prefill(request: &RunRequest, full: bool, assembly: &Assembly) -> Result<(), Error> {
    let problem = match request.prefill {
        // What is old in free segments of a drive without zones is written over.
        PrefillMode::Full if assembly.ftl.zones.is_none() => return Ok(()),
        PrefillMode::None if full => {
            "leaves the zones empty that the log has filled: zone_log.full = false goes with it"
        }
        PrefillMode::Full => "fills zones that the log takes for empty: it says itself what it holds (zone_log.full)",
        _ => return Ok(()),
    };
    Err(Error::Input(format!("prefill: {problem}")))
}

/// Puts a log on the zones of the drive in front of them. Returns what it asks of them, and units of those that it believes to be full.
///
/// # Errors
/// Names the key that has no meaning, or none on such a drive.
pub(super) fn in_log(
    config: ZoneLogConfig,
    assembly: &Assembly,
    requests: Box<dyn Workload>,
) -> Result<(ZoneLog, Vec<Range<u32>>), JobError> {
    let Some(zones) = &assembly.ftl.zones else { return in_segments(config, assembly, requests) };
    let geometry = &assembly.geometry;
    let unit = geometry.sectors_per_unit();
    let space = ZoneSpace {
        zones: assembly.ftl.logical_units / zones.size,
        size: u64::from(zones.size) * u64::from(unit),
        capacity: u64::from(zones.pools * geometry.units_per_group()) * u64::from(unit),
        unit: unit.into(),
        open: zones.open,
        bad: zones.read_only.iter().chain(&zones.offline).copied().collect(),
        zrwa: zones.zrwa.map(|told| ZrwaSpace {
            size: u64::from(told.size) * u64::from(unit),
            granularity: u64::from(told.granularity) * u64::from(unit),
            zones: told.zones,
        }),
        is_of_host: false,
    };
    let log = ZoneLog::new(config, space, requests)?;
    let filled = log.filled_zones().into_iter().map(|zone| zone * zones.size..zone * zones.size + 1).collect();
    Ok((log, filled))
}

/// The same on segments of a drive without zones.
fn in_segments(
    config: ZoneLogConfig,
    assembly: &Assembly,
    requests: Box<dyn Workload>,
) -> Result<(ZoneLog, Vec<Range<u32>>), JobError> {
    if assembly.timing.is_none() {
        return Err(JobError::new("zone_log.size", "is given, and the drive has no flash"));
    }
    let unit = assembly.geometry.sectors_per_unit();
    let sectors = assembly.first_namespace_bytes() / SECTOR_BYTES;
    let space = ZoneSpace::of_segments(&config, sectors, unit.into())?;
    let units = (space.size / u64::from(unit)) as u32;
    let log = ZoneLog::new(config, space, requests)?;
    let filled = log.filled_zones().into_iter().map(|segment| segment * units..(segment + 1) * units).collect();
    Ok((log, filled))
}
