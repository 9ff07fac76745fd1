//! Static striping: the logical address decides, page by page over channels, then ways and dies, then
//! planes: the "CWDP" order of MQSim (Tavakkol et al., FAST 2018).

use ninescope_kernel::{BitTable, FastDiv, Snapshot};
use ninescope_model::{Geometry, Lpa};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PageAllocation, PageAllocationParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticStriping {}

impl PageAllocationParameters for StaticStriping {
    fn build(&self, geometry: &Geometry) -> Box<dyn PageAllocation> {
        Box::new(StaticAllocation::new(geometry))
    }
}

/// The policy with its divisors.
#[derive(Debug)]
pub struct StaticAllocation {
    units_per_page: FastDiv,
    positions: FastDiv,
}

impl StaticAllocation {
    pub(super) fn new(geometry: &Geometry) -> Self {
        Self { units_per_page: FastDiv::new(geometry.units_per_page()), positions: FastDiv::new(geometry.pools()) }
    }
}

impl PageAllocation for StaticAllocation {
    fn choose(&mut self, lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let position = self.positions.div_rem(self.units_per_page.quotient(lpa.0)).1;
        accepting.get(position as usize).then_some(position)
    }

    fn in_turn(&self, first: Lpa) -> Option<u32> {
        let units_per_page = self.units_per_page.divisor();
        first.0.is_multiple_of(units_per_page * self.positions.divisor()).then_some(units_per_page)
    }

    fn turn_by_address(&self) -> Option<u32> {
        Some(self.units_per_page.divisor())
    }
}

impl Snapshot for StaticAllocation {}
