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
        "verify": config.verify.as_ref().map(|_| verify(device.scm, medium)),
        "wear": wear(device.scm, medium, config.endurance_writes),
    }))
}

/// What verifying writes took and gained. Sectors that wear levelling copies are written too.
fn verify(scm: &ScmPart, medium: usize) -> Value {
    let counters = scm.counters(medium);
    let written = counters.sectors_written + counters.sectors_copied;
    let per_write = |count: u64| if written == 0 { Value::Null } else { json!(count as f64 / written as f64) };
    json!({
        "cycles_per_write": per_write(counters.verify_cycles),
        "reads_per_write": per_write(counters.verify_reads),
        "ber_factor": scm.media().ber_factor(medium),
    })
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
