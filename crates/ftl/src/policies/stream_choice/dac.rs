//! Dynamic data clustering: each unit has a temperature, which a write raises and a move lowers by one; data of one temperature
//! lies together (Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory", Software:
//! Practice and Experience 1999). The temperature is that of the group where the unit lies, so that no table is kept.
//! Without the ages of regions, by which the paper has some transitions wait.

use ninescope_kernel::Snapshot;
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written, problem_of_kinds};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dac {
    /// Regions, from cold to hot, that are told apart [count].
    #[schemars(range(min = 2, max = 8))]
    pub regions: u32,
}

impl Default for Dac {
    fn default() -> Self {
        Self { regions: 4 }
    }
}

impl StreamChoiceParameters for Dac {
    fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_kinds("regions", self.regions)
    }

    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for Dac {
    fn kinds_of_writes(&self) -> u32 {
        self.regions
    }

    fn kinds_of_moves(&self) -> u32 {
        self.regions
    }

    fn of_write(&self, unit: &Written) -> u32 {
        unit.before.map_or(0, |before| (before.kind() + 1).min(self.regions - 1))
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        from.kind().saturating_sub(1)
    }
}

impl Snapshot for Dac {}
