//! d-choices: draw d candidates at random (with replacement), take the one with the fewest valid units
//! (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid
//! state drives", SIGMETRICS 2013). `d = 1` is random, large `d` approaches greedy.

use ninescope_kernel::{RandomStream, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::random::draw_candidate;
use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// The most candidates drawn where planes have fewer blocks: beyond it is a slip.
const DRAWS_MAX: u32 = 1_000;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DChoices {
    /// Candidates drawn per selection.
    pub d: std::num::NonZeroU32,
}

impl Default for DChoices {
    fn default() -> Self {
        Self { d: std::num::NonZeroU32::new(10).expect("ten is not zero") }
    }
}

impl VictimSelectionParameters for DChoices {
    fn build(&self, _geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        Box::new(DChoicesSelection::new(*self, seed))
    }

    fn problem(&self, geometry: &Geometry) -> Option<(&'static str, String)> {
        let most = geometry.blocks_per_plane.max(DRAWS_MAX);
        (self.d.get() > most)
            .then(|| ("d", format!("is {}, at most {most} are drawn; `greedy` looks at all blocks", self.d)))
    }
}

/// The policy with its random stream.
#[derive(Debug)]
pub struct DChoicesSelection {
    parameters: DChoices,
    stream: RandomStream,
}

impl DChoicesSelection {
    pub(super) fn new(parameters: DChoices, seed: u64) -> Self {
        Self { parameters, stream: RandomStream::new(seed, "ftl", "victim d-choices") }
    }
}

impl VictimSelection for DChoicesSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let mut best = draw_candidate(view, &mut self.stream)?;
        for _ in 1..self.parameters.d.get() {
            let other = draw_candidate(view, &mut self.stream)?;
            if view.valid_units(other) < view.valid_units(best) {
                best = other;
            }
        }
        Some(best)
    }
}

impl Snapshot for DChoicesSelection {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.stream.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.stream.load(from)
    }
}
