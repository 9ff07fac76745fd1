//! The marks a hunt must hit: every counter of engine and FTL, every sighting of the checker, every policy.

use std::collections::BTreeSet;

use ninescope_engine::EngineCounters;
use ninescope_ftl::FtlCounters;

use crate::Mark;

/// The names of all marks.
pub fn known_marks() -> BTreeSet<String> {
    let fields = |value: Result<serde_json::Value, serde_json::Error>| -> Vec<String> {
        value.ok().and_then(|value| value.as_object().map(|map| map.keys().cloned().collect())).unwrap_or_default()
    };
    let engine = fields(serde_json::to_value(EngineCounters::default()));
    let ftl = fields(serde_json::to_value(FtlCounters::default())).into_iter().map(|name| format!("ftl.{name}"));
    let sightings = Mark::ALL.iter().map(|mark| mark.name().to_owned());
    let policies = ninescope::policies_of_flash()
        .into_iter()
        .flat_map(|(key, list)| list.iter().map(move |(name, _)| format!("{key} = {name}")));
    engine.into_iter().chain(ftl).chain(sightings).chain(policies).collect()
}
