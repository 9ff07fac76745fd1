//! The marks a hunt must hit: every counter of engine, FTL, SCM and tier, every sighting of the checker, every policy.

use std::collections::BTreeSet;

use ninescope_engine::{DramCounters, EngineCounters, FirmwareCounters, ScmCounters};
use ninescope_ftl::FtlCounters;
use ninescope_tier::TierCounters;

use crate::Mark;

/// The names of all marks.
pub fn known_marks() -> BTreeSet<String> {
    let policies = ninescope::policies()
        .into_iter()
        .flat_map(|(key, list)| list.iter().map(move |(name, _)| format!("{key} = {name}")));
    situations().into_iter().chain(policies).collect()
}

/// The names of those marks that are something which happens. That a policy runs is nothing by itself: see
/// [`decides_otherwise`](super::decides_otherwise).
pub fn situations() -> BTreeSet<String> {
    let fields = |value: Result<serde_json::Value, serde_json::Error>| -> Vec<String> {
        let value = value.unwrap_or_default();
        let counters = value.as_object().into_iter().flatten().filter(|(_, value)| value.is_number());
        counters.map(|(name, _)| name.clone()).collect()
    };
    let engine = fields(serde_json::to_value(EngineCounters::default()));
    let ftl = fields(serde_json::to_value(FtlCounters::default())).into_iter().map(|name| format!("ftl.{name}"));
    let scm = fields(serde_json::to_value(ScmCounters::default())).into_iter().map(|name| format!("scm.{name}"));
    let tier = fields(serde_json::to_value(TierCounters::default())).into_iter().map(|name| format!("tier.{name}"));
    let dram = fields(serde_json::to_value(DramCounters::default())).into_iter().map(|name| format!("dram.{name}"));
    let firmware = fields(serde_json::to_value(FirmwareCounters::default()));
    let firmware = firmware.into_iter().map(|name| format!("firmware.{name}"));
    let sightings = Mark::ALL.iter().map(|mark| mark.name().to_owned());
    engine.into_iter().chain(ftl).chain(scm).chain(tier).chain(dram).chain(firmware).chain(sightings).collect()
}
