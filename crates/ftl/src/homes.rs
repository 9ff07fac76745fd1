//! Planes that a kind of data has for itself: its units are written there, as long as there is room for them.
//!
//! Garbage collection moves units within their pool, so that all it takes is where they are written. A pool takes no more units than it
//! can hold and still be collected; a kind whose own pools all hold as many goes to any other. Which planes these are, and why, is not
//! known here.

use ninescope_kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::{Geometry, Lpa};

use crate::policies::page_allocation::Placement;
use crate::policies::{PageAllocation, PageAllocationConfig};

/// The planes of each kind of data that is written, and how much lies in each.
#[derive(Debug)]
pub(crate) struct Homes {
    /// By kind: the stripe positions of its pools.
    own: Vec<BitTable>,
    /// By kind: how many these are, and how many of them are full.
    count: Vec<u32>,
    full_of: Vec<u32>,
    /// By stripe position: valid units there.
    valid: Vec<u32>,
    /// By stripe position: it holds as many as it may.
    full: BitTable,
    /// Units that a pool may hold.
    most: u32,
    /// By kind: among the pools that take its units, its own turn.
    policies: Vec<Box<dyn PageAllocation>>,
}

impl Homes {
    /// None where no kind has pools of its own; `position_of` says at which stripe position each pool is.
    pub fn new(
        pools: &[Vec<u32>],
        (policy, geometry): (&PageAllocationConfig, &Geometry),
        most: u32,
        position_of: &[u32],
    ) -> Option<Box<Self>> {
        if pools.is_empty() {
            return None;
        }
        let positions: Vec<u32> = (0..geometry.pools()).collect();
        let of_kind = |pools: &Vec<u32>| {
            let mut own = BitTable::new(position_of.len());
            for &pool in pools {
                own.set(position_of[pool as usize] as usize);
            }
            own
        };
        Some(Box::new(Self {
            own: pools.iter().map(of_kind).collect(),
            count: pools.iter().map(|pools| pools.len() as u32).collect(),
            full_of: vec![0; pools.len()],
            valid: vec![0; position_of.len()],
            full: BitTable::new(position_of.len()),
            most,
            policies: pools.iter().map(|_| policy.build(geometry, &positions)).collect(),
        }))
    }

    /// What is wrong with the pools of so many kinds on such a drive, of which each may hold `most` of all these units.
    pub fn problem(pools: &[Vec<u32>], kinds: u32, geometry: &Geometry, (most, units): (u32, u32)) -> Option<String> {
        if pools.is_empty() {
            return None;
        }
        if pools.len() != kinds as usize {
            return Some(format!("{} kinds of data have planes of their own, and {kinds} are written", pools.len()));
        }
        let named = |pool: u32| pools.iter().any(|pools| pools.contains(&pool));
        if pools.iter().any(Vec::is_empty) || !(0..geometry.pools()).all(named) {
            return Some("a kind of data has no planes, or planes are of no kind".to_owned());
        }
        // Whatever is where, some pool takes a unit more.
        let room = u64::from(most) * u64::from(geometry.pools());
        (room <= u64::from(units)).then(|| format!("all planes together hold {room} units, and {units} are written"))
    }

    /// Units that a pool may hold.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The stripe position that takes a unit of a kind.
    #[inline]
    pub fn choose(&mut self, kind: u32, lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        self.policies[kind as usize].choose(lpa, accepting)
    }

    /// Told where a unit of a kind went.
    #[inline]
    pub fn placed(&mut self, kind: u32, placement: Placement) {
        self.policies[kind as usize].placed(placement);
    }

    /// Whether the next choice for a unit may compare loads.
    pub fn asks_for_loads(&self) -> bool {
        self.policies.iter().any(|policy| policy.asks_for_loads())
    }

    /// Told the load of the die of a stripe position.
    pub fn load_is(&mut self, position: u32, load: u64) {
        self.policies.iter_mut().for_each(|policy| policy.load_is(position, load));
    }

    /// Whether a kind has a pool for itself, maybe with others.
    #[inline]
    pub fn is_own(&self, kind: u32, position: u32) -> bool {
        self.own[kind as usize].get(position as usize)
    }

    /// Whether a pool takes units of a kind.
    #[inline]
    pub fn takes(&self, kind: usize, position: usize) -> bool {
        // There may be more kinds of what is moved than of what is written: nobody writes these.
        let Some(own) = self.own.get(kind) else { return true };
        let may_go_anywhere = self.full_of[kind] == self.count[kind];
        !self.full.get(position) && (may_go_anywhere || own.get(position))
    }

    /// So many units more, or fewer, are valid in a pool. Returns whether other kinds may be written elsewhere now.
    #[inline]
    pub fn changes(&mut self, position: u32, by: i32) -> bool {
        let valid = &mut self.valid[position as usize];
        *valid = valid.wrapping_add_signed(by);
        let (full, before) = (*valid >= self.most, self.full.get(position as usize));
        if full != before {
            self.full.put(position as usize, full);
            for (own, count) in self.own.iter().zip(&mut self.full_of) {
                if own.get(position as usize) {
                    *count = count.wrapping_add_signed(if full { 1 } else { -1 });
                }
            }
        }
        full != before
    }
}

impl Snapshot for Homes {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.policies.iter().try_for_each(|policy| policy.save(to))
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.policies.iter_mut().try_for_each(|policy| policy.load(from))
    }
}
