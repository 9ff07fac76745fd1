//! Zones in time, worked out by hand: what a write, an append, a read, a reset and a finish take, and what a zone refuses.

use crate::common::tiered::latencies;
use crate::common::{Bench, Prefill, at, closed, flush, open, read, slc, trim, write};
use ninescope_engine::Device;
use ninescope_ftl::{ZoneConfig, ZoneError, ZoneState};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{BlockGroup, Cause, Op, Remark, Request, ZoneCommand};

/// A page of flash: sensed, programmed, with 1000 ns of channel; a block erased [ns].
pub const SENSE: u64 = 100_000;
pub const PROGRAM: u64 = 1_001_000;
pub const ERASE: u64 = 2_600_000;
/// Sectors of a unit and of a page.
pub const UNIT: u32 = 8;
pub const PAGE: u32 = 32;

/// Two dies on two channels, of four blocks of four pages of four units: zones on so many dies each, of which so many are active.
pub fn zoned(dies_of_zone: u32, active: u32) -> Bench {
    let mut bench = Bench {
        channels: 2,
        blocks_per_plane: 4,
        pages_per_block: 4,
        prefill: Prefill::Nothing,
        timing: slc(SENSE, 1_000_000),
        ..Bench::tiny()
    };
    bench.timing.command_address = Ns::ZERO;
    bench.timing.channel_rate = Rate(16_384_000_000);
    let size = 16 * dies_of_zone;
    bench.zones = Some(ZoneConfig {
        pools: dies_of_zone,
        size,
        open: active,
        active,
        read_only: Vec::new(),
        offline: Vec::new(),
        zrwa: None,
    });
    bench
}

/// The first sector of a zone of two dies.
pub fn zone(number: u64) -> u64 {
    number * 256
}

pub fn asks(command: ZoneCommand, lba: u64) -> Request {
    Request { remark: command.into(), ..trim(lba, UNIT) }
}

pub fn append(lba: u64, sectors: u32) -> Request {
    Request { remark: Remark::Append, ..write(lba, sectors) }
}

pub fn errors(device: &Device) -> Vec<(&'static str, u64)> {
    let counts = device.seen().ftl.zones().expect("zones").counts().errors;
    let named = ZoneError::ALL.into_iter().map(|error| (error.name(), counts[error as usize]));
    named.filter(|(_, count)| *count > 0).collect()
}

pub fn states(device: &Device) -> Vec<ZoneState> {
    let zones = device.seen().ftl.zones().expect("zones");
    (0..zones.layout().zones()).map(|number| zones.zone(number).state).collect()
}

pub fn of(device: &Device, op: Op, cause: Cause) -> u64 {
    device.meter().ops[op as usize].attribution.total().of(cause)
}

#[test]
fn a_write_a_read_and_a_reset_take_what_their_dies_do() {
    let device = zoned(2, 4).run(open(vec![
        write(0, PAGE),
        // It is on the media by then; a quarter of the page crosses the channel.
        at(2_000_000, read(0, UNIT)),
        // Nothing is behind the write pointer.
        at(3_000_000, read(u64::from(PAGE), UNIT)),
        at(4_000_000, trim(0, 256)),
        at(7_000_000, read(0, UNIT)),
        // It is empty already.
        at(8_000_000, asks(ZoneCommand::Reset, 0)),
    ]));
    assert_eq!(latencies(&device), [0, SENSE + 250, 0, ERASE, 0, 0]);
    assert_eq!(of(&device, Op::Trim, Cause::DieErase), ERASE);
    let seen = device.seen();
    assert_eq!((seen.counters.group_erases, seen.counters.host_page_programs), (1, 1));
    assert_eq!(seen.ftl.group(BlockGroup(0)).erase_count, 1, "the block that was written");
    assert_eq!(states(&device), vec![ZoneState::Empty; 4]);
    assert!(errors(&device).is_empty());
}

#[test]
fn what_is_not_on_the_media_is_answered_by_the_controller() {
    // Half a page, and a page whose program is under way.
    let device = zoned(2, 4).run(open(vec![
        write(0, PAGE + 16),
        at(10, read(0, UNIT)),
        at(20, read(32, UNIT)),
        at(30, flush()),
    ]));
    assert_eq!(latencies(&device), [0, 0, 0, 0]);
    assert_eq!(device.counters().forwarded_units, 2);
    assert_eq!(device.counters().padded_pages, 0, "a FLUSH pads nothing");
}

#[test]
fn stripes_go_round_the_dies_of_a_zone() {
    // Four pages: two of each die, one after the other.
    let device = zoned(2, 4).run(open(vec![write(0, 4 * PAGE), at(10, asks(ZoneCommand::Finish, 0))]));
    // Each die has two more pages of padding behind them.
    assert_eq!(latencies(&device), [0, 4 * PROGRAM - 10]);
    assert_eq!(of(&device, Op::Trim, Cause::ProgramWait), 4 * PROGRAM - 10);
    let seen = device.seen();
    assert_eq!((seen.counters.host_page_programs, seen.counters.padded_pages), (8, 4));
    assert_eq!(seen.ftl.counters().padding_units, 16);
    assert_eq!(states(&device)[0], ZoneState::Full);
}

#[test]
fn an_empty_zone_is_finished_without_a_program() {
    let device =
        zoned(2, 4).run(open(vec![asks(ZoneCommand::Finish, zone(1)), at(10, asks(ZoneCommand::Reset, zone(1)))]));
    assert_eq!(latencies(&device), [0, 0]);
    assert_eq!((device.counters().host_page_programs, device.counters().group_erases), (0, 0));
}

#[test]
fn a_page_in_part_is_padded_by_a_finish_and_forgotten_by_a_reset() {
    // One unit of a page of the first die: its rest, three pages, and four of the other die.
    let device = zoned(2, 4).run(open(vec![write(0, UNIT), at(10, asks(ZoneCommand::Finish, 0))]));
    assert_eq!(latencies(&device), [0, 4 * PROGRAM]);
    assert_eq!(device.seen().ftl.counters().padding_units, 31);
    let device = zoned(2, 4).run(open(vec![write(0, UNIT), at(10, asks(ZoneCommand::Reset, 0))]));
    // It never came to the media: nothing is erased.
    assert_eq!(latencies(&device), [0, 0]);
    let seen = device.seen();
    assert_eq!((seen.counters.group_erases, seen.ftl.zones().expect("zones").counts().dropped_units), (0, 1));
}

#[test]
fn a_reset_waits_for_the_programs_and_reads_of_its_blocks() {
    let device = zoned(2, 4).run(open(vec![write(0, PAGE), at(1_000, asks(ZoneCommand::Reset, 0))]));
    assert_eq!(latencies(&device), [0, PROGRAM - 1_000 + ERASE]);
    let device = zoned(2, 4).run(open(vec![
        write(0, PAGE),
        at(2_000_000, read(0, UNIT)),
        at(2_000_001, asks(ZoneCommand::Reset, 0)),
    ]));
    assert_eq!(latencies(&device)[1..], [SENSE + 250, SENSE + 250 - 1 + ERASE][..]);
    // A write into it waits for the erase of its block.
    let device = zoned(2, 4).run(open(vec![
        write(0, PAGE),
        at(2_000_000, asks(ZoneCommand::Reset, 0)),
        at(2_000_001, write(0, PAGE)),
    ]));
    assert_eq!(latencies(&device)[1..], [ERASE, ERASE - 1]);
    assert_eq!(of(&device, Op::Write, Cause::AllocationStall), ERASE - 1);
}

#[test]
fn appends_in_flight_are_bound_by_dies_and_their_programs() {
    // One page of each die waits for its program: of N appends of a page the last one is taken in when the programs before it on its
    // die have ended, whatever is in flight.
    let last = |dies: u32, depth: u32, requests: Vec<Request>| {
        let mut bench = zoned(dies, 4);
        bench.engine.buffered_pages = 1;
        bench.limits.closed_queue_depth = depth;
        let device = bench.run(closed(requests));
        assert!(errors(&device).is_empty());
        device.seen().latest_completion.0
    };
    for depth in [2, 4, 8] {
        // A zone of both dies, then the next one: eight pages each.
        let appends = (0..16).map(|page| append(zone(page / 8), PAGE)).collect();
        assert_eq!(last(2, depth, appends), 7 * PROGRAM, "{depth} in flight");
        // A zone of one die takes as long for half as many.
        let appends = (0..4).map(|_| append(0, PAGE)).collect();
        assert_eq!(last(1, depth, appends), 3 * PROGRAM, "{depth} in flight");
        // Two of them side by side are both dies.
        let appends = (0..8).map(|page| append(page % 2 * 128, PAGE)).collect();
        assert_eq!(last(1, depth, appends), 3 * PROGRAM, "{depth} in flight");
    }
}

#[test]
fn appends_go_where_the_write_pointer_is_and_tell_where() {
    let requests = vec![append(zone(1), UNIT), at(10, append(zone(1), 2 * UNIT)), at(20, write(zone(1) + 24, UNIT))];
    let device = zoned(2, 4).run(open(requests));
    let addresses: Vec<u64> = device.seen().request_log.iter().map(|entry| entry.lba).collect();
    assert_eq!(addresses, [zone(1), zone(1) + 8, zone(1) + 24]);
    assert_eq!(device.seen().ftl.zones().expect("zones").zone(1).written, 4);
}

#[test]
fn zones_refuse_what_does_not_fit_their_state() {
    let mut bench = zoned(2, 2);
    let zones = bench.zones.as_mut().expect("zones");
    (zones.open, zones.read_only, zones.offline) = (1, vec![2], vec![3]);
    let requests = vec![
        write(8, UNIT),                    // not at the write pointer
        write(0, 257),                     // not of whole units
        write(0, 264),                     // beyond the zone
        write(zone(2), UNIT),              // read only
        write(zone(3), UNIT),              // offline
        read(zone(3), UNIT),               // the same
        read(zone(2), UNIT),               // which holds nothing
        asks(ZoneCommand::Open, 0),        // explicitly opened
        write(zone(1), UNIT),              // the host has the only open zone
        asks(ZoneCommand::Close, 0),       // closed, and active
        write(zone(1), UNIT),              // opened
        asks(ZoneCommand::Close, zone(1)), // two are active
        asks(ZoneCommand::Finish, 0),      // full
        write(0, UNIT),                    // full
        asks(ZoneCommand::Open, 0),        // full
        asks(ZoneCommand::Close, zone(3)), // offline
        trim(0, UNIT),                     // no zone
    ];
    let requests = (0..).zip(requests).map(|(number, request)| at(number * 10, request)).collect();
    let device = bench.run(open(requests));
    let expected = [
        ("boundary_error", 1),
        ("zone_is_full", 1),
        ("zone_is_read_only", 1),
        ("zone_is_offline", 2),
        ("invalid_write", 1),
        ("too_many_open_zones", 1),
        ("invalid_transition", 2),
        ("invalid_field", 2),
    ];
    assert_eq!(errors(&device), expected);
    assert_eq!(states(&device), [ZoneState::Full, ZoneState::Closed, ZoneState::ReadOnly, ZoneState::Offline]);
    // What is refused moves nothing.
    assert_eq!(device.meter().ops[Op::Write as usize].bytes, 4096);
}
