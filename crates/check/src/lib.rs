//! The checker: it walks beside a run, keeps its own account of everything, and ends the run where that
//! account and the device's differ.
//!
//! It is a [probe](ninescope_engine::Probe): it receives events and changes nothing, so that a checked run
//! is the run itself. It must not ask the device how something *should* be: what it compares with comes from
//! the events, from the rules of the media, and from what it wrote down before.
//!
//! * [`worlds`] builds random drives and workloads and runs them under the checker.
//! * [`Checker`] joins the parts: requests, block groups, blocks, dies, transfers, ledgers.
//! * [`oracle`] carries a version with the data of every sector and judges what each read returns.

mod blame;
mod block_maps;
mod blocks;
mod breakage;
mod cache_holders;
mod checker;
mod classes;
mod copybacks;
mod die_sets;
mod dies;
mod dram;
mod failed_dies;
mod firmware;
mod forwarding;
mod groups;
mod heat;
mod homes;
mod intake;
mod interrupts;
mod ledger;
mod leveling;
mod map_holders;
mod mapping;
mod marks;
mod messages;
mod namespaces;
mod one_shot;
mod oracle;
mod page_types;
mod parity;
mod part;
mod partitions;
mod places;
mod planes;
mod power;
mod power_states;
mod protocol;
mod queues;
mod reclaim_units;
mod registers;
mod reliability;
mod requests;
mod rule;
mod scm;
mod sectors;
mod slc_cache;
mod space;
mod streams;
mod stripes;
mod sweep;
mod throttle;
mod tier;
mod transfers;
mod trigger;
mod trims;
mod units;
mod victim;
mod whole_erase;
mod wordlines;
pub mod worlds;
mod zones;

pub use checker::Checker;
pub use marks::{Mark, Marks};
pub use rule::Rule;

use std::time::Duration;

use ninescope::{AnySimulation, CheckLevel, Error, Plan, RecordedSimulation, RunRequest, Simulation};
use ninescope_engine::{Probe, Watched};
use serde_json::Value;

/// The run of a request, with the checker and the recorder it asks for. Either is a probe; a run that asks for neither is
/// on a device that tells nothing.
///
/// # Errors
/// [`Error::Input`] that names file, line or key.
pub fn simulation(request: &RunRequest) -> Result<Box<dyn AnySimulation>, Error> {
    let settings = request.record_settings()?;
    if settings.any() {
        let plan = Plan::new(request)?;
        let checker =
            (request.check != CheckLevel::Off).then(|| Box::new(checker_of(&plan, request)) as Box<dyn Probe>);
        return Ok(Box::new(RecordedSimulation::of_plan(plan, checker, settings)?));
    }
    if request.check == CheckLevel::Off {
        return Ok(Box::new(Simulation::new(request)?));
    }
    let plan = Plan::new(request)?;
    let checker = Box::new(checker_of(&plan, request));
    Ok(Box::new(Simulation::<Watched>::of_plan(plan, checker)?))
}

/// Runs a request, told as JSON, to its end, as [`simulation`] does. Returns its result.
///
/// # Errors
/// [`Error::Input`] that names file, line or key, and what ends a run that has begun.
pub fn run(request: &Value) -> Result<Value, Error> {
    let mut run = simulation(&RunRequest::from_json(&request.to_string())?)?;
    while !run.run_slice(Duration::from_secs(3600))?.finished {}
    serde_json::from_str(&run.result_json(true)?).map_err(|error| Error::Internal(error.to_string()))
}

/// The checker of a run, which knows the namespaces that the drive is described with.
fn checker_of(plan: &Plan, request: &RunRequest) -> Checker {
    let (bytes, of_lane) = plan.namespaces();
    Checker::new(request.check).in_namespaces(&bytes, of_lane)
}
