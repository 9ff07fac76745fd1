//! Which dies hold what of a group that lies on several, with parity or without, worked out anew: sets of dies by listing them, stripes by division.

use ninescope_model::{BlockGroup, DieId, Geometry, ParityOver};

/// The dies of a set, in order; each die is one where there is no parity.
pub fn dies_of_set(geometry: &Geometry, set: u32) -> Vec<DieId> {
    let of_superblock = geometry.superblock.map(|superblock| (superblock.dies as usize, superblock.over));
    let of_parity = geometry.parity.map(|parity| (parity.stripe as usize, parity.over));
    let Some((width, over)) = of_parity.or(of_superblock) else { return vec![DieId(set)] };
    let per_channel = geometry.packages_per_channel * geometry.dies_per_package;
    let mut sets: Vec<Vec<DieId>> = Vec::new();
    match over {
        ParityOver::Dies => {
            let all: Vec<DieId> = (0..geometry.channels * per_channel).map(DieId).collect();
            sets.extend(all.chunks(width).map(<[DieId]>::to_vec));
        }
        ParityOver::Drive => {
            let ways = (0..per_channel).flat_map(|way| (0..geometry.channels).map(move |channel| (channel, way)));
            let all: Vec<DieId> = ways.map(|(channel, way)| DieId(channel * per_channel + way)).collect();
            sets.extend(all.chunks(width).map(<[DieId]>::to_vec));
        }
        ParityOver::Channels => {
            for first in (0..geometry.channels).step_by(width) {
                for way in 0..per_channel {
                    let channels = first..first + width as u32;
                    sets.push(channels.map(|channel| DieId(channel * per_channel + way)).collect());
                }
            }
        }
    }
    sets.swap_remove(set as usize)
}

/// The set of a die.
pub fn set_of(geometry: &Geometry, die: DieId) -> u32 {
    if geometry.parity.is_none() && geometry.superblock.is_none() {
        return die.0;
    }
    (0..geometry.die_sets()).find(|&set| dies_of_set(geometry, set).contains(&die)).unwrap_or_default()
}

/// The die that holds the parity of a group: of the first block the last one of its set, of the next the one before it.
pub fn parity_die(geometry: &Geometry, group: BlockGroup) -> Option<DieId> {
    geometry.parity?;
    let block = group.0 % geometry.blocks_per_plane;
    let pools_per_die = geometry.planes_per_die / geometry.frontier_planes;
    let dies = dies_of_set(geometry, group.0 / geometry.blocks_per_plane / pools_per_die);
    dies.iter().rev().copied().cycle().nth(block as usize)
}

/// The dies of a group that hold data, in the order of its rows.
pub fn data_dies(geometry: &Geometry, group: BlockGroup) -> Vec<DieId> {
    let pools_per_die = geometry.planes_per_die / geometry.frontier_planes;
    let mut dies = dies_of_set(geometry, group.0 / geometry.blocks_per_plane / pools_per_die);
    let parity = parity_die(geometry, group);
    dies.retain(|&die| Some(die) != parity);
    dies
}

/// Units of a parity stripe.
pub fn units_of_stripe(geometry: &Geometry) -> u32 {
    geometry.parity.map_or(u32::MAX, |parity| {
        (parity.stripe - 1) * geometry.frontier_planes * (geometry.page_bytes / geometry.unit_bytes)
    })
}
