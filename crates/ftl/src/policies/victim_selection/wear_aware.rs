//! Wear-aware: the candidate with the least sum of its valid units and its program/erase cycles, each of which weighs a share of a
//! group; the lowest index among equals. It is the weighted sum of utilisation and wear of Kim and Lee ("A new flash memory management for
//! flash storage system", COMPSAC 1999), with a weight that is given where theirs follows the spread of wear. A group that was
//! erased `n` cycles more than another has to hold `n weight` of a group less to be emptied before it, so that groups with cold
//! data are emptied at last, and take hot data after that. A weight of 0 is greedy.

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateView, VictimSelection, VictimSelectionParameters};
use crate::minima::Minima;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WearAware {
    /// What a program/erase cycle weighs, as a share of the units of a group (0 to 1).
    #[schemars(range(min = 0, max = 1))]
    pub weight: f64,
}

impl Default for WearAware {
    fn default() -> Self {
        Self { weight: 0.02 }
    }
}

impl VictimSelectionParameters for WearAware {
    fn build(&self, geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        let cycle = (self.weight * f64::from(geometry.units_per_group()) * UNIT as f64).round() as u64;
        let keys = Minima::new(geometry.groups() as usize, NO_CANDIDATE);
        Box::new(WearAwareSelection { cycle, keys })
    }

    fn problem(&self, _geometry: &Geometry) -> Option<(&'static str, String)> {
        // Neither is what is no number.
        (!(0.0..=1.0).contains(&self.weight)).then(|| ("weight", format!("is {}, a share is 0 to 1", self.weight)))
    }

    fn follows_candidates(&self) -> bool {
        true
    }
}

/// What a valid unit weighs: a cycle weighs parts of it.
const UNIT: u64 = 1 << 12;
/// The key of a group that is none.
const NO_CANDIDATE: u64 = u64::MAX;

/// What each candidate weighs.
#[derive(Debug)]
pub struct WearAwareSelection {
    /// What a cycle weighs.
    cycle: u64,
    /// By group.
    keys: Minima<u64>,
}

impl VictimSelection for WearAwareSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let first = view.first as usize;
        self.keys.least(first..first + view.len() as usize).map(|group| group as u32 - view.first)
    }

    fn joined(&mut self, candidate: Candidate) {
        let weight = u64::from(candidate.valid) * UNIT + u64::from(candidate.erases).saturating_mul(self.cycle);
        self.keys.put(candidate.group.index(), weight.min(NO_CANDIDATE - 1));
    }

    fn left(&mut self, group: BlockGroup) {
        self.keys.put(group.index(), NO_CANDIDATE);
    }

    fn invalidated(&mut self, group: BlockGroup) {
        if self.keys.get(group.index()) != NO_CANDIDATE {
            self.keys.lower(group.index(), |weight| weight.saturating_sub(UNIT));
        }
    }
}

/// All of it follows from the groups.
impl Snapshot for WearAwareSelection {}
