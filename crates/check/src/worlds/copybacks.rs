//! Dies of worlds that copy pages by themselves.

use ninescope_engine::{NoProbe, OnHeap};

use super::World;
use super::dice::Dice;
use super::keys::put_at;

/// Some drives have such dies, unless they have something that does not go with them.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    if !world.drive.contains_key("geometry") || !dice.chance(30) {
        return;
    }
    let before = world.drive.clone();
    put_at(&mut world.drive, "ftl.gc_copybacks", dice.one_of(&[1_i64, 1, 2, 3, 5]));
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}
