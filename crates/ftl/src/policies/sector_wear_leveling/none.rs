//! No wear levelling: a sector that is written often wears out first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SectorWearLeveling, SectorWearLevelingParameters, SectorWrite};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct None {}

impl SectorWearLevelingParameters for None {
    fn build(&self, _logical: u32) -> Box<dyn SectorWearLeveling> {
        Box::new(*self)
    }
}

impl SectorWearLeveling for None {
    fn locate(&self, sector: u32) -> u32 {
        sector
    }

    fn write(&mut self, sector: u32, _wear: &[u32]) -> SectorWrite {
        SectorWrite { copy: None, place: sector }
    }
}
