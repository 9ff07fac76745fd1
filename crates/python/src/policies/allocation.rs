//! Which die takes a page.

use ninescope::ftl::policies::page_allocation::{Load, PageAllocation, PageAllocationParameters, Placement};
use ninescope::kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope::model::{Geometry, Lpa};
use pyo3::prelude::*;

use super::{Maker, Policy, shape};

impl PageAllocationParameters for Maker {
    fn build(&self, geometry: &Geometry, positions: &[u32]) -> Box<dyn PageAllocation> {
        let policy = self.policy(|python| {
            let told = shape(python, geometry)?;
            told.set_item("positions", positions)?;
            Ok(told)
        });
        let asks = PageAllocationParameters::load(self).is_some();
        let loads = vec![0; if asks { geometry.pools() as usize } else { 0 }];
        Box::new(Allocation { policy, asks, loads })
    }

    fn load(&self) -> Option<Load> {
        let load: Option<String> = self.says("load_of_dies");
        match load.as_deref() {
            None => None,
            Some("queued") => Some(Load::Queued),
            Some("free-at") => Some(Load::FreeAt),
            Some(other) => {
                let problem = format!("load_of_dies is {other:?}; there is \"queued\", \"free-at\" and None");
                super::raise(crate::ConfigError::new_err(problem))
            }
        }
    }
}

#[derive(Debug)]
struct Allocation {
    policy: Policy,
    asks: bool,
    /// Of the die of each stripe position, where they are compared.
    loads: Vec<u64>,
}

impl PageAllocation for Allocation {
    fn choose(&mut self, lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let positions: Vec<u32> =
            (0..accepting.len()).filter(|&one| accepting.get(one)).map(|one| one as u32).collect();
        let told = (lpa.0, positions.as_slice(), self.loads.as_slice());
        let chosen: Option<u32> = self.policy.ask("choose", |policy| policy.call_method1("choose", told)?.extract());
        if let Some(other) = chosen.filter(|one| positions.binary_search(one).is_err()) {
            let problem = format!("choose returned {other}, which takes no write now ({positions:?} do)");
            self.policy.refuse(&problem);
        }
        chosen
    }

    fn placed(&mut self, placement: Placement) {
        let Placement { position, page_complete, stripe_complete } = placement;
        let told = (position, page_complete, stripe_complete);
        self.policy.ask("placed", |policy| policy.call_method1("placed", told).map(drop));
    }

    fn asks_for_loads(&self) -> bool {
        self.asks
    }

    fn load_is(&mut self, position: u32, load: u64) {
        self.loads[position as usize] = load;
    }
}

impl Snapshot for Allocation {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.policy.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.policy.load(from)
    }
}
