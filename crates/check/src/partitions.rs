//! Planes that some addresses have for themselves: which unit may lie where, written out unit by unit and pool by pool, and
//! what goes there.

use ninescope_engine::View;
use ninescope_model::{Lpa, Pool, Ppa};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The partition of each unit and of each pool, and what was written into each.
#[derive(Debug)]
pub struct PartitionBook {
    /// Of those of the host, and behind them of each page of a map that lies on the media.
    of_unit: Vec<u32>,
    of_pool: Vec<u32>,
    /// By partition: units of the host, and of them those that came from a tier above; pages of the map.
    written: Vec<Written>,
}

/// What went into a partition since measuring began.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    host_units: u64,
    map_units: u64,
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
            let of_host = partition.units.iter().cloned().flatten().filter(|&unit| unit < view.ftl.logical_units());
            of_host.for_each(|unit| of_unit[unit as usize] = number);
        }
        // A page of the map lies where the first unit does that it tells of, whatever it tells of besides.
        let entries = view.ftl.translation_entries() as usize;
        for page in 0..view.ftl.translation_units() as usize {
            of_unit.push(of_unit[page * entries]);
        }
        Some(Self { of_unit, of_pool, written: vec![Written::default(); told.len()] })
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

    /// A unit of the host got its place, from the host or from a tier above.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        self.placed(view, lpa, place)?;
        self.written[self.of_unit[lpa.index()] as usize].host_units += 1;
        Ok(())
    }

    /// The same of a page of the map.
    pub fn map_page_written(&mut self, view: &View<'_>, unit: Lpa, place: Ppa) -> Checked {
        self.placed(view, unit, place)?;
        self.written[self.of_unit[unit.index()] as usize].map_units += 1;
        Ok(())
    }

    /// What is written from here on is counted.
    pub fn measuring_began(&mut self) {
        self.written.fill(Written::default());
    }

    /// What the translation layer counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        for (partition, written) in (0..).zip(&self.written) {
            let counted = (view.ftl.units_of_partition(partition).0, view.ftl.map_units_of_partition(partition));
            let seen = (written.host_units, written.map_units);
            require!(
                counted == seen,
                Ledger,
                view.now,
                "of partition {partition} {counted:?} units of host and map are counted, seen were {seen:?}"
            );
        }
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
        for lpa in (0..self.of_unit.len() as u32).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place != Ppa::UNMAPPED {
                self.placed(view, lpa, place)?;
            }
        }
        Ok(())
    }
}
