//! How long flash lasts whose blocks bear numbers of cycles of their own, where wear is level: until the first block is worn out, and
//! until a pool has lost so many that the drive takes no more writes.

use ninescope_ftl::{Ftl, GroupState};
use ninescope_model::{BlockGroup, Pool};
use serde::Serialize;

use super::medium::{Window, ratio, years};

/// What the cycles that its blocks bear make of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WearOutLife {
    /// Cycles that the weakest block group bears [count].
    pub first_cycles: u32,
    /// Cycles of the good blocks when the first pool has too few of them left [count].
    pub read_only_cycles: u32,
    /// How often the window can be repeated from new until the first is worn out.
    pub passes_to_first: Option<f64>,
    /// How often until the drive takes no more writes.
    pub passes_to_read_only: Option<f64>,
    /// How long that takes at the measured rate [years].
    pub years_to_read_only: Option<f64>,
}

/// What can be done with the blocks of a drive from when they were new, where wear is level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Borne {
    first_cycles: u32,
    read_only_cycles: u32,
    /// What can be written until the first is worn out [B].
    to_first: f64,
    /// What can be written until a pool has too few left [B].
    pub to_read_only: f64,
}

impl Borne {
    /// Of a drive whose blocks wear out.
    pub fn of(ftl: &Ftl, initial_cycles: u32) -> Option<Self> {
        let geometry = ftl.geometry();
        let group_bytes = u64::from(geometry.units_per_group()) * u64::from(geometry.unit_bytes);
        let borne = |group: BlockGroup| {
            let record = ftl.group(group);
            let is_good = record.state != GroupState::Retired || record.erase_count > 0;
            ftl.endurance(group).filter(|_| is_good).map(|erases| erases.saturating_add(initial_cycles))
        };
        let pools: Vec<(Vec<u32>, u32)> = (0..geometry.pools())
            .map(|pool| {
                let groups = pool * geometry.blocks_per_plane..(pool + 1) * geometry.blocks_per_plane;
                (groups.map(BlockGroup).filter_map(borne).collect(), ftl.groups_needed(Pool(pool)))
            })
            .collect();
        Self::of_pools(&pools, group_bytes)
    }

    /// The same of what the groups of each pool bear, and how many each needs.
    fn of_pools(pools: &[(Vec<u32>, u32)], group_bytes: u64) -> Option<Self> {
        let read_only = |(borne, needed): &(Vec<u32>, u32)| {
            let mut sorted = borne.clone();
            sorted.sort_unstable();
            // With the one that leaves fewer than it needs.
            sorted.get(sorted.len().checked_sub(*needed as usize)?).copied()
        };
        let all = || pools.iter().flat_map(|(borne, _)| borne);
        let (first, last) = (*all().min()?, pools.iter().filter_map(read_only).min()?);
        let bytes = |cycles: u64| cycles as f64 * group_bytes as f64;
        Some(Self {
            first_cycles: first,
            read_only_cycles: last,
            to_first: bytes(all().count() as u64 * u64::from(first)),
            to_read_only: bytes(all().map(|&borne| u64::from(borne.min(last))).sum()),
        })
    }
}

impl WearOutLife {
    /// What that comes to where the window programs so many bytes.
    pub(super) fn of(borne: Borne, written: u64, window: Window) -> Self {
        let passes = |bytes: f64| ratio(bytes, written as f64);
        let passes_to_read_only = passes(borne.to_read_only);
        Self {
            first_cycles: borne.first_cycles,
            read_only_cycles: borne.read_only_cycles,
            passes_to_first: passes(borne.to_first),
            passes_to_read_only,
            years_to_read_only: passes_to_read_only.map(|passes| years(passes, window)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four groups bear 10 to 40 cycles and two are needed: with the third that is gone, at 30 cycles, it is over, after
    /// 10 + 20 + 30 + 30 groups were filled. The first is gone when all have 10.
    #[test]
    fn the_end_comes_with_the_group_that_cannot_be_spared() {
        let window = Window { ns: 86_400_000_000_000, host_bytes: 1 };
        let of = |pools: &[_], group_bytes, written| {
            let borne = Borne::of_pools(pools, group_bytes).expect("blocks wear out");
            WearOutLife::of(borne, written, window)
        };
        let life = of(&[(vec![40, 10, 30, 20], 2)], 100, 900);
        assert_eq!((life.first_cycles, life.read_only_cycles), (10, 30));
        assert_eq!((life.passes_to_first, life.passes_to_read_only), (Some(40.0 / 9.0), Some(10.0)));
        assert!((life.years_to_read_only.expect("it is written") - 10.0 / 365.0).abs() < 1e-12);
        // The pool that is over first ends the drive, and what is not written lasts.
        let two = of(&[(vec![40, 10, 30, 20], 2), (vec![15, 15, 90], 3)], 100, 0);
        assert_eq!((two.read_only_cycles, two.passes_to_read_only), (15, None));
        // Equal blocks: all of their cycles.
        let equal = of(&[(vec![50; 8], 5)], 10, 80);
        assert_eq!((equal.passes_to_first, equal.passes_to_read_only), (Some(50.0), Some(50.0)));
    }
}
