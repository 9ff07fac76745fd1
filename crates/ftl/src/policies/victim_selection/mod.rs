//! Which block group garbage collection empties next.

pub mod d_choices;
pub mod fifo;
pub mod greedy;
pub mod random;
pub mod random_invalid;

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool, policy_registry};

/// Set in an entry of the valid-count table when the group is no candidate.
pub(crate) const NOT_A_CANDIDATE: u32 = 1 << 31;

/// The candidates of one pool: closed groups that are fully programmed and hold no pending move.
#[derive(Clone, Copy, Debug)]
pub struct CandidateView<'a> {
    /// The pool.
    pub pool: Pool,
    /// Its first group; entry `i` of `entries` belongs to group `first + i`.
    pub first: u32,
    /// Units in a group.
    pub units_per_group: u32,
    /// Valid units, with `NOT_A_CANDIDATE` set where the group may not be chosen.
    pub(crate) entries: &'a [u32],
}

impl CandidateView<'_> {
    /// Groups of the pool, candidates or not.
    pub fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Whether the pool has no groups.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Valid units of group number `index` of the pool, `None` when it is no candidate.
    #[inline]
    pub fn valid_units(&self, index: u32) -> Option<u32> {
        let entry = self.entries[index as usize];
        (entry & NOT_A_CANDIDATE == 0).then_some(entry)
    }

    /// The group that is number `index` of the pool.
    #[inline]
    pub fn group(&self, index: u32) -> BlockGroup {
        BlockGroup(self.first + index)
    }

    /// The candidate with the fewest valid units, the lowest index among equals.
    pub fn fewest_valid(&self) -> Option<u32> {
        // Flagged entries compare above every count, so a plain minimum is the scan.
        let least = self.entries.iter().copied().min()?;
        if least & NOT_A_CANDIDATE != 0 {
            return None;
        }
        self.entries.iter().position(|&entry| entry == least).map(|index| index as u32)
    }
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
}

policy_registry! {
    /// Which block group garbage collection empties next.
    VictimSelectionConfig;
    "greedy" => Greedy(greedy::Greedy), "the candidate with the fewest valid units";
    "fifo" => Fifo(fifo::Fifo), "the group that was filled first";
    "random" => Random(random::Random), "any candidate with equal probability";
    "random-invalid" => RandomInvalid(random_invalid::RandomInvalid), "any candidate that holds something invalid with equal probability";
    "d-choices" => DChoices(d_choices::DChoices), "the one with the fewest valid units among d drawn at random";
}

impl VictimSelectionConfig {
    pub(crate) fn build(&self, geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        match self {
            Self::Greedy(parameters) => Box::new(*parameters),
            Self::Fifo(_) => Box::new(fifo::FifoSelection::new(geometry)),
            Self::Random(_) => Box::new(random::RandomSelection::new(seed)),
            Self::RandomInvalid(_) => Box::new(random_invalid::RandomInvalidSelection::new(seed)),
            Self::DChoices(parameters) => Box::new(d_choices::DChoicesSelection::new(*parameters, seed)),
        }
    }
}

impl Default for VictimSelectionConfig {
    fn default() -> Self {
        Self::Greedy(greedy::Greedy {})
    }
}
