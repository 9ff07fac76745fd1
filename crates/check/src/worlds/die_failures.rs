//! Dies of worlds that fail: one or two of few, early enough that something happens after it.

use toml::{Table, Value};

use super::World;
use super::dice::Dice;
use super::keys::{put_at, text, value_at};

/// How often it is tried to have a drive that can be.
const ATTEMPTS: u32 = 2;

/// Some drives have it, of those with parity many.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    let count = |key: &str| value_at(&world.drive, key).and_then(Value::as_integer).unwrap_or(0);
    let dies = count("geometry.channels") * count("geometry.packages_per_channel") * count("geometry.dies_per_package");
    let has_parity = value_at(&world.drive, "ftl.parity").is_some();
    if dies == 0 || !dice.chance(if has_parity { 50 } else { 4 }) {
        return;
    }
    let before = world.drive.clone();
    for _ in 0..ATTEMPTS {
        fail(dice, &mut world.drive, dies as u32);
        if world.plan().is_ok() {
            return;
        }
        world.drive.clone_from(&before);
    }
}

/// One die fails, or two: often of one stripe.
fn fail(dice: &mut Dice, drive: &mut Table, dies: u32) {
    if value_at(drive, "nand.ecc").is_none() {
        put_at(drive, "nand.ecc", Table::from_iter([("policy".to_owned(), "crc".into())]));
    }
    let first = dice.small(0, dies - 1);
    let second = dice.small(0, dies - 1);
    let of = |die: u32, dice: &mut Dice| {
        Table::from_iter([("die".to_owned(), i64::from(die).into()), ("at".to_owned(), text(dice.time(0, 7)))])
    };
    let mut failures = vec![Value::Table(of(first, dice))];
    if second != first && dice.chance(50) {
        failures.push(Value::Table(of(second, dice)));
    }
    put_at(drive, "nand.die_failures", Value::Array(failures));
    if value_at(drive, "ftl.parity").is_some() && dice.chance(50) {
        put_at(drive, "ftl.rebuild_rate", dice.one_of(&["1MB/s", "20MB/s", "500MB/s"]));
    }
}
