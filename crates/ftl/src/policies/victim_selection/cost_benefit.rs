//! Cost-benefit: the candidate for which `age (1 - u) / 2u` is greatest, of which a share `u` is valid and whose last unit became
//! invalid `age` ago (Kawaguchi, Nishioka and Motoda, "A flash-memory based file system", USENIX 1995; Rosenblum and
//! Ousterhout, "The design and implementation of a log-structured file system", 1992, have `1 + u` for `2u`, as they read all
//! of a segment). What is hot is left to become invalid by itself, and what is cold is emptied although less is gained.
//!
//! Time is counted in units that became invalid in the drive. Candidates with as many valid units are a list, the one first that has
//! not changed for longest: a unit that becomes invalid puts its group at the end of the next list, and of each list only the first
//! can be the victim. So a choice takes as many comparisons as there are lists with something in them, however many groups
//! there are: no more than a group has units.

use ninescope_kernel::{
    BitTable, Links, NONE, RecencyList, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold, zeroed,
};
use ninescope_model::{BlockGroup, Geometry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateView, VictimSelection, VictimSelectionParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostBenefit {}

impl VictimSelectionParameters for CostBenefit {
    fn build(&self, geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(CostBenefitSelection::new(geometry))
    }

    fn follows_candidates(&self) -> bool {
        true
    }

    fn follows_from_groups(&self) -> bool {
        false
    }
}

/// The candidates of each pool by how many of their units are valid, and when each changed last.
#[derive(Debug)]
pub struct CostBenefitSelection {
    /// Units that became invalid.
    now: u64,
    /// By group: when the last of its units became invalid, or it became a candidate.
    changed: Vec<u64>,
    /// By group: its list, `NONE` where it is no candidate.
    list_of: Vec<u32>,
    links: Vec<Links>,
    /// By pool and number of valid units.
    lists: Vec<RecencyList>,
    /// Those that hold anything.
    filled: BitTable,
    /// Lists of a pool: one more than a group has units.
    per_pool: u32,
}

impl CostBenefitSelection {
    fn new(geometry: &Geometry) -> Self {
        let (groups, per_pool) = (geometry.groups() as usize, geometry.units_per_group() + 1);
        let lists = geometry.pools() as usize * per_pool as usize;
        Self {
            now: 0,
            changed: zeroed(groups),
            list_of: vec![NONE; groups],
            links: vec![Links::default(); groups],
            lists: vec![RecencyList::default(); lists],
            filled: BitTable::new(lists),
            per_pool,
        }
    }

    fn put_last(&mut self, group: u32, list: u32) {
        self.list_of[group as usize] = list;
        self.lists[list as usize].push_newest(&mut self.links, group);
        self.filled.set(list as usize);
    }

    fn take_out(&mut self, group: u32) -> u32 {
        let number = std::mem::replace(&mut self.list_of[group as usize], NONE);
        let list = &mut self.lists[number as usize];
        list.remove(&mut self.links, group);
        if list.count() == 0 {
            self.filled.clear(number as usize);
        }
        number
    }
}

impl VictimSelection for CostBenefitSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let begin = (view.pool.0 * self.per_pool) as usize;
        let end = begin + self.per_pool as usize;
        // Benefit over cost as a fraction: the two that are the same for all, the units of a group and the 2, are left out.
        let mut best: Option<(u128, u128, u32)> = None;
        let mut next = self.filled.next_set_before(begin, end);
        while let Some(list) = next {
            let group = self.lists[list].oldest().expect("it is not empty");
            let valid = (list - begin) as u32;
            let gained = u128::from(view.units_per_group - valid);
            let benefit = u128::from(self.now - self.changed[group as usize]) * gained;
            let cost = u128::from(valid);
            // What costs nothing comes first in any case, whatever its age.
            if best.is_none_or(|(most, least, _)| least > 0 && benefit * least > most * cost) {
                best = Some((benefit, cost, group));
            }
            next = self.filled.next_set_before(list + 1, end);
        }
        best.map(|(_, _, group)| group - view.first)
    }

    fn joined(&mut self, candidate: Candidate) {
        let group = candidate.group.0;
        self.changed[group as usize] = self.now;
        self.put_last(group, candidate.pool.0 * self.per_pool + candidate.valid);
    }

    fn left(&mut self, group: BlockGroup) {
        self.take_out(group.0);
    }

    fn invalidated(&mut self, group: BlockGroup) {
        self.now += 1;
        if self.list_of[group.index()] != NONE {
            let list = self.take_out(group.0);
            self.changed[group.index()] = self.now;
            self.put_last(group.0, list - 1);
        }
    }
}

/// Which groups are candidates, and of how many valid units, follows from the groups.
impl Snapshot for CostBenefitSelection {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u64(self.now)?;
        // In the order of their lists, so that those that changed at the same time keep theirs.
        let orders = self.lists.iter().flat_map(|list| {
            std::iter::successors(list.oldest(), |&group| RecencyList::newer_than(&self.links, group))
        });
        to.column(orders)?;
        to.words(&self.changed)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.now = from.u64()?;
        must_hold(self.now < 1 << 62, || format!("{} units are said to have become invalid", self.now))?;
        let count = self.lists.iter().map(|list| list.count() as usize).sum();
        let mut order = vec![0; count];
        from.column(&mut order, |group| group)?;
        from.words(&mut self.changed)?;
        let mut left = self.list_of.clone();
        let mut before: Option<(u32, u64)> = None;
        for group in order {
            let list = left.get_mut(group as usize).map_or(NONE, |list| std::mem::replace(list, NONE));
            let changed = self.changed.get(group as usize).copied().unwrap_or(u64::MAX);
            let sound = list != NONE && changed <= self.now && before.is_none_or(|before| before <= (list, changed));
            must_hold(sound, || format!("candidates are not in the order in which they changed at group {group}"))?;
            self.take_out(group);
            self.put_last(group, list);
            before = Some((list, changed));
        }
        Ok(())
    }
}
