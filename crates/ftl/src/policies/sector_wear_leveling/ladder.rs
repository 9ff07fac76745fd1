//! The threshold ladder of the multi-SCM drive (Kinoshita, Matsui and Takeuchi, FMS slides; `C_th` and `C_ow` are its
//! names): a sector is overwritten in place until its wear reaches the rung `C_th`. Then its content goes to a sector a
//! whole rung of `C_ow` overwrites lower: an invalid one, or a valid one whose content, which is cold, goes the other
//! way. Where no such sector is left, the next rung begins.
//!
//! Two rules are not on the slides. The target is a *whole* rung lower, or sectors that age alike would be swapped for
//! nothing. And a copy is made only when `C_ow` writes have paid for it, or content that was just moved to a worn
//! sector, and is written at once, would be moved again and again; so the slides' worst case, one read and one write
//! per `C_ow` overwrites, is never exceeded.

use std::num::NonZeroU32;

use ninescope_kernel::{NONE, zeroed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SectorCopy, SectorWearLeveling, SectorWearLevelingParameters, SectorWrite};

/// The ladder's rungs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ladder {
    /// Height of a rung, `C_ow`; the slides' default is 5 [overwrites].
    pub overwrites: NonZeroU32,
    /// Spare sectors as a share of the logical ones; not on the slides.
    pub spare: f64,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { overwrites: NonZeroU32::new(5).unwrap_or(NonZeroU32::MIN), spare: 0.01 }
    }
}

impl SectorWearLevelingParameters for Ladder {
    fn spare_sectors(&self, logical: u32) -> u32 {
        (f64::from(logical) * self.spare).ceil() as u32
    }

    fn build(&self, logical: u32) -> Box<dyn SectorWearLeveling> {
        Box::new(LadderMap::new(self.overwrites.get(), logical, self.spare_sectors(logical)))
    }

    fn table_bytes(&self, logical: u32) -> u64 {
        4 * (2 * u64::from(logical) + u64::from(self.spare_sectors(logical)))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let legal = (0.0..=1.0).contains(&self.spare);
        (!legal).then(|| ("spare", format!("is {}, it must be a share of the logical sectors from 0 to 1", self.spare)))
    }
}

/// A list of invalid sectors, first in, first out, threaded through the reverse map.
#[derive(Clone, Copy, Debug)]
struct InvalidSectors {
    head: u32,
    tail: u32,
}

impl InvalidSectors {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn push(&mut self, reverse: &mut [u32], sector: u32) {
        reverse[sector as usize] = NONE;
        if self.tail == NONE {
            self.head = sector;
        } else {
            reverse[self.tail as usize] = sector;
        }
        self.tail = sector;
    }

    fn pop(&mut self, reverse: &[u32]) -> Option<u32> {
        let sector = self.head;
        if sector == NONE {
            return None;
        }
        self.head = reverse[sector as usize];
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(sector)
    }
}

/// The ladder of one bank: 8 bytes per sector.
#[derive(Debug)]
pub struct LadderMap {
    map: Vec<u32>,
    /// The logical sector of a valid physical one; the next of its list for an invalid one.
    reverse: Vec<u32>,
    /// Invalid sectors not yet looked at in this rung.
    fresh: InvalidSectors,
    /// Invalid sectors too worn for the present rung.
    spent: InvalidSectors,
    /// Height of a rung, `C_ow`.
    rung: u64,
    /// The present rung, `C_th`; it must be able to pass what wear can reach.
    threshold: u64,
    /// Physical sectors before it were looked at in this rung.
    cursor: u32,
    /// Writes that have not paid for a copy yet; a copy costs a rung of them.
    credit: u64,
}

impl LadderMap {
    /// Every logical sector in the physical one of its number; `spare` invalid ones behind them.
    pub fn new(rung: u32, logical: u32, spare: u32) -> Self {
        let mut map = zeroed(logical as usize);
        let mut reverse = zeroed((logical + spare) as usize);
        for sector in 0..logical {
            map[sector as usize] = sector;
            reverse[sector as usize] = sector;
        }
        let mut fresh = InvalidSectors::EMPTY;
        for sector in logical..logical + spare {
            fresh.push(&mut reverse, sector);
        }
        let rung = u64::from(rung);
        Self { map, reverse, fresh, spent: InvalidSectors::EMPTY, rung, threshold: rung, cursor: 0, credit: 0 }
    }

    /// Whether content may go to a sector of this wear: it is a whole rung below the present one.
    fn is_target(&self, wear: u32) -> bool {
        u64::from(wear) + self.rung <= self.threshold
    }

    /// Whether any content lies in a physical sector: an invalid one is no place that the map names.
    fn is_valid(&self, place: u32) -> bool {
        self.map.get(self.reverse[place as usize] as usize) == Some(&place)
    }

    /// An invalid sector a rung below.
    fn take_invalid(&mut self, wear: &[u32]) -> Option<u32> {
        while let Some(place) = self.fresh.pop(&self.reverse) {
            if self.is_target(wear[place as usize]) {
                return Some(place);
            }
            self.spent.push(&mut self.reverse, place);
        }
        None
    }

    /// A valid sector a rung below, other than `but`. Each is looked at once per rung.
    fn find_cold(&mut self, but: u32, wear: &[u32]) -> Option<u32> {
        while (self.cursor as usize) < self.reverse.len() {
            let place = self.cursor;
            self.cursor += 1;
            if place != but && self.is_target(wear[place as usize]) && self.is_valid(place) {
                return Some(place);
            }
        }
        None
    }

    fn next_rung(&mut self) {
        self.threshold += self.rung;
        self.cursor = 0;
        std::mem::swap(&mut self.fresh, &mut self.spent);
    }
}

impl SectorWearLeveling for LadderMap {
    fn locate(&self, sector: u32) -> u32 {
        self.map[sector as usize]
    }

    fn write(&mut self, sector: u32, wear: &[u32]) -> SectorWrite {
        let place = self.map[sector as usize];
        self.credit += 1;
        while u64::from(wear[place as usize]) >= self.threshold {
            if let Some(target) = self.take_invalid(wear) {
                self.map[sector as usize] = target;
                self.reverse[target as usize] = sector;
                self.spent.push(&mut self.reverse, place);
                return SectorWrite { copy: None, place: target };
            }
            if self.credit < self.rung {
                break;
            }
            if let Some(target) = self.find_cold(place, wear) {
                self.credit -= self.rung;
                let cold = self.reverse[target as usize];
                self.map[cold as usize] = place;
                self.reverse[place as usize] = cold;
                self.map[sector as usize] = target;
                self.reverse[target as usize] = sector;
                return SectorWrite { copy: Some(SectorCopy { from: target, to: place }), place: target };
            }
            self.next_rung();
        }
        SectorWrite { copy: None, place }
    }
}
