//! The digest depends on what the device does and on nothing else: not on the queue, the probe, the slices,
//! the log, or what is measured.

use crate::scenario::{Drive, Listed, Recorder, mixed_requests, policy_with};
use ninescope_engine::{Device, Event, Kind, NoProbe, OnHeap, Plain, Probe, SimulationError, View, Watched};
use ninescope_generators::{JobConfig, SyntheticJob};
use ninescope_kernel::Ns;
use ninescope_model::{Arrival, Workload};

/// A probe of its own that looks at nothing.
struct Idle;

impl Probe for Idle {
    fn observe(&mut self, _view: &View<'_>, _event: Event<'_>) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// Random work with garbage collection, suspends, stalls and timeouts.
fn drive() -> Drive {
    let mut drive = Drive::busy();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "programs": true }));
    drive.engine.page_timeout = Some(Ns(300_000));
    drive
}

fn workload(drive: &Drive) -> Box<dyn Workload> {
    Listed::boxed(mixed_requests(drive.seed, 6_000, drive.logical_units, 15_000, 55), Arrival::Open)
}

fn digest_with<K: Kind>(drive: &Drive, probe: K::Probe, slice: u64) -> String {
    let mut device: Device<K> = drive.device(workload(drive), probe);
    while !device.run_slice(slice).expect("the run goes well").finished {}
    assert_eq!(device.completed(), 6_000);
    assert!(device.ftl().counters().erased_groups + u64::from(drive.limits.warmup_requests > 0) > 0);
    device.digest().to_hex()
}

fn digest(drive: &Drive) -> String {
    digest_with::<Plain>(drive, NoProbe, u64::MAX / 2)
}

#[test]
fn equal_input_gives_the_equal_digest() {
    assert_eq!(digest(&drive()), digest(&drive()));
}

#[test]
fn the_event_queue_does_not_change_the_run() {
    let with_heap = digest_with::<OnHeap>(&drive(), NoProbe, u64::MAX / 2);
    assert_eq!(digest(&drive()), with_heap);
}

#[test]
fn a_probe_does_not_change_the_run() {
    let expected = digest(&drive());
    assert_eq!(digest_with::<Watched>(&drive(), Box::new(Idle), u64::MAX / 2), expected);
    let recorder = Recorder { reserve: 1, ..Recorder::default() };
    assert_eq!(digest_with::<Watched>(&drive(), Box::new(recorder), u64::MAX / 2), expected);
}

#[test]
fn slices_do_not_change_the_run() {
    let expected = digest(&drive());
    for slice in [1, 7, 1_000] {
        assert_eq!(digest_with::<Plain>(&drive(), NoProbe, slice), expected, "slices of {slice}");
    }
}

#[test]
fn what_is_logged_and_measured_does_not_change_the_run() {
    let expected = digest(&drive());
    let mut logged = drive();
    logged.engine.log_requests = true;
    assert_eq!(digest(&logged), expected);
    for warmup in [1, 1_000, 5_999] {
        let mut warmed = drive();
        warmed.limits.warmup_requests = warmup;
        assert_eq!(digest(&warmed), expected, "{warmup} requests of warm-up");
    }
}

#[test]
fn another_seed_gives_another_digest() {
    // Once through the workload, once through a policy that draws victims.
    let mut other = drive();
    other.seed = 2;
    assert_ne!(digest(&drive()), digest(&other));
    let random = |seed| {
        let mut drive = drive();
        drive.victim = policy_with(&serde_json::json!({ "policy": "random" }));
        let requests = mixed_requests(1, 6_000, drive.logical_units, 15_000, 55);
        drive.seed = seed;
        let mut device: Device = drive.device(Listed::boxed(requests, Arrival::Open), NoProbe);
        device.run().expect("the run goes well");
        device.digest().to_hex()
    };
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}

#[test]
fn synthetic_jobs_run_equally_under_either_queue_and_any_slice() {
    let job: JobConfig = serde_json::from_value(
        serde_json::json!({ "rw": "randrw", "rwmixread": 40, "requests": 5_000, "iodepth": 16 }),
    )
    .expect("a job");
    let mut drive = drive();
    drive.limits.closed_queue_depth = 16;
    let run = |slice: u64, seed: u64, heap: bool| {
        let workload = || Box::new(SyntheticJob::new(job.clone(), drive.sectors(), seed).expect("a legal job"));
        if heap {
            let mut device: Device<OnHeap> = drive.device(workload(), NoProbe);
            while !device.run_slice(slice).expect("the run goes well").finished {}
            return device.digest().to_hex();
        }
        let mut device: Device = drive.device(workload(), NoProbe);
        while !device.run_slice(slice).expect("the run goes well").finished {}
        device.digest().to_hex()
    };
    let expected = run(u64::MAX / 2, 1, false);
    assert_eq!(run(7, 1, true), expected);
    assert_ne!(run(7, 2, false), expected);
}
