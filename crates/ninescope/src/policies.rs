//! Every policy registry by its configuration key, and what each of its policies has.

use ninescope_ecc::{EccSchemeConfig, LatencyConfig};
use ninescope_engine::policies::back_pressure::BackPressureConfig;
use ninescope_engine::policies::mapping::MapConfig;
use ninescope_engine::policies::read_retry::ReadRetryConfig;
use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::policies::scrub::ScrubPolicyConfig;
use ninescope_engine::{
    ChannelArbitrationConfig, HostArbitrationConfig, SuspendPolicyConfig, TransactionSchedulerConfig, TrimConfig,
    WriteThrottleConfig,
};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, SectorWearLevelingConfig, StreamChoiceConfig,
    VictimSelectionConfig, WearLevelingConfig, WearOutConfig,
};
use ninescope_media::health::ErrorModelConfig;
use ninescope_media::scm::ProgramVerifyConfig;
use ninescope_model::schema::Parameter;
use ninescope_tier::{EvictionConfig, PlacementConfig};

use crate::error::Error;

/// A policy registry: its configuration key, and (name, summary) of each policy.
pub type PolicyRegistry = (&'static str, &'static [(&'static str, &'static str)]);

/// A registry with what gives the parameters of each of its policies.
type ToldRegistry = (PolicyRegistry, fn() -> Vec<Vec<Parameter>>);

/// Every registry.
const REGISTRIES: &[ToldRegistry] = &[
    (("ftl.page_allocation", PageAllocationConfig::LIST), PageAllocationConfig::parameters),
    (("ftl.streams", StreamChoiceConfig::LIST), StreamChoiceConfig::parameters),
    (("ftl.free_block_choice", FreeBlockChoiceConfig::LIST), FreeBlockChoiceConfig::parameters),
    (("ftl.wear_leveling", WearLevelingConfig::LIST), WearLevelingConfig::parameters),
    (("ftl.gc_trigger", GcTriggerConfig::LIST), GcTriggerConfig::parameters),
    (("ftl.victim", VictimSelectionConfig::LIST), VictimSelectionConfig::parameters),
    (("ftl.throttle", WriteThrottleConfig::LIST), WriteThrottleConfig::parameters),
    (("ftl.trim", TrimConfig::LIST), TrimConfig::parameters),
    (("ftl.map", MapConfig::LIST), MapConfig::parameters),
    (("scheduler.transactions", TransactionSchedulerConfig::LIST), TransactionSchedulerConfig::parameters),
    (("scheduler.channel", ChannelArbitrationConfig::LIST), ChannelArbitrationConfig::parameters),
    (("scheduler.arbitration", HostArbitrationConfig::LIST), HostArbitrationConfig::parameters),
    (("scheduler.suspend", SuspendPolicyConfig::LIST), SuspendPolicyConfig::parameters),
    (("scm.wear_leveling", SectorWearLevelingConfig::LIST), SectorWearLevelingConfig::parameters),
    (("scm.verify", ProgramVerifyConfig::LIST), ProgramVerifyConfig::parameters),
    (("tier.placement", PlacementConfig::LIST), PlacementConfig::parameters),
    (("tier.placement.victim", EvictionConfig::LIST), EvictionConfig::parameters),
    (("tier.back_pressure", BackPressureConfig::LIST), BackPressureConfig::parameters),
    (("nand.ecc", EccSchemeConfig::LIST), EccSchemeConfig::parameters),
    (("nand.ecc.latency", LatencyConfig::LIST), LatencyConfig::parameters),
    (("nand.errors", ErrorModelConfig::LIST), ErrorModelConfig::parameters),
    (("nand.retry", ReadRetryConfig::LIST), ReadRetryConfig::parameters),
    (("nand.wear_out", WearOutConfig::LIST), WearOutConfig::parameters),
    (("scrub", ScrubPolicyConfig::LIST), ScrubPolicyConfig::parameters),
    (("refresh", RefreshPolicyConfig::LIST), RefreshPolicyConfig::parameters),
];

/// Every policy of every registry.
pub fn policies() -> Vec<PolicyRegistry> {
    REGISTRIES.iter().map(|(registry, _)| *registry).collect()
}

/// The policies of a registry that have a parameter.
pub fn policies_with(registry: &str, parameter: &str) -> Vec<&'static str> {
    // Both parts of storage-class memory have the same.
    let registry = registry.strip_prefix("storage_").unwrap_or(registry);
    let of = REGISTRIES.iter().filter(|((key, _), _)| *key == registry);
    let named = of.flat_map(|((_, list), parameters)| list.iter().zip(parameters()));
    let has = |parameters: &[Parameter]| parameters.iter().any(|one| one.name == parameter);
    named.filter(|(_, parameters)| has(parameters)).map(|((name, _), _)| *name).collect()
}

/// Every policy as JSON: `{registry: [{"name", "summary", "parameters"}]}`.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn policies_json() -> Result<String, Error> {
    let entry = |((name, summary), parameters): (&(&str, &str), Vec<Parameter>)| serde_json::json!({"name": name, "summary": summary, "parameters": parameters});
    let registry = |((key, list), parameters): &ToldRegistry| {
        ((*key).to_owned(), list.iter().zip(parameters()).map(entry).collect())
    };
    let registries: serde_json::Map<String, serde_json::Value> = REGISTRIES.iter().map(registry).collect();
    serde_json::to_string(&registries).map_err(|error| Error::Internal(error.to_string()))
}
