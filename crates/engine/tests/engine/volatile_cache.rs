//! A cache that loses what it holds without power: what a FLUSH takes down, and when it completes, worked out by hand.

use crate::common::tiered::{TierBench, latencies, slots_in_use};
use crate::common::{at, flush, open, read, trim, write};
use ninescope_engine::Device;
use ninescope_model::{Cause, Op, Request};
use serde_json::json;

/// Sectors of a page.
const PAGE: u64 = 32;
/// A sector of the cache, a page of flash read and programmed [ns].
const SECTOR: u64 = 1_100;
const FLASH_READ: u64 = 101_000;
const FLASH_PROGRAM: u64 = 1_001_000;
/// A page that the slot holds whole goes down.
const DOWN: u64 = PAGE * SECTOR + FLASH_PROGRAM;

fn bench(volatile: bool) -> TierBench {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background", "copy_reads": false }));
    (bench.volatile, bench.depth) = (volatile, 8);
    bench
}

fn run(requests: Vec<Request>) -> Device {
    bench(true).run(open(requests))
}

fn evicted(device: &Device) -> (u64, u64) {
    let counters = device.seen().tier.expect("two media").tier().counters();
    (counters.evicted_dirty, counters.evictions_kept)
}

#[test]
fn a_flush_completes_when_what_is_dirty_is_programmed() {
    let device = run(vec![write(0, 32), at(100_000, flush())]);
    assert_eq!(latencies(&device), [PAGE * SECTOR, DOWN]);
    assert_eq!((evicted(&device), slots_in_use(&device)), ((1, 0), vec![]));
    // A page of which a part is dirty is read below meanwhile, which takes longer than the sector of the slot.
    let device = run(vec![write(0, 1), at(100_000, flush())]);
    assert_eq!(latencies(&device), [SECTOR, FLASH_READ + FLASH_PROGRAM]);
    // One bank reads two pages in turn, and one die programs them.
    let device = run(vec![write(0, 32), write(PAGE, 32), at(100_000, flush())]);
    assert_eq!(latencies(&device)[2], PAGE * SECTOR + 2 * FLASH_PROGRAM);
}

#[test]
fn a_cache_that_keeps_what_it_holds_has_nothing_to_flush() {
    let device = bench(false).run(open(vec![write(0, 32), at(100_000, flush())]));
    assert_eq!(latencies(&device), [PAGE * SECTOR, 0]);
    assert_eq!((evicted(&device), slots_in_use(&device)), ((0, 0), vec![(0, u32::MAX, u32::MAX)]));
    // Nothing dirty is as nothing there.
    let device = run(vec![read(0, 1), at(1_000_000, flush())]);
    assert_eq!(latencies(&device)[1], 0);
}

#[test]
fn what_is_written_after_a_flush_is_the_next_ones() {
    // The page is rewritten when its copy has been read, before that is programmed: it stays, and the FLUSH has no use for it.
    let rewritten = 100_000 + PAGE * SECTOR + 1;
    let device =
        run(vec![write(0, 32), at(100_000, flush()), at(rewritten, write(0, 32)), at(rewritten + 10, flush())]);
    assert_eq!(latencies(&device)[1], DOWN);
    assert_eq!(evicted(&device), (1, 1));
    // The second FLUSH begins when the first has ended.
    let first_ends = 100_000 + DOWN;
    assert_eq!(latencies(&device)[3], first_ends + DOWN - (rewritten + 10));
    assert_eq!(slots_in_use(&device), []);
}

#[test]
fn what_was_rewritten_before_a_flush_goes_down_again_for_it() {
    // Four slots are taken: the fifth page pushes the first one out, which is rewritten on its way down, before the FLUSH.
    let mut bench = bench(true);
    bench.slots.0 = 1;
    let device = bench.run(open(vec![
        write(0, 32),
        at(100_000, write(PAGE, 32)),
        at(200_000, write(0, 1)),
        at(300_000, flush()),
    ]));
    // The copy that is on its way was read before: page 0 goes down twice, then its slot goes to page 1.
    assert_eq!(evicted(&device), (1, 1));
    let first_ends = 100_000 + DOWN;
    assert_eq!(latencies(&device)[3], first_ends + PAGE * SECTOR + FLASH_PROGRAM - 300_000);
    // Page 1 was not written when the FLUSH came.
    assert_eq!(slots_in_use(&device), [(1, u32::MAX, u32::MAX)]);
}

#[test]
fn a_trim_pays_what_a_flush_waits_for() {
    // While the bank reads the page.
    let device = run(vec![write(0, 32), at(100_000, flush()), at(120_000, trim(0, 32))]);
    assert_eq!((latencies(&device)[1], slots_in_use(&device)), (20_000, vec![]));
    // When it is on its way to flash, programs are waited for as ever.
    let device = run(vec![write(0, 32), at(100_000, flush()), at(150_000, trim(0, 32))]);
    assert_eq!((latencies(&device)[1], slots_in_use(&device)), (DOWN, vec![]));
}

#[test]
fn flash_keeps_a_page_that_the_cache_may_lose() {
    let superseded = |volatile: bool| {
        let device = bench(volatile).run(open(vec![write(0, 32)]));
        device.seen().tier.expect("two media").tier().counters().superseded_below
    };
    assert_eq!((superseded(false), superseded(true)), (1, 0), "flash was full, and all of the page is dirty above");
}

// ---- above a map that lies in flash ------------------------------------------------------------------

/// The cache above a drive that has single entries of its map in memory, of which a page tells of all its pages.
fn mapped(requests: Vec<Request>) -> Device {
    let mut bench = bench(true);
    bench.flash.map = serde_json::from_value(json!({ "policy": "entries", "size": "64B" })).expect("a policy");
    bench.run(open(requests))
}

#[test]
fn what_is_above_is_not_looked_up_and_what_is_below_waits_for_its_entry() {
    // Page 0 is written and read above. Page 5 is missing in memory, and there when it is read again.
    let requests = vec![
        write(0, 32),
        at(1_000_000, read(0, 32)),
        at(2_000_000, read(5 * PAGE, 32)),
        at(3_000_000, read(5 * PAGE, 32)),
    ];
    let device = mapped(requests);
    let above = PAGE * SECTOR;
    assert_eq!(latencies(&device), [above, above, 2 * FLASH_READ, FLASH_READ]);
    let counters = *device.seen().mapping.expect("a map in flash").counters();
    assert_eq!((counters.hits, counters.misses, counters.pages_fetched), (1, 1, 1));
    let parts = device.meter().ops[Op::Read as usize].attribution.total();
    assert_eq!(parts.of(Cause::MappingRead), FLASH_READ);
}

#[test]
fn a_read_that_begins_above_and_ends_below_waits_for_what_is_below() {
    let device = mapped(vec![write(0, 32), at(1_000_000, read(0, 64))]);
    // Page 0 is above, page 1 is not: its entry, then both side by side.
    assert_eq!(latencies(&device)[1], FLASH_READ + FLASH_READ.max(PAGE * SECTOR));
    let counters = *device.seen().mapping.expect("a map in flash").counters();
    assert_eq!((counters.hits, counters.misses), (0, 1));
}

#[test]
fn what_goes_down_changes_the_map() {
    // The entry of page 0 is not in memory when it goes down: its page of the map is read and written anew beside the program.
    let device = mapped(vec![write(0, 32), at(1_000_000, flush()), at(9_000_000, read(9 * PAGE, 32))]);
    assert_eq!(latencies(&device)[1], DOWN);
    let counters = *device.seen().mapping.expect("a map in flash").counters();
    assert_eq!((counters.changes_outside, counters.pages_read_to_update, counters.pages_written), (1, 1, 1));
    // In memory it is changed there.
    let read_first = vec![read(0, 32), at(500_000, write(0, 32)), at(1_000_000, flush())];
    let device = mapped(read_first);
    assert_eq!(device.seen().mapping.expect("a map in flash").counters().changes_outside, 0);
}

#[test]
fn a_write_that_goes_to_flash_at_once_waits_for_its_entry_and_one_that_stays_above_does_not() {
    let mut bench = TierBench::round(&json!({ "policy": "rewritten" }));
    (bench.volatile, bench.depth) = (true, 8);
    bench.flash.map = serde_json::from_value(json!({ "policy": "entries", "size": "64B" })).expect("a policy");
    let device = bench.run(open(vec![write(0, 32), at(1_000_000, write(0, 32)), at(2_000_000, read(0, 32))]));
    let above = PAGE * SECTOR;
    assert_eq!(latencies(&device), [FLASH_READ, above, above], "the first write waits for a page of the map");
    let counters = *device.seen().mapping.expect("a map in flash").counters();
    assert_eq!((counters.hits, counters.misses, counters.changes_outside), (0, 1, 0));
    let parts = device.meter().ops[Op::Write as usize].attribution.total();
    assert_eq!(parts.of(Cause::MappingRead), FLASH_READ);
}

// ---- ahead of reads, and when the host rests ---------------------------------------------------------

fn of_cache(rules: &serde_json::Value) -> TierBench {
    let mut all = json!({ "policy": "wb", "migration": "background", "copy_reads": false });
    for (key, value) in rules.as_object().expect("a table") {
        all[key] = value.clone();
    }
    let mut bench = TierBench::round(&all);
    (bench.volatile, bench.depth) = (true, 8);
    bench
}

#[test]
fn what_is_behind_a_sequential_read_is_above_when_it_is_asked_for() {
    let reads = |pages: &[u64]| {
        let at_each = pages.iter().zip(0..).map(|(page, turn)| at(turn * 1_000_000, read(page * PAGE, 32)));
        open(at_each.collect::<Vec<_>>())
    };
    let device = of_cache(&json!({ "read_ahead": 2 })).run(reads(&[4, 5, 6, 7, 8]));
    // The second read goes on where the first ended: pages 6 and 7 come up behind it, and each read from then on brings one.
    let above = PAGE * SECTOR;
    assert_eq!(latencies(&device), [FLASH_READ, FLASH_READ, above, above, above]);
    let counters = *device.seen().tier.expect("two media").tier().counters();
    assert_eq!((counters.fetched_ahead, counters.copied_up, counters.page_hits), (5, 5, 3));
    assert_eq!(device.counters().migration_page_reads, 5);
    // Nothing is fetched where reads jump, nor where it is not asked for.
    let jumps = of_cache(&json!({ "read_ahead": 2 })).run(reads(&[4, 7, 9, 12, 2]));
    assert_eq!(latencies(&jumps), [FLASH_READ; 5]);
    let without = of_cache(&json!({})).run(reads(&[4, 5, 6, 7, 8]));
    assert_eq!(latencies(&without), [FLASH_READ; 5]);
}

#[test]
fn what_is_dirty_goes_down_when_the_host_rests() {
    let rests = json!({ "flush_at_rest": "5us" });
    let at_rest = |device: &Device| device.seen().tier.expect("two media").tier().counters().evicted_at_rest;
    // The page goes down 5 us after the write has ended: a FLUSH that comes later has nothing to wait for.
    let write_ends = PAGE * SECTOR;
    let down = write_ends + 5_000 + DOWN;
    let device = of_cache(&rests).run(open(vec![write(0, 32), at(down, flush()), at(down + 10, read(0, 32))]));
    assert_eq!(latencies(&device), [write_ends, 0, FLASH_READ]);
    assert_eq!((at_rest(&device), evicted(&device)), (1, (1, 0)));
    // One that comes 1 ns before the program has ended waits for that.
    let device = of_cache(&rests).run(open(vec![write(0, 32), at(down - 1, flush())]));
    assert_eq!((latencies(&device)[1], at_rest(&device)), (1, 1));
    // Who comes again within 5 us does not rest, and whoever is over never does.
    let device = of_cache(&rests).run(open(vec![write(0, 32), at(write_ends + 4_999, write(PAGE, 32))]));
    assert_eq!((at_rest(&device), slots_in_use(&device).len()), (0, 2));
}

// ---- what is written again -----------------------------------------------------------------------------

#[test]
fn what_is_written_again_is_programmed_once_more_alone() {
    let cache = || {
        let mut bench = TierBench::round(&json!({ "policy": "rewritten" }));
        (bench.volatile, bench.depth) = (true, 8);
        bench
    };
    let spaced = |requests: Vec<Request>| {
        open((0..).zip(requests).map(|(turn, request)| at(turn * 3_000_000, request)).collect::<Vec<_>>())
    };
    let page = |number: u64| write(number * PAGE, 32);
    // The first write of a page goes into the buffer of flash, all others above; a read is no use.
    let above = PAGE * SECTOR;
    let device =
        cache().run(spaced(vec![page(0), page(0), page(0), read(0, 32), read(PAGE, 32), page(1), page(1), flush()]));
    assert_eq!(latencies(&device), [0, above, above, above, FLASH_READ, 0, above, above + 2 * FLASH_PROGRAM]);
    let (programs, migrated) = (device.counters().host_page_programs, device.counters().migration_page_programs);
    assert_eq!((programs, migrated, evicted(&device)), (2, 2, (2, 0)), "five writes, of which a flush takes two down");
    // Written lately is among the last pages that were written: with one entry for each of three slots the fourth drives the first out.
    let mut few = cache();
    few.slots.0 = 1;
    let device = few.run(spaced(vec![page(0), page(1), page(0)]));
    assert_eq!(latencies(&device)[2], 0);
}
