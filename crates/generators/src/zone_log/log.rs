//! Where the blocks of a store lie: the map, what of each zone counts, which zones are open, free or full.

use std::collections::VecDeque;

use super::config::{CleaningOrder, ZoneSpace};

/// No place, or no block.
pub const NOWHERE: u32 = u32::MAX;

/// The log of a store.
#[derive(Debug)]
pub struct Log {
    /// By block: its place, counted in blocks through all zones.
    map: Vec<u32>,
    /// By place: the block that was put there last.
    held: Vec<u32>,
    /// By zone: blocks that count.
    valid: Vec<u32>,
    per_zone: u32,
    free: VecDeque<u32>,
    /// Full zones, the one that was filled first before the others.
    full: VecDeque<u32>,
    /// By log, and behind them that of the cleaner: the next place in its open zone, `NOWHERE` where it has none.
    ends: Vec<u32>,
    order: CleaningOrder,
}

impl Log {
    /// A store of so many blocks, in zones of so many, with so many logs beside the cleaner's. A `full` one holds all of them.
    pub fn new(blocks: u32, per_zone: u32, logs: u32, order: CleaningOrder, space: &ZoneSpace, full: bool) -> Self {
        let good: Vec<u32> = (0..space.zones).filter(|zone| !space.bad.contains(zone)).collect();
        let filled = if full { blocks.div_ceil(per_zone) as usize } else { 0 };
        let mut log = Self {
            map: vec![NOWHERE; blocks as usize],
            held: vec![NOWHERE; (space.zones * per_zone) as usize],
            valid: vec![0; space.zones as usize],
            per_zone,
            free: good[filled..].iter().copied().collect(),
            full: good[..filled].iter().copied().collect(),
            ends: vec![NOWHERE; logs as usize + 1],
            order,
        };
        if full {
            for block in 0..blocks {
                let zone = good[(block / per_zone) as usize];
                log.put(block, zone * per_zone + block % per_zone);
            }
        }
        log
    }

    /// The log of the cleaner.
    pub fn cleaner(&self) -> usize {
        self.ends.len() - 1
    }

    /// Blocks that a zone takes.
    pub fn per_zone(&self) -> u32 {
        self.per_zone
    }

    /// Where a block lies; `None` where nowhere.
    pub fn place_of(&self, block: u32) -> Option<u32> {
        Some(self.map[block as usize]).filter(|&place| place != NOWHERE)
    }

    /// Zones that are free.
    pub fn free_zones(&self) -> usize {
        self.free.len()
    }

    /// Whether a log has to open a zone for its next block.
    pub fn needs_zone(&self, log: usize) -> bool {
        self.ends[log] == NOWHERE
    }

    /// A block goes to the end of a log. Returns its place; `None` where no zone is free.
    pub fn append(&mut self, log: usize, block: u32) -> Option<u32> {
        if self.ends[log] == NOWHERE {
            self.ends[log] = self.free.pop_front()? * self.per_zone;
        }
        let place = self.ends[log];
        self.forget(block);
        self.put(block, place);
        self.ends[log] += 1;
        if (place + 1).is_multiple_of(self.per_zone) {
            self.ends[log] = NOWHERE;
            self.full.push_back(place / self.per_zone);
        }
        Some(place)
    }

    /// A block holds nothing any more.
    pub fn forget(&mut self, block: u32) {
        let place = std::mem::replace(&mut self.map[block as usize], NOWHERE);
        if place != NOWHERE {
            self.valid[(place / self.per_zone) as usize] -= 1;
        }
    }

    /// The zone to be cleaned, which is full no more; `None` where cleaning gains nothing.
    pub fn take_victim(&mut self) -> Option<u32> {
        let at = match self.order {
            CleaningOrder::Fifo => 0,
            CleaningOrder::Greedy => (0..self.full.len()).min_by_key(|&at| self.valid[self.full[at] as usize])?,
        };
        let valid = self.valid[*self.full.get(at)? as usize];
        // One whose blocks all count is put behind the others where the order does not ask for that.
        if valid == self.per_zone && !self.full.iter().any(|&zone| self.valid[zone as usize] < self.per_zone) {
            return None;
        }
        self.full.remove(at)
    }

    /// The blocks of a zone that count, with their places.
    pub fn held_in(&self, zone: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let places = zone * self.per_zone..(zone + 1) * self.per_zone;
        let held = places.map(|place| (self.held[place as usize], place));
        held.filter(|&(block, place)| block != NOWHERE && self.map[block as usize] == place)
    }

    /// A zone was reset.
    pub fn is_free(&mut self, zone: u32) {
        debug_assert!(self.valid[zone as usize] == 0, "what counts was moved");
        self.free.push_back(zone);
    }

    fn put(&mut self, block: u32, place: u32) {
        self.map[block as usize] = place;
        self.held[place as usize] = block;
        self.valid[(place / self.per_zone) as usize] += 1;
    }
}
