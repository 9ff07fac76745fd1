//! Data by how often it was moved: what has survived as often lies together, as in the generations of collected memory
//! (Ungar, "Generation Scavenging", 1984). The host's writes are the youngest; each move takes a unit one generation on, up
//! to the last.

use ninescope_kernel::Snapshot;
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written, problem_of_kinds};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Generations {
    /// Streams of what is moved: the last one takes all that was moved as often or more [count].
    #[schemars(range(min = 2, max = 8))]
    pub generations: u32,
}

impl Default for Generations {
    fn default() -> Self {
        Self { generations: 3 }
    }
}

impl StreamChoiceParameters for Generations {
    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_kinds("generations", self.generations)
    }

    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for Generations {
    fn kinds_of_moves(&self) -> u32 {
        self.generations
    }

    fn of_write(&self, _unit: &Written) -> u32 {
        0
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        let next = if from.is_of_moves() { from.kind() + 1 } else { 0 };
        next.min(self.generations - 1)
    }
}

impl Snapshot for Generations {}
