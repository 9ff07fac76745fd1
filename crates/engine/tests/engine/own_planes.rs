//! Channels of a tenant's own beside a map that lies in flash, and beside a cache: its pages of the map and what goes down from the
//! cache lie there, too, worked out by hand.

use crate::common::open;
use crate::common::tiered::TierBench;
use crate::scenario::{COMMAND, Drive, PROGRAM, READ, policy_with, sectors};
use ninescope_engine::Device;
use ninescope_engine::meter::{BehindSum, SPLIT};
use ninescope_ftl::Partition;
use ninescope_model::{Cause, Lpa, Op, Pool, Request, Workload};
use serde_json::json;

/// A unit of 512 B and a page of four on the channel [ns].
const UNIT_TRANSFER: u64 = 125;
/// A unit, or a page of the map, is read from its page [ns].
const UNIT_READ: u64 = COMMAND + READ + UNIT_TRANSFER;
/// A page of pages of the map is programmed [ns].
const PAGE_PROGRAM: u64 = COMMAND + 4 * UNIT_TRANSFER + PROGRAM;
/// Units that a page of the map tells of.
const ENTRIES: u32 = 128;

/// Each of two halves of so many units on a channel of one die, the halves of so many pages of a map with them.
fn halves(units: u32, pages: u32) -> Vec<Partition> {
    let half = |number: u32| {
        let of = |first: u32, count: u32| first + number * count / 2..first + (number + 1) * count / 2;
        let units = [of(0, units), of(units, pages)].into_iter().filter(|range| !range.is_empty());
        Partition { pools: vec![number], units: units.collect() }
    };
    [0, 1].map(half).into()
}

fn of_tenant(device: &Device, tenant: usize, op: Op) -> BehindSum {
    device.meter().lanes[tenant].ops[op as usize].behind.total()
}

/// By holder, the quiet tenant, the noisy one, the drive: waits of a cause.
fn behind(sum: &BehindSum, cause: Cause) -> Vec<u64> {
    let at = SPLIT.iter().position(|split| *split == cause).expect("it is split");
    sum.behind.iter().map(|waits| waits[at]).collect()
}

/// The pool of a unit.
fn pool_of(device: &Device, unit: u32) -> Pool {
    let ftl = device.seen().ftl;
    ftl.geometry().pool_and_block(ftl.geometry().group_and_offset(ftl.translate(Lpa(unit))).0).0
}

// ---- a map in flash ----------------------------------------------------------------------------------

fn read_at(at: u64, unit: u32) -> Request {
    sectors(Op::Read, at, u64::from(unit), 1)
}

/// A quiet tenant and a noisy one on two channels, whose map has two pages of 512 B for each half of the addresses.
fn run_mapped(cached_by: &str, size: &str, apart: bool, quiet: Vec<Request>, noisy: Vec<Request>) -> Device {
    let drive = Drive::with(|drive| {
        (drive.channels, drive.page_bytes, drive.unit_bytes, drive.pages, drive.blocks) = (2, 2_048, 512, 8, 30);
        drive.logical_units = 4 * ENTRIES;
        drive.prepared = (0..4 * ENTRIES).collect();
        drive.map = policy_with(&json!({ "policy": cached_by, "size": size }));
        drive.partitions = if apart { halves(4 * ENTRIES, 4) } else { Vec::new() };
    });
    drive.run_jobs([quiet, noisy])
}

#[test]
fn a_tenants_pages_of_the_map_are_read_from_its_own_channel() {
    let run = |apart| {
        let noisy = vec![read_at(0, 2 * ENTRIES), read_at(10, 3 * ENTRIES)];
        run_mapped("entries", "1KiB", apart, vec![read_at(100, 5)], noisy)
    };
    let device = run(true);
    let pools: Vec<Pool> = (0..4).map(|page| pool_of(&device, 4 * ENTRIES + page)).collect();
    assert_eq!(pools, [Pool(0), Pool(0), Pool(1), Pool(1)]);
    let (quiet, noisy) = (of_tenant(&device, 0, Op::Read), of_tenant(&device, 1, Op::Read));
    assert_eq!((quiet.parts.of(Cause::MappingRead), quiet.parts.total()), (UNIT_READ, 2 * UNIT_READ));
    assert!(quiet.behind.iter().flatten().all(|&waited| waited == 0), "the quiet one waits for nobody");
    assert_eq!(behind(&noisy, Cause::MappingRead), [0, UNIT_READ - 10, 0], "its second page behind its first");
    // Where the four pages lie in one page of the media all three wait for one die.
    let shared = of_tenant(&run(false), 0, Op::Read);
    assert_eq!(behind(&shared, Cause::MappingRead), [0, 2 * UNIT_READ - 100, 0]);
}

#[test]
fn a_tenants_pages_of_the_map_are_written_to_its_own_channel() {
    // Room for one page. Each of the noisy one's writes pushes out the page before it, which it has changed; the fourth of them fills
    // a page of the media, which is programmed when the fifth write has read its own. The quiet one reads meanwhile.
    let turn = 10_000_000;
    let write = |number: u64| sectors(Op::Write, number * turn, u64::from(ENTRIES) * (2 + number % 2), 1);
    let device = run_mapped("pages", "512B", true, vec![read_at(4 * turn + 100_000, 5)], (0..5).map(write).collect());
    let ftl = device.seen().ftl;
    // The page that the quiet one wants pushes out the last of the noisy one, which goes where that lies.
    assert_eq!([0, 1].map(|half| ftl.map_units_of_partition(half)), [0, 5]);
    assert_eq!([0, 1].map(|half| ftl.units_of_partition(half)), [(0, 0), (5, 5 + 5)]);
    assert_eq!(device.counters().map_page_programs, 1);
    let quiet = of_tenant(&device, 0, Op::Read);
    assert_eq!(quiet.parts.total(), 2 * UNIT_READ, "no wait for {PAGE_PROGRAM} ns of the program");
}

// ---- a cache ------------------------------------------------------------------------------------------

const SECTORS: u64 = 32;
/// A page is written to the cache, or read there; and programmed [ns].
const ABOVE: u64 = SECTORS * 1_100;
const PAGE_DOWN: u64 = 1_001_000;

#[test]
fn what_goes_down_from_a_cache_goes_to_the_channel_of_its_address() {
    let run = |apart: bool| {
        let placement = json!({ "policy": "wb", "migration": "background", "copy_reads": false, "evict_free": 0.0 });
        let mut bench = TierBench::round(&placement);
        (bench.volatile, bench.depth, bench.flash.channels) = (true, 8, 2);
        let units = bench.flash.logical_units();
        bench.flash.partitions = if apart { halves(units, 0) } else { Vec::new() };
        let through = |page: u32, at: u64| {
            let page = sectors(Op::Write, at, u64::from(page) * SECTORS, SECTORS as u32);
            Request { fua: true, ..page }
        };
        // Two pages of the noisy one go down at once, one to each channel where all goes everywhere in turn.
        let noisy = vec![through(units / 2, 0), through(units / 2 + 1, 0)];
        let workloads = [vec![through(0, 200_000)], noisy].map(|list| Box::new(open(list)) as Box<dyn Workload>);
        let mut device = bench.device_of(workloads.into());
        device.run().expect("the run ends well");
        (device, units)
    };
    let (device, units) = run(true);
    let pools = [0, units / 2, units / 2 + 1].map(|page| pool_of(&device, page));
    assert_eq!(pools, [Pool(0), Pool(1), Pool(1)]);
    assert_eq!([0, 1].map(|half| device.seen().ftl.units_of_partition(half)), [(1, 1), (2, 2)]);
    // Into the cache, out of it, and down to a die that is idle.
    assert_eq!(of_tenant(&device, 0, Op::Write).parts.total(), 2 * ABOVE + PAGE_DOWN);
    let (shared, _) = run(false);
    assert!(of_tenant(&shared, 0, Op::Write).parts.total() > 2 * ABOVE + PAGE_DOWN, "behind a page of the noisy one");
}
