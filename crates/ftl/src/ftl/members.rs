//! Groups that lie on several dies, one of which may hold parity: programs of one end in order on each die, and not over all, and
//! it is erased when all of its dies have erased their blocks.
//!
//! A unit is on the media when its page is. The last page of a parity stripe is *counted* as programmed with the parity, so that
//! a group is no candidate for collection before all of it is on the media.

use ninescope_model::{BlockGroup, Geometry, PhysicalUnit, Ppa};

use super::Ftl;

/// How far each die is with each group.
#[derive(Debug)]
pub(super) struct Members {
    /// By group and member, the one with parity as the last: pages of all planes programmed since the erase.
    programmed: Vec<u32>,
    /// By group: dies that have erased their blocks since its erase was asked for.
    erased: Vec<u8>,
    dies: usize,
}

impl Members {
    /// Whether the unit at an offset in a group is not on the media.
    #[cold]
    #[inline(never)]
    pub fn is_in_flight(&self, geometry: &Geometry, group: BlockGroup, offset: u32) -> bool {
        let (row, plane, _) = geometry.within_group(offset);
        let (page, member) = geometry.page_and_member(row);
        self.of(group)[member as usize] <= page * geometry.frontier_planes + plane
    }

    fn of(&self, group: BlockGroup) -> &[u32] {
        &self.programmed[group.index() * self.dies..(group.index() + 1) * self.dies]
    }

    /// Units of a group that are programmed, with all before them and the parity of all whole stripes before them.
    fn programmed_units(&self, geometry: &Geometry, group: BlockGroup) -> u32 {
        let planes = geometry.frontier_planes;
        let of_group = self.of(group);
        let (data, parity) = of_group.split_at(geometry.data_dies() as usize);
        let next = data.iter().zip(0..).map(|(pages, member)| {
            let (page, plane) = (pages / planes, pages % planes);
            ((page * geometry.data_dies() + member) * planes + plane) * geometry.units_per_page()
        });
        let next = next.min().unwrap_or(0).min(geometry.units_per_group());
        let Some(pages_of_parity) = parity.first() else { return next };
        let whole = pages_of_parity / planes;
        if whole == geometry.pages_per_block {
            return next;
        }
        next.min((whole + 1) * geometry.units_per_parity_stripe() - geometry.units_per_page())
    }

    /// A group is empty.
    #[cold]
    pub fn erased(&mut self, group: BlockGroup) {
        self.programmed[group.index() * self.dies..(group.index() + 1) * self.dies].fill(0);
        self.erased[group.index()] = 0;
    }
}

impl Ftl {
    /// Units of a group up to `end` were filled, from `begin` on: counts the parity of the stripes that are whole with them.
    #[cold]
    pub(super) fn count_parity(&mut self, begin: u32, end: u32) {
        let per_stripe = self.geometry.units_per_parity_stripe();
        let stripes = end / per_stripe - begin / per_stripe;
        self.counters.parity_units += u64::from(stripes * self.geometry.units_per_stripe());
    }

    /// So many units that lay on a die that failed are programmed on the one that stands for it.
    pub fn count_rebuilt(&mut self, units: u32) {
        self.counters.rebuilt_units += u64::from(units);
    }

    /// From now on there is time: the drive is quiet, and what it holds is programmed.
    pub fn follow_members(&mut self) {
        let geometry = self.geometry;
        if !geometry.spans_dies() {
            return;
        }
        let dies = geometry.stripe_dies();
        let mut programmed = Vec::with_capacity(self.groups.len() * dies as usize);
        for group in &self.groups {
            programmed.extend((0..dies).map(|member| geometry.pages_of_member(group.programmed, member)));
        }
        let erased = vec![0; self.groups.len()];
        self.members = Some(Box::new(Members { programmed, erased, dies: dies as usize }));
    }

    /// The program of a page of data or parity has ended. Returns whether it is the first of its group to do so.
    pub fn page_programmed(&mut self, ppa: Ppa) -> bool {
        let geometry = self.geometry;
        let group = geometry.locate(ppa).group;
        let Some(members) = &mut self.members else { return false };
        let is_new = members.of(group).iter().all(|&pages| pages == 0);
        let member = if geometry.is_parity(ppa) {
            geometry.data_dies()
        } else {
            geometry.page_and_member(geometry.within_group(geometry.group_and_offset(ppa).1).0).1
        };
        members.programmed[group.index() * members.dies + member as usize] += 1;
        let programmed = members.programmed_units(&geometry, group);
        self.groups[group.index()].programmed = programmed;
        self.refresh_candidate(group);
        is_new
    }

    /// The other pages of the parity stripe of a unit that are on the media, each by its first unit. What is not there yet, the
    /// controller holds: data until it is programmed, and parity of what went to its die until its own page is.
    pub fn rest_of_stripe(&self, ppa: Ppa) -> impl Iterator<Item = Ppa> + '_ {
        let geometry = &self.geometry;
        let PhysicalUnit { group, page, plane_in_group, .. } = geometry.locate(ppa);
        let own = geometry.first_unit_of_page(ppa);
        let pages = (0..geometry.stripe_dies())
            .map(move |member| (member, geometry.page_of_stripe(group, (page, plane_in_group), member)));
        let count = page * geometry.frontier_planes + plane_in_group;
        let is_there = move |member: u32, first: Ppa| match &self.members {
            Some(members) if member == geometry.data_dies() => members.of(group)[member as usize] > count,
            _ => !self.is_in_flight(first),
        };
        pages.filter(move |&(member, first)| first != own && is_there(member, first)).map(|(_, first)| first)
    }

    /// A die has erased its blocks of a group. Returns whether all have.
    pub fn blocks_erased(&mut self, group: BlockGroup) -> bool {
        let Some(members) = &mut self.members else { return true };
        members.erased[group.index()] += 1;
        usize::from(members.erased[group.index()]) == members.dies
    }
}
