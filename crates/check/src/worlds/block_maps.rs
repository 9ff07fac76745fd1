//! Worlds whose drives have a map of blocks: what of a drive goes with it.

use ninescope::PrefillMode;

use super::World;
use super::dice::Dice;
use super::keys::{OF_RELIABILITY, put_at, take_at, value_at};

/// What does not go with a map of blocks, by its key.
const OTHERS: [&str; 21] = [
    "dram",
    "tier",
    "firmware",
    "nand.read_moves",
    "nand.program_moves",
    "nand.wear_out",
    "nand.program_failures",
    "nand.erase_failures",
    "nand.failures_rise",
    "nand.factory_bad_blocks",
    "ftl.merges",
    "ftl.used_at_start",
    "ftl.page_allocation",
    "ftl.streams",
    "ftl.stream_channels",
    "ftl.gc_trigger",
    "ftl.victim",
    "ftl.throttle",
    "ftl.gc_reserve_blocks",
    "ftl.gc_copybacks",
    "ftl.trim",
];

/// Policies that are drawn with all that goes with them, without those of the maps of blocks.
pub(super) fn without<'a>(key: &str, policies: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let is_other = |name: &str| key != "ftl.map" || !["block", "bast", "fast"].contains(&name);
    policies.iter().copied().filter(|(name, _)| is_other(name)).collect()
}

/// Some drives of flash alone have a map of blocks, of a few log blocks. Returns whether this one has.
pub(super) fn take(dice: &mut Dice, world: &mut World) -> bool {
    if world.drive.contains_key("scm") || world.drive.contains_key("zns") || !dice.chance(14) {
        return false;
    }
    let plain = world.clone();
    for key in OF_RELIABILITY.into_iter().chain(OTHERS) {
        take_at(&mut world.drive, key);
    }
    let Some(page) = value_at(&world.drive, "geometry.page_size").cloned() else { return false };
    put_at(&mut world.drive, "ftl.mapping_unit", page);
    put_at(&mut world.drive, "ftl.frontier_planes", 1);
    let policy = dice.one_of(&["block", "bast", "bast", "fast", "fast"]);
    let mut map = toml::Table::new();
    map.insert("policy".to_owned(), policy.into());
    if policy != "block" {
        let least = if policy == "fast" { 2 } else { 1 };
        map.insert("log_blocks".to_owned(), i64::from(dice.small(least, 4)).into());
    }
    put_at(&mut world.drive, "ftl.map", map);
    if world.prefill == PrefillMode::SteadyComposed {
        world.prefill = PrefillMode::SteadyUniform;
    }
    // Logs are blocks that few drives of these have.
    let is_accepted = world.plan().is_ok();
    if !is_accepted {
        *world = plain;
    }
    is_accepted
}
