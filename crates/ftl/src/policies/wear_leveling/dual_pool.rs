//! The dual-pool algorithm (Chang, "On efficient wear leveling for large-scale flash-memory storage systems", SAC 2007). Each pool of
//! groups is divided into a hot one, which is to hold hot data, and a cold one. After an erase, with `TH` the threshold:
//!
//! 1. where a group of the cold pool has had more than `TH` erases more since it came there than one of the hot pool has, it holds no cold
//!    data and goes to the hot pool;
//! 2. where a group of the hot pool has had more than `2 TH` erases less than the most worn one there, it holds no hot data and goes to
//!    the cold pool;
//! 3. where the most worn group of the hot pool, which is free, has had more than `TH` erases more than the least worn one of the cold pool,
//!    the latter is emptied for the former, and the two change pools. Erases since they came there count from 0.
//!
//! A worn group with cold data is left alone until the others have as many cycles, which a threshold on the least worn group is not.

use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Geometry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, Erased, WearLeveling, WearLevelingParameters, problem_of_cycles};
use crate::GroupState;
use crate::minima::Minima;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DualPool {
    /// The threshold TH [cycles].
    #[schemars(range(min = 1, max = 1_000_000))]
    pub cycles: u32,
}

impl Default for DualPool {
    fn default() -> Self {
        Self { cycles: 16 }
    }
}

impl WearLevelingParameters for DualPool {
    fn build(&self, geometry: &Geometry) -> Option<Box<dyn WearLeveling>> {
        Some(Box::new(DualPoolLeveling::new(self.cycles, geometry)))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("cycles", self.cycles)
    }
}

/// The key of a group that is not of a pool.
const OTHERS: u32 = u32::MAX;

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    erases: u32,
    /// Erases since it came to its pool.
    since: u32,
    hot: bool,
    candidate: bool,
    retired: bool,
}

/// Two pools for each pool of groups.
#[derive(Debug)]
struct DualPoolLeveling {
    cycles: u32,
    groups: Vec<Known>,
    /// Candidates of the cold pool by their erases.
    cold_least: Minima<u32>,
    /// The cold pool by the erases since groups came there, the most first.
    cold_most_since: Minima<u32>,
    /// The hot pool by erases, and the most first, and by erases since.
    hot_least: Minima<u32>,
    hot_most: Minima<u32>,
    hot_least_since: Minima<u32>,
}

impl DualPoolLeveling {
    fn new(cycles: u32, geometry: &Geometry) -> Self {
        let (count, blocks) = (geometry.groups() as usize, geometry.blocks_per_plane);
        // One half or the other: which group is where is learnt.
        let known = |group: u32| Known { hot: group % blocks < blocks / 2, ..Known::default() };
        let nobody = || Minima::new(count, OTHERS);
        let mut leveling = Self {
            cycles,
            groups: (0..geometry.groups()).map(known).collect(),
            cold_least: nobody(),
            cold_most_since: nobody(),
            hot_least: nobody(),
            hot_most: nobody(),
            hot_least_since: nobody(),
        };
        (0..count).for_each(|group| leveling.sort(group));
        leveling
    }

    /// Puts a group where it belongs.
    fn sort(&mut self, group: usize) {
        let Known { erases, since, hot, candidate, retired } = self.groups[group];
        let of = |is_of: bool, key: u32| if is_of && !retired { key } else { OTHERS };
        let most_first = |count: u32| OTHERS - 1 - count;
        self.cold_least.put(group, of(!hot && candidate, erases));
        self.cold_most_since.put(group, of(!hot, most_first(since)));
        self.hot_least.put(group, of(hot, erases));
        self.hot_most.put(group, of(hot, most_first(erases)));
        self.hot_least_since.put(group, of(hot, since));
    }

    fn goes_to(&mut self, group: usize, hot: bool) {
        self.groups[group].hot = hot;
        self.sort(group);
    }
}

impl WearLeveling for DualPoolLeveling {
    fn choose(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let range = || view.first as usize..(view.first + view.len()) as usize;
        if let (Some(cold), Some(hot)) = (self.cold_most_since.least(range()), self.hot_least_since.least(range()))
            && self.groups[cold].since > self.groups[hot].since + self.cycles
        {
            self.goes_to(cold, true);
        }
        let (least, most) = (self.hot_least.least(range())?, self.hot_most.least(range())?);
        if self.groups[most].erases > self.groups[least].erases + 2 * self.cycles {
            self.goes_to(least, false);
        }
        let (cold, hot) = (self.cold_least.least(range())?, self.hot_most.least(range())?);
        let is_free = view.records[hot - view.first as usize].state == GroupState::Free;
        if !is_free || self.groups[hot].erases <= self.groups[cold].erases + self.cycles {
            return None;
        }
        (self.groups[hot].since, self.groups[cold].since) = (0, 0);
        self.goes_to(hot, false);
        self.goes_to(cold, true);
        Some(cold as u32 - view.first)
    }

    fn erased(&mut self, Erased { group, erases, .. }: Erased) {
        let known = &mut self.groups[group.index()];
        (known.erases, known.since) = (erases, known.since + 1);
        self.sort(group.index());
    }

    fn starts_with(&mut self, Erased { group, erases, .. }: Erased) {
        self.groups[group.index()].erases = erases;
        self.sort(group.index());
    }

    fn joined(&mut self, group: BlockGroup) {
        self.groups[group.index()].candidate = true;
        self.sort(group.index());
    }

    fn left(&mut self, group: BlockGroup) {
        self.groups[group.index()].candidate = false;
        self.sort(group.index());
    }

    fn retired(&mut self, group: BlockGroup) {
        self.groups[group.index()].retired = true;
        self.sort(group.index());
    }
}

/// The pools, and how long groups have been there. Their erases are told.
impl Snapshot for DualPoolLeveling {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.column(self.groups.iter().map(|known| known.since))?;
        to.column(self.groups.iter().map(|known| u32::from(known.hot)))
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let mut numbers = vec![0; self.groups.len()];
        from.column(&mut numbers, |number| number)?;
        for (known, &since) in self.groups.iter_mut().zip(&numbers) {
            must_hold(since <= known.erases, || {
                "a group has been in its pool for longer than it has lived".to_owned()
            })?;
            known.since = since;
        }
        from.column(&mut numbers, |number| number)?;
        for (group, &hot) in numbers.iter().enumerate() {
            must_hold(hot <= 1, || format!("group {group} is in a pool that is none"))?;
            self.goes_to(group, hot == 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;
    use crate::BlockRecord;
    use crate::policies::victim_selection::NOT_A_CANDIDATE;

    /// The paper's rules, by looking at all groups.
    #[derive(Debug)]
    struct Naive {
        cycles: u32,
        groups: Vec<Known>,
    }

    impl Naive {
        fn best(&self, of: impl Fn(&Known) -> bool, key: impl Fn(&Known) -> u32) -> Option<usize> {
            let groups = self.groups.iter().enumerate().filter(|(_, known)| of(known));
            groups.min_by_key(|(index, known)| (key(known), *index)).map(|(index, _)| index)
        }

        fn choose(&mut self, free: &[bool]) -> Option<usize> {
            let (hot, cold) = (|known: &Known| known.hot, |known: &Known| !known.hot);
            if let (Some(worn), Some(young)) =
                (self.best(cold, |known| u32::MAX - known.since), self.best(hot, |known| known.since))
                && self.groups[worn].since > self.groups[young].since + self.cycles
            {
                self.groups[worn].hot = true;
            }
            let (least, most) =
                (self.best(hot, |known| known.erases)?, self.best(hot, |known| u32::MAX - known.erases)?);
            if self.groups[most].erases - self.groups[least].erases > 2 * self.cycles {
                self.groups[least].hot = false;
            }
            let from = self.best(|known| !known.hot && known.candidate, |known| known.erases)?;
            let to = self.best(hot, |known| u32::MAX - known.erases)?;
            if !free[to] || self.groups[to].erases <= self.groups[from].erases + self.cycles {
                return None;
            }
            (self.groups[to].hot, self.groups[to].since) = (false, 0);
            (self.groups[from].hot, self.groups[from].since) = (true, 0);
            Some(from)
        }
    }

    #[test]
    fn it_decides_as_the_papers_rules_do_by_looking_at_all_groups() {
        let mut swaps = 0;
        for (seed, groups, cycles) in [(1, 4, 1), (2, 9, 2), (3, 70, 3), (4, 200, 5)] {
            let geometry = Geometry::checked(1, 1, 1, 1, groups, 2, 4_096, 4_096, 1).expect("a legal geometry");
            let mut leveling = DualPoolLeveling::new(cycles, &geometry);
            let mut naive = Naive { cycles, groups: leveling.groups.clone() };
            let mut records = vec![BlockRecord::default(); groups as usize];
            let mut counts = Minima::new(groups as usize, NOT_A_CANDIDATE);
            let mut stream = RandomStream::new(seed, "test", "dual pool");
            for step in 0..4_000 {
                // Few groups are erased often.
                let within = if stream.below(10) < 8 { u64::from(groups).div_ceil(4) } else { u64::from(groups) };
                let group = stream.below(within) as usize;
                let pool = ninescope_model::Pool(0);
                if records[group].state == GroupState::Free {
                    records[group].state = GroupState::Closed;
                    counts.put(group, 1);
                    leveling.joined(BlockGroup(group as u32));
                    naive.groups[group].candidate = true;
                    continue;
                }
                counts.put(group, NOT_A_CANDIDATE);
                leveling.left(BlockGroup(group as u32));
                (records[group].state, naive.groups[group].candidate) = (GroupState::Free, false);
                records[group].erase_count += 1;
                let erases = records[group].erase_count;
                leveling.erased(Erased { pool, group: BlockGroup(group as u32), erases });
                (naive.groups[group].erases, naive.groups[group].since) = (erases, naive.groups[group].since + 1);
                let view = CandidateView {
                    pool,
                    first: 0,
                    units_per_group: 2,
                    valid_counts: &counts,
                    records: &records,
                    filled: 0,
                };
                let free: Vec<bool> = records.iter().map(|record| record.state == GroupState::Free).collect();
                let chosen = leveling.choose(&view).map(|index| index as usize);
                assert_eq!(chosen, naive.choose(&free), "seed {seed}, step {step}");
                let pools = |known: &[Known]| known.iter().map(|known| (known.hot, known.since)).collect::<Vec<_>>();
                assert_eq!(pools(&leveling.groups), pools(&naive.groups));
                swaps += u32::from(chosen.is_some());
            }
        }
        assert!(swaps > 100, "{swaps} swaps");
    }
}
