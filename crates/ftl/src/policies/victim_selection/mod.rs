//! Which block group garbage collection empties next.

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool, Stream, policy_registry};

use crate::BlockRecord;
use crate::minima::Minima;

/// Set in an entry of the valid-count table when the group is no candidate.
pub(crate) const NOT_A_CANDIDATE: u32 = 1 << 31;

/// The candidates of one pool: closed groups that are fully programmed and hold no pending move.
#[derive(Clone, Copy, Debug)]
pub struct CandidateView<'a> {
    /// The pool.
    pub pool: Pool,
    /// Its first group.
    pub first: u32,
    /// Units in a group.
    pub units_per_group: u32,
    /// Valid units of all groups of the drive, with `NOT_A_CANDIDATE` set where the group may not be chosen.
    pub(crate) valid_counts: &'a Minima<u32>,
    /// The records of the groups of the pool.
    pub(crate) records: &'a [BlockRecord],
    /// Groups filled so far in the drive, modulo 2^32.
    pub(crate) filled: u32,
}

impl<'a> CandidateView<'a> {
    /// The groups of a pool among those of the drive. (Not of the layer, so that whoever looks may have a part of that.)
    #[inline]
    pub(crate) fn of(
        pool: Pool,
        geometry: &Geometry,
        (valid_counts, groups): (&'a Minima<u32>, &'a [BlockRecord]),
        filled: u32,
    ) -> Self {
        let (blocks, units_per_group) = (geometry.blocks_per_plane, geometry.units_per_group());
        let first = pool.0 * blocks;
        let records = &groups[first as usize..(first + blocks) as usize];
        Self { pool, first, units_per_group, valid_counts, records, filled }
    }

    /// Groups of the pool, candidates or not.
    pub fn len(&self) -> u32 {
        self.records.len() as u32
    }

    /// Whether the pool has no groups.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Valid units of group number `index` of the pool, `None` when it is no candidate.
    #[inline]
    pub fn valid_units(&self, index: u32) -> Option<u32> {
        let entry = self.valid_counts.get((self.first + index) as usize);
        (entry & NOT_A_CANDIDATE == 0).then_some(entry)
    }

    /// How long ago group number `index` was filled [groups filled in the drive since].
    #[inline]
    pub fn age(&self, index: u32) -> u32 {
        self.filled.wrapping_sub(self.records[index as usize].closed_sequence).wrapping_sub(1)
    }

    /// Program/erase cycles of group number `index` of the pool so far [count].
    #[inline]
    pub fn erases(&self, index: u32) -> u32 {
        self.records[index as usize].erase_count
    }

    /// The stream that filled group number `index` of the pool.
    #[inline]
    pub fn stream(&self, index: u32) -> Stream {
        Stream(self.records[index as usize].stream.into())
    }

    /// The group that is number `index` of the pool.
    #[inline]
    pub fn group(&self, index: u32) -> BlockGroup {
        BlockGroup(self.first + index)
    }

    /// The candidate with the fewest valid units, the lowest index among equals.
    pub fn fewest_valid(&self) -> Option<u32> {
        let first = self.first as usize;
        self.valid_counts.least(first..first + self.records.len()).map(|group| group as u32 - self.first)
    }
}

/// A group that has become a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its pool.
    pub pool: Pool,
    /// The group.
    pub group: BlockGroup,
    /// Units of it that are valid; there are never more of them.
    pub valid: u32,
    /// Its program/erase cycles so far [count].
    pub erases: u32,
}

/// Chooses victims. Asked once per block group reclaimed.
///
/// Before its state is loaded from a snapshot it is told of all groups that are filled, in the order of filling: what
/// follows from that needs no saving.
pub trait VictimSelection: Debug + Send + Snapshot {
    /// The number (within its pool) of the group to empty next, which must be a candidate of `view`;
    /// `None` when there is none worth taking.
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32>;

    /// Told when a group has been filled, in the order of filling.
    fn closed(&mut self, _pool: Pool, _group: BlockGroup) {}

    /// Told when a group is emptied that was not selected: it is refreshed.
    fn taken(&mut self, _pool: Pool, _group: BlockGroup) {}

    /// Told when a group becomes a candidate, if it is one that [`VictimSelectionParameters::follows_candidates`].
    fn joined(&mut self, _candidate: Candidate) {}

    /// Told, likewise, when one is a candidate no more: it is emptied.
    fn left(&mut self, _group: BlockGroup) {}

    /// Told, likewise, when a unit of a group, candidate or not, becomes invalid.
    fn invalidated(&mut self, _group: BlockGroup) {}
}

/// What a victim policy can be told.
pub trait VictimSelectionParameters {
    /// The policy. It draws its random numbers from a stream of this seed.
    fn build(&self, geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection>;

    /// What is wrong with the parameters on flash of this shape: the key and the rest of a sentence that begins with it.
    fn problem(&self, _geometry: &Geometry) -> Option<(&'static str, String)> {
        None
    }

    /// Whether it is told of every candidate, and of every unit that becomes invalid, so that it need not look for its victim.
    fn follows_candidates(&self) -> bool {
        false
    }

    /// Whether all that it knows follows from the groups and the order in which they were filled. If so, a steady drive is
    /// composed of one pool.
    fn follows_from_groups(&self) -> bool {
        true
    }
}

policy_registry! {
    /// Which block group garbage collection empties next.
    VictimSelectionConfig as dyn VictimSelectionParameters;
    "greedy" => greedy::Greedy, "the candidate with the fewest valid units";
    "fifo" => fifo::Fifo, "the group that was filled first";
    "random" => random::Random, "any candidate with equal probability";
    "random-invalid" => random_invalid::RandomInvalid, "any candidate that holds something invalid with equal probability";
    "d-choices" => d_choices::DChoices, "the one with the fewest valid units among d drawn at random";
    "windowed-greedy" => windowed_greedy::WindowedGreedy, "the one with the fewest valid units among those filled first";
    "second-chance" => second_chance::SecondChance, "the group filled first; one with much valid is passed over once";
    "cost-benefit" => cost_benefit::CostBenefit, "the one with most to gain for its cost, the more so the longer it has not changed";
    "wear-aware" => wear_aware::WearAware, "the one with the fewest valid units and cycles, a cycle weighing some units";
}

impl VictimSelectionConfig {
    pub(crate) fn build(&self, geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        self.chosen().build(geometry, seed)
    }
}
