//! Greedy: most space for least copying (Rosenblum and Ousterhout, "The design and implementation of
//! a log-structured file system", 1992, section 3.4).

use ninescope_kernel::Snapshot;
use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl VictimSelectionParameters for Greedy {
    fn build(&self, _geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(*self)
    }
}

impl VictimSelection for Greedy {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        view.fewest_valid()
    }
}

impl Snapshot for Greedy {}
