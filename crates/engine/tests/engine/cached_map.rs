//! A map that lies in flash: what misses cost, what leaves memory and what is written, worked out by hand; hit ratios against
//! closed forms.

use crate::scenario::{COMMAND, Drive, Listed, Outcome, PROGRAM, READ, mixed_sectors, policy, policy_with, write};
use ninescope_engine::mapping::MapCounters;
use ninescope_engine::{Device, Plain};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_model::{Arrival, Cause, Lba, Op, Request, Stream};
use ninescope_oracles::caches::{che_lru, king_lru, zipf};
use serde_json::json;

/// A unit of 512 B on the channel, and a page of four [ns].
const UNIT_TRANSFER: u64 = 125;
/// A unit is read from its page [ns].
const UNIT_READ: u64 = COMMAND + READ + UNIT_TRANSFER;
/// Units of the drive, and those that a page of the map tells of.
const UNITS: u32 = 512;
const ENTRIES: u32 = 128;

/// One die, pages of four units of 512 B, blocks of 32 units: a map of four pages.
fn drive(map: &serde_json::Value) -> Drive {
    Drive::with(|drive| {
        (drive.page_bytes, drive.unit_bytes, drive.pages, drive.blocks) = (2_048, 512, 8, 30);
        drive.logical_units = UNITS;
        drive.prepared = (0..UNITS).collect();
        drive.map = policy_with(map);
    })
}

fn entries(bytes: &str) -> Drive {
    drive(&json!({ "policy": "entries", "size": bytes }))
}

fn pages(bytes: &str) -> Drive {
    drive(&json!({ "policy": "pages", "size": bytes }))
}

fn request(at: u64, op: Op, unit: u32, units: u32) -> Request {
    Request { submitted: Ns(at), lba: Lba(u64::from(unit)), sectors: units, op, ..Request::default() }
}

fn read_at(at: u64, unit: u32) -> Request {
    request(at, Op::Read, unit, 1)
}

fn write_at(at: u64, unit: u32) -> Request {
    request(at, Op::Write, unit, 1)
}

fn map(run: &Outcome) -> MapCounters {
    *run.device.seen().mapping.expect("a map in flash").counters()
}

fn hits(run: &Outcome) -> (u64, u64) {
    (map(run).hits, map(run).misses)
}

#[test]
fn a_miss_reads_the_page_of_the_map_first() {
    let run = entries("1KiB").run(vec![read_at(0, 5), read_at(1_000_000, 5), read_at(2_000_000, 6)]);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [2 * UNIT_READ, UNIT_READ, 2 * UNIT_READ]);
    assert_eq!((hits(&run), run.counters().map_page_reads), ((1, 2), 2));
    let waited: u64 =
        run.parts(Op::Read).into_iter().filter(|(cause, _)| *cause == Cause::MappingRead).map(|(_, time)| time).sum();
    assert_eq!(waited, 2 * UNIT_READ, "the two misses");
    // With whole pages in memory the neighbour's entry is there.
    let run = pages("1KiB").run(vec![read_at(0, 5), read_at(1_000_000, 6), read_at(2_000_000, ENTRIES)]);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [2 * UNIT_READ, UNIT_READ, 2 * UNIT_READ]);
}

#[test]
fn a_page_of_the_map_tells_of_as_many_units_as_entries_fit_it() {
    // Entries of 5 B: 102 fit 512 B, and 512 units take six pages. One request for units 101 and 102 reads two of them, one for
    // 102 and 103 one.
    let drive = || drive(&json!({ "policy": "entries", "size": "1KiB", "entry_size": "5B" }));
    assert_eq!(drive().map_pages(), 6);
    let page_reads = |unit| drive().run(vec![request(0, Op::Read, unit, 2)]).counters().map_page_reads;
    assert_eq!([101, 102, 203, 204].map(page_reads), [2, 1, 2, 1]);
    // The last page tells of two units.
    assert_eq!([508, 509].map(page_reads), [1, 2]);
}

#[test]
fn what_was_used_longest_ago_leaves() {
    // Room for two entries of 8 B.
    let order = [1, 2, 1, 3, 1, 2];
    let reads = order.iter().zip(0..).map(|(&unit, turn)| read_at(turn * 1_000_000, unit)).collect();
    let run = entries("16B").run(reads);
    // 3 pushes 2 out, not 1, which was used since; then 2 is missing.
    let misses = [true, true, false, true, false, true];
    let latencies = misses.map(|missed| if missed { 2 * UNIT_READ } else { UNIT_READ });
    assert_eq!([0, 1, 2, 3, 4, 5].map(|id| run.latency(id)), latencies);
    assert_eq!((map(&run).evictions, map(&run).dirty_evictions, map(&run).pages_written), (2, 0, 0));
}

#[test]
fn commands_wait_for_a_page_together_and_for_all_their_pages() {
    // The second one wants another entry of the page that is being read.
    let run = entries("1KiB").run(vec![read_at(0, 5), read_at(10, 6)]);
    assert_eq!((map(&run).pages_fetched, hits(&run)), (1, (0, 2)));
    assert_eq!(run.latency(0), 2 * UNIT_READ);
    // Units 5 and 6 lie in two pages, of which the second is read when the first has left.
    assert_eq!(run.latency(1), 3 * UNIT_READ - 10);
    // One command over the boundary of two pages of the map waits for both: one die reads them in turn, and then its data.
    let run = pages("4KiB").run(vec![request(0, Op::Read, ENTRIES - 1, 2)]);
    assert_eq!((map(&run).pages_fetched, hits(&run)), (2, (0, 2)));
    assert_eq!(run.latency(0), 2 * UNIT_READ + 2 * UNIT_READ);
}

#[test]
fn a_map_that_was_never_written_is_not_read() {
    let mut empty = entries("1KiB");
    empty.prepared.clear();
    let run = empty.run(vec![read_at(0, 5), write_at(10, 6), read_at(1_000_000, 6)]);
    assert_eq!((hits(&run), run.counters().map_page_reads), ((1, 2), 0));
    assert_eq!(map(&run).pages_fetched_from_controller, 2);
    assert_eq!([run.latency(0), run.latency(1)], [0, 0]);
}

#[test]
fn a_read_of_others_is_behind_a_read_of_the_map() {
    let run = entries("1KiB").run(vec![read_at(0, 5), read_at(1_000_000, 200), read_at(1_000_010, 5)]);
    // The die reads the page of the map that tells of unit 200; unit 5 is read then, and unit 200 behind it.
    assert_eq!(run.latency(2), UNIT_READ - 10 + UNIT_READ);
    let behind: u64 =
        run.parts(Op::Read).into_iter().filter(|(cause, _)| *cause == Cause::DieMapping).map(|(_, time)| time).sum();
    assert_eq!(behind, UNIT_READ - 10);
    assert_eq!(run.latency(1), 3 * UNIT_READ);
}

#[test]
fn a_write_waits_for_its_entry_and_leaves_it_changed() {
    let run = entries("1KiB").run(vec![write_at(0, 5)]);
    assert_eq!((run.latency(0), run.parts(Op::Write)), (UNIT_READ, vec![(Cause::MappingRead, UNIT_READ)]));
    assert_eq!((map(&run).pages_written, run.ftl().map_units), (0, 0), "it stays in memory");
}

#[test]
fn what_leaves_changed_has_its_page_written_with_all_that_changed_of_it() {
    // Entries of two units of page 0 of the map are changed. Those of page 1 push them out, one after the other.
    let requests = vec![
        write_at(0, 5),
        write_at(1_000_000, 6),
        read_at(2_000_000, ENTRIES),
        read_at(3_000_000, ENTRIES + 1),
        read_at(4_000_000, 0),
    ];
    let run = entries("16B").run(requests);
    let counters = map(&run);
    // When the first left changed, its page was read and written, with the second one's entry, which left clean.
    assert_eq!((counters.evictions, counters.dirty_evictions), (3, 1));
    assert_eq!((counters.pages_read_to_update, counters.pages_written, run.ftl().map_units), (1, 1, 1));
    assert_eq!(
        run.counters().map_page_programs,
        0,
        "one unit of the four of a page: it waits for others in the controller"
    );
    // So it is fetched from there.
    assert_eq!(run.latency(4), UNIT_READ);
    assert_eq!(counters.pages_fetched_from_controller, 1);
}

#[test]
fn a_page_of_the_map_that_is_in_memory_is_written_without_being_read() {
    // Room for one page of 512 B.
    let writes = (0..8).map(|turn| write_at(u64::from(turn) * 10_000_000, turn % 4 * ENTRIES)).collect();
    let run = pages("512B").run(writes);
    let counters = map(&run);
    assert_eq!((hits(&run), counters.evictions, counters.dirty_evictions), ((0, 8), 7, 7));
    // With the last write the host is over: what it pushed out stays in the controller.
    assert_eq!((counters.pages_written, counters.pages_read_to_update), (6, 0));
    // Four pages of the map fill a page of the media, which lies apart from data.
    assert_eq!(run.counters().map_page_programs, 1);
    let ftl = run.device.ftl();
    for page in 0..4 {
        let place = ftl.translate(ftl.translation_unit(page));
        assert_eq!(ftl.stream_of(place), Stream::APART, "page {page} of the map");
    }
}

#[test]
fn moves_change_entries_that_are_not_in_memory() {
    let mut drive = entries("64B");
    // A hundred writes more than there are free places make garbage, the valid rest of which is moved.
    drive.prepared.extend((0..UNITS).step_by(3));
    drive.engine.queue_depth = 1;
    let mut stream = RandomStream::new(7, "test", "writes");
    let writes = (0..600).map(|turn| write_at(turn * 20_000_000, stream.below(u64::from(UNITS)) as u32)).collect();
    let run = drive.run(writes);
    assert!(run.ftl().moves_completed > 0 && map(&run).changes_outside > 0, "{:?}", map(&run));
    assert_eq!(run.ftl().map_units, map(&run).pages_written);
    let programmed = run.counters().map_page_programs * 4;
    let open = run.ftl().map_units - programmed;
    assert!(open < 4, "all but an open page of {} pages of the map is programmed, {open} are not", run.ftl().map_units);
}

#[test]
fn pages_that_are_compressed_take_what_their_runs_take() {
    let runs = |size: &str| drive(&json!({ "policy": "runs", "size": size }));
    // Filled in order, a page of the map is one run of 8 B: all four are in memory, and so is unit 511's.
    let reads = [0, 1, 2, 3, 0].map(|page| page * ENTRIES + 3);
    let requests = reads.iter().zip(0..).map(|(&unit, turn)| read_at(turn * 1_000_000, unit)).collect();
    let run = runs("1KiB").run(requests);
    let mapping = run.device.seen().mapping.expect("a map in flash");
    assert_eq!((hits(&run), mapping.bytes()), ((1, 4), (4 * 8, 1_024)));
    // A unit in the middle of a run that lies elsewhere makes three of it, one at its end two.
    for (unit, count) in [(5, 3), (ENTRIES - 1, 2)] {
        let run = runs("1KiB").run(vec![read_at(0, 0), write_at(1_000_000, unit)]);
        assert_eq!(run.device.seen().mapping.expect("a map in flash").bytes().0, count * 8, "unit {unit}");
    }
}

#[test]
fn reads_of_the_map_go_first_where_the_drive_does_it_so() {
    let with = |first: bool| {
        let run = drive(&json!({ "policy": "entries", "size": "1KiB", "reads_first": first })).run(vec![
            // The entries of 5 and 6 come into memory.
            read_at(0, 5),
            read_at(1_000_000, 6),
            // 5 is read, 6 waits for the die, and then two pages of the map do.
            read_at(2_000_000, 5),
            read_at(2_000_010, 6),
            read_at(2_000_020, 200),
            read_at(2_000_030, 300),
        ]);
        (map(&run).reads_ahead, [2, 3, 4, 5].map(|id| run.latency(id)))
    };
    let read = |turn: u64, asked: u64| turn * UNIT_READ - asked;
    // 5, 6, both pages of the map in turn, and what they tell of.
    assert_eq!(with(false), (0, [read(1, 0), read(2, 10), read(5, 20), read(6, 30)]));
    // 5, both pages, which pass 6 and stay in order, then 6 and what they tell of.
    assert_eq!(with(true), (2, [read(1, 0), read(4, 10), read(5, 20), read(6, 30)]));
}

#[test]
fn what_changed_stays_in_memory_when_the_host_is_over() {
    // The last request pushes a changed entry out: it reads data then, or, as a write, is over.
    let run = entries("8B").run(vec![write_at(0, 5), read_at(1_000_000, 200)]);
    assert_eq!((map(&run).dirty_evictions, map(&run).pages_written), (1, 1));
    let run = entries("8B").run(vec![write_at(0, 5), write_at(1_000_000, 200)]);
    assert_eq!((map(&run).dirty_evictions, map(&run).pages_written), (1, 0));
}

#[test]
fn the_hosts_memory_holds_what_has_left_the_drive() {
    let map_with = |host_memory: &str| {
        drive(&json!({ "policy": "entries", "size": "8B", "host_memory": host_memory, "host_access": "3us" }))
    };
    // One entry in the drive. What left it last is a round trip away, what left the host's memory has to be read.
    let order = [1, 2, 1, 3, 2];
    let reads = || order.iter().zip(0..).map(|(&unit, turn)| read_at(turn * 1_000_000, unit)).collect();
    let run = map_with("16B").run(reads());
    let asked = 3_000 + UNIT_READ;
    assert_eq!([0, 1, 2, 3, 4].map(|id| run.latency(id)), [2 * UNIT_READ, 2 * UNIT_READ, asked, 2 * UNIT_READ, asked]);
    let counters = map(&run);
    assert_eq!((counters.pages_fetched, counters.pages_fetched_from_host, run.counters().map_page_reads), (5, 2, 3));
    // With room for one there, 3 has pushed 1 out of the drive, which pushed 2 out of the host's memory.
    let run = map_with("8B").run(reads());
    assert_eq!(run.latency(4), 2 * UNIT_READ);
    // Two are on their way at a time, each for its own round trip.
    let run = map_with("1KiB").run(vec![
        read_at(0, 1),
        read_at(1_000_000, 200),
        read_at(2_000_000, 300),
        read_at(3_000_000, 1),
        read_at(3_001_000, 200),
    ]);
    assert_eq!([run.latency(3), run.latency(4)], [asked, asked - 1_000 + UNIT_READ], "behind the read of unit 1");
}

/// A link that moves an entry in 1 us and a unit in 64.
fn with_slow_link(map: &serde_json::Value) -> Drive {
    let mut drive = drive(map);
    drive.engine.link_rate = Rate(8_000_000);
    drive
}

#[test]
fn what_is_fetched_of_the_hosts_memory_takes_the_link() {
    let over_link = |host_link: bool, last: Vec<Request>| {
        let map = json!({ "policy": "entries", "size": "8B", "host_memory": "1KiB", "host_access": "3us", "host_link": host_link });
        with_slow_link(&map).run([vec![read_at(0, 1), read_at(1_000_000, 2)], last].concat())
    };
    // The entry of 2 is in the drive, that of 1 in the host's memory: 3 us, 1 us on the link, the read, and 64 us on the link.
    let (entry, unit) = (1_000, 64_000);
    let read = UNIT_READ + unit;
    let run = over_link(true, vec![read_at(2_000_000, 1)]);
    assert_eq!((run.latency(2), map(&run).bytes_over_link), (3_000 + entry + read, 8));
    let run = over_link(false, vec![read_at(2_000_000, 1)]);
    assert_eq!((run.latency(2), map(&run).bytes_over_link), (3_000 + read, 0));
    // Data of a write that came to the link before the entry did goes first; its own entry is in the drive until then.
    let run = over_link(true, vec![read_at(2_000_000, 1), write_at(2_001_000, 2)]);
    assert_eq!([run.latency(2), run.latency(3)], [1_000 + unit + entry + read, unit]);
    // One that comes while the entry crosses waits for that, and then for its own entry, which the one that came pushed out.
    let run = over_link(true, vec![read_at(2_000_000, 1), write_at(2_003_500, 2)]);
    assert_eq!([run.latency(2), run.latency(3)], [3_000 + entry + read, 500 + unit + 3_000 + entry]);
    // 3 is read of flash, 1 comes back, and then 2 and 3 do at a time.
    let run = over_link(true, vec![read_at(2_000_000, 3), read_at(3_000_000, 1), request(4_000_000, Op::Read, 2, 2)]);
    assert_eq!(map(&run).bytes_over_link, 8 + 16);
}

/// Pages of the map that are asked for at random times come to the link at random times: a queue of one server with a constant
/// time of service (M/D/1), in which the mean wait is rho S / 2 (1 - rho).
#[test]
fn fetches_wait_for_the_link_as_khinchin_says() {
    const PAGES: u64 = 256;
    let mut drive = drive(
        &json!({ "policy": "pages", "size": "512B", "host_memory": "1MiB", "host_access": "3us", "host_link": true }),
    );
    // A page of the map, as a unit of data, takes 60 us.
    (drive.blocks, drive.logical_units, drive.engine.link_rate) = (1_200, PAGES as u32 * ENTRIES, Rate(8_533_334));
    drive.prepared = (0..drive.logical_units).collect();
    drive.engine.queue_depth = 4_096;
    let service = 60_000.0;
    let mut random = RandomStream::new(7, "test", "fetches");
    for load in [0.3, 0.6] {
        // Each page was read once: one after another from flash.
        let mut requests: Vec<_> = (0..PAGES).map(|page| read_at(page * 1_000_000, page as u32 * ENTRIES)).collect();
        let mut at = PAGES as f64 * 1e6;
        for _ in 0..30_000 {
            at += random.exponential(service / load);
            requests.push(read_at(at as u64, random.below(PAGES) as u32 * ENTRIES));
        }
        let run = drive.run(requests);
        let fetched = map(&run).pages_fetched_from_host as f64;
        let of_flash = (PAGES * UNIT_READ) as f64;
        let waits = run.parts(Op::Read).into_iter().filter(|(cause, _)| *cause == Cause::MappingRead);
        let mean = (waits.map(|(_, time)| time as f64).sum::<f64>() - of_flash) / fetched;
        // The page used last is in the drive.
        let load = load * (1.0 - 1.0 / PAGES as f64);
        let expected = 3_000.0 + service + load * service / (2.0 * (1.0 - load));
        assert!((mean / expected - 1.0).abs() < 0.02, "load {load}: {mean} ns, {expected} ns expected");
    }
}

#[test]
fn a_write_that_does_not_wait_reads_its_page_beside() {
    let beside = || drive(&json!({ "policy": "entries", "size": "1KiB", "writes_wait": false }));
    // A read of a neighbour waits for the page that is being read already; the unit that was written is in the controller.
    let run = beside().run(vec![write_at(0, 5), read_at(10, 6), read_at(1_000_000, 5)]);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [0, 2 * UNIT_READ - 10, 0]);
    assert_eq!((hits(&run), run.counters().map_page_reads), ((1, 2), 1));
    // The page is read when nothing else comes any more, too.
    let run = beside().run(vec![write_at(0, 5)]);
    assert_eq!((run.latency(0), map(&run).pages_fetched, run.counters().map_page_reads), (0, 1, 1));
    // What the host's memory holds is asked for there: the entry of the unit that is written, and of no other one.
    let with_host = json!({ "policy": "entries", "size": "8B", "host_memory": "1KiB", "writes_wait": false });
    let run = drive(&with_host).run(vec![read_at(0, 5), read_at(1_000_000, 200), write_at(2_000_000, 5)]);
    assert_eq!((map(&run).pages_fetched_from_host, run.counters().map_page_reads), (1, 2));
    let run = drive(&with_host).run(vec![read_at(0, 5), read_at(1_000_000, 200), write_at(2_000_000, 6)]);
    assert_eq!((map(&run).pages_fetched_from_host, run.counters().map_page_reads), (0, 3));
}

/// A page of four units, written through to the media.
fn page_at(at: u64, unit: u32) -> Request {
    Request { fua: true, ..request(at, Op::Write, unit, 4) }
}

#[test]
fn programs_wait_for_what_is_read_beside_them() {
    const PROGRAMMED: u64 = COMMAND + 4 * UNIT_TRANSFER + PROGRAM;
    let held = |run: &Outcome| run.counters().held_programs;
    let told =
        |waits: bool| json!({ "policy": "entries", "size": "1KiB", "writes_wait": false, "programs_wait": waits });
    // Two dies, a channel each: the one programs at once, the other reads the page of the map of both first.
    let pages_on_two_dies = |waits: bool| {
        let mut drive = drive(&told(waits));
        drive.channels = 2;
        let run = drive.run(vec![page_at(0, 0), page_at(0, 4)]);
        let mut latencies = [0, 1].map(|id| run.latency(id));
        latencies.sort_unstable();
        assert_eq!(run.counters().map_page_reads, 1);
        (latencies, held(&run))
    };
    assert_eq!(pages_on_two_dies(false), ([PROGRAMMED, UNIT_READ + PROGRAMMED], 0));
    assert_eq!(pages_on_two_dies(true), ([UNIT_READ + PROGRAMMED; 2], 2));
    let beside = |waits: bool| drive(&told(waits));
    // What was acknowledged in the buffer is read from there while its program waits.
    let run = beside(true).run(vec![request(0, Op::Write, 0, 4), read_at(10, 1)]);
    assert_eq!((run.latency(0), run.latency(1), held(&run)), (0, 0, 1));
    // Blocks are programmed in order: a page whose entries are in memory waits behind one whose entries are not.
    let run =
        beside(true).run(vec![request(0, Op::Read, ENTRIES, 4), page_at(1_000_000, 0), page_at(1_000_010, ENTRIES)]);
    assert_eq!((hits(&run), held(&run)), ((4, 8), 2));
    assert_eq!([1, 2].map(|id| run.latency(id)), [UNIT_READ + PROGRAMMED, UNIT_READ - 10 + 2 * PROGRAMMED]);
    // Where the buffer is full a write is looked up when it gets its place, and not before.
    let mut small = beside(true);
    small.engine.buffered_pages = 1;
    let run = small.run(vec![page_at(0, 0), page_at(10, 4)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [UNIT_READ + PROGRAMMED, 2 * (UNIT_READ + PROGRAMMED) - 10]);
    assert_eq!((held(&run), run.counters().map_page_reads), (2, 2));
}

#[test]
fn what_programs_wait_for_is_read_although_much_of_the_map_is_to_be_written() {
    // One entry in memory, one page written anew at a time and a buffer of one page: each write has an entry leave that
    // changed, and none of those goes on without its own.
    let told = json!({ "policy": "entries", "size": "8B", "updates_in_flight": 1, "writes_wait": false, "programs_wait": true });
    let mut drive = drive(&told);
    drive.engine.buffered_pages = 1;
    let writes: Vec<Request> = (0..32).map(|number| request(0, Op::Write, number % 4 * ENTRIES + number, 1)).collect();
    let run = drive.run(writes);
    assert_eq!(run.counters().held_programs, 32 / 4);
    assert_eq!(hits(&run), (0, 32));
}

#[test]
fn a_map_that_is_not_written_is_at_hand_where_it_has_left_memory() {
    let requests = vec![
        write_at(0, 5),
        write_at(1_000_000, 6),
        read_at(2_000_000, ENTRIES),
        read_at(3_000_000, ENTRIES + 1),
        read_at(4_000_000, 0),
    ];
    let run = drive(&json!({ "policy": "entries", "size": "16B", "written": false })).run(requests);
    let counters = map(&run);
    // Nothing was written while the drive was filled: unit 5 leaves changed, with which page 0 is read and kept as it is
    // then, and so do unit 128 and page 1. Unit 6 leaves as it is in what is kept.
    assert_eq!((counters.evictions, counters.dirty_evictions), (3, 2));
    assert_eq!((counters.pages_read_to_update, counters.pages_written, run.ftl().map_units), (2, 0, 0));
    // Four fetches read the media, the last one what is kept.
    assert_eq!((counters.pages_fetched, counters.pages_fetched_from_controller), (5, 1));
    assert_eq!((run.counters().map_page_reads, run.latency(4)), (4 + 2, UNIT_READ));
}

#[test]
fn memory_that_is_warm_holds_what_fits_spread_evenly() {
    // Four entries fit: those of units 0, 128, 256 and 384, the last of which was used last.
    let warm = |policy: &str, size: &str, written: bool| {
        drive(&json!({ "policy": policy, "size": size, "warm": true, "written": written }))
    };
    let read = |order: &[u32]| order.iter().zip(0..).map(|(&unit, turn)| read_at(turn * 1_000_000, unit)).collect();
    let run = warm("entries", "32B", true).run(read(&[0, ENTRIES, 3 * ENTRIES, 1, 2 * ENTRIES]));
    // What comes pushes unit 256 out, which was not used.
    let misses = [false, false, false, true, true];
    let latencies = misses.map(|missed| if missed { 2 * UNIT_READ } else { UNIT_READ });
    assert_eq!([0, 1, 2, 3, 4].map(|id| run.latency(id)), latencies);
    assert_eq!((hits(&run), map(&run).dirty_evictions), ((3, 2), 0));
    // Of whole pages two of four: the first and the third.
    let run = warm("pages", "1KiB", true).run(read(&[5, ENTRIES - 1, 2 * ENTRIES, 3 * ENTRIES]));
    assert_eq!(hits(&run), (3, 1));
    // Where half of the entries have changed before the run those are in memory that have not.
    let half = json!({ "policy": "entries", "size": "4KiB", "warm": true, "written": false, "changed_at_start": 0.5 });
    let all: Vec<u32> = (0..UNITS).collect();
    let run = drive(&half).run(read(&all));
    let (hit, missed) = hits(&run);
    assert!((206..=306).contains(&hit) && hit + missed == 512, "{hit} of 512, half of them within 4.4 deviations");
    assert_eq!(map(&run).dirty_evictions, 0, "all entries fit");
    // All of it where there is room, and what is never written lies on the media as it is: nothing leaves changed.
    let run = warm("entries", "1MiB", false).run(read(&[7, 500]));
    assert_eq!(hits(&run), (2, 0));
    let run = warm("entries", "16B", false).run(read(&[5, 6, 7, 5]));
    assert_eq!((hits(&run), map(&run).dirty_evictions, map(&run).pages_read_to_update), ((0, 4), 0, 0));
}

#[test]
fn a_read_of_the_map_for_commands_moves_what_is_asked_of_it() {
    // A quarter of a unit, rounded up to whole nanoseconds.
    let moved = UNIT_TRANSFER.div_ceil(4);
    let run = drive(&json!({ "policy": "entries", "size": "8B", "fetch_size": "128B" }))
        .run(vec![write_at(0, 5), read_at(1_000_000, 200)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [COMMAND + READ + moved, COMMAND + READ + moved + UNIT_READ]);
    // Page 0 is read whole when it is to be written.
    assert_eq!((map(&run).pages_read_to_update, run.counters().map_page_reads), (1, 3));
}

// ---- closed forms ----------------------------------------------------------------------------------

/// What the map counted of requests that follow each other, and when the last of them completed [ns].
fn in_turn(drive: &Drive, requests: Vec<Request>) -> (MapCounters, u64) {
    let mut device: Device<Plain> = drive.device(Listed::boxed(requests, Arrival::Closed), Default::default());
    device.run().expect("the run comes to its end");
    (*device.seen().mapping.expect("a map in flash").counters(), device.seen().latest_completion.0)
}

/// The share of reads of single units, drawn by their popularity, that find their entry in a cache of so many.
fn hit_ratio(popularity: &[f64], slots: usize, reads: usize) -> f64 {
    let mut stream = RandomStream::new(11, "test", "popularity");
    let sums: Vec<f64> = popularity
        .iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect();
    let unit = |at: f64| sums.partition_point(|sum| *sum < at).min(popularity.len() - 1) as u32;
    let requests: Vec<Request> = (0..reads).map(|_| read_at(0, unit(stream.unit()))).collect();
    let mut drive = entries(&format!("{}B", slots * 8));
    drive.limits.warmup_requests = (reads / 5) as u64;
    let (counters, _) = in_turn(&drive, requests);
    counters.hits as f64 / (counters.hits + counters.misses) as f64
}

#[test]
fn hit_ratios_are_those_of_king_and_of_che() {
    // Few units: exactly (King). 80,000 reads have a standard error below 0.002.
    let popularity = zipf(8, 1.0);
    for slots in [1, 2, 3, 5] {
        let (seen, expected) = (hit_ratio(&popularity, slots, 100_000), king_lru(&popularity, slots));
        assert!((seen - expected).abs() < 0.008, "{slots} entries: {seen}, King has {expected}");
    }
    // Many: Che's approximation.
    let popularity = zipf(UNITS as usize, 0.9);
    for slots in [16, 64, 256] {
        let (seen, expected) = (hit_ratio(&popularity, slots, 100_000), che_lru(&popularity, slots));
        assert!((seen - expected).abs() < 0.01, "{slots} entries: {seen}, Che has {expected}");
    }
    // All alike: the share that is in memory.
    let popularity = vec![1.0 / f64::from(UNITS); UNITS as usize];
    let seen = hit_ratio(&popularity, 128, 100_000);
    assert!((seen - 0.25).abs() < 0.008, "a quarter of the entries hits {seen}");
}

#[test]
fn a_read_takes_as_much_more_as_there_are_misses() {
    let mut stream = RandomStream::new(3, "test", "reads");
    let requests: Vec<Request> = (0..20_000).map(|_| read_at(0, stream.below(u64::from(UNITS)) as u32)).collect();
    let (counters, time) = in_turn(&entries("1KiB"), requests);
    // One command at a time: each takes a read, and one more for each that missed, to the nanosecond.
    assert_eq!(time, (counters.hits + 2 * counters.misses) * UNIT_READ);
}

#[test]
fn of_writes_alone_every_page_that_leaves_is_written() {
    let mut stream = RandomStream::new(5, "test", "writes");
    let requests: Vec<Request> = (0..5_000).map(|_| write_at(0, stream.below(u64::from(UNITS)) as u32)).collect();
    let (counters, _) = in_turn(&pages("1KiB"), requests);
    // Two pages of four are in memory: half of the writes miss, each of which pushes out a page that was written to.
    assert_eq!(counters.evictions, counters.misses - 2);
    // (One that comes back while it waits to be written, and is written then, may leave clean.)
    assert!(counters.dirty_evictions >= counters.evictions - 10, "{counters:?}");
    let misses = counters.misses as f64 / 5_000.0;
    assert!((misses - 0.5).abs() < 0.03, "{misses} of the writes miss");
}

#[test]
fn an_ideal_map_costs_nothing_and_every_policy_gives_one_run() {
    let ideal = Drive::with(|drive| drive.map = policy("ideal"));
    assert!(ideal.run(vec![write(0, 1)]).device.seen().mapping.is_none());
    for name in ["entries", "pages", "runs"] {
        for written in [true, false] {
            let told = json!({ "policy": name, "size": "1KiB", "written": written, "writes_wait": written });
            let mut drive = drive(&told);
            drive.prepared.truncate(400);
            let run = || drive.run(mixed_sectors(9, 2_000, drive.sectors(), 1, 50_000, 50));
            assert_eq!(run().device.digest().to_hex(), run().device.digest().to_hex(), "{name}");
            assert_eq!(map(&run()).pages_written > 0, written, "{name}");
        }
    }
}
