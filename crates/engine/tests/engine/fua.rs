//! Writes that ask to be on the media when they complete (FUA), worked out by hand.

use crate::common::tiered::{TierBench, latencies, slots_in_use};
use crate::common::{Bench, at, flush, open, read, slc, trim, write};
use ninescope_engine::{Device, WriteCompletion};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Cause, Op, Request};
use serde_json::json;

/// A page of flash read and programmed, with 1000 ns of channel [ns].
const FLASH_READ: u64 = 101_000;
const FLASH_PROGRAM: u64 = 1_001_000;
/// Sectors of a page, and a sector of the cache with its bus [ns].
const PAGE: u64 = 32;
const SECTOR: u64 = 1_100;

fn fua(lba: u64, sectors: u32) -> Request {
    Request { fua: true, ..write(lba, sectors) }
}

// ---- a buffer of pages ---------------------------------------------------------------------------------

/// Pages of four units on one die, or on several that take units in turn.
fn buffered(dies: u32) -> Bench {
    let mut bench = Bench { dies_per_channel: dies, timing: slc(100_000, 1_000_000), ..Bench::tiny() };
    bench.timing.command_address = Ns::ZERO;
    bench.timing.channel_rate = Rate(16_384_000_000);
    bench
}

fn written(device: &Device, cause: Cause) -> u64 {
    device.meter().ops[Op::Write as usize].attribution.total().of(cause)
}

#[test]
fn a_write_that_asks_for_it_ends_with_its_program_and_others_on_arrival() {
    let device = buffered(1).run(open(vec![write(0, 8), at(10, fua(8, 8)), at(20, write(16, 8))]));
    // Its page goes out at once, with the unit that lay in it and two of padding. The third write begins the next page.
    assert_eq!(latencies(&device), [0, FLASH_PROGRAM, 0]);
    let counters = device.counters();
    assert_eq!((counters.fua_writes, counters.host_page_programs, counters.padded_pages), (1, 1, 1));
    let parts = [Cause::Transfer, Cause::CommandArray].map(|cause| written(&device, cause));
    assert_eq!(parts, [1_000, 1_000_000]);
    // One that fills its page needs no padding.
    let device = buffered(1).run(open(vec![fua(0, 32)]));
    assert_eq!((latencies(&device), device.counters().padded_pages), (vec![FLASH_PROGRAM], 0));
}

#[test]
fn it_waits_behind_what_its_die_does() {
    // A buffered page is being programmed when it comes.
    let device = buffered(1).run(open(vec![write(0, 32), at(500_000, fua(32, 8))]));
    assert_eq!(latencies(&device), [0, FLASH_PROGRAM - 500_000 + FLASH_PROGRAM]);
    assert_eq!(written(&device, Cause::DieHostProgram), FLASH_PROGRAM - 500_000);
}

#[test]
fn pages_of_others_stay_open_where_a_flush_sends_them_out() {
    // Two units, each on the die of its address.
    let mut bench = buffered(2);
    bench.page_allocation = serde_json::from_value(json!({ "policy": "static", "order": "DWCP" })).expect("an order");
    let programs = |request: Request| {
        let device = bench.run(open(vec![write(0, 8), at(10, request)]));
        let counters = device.counters();
        (counters.host_page_programs, counters.padded_pages)
    };
    assert_eq!((programs(fua(32, 8)), programs(write(32, 8))), ((1, 1), (0, 0)));
    let device = bench.run(open(vec![write(0, 8), at(10, write(32, 8)), at(20, flush())]));
    assert_eq!((device.counters().host_page_programs, latencies(&device)[2]), (2, FLASH_PROGRAM + 1_000));
}

#[test]
fn a_unit_written_in_part_is_read_and_programmed() {
    let device = buffered(1).run(open(vec![fua(1, 1)]));
    // Of the page a quarter crosses the channel when it is read.
    assert_eq!(latencies(&device), [100_000 + 250 + FLASH_PROGRAM]);
    assert_eq!(written(&device, Cause::ReadModifyWrite), 100_250);
}

#[test]
fn without_a_buffer_all_writes_are_such() {
    let mut bench = buffered(1);
    bench.engine.write_completion = WriteCompletion::Program;
    let each = [write(0, 8), fua(0, 8)].map(|request| latencies(&bench.run(open(vec![request]))));
    assert_eq!(each, [[FLASH_PROGRAM], [FLASH_PROGRAM]]);
}

// ---- a cache in DRAM -----------------------------------------------------------------------------------

fn cache(policy: &str, volatile: bool) -> TierBench {
    let mut bench = TierBench::round(&json!({ "policy": policy, "migration": "background" }));
    (bench.volatile, bench.depth) = (volatile, 8);
    bench
}

fn through(device: &Device) -> u64 {
    device.seen().tier.expect("two media").tier().counters().written_through
}

#[test]
fn a_cache_that_forgets_is_written_through() {
    // The page is written above, read there and programmed; the buffered one beside it stays.
    let device = cache("wb", true).run(open(vec![write(PAGE, 1), at(10_000, fua(0, 32))]));
    let above = PAGE * SECTOR;
    assert_eq!(latencies(&device), [SECTOR, above + above + FLASH_PROGRAM]);
    assert_eq!((through(&device), slots_in_use(&device)), (1, vec![(1, 1, 1)]));
    assert_eq!(written(&device, Cause::ProgramWait), 2 * above + FLASH_PROGRAM);
    // Of a sector the rest of the page is read below beside both.
    let device = cache("wb", true).run(open(vec![fua(0, 1)]));
    assert_eq!(latencies(&device), [FLASH_READ + FLASH_PROGRAM]);
}

#[test]
fn what_is_on_its_way_down_goes_again_for_what_was_written_since() {
    // The copy for the FLUSH is read when the write comes, which waits for the next one.
    let device = cache("wb", true).run(open(vec![write(0, 32), at(100_000, flush()), at(140_000, fua(0, 1))]));
    let down = PAGE * SECTOR + FLASH_PROGRAM;
    assert_eq!(latencies(&device)[1..], [down, 100_000 + down + down - 140_000]);
    // One that comes while the copy is still to be read goes down with it.
    let device = cache("wb", true).run(open(vec![write(0, 32), at(30_000, flush()), at(30_001, fua(0, 1))]));
    let counters = *device.seen().tier.expect("two media").tier().counters();
    assert_eq!((counters.evicted_dirty, counters.evictions_kept), (1, 0));
    assert_eq!(latencies(&device)[1] + 30_000, latencies(&device)[2] + 30_001, "one copy is for both");
}

#[test]
fn it_waits_for_a_slot_and_then_for_its_program() {
    let mut bench = cache("wb", true);
    bench.slots.0 = 1;
    let device = bench.run(open(vec![write(0, 32), at(100_000, fua(PAGE, 32))]));
    let (above, down) = (PAGE * SECTOR, PAGE * SECTOR + FLASH_PROGRAM);
    assert_eq!(latencies(&device)[1], down + above + down);
    assert_eq!([Cause::MigrationWait, Cause::ProgramWait].map(|cause| written(&device, cause)), [down, above + down]);
}

#[test]
fn a_trim_pays_what_it_waits_for() {
    // While the page is programmed, and while its slot is written.
    for (trimmed, done) in [(200_000, 200_000), (10, PAGE * SECTOR)] {
        let device = cache("wb", true).run(open(vec![fua(0, 32), at(trimmed, trim(0, 32))]));
        assert_eq!(latencies(&device)[0], done);
        assert_eq!(slots_in_use(&device), []);
    }
}

#[test]
fn memory_that_keeps_what_it_holds_is_the_media() {
    let device = cache("wb", false).run(open(vec![fua(0, 32), at(1_000_000, read(0, 1))]));
    assert_eq!(latencies(&device), [PAGE * SECTOR, SECTOR]);
    assert_eq!((through(&device), device.counters().fua_writes), (0, 1));
    assert_eq!(slots_in_use(&device), [(0, u32::MAX, u32::MAX)]);
}

#[test]
fn what_goes_to_flash_at_once_ends_with_its_program() {
    // Under `rewritten` the first write of a page does, and the second stays above.
    for volatile in [false, true] {
        let device = cache("rewritten", volatile).run(open(vec![write(PAGE, 32), at(2_000_000, fua(0, 32))]));
        assert_eq!(latencies(&device), [0, FLASH_PROGRAM]);
    }
}

#[test]
fn a_drive_may_have_all_writes_go_through_its_cache() {
    // As if each asked for it: to a slot, and straight to flash.
    for policy in ["wb", "rewritten"] {
        let requests = || vec![write(0, 32), at(3_000_000, write(PAGE, 1)), at(9_000_000, write(0, 32))];
        let asking = requests().into_iter().map(|request| Request { fua: true, ..request }).collect();
        let asked = cache(policy, true).run(open(asking));
        let mut bench = cache(policy, true);
        bench.acknowledges_at_program = true;
        let all = bench.run(open(requests()));
        assert_eq!(latencies(&all), latencies(&asked));
        assert_eq!((all.counters().fua_writes, through(&all)), (3, through(&asked)));
        let plain = cache(policy, true).run(open(requests()));
        assert_ne!(latencies(&all), latencies(&plain));
    }
    // Written above, read there and programmed.
    let mut bench = cache("wb", true);
    bench.acknowledges_at_program = true;
    let device = bench.run(open(vec![write(0, 32), at(5_000_000, read(0, 1))]));
    assert_eq!(latencies(&device)[0], 2 * PAGE * SECTOR + FLASH_PROGRAM);
}
