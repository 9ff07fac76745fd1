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
    /// One page in each plane of the frontier, which programs as one multi-plane command.
    #[default]
    Stripe,
}

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundRobin {
    /// How much goes to one pool before the next has its turn.
    pub granularity: Granularity,
}

impl PageAllocationParameters for RoundRobin {
    fn build(&self, geometry: &Geometry) -> Box<dyn PageAllocation> {
        Box::new(RoundRobinAllocation::new(*self, geometry))
    }
}

/// The policy with its position.
#[derive(Debug)]
pub struct RoundRobinAllocation {
    parameters: RoundRobin,
    position: u32,
    positions: u32,
}

impl RoundRobinAllocation {
    pub(super) fn new(parameters: RoundRobin, geometry: &Geometry) -> Self {
        Self { parameters, position: 0, positions: geometry.pools() }
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
        let complete = match self.parameters.granularity {
            Granularity::Page => placement.page_complete,
            Granularity::Stripe => placement.stripe_complete,
        };
        if complete {
            // One past the last position wraps in the search.
            self.position = placement.position + 1;
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
