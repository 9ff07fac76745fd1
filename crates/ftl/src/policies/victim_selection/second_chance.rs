//! FIFO with a second chance: the group that was filled first, unless more than a share of it is valid, and it was not passed over
//! before: then it goes to the end of the line, as a page that was used does under the clock algorithm (Corbató, "A paging experiment
//! with the Multics system", 1968), and is emptied when it comes up again, whatever it holds then. A bound of 1 is FIFO.
//!
//! A group is passed over once, so that a victim takes two looks on average at most.

use std::collections::VecDeque;

use ninescope_kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Geometry, Pool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecondChance {
    /// The share of its units (0 to 1) of which a group has to hold more valid ones to be passed over.
    #[schemars(range(min = 0, max = 1))]
    pub above: f64,
}

impl Default for SecondChance {
    fn default() -> Self {
        Self { above: 0.75 }
    }
}

impl VictimSelectionParameters for SecondChance {
    fn build(&self, geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(SecondChanceSelection::new(*self, geometry))
    }

    fn problem(&self, _geometry: &Geometry) -> Option<(&'static str, String)> {
        // Neither is what is no number.
        (!(0.0..=1.0).contains(&self.above)).then(|| ("above", format!("is {}, a share is 0 to 1", self.above)))
    }

    fn follows_from_groups(&self) -> bool {
        false
    }
}

/// The filled groups of each pool in line, and which of them were passed over.
#[derive(Debug)]
pub struct SecondChanceSelection {
    /// Units of a group that may be valid without its being passed over.
    most: u32,
    blocks_per_plane: u32,
    line: Vec<VecDeque<u32>>,
    passed: BitTable,
}

impl SecondChanceSelection {
    fn new(parameters: SecondChance, geometry: &Geometry) -> Self {
        let line = VecDeque::with_capacity(geometry.blocks_per_plane as usize);
        Self {
            most: (parameters.above * f64::from(geometry.units_per_group())).floor() as u32,
            blocks_per_plane: geometry.blocks_per_plane,
            line: vec![line; geometry.pools() as usize],
            passed: BitTable::new(geometry.groups() as usize),
        }
    }
}

impl VictimSelection for SecondChanceSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let line = &mut self.line[view.pool.index()];
        // The first is a candidate unless a program or a move into it is still under way.
        let mut position = 0;
        while let Some(&group) = line.get(position) {
            let Some(valid) = view.valid_units(group - view.first) else {
                position += 1;
                continue;
            };
            line.remove(position);
            if valid <= self.most || self.passed.get(group as usize) {
                self.passed.clear(group as usize);
                return Some(group - view.first);
            }
            self.passed.set(group as usize);
            line.push_back(group);
        }
        None
    }

    fn closed(&mut self, pool: Pool, group: BlockGroup) {
        self.line[pool.index()].push_back(group.0);
    }

    fn taken(&mut self, pool: Pool, group: BlockGroup) {
        self.line[pool.index()].retain(|&filled| filled != group.0);
        self.passed.clear(group.index());
    }
}

/// Which groups are filled follows from the groups; their order in line does not.
impl Snapshot for SecondChanceSelection {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.line.iter().try_for_each(|line| to.column(line.iter().copied()))?;
        self.passed.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let groups = self.passed.len();
        let mut in_line = BitTable::new(groups);
        self.line.iter().flatten().for_each(|&group| in_line.set(group as usize));
        for (pool, line) in (0..).zip(&mut self.line) {
            let mut groups = vec![0; line.len()];
            from.column(&mut groups, |group| group)?;
            for &group in &groups {
                let is_in_line = group / self.blocks_per_plane == pool && in_line.get(group as usize);
                must_hold(is_in_line, || format!("group {group} is not once in the line of pool {pool}"))?;
                in_line.clear(group as usize);
            }
            *line = groups.into();
        }
        self.passed.load(from)?;
        let filled = |group: &usize| self.line[group / self.blocks_per_plane as usize].contains(&(*group as u32));
        let mut passed = (0..groups).filter(|&group| self.passed.get(group));
        must_hold(passed.all(|group| filled(&group)), || "a group was passed over and is not in line".to_owned())
    }
}
