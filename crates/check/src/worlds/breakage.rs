//! Blocks of worlds that break: so often that drives come to their end within a run.

use ninescope::PrefillMode;
use ninescope_engine::{NoProbe, OnHeap};

use super::World;
use super::dice::Dice;
use super::keys::{policy_name, put_at, take_at, value_at};
use super::policies::set_policy;

/// How often it is tried to have a drive that can be: later with more spare blocks, and without what goes with nothing that breaks.
const ATTEMPTS: u32 = 4;

/// The wear of some drives is levelled.
pub(super) fn level(dice: &mut Dice, world: &mut World) {
    if dice.chance(25) {
        attempt(dice, world, |dice, drive| {
            let name = dice.one_of(&["threshold", "threshold", "dual-pool", "dual-pool", "none"]);
            set_policy(dice, drive, "ftl.wear_leveling", name);
            if value_at(drive, "ftl.wear_leveling.cycles").is_some() {
                put_at(drive, "ftl.wear_leveling.cycles", i64::from(dice.small(1, 3)));
            }
            if dice.of("levelled handles").chance(60) {
                shares_moves(drive);
            }
        });
    }
}

/// What is moved of all placement handles lies together.
fn shares_moves(drive: &mut toml::Table) {
    let handles = value_at(drive, "ftl.streams.handles").and_then(toml::Value::as_array).map(Vec::len);
    if let Some(handles) = handles {
        put_at(drive, "ftl.streams.handles", vec!["initially-isolated"; handles]);
    }
}

/// Of some drives of flash alone blocks wear out, and programs and erases fail.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    if dice.chance(30) {
        attempt(dice, world, breaks);
    }
}

/// Changes a drive so that it can still be prepared; one that cannot, because it has too few blocks or is worn out before the run,
/// stays as it was.
fn attempt(dice: &mut Dice, world: &mut World, change: impl Fn(&mut Dice, &mut toml::Table)) {
    let before = world.clone();
    for attempt in 0..ATTEMPTS {
        change(dice, &mut world.drive);
        if attempt > 0 {
            put_at(&mut world.drive, "ftl.over_provisioning", dice.one_of(&[1.0, 2.0, 4.0]));
            take_at(&mut world.drive, "ftl.stream_channels");
            room_for_handles(dice, world);
        }
        if world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
            return;
        }
        *world = before.clone();
    }
}

/// Placement handles take groups of their own, for each of what is written by them and perhaps of what is moved. Planes of tenants' own and
/// what is composed go with few drives that have so many.
fn room_for_handles(dice: &mut Dice, world: &mut World) {
    if policy_name(&world.drive, "ftl.streams").is_none_or(|name| name != "fdp") {
        return;
    }
    world.partitions.clear();
    if world.prefill == PrefillMode::SteadyComposed {
        world.prefill = PrefillMode::SteadyUniform;
    }
    if let Some(blocks) = value_at(&world.drive, "geometry.blocks_per_plane").and_then(toml::Value::as_integer) {
        put_at(&mut world.drive, "geometry.blocks_per_plane", blocks + i64::from(dice.small(4, 16)));
    }
}

fn breaks(dice: &mut Dice, drive: &mut toml::Table) {
    if dice.chance(85) {
        let registries = ninescope::policies();
        let list = registries.iter().find(|(key, _)| *key == "nand.wear_out").map_or(&[][..], |(_, list)| list);
        let name = dice.one_of(list).0;
        set_policy(dice, drive, "nand.wear_out", name);
        let had = value_at(drive, "nand.initial_cycles").and_then(toml::Value::as_integer).unwrap_or(0);
        // A few cycles beyond those that the blocks have behind them.
        let about = (had + i64::from(dice.small(1, 30))) as f64;
        for key in ["cycles", "mean", "median", "scale"] {
            if value_at(drive, &format!("nand.wear_out.{key}")).is_some() {
                put_at(drive, &format!("nand.wear_out.{key}"), about);
            }
        }
        if value_at(drive, "nand.wear_out.deviation").is_some() {
            put_at(drive, "nand.wear_out.deviation", about.min(dice.one_of(&[0.0, 2.0, 10.0])));
        }
    }
    if dice.chance(60) {
        put_at(drive, "nand.program_failures", dice.one_of(&[0.0005, 0.005, 0.03, 0.2]));
    }
    if dice.chance(60) {
        put_at(drive, "nand.erase_failures", dice.one_of(&[0.001, 0.01, 0.05, 0.3]));
    }
    if dice.chance(30) {
        put_at(drive, "nand.failures_rise", dice.one_of(&[1.5, 3.0]));
        put_at(drive, "nand.endurance_cycles", i64::from(dice.small(5, 2_000)));
    }
    if dice.chance(30) {
        put_at(drive, "nand.factory_bad_blocks", dice.one_of(&[0.005, 0.02, 0.1]));
    }
}
