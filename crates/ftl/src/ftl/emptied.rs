//! The drive is erased as a whole: what its groups hold is given up.

use ninescope_model::{BlockGroup, Pool};

use super::Ftl;
use crate::block::GroupState;
use crate::pool::Frontier;

impl Ftl {
    /// Nothing is under way and nothing is mapped: collections are over, no frontier is open, and all groups that hold anything are to
    /// be erased. Returns these; [`Self::erase_ended`] is to be reported of each.
    pub fn give_all_up(&mut self) -> Vec<BlockGroup> {
        for record in &mut self.pools {
            debug_assert!(record.handed_out == 0 && record.erasing == 0, "nothing is under way");
            (record.collection, record.collecting) = (None, false);
            record.refresh.clear();
            record.draining.clear();
            record.frontiers.fill(Frontier::default());
        }
        let mut given_up = Vec::new();
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let state = self.groups[group.index()].state;
            if matches!(state, GroupState::Free | GroupState::Retired) {
                continue;
            }
            let pool = self.geometry.pool_and_block(group).0;
            if state == GroupState::Closed {
                self.victim_selection.taken(pool, group);
            }
            self.groups[group.index()].state = GroupState::Erasing;
            self.pools[pool.index()].erasing += 1;
            self.refresh_candidate(group);
            given_up.push(group);
        }
        (0..self.geometry.pools()).for_each(|pool| self.refresh_space(Pool(pool)));
        given_up
    }
}
