//! The controller's DRAM: who takes its bus for how long, worked out by hand; what a saturated bus lets through, and how long
//! arrivals of chance wait for it, against closed forms.

use ninescope_engine::{Device, DramConfig, DramCounters, LaneConfig, Plain, TransferTimes, WriteCompletion};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_model::{Arrival, Cause, Op, Request};
use ninescope_oracles::queueing::md1_mean_wait;
use serde_json::json;

use crate::common::statistics::{Poisson, STUDENT_99_9, batch_half_width, mean};
use crate::common::tiered::{TierBench, symmetric};
use crate::common::{at, open, read as sectors_read, write as sectors_write};
use crate::scenario::{
    COMMAND, Drive, Listed, Outcome, PAGE_PROGRAM, PROGRAM, READ, UNIT_READ, UNIT_TRANSFER, policy_with, read,
    read_units, sectors, write,
};

/// Row and column of an access [ns]; a byte takes 1 ns.
const ROW: u64 = 30;
/// A unit of 4 KiB, and a page of four, cross the bus [ns].
const UNIT: u64 = ROW + 4_096;
const PAGE: u64 = ROW + 4 * 4_096;
/// One entry of the map is looked up [ns].
const LOOK_UP: u64 = ROW + 4;

/// A DRAM with nothing in it.
fn dram() -> DramConfig {
    DramConfig {
        access: Ns(ROW),
        rate: Rate(1_000_000_000),
        times: TransferTimes::default(),
        in_turn: false,
        write_buffer: false,
        cut_through: false,
        read_data: false,
        map: false,
        cache: false,
    }
}

/// The default drive of scenes with a DRAM, filled.
fn drive(dram: DramConfig) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..24).collect();
        drive.dram = Some(dram);
    })
}

fn counted(run: &Outcome) -> DramCounters {
    *run.device.seen().dram.expect("a DRAM").counters()
}

// ---- scenes ----------------------------------------------------------------------------------------

#[test]
fn two_writes_that_meet_at_the_bus_follow_each_other() {
    let run = drive(DramConfig { write_buffer: true, ..dram() }).run(vec![write(0, 0), write(1_000, 1)]);
    // The second finds the first with 3,126 ns to go.
    assert_eq!([run.latency(0), run.latency(1)], [UNIT, UNIT - 1_000 + UNIT]);
    assert_eq!(run.parts(Op::Write), vec![(Cause::Dram, UNIT + UNIT - 1_000 + UNIT)]);
    let counters = counted(&run);
    assert_eq!((counters.writes_in, counters.pages_out, counters.waits, counters.bytes), (2, 0, 1, 8_192));
}

#[test]
fn a_page_leaves_dram_for_its_die_ahead_of_what_comes_in_later() {
    // The fourth unit fills the page: its die takes it up at once, and the page leaves while a fifth unit waits.
    let writes = (0..4).map(|unit| write(0, unit)).chain([write(4 * UNIT + 10, 4)]).collect();
    let run = drive(DramConfig { write_buffer: true, ..dram() }).run(writes);
    let latencies = [0, 1, 2, 3, 4].map(|id| run.latency(id));
    assert_eq!(latencies, [UNIT, 2 * UNIT, 3 * UNIT, 4 * UNIT, PAGE - 10 + UNIT]);
    assert_eq!((counted(&run).pages_out, counted(&run).bytes), (1, 5 * 4_096 + 16_384));
    // Its program has its channel when the page has left.
    assert_eq!(run.device.now(), Ns(4 * UNIT + PAGE + COMMAND + 4 * UNIT_TRANSFER + PROGRAM));
}

#[test]
fn read_data_go_in_and_out_and_meet_writes_on_the_way() {
    let both = DramConfig { write_buffer: true, read_data: true, ..dram() };
    let run = drive(both.clone()).run(vec![read(0, 0)]);
    assert_eq!(run.latency(0), UNIT_READ + 2 * UNIT);
    let parts = [(Cause::CommandArray, COMMAND + READ), (Cause::Transfer, UNIT_TRANSFER), (Cause::Dram, 2 * UNIT)];
    assert_eq!(run.parts(Op::Read), parts);
    // A write whose data come 1 us before those of the read: the read waits for what is left of it. A second write comes while
    // the read's data come in, and is before them on their way out.
    let run = drive(both).run(vec![read(0, 0), write(UNIT_READ - 1_000, 8), write(UNIT_READ + UNIT, 9)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [UNIT_READ + UNIT - 1_000 + UNIT + UNIT + UNIT, UNIT]);
    assert_eq!(run.latency(2), UNIT - 1_000 + UNIT);
    assert_eq!((counted(&run).reads_in, counted(&run).reads_out, counted(&run).waits), (1, 1, 3));
}

#[test]
fn what_the_write_buffer_holds_leaves_it_once() {
    // Unit 3 was written just now; unit 23 was never written, and is made up.
    let mut drive = drive(DramConfig { write_buffer: true, read_data: true, ..dram() });
    drive.prepared = (0..3).collect();
    let run = drive.run(vec![write(0, 3), read(10_000, 3), read(20_000, 23)]);
    assert_eq!([run.latency(1), run.latency(2)], [UNIT, 0]);
    assert_eq!(run.parts(Op::Read), vec![(Cause::Dram, UNIT)]);
    assert_eq!((counted(&run).reads_in, counted(&run).reads_out), (0, 1));
}

#[test]
fn an_entry_of_the_map_is_looked_up_and_a_page_of_it_comes_in() {
    // A row for each page of the map and 4 B for each unit: units 0 to 2 are told of by one page.
    let run = drive(DramConfig { map: true, ..dram() }).run(vec![read_units(0, 0, 3)]);
    assert_eq!(run.latency(0), ROW + 12 + COMMAND + READ + 3 * UNIT_TRANSFER);
    // Of a map in flash, what is missing is read and written to DRAM first.
    let mut cached = drive(DramConfig { map: true, ..dram() });
    cached.map = policy_with(&json!({ "policy": "entries", "size": "1KiB" }));
    cached.blocks = 16;
    let run = cached.run(vec![read(0, 0), read(1_000_000, 0)]);
    assert_eq!([run.latency(0), run.latency(1)], [LOOK_UP + UNIT_READ + UNIT + UNIT_READ, LOOK_UP + UNIT_READ]);
    let parts = run.parts(Op::Read);
    assert!(parts.contains(&(Cause::Dram, 2 * LOOK_UP)) && parts.contains(&(Cause::MappingRead, UNIT_READ + UNIT)));
    assert_eq!((counted(&run).map_look_ups, counted(&run).map_pages_in), (2, 1));
}

#[test]
fn nothing_in_dram_costs_nothing() {
    let requests = || vec![write(0, 0), read(10, 1), read(600_000, 0)];
    let (with, without) = (drive(dram()).run(requests()), Drive { dram: None, ..drive(dram()) }.run(requests()));
    assert_eq!([0, 1, 2].map(|id| with.latency(id)), [0, 1, 2].map(|id| without.latency(id)));
    assert_eq!(with.device.digest(), without.device.digest());
    assert_eq!(counted(&with), DramCounters::default());
}

#[test]
fn a_write_that_ends_with_its_program_was_in_dram_twice() {
    let mut drive = drive(DramConfig { write_buffer: true, ..dram() });
    drive.engine.write_completion = WriteCompletion::Program;
    // A second write comes 1 us before the first is in, and has the bus when the page of the first is to leave; its own page waits
    // for the die, which is not the bus.
    let run = drive.run(vec![write(0, 0), write(UNIT - 1_000, 8)]);
    let page_out = 2 * UNIT + PAGE;
    assert_eq!(run.latency(0), page_out + PAGE_PROGRAM);
    let ends = page_out + PAGE_PROGRAM;
    assert_eq!(run.completed_at(1), ends + PAGE + PAGE_PROGRAM);
    let in_dram: u64 =
        run.parts(Op::Write).iter().filter(|(cause, _)| *cause == Cause::Dram).map(|(_, time)| time).sum();
    assert_eq!(in_dram, page_out + 1_000 + UNIT + PAGE);
}

#[test]
fn what_is_cut_through_is_in_dram_once_beside_its_program() {
    let through = DramConfig { write_buffer: true, cut_through: true, ..dram() };
    // In the buffer at once, and complete when its data are in; the second waits for the bus as well.
    let run = drive(through.clone()).run(vec![write(0, 0), write(1_000, 1)]);
    assert_eq!([run.latency(0), run.latency(1)], [UNIT, UNIT - 1_000 + UNIT]);
    assert_eq!(run.parts(Op::Write), vec![(Cause::Dram, UNIT + UNIT - 1_000 + UNIT)]);
    // What ends at its program was in long before: the page is on its way to its die from the first instant on.
    let mut drive = drive(through.clone());
    drive.engine.write_completion = WriteCompletion::Program;
    let run = drive.run(vec![write(0, 0)]);
    assert_eq!(run.latency(0), PAGE_PROGRAM);
    assert!(run.parts(Op::Write).iter().all(|(cause, _)| *cause != Cause::Dram));
    assert_eq!((counted(&run).writes_in, counted(&run).pages_out, counted(&run).bytes), (1, 0, 4_096));
    // A bus on which it takes longer than its program is what it waits for.
    let slow = DramConfig { access: Ns(PAGE_PROGRAM + 1_000), ..through };
    drive.dram = Some(slow.clone());
    let run = drive.run(vec![write(0, 0)]);
    let crossing = PAGE_PROGRAM + 1_000 + slow.rate.burst(4_096).0;
    assert_eq!((run.latency(0), run.parts(Op::Write)), (crossing, vec![(Cause::Dram, crossing)]));
}

#[test]
fn what_is_cut_through_comes_in_as_it_gets_its_places() {
    // Three pages at once, and room for one that waits for its die: two others get their places when programs before them end, and
    // come in then.
    let mut drive = drive(DramConfig { write_buffer: true, cut_through: true, ..dram() });
    (drive.prepared, drive.engine.buffered_pages) = (Vec::new(), 1);
    let run = drive.run(vec![sectors(Op::Write, 0, 0, 12 * 8)]);
    assert_eq!((counted(&run).writes_in, counted(&run).bytes), (3, 12 * 4_096));
    assert_eq!(run.latency(0), 2 * PAGE_PROGRAM + PAGE);
    assert_eq!(run.parts(Op::Write), vec![(Cause::BufferStall, 2 * PAGE_PROGRAM), (Cause::Dram, PAGE)]);
}

#[test]
fn what_comes_in_takes_the_time_told_for_its_size() {
    // 100 ns for a unit, and 60 for a page: what is let in together is less.
    let times = TransferTimes::new(vec![(4_096, Ns(100)), (16_384, Ns(60))]);
    let run = drive(DramConfig { write_buffer: true, cut_through: true, times, ..dram() })
        .run(vec![write(0, 0), sectors(Op::Write, 1_000_000, 0, 4 * 8)]);
    assert_eq!([run.latency(0), run.latency(1)], [ROW + 100, ROW + 60]);
}

// ---- a cache on the same bus -----------------------------------------------------------------------

/// A cache whose slots are on the bus of DRAM: 100 ns for a sector, and 1,000 in its bank as on [`TierBench::round`].
fn cached(dram: DramConfig) -> TierBench {
    let rules = json!({ "policy": "wb", "migration": "background", "copy_reads": false });
    let mut bench = TierBench::round(&rules);
    (bench.times.0, bench.depth, bench.volatile) = (symmetric(1, 100), 8, true);
    bench.dram = Some(DramConfig { cache: true, access: Ns::ZERO, rate: Rate(5_120_000_000), ..dram });
    bench
}

#[test]
fn what_an_access_of_a_cache_takes_is_for_dram() {
    let device = cached(dram()).run(open(vec![sectors_write(0, 32)]));
    let parts = device.meter().ops[Op::Write as usize].attribution.total();
    assert_eq!((parts.total(), parts.of(Cause::Dram)), (32 * 100 + 32, 32 * 100 + 32));
}

#[test]
fn what_goes_below_a_cache_at_once_comes_into_dram_as_well() {
    // A page that is written the first time goes to flash at once, through the buffer; the second time it goes to its slot. Each
    // time its data cross the bus once, 32 sectors of 100 ns, and 32 ns more in the bank of a slot.
    let mut bench = cached(DramConfig { write_buffer: true, cut_through: true, ..dram() });
    bench.placement = policy_with(&json!({ "policy": "rewritten", "migration": "background" }));
    let requests = vec![sectors_write(0, 32), at(10_000, sectors_write(0, 32)), at(20_000, sectors_write(32, 16))];
    let device = bench.run(open(requests));
    assert_eq!(crate::common::tiered::latencies(&device)[..2], [3_200, 3_232]);
    let bus = *device.seen().dram.expect("a DRAM").counters();
    assert_eq!((bus.writes_in, bus.pages_out, bus.bytes), (2, 0, 48 * 512));
    // Without cutting through it is in before it goes to flash, and leaves for its die.
    let mut bench = cached(DramConfig { write_buffer: true, ..dram() });
    bench.placement = policy_with(&json!({ "policy": "rewritten", "migration": "background" }));
    let device = bench.run(open(vec![sectors_write(0, 32), at(10_000, sectors_write(0, 32))]));
    assert_eq!(crate::common::tiered::latencies(&device), [3_200, 3_232]);
    let bus = *device.seen().dram.expect("a DRAM").counters();
    assert_eq!((bus.writes_in, bus.pages_out, bus.bytes), (1, 1, 64 * 512));
    let parts = device.meter().ops[Op::Write as usize].attribution.total();
    assert_eq!(parts.of(Cause::Dram), 3_200 + 3_232);
}

#[test]
fn a_cache_and_what_passes_through_take_turns() {
    // Page 2 is read of flash and is in the controller after 101,000 ns. A write to the cache has the bus from 1,000 ns before
    // that on for 3,200 ns; the data of 16 KiB take as long.
    let ready = 100_000 + 1_000;
    let requests = || vec![sectors_read(2 * 32, 32), at(ready - 1_000, sectors_write(0, 32))];
    let device = cached(DramConfig { read_data: true, ..dram() }).run(open(requests()));
    let latencies = crate::common::tiered::latencies(&device);
    assert_eq!(latencies, [ready + 2_200 + 3_200 + 3_200, 3_200 + 32]);
    // A write that comes while the data come in waits for them, and the data on their way out for the write.
    let requests = vec![sectors_read(2 * 32, 32), at(ready + 1_000, sectors_write(0, 32))];
    let device = cached(DramConfig { read_data: true, ..dram() }).run(open(requests));
    let latencies = crate::common::tiered::latencies(&device);
    assert_eq!(latencies, [ready + 3_200 + 3_200 + 3_200, 2_200 + 3_200 + 32]);
    let parts = device.meter().ops[Op::Write as usize].attribution.total();
    assert_eq!(parts.of(Cause::Dram), 2_200 + 3_200 + 32);
}

// ---- closed forms ----------------------------------------------------------------------------------

#[test]
fn a_saturated_bus_lets_its_rate_through() {
    // Reads of one die go in and out: 4 KiB of 60 us, longer than the die takes for one. From the first data on the bus never
    // rests, and ends when all of them have crossed it twice.
    const REQUESTS: u64 = 500;
    let slow = DramConfig { read_data: true, access: Ns::ZERO, rate: Rate(4_096 * 1_000_000_000 / 60_000), ..dram() };
    let crossing = slow.rate.burst(4_096).0;
    for depth in [4, 32] {
        let mut drive = drive(slow.clone());
        drive.limits.closed_queue_depth = depth;
        let requests = (0..REQUESTS).map(|number| read(0, number % 24)).collect();
        let mut device = drive.device::<Plain>(Listed::boxed(requests, Arrival::Closed), ninescope_engine::NoProbe);
        device.run().expect("the run ends well");
        assert_eq!(device.now(), Ns(UNIT_READ + REQUESTS * 2 * crossing), "depth {depth}");
    }
}

#[test]
fn a_saturated_bus_carries_what_is_written_twice() {
    // 512 writes of 4 KiB come in, and leave in 128 pages, over four dies of which none is ever waited for. When the last write is
    // in, the last page of each die may still be there, and so are pages of up to seven writes that were in line before it.
    const REQUESTS: u64 = 512;
    let slow = DramConfig { write_buffer: true, rate: Rate(40_960_000), access: Ns::ZERO, ..dram() };
    let (unit, page) = (slow.rate.burst(4_096).0, slow.rate.burst(16_384).0);
    let mut drive = drive(slow.clone());
    (drive.logical_units, drive.prepared, drive.blocks, drive.dies_per_channel) = (600, Vec::new(), 64, 4);
    drive.limits.closed_queue_depth = 8;
    let requests = (0..REQUESTS).map(|number| write(0, number)).collect();
    let mut device = drive.device::<Plain>(Listed::boxed(requests, Arrival::Closed), ninescope_engine::NoProbe);
    device.run().expect("the run ends well");
    let last = device.seen().latest_completion.0;
    let crossed_pages = (last - REQUESTS * unit) / page;
    assert_eq!(last, REQUESTS * unit + crossed_pages * page, "the bus never rests");
    assert!((122..=127).contains(&crossed_pages), "{crossed_pages} pages");
}

/// What Poisson arrivals wait for DRAM, which has nothing to do but look up an entry each.
fn waits(rho: f64, requests: usize, service: u64) -> Vec<u32> {
    let mut drive = drive(DramConfig { map: true, access: Ns(service - 4), ..dram() });
    (drive.prepared, drive.engine.log_requests) = (Vec::new(), true);
    let mut arrivals = Poisson::new(5, service as f64 / rho);
    let mut units = RandomStream::new(5, "tests", "units");
    let listed: Vec<Request> = (0..requests).map(|_| read(arrivals.next(), units.below(24))).collect();
    let mut device: Device = drive.device(Listed::boxed(listed, Arrival::Open), ninescope_engine::NoProbe);
    device.run().expect("the run ends well");
    device.request_log().iter().map(|entry| (entry.latency.0 - service) as u32).collect()
}

#[test]
fn arrivals_of_chance_wait_at_dram_as_in_the_md1_queue() {
    const SERVICE: u64 = 1_000;
    for (rho, requests) in [(0.5, 400_000), (0.8, 1_200_000)] {
        let waits = waits(rho, requests, SERVICE);
        let (measured, expected) = (mean(&waits), md1_mean_wait(rho, SERVICE as f64));
        let half = batch_half_width(&waits, STUDENT_99_9);
        assert!(half < 0.1 * expected, "rho {rho}: {measured} +- {half}");
        assert!((measured - expected).abs() < half, "rho {rho}: {measured} +- {half}, expected {expected}");
    }
}

// ---- tenants ---------------------------------------------------------------------------------------

#[test]
fn who_waits_at_dram_is_told_for_whom() {
    let drive = drive(DramConfig { write_buffer: true, ..dram() });
    let (ftl, nand) = drive.parts();
    let lane = |requests: Vec<Request>| LaneConfig::new(Listed::boxed(requests, Arrival::Open), 8);
    let lanes = vec![lane(vec![write(0, 0)]), lane(vec![sectors(Op::Write, 1_000, 8, 8)])];
    let mut device: Device =
        Device::with_lanes(&drive.engine, &drive.limits, ftl, nand, lanes, ninescope_engine::NoProbe);
    device.set_dram(&drive.dram.expect("a DRAM"));
    device.run().expect("the run ends well");
    let of = |lane: usize| device.meter().lanes[lane].ops[Op::Write as usize].behind.total();
    let at = ninescope_engine::meter::SPLIT.iter().position(|cause| *cause == Cause::Dram).expect("it is split");
    let behind = |lane: usize| of(lane).behind.iter().map(|waits| waits[at]).collect::<Vec<_>>();
    assert_eq!((behind(0), behind(1)), (vec![0, 0, 0], vec![UNIT - 1_000, 0, 0]));
    assert_eq!(of(1).parts.of(Cause::Dram), UNIT - 1_000 + UNIT);
}
