//! Random write areas in time, worked out by hand: what is absorbed, what is committed and when, and what a zone with an area refuses.

use crate::common::tiered::latencies;
use crate::common::{Bench, at, closed, flush, open, read, write};
use crate::zones::{ERASE, PAGE, PROGRAM, SENSE, UNIT, append, asks, errors, of, states, zone, zoned};
use ninescope_engine::Device;
use ninescope_ftl::{ZoneState, ZrwaConfig, ZrwaCounts};
use ninescope_kernel::Rate;
use ninescope_model::{Cause, Op, Request, ZoneCommand};

/// The drive of the tests of zones, with areas of two pages that are committed by pages: two of them.
fn with_areas(dies_of_zone: u32) -> Bench {
    let mut bench = zoned(dies_of_zone, 4);
    bench.zones.as_mut().expect("zones").zrwa = Some(ZrwaConfig { size: 8, granularity: 4, zones: 2 });
    bench
}

/// A zone up to that unit is committed.
fn commit(zone: u64, units: u32) -> Request {
    Request { sectors: units * UNIT, ..asks(ZoneCommand::Commit, zone) }
}

fn counts(device: &Device) -> ZrwaCounts {
    *device.seen().ftl.zones().expect("zones").zrwa_counts()
}

fn unit(number: u64) -> u64 {
    number * u64::from(UNIT)
}

#[test]
fn what_lies_in_an_area_is_overwritten_and_read_there() {
    let mut requests = vec![asks(ZoneCommand::OpenZrwa, 0)];
    // Its second page before its first one, five times over.
    for turn in 0..5 {
        requests.push(at(10 + 2 * turn, write(u64::from(PAGE), PAGE)));
        requests.push(at(11 + 2 * turn, write(0, PAGE)));
    }
    requests.extend([at(30, read(0, PAGE)), at(31, flush()), at(40, read(unit(8), UNIT))]);
    let device = with_areas(2).run(open(requests));
    assert!(latencies(&device).iter().all(|&latency| latency == 0), "{:?}", latencies(&device));
    let expected = ZrwaCounts { written_units: 40, overwritten_units: 32, ..ZrwaCounts::default() };
    assert_eq!(counts(&device), expected);
    let seen = device.seen();
    assert_eq!((seen.counters.host_page_programs, seen.ftl.counters().host_units), (0, 0));
    assert_eq!((seen.counters.forwarded_units, seen.counters.unmapped_units), (4, 1));
    assert_eq!(seen.ftl.zones().expect("zones").zone(0).written, 0, "the write pointer rests");
    assert_eq!(seen.written().host, 40 * 4096);
}

#[test]
fn a_write_behind_the_area_commits_as_many_granules_as_it_takes() {
    let device = with_areas(2).run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        at(10, write(0, 2 * PAGE)),
        // One unit behind the area: a page of four is committed.
        at(20, write(unit(8), UNIT)),
        // Beside it, in the area by now.
        at(30, write(unit(9), 3 * UNIT)),
        // Five units behind it: two pages, of both dies.
        at(40, write(unit(12), 5 * UNIT)),
        at(5_000_000, read(unit(8), UNIT)),
        at(5_000_000, read(unit(13), UNIT)),
    ]));
    assert!(errors(&device).is_empty());
    assert_eq!(latencies(&device)[5..], [SENSE + 250, 0]);
    let expected = ZrwaCounts { written_units: 17, implicit_commits: 2, committed_units: 12, ..ZrwaCounts::default() };
    assert_eq!(counts(&device), expected);
    let seen = device.seen();
    assert_eq!((seen.counters.host_page_programs, seen.ftl.counters().padding_units), (3, 0));
    assert_eq!(seen.ftl.zones().expect("zones").zone(0).written, 12);
}

#[test]
fn a_write_waits_for_room_for_what_it_commits() {
    // One page of the die waits for its program: the fourth write commits the second page, which waits for the program of the first.
    let mut bench = with_areas(1);
    bench.engine.buffered_pages = 1;
    let pages = (0..4).map(|page| write(page * u64::from(PAGE), PAGE));
    let device = bench.run(closed(std::iter::once(asks(ZoneCommand::OpenZrwa, 0)).chain(pages).collect()));
    assert_eq!(latencies(&device), [0, 0, 0, 0, PROGRAM]);
    assert_eq!(of(&device, Op::Write, Cause::BufferStall), PROGRAM);
    assert_eq!(counts(&device).implicit_commits, 2);
}

#[test]
fn the_host_commits_and_what_nobody_wrote_is_padding() {
    let device = with_areas(2).run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        at(10, write(unit(5), UNIT)),
        at(20, commit(0, 8)),
        at(5_000_000, read(unit(5), UNIT)),
        at(5_000_000, read(unit(4), UNIT)),
        // The area goes on behind the write pointer.
        at(5_000_001, write(unit(15), UNIT)),
    ]));
    assert!(errors(&device).is_empty());
    assert_eq!(latencies(&device), [0, 0, 0, SENSE + 250, 0, 0]);
    let seen = device.seen();
    assert_eq!((seen.counters.host_page_programs, seen.counters.padded_pages), (2, 0));
    assert_eq!((seen.ftl.counters().host_units, seen.ftl.counters().padding_units), (1, 7));
    assert_eq!((counts(&device).implicit_commits, counts(&device).committed_units), (0, 1));
}

#[test]
fn a_zone_is_full_when_the_host_commits_its_end() {
    // Sixteen units of one die: eight are committed by writes, the area reaches to the end of the zone.
    let mut bench = with_areas(1);
    bench.engine.buffered_pages = 1;
    let device = bench.run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        write(0, 2 * PAGE),
        write(unit(8), 2 * PAGE),
        commit(0, 16),
        at(5_000_000, write(unit(15), UNIT)),
        at(5_000_000, asks(ZoneCommand::OpenZrwa, unit(16))),
        at(5_000_000, asks(ZoneCommand::OpenZrwa, unit(32))),
    ]));
    // The last of its four pages has a place when three programs have ended.
    assert_eq!(latencies(&device)[..4], [0, 0, PROGRAM, 3 * PROGRAM]);
    assert_eq!(errors(&device), [("zone_is_full", 1)], "and the area is free for another zone");
    assert_eq!(states(&device)[0], ZoneState::Full);
}

#[test]
fn a_finish_takes_along_what_an_area_holds_and_a_reset_forgets_it() {
    let device = with_areas(2).run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        at(10, write(unit(5), UNIT)),
        at(20, asks(ZoneCommand::Finish, 0)),
        at(20_000_000, read(unit(5), UNIT)),
    ]));
    // Four pages of each die, one after the other.
    assert_eq!(latencies(&device), [0, 0, 4 * PROGRAM, SENSE + 250]);
    assert_eq!((device.seen().ftl.counters().host_units, device.seen().ftl.counters().padding_units), (1, 31));
    let device = with_areas(2).run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        at(10, write(0, 2 * PAGE)),
        at(20, write(unit(8), UNIT)),
        at(5_000_000, asks(ZoneCommand::Reset, 0)),
        at(5_000_001, read(unit(6), UNIT)),
        at(5_000_002, asks(ZoneCommand::OpenZrwa, 0)),
        at(9_000_000, write(unit(4), UNIT)),
    ]));
    assert!(errors(&device).is_empty());
    assert_eq!(latencies(&device)[3..], [ERASE, 0, 0, 0], "an area needs no block");
    assert_eq!((counts(&device).dropped_units, device.seen().counters.unmapped_units), (5, 1));
    // What it holds waits for room as padding does: for the program of another zone's page on its die, and then for its own, one by one.
    let mut bench = with_areas(1);
    bench.engine.buffered_pages = 1;
    let device = bench.run(open(vec![
        write(0, PAGE),
        asks(ZoneCommand::OpenZrwa, unit(32)),
        at(10, write(unit(37), UNIT)),
        at(20, asks(ZoneCommand::Finish, unit(32))),
    ]));
    assert_eq!(latencies(&device), [0, 0, 0, 5 * PROGRAM - 20]);
    // One that holds nothing is finished without a program.
    let device = with_areas(2).run(open(vec![asks(ZoneCommand::OpenZrwa, 0), at(1, asks(ZoneCommand::Finish, 0))]));
    assert_eq!((latencies(&device), device.counters().host_page_programs), (vec![0, 0], 0));
}

#[test]
fn what_opens_and_commits_is_judged_where_it_came_among_writes() {
    // All at once, with a link on which the data of a write take time.
    let mut bench = with_areas(2);
    bench.engine.link_rate = Rate(1_000_000_000);
    let area = 2 * u64::from(PAGE) * 512;
    let device = bench.run(open(vec![
        asks(ZoneCommand::OpenZrwa, 0),
        write(0, 2 * PAGE),
        commit(0, 8),
        write(unit(8), 2 * PAGE),
        commit(0, 16),
        asks(ZoneCommand::Finish, zone(1)),
    ]));
    assert!(errors(&device).is_empty(), "{:?}", errors(&device));
    assert_eq!(latencies(&device), [0, area, area, 2 * area, 2 * area, 0]);
    assert_eq!(of(&device, Op::Trim, Cause::Ordering), 3 * area);
}

#[test]
fn areas_refuse_what_does_not_fit_them() {
    let requests = vec![
        asks(ZoneCommand::OpenZrwa, 0),
        asks(ZoneCommand::OpenZrwa, 0),       // not empty
        append(0, UNIT),                      // has an area
        write(unit(16), UNIT),                // behind the region of implicit commits
        write(0, 17 * UNIT),                  // beyond it
        write(unit(8), UNIT),                 // commits a page
        write(unit(3), UNIT),                 // before the write pointer
        commit(0, 4),                         // the same
        commit(0, 16),                        // beyond the area
        commit(0, 7),                         // no granule
        commit(zone(1), 4),                   // has none
        asks(ZoneCommand::OpenZrwa, zone(1)), // the second one
        asks(ZoneCommand::OpenZrwa, zone(2)), // there are two
        asks(ZoneCommand::Close, zone(1)),    // it keeps its area
        asks(ZoneCommand::OpenZrwa, zone(2)), // the same
        write(zone(1) + unit(7), UNIT),       // opened again
        asks(ZoneCommand::Reset, zone(1)),    // it gives its area back
        asks(ZoneCommand::OpenZrwa, zone(2)), // taken
        write(zone(3), UNIT),                 // without one
        asks(ZoneCommand::OpenZrwa, zone(3)), // not empty
        write(zone(3) + 1, UNIT),             // not of whole units
        Request { sectors: 1, ..commit(0, 8) },
    ];
    let requests = (0..).zip(requests).map(|(number, request)| at(number * 10, request)).collect();
    let device = with_areas(2).run(open(requests));
    let expected = [
        ("boundary_error", 2),
        ("invalid_write", 3),
        ("invalid_field", 3),
        ("zrwa_unavailable", 2),
        ("invalid_operation", 4),
    ];
    assert_eq!(errors(&device), expected);
    let expected =
        [ZoneState::ExplicitlyOpened, ZoneState::Empty, ZoneState::ExplicitlyOpened, ZoneState::ImplicitlyOpened];
    assert_eq!(states(&device), expected);
    // A drive that has no areas has no commands for them.
    let device = zoned(2, 4).run(open(vec![asks(ZoneCommand::OpenZrwa, 0), commit(0, 4)]));
    assert_eq!(errors(&device), [("invalid_operation", 2)]);
}
