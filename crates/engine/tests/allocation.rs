//! After the first hundredth of a run nothing is allocated on the hot path: every store has its final size by
//! then. An allocator that counts is the witness.

#![allow(unsafe_code, reason = "a global allocator is an unsafe trait; this one only counts and passes on")]

#[path = "engine/common/mod.rs"]
mod common;
#[path = "engine/scenario/mod.rs"]
mod scenario;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::Bench;
use common::tiered::TierBench;
use ninescope_ecc::EccSchemeConfig;
use ninescope_engine::{Device, NoProbe, WriteCompletion};
use ninescope_generators::{JobConfig, SyntheticJob};
use ninescope_kernel::Ns;
use scenario::{Drive, policy_with};

struct Counting;

thread_local! {
    // Per thread, because tests run beside each other. Constant initialisation: no allocation of its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const REQUESTS: u64 = 100_000;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Runs a job on a busy drive and returns how often anything was allocated after the first hundredth.
fn allocations_after_the_first_hundredth(drive: &Drive, job: &serde_json::Value) -> u64 {
    let mut job: JobConfig = serde_json::from_value(job.clone()).expect("a job");
    job.requests = Some(REQUESTS);
    let mut drive = drive.clone();
    drive.limits.closed_queue_depth = job.iodepth;
    let workload = Box::new(SyntheticJob::new(job, drive.sectors(), 1).expect("a legal job"));
    allocations_of(drive.device(workload, NoProbe), REQUESTS)
}

/// Runs a device and returns how often anything was allocated after the first hundredth of its requests.
fn allocations_of(mut device: Device, requests: u64) -> u64 {
    let mut finished = false;
    while device.completed() < requests / 100 {
        finished = device.run_slice(100).expect("the run goes well").finished;
        assert!(!finished, "the run is longer than its first hundredth");
    }
    let before = allocations();
    while !finished {
        finished = device.run_slice(10_000).expect("the run goes well").finished;
    }
    assert!(device.completed() >= requests);
    allocations() - before
}

fn check(drive: &Drive, job: &serde_json::Value) {
    let count = allocations_after_the_first_hundredth(drive, job);
    assert_eq!(count, 0, "{count} allocations with {job}");
}

#[test]
fn the_witness_sees_an_allocation() {
    let before = allocations();
    std::hint::black_box(Box::new(1));
    assert!(allocations() > before);
}

#[test]
fn reads_allocate_nothing() {
    for depth in [1, 32, 512] {
        check(&Drive::busy(), &serde_json::json!({ "rw": "randread", "iodepth": depth }));
    }
}

#[test]
fn mixed_requests_allocate_nothing() {
    for depth in [1, 32, 512] {
        check(&Drive::busy(), &serde_json::json!({ "rw": "randrw", "rwmixread": 70, "iodepth": depth }));
    }
}

#[test]
fn writes_with_garbage_collection_allocate_nothing() {
    for depth in [1, 32, 512] {
        check(&Drive::busy(), &serde_json::json!({ "rw": "randwrite", "iodepth": depth }));
    }
}

#[test]
fn requests_of_many_units_and_of_parts_of_units_allocate_nothing() {
    for depth in [1, 64] {
        for bs in ["64KiB", "12KiB", "2KiB"] {
            let job = serde_json::json!({
                "rw": "randrw", "rwmixread": 50, "bs": bs, "iodepth": depth, "blockalign": "2KiB"
            });
            check(&Drive::busy(), &job);
        }
    }
}

#[test]
fn flushes_timeouts_suspends_and_writes_through_allocate_nothing() {
    let mut drive = Drive::busy();
    drive.engine.page_timeout = Some(Ns(200_000));
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "programs": true }));
    let job = serde_json::json!({
        "rw": "randrw", "rwmixread": 50, "iodepth": 32, "flush_every": 20, "rate_iops": 20_000, "rate_process": "poisson"
    });
    check(&drive, &job);
    drive.engine.write_completion = WriteCompletion::Program;
    drive.engine.page_timeout = None;
    check(&drive, &serde_json::json!({ "rw": "randrw", "rwmixread": 50, "iodepth": 32 }));
}

#[test]
fn codes_retries_and_refresh_allocate_nothing() {
    let latency = serde_json::json!({ "policy": "fixed" });
    for (rber, shared) in [(1e-4, false), (1e-3, true)] {
        let mut drive = Drive::busy();
        let code: EccSchemeConfig = policy_with(&serde_json::json!({
            "policy": "bch", "user_data": "1KiB", "correctable": 12, "shared": shared, "latency": latency
        }));
        drive.reliability.nand.ecc = Some(code.build().expect("a code"));
        drive.reliability.nand.errors = Some(policy_with(&serde_json::json!({ "policy": "constant", "rber": rber })));
        drive.reliability.nand.retry = Some(policy_with(&serde_json::json!({ "policy": "shifted-reference" })));
        drive.reliability.refresh = Some(policy_with(&serde_json::json!({ "policy": "limits", "reads": 200 })));
        for depth in [1, 32] {
            check(&drive, &serde_json::json!({ "rw": "randrw", "rwmixread": 70, "iodepth": depth }));
        }
    }
}

/// A busy drive of two media: 64 slots on two banks above four dies that collect garbage, or above 1024 slots.
fn two_media(placement: &serde_json::Value, depth: u32) -> TierBench {
    let mut bench = TierBench::round(placement);
    (bench.slots, bench.banks, bench.depth, bench.migrations_in_flight) = ((64, 1024), (2, 4), depth, 16);
    bench.flash = Bench {
        channels: 2,
        dies_per_channel: 2,
        blocks_per_plane: 32,
        logical_percent: 70,
        prefill: common::Prefill::Overwritten(2_000),
        ..bench.flash
    };
    bench.flash.engine.log_requests = false;
    bench
}

fn check_two_media(placement: &serde_json::Value, job: &serde_json::Value) {
    for depth in [1, 32, 128] {
        let bench = two_media(placement, depth);
        let mut config: JobConfig = serde_json::from_value(job.clone()).expect("a job");
        (config.requests, config.iodepth) = (Some(REQUESTS / 5), depth);
        let workload = SyntheticJob::new(config, bench.sectors(), 1).expect("a legal job");
        let count = allocations_of(bench.device(Box::new(workload)), REQUESTS / 5);
        assert_eq!(count, 0, "{count} allocations at depth {depth} under {placement} with {job}");
    }
}

#[test]
fn migrations_between_two_media_allocate_nothing() {
    let jobs = [
        serde_json::json!({ "rw": "randrw", "rwmixread": 50, "bs": "4KiB", "iodepth": 1, "random_distribution": "zipf:0.9" }),
        serde_json::json!({ "rw": "randrw", "rwmixread": 30, "bs": "64KiB", "iodepth": 1, "blockalign": "4KiB" }),
    ];
    for job in &jobs {
        check_two_media(&serde_json::json!({ "policy": "wb" }), job);
        check_two_media(&serde_json::json!({ "policy": "wb", "fetch_on_write": true, "migration": "background" }), job);
        check_two_media(&serde_json::json!({ "policy": "wo-dm", "victim": "sequential-first" }), job);
        check_two_media(&serde_json::json!({ "policy": "rwb-dm", "moves": "hot-or-random", "keep_copy": false }), job);
        check_two_media(&serde_json::json!({ "policy": "nv-wb" }), job);
    }
}
