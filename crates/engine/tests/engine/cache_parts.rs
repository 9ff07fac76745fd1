//! Parts of a cache that tenants have for themselves: what a noisy writer does to a quiet one beside it.

use crate::common::tiered::TierBench;
use crate::common::{at, open, read, write};
use ninescope_engine::{Device, TenantPages};
use ninescope_model::{Op, Request, Workload};
use serde_json::json;

const PAGE: u64 = 32;
const MS: u64 = 1_000_000;

/// A cache of four pages, of all or in parts.
fn bench(parts: &[u32]) -> TierBench {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background", "copy_reads": true }));
    (bench.volatile, bench.depth, bench.parts) = (true, 8, parts.to_vec());
    bench
}

/// Two pages in turn, each written or read once in 40 ms.
fn quiet(op: Op) -> Vec<Request> {
    let access = |page: u64| if op == Op::Write { write(page * PAGE, 32) } else { read(page * PAGE, 32) };
    (0..10).map(|turn| at(turn * 20 * MS, access(turn % 2))).collect()
}

/// Five other pages each time, when the quiet one rests.
fn noisy() -> Vec<Request> {
    (0..50).map(|turn| at(turn / 5 * 20 * MS + (5 + turn % 5 * 2) * MS, write((10 + turn) * PAGE, 32))).collect()
}

fn run(bench: &TierBench, lists: Vec<Vec<Request>>) -> Device {
    let workloads = lists.into_iter().map(|list| Box::new(open(list)) as Box<dyn Workload>).collect();
    let mut device = bench.device_of(workloads);
    device.run().expect("the run ends well");
    device
}

fn pages(device: &Device, tenant: usize) -> TenantPages {
    device.seen().tier.expect("two media").pages_of(tenant)
}

/// Latencies of the first workload, in its order.
fn latencies_of_first(device: &Device) -> Vec<u64> {
    let first = device.request_log().iter().filter(|entry| entry.lane == 0);
    let mut log: Vec<_> = first.map(|entry| (entry.id, entry.latency.0)).collect();
    log.sort_unstable();
    log.into_iter().map(|(_, latency)| latency).collect()
}

#[test]
fn a_noisy_tenant_empties_a_shared_cache_and_none_that_is_anothers() {
    for op in [Op::Write, Op::Read] {
        let shared = run(&bench(&[]), vec![quiet(op), noisy()]);
        let separate = run(&bench(&[2, 2]), vec![quiet(op), noisy()]);
        // Ten other pages lie between two accesses of a page: of four slots none is left. Of two that are its own both are.
        let of_quiet = [&shared, &separate].map(|device| pages(device, 0));
        assert_eq!(of_quiet.map(|pages| pages.page_accesses), [10, 10]);
        assert_eq!(of_quiet.map(|pages| pages.page_hits), [0, 8]);
        assert_eq!([&shared, &separate].map(|device| pages(device, 1).page_hits), [0, 0]);
        // It is as if it were alone with a cache of that size, request by request.
        let mut small = bench(&[]);
        small.slots.0 = 2;
        let alone = run(&small, vec![quiet(op)]);
        assert_eq!(pages(&alone, 0), pages(&separate, 0));
        assert_eq!(latencies_of_first(&alone), latencies_of_first(&separate));
    }
}

#[test]
fn whoever_has_filled_his_part_waits_beside_free_slots_of_others() {
    // One slot is the noisy one's: its second page waits until the first is down, and three slots are free.
    let device = run(&bench(&[3, 1]), vec![vec![], vec![write(0, 32), at(100_000, write(PAGE, 32))]]);
    let counters = *device.seen().tier.expect("two media").tier().counters();
    assert_eq!((counters.slot_waits, counters.evicted_dirty), (1, 1));
    let device = run(&bench(&[]), vec![vec![], vec![write(0, 32), at(100_000, write(PAGE, 32))]]);
    let counters = *device.seen().tier.expect("two media").tier().counters();
    assert_eq!((counters.slot_waits, counters.evicted_dirty), (0, 0));
}

#[test]
fn a_page_that_another_tenant_brought_is_found_and_stays_his() {
    // Both ask for page 0. It lies in the part of the first one, whose second page drives it out.
    let own = vec![write(0, 32), at(20 * MS, write(PAGE, 32)), at(30 * MS, write(2 * PAGE, 32))];
    let device = run(&bench(&[2, 2]), vec![own, vec![at(10 * MS, read(0, 1)), at(40 * MS, read(0, 1))]]);
    assert_eq!(pages(&device, 1), TenantPages { page_accesses: 2, page_hits: 1 });
}
