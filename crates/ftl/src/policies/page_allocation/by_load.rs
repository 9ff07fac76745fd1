//! What dynamic allocations have in common: a page, or a stripe, goes to the pool whose die has the least load, by whatever
//! measure; among equals pools take turns. Without time no die has any load, so that pools take turns alone.

use ninescope_kernel::{BitTable, NONE, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{Geometry, Lpa};

use super::round_robin::Granularity;
use super::{PageAllocation, Placement};

/// The policies with what they were told.
#[derive(Debug)]
pub struct ByLoad {
    granularity: Granularity,
    /// By stripe position: the load of its die, as it was told last.
    loads: Vec<u64>,
    /// The position whose page or stripe is being filled, `NONE` where the next one is to be chosen.
    current: u32,
    /// The position that has its turn among equals.
    turn: u32,
    units_at_a_time: u32,
}

impl ByLoad {
    pub(super) fn new(granularity: Granularity, geometry: &Geometry) -> Self {
        Self {
            granularity,
            loads: vec![0; geometry.pools() as usize],
            current: NONE,
            turn: 0,
            units_at_a_time: granularity.units(geometry),
        }
    }

    fn positions(&self) -> u32 {
        self.loads.len() as u32
    }

    /// The position with the least load, from the one that has its turn on.
    fn least(&self, accepting: &BitTable) -> Option<u32> {
        let turn = self.turn as usize;
        let from = |start: usize| std::iter::successors(accepting.next_set(start), |&at| accepting.next_set(at + 1));
        let in_turn = from(turn).chain(from(0).take_while(|&position| position < turn));
        in_turn.min_by_key(|&position| self.loads[position]).map(|position| position as u32)
    }
}

impl PageAllocation for ByLoad {
    fn choose(&mut self, _lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        if self.current == NONE || !accepting.get(self.current as usize) {
            (self.current, self.turn) = self.least(accepting).map(|position| (position, position))?;
        }
        Some(self.current)
    }

    fn placed(&mut self, placement: Placement) {
        if placement.position == self.current && self.granularity.is_complete(placement) {
            self.turn = (self.current + 1) % self.positions();
            self.current = NONE;
        }
    }

    fn asks_for_loads(&self) -> bool {
        self.current == NONE
    }

    fn load_is(&mut self, position: u32, load: u64) {
        self.loads[position as usize] = load;
    }

    fn in_turn(&self, _first: Lpa) -> Option<u32> {
        let fresh = self.current == NONE && self.turn == 0 && self.loads.iter().all(|&load| load == 0);
        fresh.then_some(self.units_at_a_time)
    }

    fn placed_in_turn(&mut self, units: u32) {
        let (turns, rest) = (units / self.units_at_a_time, units % self.units_at_a_time);
        self.turn = turns % self.positions();
        self.current = if rest > 0 { self.turn } else { NONE };
    }
}

/// Loads are told anew before they are compared.
impl Snapshot for ByLoad {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u32(self.current)?;
        to.u32(self.turn)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        (self.current, self.turn) = (from.u32()?, from.u32()?);
        let known = |position: u32| position < self.positions();
        must_hold(known(self.turn) && (known(self.current) || self.current == NONE), || {
            format!("the turn is at pool {}, after {}", self.turn, self.current)
        })
    }
}
