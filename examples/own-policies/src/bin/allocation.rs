//! At random: the next page goes to any die that takes one, and neighbours may lie on one die.

use ninescope::ftl::policies::page_allocation::{PageAllocation, PageAllocationParameters, Placement};
use ninescope::kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError, mixed};
use ninescope::{ftl::policies::PageAllocationConfig, model::Geometry, model::Lpa};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AtRandom {
    #[serde(skip)]
    pages: u64, // so far; it has no parameter
}

impl PageAllocationParameters for AtRandom {
    fn build(&self, _geometry: &Geometry, _positions: &[u32]) -> Box<dyn PageAllocation> {
        Box::new(*self)
    }
}

impl PageAllocation for AtRandom {
    fn choose(&mut self, _lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let drawn = mixed(self.pages) as usize % accepting.len();
        accepting.next_set_wrapping(drawn).map(|position| position as u32)
    }
    fn placed(&mut self, placement: Placement) {
        self.pages += u64::from(placement.page_complete);
    }
}

impl Snapshot for AtRandom {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u64(self.pages)
    }
    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        from.u64().map(|pages| self.pages = pages)
    }
}

fn main() -> Result<(), ninescope::Error> {
    PageAllocationConfig::add::<AtRandom>("at-random");
    for name in ["round-robin", "at-random"] {
        let result = ninescope_check::run(&serde_json::json!({
            "drive": {"file": "examples/drives/small.toml"}, "set": [format!("ftl.page_allocation={name}")],
            "workload": {"job": {"rw": "read", "bs": "64k"}}, "prefill": "full", "requests": 20_000, "check": "cheap",
        }))?;
        println!("{} ns for a read on average: {name}", result["latency"]["read"]["mean_ns"]);
    }
    Ok(())
}
