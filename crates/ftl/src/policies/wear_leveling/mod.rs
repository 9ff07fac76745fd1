//! Static wear levelling: which group of flash is emptied although its space is not needed, so that data which lies still makes way
//! for data that does not. What is moved goes to the most worn groups that are free.

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool, policy_registry};

use super::CandidateView;

/// The most cycles that a threshold may be: more is a slip.
const CYCLES_MAX: u32 = 1_000_000;

/// A group, and the erases that it has behind it.
#[derive(Clone, Copy, Debug)]
pub struct Erased {
    /// Its pool.
    pub pool: Pool,
    /// The group.
    pub group: BlockGroup,
    /// Its erases so far [count].
    pub erases: u32,
}

/// Chooses groups. Asked after each erase of a pool that has no group under way.
///
/// Before its state is loaded from a snapshot it is told of all groups, and of those that are filled, in the order of filling: what
/// follows from that needs no saving.
pub trait WearLeveling: Debug + Send + Snapshot {
    /// The number (within its pool) of the group to empty, which must be a candidate of `view`; `None` where wear is level.
    fn choose(&mut self, view: &CandidateView<'_>) -> Option<u32>;

    /// Told of each erase.
    fn erased(&mut self, erased: Erased);

    /// Told of every group when a drive that was used is taken over.
    fn starts_with(&mut self, erased: Erased);

    /// Told when a group has been filled, with its number in the order of filling.
    fn filled(&mut self, _pool: Pool, _group: BlockGroup, _sequence: u32) {}

    /// Told when a group becomes a candidate.
    fn joined(&mut self, _group: BlockGroup) {}

    /// Told when one is a candidate no more.
    fn left(&mut self, _group: BlockGroup) {}

    /// Told when a group is retired.
    fn retired(&mut self, _group: BlockGroup) {}
}

/// What wear levelling can be told.
pub trait WearLevelingParameters {
    /// The policy; none where wear is not levelled.
    fn build(&self, geometry: &Geometry) -> Option<Box<dyn WearLeveling>>;

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// Static wear levelling: which group is emptied because data lies still in it.
    WearLevelingConfig as dyn WearLevelingParameters;
    "none" => none::None, "none: wear is balanced only by which free block is taken next";
    "threshold" => threshold::Threshold, "the least worn group whose data lies still, when it is so many cycles behind the most worn one";
    "dual-pool" => dual_pool::DualPool, "data of the least worn group of a cold pool goes to the most worn one of a hot pool, and they change pools";
}

impl WearLevelingConfig {
    /// Whether wear is levelled.
    pub fn levels(&self) -> bool {
        *self != Self::default()
    }
}

/// A number of cycles that means something.
fn problem_of_cycles(key: &'static str, cycles: u32) -> Option<(&'static str, String)> {
    (!(1..=CYCLES_MAX).contains(&cycles)).then(|| (key, format!("is {cycles}, it must be 1 to {CYCLES_MAX}")))
}
