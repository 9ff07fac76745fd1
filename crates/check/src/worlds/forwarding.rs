//! Worlds whose reads go to the die although the controller holds what they ask for.

use ninescope_engine::{NoProbe, OnHeap};

use super::World;
use super::dice::Dice;
use super::keys::put_at;

/// Some drives have such reads, unless they have something that does not go with them.
pub(super) fn add(dice: &mut Dice, world: &mut World) {
    if !world.drive.contains_key("geometry") || !dice.chance(25) {
        return;
    }
    let before = world.drive.clone();
    put_at(&mut world.drive, "controller.forwards", dice.one_of(&["written", "nothing"]));
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}
