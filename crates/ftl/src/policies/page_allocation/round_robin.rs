//! Round robin: fill a stripe (or a page) in one pool, then go on to the next that can take a write.

use ninescope_kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use ninescope_model::{Geometry, Lpa};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PageAllocation, PageAllocationParameters, Placement};

/// How much goes to one pool before the next has its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// A page.
    Page,
    /// One page in each plane of the frontier, which programs as one multi-plane command; a wordline in each where its pages are
    /// programmed in one go.
    #[default]
    Stripe,
}

impl Granularity {
    /// How many units that is.
    pub(super) fn units(self, geometry: &Geometry) -> u32 {
        match self {
            Self::Page => geometry.units_per_page(),
            Self::Stripe => geometry.units_per_program(),
        }
    }

    /// Whether a unit was the last one of it.
    #[inline]
    pub(super) fn is_complete(self, placement: Placement) -> bool {
        match self {
            Self::Page => placement.page_complete,
            Self::Stripe => placement.stripe_complete,
        }
    }
}

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundRobin {
    /// How much goes to one pool before the next has its turn.
    pub granularity: Granularity,
}

impl PageAllocationParameters for RoundRobin {
    fn build(&self, geometry: &Geometry, _positions: &[u32]) -> Box<dyn PageAllocation> {
        Box::new(RoundRobinAllocation::new(*self, geometry))
    }
}

/// The policy with its position.
#[derive(Debug)]
pub struct RoundRobinAllocation {
    parameters: RoundRobin,
    position: u32,
    positions: u32,
    units_at_a_time: u32,
}

impl RoundRobinAllocation {
    pub(super) fn new(parameters: RoundRobin, geometry: &Geometry) -> Self {
        let units_at_a_time = parameters.granularity.units(geometry);
        Self { parameters, position: 0, positions: geometry.pools(), units_at_a_time }
    }
}

impl PageAllocation for RoundRobinAllocation {
    #[inline]
    fn choose(&mut self, _lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let position = accepting.next_set_wrapping(self.position as usize)?;
        self.position = position as u32;
        Some(self.position)
    }

    #[inline]
    fn placed(&mut self, placement: Placement) {
        if self.parameters.granularity.is_complete(placement) {
            // One past the last position wraps in the search.
            self.position = placement.position + 1;
        }
    }

    fn in_turn(&self, _first: Lpa) -> Option<u32> {
        (self.position == 0).then_some(self.units_at_a_time)
    }

    fn placed_in_turn(&mut self, units: u32) {
        if units > 0 {
            let (turns, rest) = (units / self.units_at_a_time, units % self.units_at_a_time);
            // Behind the last position stands one past it, as after a placement.
            self.position = if rest > 0 { turns % self.positions } else { (turns - 1) % self.positions + 1 };
        }
    }
}

impl Snapshot for RoundRobinAllocation {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u32(self.position)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.position = from.u32()?;
        must_hold(self.position <= self.positions, || format!("the turn is at pool {}", self.position))
    }
}
