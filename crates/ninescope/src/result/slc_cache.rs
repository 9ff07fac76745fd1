//! What blocks of one bit in a cell took, as JSON.

use ninescope_engine::Seen;
use ninescope_model::Pool;
use serde_json::{Value, json};

/// The section `slc_cache`; absent where there are none. Counts are of the measured time, what is in use is as it is now.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    let rules = device.ftl.slc_rules()?;
    let (counters, geometry) = (device.ftl.counters(), device.ftl.geometry());
    let in_use: u32 = (0..geometry.pools()).map(|pool| device.ftl.slc_groups(Pool(pool))).sum();
    let blocks_of_group = u64::from(geometry.frontier_planes);
    let bytes = |units: u64| units * u64::from(geometry.unit_bytes);
    let of_block = u64::from(rules.pages) * u64::from(geometry.page_bytes);
    let most = u64::from(rules.fixed.saturating_add(rules.borrowed)) * u64::from(geometry.pools()) * blocks_of_group;
    Some(json!({
        "block_bytes": of_block,
        "blocks_max": most,
        "blocks_in_use": u64::from(in_use) * blocks_of_group,
        "written_bytes": bytes(counters.slc_units),
        "past_bytes": bytes(counters.host_units - counters.slc_units),
        "folded_bytes": bytes(counters.folded_units),
        "folded_blocks": counters.folded_groups * blocks_of_group,
    }))
}
