//! Pages of a victim by planes: the next one is of the plane whose turn it is where moves go, as long as that plane has any, so
//! that dies can copy pages within their planes. Of a plane they come in their order.

use ninescope_model::{BlockGroup, Geometry, PLANES_MAX, Pool, Ppa, Stream};

use super::Ftl;

/// How far the victim of each pool was handed out.
#[derive(Debug)]
pub(super) struct ByPlanes {
    /// By pool and plane: the unit of the group from which on pages of that plane are looked at.
    from: Vec<[u32; PLANES_MAX as usize]>,
}

impl ByPlanes {
    /// A victim was chosen.
    pub fn begins(&mut self, pool: Pool) {
        self.from[pool.index()] = [0; PLANES_MAX as usize];
    }

    /// Units of a page were handed out, the last one at `end - 1` in its group.
    pub fn handed_out(&mut self, geometry: &Geometry, pool: Pool, end: u32) {
        let plane = geometry.within_group(end - 1).1;
        self.from[pool.index()][plane as usize] = end;
    }
}

impl Ftl {
    /// From now on pages of victims come by planes, where a frontier goes round several and all that moves goes to one.
    pub fn collect_by_planes(&mut self) {
        if self.geometry.frontier_planes > 1 && !self.geometry.spans_dies() && self.kinds == 1 {
            let pools = self.geometry.pools() as usize;
            self.by_planes = Some(Box::new(ByPlanes { from: vec![[0; PLANES_MAX as usize]; pools] }));
        }
    }

    /// The next page of the victim of a pool: its first unit, and those that are valid and were not handed out.
    pub(super) fn next_page_by_plane(&self, pool: Pool, group: BlockGroup) -> Option<(Ppa, u32)> {
        let from = self.by_planes.as_ref()?.from[pool.index()];
        let planes = self.geometry.frontier_planes;
        let next = self.last_allocated(pool, Stream::GC).map_or(0, |last| self.geometry.group_and_offset(last).1 + 1);
        let turn = next / self.geometry.units_per_page() % planes;
        let mut in_turn = (0..planes).map(|number| (turn + number) % planes);
        in_turn.find_map(|plane| self.next_page_of_plane(group, plane, from[plane as usize]))
    }

    fn next_page_of_plane(&self, group: BlockGroup, plane: u32, from: u32) -> Option<(Ppa, u32)> {
        let geometry = &self.geometry;
        let (first, units) = (geometry.first_unit(group), geometry.units_per_page());
        let row = from / geometry.units_per_stripe();
        let pages = (row..geometry.pages_per_block).map(|row| row * geometry.units_per_stripe() + plane * units);
        pages.filter(|page| page + units > from).find_map(|page| {
            let valid = self.valid.aligned_bits(first.index() + page as usize, units);
            let left = valid & u32::MAX << from.saturating_sub(page);
            (left != 0).then_some((Ppa(first.0 + page), left))
        })
    }
}
