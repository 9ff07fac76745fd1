//! Programs that fail: the page is programmed again elsewhere, its group is emptied and retired, and a drive without a place for
//! it answers with an error. All times by hand.

use ninescope_engine::{Dealing, Decision, Device, DramConfig, FirmwareConfig, TransferTimes, WriteCompletion};
use ninescope_ftl::policies::StreamChoiceConfig;
use ninescope_ftl::policies::stream_choice::fdp::{Fdp, Isolation};
use ninescope_ftl::{BreakdownConfig, GroupState, PlacementCounts};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{BlockGroup, Cause, Lpa, Op, Request};

use crate::common::{Bench, Prefill, closed, flush, generated, open, read, slc, write};

/// Command and address, the transfer of 16 KiB at 1 GB/s, and the program [ns].
const TRY: u64 = 300 + 16_384 + 200_000;

/// The tiny drive, empty, whose programs take 200 us and fail so often.
fn bench(program_failures: f64, seed: u64) -> Bench {
    let breakdown = BreakdownConfig {
        wear_out: None,
        program_failures,
        erase_failures: 0.0,
        rise: 1.0,
        rise_cycles: 1,
        factory_bad_blocks: 0.0,
        initial_cycles: 0,
    };
    let tiny = Bench::tiny();
    Bench {
        breakdown: Some(breakdown),
        timing: slc(50_000, 200_000),
        reserve_groups: 2,
        prefill: Prefill::Nothing,
        seed,
        ..tiny
    }
}

/// The same without a write buffer: a write takes as long as its program.
fn at_program(program_failures: f64, seed: u64) -> Bench {
    let mut bench = bench(program_failures, seed);
    bench.engine.write_completion = WriteCompletion::Program;
    bench
}

fn retired(device: &Device) -> usize {
    let ftl = device.seen().ftl;
    (0..ftl.geometry().groups()).filter(|&group| ftl.group(BlockGroup(group)).state == GroupState::Retired).count()
}

/// The run of the first seed with which exactly so many programs of these requests fail.
fn run_with_failures(failures: u64, run: impl Fn(u64) -> Device) -> Device {
    let found = (1..200).map(run).find(|device| device.seen().ftl.bad_blocks().program_failures == failures);
    found.expect("one of two hundred")
}

#[test]
fn a_write_whose_program_fails_once_takes_two_programs() {
    let device = run_with_failures(1, |seed| at_program(0.4, seed).run(open(vec![write(0, 32)])));
    let seen = device.seen();
    let meter = &seen.meter.ops[Op::Write as usize];
    assert_eq!(meter.latency.max(), 2 * TRY);
    let parts = meter.attribution.total();
    assert_eq!(parts.of(Cause::ProgramFailure), TRY, "until it was queued again");
    assert_eq!(parts.of(Cause::CommandArray), 200_300);
    assert_eq!(parts.of(Cause::Transfer), 16_384);
    assert_eq!(parts.total(), 2 * TRY);
    assert_eq!((seen.counters.pages_programmed_again, seen.counters.host_page_programs), (1, 2));
    assert_eq!(seen.ftl.counters().rewritten_units, 4);
    assert_eq!(seen.ftl.counters().programmed_units(), 8);
    assert_eq!(retired(&device), 1, "its group was empty");
    assert_eq!((0..4).filter(|&unit| !seen.ftl.is_in_flight(seen.ftl.translate(Lpa(unit)))).count(), 4);
}

#[test]
fn what_waits_behind_a_program_that_fails_goes_elsewhere_as_well() {
    // Four pages of a group wait for their die together. Whichever fails, those behind it are not programmed in its group.
    let requests = || closed(vec![write(0, 128)]);
    for seed in 1..60 {
        let device = at_program(0.2, seed).run(requests());
        let seen = device.seen();
        if seen.ftl.bad_blocks().program_failures != 1 {
            continue;
        }
        // The k-th of four fails: it and those behind it are queued again, and programmed once more.
        let again = seen.counters.pages_programmed_again;
        assert!((1..=4).contains(&again));
        assert_eq!(seen.counters.host_page_programs, 5, "one in vain");
        assert_eq!(seen.meter.ops[Op::Write as usize].latency.max(), 5 * TRY);
        assert_eq!(seen.ftl.counters().rewritten_units, 4, "the others were never programmed where they were");
        // What lay before it was moved, a page at a time, and the group is retired.
        assert_eq!(seen.counters.gc_page_programs, 4 - again);
        assert_eq!(retired(&device), 1);
        let places: Vec<_> = (0..16).map(|unit| seen.ftl.translate(Lpa(unit))).collect();
        let groups: Vec<_> = places.iter().map(|&place| seen.ftl.geometry().group_and_offset(place).0).collect();
        assert!(groups.iter().all(|&group| seen.ftl.group(group).state != GroupState::Retired), "{groups:?}");
        return;
    }
    panic!("one of sixty drives has one failure");
}

/// One core at 1 GHz that gives a page access to its die in so many nanoseconds.
fn scheduling(cycles: u32) -> FirmwareConfig {
    let mut firmware =
        FirmwareConfig { cores: 1, clock: Rate(1_000_000_000), dealing: Dealing::Shared, cycles: [0; 6] };
    firmware.cycles[Decision::Transaction as usize] = cycles;
    firmware
}

#[test]
fn a_program_is_scheduled_again_when_it_has_failed() {
    let device = run_with_failures(1, |seed| {
        let firmware = Some(FirmwareConfig { cycles: [500, 100, 150, 2_000, 0, 0], ..scheduling(0) });
        Bench { firmware, ..at_program(0.4, seed) }.run(open(vec![write(0, 32)]))
    });
    let meter = &device.seen().meter.ops[Op::Write as usize];
    // Taken up, and four units looked up and placed.
    let decided = 500 + 4 * (100 + 150);
    assert_eq!(meter.latency.max(), decided + 2 * (2_000 + TRY));
    let parts = meter.attribution.total();
    assert_eq!(parts.of(Cause::ProgramFailure), 2_000 + TRY, "from when it was to go to its die first");
    assert_eq!(parts.of(Cause::Firmware), decided + 2_000);
    assert_eq!(device.seen().firmware.expect("a core").counters().transactions, 2);
}

/// Programs that the firmware has not given to their die yet when one of their group fails do not go there.
#[test]
fn what_waits_for_the_firmware_behind_a_program_that_fails_goes_elsewhere_as_well() {
    let decision = 1_000_000;
    let mut seen_last = [false; 2];
    for seed in 1..200 {
        let mut bench = at_program(0.2, seed);
        bench.firmware = Some(scheduling(decision as u32));
        let device = bench.run(closed(vec![write(0, 128)]));
        let seen = device.seen();
        if seen.ftl.bad_blocks().program_failures != 1 {
            continue;
        }
        let again = seen.counters.pages_programmed_again;
        // The k-th of four, which was given to its die after k decisions: of the next one, which the core is at, nothing comes, and those
        // behind it are asked for anew. Behind the last one the core is at nothing.
        let failed = 5 - again;
        let is_last = failed == 4;
        let latency = if is_last { 5 * decision + 2 * TRY } else { 6 * decision + TRY };
        assert_eq!(seen.meter.ops[Op::Write as usize].latency.max(), latency, "number {failed}");
        assert_eq!(seen.counters.host_page_programs, 5, "one in vain");
        // What lies before it is read and written elsewhere.
        let moved = failed - 1;
        assert_eq!((seen.counters.gc_page_reads, seen.counters.gc_page_programs), (moved, moved));
        let decided = seen.firmware.expect("a core").counters().transactions;
        assert_eq!(decided, (failed + 1).min(4) + again + 2 * moved);
        assert_eq!(retired(&device), 1);
        seen_last[usize::from(is_last)] = true;
        if seen_last == [true; 2] {
            return;
        }
    }
    panic!("of two hundred drives one has a failure of the last page, and one of another: {seen_last:?}");
}

/// With every program failing the page goes from group to group, until none is free: there are sixteen.
#[test]
fn a_drive_without_a_place_for_a_page_answers_with_an_error_and_takes_no_more_writes() {
    let device = at_program(1.0, 1).run(closed(vec![write(0, 32), write(32, 32), flush(), read(0, 32)]));
    let seen = device.seen();
    assert!(seen.ftl.is_read_only());
    let writes = &seen.meter.ops[Op::Write as usize];
    assert_eq!(writes.latency.max(), 16 * TRY, "a try in each group");
    assert_eq!(writes.attribution.total().of(Cause::ProgramFailure), 16 * TRY);
    assert_eq!(writes.latency.count(), 2);
    assert_eq!((seen.counters.pages_kept, seen.counters.refused_commands), (1, 3), "two writes and the FLUSH");
    assert_eq!(seen.completed, 4);
    // What was written lies in the controller, and is read from there.
    assert_eq!(seen.meter.ops[Op::Read as usize].latency.max(), 0);
    assert_eq!(seen.counters.forwarded_units, 4);
}

// ---- placement handles -------------------------------------------------------------------------

/// The drive without a write buffer, with two handles of which one is isolated for good.
fn with_handles(program_failures: f64, seed: u64) -> Bench {
    let handles = vec![Isolation::InitiallyIsolated, Isolation::PersistentlyIsolated];
    // Each handle takes spare groups.
    let streams = StreamChoiceConfig::Fdp(Fdp { handles });
    Bench { streams, logical_percent: 25, ..at_program(program_failures, seed) }
}

fn by(handle: u8, request: Request) -> Request {
    Request { stream: handle, ..request }
}

fn placed(device: &Device) -> &PlacementCounts {
    device.seen().ftl.reclaim_units().expect("handles").counts()
}

#[test]
fn a_page_whose_program_fails_stays_with_its_handle() {
    let requests = || closed(vec![by(0, write(0, 32)), by(1, write(32, 32)), by(0, write(64, 32))]);
    let run = |seed| with_handles(0.3, seed).run(requests());
    let is_it = |device: &Device| {
        let failed = device.seen().ftl.bad_blocks().program_failures;
        failed == 1 && placed(device).handles[1].units.rewritten_units > 0
    };
    let device = (1..400).map(run).find(is_it).expect("one of four hundred");
    let seen = device.seen();
    assert_eq!(seen.meter.ops[Op::Write as usize].latency.max(), 2 * TRY);
    let [first, second] = [0, 1].map(|handle| placed(&device).handles[handle]);
    assert_eq!((first.units.begun, first.units.retired, first.units.rewritten_units), (1, 0, 0));
    // Its reclaim unit held nothing else, and is used no more; it refers to another.
    assert_eq!((second.units.begun, second.units.retired, second.units.rewritten_units), (2, 1, 4));
    assert_eq!((first.host_units, second.host_units), (8, 4), "the host wrote all of it once");
    assert_eq!(retired(&device), 1);
    let group_of = |unit| seen.ftl.geometry().group_and_offset(seen.ftl.translate(Lpa(unit))).0;
    assert!(group_of(0) == group_of(8) && group_of(0) != group_of(4), "they lie apart");
}

#[test]
fn writes_by_handles_are_refused_when_no_reclaim_unit_is_left() {
    let requests = vec![by(0, write(0, 32)), by(1, write(32, 32)), by(7, write(64, 32)), flush(), read(0, 32)];
    let device = with_handles(1.0, 1).run(closed(requests));
    let seen = device.seen();
    assert!(seen.ftl.is_read_only());
    let writes = &seen.meter.ops[Op::Write as usize];
    assert_eq!((writes.latency.count(), writes.latency.max()), (3, 16 * TRY), "a try in each reclaim unit");
    assert_eq!((seen.counters.pages_kept, seen.counters.refused_commands), (1, 4), "three writes and the FLUSH");
    let [first, second] = [0, 1].map(|handle| placed(&device).handles[handle]);
    assert_eq!((first.units.begun, first.units.rewritten_units), (16, 15 * 4));
    assert_eq!(first.units.retired, retired(&device) as u64);
    // What is refused is written by no handle.
    assert_eq!((second.host_units, second.units.begun, placed(&device).invalid_identifiers), (0, 0, 0));
    assert_eq!(seen.counters.forwarded_units, 4);
}

/// Of a write of two pages one has its place in the buffer, as the first program has ended, when a drive is read-only whose programs fail
/// all from then on: it ends with what of it comes into DRAM, and its time until its turn is told as well.
#[test]
fn a_write_of_which_a_part_is_refused_ends_with_the_part_that_comes_in() {
    // A byte takes 1 us: long after the last try.
    let page = 16_384 * 1_000;
    let dram = DramConfig {
        access: Ns::ZERO,
        rate: Rate(1_000_000),
        times: TransferTimes::default(),
        in_turn: false,
        write_buffer: true,
        cut_through: true,
        read_data: false,
        map: false,
        cache: false,
    };
    let run = |seed| {
        let mut bench = bench(0.9, seed);
        bench.engine.buffered_pages = 1;
        let mut device = bench.device(open(vec![write(0, 32), write(32, 64)]));
        device.set_dram(&dram);
        device.run().expect("the run ends well");
        device
    };
    let is_it = |device: &Device| {
        let dram = device.seen().dram.expect("a DRAM").counters();
        dram.writes_in == 2 && device.seen().counters.refused_commands == 1
    };
    let device = (1..200).map(run).find(is_it).expect("one of two hundred");
    let writes = &device.seen().meter.ops[Op::Write as usize];
    // Each page crosses the bus, the first one from 0 on.
    assert_eq!(writes.latency.max(), 2 * page);
    let parts = writes.attribution.total();
    let waited = parts.of(Cause::BufferStall);
    assert!(waited >= TRY && waited.is_multiple_of(TRY), "{waited}");
    assert_eq!(parts.of(Cause::Dram), page + 2 * page - waited);
}

/// Of many programs, those that are repeated included, as many fail as the chance says: five standard deviations.
#[test]
fn programs_fail_as_often_as_they_are_told_to() {
    let chance = 0.000_5;
    let mut bench = bench(chance, 9);
    (bench.blocks_per_plane, bench.logical_percent) = (512, 40);
    bench.prefill = Prefill::Sequential;
    let units = u64::from(bench.logical_units());
    let mut stream = ninescope_kernel::RandomStream::new(9, "tests", "writes");
    let mut left = 60_000;
    let device = bench.run(generated(ninescope_model::Arrival::Closed, move || {
        left -= 1;
        (left >= 0).then(|| write(stream.below(units) * 8, 8))
    }));
    let seen = device.seen();
    let pages = (seen.counters.host_page_programs + seen.counters.gc_page_programs) as f64;
    let failed = seen.ftl.bad_blocks().program_failures as f64;
    let (expected, deviation) = (pages * chance, (pages * chance * (1.0 - chance)).sqrt());
    assert!(expected > 5.0 && (failed - expected).abs() < 5.0 * deviation, "{failed} of {pages} for {expected}");
    assert_eq!(retired(&device) as u64, seen.ftl.bad_blocks().program_failures, "each group was emptied and retired");
    assert!(seen.counters.pages_programmed_again as f64 >= failed);
    assert!(!seen.ftl.is_read_only() && seen.counters.refused_commands == 0);
}
