//! Where on its die an access lies.
//!
//! Knows the geometry, and nothing of what an access is for.

use ninescope_model::Geometry;

use crate::transaction::Transaction;

/// The plane, block and page of an access on its die.
#[derive(Clone, Copy, Debug)]
pub struct PlaceOnDie {
    /// The plane of its die.
    pub plane: u32,
    /// The block of the plane.
    pub block: u32,
    /// The page of the block.
    pub page: u32,
}

/// Where an access lies on its die.
// Two callers in one place: it would be inlined into neither.
#[allow(clippy::inline_always)]
#[inline(always)]
pub fn place_of(access: &Transaction, geometry: &Geometry) -> PlaceOnDie {
    let unit = geometry.locate(access.ppa());
    let (pool, block) = geometry.pool_and_block(unit.group);
    PlaceOnDie { plane: geometry.first_plane_of_pool(pool) + unit.plane_in_group, block, page: unit.page }
}
