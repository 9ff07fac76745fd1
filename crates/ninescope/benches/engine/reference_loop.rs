//! The least that a page-mapped drive under greedy collection does: a loop over its tables, without policies, time, or
//! anything that could be asked of it afterwards. What a simulator adds is measured beside it, in the same process.

use ninescope_model::Geometry;

const NONE: u32 = u32::MAX;
/// Groups of a pool that only moves may open.
const RESERVE: usize = 1;

/// The open groups of a pool, and those that are free.
struct PoolOfLoop {
    free: Vec<u32>,
    /// Group and next unit, of the host and of moves.
    frontiers: [(u32, u32); 2],
}

/// The tables.
pub struct ReferenceLoop {
    units_per_group: u32,
    groups_per_pool: u32,
    units_at_a_time: u32,
    map: Vec<u32>,
    reverse: Vec<u32>,
    valid: Vec<u32>,
    pools: Vec<PoolOfLoop>,
    turn: u32,
    /// Units programmed, by host and moves.
    pub programmed: u64,
}

impl ReferenceLoop {
    /// A drive that holds nothing.
    pub fn new(geometry: &Geometry, logical_units: u32) -> Self {
        let blocks = geometry.blocks_per_plane;
        let pool =
            |pool: u32| PoolOfLoop { free: (pool * blocks..(pool + 1) * blocks).collect(), frontiers: [(NONE, 0); 2] };
        Self {
            units_per_group: geometry.units_per_group(),
            groups_per_pool: blocks,
            units_at_a_time: geometry.units_per_stripe(),
            map: vec![NONE; logical_units as usize],
            reverse: vec![NONE; geometry.units() as usize],
            valid: vec![0; geometry.groups() as usize],
            pools: (0..geometry.pools()).map(pool).collect(),
            turn: 0,
            programmed: 0,
        }
    }

    /// The host writes a unit; stripes go to the pools in turn.
    pub fn write(&mut self, unit: u32) {
        let pool = (self.turn / self.units_at_a_time) as usize;
        self.turn += 1;
        if self.turn == self.units_at_a_time * self.pools.len() as u32 {
            self.turn = 0;
        }
        if self.place(pool, 0, unit) {
            while self.pools[pool].free.len() <= RESERVE {
                self.collect(pool);
            }
        }
    }

    /// Returns whether a group was opened.
    fn place(&mut self, pool: usize, stream: usize, unit: u32) -> bool {
        let record = &mut self.pools[pool];
        let opens = record.frontiers[stream].0 == NONE;
        if opens {
            record.frontiers[stream] = (record.free.pop().expect("space"), 0);
        }
        let (group, next) = record.frontiers[stream];
        record.frontiers[stream] = (if next + 1 == self.units_per_group { NONE } else { group }, next + 1);
        let place = group * self.units_per_group + next;
        let old = std::mem::replace(&mut self.map[unit as usize], place);
        if old != NONE {
            self.valid[(old / self.units_per_group) as usize] -= 1;
        }
        self.reverse[place as usize] = unit;
        self.valid[group as usize] += 1;
        self.programmed += 1;
        opens
    }

    /// Empties the group of a pool that holds least.
    fn collect(&mut self, pool: usize) {
        let first = pool as u32 * self.groups_per_pool;
        let record = &self.pools[pool];
        let is_victim =
            |group: &u32| !record.frontiers.iter().any(|(open, _)| open == group) && !record.free.contains(group);
        let victim = (first..first + self.groups_per_pool)
            .filter(is_victim)
            .min_by_key(|&group| self.valid[group as usize])
            .expect("something is full");
        let start = victim * self.units_per_group;
        for place in start..start + self.units_per_group {
            let unit = self.reverse[place as usize];
            if self.map[unit as usize] == place {
                self.place(pool, 1, unit);
            }
        }
        self.pools[pool].free.push(victim);
    }
}
