//! Which units are valid, how many of each group, and which groups are candidates for collection because of that.
//!
//! Where units lie, and why they become invalid, is not known here.

use ninescope_model::{BlockGroup, Ppa};

use super::Ftl;
use crate::block::GroupState;
use crate::policies::victim_selection::{Candidate, NOT_A_CANDIDATE};

impl Ftl {
    #[inline]
    pub(super) fn validate(&mut self, ppa: Ppa) {
        self.valid.set(ppa.index());
        // What is written lies in a group that is no candidate yet.
        self.valid_counts.change_aside(self.geometry.group_and_offset(ppa).0.index(), |valid| valid + 1);
    }

    #[inline]
    pub(super) fn invalidate(&mut self, ppa: Ppa) {
        debug_assert!(self.valid.get(ppa.index()), "only a valid unit is invalidated");
        self.valid.clear(ppa.index());
        let group = self.geometry.group_and_offset(ppa).0;
        self.valid_counts.lower(group.index(), |valid| valid - 1);
        if self.follows_candidates {
            self.victim_selection.invalidated(group);
        }
    }

    pub(super) fn refresh_candidate(&mut self, group: BlockGroup) {
        let record = &self.groups[group.index()];
        let candidate = record.state == GroupState::Closed
            && record.pending == 0
            && !record.failed
            && record.programmed == self.geometry.units_per_group();
        let before = self.valid_counts.get(group.index());
        if candidate == (before & NOT_A_CANDIDATE == 0) {
            return;
        }
        self.valid_counts.put(group.index(), before ^ NOT_A_CANDIDATE);
        if self.follows_candidates {
            self.tell_of_candidate(group, candidate);
        }
    }

    #[cold]
    fn tell_of_candidate(&mut self, group: BlockGroup, is_one: bool) {
        if is_one {
            let (pool, valid) = (self.geometry.pool_and_block(group).0, self.valid_units(group));
            let erases = self.groups[group.index()].erase_count;
            self.victim_selection.joined(Candidate { pool, group, valid, erases });
        } else {
            self.victim_selection.left(group);
        }
        self.tell_leveling_of_candidate(group, is_one);
    }
}
