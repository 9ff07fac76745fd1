//! Planes that a kind of data has for itself: what is written there, and what goes elsewhere, by counting what is valid.

use ninescope_engine::View;
use ninescope_model::{BlockGroup, Pool, Ppa};

use crate::rule::{Checked, require};

/// The pools of a drive of which some are those of kinds of data.
#[derive(Debug)]
pub struct HomeBook {
    /// By kind: its pools.
    homes: Vec<Vec<u32>>,
    /// Units that a pool may hold.
    most: u32,
}

impl HomeBook {
    /// Takes over what a drive was told; none where no kind has planes of its own.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let homes = view.ftl.homes().to_vec();
        let most = view.ftl.units_of_a_home();
        (!homes.is_empty()).then_some(Self { homes, most })
    }

    /// A unit that lay at `old` was written at `new`.
    pub fn written(&self, view: &View<'_>, old: Ppa, new: Ppa) -> Checked {
        let geometry = view.ftl.geometry();
        let pool_of = |place: Ppa| geometry.pool_and_block(geometry.group_and_offset(place).0).0;
        let (pool, before) = (pool_of(new), (old != Ppa::UNMAPPED).then(|| pool_of(old)));
        // As it was when the place was chosen.
        let held = |of: u32| {
            let first = of * geometry.blocks_per_plane;
            let groups = (first..first + geometry.blocks_per_plane).map(BlockGroup);
            let now: u32 = groups.map(|group| view.ftl.valid_units(group)).sum();
            now + u32::from(before == Some(Pool(of))) - u32::from(pool == Pool(of))
        };
        let kind = view.ftl.stream_of(new).kind() as usize;
        let own = &self.homes[kind];
        let at_home = own.contains(&pool.0);
        require!(
            held(pool.0) < self.most && (at_home || own.iter().all(|&own| held(own) >= self.most)),
            StreamChannels,
            view.now,
            "a unit of kind {kind}, whose pools are {own:?}, is written to pool {pool}, which holds {} of {} units",
            held(pool.0),
            self.most
        );
        Ok(())
    }
}
