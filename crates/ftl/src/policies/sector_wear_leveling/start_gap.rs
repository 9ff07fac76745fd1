//! Start-Gap (Qureshi et al., "Enhancing lifetime and security of PCM-based main memory with Start-Gap wear
//! leveling", MICRO 2009, section 4): one spare sector is the gap. Every `psi` writes the sector before the gap moves
//! into it, and so all sectors walk around the bank; two registers replace a map.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SectorCopy, SectorWearLeveling, SectorWearLevelingParameters, SectorWrite};

/// How fast the gap walks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartGap {
    /// Writes to the bank between two moves of the gap; the paper uses 100 [count].
    pub psi: NonZeroU32,
}

impl Default for StartGap {
    fn default() -> Self {
        Self { psi: NonZeroU32::new(100).unwrap_or(NonZeroU32::MIN) }
    }
}

impl SectorWearLevelingParameters for StartGap {
    fn spare_sectors(&self, _logical: u32) -> u32 {
        1
    }

    fn build(&self, logical: u32) -> Box<dyn SectorWearLeveling> {
        Box::new(StartGapRegisters::new(*self, logical))
    }
}

/// The registers of one bank of `sectors` logical and one more physical sector.
#[derive(Clone, Copy, Debug)]
pub struct StartGapRegisters {
    sectors: u32,
    psi: u32,
    start: u32,
    gap: u32,
    writes_since_move: u32,
}

impl StartGapRegisters {
    /// The gap begins behind the last sector.
    pub fn new(parameters: StartGap, sectors: u32) -> Self {
        Self { sectors, psi: parameters.psi.get(), start: 0, gap: sectors, writes_since_move: 0 }
    }

    fn move_gap(&mut self) -> SectorCopy {
        let to = self.gap;
        if self.gap == 0 {
            // Once around: every sector lies one further than when the gap began.
            self.gap = self.sectors;
            self.start = if self.start + 1 == self.sectors { 0 } else { self.start + 1 };
        } else {
            self.gap -= 1;
        }
        SectorCopy { from: self.gap, to }
    }
}

impl SectorWearLeveling for StartGapRegisters {
    fn locate(&self, sector: u32) -> u32 {
        let turned = u64::from(sector) + u64::from(self.start);
        let place = if turned >= u64::from(self.sectors) { turned - u64::from(self.sectors) } else { turned } as u32;
        place + u32::from(place >= self.gap)
    }

    fn write(&mut self, sector: u32, _wear: &[u32]) -> SectorWrite {
        self.writes_since_move += 1;
        let moves = self.writes_since_move == self.psi;
        if moves {
            self.writes_since_move = 0;
        }
        let copy = moves.then(|| self.move_gap());
        SectorWrite { copy, place: self.locate(sector) }
    }
}
