//! Planes that some addresses have for themselves: which unit may lie where, written out unit by unit and pool by pool.

use ninescope_engine::View;
use ninescope_model::{Lpa, Pool, Ppa};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The partition of each unit of the host and of each pool.
#[derive(Debug)]
pub struct PartitionBook {
    of_unit: Vec<u32>,
    of_pool: Vec<u32>,
}

impl PartitionBook {
    /// Takes over what a drive was told; none where it is one partition.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let told = view.ftl.partition_list();
        if told.is_empty() {
            return None;
        }
        let mut of_unit = vec![u32::MAX; view.ftl.logical_units() as usize];
        let mut of_pool = vec![u32::MAX; view.ftl.geometry().pools() as usize];
        for (number, partition) in (0..).zip(told) {
            partition.pools.iter().for_each(|&pool| of_pool[pool as usize] = number);
            partition.units.iter().cloned().flatten().for_each(|unit| of_unit[unit as usize] = number);
        }
        Some(Self { of_unit, of_pool })
    }

    fn pool_of(view: &View<'_>, place: Ppa) -> Pool {
        let geometry = view.ftl.geometry();
        geometry.pool_and_block(geometry.group_and_offset(place).0).0
    }

    /// A unit was put there.
    #[inline]
    pub fn placed(&self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        let pool = Self::pool_of(view, place);
        let (of_unit, of_pool) = (self.of_unit[lpa.index()], self.of_pool[pool.index()]);
        require!(
            of_unit == of_pool,
            Partition,
            view.now,
            "unit {lpa} of partition {of_unit} is put at {place} in pool {pool} of partition {of_pool}"
        );
        Ok(())
    }

    /// A write has to wait: perhaps although others would have space.
    pub fn stalled(&self, view: &View<'_>, lpa: Lpa, marks: &mut Marks) {
        let own = self.of_unit[lpa.index()];
        let mut has_space = vec![true; self.of_pool.len()];
        view.ftl.pools_without_space().for_each(|pool| has_space[pool.index()] = false);
        if self.of_pool.iter().zip(&has_space).any(|(&of_pool, &space)| of_pool != own && space) {
            marks.hit(Mark::StalledBesideSpace);
        }
    }

    /// Everything lies where it may.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        for lpa in (0..view.ftl.logical_units()).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place != Ppa::UNMAPPED {
                self.placed(view, lpa, place)?;
            }
        }
        Ok(())
    }
}
