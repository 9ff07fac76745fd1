//! Greedy: most space for least copying (Rosenblum and Ousterhout, "The design and implementation of
//! a log-structured file system", 1992, section 3.4).

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, VictimSelection};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl VictimSelection for Greedy {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        view.fewest_valid()
    }
}

impl Snapshot for Greedy {}
