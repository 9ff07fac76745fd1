//! Write amplification: bytes programmed to flash per byte that the host wrote, by who had them programmed.

use ninescope_engine::Seen;
use ninescope_engine::meter::Written;
use ninescope_model::SECTOR_BYTES;
use serde_json::{Map, Value, json};

/// What was written until the host's last completion: on a drive that then works on by itself less than all.
pub fn until_last_completion(device: &Seen<'_>) -> Written {
    device.host_end.map_or_else(|| device.written(), |end| end.written)
}

/// Bytes programmed per byte of the host; none where it wrote nothing.
pub fn ratio(written: Written) -> Option<f64> {
    (written.host > 0).then(|| written.flash as f64 / written.host as f64)
}

/// The section `waf`. The lanes, in bytes and as ratios, sum to the whole. Ratios are null where the host wrote nothing,
/// or where there is no flash. On a drive with a tier above flash what the host wrote there is in the divisor, and the
/// lane of the host is what went to flash at once.
pub fn section(device: &Seen<'_>) -> Value {
    let units = device.ftl.counters();
    let unit_bytes = u64::from(device.ftl.geometry().unit_bytes);
    let written = device.written();
    // What the host wrote into random write areas of zones is in the divisor, and goes to flash as it is committed.
    let committed = device.ftl.zones().map_or(0, |zones| zones.zrwa_counts().committed_units);
    let placed = device.counters.host_sectors_placed * SECTOR_BYTES + committed * unit_bytes;
    let lanes = [
        ("host", placed),
        ("partial_writes", units.host_units * unit_bytes - placed),
        ("migration", units.migrated_units * unit_bytes),
        ("gc", (units.gc_units - units.leveled_units) * unit_bytes),
        ("scrub", units.healed_units * unit_bytes),
        ("wear", units.leveled_units * unit_bytes),
        ("padding", units.padding_units * unit_bytes),
        ("map", units.map_units * unit_bytes),
        ("failed_programs", units.rewritten_units * unit_bytes),
        ("parity", units.parity_units * unit_bytes),
        ("rebuild", units.rebuilt_units * unit_bytes),
    ];
    let has_flash = device.ftl.geometry().pools() > 0;
    let ratio = |bytes: u64| match written.host {
        host if host > 0 && has_flash => json!(bytes as f64 / host as f64),
        _ => Value::Null,
    };
    let mut section = Map::from_iter([("total".to_owned(), ratio(written.flash))]);
    let before = until_last_completion(device);
    section
        .insert("until_last_completion".to_owned(), if has_flash { json!(self::ratio(before)) } else { Value::Null });
    section.extend(lanes.map(|(lane, bytes)| (lane.to_owned(), ratio(bytes))));
    section.insert("host_bytes".to_owned(), json!(written.host));
    section.insert("flash_bytes".to_owned(), json!(written.flash));
    section
        .insert("bytes".to_owned(), lanes.into_iter().map(|(lane, bytes)| (lane.to_owned(), json!(bytes))).collect());
    Value::Object(section)
}
