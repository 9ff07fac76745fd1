//! Blocks of worlds that break: so often that drives come to their end within a run.

use ninescope_engine::{NoProbe, OnHeap};

use super::World;
use super::dice::Dice;
use super::keys::{put_at, value_at};
use super::policies::set_policy;

/// The wear of some drives is levelled.
pub(super) fn level(dice: &mut Dice, world: &mut World) {
    if !dice.chance(20) {
        return;
    }
    let before = world.drive.clone();
    let name = dice.one_of(&["threshold", "threshold", "dual-pool", "dual-pool", "none"]);
    set_policy(dice, &mut world.drive, "ftl.wear_leveling", name);
    if value_at(&world.drive, "ftl.wear_leveling.cycles").is_some() {
        put_at(&mut world.drive, "ftl.wear_leveling.cycles", i64::from(dice.small(1, 6)));
    }
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}

/// Of some drives of flash alone blocks wear out, and programs and erases fail.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    if !dice.chance(25) {
        return;
    }
    let before = world.drive.clone();
    let drive = &mut world.drive;
    if dice.chance(50) {
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
    // One that wears out before the run, or has too few blocks for that, stays as it was.
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}
