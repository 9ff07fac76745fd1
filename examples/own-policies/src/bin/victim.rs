//! Cost-age-times (Chiang and Chang 1999): what costs little, has rested for long and was seldom erased is emptied.

use ninescope::ftl::policies::VictimSelectionConfig;
use ninescope::ftl::policies::victim_selection::{CandidateView, VictimSelection, VictimSelectionParameters};
use ninescope::{kernel::Snapshot, model::Geometry};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct CostAgeTimes {
    ignore_wear: bool, // its one parameter, which may be left out
}

impl VictimSelectionParameters for CostAgeTimes {
    fn build(&self, _geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(*self)
    }
}

impl VictimSelection for CostAgeTimes {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let weighed = |index: u32| {
            let valid = f64::from(view.valid_units(index)?); // none where it is no candidate
            let gained = f64::from(view.units_per_group) - valid;
            let erases = if self.ignore_wear { 1.0 } else { f64::from(view.erases(index) + 1) };
            (gained > 0.0).then(|| (valid / gained * erases / f64::from(view.age(index) + 1), index))
        };
        let least = (0..view.len()).filter_map(weighed).min_by(|one, other| one.0.total_cmp(&other.0));
        least.map(|(_, index)| index)
    }
}

impl Snapshot for CostAgeTimes {} // it remembers nothing from choice to choice

fn main() -> Result<(), ninescope::Error> {
    VictimSelectionConfig::add::<CostAgeTimes>("cost-age-times");
    for victim in ["greedy", "cost-age-times", "{ policy = 'cost-age-times', ignore_wear = true }"] {
        let result = ninescope_check::run(&serde_json::json!({
            "drive": {"file": "examples/drives/small.toml"}, "set": [format!("ftl.victim={victim}")],
            "workload": {"job": {"rw": "randwrite", "bs": "4k", "random_distribution": "zoned:90/10:10/90"}},
            "prefill": "steady", "requests": 100_000, "check": "cheap",
        }))?;
        let (waf, wear) = (&result["waf"]["total"], &result["wear"]);
        println!("{waf} written for 1, erased {} to {} times: {victim}", wear["erases_min"], wear["erases_max"]);
    }
    Ok(())
}
