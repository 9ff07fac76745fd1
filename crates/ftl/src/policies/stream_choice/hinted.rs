//! Streams that the host names: directives of NVMe's streams, placement handles of FDP ("NVM Express Base Specification" 2.1,
//! Directives; Kang et al., "The Multi-streamed Solid-State Drive", `HotStorage` 2014). A host that names none has the first one.

use ninescope_kernel::Snapshot;
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written, problem_of_kinds};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hinted {
    /// Streams that there are: what the host names beyond goes to the last one [count].
    #[schemars(range(min = 2, max = 8))]
    pub streams: u32,
    /// What is moved stays in its stream (persistently isolated, as FDP calls that); otherwise all of it goes to one (initially
    /// isolated).
    pub moves_apart: bool,
}

impl Default for Hinted {
    fn default() -> Self {
        Self { streams: 4, moves_apart: true }
    }
}

impl StreamChoiceParameters for Hinted {
    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_kinds("streams", self.streams)
    }

    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for Hinted {
    fn kinds_of_writes(&self) -> u32 {
        self.streams
    }

    fn kinds_of_moves(&self) -> u32 {
        if self.moves_apart { self.streams } else { 1 }
    }

    fn listens(&self) -> bool {
        true
    }

    fn is_named_by_host(&self) -> bool {
        true
    }

    fn of_write(&self, unit: &Written) -> u32 {
        // What the drive writes by itself stays where it was.
        let own = || unit.before.map_or(0, Stream::kind);
        let named = if unit.told.sectors == 0 { own() } else { u32::from(unit.told.stream) };
        named.min(self.streams - 1)
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        if self.moves_apart { from.kind() } else { 0 }
    }
}

impl Snapshot for Hinted {}
