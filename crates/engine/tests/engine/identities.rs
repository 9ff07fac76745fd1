//! What must hold exactly: latencies as sums of configured stages, bandwidth as the slowest part, ledgers
//! that add up, and runs that relate to each other as their configurations do.
//!
//! Expected times are written out by hand from these parts: a command costs [`COST`] in the controller, the
//! channel moves 1 B/ns, the link [`LINK`], a page is 16 KiB, a unit 4 KiB, command and address take 300 ns a
//! plane, and the three page types read in 34, 52 and 61 us and program in 250, 400 and 610 us.

use crate::common::{Bench, Prefill, at, closed, flush, open, read, slc, timing, trim, write};
use ninescope_engine::meter::DieLedger;
use ninescope_engine::{
    Device, Event, NoProbe, OnHeap, Probe, RequestLogEntry, SimulationError, SuspendPolicyConfig,
    TransactionSchedulerConfig, View, Watched, WriteCompletion,
};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::nand::{CommandKind, NandTiming};
use ninescope_model::{Arrival, Cause, Occupancy, Op, Request};
use ninescope_oracles::peak_bandwidth::{DriveRates, PeakBandwidth};

const COST: u64 = 1_000;
/// Bytes per second over the link: 2 B/ns.
const LINK: u64 = 2_000_000_000;
const COMMAND: u64 = 300;
const READ: [u64; 3] = [34_000, 52_000, 61_000];
const PROGRAM: [u64; 3] = [250_000, 400_000, 610_000];
/// A page and a unit on the channel, at 1 B/ns.
const PAGE: u64 = 16_384;
const UNIT: u64 = 4_096;

/// Sectors of a page and of a unit.
const PAGE_SECTORS: u64 = 32;
const UNIT_SECTORS: u64 = 8;

/// The tiny drive with a controller and a link that take time.
fn staged() -> Bench {
    let mut bench = Bench::tiny();
    bench.engine.command_cost = Ns(COST);
    bench.engine.link_rate = Rate(LINK);
    bench
}

/// Four channels of one die of one plane: page `p` lies on channel `p % 4` at page offset `p / 4 % 8`.
fn wide() -> Bench {
    Bench { channels: 4, ..staged() }
}

/// One die of two planes that share a frontier: page `p` lies in plane `p % 2` at page offset `p / 2 % 8`.
fn two_planes() -> Bench {
    Bench { planes: 2, frontier_planes: 2, ..staged() }
}

/// Latencies of requests one after another, in their order.
fn latencies(bench: &Bench, requests: &[Request]) -> Vec<u64> {
    let device = bench.run(closed(requests.to_vec()));
    let mut log: Vec<_> = device.request_log().iter().collect();
    log.sort_by_key(|entry| entry.id);
    log.iter().map(|entry| entry.latency.0).collect()
}

// ---- one read at a time -------------------------------------------------------------------------------

#[test]
fn a_read_takes_its_stages_for_each_size_and_page_type() {
    // The first pages at page offsets 0, 1 and 2.
    for (page_type, sense) in READ.into_iter().enumerate() {
        let lba = page_type as u64 * 4 * PAGE_SECTORS;
        let array = COST + COMMAND + sense;
        // The channel moves whole units, the link what was asked for.
        let expected = [
            (1, array + UNIT + 256),
            (8, array + UNIT + 2_048),
            (32, array + PAGE + 8_192),
            // Four pages on four channels are ready at the same time; the link takes them in turn.
            (128, array + PAGE + 4 * 8_192),
        ];
        for (sectors, latency) in expected {
            assert_eq!(latencies(&wide(), &[read(lba, sectors)]), [latency], "{sectors} sectors, type {page_type}");
        }
    }
}

#[test]
fn a_read_across_units_and_pages_moves_the_units_it_touches() {
    let array = COST + COMMAND + READ[0];
    // Half of one unit and half of the next, in one page: two units on the channel, one unit's worth on the link.
    assert_eq!(latencies(&wide(), &[read(4, 8)]), [array + 2 * UNIT + 2_048]);
    // The same across two pages, hence two channels: two halves on the link.
    assert_eq!(latencies(&wide(), &[read(PAGE_SECTORS - 4, 8)]), [array + UNIT + 2 * 1_024]);
    // Sixteen sectors in the middle of a page touch three units.
    assert_eq!(latencies(&wide(), &[read(4, 16)]), [array + 3 * UNIT + 4_096]);
}

#[test]
fn a_slow_link_is_waited_for() {
    let mut bench = wide();
    bench.engine.link_rate = Rate(500_000_000);
    assert_eq!(latencies(&bench, &[read(0, 128)]), [COST + COMMAND + READ[0] + PAGE + 4 * 32_768]);
}

#[test]
fn a_read_of_one_stripe_is_one_multi_plane_command() {
    // Both planes are sensed at once; their data leave one after the other, the link overlaps the second.
    let stripe = |page_type: usize| 2 * COMMAND + READ[page_type] + 2 * PAGE;
    assert_eq!(latencies(&two_planes(), &[read(0, 64)]), [COST + stripe(0) + 8_192]);
    assert_eq!(latencies(&two_planes(), &[read(64, 64)]), [COST + stripe(1) + 8_192]);
    // 64 KiB are two stripes on the same die.
    assert_eq!(latencies(&two_planes(), &[read(0, 128)]), [COST + stripe(0) + stripe(1) + 8_192]);
    // One page of a stripe is no multi-plane command.
    assert_eq!(latencies(&two_planes(), &[read(0, 32)]), [COST + COMMAND + READ[0] + PAGE + 8_192]);
    let mut single = two_planes();
    single.engine.multi_plane = false;
    assert_eq!(latencies(&single, &[read(0, 64)]), [COST + 2 * (COMMAND + READ[0] + PAGE) + 8_192]);
}

#[test]
fn a_multi_plane_read_with_a_slow_link_leaves_page_after_page() {
    let mut bench = two_planes();
    bench.engine.link_rate = Rate(500_000_000);
    // The first page is in the controller after one transfer; the link then has both to move.
    assert_eq!(latencies(&bench, &[read(0, 64)]), [COST + 2 * COMMAND + READ[0] + PAGE + 2 * 32_768]);
}

#[test]
fn dies_of_one_channel_sense_together_and_transfer_in_turn() {
    let bench = Bench { dies_per_channel: 2, ..staged() };
    // The second command goes out while the first die senses; its data wait for the channel.
    assert_eq!(latencies(&bench, &[read(0, 64)]), [COST + COMMAND + READ[0] + 2 * PAGE + 8_192]);
}

#[test]
fn what_was_never_written_comes_from_the_controller() {
    let bench = Bench { prefill: Prefill::Nothing, ..wide() };
    assert_eq!(latencies(&bench, &[read(0, 8), read(3, 128)]), [COST + 2_048, COST + 32_768]);
    // What is in an open page, too.
    assert_eq!(latencies(&bench, &[write(0, 8), read(0, 8)])[1], COST + 2_048);
}

// ---- one write at a time ------------------------------------------------------------------------------

#[test]
fn a_buffered_write_of_whole_units_takes_the_front_stages_alone() {
    for prefill in [Prefill::Nothing, Prefill::Sequential] {
        for (sectors, link) in [(8, 2_048), (32, 8_192), (128, 32_768)] {
            let bench = Bench { prefill, ..wide() };
            assert_eq!(latencies(&bench, &[write(0, sectors)]), [COST + link], "{sectors} sectors");
        }
    }
}

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest_first() {
    let rest = COMMAND + READ[0] + UNIT;
    // 512 B: the link moves them, then the unit is read.
    assert_eq!(latencies(&wide(), &[write(3, 1)]), [COST + 256 + rest]);
    // Parts of two units side by side in one page are one read of both, in two pages two reads beside each other.
    assert_eq!(latencies(&wide(), &[write(4, 8)]), [COST + 2_048 + rest + UNIT]);
    assert_eq!(latencies(&wide(), &[write(PAGE_SECTORS - 4, 8)]), [COST + 2_048 + rest]);
    // Parts at both ends lie in different pages here; whole units in the middle cost nothing more.
    assert_eq!(latencies(&wide(), &[write(4, 32)]), [COST + 8_192 + rest]);
    // There is no rest of a unit that was never written.
    let empty = Bench { prefill: Prefill::Nothing, ..wide() };
    assert_eq!(latencies(&empty, &[write(3, 1)]), [COST + 256]);
}

#[test]
fn a_write_that_completes_at_its_program_takes_that_too_for_each_page_type() {
    let mut bench = Bench { prefill: Prefill::Nothing, ..staged() };
    bench.engine.write_completion = WriteCompletion::Program;
    // One die: the n-th page programmed has type n % 3. A page goes out full of data or of padding.
    let requests = [write(0, 1), write(8, 8), write(32, 32), write(64, 24), write(96, 8)];
    let expected: Vec<u64> = [(256, 0), (2_048, 1), (8_192, 2), (6_144, 0), (2_048, 1)]
        .into_iter()
        .map(|(link, page_type)| COST + link + COMMAND + PAGE + PROGRAM[page_type])
        .collect();
    assert_eq!(latencies(&bench, &requests), expected);
}

#[test]
fn a_large_write_that_completes_at_its_program_uses_all_channels() {
    let mut bench = Bench { prefill: Prefill::Nothing, ..wide() };
    bench.engine.write_completion = WriteCompletion::Program;
    let pages = |page_type: usize| COST + 32_768 + COMMAND + PAGE + PROGRAM[page_type];
    let requests = [write(0, 128), write(128, 128), write(0, 128), write(0, 128)];
    assert_eq!(latencies(&bench, &requests), [pages(0), pages(1), pages(2), pages(0)]);
}

#[test]
fn a_large_write_to_one_die_programs_stripe_after_stripe() {
    let mut bench = Bench { prefill: Prefill::Nothing, ..two_planes() };
    bench.engine.write_completion = WriteCompletion::Program;
    let stripe = |page_type: usize| 2 * COMMAND + 2 * PAGE + PROGRAM[page_type];
    let requests = [write(0, 64), write(64, 128)];
    assert_eq!(latencies(&bench, &requests), [COST + 16_384 + stripe(0), COST + 32_768 + stripe(1) + stripe(2)]);
}

#[test]
fn a_partial_write_that_completes_at_its_program_reads_then_programs() {
    let mut bench = staged();
    bench.engine.write_completion = WriteCompletion::Program;
    // The prefilled half of the drive fills eight blocks, so that the next page is the first of its block.
    let expected = COST + 256 + (COMMAND + READ[0] + UNIT) + (COMMAND + PAGE + PROGRAM[0]);
    assert_eq!(latencies(&bench, &[write(3, 1)]), [expected]);
}

#[test]
fn padded_pages_of_consecutive_writes_go_to_different_dies() {
    // Four writes of 4 KiB arrive together at four idle dies.
    let mut bench = Bench { prefill: Prefill::Nothing, ..wide() };
    bench.engine.write_completion = WriteCompletion::Program;
    bench.engine.command_cost = Ns::ZERO;
    bench.engine.link_rate = Rate(0);
    bench.limits.closed_queue_depth = 4;
    let requests: Vec<Request> = (0..4).map(|unit| write(unit * UNIT_SECTORS, 8)).collect();
    assert_eq!(latencies(&bench, &requests), [COMMAND + PAGE + PROGRAM[0]; 4]);
}

#[test]
fn trim_costs_a_command_and_flush_waits_for_the_open_page() {
    let bench = Bench { prefill: Prefill::Nothing, ..wide() };
    let requests = [flush(), write(0, 8), flush(), trim(0, 8), flush()];
    let program = COMMAND + PAGE + PROGRAM[0];
    assert_eq!(latencies(&bench, &requests), [COST, COST + 2_048, COST + program, COST, COST]);
}

// ---- peak bandwidth -----------------------------------------------------------------------------------

/// Two channels of `dies` dies of two planes, single-level cells.
fn stream_drive(dies: u32, read: u64, program: u64, link: u64) -> Bench {
    let mut bench = Bench {
        channels: 2,
        dies_per_channel: dies,
        planes: 2,
        frontier_planes: 2,
        blocks_per_plane: 64,
        pages_per_block: 32,
        logical_percent: 80,
        timing: slc(read, program),
        ..Bench::tiny()
    };
    bench.engine.link_rate = Rate(link);
    bench.engine.log_requests = false;
    bench.limits.closed_queue_depth = 256;
    bench
}

fn rates(bench: &Bench) -> DriveRates {
    let link = bench.engine.link_rate.0;
    DriveRates {
        link_bytes_per_second: if link == 0 { f64::INFINITY } else { link as f64 },
        channels: bench.channels,
        dies_per_channel: bench.dies_per_channel,
        planes_per_die: bench.planes,
        page_user_bytes: 16_384,
        page_transferred_bytes: 16_384,
        channel_bytes_per_second: bench.timing.channel_rate.0 as f64,
        command_address_nanoseconds: COMMAND as f64,
        read_nanoseconds: bench.timing.read[0].0 as f64,
        program_nanoseconds: bench.timing.program[0].0 as f64,
    }
}

/// Bytes per second of one pass over the drive in requests of 128 KiB.
fn sequential_bandwidth(bench: &Bench, op: Op) -> f64 {
    let bytes = bench.logical_sectors() * 512;
    let requests = (0..bytes / 131_072).map(|index| crate::common::request(op, index * 256, 256)).collect::<Vec<_>>();
    let moved = requests.len() as f64 * 131_072.0;
    let device = bench.run(closed(requests));
    // The run ends when the last page is programmed, buffered data included.
    moved * 1e9 / device.now().0 as f64
}

type Part = fn(&PeakBandwidth) -> f64;

#[track_caller]
fn assert_peak_bandwidth(name: &str, bench: &Bench, op: Op, part: Part) {
    let prefill = if op == Op::Read { Prefill::Sequential } else { Prefill::Nothing };
    let bench = Bench { prefill, ..bench.clone() };
    let peak = if op == Op::Read { rates(&bench).sequential_read() } else { rates(&bench).sequential_write() };
    assert!(part(&peak) <= peak.minimum(), "the case is what it is called");
    let measured = sequential_bandwidth(&bench, op);
    let error = measured / peak.minimum() - 1.0;
    println!("{name}, {}: {:.1} MB/s, {:+.2} %", op.name(), measured / 1e6, error * 100.0);
    assert!(error.abs() <= 0.01, "{name}, {}: {measured} of {}", op.name(), peak.minimum());
}

#[test]
fn sequential_bandwidth_is_that_of_the_part_that_binds() {
    let link: Part = |peak| peak.link;
    let channels: Part = |peak| peak.channels;
    let dies: Part = |peak| peak.dies;
    let slow_link = stream_drive(4, 40_000, 200_000, 300_000_000);
    let many_dies = stream_drive(8, 4_000, 100_000, 0);
    let one_die_a_channel = stream_drive(1, 60_000, 500_000, 0);
    let two_dies_a_channel = stream_drive(2, 400_000, 900_000, 0);
    for op in [Op::Read, Op::Write] {
        assert_peak_bandwidth("link", &slow_link, op, link);
        assert_peak_bandwidth("channels", &many_dies, op, channels);
        assert_peak_bandwidth("dies, one a channel", &one_die_a_channel, op, dies);
    }
    assert_peak_bandwidth("dies, two a channel", &two_dies_a_channel, Op::Write, dies);
}

#[test]
fn sequential_reads_use_the_whole_channel_where_sensing_takes_longer_than_a_transfer() {
    assert_peak_bandwidth("channels", &stream_drive(8, 40_000, 100_000, 0), Op::Read, |peak| peak.channels);
}

#[test]
fn sequential_reads_keep_two_dies_of_a_channel_busy() {
    assert_peak_bandwidth("dies", &stream_drive(2, 400_000, 900_000, 0), Op::Read, |peak| peak.dies);
}

// ---- ledgers ------------------------------------------------------------------------------------------

/// Two channels of two dies of two planes in use, with everything that a drive can do going on.
fn busy_drive() -> Bench {
    let mut bench = staged().busy();
    // Its ten points per loop fall on whole nanoseconds, at every scale.
    let mut policies = SuspendPolicyConfig::all().into_iter();
    bench.engine.suspend = policies.find(|policy| policy.name() == "every-safe-point").expect("a registered policy");
    bench
}

fn mixed_requests(bench: &Bench, count: u64, gap: u64) -> Vec<Request> {
    let mut stream = RandomStream::new(31, "tests", "mixed");
    let sectors = bench.logical_sectors();
    (0..count)
        .map(|index| {
            let length = 1 + stream.below(64);
            let lba = stream.below(sectors - length);
            let request = match stream.below(20) {
                0 => trim(lba, length as u32),
                1 => flush(),
                2..=9 => write(lba, length as u32),
                _ => read(lba, length as u32),
            };
            at(index * gap + stream.below(gap), request)
        })
        .collect()
}

/// Channel time of the commands issued and ended, by the rules of the part.
#[derive(Debug, Default)]
struct ChannelTime {
    total: u64,
    reads: u64,
}

impl Probe for ChannelTime {
    fn observe(&mut self, _view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        let Event::CommandIssued { command, .. } = event else { return Ok(()) };
        let data: u64 = command.addressed_planes().map(|plane| u64::from(command.bytes[plane])).sum();
        let erase = command.kind == CommandKind::Erase;
        self.total += u64::from(command.plane_count()) * COMMAND + if erase { 0 } else { data };
        self.reads += u64::from(command.kind == CommandKind::Read);
        Ok(())
    }
}

#[test]
fn every_nanosecond_of_a_die_is_in_one_occupancy_and_no_resource_is_overbooked() {
    for (arrival, warmup) in [(Arrival::Open, 0), (Arrival::Closed, 0), (Arrival::Closed, 3_000)] {
        let mut bench = busy_drive();
        bench.limits.closed_queue_depth = 16;
        bench.limits.warmup_requests = warmup;
        let requests = mixed_requests(&bench, 10_000, 150_000);
        let workload = if arrival == Arrival::Open { open(requests) } else { closed(requests) };
        let mut device = bench.device_with::<Watched>(workload, Box::new(ChannelTime::default()));
        // Also in the middle of the run, where transfers and array operations are under way.
        loop {
            let finished = device.run_slice(997).expect("no error").finished;
            let used = device.utilization();
            for (die, ledger) in used.dies.iter().enumerate() {
                assert_eq!(ledger.iter().sum::<u64>(), used.elapsed.0, "die {die}, warm-up {warmup}");
            }
            for busy in used.channels.iter().chain([&used.link_in, &used.link_out]) {
                assert!(*busy <= used.elapsed, "{busy} of {}", used.elapsed);
            }
            if finished {
                break;
            }
        }
        let used = device.utilization();
        assert!(device.counters().suspends > 10 && device.counters().group_erases > 100);
        if warmup == 0 {
            let channels: u64 = used.channels.iter().map(|busy| busy.0).sum();
            assert_eq!(
                channels,
                device.probe::<ChannelTime>().total,
                "channels are busy with commands, addresses and data"
            );
            let link_out: u64 = device.meter().ops[Op::Read as usize].bytes / 2;
            assert_eq!(used.link_out.0, link_out, "the link moves 2 B/ns, and all sizes are even");
            assert_eq!(used.link_in.0, device.meter().ops[Op::Write as usize].bytes / 2);
        }
    }
}

#[test]
fn a_die_that_only_reads_is_busy_for_its_reads_and_idle_for_the_rest() {
    let mut bench = wide();
    bench.timing = slc(40_000, 400_000);
    let mut stream = RandomStream::new(41, "tests", "reads");
    let units = u64::from(bench.logical_units());
    let requests = (0..5_000).map(|index| at(index * 20_000, read(stream.below(units) * UNIT_SECTORS, 8))).collect();
    let mut device = bench.run(open(requests));
    let used = device.utilization();
    let lane =
        |occupancy: Occupancy| used.dies.iter().map(|ledger: &DieLedger| ledger[occupancy as usize]).sum::<u64>();
    // One die a channel: nothing waits for a channel.
    assert_eq!(lane(Occupancy::HostRead), 5_000 * (COMMAND + 40_000 + UNIT));
    assert_eq!(lane(Occupancy::Idle), 4 * used.elapsed.0 - 5_000 * (COMMAND + 40_000 + UNIT));
    assert_eq!(used.link_out, Ns(5_000 * 2_048));
    assert_eq!(used.link_in, Ns::ZERO);
}

#[test]
fn the_parts_of_all_requests_sum_to_their_latencies() {
    for suspend in SuspendPolicyConfig::all() {
        for scheduler in TransactionSchedulerConfig::all() {
            for write_completion in [WriteCompletion::Buffer, WriteCompletion::Program] {
                let mut bench = busy_drive();
                bench.engine.suspend = suspend.clone();
                bench.engine.scheduler = scheduler.clone();
                bench.engine.write_completion = write_completion;
                let requests = mixed_requests(&bench, 5_000, 400_000);
                let device = bench.run(open(requests));
                assert_eq!(device.completed(), 5_000);
                for meter in &device.meter().ops {
                    assert_eq!(u128::from(meter.attribution.total().total()), meter.latency.sum());
                }
            }
        }
    }
}

// ---- metamorphic relations ----------------------------------------------------------------------------

fn sorted_log(device: &Device) -> Vec<RequestLogEntry> {
    let mut log = device.request_log().to_vec();
    log.sort_by_key(|entry| entry.id);
    log
}

/// The drive with every duration multiplied and every rate divided by `k`.
fn slower(bench: &Bench, k: u64) -> Bench {
    let scale = |times: &[Ns]| times.iter().map(|time| Ns(time.0 * k)).collect();
    let mut slow = bench.clone();
    slow.timing = NandTiming {
        read: scale(&bench.timing.read),
        program: scale(&bench.timing.program),
        slc: None,
        page_types: bench.timing.page_types.clone(),
        program_pulses: bench.timing.program_pulses,
        erase_loop: Ns(bench.timing.erase_loop.0 * k),
        erase_loops: bench.timing.erase_loops.clone(),
        command_address: Ns(bench.timing.command_address.0 * k),
        suspend_recover: Ns(bench.timing.suspend_recover.0 * k),
        resume_ramp: Ns(bench.timing.resume_ramp.0 * k),
        channel_rate: Rate(bench.timing.channel_rate.0 / k),
        read_any_block: bench.timing.read_any_block,
        any_page: bench.timing.any_page,
        planes_per_command: bench.timing.planes_per_command,
        plane_groups: bench.timing.plane_groups,
        plane_reads: bench.timing.plane_reads,
        cache_read: bench.timing.cache_read.map(|time| Ns(time.0 * k)),
        times: bench.timing.times.clone(),
        program_load: Ns(bench.timing.program_load.0 * k),
    };
    slow.engine.command_cost = Ns(bench.engine.command_cost.0 * k);
    slow.engine.link_rate = Rate(bench.engine.link_rate.0 / k);
    slow.engine.page_timeout = bench.engine.page_timeout.map(|timeout| Ns(timeout.0 * k));
    slow
}

#[test]
fn a_drive_k_times_slower_takes_k_times_as_long_for_everything() {
    // Rates of 1 and 2 B/ns divide by 4 and 5, and transfers of sectors are whole at each.
    for k in [4, 5] {
        for (arrival, page_timeout) in [(Arrival::Closed, None), (Arrival::Open, None), (Arrival::Open, Some(90_000))] {
            let mut bench = busy_drive();
            bench.engine.page_timeout = page_timeout.map(Ns);
            bench.limits.closed_queue_depth = 16;
            let requests = mixed_requests(&bench, 6_000, 150_000);
            let later = requests.iter().map(|request| Request { submitted: Ns(request.submitted.0 * k), ..*request });
            let later: Vec<Request> = later.collect();
            let (fast, slow) = if arrival == Arrival::Open {
                (bench.run(open(requests)), slower(&bench, k).run(open(later)))
            } else {
                (bench.run(closed(requests)), slower(&bench, k).run(closed(later)))
            };
            assert_eq!(slow.now().0, fast.now().0 * k);
            assert_eq!(slow.counters(), fast.counters());
            assert_eq!(slow.ftl().counters(), fast.ftl().counters());
            let logs = sorted_log(&fast).into_iter().zip(sorted_log(&slow));
            for (fast, slow) in logs {
                let scaled = (fast.submitted.0 * k, fast.latency.0 * k, fast.host_queue.0 * k);
                assert_eq!((slow.submitted.0, slow.latency.0, slow.host_queue.0), scaled, "request {}", fast.id);
            }
            for (fast, slow) in fast.meter().ops.iter().zip(&slow.meter().ops) {
                for (cause, (fast, slow)) in
                    Cause::ALL.iter().zip(fast.attribution.total().lanes().iter().zip(slow.attribution.total().lanes()))
                {
                    assert_eq!(slow, fast * k, "{}", cause.name());
                }
            }
        }
    }
}

/// Reads at random, the page counted within its channel, on channels renamed by `rename`.
fn reads_on_renamed_channels(bench: &Bench, rename: [u64; 4]) -> Vec<Request> {
    let mut stream = RandomStream::new(51, "tests", "renaming");
    let pages_per_channel = bench.logical_sectors() / PAGE_SECTORS / 4;
    (0..20_000_u64)
        .map(|index| {
            // Channels are used unequally, so that a mistaken mix-up would show.
            let channel = stream.below(4).min(stream.below(4));
            let page = stream.below(pages_per_channel) * 4 + rename[channel as usize];
            let request = read(page * PAGE_SECTORS + stream.below(4) * UNIT_SECTORS, 8);
            at(index * 15_000 + stream.below(15_000), request)
        })
        .collect()
}

#[test]
fn channels_may_change_their_names() {
    // With a link that takes no time the channels do not meet at all: every request keeps its latency.
    let mut bench = Bench { channels: 4, dies_per_channel: 2, ..staged() };
    bench.engine.link_rate = Rate(0);
    let reference = bench.run(open(reads_on_renamed_channels(&bench, [0, 1, 2, 3])));
    for rename in [[3, 1, 0, 2], [1, 2, 3, 0], [3, 2, 1, 0]] {
        let renamed = bench.run(open(reads_on_renamed_channels(&bench, rename)));
        let times = |device: &Device| sorted_log(device).iter().map(|entry| entry.latency).collect::<Vec<_>>();
        assert_eq!(times(&renamed), times(&reference), "{rename:?}");
        assert_ne!(renamed.digest(), reference.digest(), "but other dies did the work");
    }
    // On a shared link pages that are ready at the same instant may change places, which moves no sum.
    bench.engine.link_rate = Rate(1_000_000_000);
    let mut reference = bench.run(open(reads_on_renamed_channels(&bench, [0, 1, 2, 3])));
    let mut renamed = bench.run(open(reads_on_renamed_channels(&bench, [3, 1, 0, 2])));
    assert_eq!(renamed.meter().latency_sum, reference.meter().latency_sum);
    assert_eq!(renamed.counters(), reference.counters());
    assert_eq!(renamed.now(), reference.now());
    let (used, used_before) = (renamed.utilization(), reference.utilization());
    for (channel, new) in [3, 1, 0, 2].into_iter().enumerate() {
        assert_eq!(used.channels[new], used_before.channels[channel], "channel {channel} is now {new}");
    }
}

// ---- one run is like another --------------------------------------------------------------------------

#[test]
fn the_same_run_twice_has_the_same_digest_and_another_one_has_not() {
    let bench = busy_drive();
    let requests = mixed_requests(&bench, 5_000, 150_000);
    let reference = bench.run(open(requests.clone()));
    assert_eq!(bench.run(open(requests.clone())).digest(), reference.digest());
    let mut other = requests.clone();
    // The first request finds the drive idle, so that its end moves with its submission.
    other[0].submitted.0 += 1;
    assert_ne!(bench.run(open(other)).digest(), reference.digest(), "a nanosecond makes a difference");

    // What is observed changes nothing.
    let mut unseen = bench.clone();
    unseen.engine.log_requests = false;
    unseen.limits.warmup_requests = 1_000;
    assert_eq!(unseen.run(open(requests.clone())).digest(), reference.digest());
    let mut probed = bench.device_with::<Watched>(open(requests), Box::new(ChannelTime::default()));
    probed.run().expect("the run ends well");
    assert_eq!(probed.digest(), reference.digest());
    assert_eq!(probed.probe::<ChannelTime>().reads, reference.counters().read_commands);
}

#[test]
fn neither_slices_nor_the_kind_of_wake_up_queue_change_a_run() {
    // Submissions together, and times with common divisors: many events share an instant.
    let mut bench = busy_drive();
    bench.engine.command_cost = Ns(0);
    bench.engine.link_rate = Rate(0);
    bench.timing.read = vec![Ns(4 * UNIT)];
    bench.timing.program = vec![Ns(40 * UNIT)];
    bench.timing.erase_loop = Ns(80 * UNIT);
    bench.timing.command_address = Ns(0);
    bench.limits.closed_queue_depth = 16;
    let mut requests = mixed_requests(&bench, 5_000, 150_000);
    for request in &mut requests {
        request.submitted.0 &= !(UNIT - 1);
    }
    for closed_loop in [false, true] {
        let workload = || if closed_loop { closed(requests.clone()) } else { open(requests.clone()) };
        let reference = bench.run(workload());
        for slice in [1, 2, 7, 1_000] {
            let mut device = bench.device(workload());
            while !device.run_slice(slice).expect("no error").finished {}
            assert_eq!(device.digest(), reference.digest(), "slices of {slice} events");
            assert_eq!(device.counters(), reference.counters(), "slices of {slice} events");
        }
        let mut heap = bench.device_with::<OnHeap>(workload(), NoProbe);
        heap.run().expect("the run ends well");
        assert_eq!(heap.digest(), reference.digest());
    }
}

#[test]
fn the_durations_of_this_file_are_those_of_the_drive() {
    let NandTiming { read, program, command_address, channel_rate, .. } = timing();
    assert_eq!((read, program), (READ.map(Ns).to_vec(), PROGRAM.map(Ns).to_vec()));
    assert_eq!((command_address, channel_rate), (Ns(COMMAND), Rate(1_000_000_000)));
}
