//! Flexible data placement: the statistics and events that a drive logs, and what was written by each reclaim unit handle.

use ninescope_engine::Seen;
use ninescope_ftl::policies::stream_choice::fdp::Isolation;
use ninescope_ftl::{HandleCounts, UnitCounts};
use ninescope_model::{Pool, SECTOR_BYTES, Stream};
use serde_json::{Value, json};

/// The section `fdp`; absent where the drive has no handles.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    let units = device.ftl.reclaim_units()?;
    let (counts, geometry) = (units.counts(), device.ftl.geometry());
    let unit_bytes = u64::from(geometry.unit_bytes);
    let reclaim_unit = u64::from(geometry.units_per_group()) * unit_bytes;
    let programmed = device.ftl.counters().programmed_units();
    let entry = |(handle, (isolation, counts)): (u32, (&Isolation, &HandleCounts))| {
        let UnitCounts { padding_units, rewritten_units, .. } = counts.units;
        let media_units = counts.host_units + counts.own_units + counts.moved_units + padding_units + rewritten_units;
        let mut told = units_told(&counts.units);
        told["handle"] = json!(handle);
        told["isolation"] = json!(isolation);
        told["host_units"] = json!(counts.host_units);
        told["own_units"] = json!(counts.own_units);
        told["moved_units"] = json!(counts.moved_units);
        told["units_per_host_unit"] =
            json!((counts.host_units > 0).then(|| media_units as f64 / counts.host_units as f64));
        told["available_units"] = json!(available(device, handle));
        told
    };
    Some(json!({
        "reclaim_unit_bytes": reclaim_unit,
        "reclaim_units": geometry.groups(),
        "statistics": {
            "host_bytes_written": device.counters.host_sectors_placed * SECTOR_BYTES,
            "media_bytes_written": programmed * unit_bytes,
            "media_bytes_erased": device.ftl.counters().erased_groups * reclaim_unit,
        },
        "events": {
            "media_reallocated": counts.media_reallocated,
            "invalid_placement_identifiers": counts.invalid_identifiers,
        },
        "victims_passed": counts.victims_passed,
        "handles": (0..).zip(units.told().handles.iter().zip(&counts.handles)).map(entry).collect::<Vec<_>>(),
        "shared": units_told(&counts.shared),
    }))
}

fn units_told(units: &UnitCounts) -> Value {
    json!({
        "reclaim_units_begun": units.begun,
        "reclaim_units_filled": units.filled,
        "reclaim_units_erased": units.erased,
        "reclaim_units_retired": units.retired,
        "padding_units": units.padding_units,
        "rewritten_units": units.rewritten_units,
    })
}

/// Units that can be written by a handle until it refers to other reclaim units.
fn available(device: &Seen<'_>, handle: u32) -> u64 {
    let geometry = device.ftl.geometry();
    let of_pool = |pool| {
        let group = device.ftl.frontier(pool, Stream::of_writes(handle))?;
        Some(u64::from(geometry.units_per_group() - device.ftl.group(group).write_pointer))
    };
    (0..geometry.pools()).map(Pool).filter_map(of_pool).sum()
}
