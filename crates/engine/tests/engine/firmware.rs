//! Cores of the firmware: what each decision takes and who waits for it, worked out by hand; what cores let through that never rest,
//! and how long arrivals of chance wait for them, against closed forms.

use ninescope_engine::{
    Dealing, Decision, Device, FirmwareConfig, FirmwareCounters, NoProbe, Plain, Utilization, WriteCompletion,
};
use ninescope_ftl::{ZoneConfig, ZoneState, ZrwaConfig};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::nand::CommandKind;

use ninescope_model::{Arrival, Cause, Op, Request, ZoneCommand};
use ninescope_oracles::queueing::{md1_mean_wait, mdc_mean_wait};

use crate::common::statistics::{Poisson, STUDENT_99_9, batch_half_width, mean};
use crate::common::tiered::latencies;
use crate::common::{Bench, at, open};
use crate::scenario::{
    COMMAND, Drive, Listed, Outcome, PAGE_PROGRAM, READ, UNIT_READ, UNIT_TRANSFER, flush, mixed_requests, read,
    read_units, sectors, trim, write, write_units,
};
use crate::zones::{self, ERASE, PAGE, PROGRAM, SENSE, UNIT, append, asks, errors, of, zoned};

/// Cycles of each decision, which take as many nanoseconds.
const TAKE_UP: u32 = 500;
const LOOK_UP: u32 = 100;
const ALLOCATE: u32 = 150;
const SCHEDULE: u32 = 200;
const CHOOSE: u32 = 10_000;
const MOVE: u32 = 70;

/// One core at 1 GHz.
fn firmware() -> FirmwareConfig {
    let cycles = [TAKE_UP, LOOK_UP, ALLOCATE, SCHEDULE, CHOOSE, MOVE];
    FirmwareConfig { cores: 1, clock: Rate(1_000_000_000), dealing: Dealing::Shared, cycles }
}

/// The same with one decision that takes time.
fn only(decision: Decision, cycles: u32) -> FirmwareConfig {
    let mut config = FirmwareConfig { cycles: [0; 6], ..firmware() };
    config.cycles[decision as usize] = cycles;
    config
}

/// The default drive of scenes with cores, filled.
fn drive(firmware: FirmwareConfig) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..24).collect();
        drive.firmware = Some(firmware);
    })
}

fn counted(run: &Outcome) -> FirmwareCounters {
    *run.device.seen().firmware.expect("cores").counters()
}

fn used(mut run: Outcome) -> Utilization {
    run.device.utilization()
}

const fn ns(cycles: u32) -> u64 {
    cycles as u64
}

// ---- scenes ----------------------------------------------------------------------------------------

#[test]
fn an_idle_drive_adds_the_cycles_of_its_decisions() {
    let requests = vec![
        read_units(0, 0, 3),
        write_units(1_000_000, 4, 2),
        trim(2_000_000, 8),
        flush(3_000_000),
        read(9_000_000, 8),
    ];
    let run = drive(firmware()).run(requests);
    let [of_read, of_write, of_trim] =
        [ns(TAKE_UP + 3 * LOOK_UP + SCHEDULE), ns(TAKE_UP + 2 * LOOK_UP + 2 * ALLOCATE), ns(TAKE_UP + LOOK_UP)];
    assert_eq!(run.latency(0), of_read + COMMAND + READ + 3 * UNIT_TRANSFER);
    assert_eq!([1, 2].map(|id| run.latency(id)), [of_write, of_trim]);
    // A FLUSH waits for its program, and calls it that.
    assert_eq!(run.latency(3), ns(TAKE_UP + SCHEDULE) + PAGE_PROGRAM);
    assert_eq!(
        run.parts(Op::Flush),
        [(Cause::ProgramWait, ns(SCHEDULE) + PAGE_PROGRAM), (Cause::Firmware, ns(TAKE_UP))]
    );
    // What is not there is found out, and nothing is asked of a die.
    assert_eq!(run.latency(4), ns(TAKE_UP + LOOK_UP));
    assert_eq!(run.parts(Op::Write), [(Cause::Firmware, of_write)]);
    assert_eq!(run.parts(Op::Trim), [(Cause::Firmware, of_trim)]);
    let expected = FirmwareCounters { commands: 5, look_ups: 4, allocations: 1, transactions: 2, ..Default::default() };
    assert_eq!(counted(&run), expected);
}

#[test]
fn whoever_comes_later_waits_for_a_core_and_not_for_two() {
    let requests = || vec![trim(0, 0), trim(100, 1), trim(150, 2)];
    let of_one = ns(TAKE_UP + LOOK_UP);
    // The look-ups of all queue behind what was asked for before them.
    let run = drive(firmware()).run(requests());
    let ends = [TAKE_UP * 3 + LOOK_UP, TAKE_UP * 3 + 2 * LOOK_UP, TAKE_UP * 3 + 3 * LOOK_UP].map(ns);
    assert_eq!([0, 1, 2].map(|id| run.completed_at(id)), ends);
    assert_eq!(counted(&run).waits, 5);
    let run = drive(FirmwareConfig { cores: 3, ..firmware() }).run(requests());
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [of_one; 3]);
    assert_eq!(counted(&run).waits, 0);
    // By role the map has a core of its own: the first is looked up while the second is taken up.
    let run = drive(FirmwareConfig { cores: 4, dealing: Dealing::ByRole, ..firmware() }).run(requests());
    assert_eq!([0, 1, 2].map(|id| run.completed_at(id)), [1, 2, 3].map(|nth| ns(nth * TAKE_UP + LOOK_UP)));
    let busy = used(run).cores;
    assert_eq!(busy, [3 * TAKE_UP, 3 * LOOK_UP, 0, 0].map(|time| Ns(ns(time))));
}

#[test]
fn a_write_that_ends_with_its_program_waits_for_its_scheduling() {
    let mut drive = drive(firmware());
    drive.engine.write_completion = WriteCompletion::Program;
    let run = drive.run(vec![write(0, 0)]);
    let decisions = ns(TAKE_UP + LOOK_UP + ALLOCATE + SCHEDULE);
    assert_eq!(run.latency(0), decisions + PAGE_PROGRAM);
    assert!(run.parts(Op::Write).contains(&(Cause::Firmware, decisions)), "{:?}", run.parts(Op::Write));
}

#[test]
fn the_rest_of_a_unit_is_scheduled_before_it_is_read() {
    let run = drive(firmware()).run(vec![sectors(Op::Write, 0, 1, 1)]);
    let decisions = ns(TAKE_UP + LOOK_UP + ALLOCATE + SCHEDULE);
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ), (Cause::Firmware, decisions)]);
}

#[test]
fn the_planes_of_a_stripe_are_one_decision() {
    let mut drive = drive(only(Decision::Transaction, SCHEDULE));
    (drive.planes, drive.frontier_planes, drive.logical_units) = (2, 2, 48);
    let run = drive.run(vec![write_units(0, 0, 8)]);
    let programs = run.issued(CommandKind::Program);
    let (at, command) = programs.first().expect("a program");
    assert_eq!((*at, command.plane_count(), programs.len()), (ns(SCHEDULE), 2, 1));
    assert_eq!(counted(&run).transactions, 1);
}

#[test]
fn a_victim_is_chosen_and_a_unit_moved_when_a_core_has_had_time() {
    let run_of = |firmware: Option<FirmwareConfig>| {
        let mut drive = Drive::busy();
        drive.prepared = (0..drive.logical_units).collect();
        drive.firmware = firmware;
        drive.run(mixed_requests(3, 6_000, drive.logical_units, 60_000, 20))
    };
    let run = run_of(Some(firmware()));
    let (counters, ftl) = (counted(&run), *run.device.ftl().counters());
    assert!(ftl.gc_victims > 20 && ftl.moves_completed > 100, "{ftl:?}");
    // One that was decided on at the end may not have been wanted any more.
    let pools = u64::from(run.device.ftl().geometry().pools());
    assert!((ftl.gc_victims..=ftl.gc_victims + pools).contains(&counters.victims), "{counters:?}, {ftl:?}");
    assert_eq!(counters.moves, run.device.counters().gc_page_reads);
    assert_eq!(counters.commands, 6_000);
    // Where all of it takes no time, nothing changes.
    let (idle, without) = (run_of(Some(FirmwareConfig { cycles: [0; 6], ..firmware() })), run_of(None));
    assert_eq!(idle.device.digest(), without.device.digest());
    assert_eq!(counted(&idle), FirmwareCounters::default());
}

// ---- zones -----------------------------------------------------------------------------------------

/// Zones of two dies, and areas of two pages that are committed by pages.
fn zoned_with(cores: u32) -> Bench {
    let mut bench = zoned(2, 4);
    bench.firmware = Some(FirmwareConfig { cores, ..firmware() });
    bench.zones =
        bench.zones.map(|zones| ZoneConfig { zrwa: Some(ZrwaConfig { size: 8, granularity: 4, zones: 2 }), ..zones });
    bench
}

fn whole(lba: u64, sectors: u32) -> Request {
    crate::common::write(lba, sectors)
}

fn of_cores(device: &Device) -> FirmwareCounters {
    *device.seen().firmware.expect("cores").counters()
}

/// What a write, a read of one zone, and a command that manages a zone have decided about them.
const OF_WRITE: u64 = ns(TAKE_UP + LOOK_UP + ALLOCATE);
const OF_READ: u64 = ns(TAKE_UP + LOOK_UP + SCHEDULE);
const OF_ZONE: u64 = ns(TAKE_UP + LOOK_UP);

#[test]
fn commands_of_zones_take_their_decisions() {
    let second = zones::zone(1);
    let device = zoned_with(1).run(open(vec![
        // Each a page, of one die and of the other: however long, its zone is looked up once and has one place for it.
        whole(0, PAGE),
        at(2_000_000, append(0, PAGE)),
        at(4_000_000, crate::common::read(0, UNIT)),
        // Two zones, neither of which holds anything there.
        at(5_000_000, crate::common::read(second - u64::from(UNIT), 2 * UNIT)),
        // The erases of two dies are two decisions.
        at(6_000_000, crate::common::trim(0, 256)),
        at(9_000_000, asks(ZoneCommand::Open, second)),
        at(9_100_000, asks(ZoneCommand::Close, second)),
        // Not at the write pointer, and no zone at all.
        at(9_200_000, whole(second + 8, UNIT)),
        at(9_300_000, crate::common::trim(second, UNIT)),
        at(9_400_000, crate::common::flush()),
    ]));
    let of_reset = OF_ZONE + ns(2 * SCHEDULE) + ERASE;
    let of_two_zones = ns(TAKE_UP + 2 * LOOK_UP);
    let expected = [
        OF_WRITE,
        OF_WRITE,
        OF_READ + SENSE + 250,
        of_two_zones,
        of_reset,
        OF_ZONE,
        OF_ZONE,
        OF_WRITE,
        OF_ZONE,
        ns(TAKE_UP),
    ];
    assert_eq!(latencies(&device), expected);
    assert_eq!(errors(&device), [("invalid_write", 1), ("invalid_field", 1)]);
    assert_eq!(of(&device, Op::Write, Cause::Firmware), 3 * OF_WRITE);
    assert_eq!(of(&device, Op::Read, Cause::Firmware), OF_READ + of_two_zones);
    // A reset waits for its erases, and calls it that.
    assert_eq!(of(&device, Op::Trim, Cause::Firmware), 4 * OF_ZONE);
    assert_eq!(of(&device, Op::Trim, Cause::DieErase), ns(2 * SCHEDULE) + ERASE);
    let counted = of_cores(&device);
    // Programs, the read that finds something, and two erases.
    let expected =
        FirmwareCounters { commands: 10, look_ups: 9, allocations: 3, transactions: 5, waits: 1, ..Default::default() };
    assert_eq!(counted, expected);
    // A second core has the second erase decided beside the first.
    let device = zoned_with(2).run(open(vec![whole(0, 2 * PAGE), at(6_000_000, crate::common::trim(0, 256))]));
    assert_eq!(latencies(&device), [OF_WRITE, OF_ZONE + ns(SCHEDULE) + ERASE]);
}

#[test]
fn a_program_of_a_zone_that_is_finished_or_reset_is_scheduled_first() {
    // One unit: the rest of its zone is padded, eight pages in all, of which each die has four. All are given to their dies before the
    // first program ends, one after the other: the last die to be told is told its last page long before it is its turn.
    let device = zoned_with(1).run(open(vec![whole(0, UNIT), at(10_000, asks(ZoneCommand::Finish, 0))]));
    assert_eq!(latencies(&device)[1], OF_ZONE + ns(2 * SCHEDULE) + 4 * PROGRAM);
    assert_eq!(of(&device, Op::Trim, Cause::ProgramWait), ns(2 * SCHEDULE) + 4 * PROGRAM);
    // The reset comes while the firmware is at the program: that goes on, and the erase comes behind it.
    let device = zoned_with(1).run(open(vec![whole(0, PAGE), at(OF_WRITE + 10, asks(ZoneCommand::Reset, 0))]));
    let program_ends = OF_WRITE + ns(SCHEDULE) + PROGRAM;
    assert_eq!(latencies(&device)[1], program_ends + ns(SCHEDULE) + ERASE - OF_WRITE - 10);
    assert_eq!(of(&device, Op::Trim, Cause::Firmware), OF_ZONE + ns(SCHEDULE) - 10);
    assert_eq!(of_cores(&device).transactions, 2);
}

#[test]
fn areas_and_commits_keep_their_order_whatever_is_decided_when() {
    // All at once, on one core and on three: the area is opened, filled, committed in part, and written behind; what came first is
    // judged first.
    for cores in [1, 3] {
        let device = zoned_with(cores).run(open(vec![
            asks(ZoneCommand::OpenZrwa, 0),
            whole(0, PAGE),
            Request { sectors: PAGE, ..asks(ZoneCommand::Commit, 0) },
            whole(u64::from(PAGE), 2 * PAGE),
            // Of the page that was committed nothing is written again.
            whole(0, UNIT),
        ]));
        assert_eq!(errors(&device), [("invalid_write", 1)], "{cores} cores");
        let seen = device.seen();
        let zones = seen.ftl.zones().expect("zones");
        assert_eq!((zones.zone(0).written, zones.zrwa_counts().written_units), (4, 12));
        assert_eq!((zones.zone(0).state, seen.counters.host_page_programs), (ZoneState::ExplicitlyOpened, 1));
        // A commit chooses a place, too.
        let counted = of_cores(&device);
        assert_eq!((counted.look_ups, counted.allocations, counted.transactions), (5, 4, 1));
    }
    // Alone each takes what is decided about it.
    let alone = vec![
        asks(ZoneCommand::OpenZrwa, 0),
        at(1_000, whole(0, PAGE)),
        at(2_000, Request { sectors: PAGE, ..asks(ZoneCommand::Commit, 0) }),
    ];
    assert_eq!(latencies(&zoned_with(1).run(open(alone))), [OF_ZONE, OF_WRITE, OF_WRITE]);
}

// ---- closed forms ----------------------------------------------------------------------------------

/// Requests per second of reads of one unit each that come as soon as others are through, on sixteen dies, and how busy the cores
/// were.
fn saturated(firmware: FirmwareConfig) -> (f64, Vec<f64>) {
    let mut drive = drive(firmware);
    (drive.channels, drive.dies_per_channel, drive.logical_units) = (4, 4, 384);
    drive.prepared = (0..384).collect();
    drive.limits.closed_queue_depth = 256;
    let requests = (0..20_000).map(|number| read(0, number * 4 % 384)).collect();
    let mut device = drive.device::<Plain>(Listed::boxed(requests, Arrival::Closed), NoProbe);
    device.run().expect("the run ends well");
    let used = device.utilization();
    let elapsed = used.elapsed.0 as f64;
    (20_000.0 * 1e9 / elapsed, used.cores.iter().map(|busy| busy.0 as f64 / elapsed).collect())
}

#[test]
fn cores_that_never_rest_let_their_cycles_through() {
    // IOPS = cores x clock / cycles of a request.
    let cycles = [5_000, 3_000, 0, 2_000, 0, 0];
    for (cores, clock) in [(1, 1_000_000_000), (2, 500_000_000), (2, 1_000_000_000)] {
        let (measured, busy) = saturated(FirmwareConfig { cores, clock: Rate(clock), cycles, ..firmware() });
        let expected = f64::from(cores) * clock as f64 / 10_000.0;
        // All but the last requests, which leave the cores before they leave their dies.
        assert!((measured / expected - 1.0).abs() < 0.005, "{cores} at {clock}: {measured}, expected {expected}");
        assert!(busy.iter().all(|share| *share > 0.99), "{busy:?}");
    }
    // By role the busiest core says how many there are, and the others rest: 5,000, 3,000 and 2,000 cycles.
    let by_role = FirmwareConfig { cores: 4, dealing: Dealing::ByRole, cycles, ..firmware() };
    let (measured, busy) = saturated(by_role);
    assert!((measured / 200_000.0 - 1.0).abs() < 0.005, "{measured}");
    for (busy, expected) in busy.iter().zip([1.0, 0.6, 0.4, 0.0]) {
        assert!((busy - expected).abs() < 0.01, "{busy}, expected {expected}");
    }
}

/// What Poisson arrivals wait for cores that have nothing to do but take commands up.
fn waits(firmware: FirmwareConfig, rho: f64, requests: usize) -> Vec<u32> {
    let service = firmware.time(Decision::Command, 1).0 + firmware.time(Decision::LookUp, 1).0;
    let mut drive = drive(firmware);
    (drive.prepared, drive.engine.log_requests) = (Vec::new(), true);
    let gap = firmware.time(Decision::Command, 1).0 as f64
        / rho
        / f64::from(if firmware.dealing == Dealing::ByRole { 1 } else { firmware.cores });
    let mut arrivals = Poisson::new(5, gap);
    let mut units = RandomStream::new(5, "tests", "units");
    let listed: Vec<Request> = (0..requests).map(|_| read(arrivals.next(), units.below(24))).collect();
    let mut device: Device = drive.device(Listed::boxed(listed, Arrival::Open), NoProbe);
    device.run().expect("the run ends well");
    device.request_log().iter().map(|entry| (entry.latency.0 - service) as u32).collect()
}

fn compare(waits: &[u32], expected: f64, what: &str) {
    let (measured, half) = (mean(waits), batch_half_width(waits, STUDENT_99_9));
    assert!(half < 0.1 * expected, "{what}: {measured} +- {half}");
    assert!((measured - expected).abs() < half, "{what}: {measured} +- {half}, expected {expected}");
}

#[test]
fn arrivals_of_chance_wait_for_cores_as_in_the_mdc_queue() {
    let of_cores = |cores| FirmwareConfig { cores, ..only(Decision::Command, 1_000) };
    for (rho, requests) in [(0.5, 400_000), (0.8, 1_200_000)] {
        compare(&waits(of_cores(1), rho, requests), md1_mean_wait(rho, 1_000.0), &format!("one core at {rho}"));
        compare(&waits(of_cores(3), rho, requests), mdc_mean_wait(3, rho, 1_000.0), &format!("three cores at {rho}"));
    }
    // A core of its own for look-ups that take no longer: what has left the first core does not wait for the second.
    let mut tandem = FirmwareConfig { cores: 2, dealing: Dealing::ByRole, ..of_cores(2) };
    tandem.cycles[Decision::LookUp as usize] = 900;
    compare(&waits(tandem, 0.5, 400_000), md1_mean_wait(0.5, 1_000.0), "two roles");
}
