//! Super-blocks of worlds: of some few dies, of a channel, of several or of all of them.

use super::World;
use super::dice::Dice;
use super::keys::{put_at, take_at, value_at};
use super::parity::with_room;
use super::policies::set_policy;

/// Some drives have them.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    let has_flash = value_at(&world.drive, "geometry.channels").is_some();
    let has_parity = value_at(&world.drive, "ftl.parity").is_some();
    if !has_flash || has_parity || !world.partitions.is_empty() || !dice.chance(20) {
        return;
    }
    with_room(dice, world, superblocks);
}

/// The shape gives a width.
fn superblocks(dice: &mut Dice, drive: &mut toml::Table) {
    let count = |drive: &toml::Table, key: &str| value_at(drive, key).and_then(toml::Value::as_integer).unwrap_or(1);
    let dies = i64::from(dice.small(2, 4));
    let over = dice.one_of(&["channels", "dies", "drive"]);
    let in_package = count(drive, "geometry.dies_per_package");
    let (key, already) = match over {
        "channels" => ("geometry.channels", 1),
        "dies" => ("geometry.packages_per_channel", in_package),
        _ => ("geometry.channels", in_package * count(drive, "geometry.packages_per_channel")),
    };
    if (count(drive, key) * already) % dies != 0 {
        put_at(drive, key, dies);
    }
    let table = toml::Table::from_iter([("dies".to_owned(), dies.into()), ("over".to_owned(), over.into())]);
    put_at(drive, "ftl.superblock", table);
    set_policy(dice, drive, "ftl.page_allocation", "round-robin");
    take_at(drive, "ftl.stream_channels");
}
