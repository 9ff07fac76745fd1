//! What a map of blocks came to, as JSON: what was merged how, and what such a map takes.

use ninescope_engine::Seen;
use serde_json::{Value, json};

/// The section `block_map`; absent where the map is one of units. Counts are of the measured time, log blocks are as they are now.
pub fn section(device: &Seen<'_>, policy: &str) -> Option<Value> {
    let (map, counters) = (device.ftl.block_map()?, device.ftl.counters());
    let in_use = |of: fn(&ninescope_ftl::block_map::PoolLogs) -> usize| map.pools.iter().map(of).sum::<usize>();
    let merges = counters.switch_merges + counters.partial_merges + counters.full_merges;
    let emptied = counters.log_blocks_emptied;
    Some(json!({
        "policy": policy,
        "log_blocks_per_plane": map.config.log_blocks,
        "logical_blocks": map.data.len(),
        "pages_per_block": map.pages,
        "map_bytes": map.bytes(),
        "page_map_bytes": 4 * u64::from(device.ftl.logical_units()),
        "log_blocks_in_use": in_use(|pool| pool.logs.len() + usize::from(pool.sequential.is_some())),
        "merges": {
            "switch": counters.switch_merges,
            "partial": counters.partial_merges,
            "full": counters.full_merges,
        },
        "pages_copied": counters.gc_units,
        "pages_copied_per_merge": (merges > 0).then(|| counters.gc_units as f64 / merges as f64),
        "log_blocks_emptied": emptied,
        "full_merges_per_log_block": (emptied > 0).then(|| counters.full_merges as f64 / emptied as f64),
        "blocks_erased": counters.erased_groups,
    }))
}
