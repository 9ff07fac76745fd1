//! Drives of worlds with blocks of one bit in a cell.

use ninescope_engine::{NoProbe, OnHeap};
use ninescope_model::units::Duration;

use super::World;
use super::dice::Dice;
use super::keys::{put_at, take_at, text, value_at};

/// Some drives have such blocks, unless they have something that does not go with them.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    let has_flash = world.drive.contains_key("geometry");
    if !has_flash || !dice.chance(15) {
        return;
    }
    let before = world.drive.clone();
    if value_at(&world.drive, "nand.cell").and_then(toml::Value::as_str) == Some("slc") {
        put_at(&mut world.drive, "nand.cell", dice.one_of(&["mlc", "tlc", "qlc"]));
    }
    // What drives are drawn with that has none.
    take_at(&mut world.drive, "firmware");
    put_at(&mut world.drive, "ftl.streams", "single");
    put_at(&mut world.drive, "ftl.map", "ideal");
    put_at(&mut world.drive, "nand.slc_read", text(dice.time(1, 5)));
    put_at(&mut world.drive, "nand.slc_program", text(Duration(dice.time(2, 6).0 + 64)));
    let (fixed, borrowed) = (dice.one_of(&[0, 0, 1, 1, 2, 3_i64]), i64::from(dice.small(0, 5)));
    let mut cache = toml::Table::new();
    cache.insert("fixed_blocks".to_owned(), fixed.into());
    cache.insert("borrowed_blocks".to_owned(), borrowed.max(i64::from(fixed == 0)).into());
    cache.insert("when_full".to_owned(), dice.one_of(&["direct", "wait"]).into());
    if dice.chance(60) {
        cache.insert("fold_after".to_owned(), text(dice.time(1, 6)));
    }
    put_at(&mut world.drive, "ftl.slc_cache", cache);
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}
