//! Drives that are made from snapshots run like those that were prepared: random worlds, each prepared in one of the ways,
//! saved, read again, and run to their end beside the drive that was saved, under the full checker.

use std::collections::BTreeSet;

use ninescope::{CheckLevel, Plan, PrefillMode, PreparedDrive};
use ninescope_check::Checker;
use ninescope_check::worlds::{World, generate};
use ninescope_engine::{Device, Kind, NoProbe, OnHeap, Watched};
use ninescope_kernel::Snapshot;

/// Random worlds of every run of the tests.
const WORLDS: u64 = 150;
const PREFILLS: [PrefillMode; 5] = [
    PrefillMode::Footprint,
    PrefillMode::Full,
    PrefillMode::Raw,
    PrefillMode::SteadyUniform,
    PrefillMode::SteadyComposed,
];

fn plan(world: &World) -> Plan {
    world.plan().unwrap_or_else(|error| panic!("seed {}: {error}", world.seed))
}

fn run<K: Kind>(world: &World, drive: PreparedDrive, probe: K::Probe) -> Device<K> {
    let mut device = plan(world).device_of(drive, probe).expect("a drive that was checked");
    while !device.run_slice(10_000).unwrap_or_else(|error| panic!("seed {}: {error}", world.seed)).finished {}
    device
}

fn state(drive: &PreparedDrive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.ftl.save(&mut bytes).expect("a quiet drive");
    bytes
}

/// Runs a world from a snapshot and from the drive that was saved; returns the bytes of the snapshot, or in what the two differ.
fn compare(world: &World) -> Result<usize, &'static str> {
    let mut plan = plan(world);
    let shape = plan.shape();
    let prepared = plan.prepare().expect("a drive that was checked");
    let file = prepared.write(&shape, Vec::new()).unwrap_or_else(|error| panic!("seed {}: {error}", world.seed));
    let read = PreparedDrive::read(&shape, file.as_slice());
    let read = read.unwrap_or_else(|refusal| panic!("seed {}: {refusal}", world.seed));
    let is = |alike: bool, what: &'static str| if alike { Ok(()) } else { Err(what) };
    is(state(&read) == state(&prepared), "the drive that was read is saved otherwise")?;
    is((read.written, &read.steady) == (prepared.written, &prepared.steady), "what was written to it differs")?;
    is(read.write(&shape, Vec::new()).expect("memory takes everything") == file, "its file is another")?;

    let checker = Checker::new(CheckLevel::Full).sweeping_every(300);
    let checked = run::<Watched>(world, read, Box::new(checker));
    let plain = run::<OnHeap>(world, prepared, NoProbe);
    let (one, other) = (checked.seen(), plain.seen());
    is(one.digest == other.digest, "the run does something else")?;
    is(one.counters == other.counters && one.ftl.counters() == other.ftl.counters(), "the run counts otherwise")?;
    is(one.completed == world.requests.len() as u64, "requests are missing")?;
    Ok(file.len())
}

/// Sets the policy of a registry; a drive that has none there stays as it is.
fn set_policy(world: &mut World, key: &str, name: &str) -> Option<()> {
    let (section, entry) = key.split_once('.')?;
    let table = world.drive.get_mut(section)?.as_table_mut()?;
    table.contains_key(entry).then(|| table.insert(entry.to_owned(), name.into())).map(drop)
}

/// Whether the two drives differ still where the others are the first of their registries, or the last.
fn differs_alone(world: &World, key: &str, last: bool) -> Option<bool> {
    let registries = ninescope::policies();
    let mut alone = world.clone();
    for (other, _) in REGISTRIES.iter().filter(|(other, _)| *other != key) {
        let (_, list) = registries.iter().find(|(registry, _)| registry == other)?;
        let (name, _) = if last { list.last() } else { list.first() }?;
        set_policy(&mut alone, other, name);
    }
    Some(alone.plan().is_ok() && compare(&alone).is_err())
}

/// Who is to blame: the policies with which the two drives differ whichever the others are; where there are none, without which
/// they do not.
fn forgetful(world: &World) -> String {
    let ftl = serde_json::to_value(plan(world).shape().ftl).expect("it can be written");
    let name = |field: &str| ftl[field]["policy"].as_str().unwrap_or_default().to_owned();
    let alone = |key: &str, _: &str| [false, true].iter().all(|&last| differs_alone(world, key, last) == Some(true));
    let needed = |key: &str, field: &str| {
        let (name, registries) = (name(field), ninescope::policies());
        let others = registries.iter().filter(|(other, _)| *other == key).flat_map(|(_, list)| list.iter());
        others.filter(|(other, _)| *other != name).any(|(other, _)| {
            let mut without = world.clone();
            set_policy(&mut without, key, other);
            without.plan().is_ok() && compare(&without).is_ok()
        })
    };
    let blamed_by = |is_to_blame: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        let blamed = REGISTRIES.iter().filter(|(key, field)| is_to_blame(key, field));
        let told = |(key, field): &(&str, &str)| {
            format!("`{}` of {key} keeps something between calls that its Snapshot does not save", name(field))
        };
        blamed.map(told).collect()
    };
    let blamed = blamed_by(&alone);
    let blamed = if blamed.is_empty() { blamed_by(&needed) } else { blamed };
    if blamed.is_empty() { "no policy by itself is to blame".to_owned() } else { blamed.join("; or ") }
}

/// What a registry is called in the configuration of a translation layer.
const REGISTRIES: [(&str, &str); 6] = [
    ("ftl.page_allocation", "page_allocation"),
    ("ftl.streams", "stream_choice"),
    ("ftl.free_block_choice", "free_block_choice"),
    ("ftl.gc_trigger", "gc_trigger"),
    ("ftl.victim", "victim_selection"),
    ("ftl.wear_leveling", "wear_leveling"),
];

/// The world with another preparation. One whose blocks break, or whose wear is levelled, is not made of like pools, and may come to its
/// end while it is prepared in another way, and nothing wears in where there are zones: it stays as it is.
fn prepared_otherwise(world: World) -> World {
    let mut other = world.clone();
    other.prefill = PREFILLS[world.seed as usize % PREFILLS.len()];
    if other.prefill == PrefillMode::SteadyComposed {
        // All pools are made alike.
        other.partitions.clear();
    }
    let ftl = plan(&world).shape().ftl;
    let stays = ftl.breakdown.is_some() || ftl.wear_leveling.levels() || ftl.zones.is_some();
    if stays && !other.plan().is_ok_and(|mut plan| plan.prepare().is_ok()) { world } else { other }
}

#[test]
fn random_worlds_run_from_snapshots_as_from_what_was_saved() {
    let mut policies = BTreeSet::new();
    let mut bytes = 0;
    for seed in 1..=WORLDS {
        let world = prepared_otherwise(generate(seed));
        if !world.drive.contains_key("geometry") {
            continue; // nothing is prepared
        }
        bytes += compare(&world).unwrap_or_else(|what| panic!("seed {seed}: {what}: {}", forgetful(&world)));
        let ftl = serde_json::to_value(plan(&world).shape().ftl).expect("it can be written");
        // A policy that is not named is none.
        let name = |field: &str| ftl[field]["policy"].as_str().unwrap_or("none").to_owned();
        policies.extend(REGISTRIES.map(|(key, field)| format!("{key}={}", name(field))));
    }
    assert!(bytes > 100_000, "{bytes} bytes");
    // What of the map is in memory when a run begins is nothing, whatever the policy, and nothing is held back or put off then.
    let is_of_ftl = |key: &str| key.starts_with("ftl.") && !matches!(key, "ftl.map" | "ftl.throttle" | "ftl.trim");
    for (key, list) in ninescope::policies().into_iter().filter(|(key, _)| is_of_ftl(key)) {
        for (name, _) in list {
            assert!(policies.contains(&format!("{key}={name}")), "no world of {WORLDS} ran {key}={name}");
        }
    }
}
