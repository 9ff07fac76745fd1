//! Every mechanism of drives of two media acts in some scene and shows in its counter, with times worked out by hand.
//! The last test fails when a counter is added that no scene makes rise.

use std::collections::BTreeSet;

use crate::common::tiered::{TierBench, latencies, slots_in_use};
use crate::common::{at, closed, generated, open, read, request, trim, write};
use ninescope_engine::Device;
use ninescope_kernel::{RandomStream, Zipf};
use ninescope_model::{Arrival, Op};
use ninescope_oracles::caches::{che_lru, king_lru, zipf};
use ninescope_tier::TierCounters;
use serde_json::{Value, json};

/// Sectors of a page.
const PAGE: u64 = 32;
/// A sector of SCM, a page of flash read and programmed [ns].
const SECTOR: u64 = 1_100;
/// A sector of the slower memory [ns].
const BELOW: u64 = 10_100;
const FLASH_READ: u64 = 101_000;
const FLASH_PROGRAM: u64 = 1_001_000;

fn counters(device: &Device) -> TierCounters {
    *device.seen().tier.expect("two media").tier().counters()
}

// ---- scenes --------------------------------------------------------------------------------------

/// A page is read at 0 and to be copied up, and forgotten by the host at 50 us, before flash has read it.
fn page_trimmed_on_its_way_up() -> Device {
    let bench = TierBench::round(&json!({ "policy": "wb", "migration": "background" }));
    bench.run(open(vec![read(0, 1), at(50_000, trim(0, 32)), at(500_000, read(0, 1))]))
}

#[test]
fn what_was_forgotten_on_its_way_up_is_not_written_there() {
    let device = page_trimmed_on_its_way_up();
    assert_eq!(latencies(&device), [FLASH_READ, 0, 0], "the last read finds nothing");
    let counters = counters(&device);
    assert_eq!((counters.fills_dropped, counters.copied_up), (1, 0));
    assert_eq!(slots_in_use(&device), [], "its slot is free again");
}

/// Two pages are to be copied up at once where only one may be on its way.
fn more_pages_than_may_be_on_their_way() -> Device {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background" }));
    (bench.migrations_in_flight, bench.depth) = (1, 2);
    bench.run(closed(vec![read(0, 1), read(PAGE, 1)]))
}

#[test]
fn no_more_pages_go_up_at_a_time_than_may_be_under_way() {
    let device = more_pages_than_may_be_on_their_way();
    assert_eq!(latencies(&device), [FLASH_READ, 2 * FLASH_READ]);
    let counters = counters(&device);
    assert_eq!((counters.copied_up, counters.fills_skipped), (1, 1));
    assert_eq!(slots_in_use(&device), [(0, u32::MAX, 0)]);
}

/// Three cold pages are to go to flash, whose write buffer holds one; meanwhile a sector of the last one goes to SCM.
fn write_that_finds_its_page_above() -> Device {
    let mut bench = TierBench::round(&json!({ "policy": "wo-dm", "hot_entries": 0.0 }));
    bench.flash.engine.buffered_pages = 1;
    let pages = (0..3).map(|page| write(page * PAGE, 32));
    bench.run(open(pages.chain([at(1_000, write(2 * PAGE, 1))]).collect()))
}

#[test]
fn a_write_on_its_way_to_flash_goes_where_its_page_is_by_then() {
    let device = write_that_finds_its_page_above();
    // The buffer has room again when the first page is programmed: the second goes in, the third to its slot.
    assert_eq!(latencies(&device), [0, FLASH_PROGRAM, FLASH_PROGRAM + 32 * SECTOR, SECTOR]);
    let counters = counters(&device);
    assert_eq!((counters.writes_redirected, counters.superseded_below), (1, 1));
    assert_eq!(slots_in_use(&device), [(2, u32::MAX, u32::MAX)]);
}

/// One slot. While its page is on its way down for another, a second sector of it is written.
fn page_rewritten_on_its_way_down() -> Device {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background" }));
    bench.slots.0 = 1;
    bench.run(open(vec![write(0, 1), at(10_000, write(PAGE, 1)), at(50_000, write(5, 1))]))
}

#[test]
fn what_is_written_on_its_way_down_stays_and_goes_down_later() {
    let device = page_rewritten_on_its_way_down();
    // It goes down twice: a sector and then two are read from the slot, each time while flash reads the rest.
    let waits = 2 * (FLASH_READ + FLASH_PROGRAM) + SECTOR;
    assert_eq!(latencies(&device), [SECTOR, waits, SECTOR]);
    let counters = counters(&device);
    assert_eq!((counters.evictions_kept, counters.evicted_dirty, counters.evictions_merged), (1, 1, 2));
    assert_eq!((counters.slot_waits, slots_in_use(&device)), (1, vec![(1, 1, 1)]));
}

/// What was written lately is forgotten every millisecond, at the end of the first write behind that.
fn page_whose_writes_are_forgotten() -> Device {
    let rewritten = json!({ "policy": "rewritten", "migration": "background", "forget_every": "1ms" });
    let bench = TierBench::round(&rewritten);
    // To flash, to a slot, to the slot once more, and forgotten; one that covers a part of the slot alone goes there, as do those
    // behind it, and is forgotten; the last one goes to flash.
    let times =
        [(0, 32), (100_000, 32), (1_000_001, 32), (1_100_000, 5), (1_200_000, 32), (2_100_000, 5), (3_000_000, 32)];
    bench.run(open(times.map(|(time, sectors)| at(time, write(0, sectors))).to_vec()))
}

#[test]
fn a_page_of_which_nothing_is_known_any_more_goes_to_flash_and_leaves_its_slot() {
    let device = page_whose_writes_are_forgotten();
    let (page, some) = (32 * SECTOR, 5 * SECTOR);
    assert_eq!(latencies(&device), [0, page, page, some, page, some, 0]);
    assert_eq!((counters(&device).replaced_above, slots_in_use(&device)), (1, vec![]));
    assert_eq!(device.seen().ftl.counters().host_units, 2);
}

/// A page is written, read twice, written once more, and read while its program runs, behind that, and again.
fn page_that_is_cached_for_reads() -> Device {
    let bench = TierBench::round(&json!({ "policy": "read-cache" }));
    let whole = [(write as fn(u64, u32) -> _, 0), (read, 2), (read, 4), (write, 6), (read, 6), (read, 8), (read, 10)];
    bench.run(open(whole.map(|(of, ms)| at(ms * 1_000_000, of(0, 32))).to_vec()))
}

#[test]
fn writes_go_around_a_cache_of_reads_and_their_pages_leave_it() {
    let device = page_that_is_cached_for_reads();
    let above = 32 * SECTOR;
    // While its program runs the page is copied up from the controller.
    assert_eq!(latencies(&device), [0, FLASH_READ, above, 0, 0, above, above]);
    let counters = counters(&device);
    assert_eq!((counters.replaced_above, counters.evicted_dirty, counters.evicted_clean), (1, 0, 0));
    assert_eq!(slots_in_use(&device), [(0, u32::MAX, 0)]);
    assert_eq!(device.seen().ftl.counters().host_units, 2);
}

/// A part of a page that is cached for reads is written, and of one that is not.
fn parts_of_pages_beside_a_cache_of_reads() -> Device {
    let bench = TierBench::round(&json!({ "policy": "read-cache" }));
    let parts = [at(4_000_000, write(3, 5)), at(8_000_000, write(5 * PAGE, 5))];
    bench.run(open([write(0, 32), at(2_000_000, read(0, 32))].into_iter().chain(parts).collect()))
}

#[test]
fn a_part_of_a_page_is_written_around_what_the_cache_holds_of_it() {
    let device = parts_of_pages_beside_a_cache_of_reads();
    // What the slot has of the page is of no use to the merge, which reads flash as without a cache.
    assert_eq!(latencies(&device), [0, FLASH_READ, FLASH_READ, FLASH_READ]);
    assert_eq!((counters(&device).replaced_above, slots_in_use(&device)), (1, vec![]));
}

/// Two writes of one page wait for one slot of two, both of which hold dirty pages.
fn two_that_wait_for_one_slot() -> Device {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background" }));
    bench.slots.0 = 2;
    let first = [write(0, 32), at(100_000, write(PAGE, 32))];
    let both = [at(200_000, write(2 * PAGE, 1)), at(200_000, write(2 * PAGE + 1, 1))];
    bench.run(open(first.into_iter().chain(both).collect()))
}

#[test]
fn a_page_needs_one_slot_however_many_wait_for_it() {
    let device = two_that_wait_for_one_slot();
    let waits = 32 * SECTOR + FLASH_PROGRAM;
    assert_eq!(latencies(&device), [32 * SECTOR, 32 * SECTOR, waits + SECTOR, waits + 2 * SECTOR]);
    assert_eq!(counters(&device).evicted_dirty, 1);
    assert_eq!(slots_in_use(&device), [(1, u32::MAX, u32::MAX), (2, 0b11, 0b11)]);
}

/// One slot, which is about to be written when another page needs it.
fn slot_that_is_about_to_be_written() -> Device {
    let mut bench = TierBench::round(&json!({ "policy": "wb", "migration": "background" }));
    (bench.slots.0, bench.depth) = (1, 2);
    bench.run(closed(vec![write(0, 32), write(PAGE, 1)]))
}

#[test]
fn a_slot_leaves_as_soon_as_nobody_is_about_to_write_it() {
    // The bank takes up the first write at once; its slot is read behind it, at 32 sectors.
    let device = slot_that_is_about_to_be_written();
    let waits = 32 * SECTOR + 32 * SECTOR + FLASH_PROGRAM;
    assert_eq!(latencies(&device), [32 * SECTOR, waits + SECTOR]);
}

/// A part of a page that is written is completed from below, above flash and above memory.
fn write_completed_from_below(policy: &str) -> Device {
    let description = json!({ "policy": policy, "migration": "foreground", "fetch_on_write": true });
    TierBench::round(&description).run(closed(vec![write(0, 8), read(0, 32)]))
}

#[test]
fn the_rest_of_a_page_written_in_part_is_fetched() {
    let flash = write_completed_from_below("wb");
    assert_eq!(latencies(&flash), [FLASH_READ + 24 * SECTOR, 32 * SECTOR]);
    let memory = write_completed_from_below("nv-wb");
    assert_eq!(latencies(&memory), [24 * 10_100 + 24 * SECTOR, 32 * SECTOR]);
    for device in [&flash, &memory] {
        assert_eq!((counters(device).fetched_on_write, counters(device).copied_up), (1, 1));
        assert_eq!(slots_in_use(device), [(0, u32::MAX, 0xff)]);
    }
}

/// Two slots, one of which is to be free. The second write has the first page leave, of which one sector is above.
fn write_that_has_a_page_leave(migration: &str, after: Option<ninescope_model::Request>) -> Vec<u64> {
    let description = json!({ "policy": "wb", "migration": migration, "evict_free": 0.4, "evict_stop": 0.4 });
    let mut bench = TierBench::round(&description);
    (bench.slots.0, bench.depth) = (2, 2);
    let requests = [write(0, 1), at(10_000_000, write(PAGE, 1))].into_iter().chain(after);
    latencies(&bench.run(open(requests.collect())))
}

#[test]
fn a_request_waits_for_as_much_of_a_migration_as_the_mode_says() {
    let second = |migration| write_that_has_a_page_leave(migration, None)[1];
    assert_eq!(second("background"), SECTOR);
    // Written, then the slot is read, then flash; the program goes on behind.
    assert_eq!(second("foreground-reads"), SECTOR + SECTOR + FLASH_READ);
    // Flash is read from the beginning, beside all of it.
    assert_eq!(second("foreground"), FLASH_READ + FLASH_PROGRAM);
}

#[test]
fn a_request_does_not_wait_for_what_was_trimmed() {
    let trimmed_at = |time| write_that_has_a_page_leave("foreground-reads", Some(at(10_000_000 + time, trim(0, 32))));
    // Before the bank takes up the slot, before it has read it, while flash reads the rest.
    assert_eq!(trimmed_at(500), [SECTOR, SECTOR, 0]);
    assert_eq!(trimmed_at(SECTOR + 500), [SECTOR, 2 * SECTOR, 0]);
    assert_eq!(trimmed_at(2 * SECTOR + 500), [SECTOR, 2 * SECTOR + FLASH_READ, 0]);
}

#[test]
fn a_read_waits_for_what_it_brings_up_to_be_read() {
    let first = |policy: &str, migration: &str| {
        let description = json!({ "policy": policy, "migration": migration });
        latencies(&TierBench::round(&description).run(closed(vec![read(0, 1)])))[0]
    };
    // From flash the host's read brings the page; the slower memory is read once more, for the page.
    assert_eq!(first("wb", "foreground-reads"), FLASH_READ);
    assert_eq!(first("wb", "foreground"), FLASH_READ + 32 * SECTOR);
    assert_eq!(first("nv-wb", "background"), BELOW);
    assert_eq!(first("nv-wb", "foreground-reads"), BELOW + 32 * BELOW);
    assert_eq!(first("nv-wb", "foreground"), BELOW + 32 * BELOW + 32 * SECTOR);
}

/// One slot. A page comes up whole, three sectors of it are written, and another page has it leave.
fn page_that_leaves_for_memory(write_back: &str) -> Device {
    let description =
        json!({ "policy": "nv-wb", "migration": "foreground", "write_back": write_back, "evict_free": 0.0 });
    let mut bench = TierBench::round(&description);
    bench.slots.0 = 1;
    bench.run(closed(vec![read(0, 32), write(4, 3), write(PAGE, 1)]))
}

#[test]
fn dirty_sectors_go_down_or_the_page_they_are_in() {
    for (write_back, sectors) in [("dirty-sectors", 3), ("whole-pages", 32)] {
        let device = page_that_leaves_for_memory(write_back);
        let leaves = sectors * (SECTOR + BELOW);
        let up = 32 * BELOW + 32 * BELOW + 32 * SECTOR;
        assert_eq!(latencies(&device), [up, 3 * SECTOR, leaves + SECTOR], "{write_back}");
        let scm = device.scm();
        // Above, the host writes 3 and 1 and a page comes up; below, it is read for the host and to come up.
        assert_eq!((scm.counters(0).sectors_written, scm.counters(0).sectors_read), (3 + 32 + 1, sectors));
        assert_eq!((scm.counters(1).sectors_written, scm.counters(1).sectors_read), (sectors, 32 + 32));
        assert_eq!(slots_in_use(&device), [(1, 1, 1)]);
    }
}

#[test]
fn a_page_written_in_part_goes_down_without_what_its_slot_never_held() {
    // Nothing is fetched: the slot holds five sectors, all of them dirty, and no others can go down.
    for write_back in ["dirty-sectors", "whole-pages"] {
        let description =
            json!({ "policy": "nv-wb", "migration": "foreground", "write_back": write_back, "evict_free": 0.0 });
        let mut bench = TierBench::round(&description);
        bench.slots.0 = 1;
        let device = bench.run(closed(vec![write(4, 5), write(PAGE, 1)]));
        assert_eq!(latencies(&device), [5 * SECTOR, 5 * (SECTOR + BELOW) + SECTOR]);
        assert_eq!(device.scm().counters(1).sectors_written, 5);
    }
}

/// Requests of all classes to a few pages.
fn mixed(description: &Value) -> Device {
    let mut stream = RandomStream::new(3, "tests", "mixed");
    let mut one = || {
        let sectors = [1, 8, 20, 32][stream.below(4) as usize];
        let op = if stream.below(2) == 0 { Op::Read } else { Op::Write };
        request(op, stream.below(12) * PAGE, sectors)
    };
    let requests = (0..400).map(|_| one()).collect();
    TierBench::round(description).run(closed(requests))
}

fn mixed_runs() -> Vec<Device> {
    let rwb = json!({ "policy": "rwb-dm", "moves": "hot-or-random", "keep_copy": false });
    vec![mixed(&json!({ "policy": "wb" })), mixed(&json!({ "policy": "wo-dm" })), mixed(&rwb)]
}

// ---- counters ------------------------------------------------------------------------------------

/// The fields with their values, those within fields by both names.
fn fields(counters: &TierCounters) -> Vec<(String, u64)> {
    let value = serde_json::to_value(counters).expect("numbers");
    let mut fields = Vec::new();
    for (name, value) in value.as_object().expect("a struct") {
        match value.as_object() {
            None => fields.push((name.clone(), value.as_u64().expect("a count"))),
            Some(class) => fields
                .extend(class.iter().map(|(key, value)| (format!("{name}.{key}"), value.as_u64().expect("a count")))),
        }
    }
    fields
}

#[test]
fn every_counter_rises_in_some_scene() {
    let mut scenes = vec![
        page_trimmed_on_its_way_up(),
        more_pages_than_may_be_on_their_way(),
        write_that_finds_its_page_above(),
        page_rewritten_on_its_way_down(),
        page_whose_writes_are_forgotten(),
        page_that_is_cached_for_reads(),
        parts_of_pages_beside_a_cache_of_reads(),
        write_completed_from_below("wb"),
    ];
    scenes.extend(mixed_runs());
    let mut silent: BTreeSet<String> = fields(&TierCounters::default()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(silent.len(), 4 * 4 + 19, "fields of the struct");
    for device in &scenes {
        for (name, _) in fields(&counters(device)).into_iter().filter(|(_, count)| *count > 0) {
            silent.remove(&name);
        }
    }
    // `volatile_cache.rs` has the scenes of what comes up ahead of reads, and of a host that rests.
    assert!(silent.remove("fetched_ahead") && silent.remove("evicted_at_rest"), "a scene of these is here: say which");
    assert!(silent.remove("writes_held"), "`back_pressure.rs` has the scenes of writes that are held back");
    assert!(silent.remove("written_through"), "`fua.rs` has the scenes of writes that go through a cache");
    assert!(silent.is_empty(), "no scene makes these counters rise: {silent:?}");
}

// ---- ends ----------------------------------------------------------------------------------------

/// One of the things a policy can be told.
fn any_placement(stream: &mut RandomStream) -> Value {
    let mut choose = |choices: &[&str]| choices[stream.below(choices.len() as u64) as usize].to_owned();
    let policy = choose(&["wb", "wo-dm", "rwb-dm", "nv-wb", "rewritten"]);
    let mut placement = json!({
        "policy": policy, "migration": choose(&["foreground", "foreground-reads", "background"]),
        "victim": choose(&["lru", "sequential-first", "lfu", "clean-first"]),
    });
    let fetch = choose(&["yes", "no"]) == "yes";
    match policy.as_str() {
        "wb" | "nv-wb" => {
            placement["fetch_on_write"] = json!(fetch);
            if choose(&["yes", "no"]) == "yes" {
                placement["flush_at_rest"] = json!("3us");
            }
        }
        "rwb-dm" => {
            placement["keep_copy"] = json!(fetch);
            placement["moves"] = json!(choose(&["hot-or-random", "hot-and-random"]));
        }
        "rewritten" if fetch => placement["forget_every"] = json!("300us"),
        _ => {}
    }
    let free = [0.0, 0.1, 0.3][stream.below(3) as usize];
    (placement["evict_free"], placement["evict_stop"]) = (json!(free), json!(free + 0.1));
    if policy == "nv-wb" && fetch {
        placement["write_back"] = json!("whole-pages");
    }
    placement
}

fn any_requests(stream: &mut RandomStream) -> Vec<ninescope_model::Request> {
    let pages = 2 + stream.below(14);
    let mut one = || {
        let sectors = [1, 5, 20, 32, 64][stream.below(5) as usize];
        let lba = stream.below(pages) * PAGE + stream.below(3) * 11;
        match stream.below(40) {
            0 => trim(lba, sectors),
            1 => crate::common::flush(),
            draw if draw < 16 => read(lba, sectors),
            _ => write(lba, sectors),
        }
    };
    (0..300).map(|_| one()).collect()
}

/// Slots, buffers and queues so small that everybody waits for somebody: no run may end with one who waits.
#[test]
fn nobody_waits_for_ever() {
    for seed in 0..400 {
        let mut stream = RandomStream::new(seed, "tests", "waiting");
        let description = any_placement(&mut stream);
        let mut bench = TierBench::round(&description);
        // Room for a slot that is not kept free.
        bench.slots = (2 + stream.below(4) as u32, 32);
        bench.banks.0 = 1 + u32::from(bench.slots.0.is_multiple_of(2) && stream.below(2) == 0);
        bench.depth = 1 + stream.below(24) as u32;
        bench.migrations_in_flight = 1 + stream.below(4) as u32;
        bench.flash.blocks_per_plane = 12;
        bench.flash.engine.buffered_pages = 1 + stream.below(3) as u32;
        let requests = any_requests(&mut stream);
        let mut device = bench.device(Box::new(closed(requests)));
        if let Err(error) = device.run() {
            panic!("seed {seed}, {} slots, depth {}, {description}: {error}", bench.slots.0, bench.depth);
        }
        assert_eq!(device.completed(), 300);
    }
}

// ---- hit ratios ----------------------------------------------------------------------------------

/// The hit ratio of reads of whole pages drawn by Zipf's law, the first third left out.
fn hit_ratio(pages: u32, exponent: f64, slots: u32, reads: u32) -> f64 {
    let mut bench = TierBench::round(&json!({ "policy": "wb" }));
    (bench.slots.0, bench.flash.blocks_per_plane) = (slots, (pages / 2).max(64));
    bench.flash.limits.warmup_requests = u64::from(reads / 3);
    bench.flash.engine.log_requests = false;
    assert!(bench.sectors() >= u64::from(pages) * PAGE);
    let law = Zipf::new(u64::from(pages), exponent);
    let mut stream = RandomStream::new(11, "tests", "hit ratio");
    let mut left = reads;
    let workload = generated(Arrival::Closed, move || {
        left = left.checked_sub(1)?;
        Some(read(law.draw(&mut stream) * PAGE, 32))
    });
    let counters = counters(&bench.run(workload));
    counters.page_hits as f64 / counters.page_accesses as f64
}

#[test]
fn reads_hit_as_often_as_king_and_che_say() {
    for slots in [1, 3, 5] {
        let (hits, exact) = (hit_ratio(7, 0.8, slots, 200_000), king_lru(&zipf(7, 0.8), slots as usize));
        assert!((hits - exact).abs() < 0.009, "{slots} slots: {hits} and {exact}");
    }
    let (hits, expected) = (hit_ratio(4_000, 1.0, 400, 200_000), che_lru(&zipf(4_000, 1.0), 400));
    assert!((hits - expected).abs() < 0.01, "{hits} and {expected}");
}
