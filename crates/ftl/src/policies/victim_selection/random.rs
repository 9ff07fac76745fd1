//! Random: any candidate with equal probability. Its write amplification is `1 / (1 - utilisation)`
//! whatever the block size, which makes it the reference the others are measured against.

use ninescope_kernel::{RandomStream, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CandidateView, VictimSelection, VictimSelectionParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

impl VictimSelectionParameters for Random {
    fn build(&self, _geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        Box::new(RandomSelection::new(seed))
    }
}

/// The policy with its random stream.
#[derive(Debug)]
pub struct RandomSelection {
    stream: RandomStream,
}

impl RandomSelection {
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: RandomStream::new(seed, "ftl", "victim random") }
    }
}

impl VictimSelection for RandomSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        draw_candidate(view, &mut self.stream)
    }
}

impl Snapshot for RandomSelection {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.stream.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.stream.load(from)
    }
}

/// A uniform draw among the candidates.
pub(super) fn draw_candidate(view: &CandidateView<'_>, stream: &mut RandomStream) -> Option<u32> {
    draw_among(view, stream, |_| true)
}

/// A uniform draw among the candidates with a number of valid units that is `wanted`: rejection while most groups are such,
/// else by counting.
pub(super) fn draw_among(
    view: &CandidateView<'_>,
    stream: &mut RandomStream,
    wanted: impl Fn(u32) -> bool,
) -> Option<u32> {
    let is_wanted = |&index: &u32| view.valid_units(index).is_some_and(&wanted);
    for _ in 0..16 {
        let index = stream.below(u64::from(view.len())) as u32;
        if is_wanted(&index) {
            return Some(index);
        }
    }
    let count = (0..view.len()).filter(is_wanted).count();
    if count == 0 {
        return None;
    }
    let chosen = stream.below(count as u64) as usize;
    (0..view.len()).filter(is_wanted).nth(chosen)
}
