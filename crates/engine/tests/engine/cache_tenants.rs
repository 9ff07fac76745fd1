//! Who waited for whom behind a cache: for slots, for pages on their way down, for programs, worked out by hand.

use crate::common::tiered::TierBench;
use crate::common::{Bench, at, flush, open, read, slc, write};
use ninescope_engine::meter::{BehindSum, SPLIT};
use ninescope_engine::{Device, LaneConfig, NoProbe, Plain};
use ninescope_model::{Cause, Op, Request, Workload};
use serde_json::json;

const PAGE: u64 = 32;
/// A page written to the cache, or read there; programmed; one that goes down from there [ns].
const ABOVE: u64 = PAGE * 1_100;
const PROGRAM: u64 = 1_001_000;
const DOWN: u64 = ABOVE + PROGRAM;

fn page(number: u64, time: u64) -> Request {
    at(time, write(number * PAGE, 32))
}

fn fua(number: u64, time: u64) -> Request {
    Request { fua: true, ..page(number, time) }
}

/// A cache of four pages that forgets, behind one bank.
fn bench(evict_free: f64) -> TierBench {
    let placement = json!({ "policy": "wb", "migration": "background", "copy_reads": false, "evict_free": evict_free });
    let mut bench = TierBench::round(&placement);
    (bench.volatile, bench.depth) = (true, 8);
    bench
}

/// A quiet and a noisy tenant, in this order.
fn run(bench: &TierBench, quiet: Vec<Request>, noisy: Vec<Request>) -> Device {
    let workloads = [quiet, noisy].map(|list| Box::new(open(list)) as Box<dyn Workload>);
    let mut device = bench.device_of(workloads.into());
    device.run().expect("the run ends well");
    device
}

fn of_quiet(device: &Device, op: Op) -> BehindSum {
    device.meter().lanes[0].ops[op as usize].behind.total()
}

/// By holder, the quiet tenant, the noisy one, the drive: waits of a cause. They sum to it.
fn behind(sum: &BehindSum, cause: Cause) -> Vec<u64> {
    let at = SPLIT.iter().position(|split| *split == cause).expect("it is split");
    let waits: Vec<u64> = sum.behind.iter().map(|waits| waits[at]).collect();
    assert_eq!(waits.iter().sum::<u64>(), sum.parts.of(cause), "{}", cause.name());
    waits
}

#[test]
fn a_write_waits_for_a_slot_behind_those_whose_pages_have_them() {
    // Three pages of the noisy tenant and one of the quiet one fill the cache; the next one has the oldest go down.
    let noisy = vec![page(10, 0), page(11, 100_000), page(12, 200_000)];
    let device = run(&bench(0.0), vec![page(0, 300_000), page(1, 1_000_000)], noisy);
    let waits = of_quiet(&device, Op::Write);
    assert_eq!(behind(&waits, Cause::MigrationWait), [DOWN / 4, 3 * DOWN / 4, 0]);
    assert_eq!(waits.parts.total(), ABOVE + DOWN + ABOVE);
    // In a part of its own it waits for itself alone.
    let mut apart = bench(0.0);
    apart.parts = vec![1, 3];
    let noisy = vec![page(10, 0), page(11, 100_000), page(12, 200_000)];
    let device = run(&apart, vec![page(0, 300_000), page(1, 1_000_000)], noisy);
    assert_eq!(behind(&of_quiet(&device, Op::Write), Cause::MigrationWait), [DOWN, 0, 0]);
}

#[test]
fn a_write_that_is_held_back_waits_behind_those_whose_pages_go_down() {
    // The second page brings the first one down, because three slots are to be free; one page may be on its way.
    let mut bench = bench(0.5);
    bench.back_pressure = serde_json::from_value(json!({ "policy": "pages-in-flight", "pages": 1 })).expect("a policy");
    bench.banks.0 = 2;
    let device = run(&bench, vec![page(2, 1_000_000)], vec![page(10, 0), page(11, 100_000)]);
    let waits = 100_000 + DOWN - 1_000_000;
    assert_eq!(behind(&of_quiet(&device, Op::Write), Cause::MigrationWait), [0, waits, 0]);
}

#[test]
fn a_write_that_goes_through_waits_behind_all_that_goes_down() {
    // The noisy one's page goes down from 0 on, is written above, read there and programmed. The quiet one's goes down from
    // 100,000 on and is programmed behind it.
    let device = run(&bench(0.0), vec![fua(0, 100_000)], vec![fua(10, 0)]);
    let (first, second) = (ABOVE + DOWN, ABOVE + DOWN + PROGRAM);
    let (noisy, quiet) = (first - 100_000, second - 100_000);
    let wait = second - 100_000;
    let own = wait * quiet / (quiet + noisy);
    assert_eq!(behind(&of_quiet(&device, Op::Write), Cause::ProgramWait), [own, wait - own, 0]);
}

#[test]
fn a_flush_waits_behind_those_whose_pages_it_takes_down() {
    let device = run(&bench(0.0), vec![at(100_000, flush())], vec![page(10, 0)]);
    assert_eq!(behind(&of_quiet(&device, Op::Flush), Cause::ProgramWait), [0, DOWN, 0]);
}

#[test]
fn a_read_waits_for_the_program_of_a_page_that_goes_down_behind_whose_it_is() {
    // The quiet one's page lies below from DOWN + ABOVE on, and stays in its slot. Three pages of the noisy one fill the cache, and a
    // fourth has the quiet one's slot, which is clean; it goes down at once. A read of the quiet page waits for its program.
    let noisy = vec![page(10, 2_000_000), page(11, 2_100_000), page(12, 2_200_000), fua(13, 3_000_000)];
    let quiet = vec![fua(0, 0), at(3_500_000, read(0, 32))];
    let device = run(&bench(0.0), quiet, noisy);
    let reads = of_quiet(&device, Op::Read);
    let programmed = 3_000_000 + ABOVE + DOWN;
    assert_eq!(behind(&reads, Cause::DieMigration), [0, programmed - 3_500_000, 0]);
    assert_eq!(reads.parts.total(), programmed - 3_500_000 + 100_000 + 1_000, "and then it reads the page");
}

#[test]
fn a_write_waits_for_a_bank_that_reads_a_page_for_its_way_down() {
    // The noisy one's page is written above until ABOVE, and read there until twice that. The quiet one's write waits for the rest.
    let device = run(&bench(0.0), vec![page(0, 40_000)], vec![fua(10, 0)]);
    let waits = of_quiet(&device, Op::Write);
    assert_eq!(behind(&waits, Cause::DieMigration), [0, 2 * ABOVE - 40_000, 0]);
    assert_eq!(waits.parts.total(), 2 * ABOVE - 40_000 + ABOVE);
}

#[test]
fn without_a_cache_a_flush_waits_behind_those_whose_pages_are_programmed() {
    let bench = Bench { timing: slc(50_000, 400_000), ..Bench::tiny() };
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let lane = |requests: Vec<Request>| LaneConfig::new(Box::new(open(requests)), 2);
    let lanes = vec![lane(vec![page(0, 1), at(1_000, flush())]), lane(vec![page(10, 0)])];
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
    device.run().expect("the run ends well");
    // Command, data and program, of the noisy one's page first and then of its own.
    let program = 300 + 16_384 + 400_000;
    let (noisy, quiet) = (program - 1_000, 2 * program - 1_000);
    let own = quiet * quiet / (quiet + noisy);
    assert_eq!(behind(&of_quiet(&device, Op::Flush), Cause::ProgramWait), [own, quiet - own, 0]);
}
