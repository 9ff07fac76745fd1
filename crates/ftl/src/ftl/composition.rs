//! Making a pool of a drive like the one pool of another: the same groups in the same states, their valid places taken by
//! units of this drive. How the other one came to be as it is, is not known here.

use ninescope_kernel::NONE;
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa};

use super::Ftl;
use crate::block::{BlockRecord, GroupState};
use crate::filling_order::dealt_to;
use crate::pool::{Frontier, PoolRecord};

impl Ftl {
    /// Whether each pool is quiet: nothing is collected, erased or waited for. What is open may hold a page partly filled.
    pub fn collects_nothing(&self) -> bool {
        self.pools.iter().all(PoolRecord::collects_nothing)
    }

    /// The units that a drive always puts at a stripe position when the address decides; `None` where it does not.
    pub fn units_by_address(&self, position: u32) -> Option<(u32, impl Fn(u32) -> Lpa + use<>)> {
        let turn = self.page_allocation.turn_by_address().filter(|_| self.partitioned.is_none())?;
        let positions = self.geometry.pools();
        let count = dealt_to(position, positions, turn, self.logical_units());
        Some((count, move |index| Lpa((index / turn * positions + position) * turn + index % turn)))
    }

    /// Makes the pool at a stripe position, which holds nothing, like the only pool of `sample`, which is quiet and of the same
    /// shape. `units`, which lie nowhere yet, take its valid places in their order; where they are fewer, the rest is garbage.
    /// Returns how many took one.
    pub fn compose_pool(&mut self, position: u32, sample: &Self, mut units: impl Iterator<Item = Lpa>) -> u32 {
        let mapped_before = self.mapped_units;
        debug_assert!(self.order.units() == 0 && sample.collects_nothing());
        let pool = Pool(self.pool_at[position as usize]);
        let first_group = pool.0 * self.geometry.blocks_per_plane;
        for (index, record) in (0..).zip(&sample.groups) {
            let group = BlockGroup(first_group + index);
            self.groups[group.index()] = self.aged(record, sample, position);
            self.take_places(group, BlockGroup(index), sample, &mut units);
            self.refresh_candidate(group);
        }
        self.pools[pool.index()] = moved_by(first_group, &sample.pools[0], self.isolates);
        self.refresh_space(pool);
        for group in sample.closed_by_age() {
            self.victim_selection.closed(pool, BlockGroup(first_group + group.0));
        }
        self.mapped_units - mapped_before
    }

    /// A record of the sample as one of this drive, where as many groups are filled in each pool while one is in that of the sample.
    fn aged(&self, record: &BlockRecord, sample: &Self, position: u32) -> BlockRecord {
        let age = sample.closed_groups.wrapping_sub(record.closed_sequence);
        let ago = age.wrapping_mul(self.geometry.pools()).wrapping_sub(position);
        let closed_sequence = if record.state == GroupState::Closed { self.closed_groups.wrapping_sub(ago) } else { 0 };
        BlockRecord { closed_sequence, reads_since_erase: 0, readers: 0, ..*record }
    }

    /// Units take the valid places of a group.
    fn take_places(
        &mut self,
        group: BlockGroup,
        of_sample: BlockGroup,
        sample: &Self,
        units: &mut impl Iterator<Item = Lpa>,
    ) {
        let from = sample.geometry.first_unit(of_sample).0;
        let to = self.geometry.first_unit(group).0;
        let end = (from + self.geometry.units_per_group()) as usize;
        let mut valid = 0;
        let mut place = sample.valid.next_set(from as usize).filter(|&place| place < end);
        while let Some(at) = place
            && let Some(lpa) = units.next()
        {
            let new = Ppa(to + (at as u32 - from));
            // Nothing was filled in order, and nothing lies anywhere: the tables take what there is.
            self.map.put(lpa.index(), new.0);
            self.reverse.put(new.index(), lpa.0);
            self.valid.set(new.index());
            if self.knows_clean {
                self.clean.put(lpa.index(), sample.is_clean(sample.content(Ppa(at as u32))));
            }
            valid += 1;
            place = sample.valid.next_set(at + 1).filter(|&place| place < end);
        }
        self.valid_counts.change_aside(group.index(), |others| others + valid);
        self.mapped_units += valid;
    }

    /// The filled groups, the one first that was filled first.
    pub(super) fn closed_by_age(&self) -> Vec<BlockGroup> {
        let mut closed: Vec<BlockGroup> = (0..self.geometry.groups()).map(BlockGroup).collect();
        closed.retain(|group| self.groups[group.index()].state == GroupState::Closed);
        // They are counted modulo 2^32.
        closed.sort_by_key(|group| {
            std::cmp::Reverse(self.closed_groups.wrapping_sub(self.groups[group.index()].closed_sequence))
        });
        closed
    }

    pub(super) fn tell_of_closed_groups(&mut self) {
        for group in self.closed_by_age() {
            self.victim_selection.closed(self.geometry.pool_and_block(group).0, group);
        }
    }
}

/// A quiet pool whose groups are numbered from another one on.
fn moved_by(first_group: u32, record: &PoolRecord, isolated: bool) -> PoolRecord {
    let moved = |frontier: &Frontier| Frontier {
        group: if frontier.group == NONE { NONE } else { first_group + frontier.group },
        next: frontier.next,
    };
    PoolRecord {
        free: record.free.iter().map(|group| first_group + group).collect(),
        frontiers: std::array::from_fn(|stream| moved(&record.frontiers[stream])),
        ..PoolRecord::new(0, 0, isolated)
    }
}
