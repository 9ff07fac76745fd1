//! What a drive with zones does not go with, and which of its zones are full when a run begins.

use std::ops::Range;

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
