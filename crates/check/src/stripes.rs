//! Stripes of parity that are read because one of their pages is no good: which pages those are, worked out anew from addresses and
//! from what the media hold.

use ninescope_engine::View;
use ninescope_model::{BlockGroup, DieId, Geometry, Ppa};

use crate::blocks::Blocks;
use crate::die_sets::{data_dies, parity_die};

/// A page of a stripe: the die, and which page of which plane of its blocks of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StripePage {
    pub die: DieId,
    pub group: BlockGroup,
    pub page: u32,
    /// The plane within those that share a frontier.
    pub plane: u32,
}

/// The group of a unit, or of a page of parity: those are counted behind all units, by group, page and plane.
pub fn group_of(geometry: &Geometry, place: Ppa) -> BlockGroup {
    let per_page = geometry.page_bytes / geometry.unit_bytes;
    match place.0.checked_sub(geometry.units()) {
        Some(behind) if geometry.parity.is_some() => {
            BlockGroup(behind / per_page / geometry.frontier_planes / geometry.pages_per_block)
        }
        _ => BlockGroup(place.0 / geometry.units_per_group()),
    }
}

/// Whether that is a page of parity.
pub fn is_parity(geometry: &Geometry, place: Ppa) -> bool {
    geometry.parity.is_some() && place != Ppa::UNMAPPED && place.0 >= geometry.units()
}

/// The page of a unit, or of parity, on a drive with parity.
pub fn page_of(geometry: &Geometry, place: Ppa) -> StripePage {
    let group = group_of(geometry, place);
    if let (true, Some(die)) = (is_parity(geometry, place), parity_die(geometry, group)) {
        let pages = (place.0 - geometry.units()) / (geometry.page_bytes / geometry.unit_bytes);
        let (rows, plane) = (pages / geometry.frontier_planes, pages % geometry.frontier_planes);
        return StripePage { die, group, page: rows % geometry.pages_per_block, plane };
    }
    let number = (place.0 - group.0 * geometry.units_per_group()) / (geometry.page_bytes / geometry.unit_bytes);
    let dies = data_dies(geometry, group);
    let row = number / geometry.frontier_planes;
    StripePage {
        die: dies[row as usize % dies.len()],
        group,
        page: row / dies.len() as u32,
        plane: number % geometry.frontier_planes,
    }
}

/// The other pages of the stripe of a unit that the media hold.
pub fn rest_of_stripe(view: &View<'_>, blocks: &Blocks, place: Ppa) -> Vec<StripePage> {
    let geometry = view.ftl.geometry();
    let own = page_of(geometry, place);
    let pools_per_die = geometry.planes_per_die / geometry.frontier_planes;
    let (pool, block) = (own.group.0 / geometry.blocks_per_plane, own.group.0 % geometry.blocks_per_plane);
    let plane = pool % pools_per_die * geometry.frontier_planes + own.plane;
    let dies = data_dies(geometry, own.group).into_iter().chain(parity_die(geometry, own.group));
    let is_there = |die: &DieId| blocks.programmed_pages(*die, plane as usize, block) > own.page;
    dies.filter(|&die| die != own.die).filter(is_there).map(|die| StripePage { die, ..own }).collect()
}
