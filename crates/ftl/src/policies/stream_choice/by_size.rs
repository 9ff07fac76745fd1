//! Small writes apart from large ones, as they are written again sooner (the size check of Chang, "Hybrid solid-state disks:
//! combining heterogeneous NAND flash in large SSDs", ASP-DAC 2008). What is moved stays among its like.

use ninescope_kernel::Snapshot;
use ninescope_model::units::Bytes;
use ninescope_model::{Lpa, SECTOR_BYTES, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BySize {
    /// The largest command that is small [bytes].
    pub small: Bytes,
}

impl Default for BySize {
    fn default() -> Self {
        Self { small: Bytes(16 << 10) }
    }
}

impl StreamChoiceParameters for BySize {
    fn problem(&self) -> Option<(&'static str, String)> {
        (self.small.0 < SECTOR_BYTES).then(|| ("small", "is less than a sector: nothing is that small".to_owned()))
    }

    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for BySize {
    fn kinds_of_writes(&self) -> u32 {
        2
    }

    fn kinds_of_moves(&self) -> u32 {
        2
    }

    fn listens(&self) -> bool {
        true
    }

    fn of_write(&self, unit: &Written) -> u32 {
        let bytes = u64::from(unit.told.sectors) * SECTOR_BYTES;
        u32::from(bytes > 0 && bytes <= self.small.0)
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        from.kind()
    }
}

impl Snapshot for BySize {}
