//! Drives that are made from snapshots run like those that were prepared: random worlds, each prepared in one of the ways,
//! saved, read again, and run to their end beside the drive that was saved, under the full checker.

use std::collections::BTreeSet;

use ninescope::{CheckLevel, Plan, PrefillMode, PreparedDrive};
use ninescope_check::Checker;
use ninescope_check::worlds::{World, generate};
use ninescope_engine::{Device, Kind, NoProbe, OnHeap, Watched};
use ninescope_kernel::Snapshot;

/// Random worlds of every run of the tests.
const WORLDS: u64 = 300;
const PREFILLS: [PrefillMode; 4] =
    [PrefillMode::Footprint, PrefillMode::Full, PrefillMode::Raw, PrefillMode::SteadyUniform];

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

/// Runs a world from a snapshot and from the drive that was saved; returns the bytes of the snapshot.
fn compare(world: &World) -> usize {
    let mut plan = plan(world);
    let shape = plan.shape();
    let prepared = plan.prepare().expect("a drive that was checked");
    let file = prepared.write(&shape, Vec::new()).unwrap_or_else(|error| panic!("seed {}: {error}", world.seed));
    let read = PreparedDrive::read(&shape, file.as_slice());
    let read = read.unwrap_or_else(|refusal| panic!("seed {}: {refusal}", world.seed));
    assert_eq!(state(&read), state(&prepared), "seed {}", world.seed);
    assert_eq!((read.written, &read.steady), (prepared.written, &prepared.steady), "seed {}", world.seed);
    assert_eq!(read.write(&shape, Vec::new()).expect("memory takes everything"), file, "seed {}", world.seed);

    let checker = Checker::new(CheckLevel::Full).sweeping_every(300);
    let checked = run::<Watched>(world, read, Box::new(checker));
    let plain = run::<OnHeap>(world, prepared, NoProbe);
    let (one, other) = (checked.seen(), plain.seen());
    assert_eq!(one.digest, other.digest, "seed {}", world.seed);
    assert_eq!(one.counters, other.counters, "seed {}", world.seed);
    assert_eq!(one.ftl.counters(), other.ftl.counters(), "seed {}", world.seed);
    assert_eq!(one.completed, world.requests.len() as u64, "seed {}", world.seed);
    file.len()
}

/// What a registry is called in the configuration of a translation layer.
const REGISTRIES: [(&str, &str); 5] = [
    ("ftl.page_allocation", "page_allocation"),
    ("ftl.streams", "stream_choice"),
    ("ftl.free_block_choice", "free_block_choice"),
    ("ftl.gc_trigger", "gc_trigger"),
    ("ftl.victim", "victim_selection"),
];

#[test]
fn random_worlds_run_from_snapshots_as_from_what_was_saved() {
    let mut policies = BTreeSet::new();
    let mut bytes = 0;
    for seed in 1..=WORLDS {
        let mut world = generate(seed);
        world.prefill = PREFILLS[seed as usize % PREFILLS.len()];
        if !world.drive.contains_key("geometry") {
            continue; // nothing is prepared
        }
        bytes += compare(&world);
        let ftl = serde_json::to_value(plan(&world).shape().ftl).expect("it can be written");
        policies.extend(REGISTRIES.map(|(key, field)| format!("{key}={}", ftl[field]["policy"].as_str().expect(key))));
    }
    assert!(bytes > 100_000, "{bytes} bytes");
    for (key, list) in ninescope::policies().into_iter().filter(|(key, _)| key.starts_with("ftl.")) {
        for (name, _) in list {
            assert!(policies.contains(&format!("{key}={name}")), "no world of {WORLDS} ran {key}={name}");
        }
    }
}
