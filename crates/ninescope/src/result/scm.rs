//! What storage-class memory did and how its sectors wore, as JSON.

use ninescope_engine::{ScmPart, Seen};
use serde_json::{Value, json};

use crate::config::ScmConfig;

/// The section of one medium, `scm` or `storage_scm`; absent where the drive has none. Counts are of the measured time, wear is since the drive was new.
pub fn section(device: &Seen<'_>, medium: usize, config: Option<&ScmConfig>) -> Option<Value> {
    let config = config?;
    let counters = device.scm.counters(medium);
    let written = counters.sectors_written;
    let copies_per_write =
        if written == 0 { Value::Null } else { json!(counters.sectors_copied as f64 / written as f64) };
    Some(json!({
        "counters": counters,
        "copies_per_write": copies_per_write,
        "wear": wear(device.scm, medium, config.endurance_writes),
    }))
}

/// Writes per sector, spare ones included.
fn wear(scm: &ScmPart, medium: usize, endurance_writes: Option<u32>) -> Value {
    let sectors = scm.layout().medium(medium).raw_sectors();
    let sum: u64 = scm.wear_of_medium(medium).map(u64::from).sum();
    let max = scm.wear_of_medium(medium).max().unwrap_or_default();
    let mean = sum as f64 / sectors.max(1) as f64;
    let worn = scm.wear_of_medium(medium).filter(|&writes| writes > 0).count();
    json!({
        "sectors": sectors,
        "sectors_written": worn,
        "writes_min": scm.wear_of_medium(medium).min(),
        "writes_mean": mean,
        "writes_max": max,
        "writes_max_over_mean": if sum == 0 { Value::Null } else { json!(f64::from(max) / mean) },
        "endurance_writes": endurance_writes,
        "endurance_used": endurance_writes.map(|limit| f64::from(max) / f64::from(limit)),
    })
}
