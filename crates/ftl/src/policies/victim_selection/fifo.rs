//! FIFO: the group that was filled first, whatever it holds (the "LRW" of Desnoyers, "Analytic modeling
//! of SSD write performance", SYSTOR 2012).

use std::collections::VecDeque;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl VictimSelectionParameters for Fifo {
    fn build(&self, geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(FifoSelection::new(geometry))
    }
}

/// The filled groups of each pool, oldest first.
#[derive(Debug)]
pub struct FifoSelection {
    filled: Vec<VecDeque<u32>>,
}

impl FifoSelection {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let queue = VecDeque::with_capacity(geometry.blocks_per_plane as usize);
        Self { filled: vec![queue; geometry.pools() as usize] }
    }
}

impl VictimSelection for FifoSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let queue = &mut self.filled[view.pool.index()];
        // The oldest is a candidate unless a program or a move into it is still under way.
        let position = queue.iter().position(|&group| view.valid_units(group - view.first).is_some())?;
        queue.remove(position).map(|group| group - view.first)
    }

    fn closed(&mut self, pool: Pool, group: BlockGroup) {
        self.filled[pool.index()].push_back(group.0);
    }

    fn taken(&mut self, pool: Pool, group: BlockGroup) {
        self.filled[pool.index()].retain(|&filled| filled != group.0);
    }
}

/// What is filled follows from the groups.
impl Snapshot for FifoSelection {}
