//! Blocks that broke: what failed in the window, which are left out for good, and whether the drive still takes writes.

use ninescope_engine::Seen;
use ninescope_model::{BlockGroup, Geometry};
use serde_json::{Value, json};

/// The section `bad_blocks`; absent where nothing breaks. Blocks are those of the media, several of which are retired together.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    if !device.ftl.blocks_break() {
        return None;
    }
    let (counts, counters) = (device.ftl.bad_blocks(), device.counters);
    let blocks = device.ftl.geometry().frontier_planes;
    let of = |groups: u64| groups * u64::from(blocks);
    let ended = device.ftl.is_read_only();
    let table: Vec<_> =
        device.ftl.bad_block_table().flat_map(|group| blocks_of(device.ftl.geometry(), group)).collect();
    Some(json!({
        "program_failures": counts.program_failures,
        "erase_failures": counts.erase_failures,
        "worn_out_groups": counts.worn_out,
        "retired_blocks": of(counts.retired),
        "blocks_of_group": blocks,
        "bad_blocks": of(u64::from(device.ftl.retired_groups())),
        // A drive at its end has none, whichever of its groups ran out.
        "spare_blocks_left": if ended { 0 } else { of(u64::from(device.ftl.spare_groups_left())) },
        "pages_programmed_again": counters.pages_programmed_again,
        "pages_kept": counters.pages_kept,
        "refused_commands": counters.refused_commands,
        "read_only": ended,
        "table": table,
    }))
}

/// Where the blocks of a group lie: die, plane within it, and number within the plane.
fn blocks_of(geometry: &Geometry, group: BlockGroup) -> impl Iterator<Item = [u32; 3]> + use<> {
    let (pool, block) = geometry.pool_and_block(group);
    let (die, first) = (geometry.die_of_pool(pool).0, geometry.first_plane_of_pool(pool));
    (first..first + geometry.frontier_planes).map(move |plane| [die, plane, block])
}
