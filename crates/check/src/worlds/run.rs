//! Runs one world: under the full checker, and again without it on the other wake-up queue, cut into
//! slices; both must do the same things at the same times.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ninescope::{CheckLevel, Error, PrefillMode, PrefillOrder};
use ninescope_engine::{Device, Event, Kind, NoProbe, OnHeap, Probe, SimulationError, View, Watched};
use ninescope_ftl::Ftl;
use ninescope_model::{BlockGroup, Lpa, Ppa};

use super::keys::{policy_name, value_at};
use super::namespaces;
use super::world::World;
use crate::{Checker, Marks};

/// Events after which a world is said to go on for ever, in all, and since a request completed.
const EVENTS_MAX: u64 = 10_000_000;
const EVENTS_PER_REQUEST_MAX: u64 = 300_000;
/// Events of a world between two walks over everything.
const SWEEP_EVENTS: u64 = 300;

/// What went wrong, by name: the name of an invariant or of a kind of failure. A shrunk world must fail by the
/// same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which invariant, or `panic`, `stuck`, `refused`, `endless`, `differs`, ...
    pub name: String,
    /// The whole story.
    pub message: String,
}

impl Failure {
    fn new(name: &str, message: impl Into<String>) -> Self {
        Self { name: name.to_owned(), message: message.into() }
    }

    fn of(error: &SimulationError) -> Self {
        let name = match error {
            SimulationError::Violation(violation) => violation.rule,
            SimulationError::Illegal { .. } | SimulationError::IllegalOnScm { .. } => "illegal-command",
            SimulationError::Stuck { .. } => "stuck",
            SimulationError::Attribution { .. } => "attribution",
            SimulationError::Ftl(_) => "ftl",
            SimulationError::BeyondDrive { .. } => "beyond-drive",
            SimulationError::Workload(_) => "workload",
        };
        Self::new(name, error.to_string())
    }
}

/// What a world did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The digest of its run.
    pub digest: String,
    /// That of its run with several tenants; empty where there was none.
    pub shared_digest: String,
    /// How often each mark was hit: counters of engine and FTL, sightings of the checker, policies.
    pub marks: BTreeMap<String, u64>,
    /// Events of the engine.
    pub events: u64,
    /// Events the checker looked at.
    pub checked: u64,
    /// Requests completed.
    pub requests: u64,
}

/// One of so many worlds also runs with its requests dealt to several tenants.
const SHARED_ONE_OF: u64 = 3;
/// The most tenants in one.
pub(super) const TENANTS_MAX: u64 = 4;

/// Counters of what there is among several tenants alone.
const OF_TENANTS: [&str; 2] = ["part_stalls", "class_passes"];

/// Runs a world.
///
/// # Errors
/// What it broke.
pub fn run(world: &World) -> Result<Outcome, Failure> {
    let guarded = catch_unwind(AssertUnwindSafe(|| run_twice(world)));
    guarded.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        Err(Failure::new("panic", words))
    })
}

fn run_twice(world: &World) -> Result<Outcome, Failure> {
    let checker = checker(world, 1);
    let mut checked = device::<Watched>(world, 1, Box::new(checker))?;
    was_filled(world, checked.seen().ftl)?;
    finish(world, &mut checked, u64::MAX)?;
    let seen = checked.seen();
    let mut outcome = Outcome {
        digest: seen.digest.to_hex(),
        shared_digest: String::new(),
        marks: marks(world, &checked),
        events: seen.counters.events,
        checked: checked.probe::<Checker>().events(),
        requests: seen.completed,
    };
    // Slices of a few events, a number that the world decides.
    let mut plain = device::<OnHeap>(world, 1, NoProbe)?;
    finish(world, &mut plain, 1 + world.seed % 97)?;
    let again = plain.seen();
    if again.digest.to_hex() != outcome.digest || again.counters != seen.counters {
        let message = format!(
            "with tree and checker {} after {} events, with heap and slices {} after {} events",
            outcome.digest,
            outcome.events,
            again.digest.to_hex(),
            again.counters.events
        );
        return Err(Failure::new("differs", message));
    }
    if outcome.requests != world.requests.len() as u64 {
        let message = format!("{} of {} requests completed", outcome.requests, world.requests.len());
        return Err(Failure::new("incomplete", message));
    }
    // Several tenants do not share a link that the map takes, too.
    let map_takes_link = value_at(&world.drive, "ftl.map.host_link").is_some();
    if world.seed.is_multiple_of(SHARED_ONE_OF) && !map_takes_link {
        let (digest, counters, marks) = run_shared(world)?;
        outcome.shared_digest = digest;
        let counted = OF_TENANTS.map(|name| (name, counters.get(name).copied().unwrap_or_default()));
        for (name, sightings) in marks.counts().chain(counted) {
            *outcome.marks.entry(name.to_owned()).or_default() += sightings;
        }
    }
    Ok(outcome)
}

/// The checker of a world with so many tenants.
fn checker(world: &World, tenants: usize) -> Checker {
    let sizes = namespaces::sizes(world);
    let of_tenants = namespaces::of_tenants(sizes.len(), tenants);
    Checker::new(CheckLevel::Full).sweeping_every(SWEEP_EVENTS).in_namespaces(&sizes, of_tenants)
}

/// How many tenants its requests are dealt to where they are.
fn tenants_of(world: &World) -> usize {
    2 + (world.seed / SHARED_ONE_OF % (TENANTS_MAX - 1)) as usize
}

/// Runs it with several tenants under the checker: whom each request waited for is held against what was seen. Returns its
/// digest, its counters, and what was sighted.
fn run_shared(world: &World) -> Result<(String, BTreeMap<String, u64>, Marks), Failure> {
    let tenants = tenants_of(world);
    let checker = checker(world, tenants);
    let mut shared = device::<Watched>(world, tenants, Box::new(checker))?;
    finish(world, &mut shared, u64::MAX)?;
    let sighted = shared.probe::<Checker>().marks().clone();
    Ok((shared.seen().digest.to_hex(), marks(world, &shared), sighted))
}

/// Standard deviations that the order of a prefill may lie off chance: never, in all worlds there will be.
const DEVIATIONS: f64 = 8.0;

/// What is written once before a run is there once, and in its order: units that lie side by side ascend, or, where the order
/// is random, as often as not.
fn was_filled(world: &World, ftl: &Ftl) -> Result<(), Failure> {
    if !matches!(world.prefill, PrefillMode::Footprint | PrefillMode::Full) {
        return Ok(());
    }
    if ftl.block_map().is_some() && world.prefill_order == PrefillOrder::Random {
        // Where pages lie the map says, and merges have copied them.
        return Ok(());
    }
    let groups = (0..ftl.geometry().groups()).map(BlockGroup);
    let units_of = |group| -> Vec<Lpa> {
        let (first, count) = (ftl.geometry().first_unit(group).0, ftl.group(group).write_pointer);
        let contents = (first..first + count).map(|unit| ftl.content(Ppa(unit)));
        // Pages that stayed open were padded.
        contents.filter(|&lpa| lpa != Lpa::NONE).collect()
    };
    let written: Vec<Vec<Lpa>> = groups.map(units_of).collect();
    let of_host = |lpa: &&Lpa| !ftl.is_translation(**lpa);
    let units: usize = written.iter().flatten().filter(of_host).count();
    let all = world.prefill == PrefillMode::Full;
    let unit_bytes = u64::from(ftl.geometry().unit_bytes);
    let logical = match namespaces::sizes(world)[..] {
        [] => ftl.logical_units(),
        ref sizes => ftl.logical_units().min((sizes.iter().sum::<u64>() / unit_bytes.max(1)) as u32),
    };
    // Of zones there are addresses behind what they take, and some can be offline.
    let all = all && ftl.zones().is_none();
    if units != ftl.mapped_units() as usize || (all && ftl.mapped_units() != logical) {
        let mapped = ftl.mapped_units();
        let message = format!("{units} units were written to fill the drive, {mapped} of {logical} are mapped");
        return Err(Failure::new("prepare", message));
    }
    let pairs = || written.iter().flat_map(|group| group.windows(2));
    let (count, ascents) = (pairs().count(), pairs().filter(|pair| pair[0] < pair[1]).count());
    // Of n units in random order (n + 1) / 12 is the variance of their ascents.
    let variance: f64 =
        written.iter().filter(|group| group.len() > 1).map(|group| (group.len() + 1) as f64 / 12.0).sum();
    let in_order = match world.prefill_order {
        PrefillOrder::Ascending => ascents == count,
        PrefillOrder::Random => (ascents as f64 - count as f64 / 2.0).abs() <= DEVIATIONS * variance.sqrt(),
    };
    if !in_order {
        let message =
            format!("{ascents} of {count} pairs of neighbours ascend where the order is {:?}", world.prefill_order);
        return Err(Failure::new("prepare", message));
    }
    Ok(())
}

fn device<K: Kind>(world: &World, tenants: usize, probe: K::Probe) -> Result<Device<K>, Failure> {
    let built = world.plan_of_tenants(tenants).and_then(|plan| plan.into_device(probe));
    built.map_err(|error| match error {
        Error::Input(message) => Failure::new("refused", message),
        Error::Internal(message) => Failure::new("prepare", message),
    })
}

fn finish<K: Kind>(world: &World, device: &mut Device<K>, slice: u64) -> Result<(), Failure> {
    let (mut completed, mut since) = (0, 0);
    loop {
        let progress = device.run_slice(slice.min(EVENTS_PER_REQUEST_MAX / 2)).map_err(|error| {
            let seen = device.seen();
            let (requests, events) = (seen.completed, seen.counters.events);
            let failure = Failure::of(&error);
            let position = format!("seed {}, after {requests} completed requests and {events} events", world.seed);
            Failure { message: format!("{} ({position})", failure.message), ..failure }
        })?;
        if progress.finished {
            return Ok(());
        }
        let events = device.seen().counters.events;
        if progress.completed > completed {
            (completed, since) = (progress.completed, events);
        }
        if events >= EVENTS_MAX || events - since >= EVENTS_PER_REQUEST_MAX {
            let message = format!("{completed} requests completed after {events} events, at {}", progress.now);
            return Err(Failure::new("endless", message));
        }
    }
}

/// Runs a world under the checker, `shared` with its requests dealt to several tenants, and hands every event to `tell` first, in
/// words.
///
/// # Errors
/// What it broke.
pub fn trace(world: &World, shared: bool, tell: Box<dyn FnMut(String) + Send>) -> Result<(), Failure> {
    let tenants = if shared { tenants_of(world) } else { 1 };
    let checker = checker(world, tenants);
    let mut device = device::<Watched>(world, tenants, Box::new(Traced { checker, tell }))?;
    finish(world, &mut device, u64::MAX)
}

/// A checker that tells what it is told.
struct Traced {
    checker: Checker,
    tell: Box<dyn FnMut(String) + Send>,
}

impl Probe for Traced {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        (self.tell)(format!("{:>14} {event:?}", view.now.0));
        self.checker.observe(view, event)
    }
}

/// Counters by name, the checker's sightings, and the policies that ran.
fn marks(world: &World, device: &Device<Watched>) -> BTreeMap<String, u64> {
    let mut marks = BTreeMap::new();
    let seen = device.seen();
    let mut add = |prefix: &str, counters: Result<serde_json::Value, serde_json::Error>| {
        for (name, count) in counters.ok().as_ref().and_then(serde_json::Value::as_object).into_iter().flatten() {
            if let Some(count) = count.as_u64() {
                marks.insert(format!("{prefix}{name}"), count);
            }
        }
    };
    add("", serde_json::to_value(seen.counters));
    add("ftl.", serde_json::to_value(seen.ftl.counters()));
    add("scm.", serde_json::to_value(seen.scm.counters(0)));
    if let Some(dram) = seen.dram {
        add("dram.", serde_json::to_value(dram.counters()));
    }
    if let Some(firmware) = seen.firmware {
        add("firmware.", serde_json::to_value(firmware.counters()));
    }
    if let Some(part) = seen.tier {
        add("tier.", serde_json::to_value(part.tier().counters()));
    }
    marks.extend(device.probe::<Checker>().marks().counts().map(|(name, count)| (name.to_owned(), count)));
    for (key, _) in ninescope::policies() {
        if let Some(name) = policy_name(&world.drive, key) {
            marks.insert(format!("{key} = {name}"), 1);
        }
    }
    marks
}
