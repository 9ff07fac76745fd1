//! How a cache pushes back: when a write that comes too early is taken in, worked out by hand.

use crate::common::tiered::{TierBench, latencies};
use crate::common::{at, open, write};
use ninescope_engine::Device;
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op, Request};
use serde_json::{Value, json};

const PAGE: u64 = 32;
/// A page written to the cache, or read there; one that goes down from there [ns].
const ABOVE: u64 = PAGE * 1_100;
const DOWN: u64 = ABOVE + 1_001_000;

/// Four slots over two banks; pages go down where no more than `evict_free` of the slots are free.
fn run(back_pressure: &Value, evict_free: f64, requests: Vec<Request>) -> Device {
    let placement = json!({ "policy": "wb", "migration": "background", "copy_reads": false, "evict_free": evict_free });
    let mut bench = TierBench::round(&placement);
    (bench.volatile, bench.depth, bench.banks.0) = (true, 8, 2);
    bench.back_pressure = serde_json::from_value(back_pressure.clone()).expect("a policy");
    bench.run(open(requests))
}

fn page(number: u64, time: u64) -> Request {
    at(time, write(number * PAGE, 32))
}

fn held(device: &Device) -> u64 {
    device.seen().tier.expect("two media").tier().counters().writes_held
}

#[test]
fn a_bound_on_what_is_on_its_way_down_holds_writes_back_beside_free_slots() {
    // The second page brings the first one down, because three slots are to be free. The third comes meanwhile.
    let requests = || vec![page(0, 0), page(1, 100_000), page(2, 1_000_000)];
    let free_slots = run(&json!({ "policy": "free-slots" }), 0.5, requests());
    assert_eq!((latencies(&free_slots), held(&free_slots)), (vec![ABOVE; 3], 0));
    let bound = run(&json!({ "policy": "pages-in-flight", "pages": 1 }), 0.5, requests());
    let waits = 100_000 + DOWN - 1_000_000;
    assert_eq!((latencies(&bound), held(&bound)), (vec![ABOVE, ABOVE, waits + ABOVE], 1));
    let parts = bound.meter().ops[Op::Write as usize].attribution.total();
    assert_eq!(parts.of(Cause::MigrationWait), waits);
    // With another one allowed it goes on.
    let two = run(&json!({ "policy": "pages-in-flight", "pages": 2 }), 0.5, requests());
    assert_eq!((latencies(&two), held(&two)), (vec![ABOVE; 3], 0));
    // A page that has its slot waits, too; nothing overtakes.
    let bound = run(&json!({ "policy": "pages-in-flight", "pages": 1 }), 0.5, {
        vec![page(0, 0), page(1, 100_000), page(2, 1_000_000), page(1, 1_000_001)]
    });
    assert_eq!(held(&bound), 2);
    assert!(latencies(&bound)[3] >= waits - 1);
}

#[test]
fn paced_writes_are_the_further_apart_the_less_is_free() {
    // From the first slot that is taken on; nothing goes down before the cache is full.
    let paced = json!({ "policy": "paced", "from": 1.0, "longest": "400us" });
    let device = run(&paced, 0.0, vec![page(0, 0), page(1, 10_000), page(2, 20_000), page(3, 30_000)]);
    // With 1, 2 and 3 slots taken they are 100, 200 and 300 us behind the one before.
    let taken_in = [0, 100_000, 300_000, 600_000];
    let latency = |(turn, taken_in): (u64, u64)| taken_in - turn * 10_000 + ABOVE;
    assert_eq!(latencies(&device), (0..).zip(taken_in).map(latency).collect::<Vec<_>>());
    assert_eq!(held(&device), 3);
    // Who comes later than that is not held back, but waits for a slot where none is free.
    let mut late: Vec<_> = (0..4).map(|number| page(number, number * 400_000)).collect();
    late.push(page(4, 2_000_000));
    let device = run(&paced, 0.0, late);
    assert_eq!((latencies(&device), held(&device)), (vec![ABOVE, ABOVE, ABOVE, ABOVE, DOWN + ABOVE], 0));
}

#[test]
fn below_the_watermark_nothing_is_paced() {
    let paced = json!({ "policy": "paced", "from": 0.5, "longest": "400us" });
    let device = run(&paced, 0.0, vec![page(0, 0), page(1, 50_000), page(2, 100_000), page(3, 100_001)]);
    // Two of four are free, then two, then one: half of the longest behind the third.
    assert_eq!(latencies(&device)[..3], [ABOVE; 3]);
    assert_eq!((latencies(&device)[3], held(&device)), (100_000 + 200_000 - 100_001 + ABOVE, 1));
    assert_eq!(device.seen().now, Ns(300_000 + ABOVE));
}
