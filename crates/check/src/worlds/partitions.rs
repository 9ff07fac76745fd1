//! Planes that some addresses have for themselves, on some drives.

use ninescope_ftl::{FtlConfig, Partition};

use super::World;
use super::dice::Dice;

/// Drives of several pools that fall into partitions [%].
const DIVIDED: u64 = 35;
/// The same of those with a map that lies in flash, or a medium above flash, which have much else to meet [%].
const DIVIDED_BESIDE: u64 = 20;
/// Addresses change hands after so many units at most, now and then.
const STRETCH_MAX: u32 = 60;

/// Divides the drive of a world, or leaves it whole: where it is refused, as where it is small.
pub(super) fn divide(dice: &mut Dice, world: &mut World, ftl: &FtlConfig, placement: &str) {
    let pools = ftl.geometry.pools();
    let is_alone = ftl.translation_units == 0 && placement == "nand-only";
    if pools < 2 || !dice.chance(if is_alone { DIVIDED } else { DIVIDED_BESIDE }) {
        return;
    }
    let count = dice.small(2, pools.min(4));
    let mut partitions = vec![Partition { pools: Vec::new(), units: Vec::new() }; count as usize];
    for pool in 0..pools {
        // Everyone has one at least.
        let of = if pool < count { pool } else { dice.small(0, count - 1) };
        partitions[of as usize].pools.push(pool);
    }
    deal(dice, &mut partitions, ftl);
    partitions.retain(|partition| !partition.pools.is_empty());
    let divided = World { partitions, ..world.clone() };
    if divided.plan().is_ok() {
        *world = divided;
    }
}

/// Gives each partition its share of the addresses, or a little less or more, in stretches.
fn deal(dice: &mut Dice, partitions: &mut [Partition], ftl: &FtlConfig) {
    let share = |partition: &Partition| {
        let pools = partition.pools.len() as u64;
        (u64::from(ftl.logical_units) * pools).div_ceil(u64::from(ftl.geometry.pools())) as u32
    };
    let long = dice.chance(50);
    let mut room: Vec<u32> = partitions.iter().map(share).collect();
    let mut next = 0;
    while next < ftl.logical_units {
        let open: Vec<usize> = (0..room.len()).filter(|&partition| room[partition] > 0).collect();
        let of = dice.one_of(&open);
        let wanted = if long { room[of] } else { dice.small(1, STRETCH_MAX) };
        let end = ftl.logical_units.min(next + wanted.min(room[of]));
        room[of] -= end - next;
        match partitions[of].units.last_mut() {
            Some(last) if last.end == next => last.end = end,
            _ => partitions[of].units.push(next..end),
        }
        next = end;
    }
}
