//! Parity over the dies of worlds: of some few dies, so that stripes, and groups on several dies, are all over the drive.

use ninescope_engine::{NoProbe, OnHeap};

use super::World;
use super::dice::Dice;
use super::keys::{put_at, take_at, value_at};
use super::policies::set_policy;

/// How often it is tried to have a drive that can be: later with more spare blocks.
const ATTEMPTS: u32 = 3;

/// Some drives have it.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    let has_flash = value_at(&world.drive, "geometry.channels").is_some();
    if !has_flash || !world.partitions.is_empty() || !dice.chance(20) {
        return;
    }
    with_room(dice, world, stripes);
}

/// Has groups of a drive lie on several dies, which need more spare blocks at times; it stays as it was where none helps.
pub(super) fn with_room(dice: &mut Dice, world: &mut World, spread: impl Fn(&mut Dice, &mut toml::Table)) {
    let before = world.drive.clone();
    for attempt in 0..ATTEMPTS {
        spread(dice, &mut world.drive);
        if attempt > 0 {
            put_at(&mut world.drive, "ftl.over_provisioning", dice.one_of(&[1.0, 2.0, 4.0]));
        }
        if world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
            return;
        }
        world.drive = before.clone();
    }
}

/// The shape gives a stripe.
fn stripes(dice: &mut Dice, drive: &mut toml::Table) {
    let count = |drive: &toml::Table, key: &str| value_at(drive, key).and_then(toml::Value::as_integer).unwrap_or(1);
    let stripe = i64::from(dice.small(2, 4));
    let over = dice.one_of(&["channels", "dies"]);
    let (key, already) = match over {
        "channels" => ("geometry.channels", 1),
        _ => ("geometry.packages_per_channel", count(drive, "geometry.dies_per_package")),
    };
    if (count(drive, key) * already) % stripe != 0 {
        put_at(drive, key, stripe);
    }
    let parity = toml::Table::from_iter([("stripe".to_owned(), stripe.into()), ("over".to_owned(), over.into())]);
    put_at(drive, "ftl.parity", parity);
    set_policy(dice, drive, "ftl.page_allocation", "round-robin");
    take_at(drive, "ftl.stream_channels");
}
