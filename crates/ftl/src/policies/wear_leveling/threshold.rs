//! By a threshold: when a group whose data lies still has had `cycles` fewer erases than the most worn group of its pool, it is emptied;
//! of several the least worn, the first among equals.
//!
//! Data lies still where a group has not been erased while the drive filled as many groups as it has. Without that the group that was
//! just emptied, the least worn one for a long time yet, would be emptied again and again, with hot data in it. Swapping by a threshold is
//! what most surveys call static wear levelling (Gal and Toledo, "Algorithms and data structures for flash memories", 2005, section 3.3).

use std::collections::VecDeque;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, Erased, WearLeveling, WearLevelingParameters, problem_of_cycles};
use crate::GroupState;
use crate::minima::Minima;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Threshold {
    /// By how many erases a group is behind the most worn one of its pool when it is emptied [cycles].
    #[schemars(range(min = 1, max = 1_000_000))]
    pub cycles: u32,
}

impl Default for Threshold {
    fn default() -> Self {
        Self { cycles: 16 }
    }
}

impl WearLevelingParameters for Threshold {
    fn build(&self, geometry: &Geometry) -> Option<Box<dyn WearLeveling>> {
        let (pools, blocks) = (geometry.pools() as usize, geometry.blocks_per_plane as usize);
        Some(Box::new(ThresholdLeveling {
            cycles: self.cycles,
            groups: geometry.groups(),
            most: vec![0; pools],
            waiting: (0..pools).map(|_| VecDeque::with_capacity(2 * blocks)).collect(),
            known: vec![Known::default(); geometry.groups() as usize],
            still: Minima::new(geometry.groups() as usize, MOVES),
        }))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_cycles("cycles", self.cycles)
    }
}

/// In place of its erases, of a group whose data does not lie still.
const MOVES: u32 = u32::MAX;

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    erases: u32,
    candidate: bool,
    /// It has not been erased for so long.
    lies_still: bool,
}

/// What is known of wear.
#[derive(Debug)]
struct ThresholdLeveling {
    cycles: u32,
    /// Groups of the drive.
    groups: u32,
    /// By pool: erases of the most worn group.
    most: Vec<u32>,
    /// By pool: groups as they were filled, with the number of that, until they have lain still.
    waiting: Vec<VecDeque<(u32, u32)>>,
    known: Vec<Known>,
    /// Erases of the candidates whose data lies still.
    still: Minima<u32>,
}

impl ThresholdLeveling {
    /// Takes up the groups that were filled so long ago.
    fn take_up(&mut self, view: &CandidateView<'_>) {
        let waiting = &mut self.waiting[view.pool.index()];
        while let Some(&(group, sequence)) = waiting.front() {
            if view.filled.wrapping_sub(sequence) <= self.groups {
                return;
            }
            waiting.pop_front();
            let record = &view.records[(group - view.first) as usize];
            if record.closed_sequence == sequence && record.state == GroupState::Closed {
                self.known[group as usize].lies_still = true;
                sort(&mut self.still, &self.known, group as usize);
            }
        }
    }
}

/// Puts a group where it belongs.
fn sort(still: &mut Minima<u32>, known: &[Known], group: usize) {
    let Known { erases, candidate, lies_still } = known[group];
    still.put(group, if candidate && lies_still { erases } else { MOVES });
}

impl WearLeveling for ThresholdLeveling {
    fn choose(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        self.take_up(view);
        let first = view.first as usize;
        let least = self.still.least(first..first + view.len() as usize)?;
        let behind = self.most[view.pool.index()] - self.still.get(least);
        (behind >= self.cycles).then(|| least as u32 - view.first)
    }

    fn erased(&mut self, Erased { pool, group, erases }: Erased) {
        let most = &mut self.most[pool.index()];
        *most = erases.max(*most);
        self.known[group.index()].erases = erases;
    }

    fn starts_with(&mut self, erased: Erased) {
        self.erased(erased);
    }

    fn filled(&mut self, pool: Pool, group: BlockGroup, sequence: u32) {
        self.waiting[pool.index()].push_back((group.0, sequence));
    }

    fn joined(&mut self, group: BlockGroup) {
        self.known[group.index()].candidate = true;
        sort(&mut self.still, &self.known, group.index());
    }

    fn left(&mut self, group: BlockGroup) {
        let known = &mut self.known[group.index()];
        (known.candidate, known.lies_still) = (false, false);
        sort(&mut self.still, &self.known, group.index());
    }
}

/// All of it follows from the groups.
impl Snapshot for ThresholdLeveling {}
