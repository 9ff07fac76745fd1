//! Parts of the write buffer that tenants have for themselves.
//!
//! One die on a channel that moves 1 B/ns: a page of 16 KiB takes 300 ns, 16,384 ns and a program of 400 us.

use crate::common::tiered::TierBench;
use crate::common::{Bench, at, flush, open, slc, write};
use ninescope_engine::meter::SPLIT;
use ninescope_engine::{BufferPartsConfig, Device, LaneConfig, NoProbe, Plain};
use ninescope_model::{Cause, Op, Request, Workload};
use serde_json::json;

const PROGRAM: u64 = 300 + 16_384 + 400_000;
const PAGE_SECTORS: u32 = 32;

/// Writes of whole pages from that page on, all at a time.
fn pages(time: u64, first: u64, count: u64) -> LaneConfig {
    let page = |page: u64| at(time, write(page * u64::from(PAGE_SECTORS), PAGE_SECTORS));
    let requests: Vec<Request> = (first..first + count).map(page).collect();
    LaneConfig::new(Box::new(open(requests)), 1)
}

fn run(parts: BufferPartsConfig, lanes: Vec<LaneConfig>) -> Device {
    let mut bench = Bench { timing: slc(50_000, 400_000), ..Bench::tiny() };
    (bench.engine.buffered_pages, bench.engine.shared_buffered_pages) = (8, Some(5));
    bench.engine.buffer_parts = parts;
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
    device.run().expect("the run ends well");
    device
}

fn latencies(device: &Device, lane: u16) -> Vec<u64> {
    let mut own: Vec<_> = device.request_log().iter().filter(|entry| entry.lane == lane).collect();
    own.sort_by_key(|entry| entry.id);
    own.iter().map(|entry| entry.latency.0).collect()
}

#[test]
fn who_fills_his_part_waits_for_his_own_programs_and_others_go_on() {
    // Of five pages two are the second tenant's, whose writes are all there at 0. The first one's comes 1 us later.
    let parts = BufferPartsConfig { pages: vec![3, 2], of_tenant: vec![0, 1] };
    let device = run(parts, vec![pages(1_000, 20, 1), pages(0, 0, 6)]);
    assert_eq!(latencies(&device, 0), [0]);
    // Its program is the third of all: two pages go in as the first two programs end, the others as their own do.
    assert_eq!(latencies(&device, 1), [0, 0, 1, 2, 4, 5].map(|programs| programs * PROGRAM));
    assert_eq!((device.counters().buffer_stalls, device.counters().part_stalls), (4, 4));
    let waited = device.meter().lanes[1].ops[Op::Write as usize].behind.total();
    let buffer = SPLIT.iter().position(|cause| *cause == Cause::BufferStall).expect("it is split");
    let behind: Vec<u64> = waited.behind.iter().map(|waits| waits[buffer]).collect();
    assert_eq!(behind, [0, (1 + 2 + 4 + 5) * PROGRAM, 0], "it waits for itself alone");
}

#[test]
fn without_parts_one_who_fills_the_buffer_holds_up_the_others() {
    let device = run(BufferPartsConfig::default(), vec![pages(1_000, 20, 1), pages(0, 0, 6)]);
    // Five of six are in, and the other one is before the first tenant's in the line.
    assert_eq!(latencies(&device, 1), [0, 0, 0, 0, 0, PROGRAM]);
    assert_eq!(latencies(&device, 0), [2 * PROGRAM - 1_000]);
    assert_eq!((device.counters().buffer_stalls, device.counters().part_stalls), (2, 0));
}

#[test]
fn those_without_a_part_share_what_is_left() {
    // The second and the third tenant have the three pages that the first one leaves.
    let parts = BufferPartsConfig { pages: vec![3, 2], of_tenant: vec![1, 0, 0] };
    let device = run(parts, vec![pages(1_000, 20, 2), pages(0, 0, 3), pages(0, 10, 1)]);
    assert_eq!(latencies(&device, 0), [0, 0]);
    let waited = [latencies(&device, 1), latencies(&device, 2)].concat();
    assert_eq!(waited.iter().filter(|&&time| time == PROGRAM).count(), 1, "{waited:?}");
    assert_eq!(waited.iter().filter(|&&time| time == 0).count(), 3, "{waited:?}");
    assert_eq!(device.counters().part_stalls, 1);
}

#[test]
fn what_goes_down_from_a_cache_is_of_the_part_of_those_without_one() {
    // Four dies behind four slots. The second tenant, who has one page of the buffer for itself, has its four pages flushed: two of them at a
    // time are programmed, as many as the drive has for all others.
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background", "copy_reads": false }));
    (bench.volatile, bench.depth, bench.flash.dies_per_channel, bench.flash.channels) = (true, 8, 1, 4);
    let flushed = |parts: &[u32]| {
        let mut bench = bench.clone();
        bench.flash.engine.shared_buffered_pages = Some(parts.iter().sum());
        bench.flash.engine.buffer_parts = BufferPartsConfig { pages: parts.to_vec(), of_tenant: vec![0, 1] };
        let requests: Vec<Request> = (0..4).map(|page| at(0, write(page * 32, 32))).collect();
        let own = [requests, vec![at(10_000_000, flush())]].concat();
        let workloads: Vec<Box<dyn Workload>> = vec![Box::new(open(vec![])), Box::new(open(own))];
        let mut device = bench.device_of(workloads);
        device.run().expect("the run ends well");
        latencies(&device, 1)[4]
    };
    // The slots are read one after the other, and each page goes to its die as it has been.
    let (read, program) = (32 * 1_100, 1_000 + 1_000_000);
    assert_eq!(flushed(&[4, 1]), 4 * read + program);
    assert_eq!(flushed(&[2, 1]), 2 * read + 2 * program);
}
