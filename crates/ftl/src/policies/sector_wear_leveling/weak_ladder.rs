//! The ladder with high rungs: "weak wear-levelling" of the multi-SCM drive (Kinoshita, Matsui and Takeuchi, FMS
//! slides), which lets the memory of high endurance do without most copies. The height is what it takes there to keep nine tenths of
//! the gain of no levelling; the slides give none.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ladder::Ladder;
use super::{SectorWearLeveling, SectorWearLevelingParameters};

/// The same parameters as the ladder's, with other defaults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeakLadder {
    /// Height of a rung, `C_ow` [overwrites].
    pub overwrites: NonZeroU32,
    /// Spare sectors as a share of the logical ones.
    pub spare: f64,
}

impl Default for WeakLadder {
    fn default() -> Self {
        Self { overwrites: NonZeroU32::new(100).unwrap_or(NonZeroU32::MIN), spare: 0.01 }
    }
}

impl WeakLadder {
    fn ladder(self) -> Ladder {
        let Self { overwrites, spare } = self;
        Ladder { overwrites, spare }
    }
}

impl SectorWearLevelingParameters for WeakLadder {
    fn spare_sectors(&self, logical: u32) -> u32 {
        self.ladder().spare_sectors(logical)
    }

    fn build(&self, logical: u32) -> Box<dyn SectorWearLeveling> {
        self.ladder().build(logical)
    }

    fn table_bytes(&self, logical: u32) -> u64 {
        self.ladder().table_bytes(logical)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        self.ladder().problem()
    }
}
