//! What is asked about partitions, and what an allocation is told of dies before it chooses one.

use std::ops::Range;

use ninescope_model::{BlockGroup, Lpa, Pool, Ppa};

use super::Ftl;
use crate::partition::{Partition, Partitions};
use crate::policies::page_allocation::Load;

impl Ftl {
    /// To which partitions units and pools belong; none where the drive is one.
    #[inline]
    pub fn partitions(&self) -> Option<&Partitions> {
        self.partitioned.as_deref().map(|partitioned| &partitioned.partitions)
    }

    /// The partitions as they were told; none where the drive is one.
    pub fn partition_list(&self) -> &[Partition] {
        self.partitioned.as_ref().map_or(&[], |partitioned| &partitioned.list)
    }

    /// Units that the host wrote into a partition since the last [`Self::clear_counters`], and those that were programmed there,
    /// for any reason.
    pub fn units_of_partition(&self, partition: u32) -> (u64, u64) {
        let programmed = self.programmed_of(partition);
        self.partitioned.as_ref().map_or((0, 0), |partitioned| partitioned.counts(partition, programmed))
    }

    /// Pages of the map that were written into a partition since the last [`Self::clear_counters`].
    pub fn map_units_of_partition(&self, partition: u32) -> u64 {
        self.partitioned.as_ref().map_or(0, |partitioned| partitioned.map_units(partition))
    }

    /// Units ever programmed in a partition: a group is erased when it is full.
    pub(super) fn programmed_of(&self, partition: u32) -> u64 {
        let Some(partitions) = self.partitions() else { return 0 };
        let units_per_group = u64::from(self.geometry.units_per_group());
        let pools = (0..self.geometry.pools()).map(Pool).filter(|&pool| partitions.of_pool(pool) == partition);
        let groups = pools.flat_map(|pool| self.groups_of(pool)).map(|group| &self.groups[group]);
        groups.map(|record| u64::from(record.erase_count) * units_per_group + u64::from(record.write_pointer)).sum()
    }

    fn groups_of(&self, pool: Pool) -> Range<usize> {
        let blocks = self.geometry.blocks_per_plane as usize;
        pool.index() * blocks..(pool.index() + 1) * blocks
    }

    /// What the allocation wants to know of dies; nothing where it goes by turns or addresses.
    pub fn load_measure(&self) -> Option<Load> {
        self.load
    }

    /// Whether it will compare the loads of dies when a unit is written next: they are told before.
    #[inline]
    pub fn asks_for_loads(&self, lpa: Lpa) -> bool {
        match &self.partitioned {
            None => match &self.homes {
                None => self.page_allocation.asks_for_loads(),
                Some(homes) => homes.asks_for_loads(),
            },
            Some(partitioned) => partitioned.asks_for_loads(lpa),
        }
    }

    /// The load of the die of a pool, as [`Self::load_measure`] has it measured.
    #[inline]
    pub fn load_is(&mut self, pool: Pool, load: u64) {
        let position = self.position_of[pool.index()];
        match &mut self.partitioned {
            None => match &mut self.homes {
                None => self.page_allocation.load_is(position, load),
                Some(homes) => homes.load_is(position, load),
            },
            Some(partitioned) => partitioned.load_is(position, load),
        }
    }
}

impl Ftl {
    /// The pools that each kind of written data has for itself; none where none has.
    pub fn homes(&self) -> &[Vec<u32>] {
        &self.rules().homes
    }

    /// Units that each pool may hold where kinds of data have pools for themselves; 0 where none has.
    pub fn units_of_a_home(&self) -> u32 {
        self.homes.as_ref().map_or(0, |homes| homes.most())
    }

    /// A unit was written, or forgotten, and lay elsewhere before: places, `UNMAPPED` for none.
    pub(super) fn home_changes(&mut self, old: Ppa, new: Ppa) {
        for (place, by) in [(old, -1), (new, 1)] {
            if place == Ppa::UNMAPPED {
                continue;
            }
            let position = self.position(self.geometry().group_and_offset(place).0);
            if self.homes.as_mut().is_some_and(|homes| homes.changes(position, by)) {
                self.refresh_all_space();
            }
        }
    }

    /// What lies where is counted anew: it was loaded.
    pub(super) fn count_homes(&mut self) {
        if self.homes.is_none() {
            return;
        }
        for group in (0..self.geometry().groups()).map(BlockGroup) {
            let (position, valid) = (self.position(group), self.valid_units(group));
            if let Some(homes) = &mut self.homes {
                homes.changes(position, valid.cast_signed());
            }
        }
        self.refresh_all_space();
    }

    fn refresh_all_space(&mut self) {
        (0..self.geometry().pools()).for_each(|pool| self.refresh_space(Pool(pool)));
    }
}
