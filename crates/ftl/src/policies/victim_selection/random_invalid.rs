//! Random among those with something to gain: any candidate that holds an invalid unit, with equal probability. Groups that are
//! valid throughout are left where they are, so that data that is never overwritten is moved until it lies by itself and not
//! again: write amplification follows the part of the drive that is written. For uniform writes it lies below random's,
//! `1 / (1 - (1 - 1 / b) utilisation)` with `b` units in a group.
//!
//! `DiskSim`'s SSD extension of 2008 has the rule ("pick a random block with at least 1 empty page slot") beside greedy.

use ninescope_kernel::{RandomStream, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::random::draw_among;
use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomInvalid {}

impl VictimSelectionParameters for RandomInvalid {
    fn build(&self, _geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        Box::new(RandomInvalidSelection::new(seed))
    }
}

/// The policy with its random stream.
#[derive(Debug)]
pub struct RandomInvalidSelection {
    stream: RandomStream,
}

impl RandomInvalidSelection {
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: RandomStream::new(seed, "ftl", "victim random-invalid") }
    }
}

impl VictimSelection for RandomInvalidSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        draw_among(view, &mut self.stream, |valid| valid < view.units_per_group)
    }
}

impl Snapshot for RandomInvalidSelection {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.stream.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.stream.load(from)
    }
}
