//! What lies between requests and commands: scenes whose times are worked out by hand.
//!
//! A die with a channel of its own serves the read of a unit in [`SERVICE`]; each command takes [`COST`] of the controller before
//! that, and the link takes no time unless a test says so.

use crate::common::{Bench, Prefill, at, closed, flush, open, read, slc, trim, write};
use ninescope_engine::{Coalescing, Device, Fetch, Interface, LaneConfig, Plain, ProtocolConfig};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::NandTiming;
use ninescope_model::{Cause, Op, Request, Turns};

const SERVICE: u64 = 50_000;
const COST: u64 = 1_000;
const UNIT_SECTORS: u32 = 8;

/// Dies of one plane whose drive has such a protocol.
fn drive(dies: u32, protocol: ProtocolConfig) -> Bench {
    let mut bench = Bench { channels: dies, timing: slc(SERVICE - 300 - 4_096, 400_000), ..Bench::tiny() };
    bench.engine.command_cost = Ns(COST);
    bench.engine.protocol = protocol;
    bench
}

/// The same with nothing on the media: what is read is answered by the controller at once.
fn empty(protocol: ProtocolConfig) -> Bench {
    Bench { prefill: Prefill::Nothing, ..drive(1, protocol) }
}

fn up_to(sectors: u32) -> ProtocolConfig {
    ProtocolConfig { max_transfer: Some(sectors), ..ProtocolConfig::default() }
}

/// Reads of so many units each that were never written.
fn reads(count: u64, units: u32) -> Vec<Request> {
    (0..count).map(|_| read(0, units * UNIT_SECTORS)).collect()
}

fn latencies(device: &Device) -> Vec<u64> {
    device.request_log().iter().map(|entry| entry.latency.0).collect()
}

fn part(device: &Device, op: Op, cause: Cause) -> u64 {
    device.meter().ops[op as usize].attribution.total().of(cause)
}

// ---- a largest command -----------------------------------------------------------------------------

#[test]
fn a_request_larger_than_a_command_is_several_and_completes_with_the_last() {
    // The four units lie in one page: as one command it is read once, as four it is read four times.
    let whole = drive(1, ProtocolConfig::default()).run(open(vec![read(0, 4 * UNIT_SECTORS)]));
    assert_eq!(latencies(&whole), [COST + SERVICE + 3 * 4_096]);
    let device = drive(1, up_to(UNIT_SECTORS)).run(open(vec![read(0, 4 * UNIT_SECTORS)]));
    assert_eq!(latencies(&device), [COST + 4 * SERVICE]);
    assert_eq!((device.counters().split_requests, device.counters().split_commands), (1, 4));
    let meter = &device.meter().ops[Op::Read as usize];
    assert_eq!((meter.latency.count(), meter.bytes), (1, 4 * 4_096), "one request");
    assert_eq!(part(&device, Op::Read, Cause::CommandProcessing), 4 * COST, "behind the three before it");
    assert_eq!(part(&device, Op::Read, Cause::DieHostRead), 3 * SERVICE - 3 * COST);
    assert_eq!(part(&device, Op::Read, Cause::HostQueue), 0);
    let entry = device.request_log()[0];
    assert_eq!((entry.id, entry.lba, entry.sectors), (0, 0, 4 * UNIT_SECTORS));
}

#[test]
fn each_command_of_a_request_takes_a_place_of_the_queue() {
    let mut bench = drive(1, up_to(UNIT_SECTORS));
    bench.engine.queue_depth = 2;
    let device = bench.run(open(vec![read(0, 4 * UNIT_SECTORS), at(1, read(64, UNIT_SECTORS))]));
    // The third enters when the first completes, the fourth when the second does; the next request behind the third.
    assert_eq!(latencies(&device), [COST + 4 * SERVICE, COST + 5 * SERVICE - 1]);
    let waited = (COST + 2 * SERVICE) + (COST + 3 * SERVICE - 1);
    assert_eq!(part(&device, Op::Read, Cause::HostQueue), waited);
    assert_eq!(device.counters().split_requests, 1);
}

#[test]
fn a_closed_job_has_as_many_requests_inside_as_its_depth_whatever_they_are_made_of() {
    let mut bench = empty(up_to(3));
    bench.limits.closed_queue_depth = 2;
    let device = bench.run(closed(reads(10, 1)));
    // Commands of 3, 3 and 2 sectors. Two requests share the controller, which is all that takes time.
    assert_eq!(device.now().0, 10 * 3 * COST);
    assert_eq!(device.counters().split_commands, 30);
    assert_eq!(device.meter().latency_sum, u128::from((10 - 1) * 2 * 3 * COST + 3 * COST));
}

#[test]
fn writes_are_split_and_commands_without_data_are_not() {
    let requests = vec![write(0, 4 * UNIT_SECTORS), at(10_000, flush()), at(900_000, trim(0, 4 * UNIT_SECTORS))];
    let device = empty(up_to(2 * UNIT_SECTORS)).run(open(requests));
    assert_eq!((device.counters().split_requests, device.counters().split_commands), (1, 2));
    let counts = Op::ALL.map(|op| device.meter().ops[op as usize].latency.count());
    assert_eq!(counts, [0, 1, 1, 1]);
    assert_eq!(latencies(&device)[0], 2 * COST, "both are in the buffer");
    assert_eq!(device.ftl().counters().trimmed_units, 4);
}

#[test]
fn limits_and_ends_of_a_run_count_requests() {
    let mut bench = empty(up_to(1));
    bench.limits.requests = Some(3);
    let device = bench.run(closed(reads(10, 1)));
    assert_eq!((device.completed(), device.counters().split_commands), (3, 24));
}

#[test]
fn jobs_take_turns_command_by_command() {
    let bench = empty(up_to(UNIT_SECTORS));
    let job = |requests: Vec<Request>| LaneConfig::new(Box::new(closed(requests)), 1);
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let lanes = vec![job(reads(1, 4)), job(reads(1, 1))];
    let mut limited = bench.engine.clone();
    // One at a time: whose command is next is decided anew with each.
    limited.queue_depth = 1;
    let mut device = Device::<Plain>::with_lanes(&limited, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    assert_eq!(latencies(&device), [COST, 5 * COST], "the short request is second, the long one has the other turns");
}

// ---- completions that are gathered -----------------------------------------------------------------

fn gathering(completions: u32, time: u64) -> ProtocolConfig {
    ProtocolConfig { interrupts: Some(Coalescing { completions, time: Ns(time) }), ..ProtocolConfig::default() }
}

/// A closed job of reads that the controller answers at once.
fn closed_run(protocol: ProtocolConfig, depth: u32, count: u64) -> Device {
    let mut bench = empty(protocol);
    bench.limits.closed_queue_depth = depth;
    bench.run(closed(reads(count, 1)))
}

#[test]
fn one_request_at_a_time_takes_the_time_of_the_interrupt_more() {
    let device = drive(1, gathering(8, 10_000)).run(closed(vec![read(0, UNIT_SECTORS), read(8, UNIT_SECTORS)]));
    assert_eq!(latencies(&device), [COST + SERVICE + 10_000; 2]);
    assert_eq!(part(&device, Op::Read, Cause::Interrupt), 2 * 10_000);
    assert_eq!((device.counters().interrupts, device.counters().gathered_completions), (2, 2));
    assert_eq!(device.now().0, 2 * (COST + SERVICE + 10_000), "the next is submitted when the host was told");
}

#[test]
fn as_many_as_are_in_flight_come_with_one_interrupt() {
    let device = closed_run(gathering(4, 1_000_000), 4, 40);
    // The controller is busy without a break: each four of them are told of with the last.
    assert_eq!(device.now().0, 40 * COST);
    assert_eq!(latencies(&device), [4 * COST; 40]);
    assert_eq!(part(&device, Op::Read, Cause::Interrupt), 10 * (3 + 2 + 1) * COST);
    assert_eq!((device.counters().interrupts, device.counters().gathered_completions), (10, 40));
}

#[test]
fn fewer_than_an_interrupt_is_about_wait_for_its_time() {
    // Three in flight, told of so long after the first: the controller rests until the host knows.
    let device = closed_run(gathering(4, 50_000), 3, 30);
    assert_eq!(latencies(&device), [COST + 50_000; 30]);
    assert_eq!(device.now().0, 10 * (COST + 50_000));
    assert_eq!(device.counters().interrupts, 10);
}

#[test]
fn what_comes_at_the_time_of_an_interrupt_is_told_of_with_it() {
    // Completions at 1, 2, 3, 4 and 5 us; interrupts at 3 us for three of them, and at 6 us for the last two.
    let device = closed_run(gathering(8, 2 * COST), 8, 5);
    assert_eq!(latencies(&device), [3, 3, 3, 6, 6].map(|at| at * COST));
}

#[test]
fn requests_that_arrive_wait_half_of_a_round_for_their_interrupt() {
    let gap = 10_000;
    let requests: Vec<Request> = (0..400).map(|index| at(index * gap, read(0, UNIT_SECTORS))).collect();
    let device = empty(gathering(8, 1_000_000)).run(open(requests));
    // Of each eight the first waits for seven gaps, the last not at all.
    assert_eq!(part(&device, Op::Read, Cause::Interrupt), 400 * 7 * gap / 2);
    assert_eq!(device.meter().latency_sum, u128::from(400 * (COST + 7 * gap / 2)));
}

#[test]
fn a_place_of_the_queue_is_free_before_the_host_is_told() {
    let mut bench = empty(gathering(3, 1_000_000));
    bench.engine.queue_depth = 1;
    let requests: Vec<Request> = (0..3).map(|_| read(0, UNIT_SECTORS)).collect();
    let device = bench.run(open(requests));
    assert_eq!(latencies(&device), [3 * COST; 3]);
    assert_eq!(part(&device, Op::Read, Cause::HostQueue), (1 + 2) * COST);
    assert_eq!(part(&device, Op::Read, Cause::Interrupt), (2 + 1) * COST);
}

#[test]
fn commands_of_a_request_are_gathered_one_by_one() {
    let device = closed_run(ProtocolConfig { max_transfer: Some(2), ..gathering(2, 1_000_000) }, 1, 5);
    // Four commands a request, two interrupts.
    assert_eq!(latencies(&device), [4 * COST; 5]);
    assert_eq!((device.counters().interrupts, device.counters().gathered_completions), (10, 20));
    assert_eq!(part(&device, Op::Read, Cause::Interrupt), 0, "the last command of each is the last of its interrupt");
}

#[test]
fn each_job_has_interrupts_of_its_own() {
    let bench = empty(gathering(2, 50_000));
    let job = |count: u64, depth: u32| LaneConfig::new(Box::new(closed(reads(count, 1))), depth);
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let lanes = vec![job(4, 2), job(1, 1)];
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    // The first job's two of a round are told of with the second, the other job's one after its time: its command is the
    // second of all.
    let of =
        |lane: u16| device.request_log().iter().filter(move |entry| entry.lane == lane).map(|entry| entry.latency.0);
    assert_eq!(of(0).collect::<Vec<_>>(), [3 * COST, 3 * COST, 2 * COST, 2 * COST]);
    assert_eq!(of(1).collect::<Vec<_>>(), [2 * COST + 50_000]);
}

// ---- queues, and what is read out of them ----------------------------------------------------------

fn fetching(time: u64, entries: u32) -> ProtocolConfig {
    overlapping(time, entries, 1)
}

fn overlapping(time: u64, entries: u32, in_flight: u32) -> ProtocolConfig {
    ProtocolConfig { fetch: Some(Fetch { time: Ns(time), entries, in_flight }), ..ProtocolConfig::default() }
}

fn with_entries(queue_entries: u32) -> ProtocolConfig {
    ProtocolConfig { queue_entries: Some(queue_entries), ..ProtocolConfig::default() }
}

#[test]
fn a_command_alone_is_fetched_before_anything_else() {
    let device = closed_run(fetching(700, 4), 1, 5);
    assert_eq!(latencies(&device), [700 + COST; 5]);
    assert_eq!(part(&device, Op::Read, Cause::Fetch), 5 * 700);
    assert_eq!((device.counters().fetches, device.counters().fetched_commands), (5, 5));
}

#[test]
fn fetches_of_one_command_follow_each_other() {
    // A fetch takes longer than the controller: it sets the rate, and so many requests wait for it as are in flight.
    let (time, depth, count) = (4 * COST, 8, 400);
    let device = closed_run(fetching(time, 1), depth, count);
    assert_eq!(device.now().0, count * time + COST);
    let last = *latencies(&device).last().expect("it completed");
    // Submitted as the eighth before it completed.
    assert_eq!(last, u64::from(depth) * time);
    assert_eq!(device.counters().fetches, count);
}

#[test]
fn several_entries_come_at_once() {
    let device = closed_run(fetching(8 * COST, 4), 8, 400);
    // Four of the eight are fetched while the four before are worked on: a fetch every 8 us.
    assert_eq!(device.counters().fetches, 100);
    assert_eq!(device.now().0, 100 * 8 * COST + 4 * COST);
}

#[test]
fn fetches_overlap_where_several_may_be_under_way() {
    // A fetch takes four times as long as the controller. Two at a time bring two commands each four, four as many as it works
    // on, which sets the rate then, as do more.
    let (time, depth, count) = (4 * COST, 8, 400);
    let time_of = |in_flight| closed_run(overlapping(time, 1, in_flight), depth, count).now().0;
    assert_eq!(time_of(2), count / 2 * time + 2 * COST);
    assert_eq!(time_of(4), time + count * COST);
    assert_eq!(time_of(8), time + count * COST);
    let device = closed_run(overlapping(time, 1, 2), depth, 4);
    // All four are there at 0: two come with the first two fetches, which end together, two with those behind them.
    assert_eq!(latencies(&device), [time + COST, time + 2 * COST, 2 * time + COST, 2 * time + 2 * COST]);
    assert_eq!(part(&device, Op::Read, Cause::Fetch), 4 * time, "none takes longer than one");
    assert_eq!((device.counters().fetches, device.counters().fetched_commands), (4, 4));
    // Two queues of the host, one fetch of each.
    assert_eq!(shares(overlapping(COST, 4, 2), &[1, 1], None, 400), [200, 200]);
}

#[test]
fn a_queue_has_one_command_fewer_than_entries_in_flight() {
    let service = |protocol, depth| {
        let mut bench = drive(4, protocol);
        bench.limits.closed_queue_depth = depth;
        let units = bench.logical_units();
        bench.run(closed((0..200).map(|unit| read(u64::from(unit * 7 % units) * 8, UNIT_SECTORS)).collect())).now()
    };
    assert_eq!(service(with_entries(4), 8), service(ProtocolConfig::default(), 3));
    assert_eq!(service(with_entries(9), 8), service(ProtocolConfig::default(), 8));
}

#[test]
fn a_job_waits_in_its_queue_where_the_drive_has_no_room() {
    // Eight in flight, of which the drive takes in two: the others wait in the queue, and not in the host.
    let mut bench = empty(with_entries(100));
    bench.engine.queue_depth = 2;
    bench.limits.closed_queue_depth = 8;
    let device = bench.run(closed(reads(80, 1)));
    assert_eq!(device.now().0, 80 * COST);
    let latencies = latencies(&device);
    assert_eq!((latencies[0], latencies[7], latencies[79]), (COST, 8 * COST, 8 * COST));
    assert_eq!(part(&device, Op::Read, Cause::HostQueue), device.meter().latency_sum as u64 - (2 * 80 - 1) * COST);
}

/// A run of a job of reads at that depth on an empty drive, where its queues have so many commands in the drive at a time.
fn with_commands_per_queue(of_drive: Option<u32>, of_job: Option<u32>, (queues, depth): (u32, u32)) -> Device<Plain> {
    let mut bench = empty(ProtocolConfig { commands_per_queue: of_drive, ..ProtocolConfig::default() });
    bench.engine.queue_depth = 64;
    let (ftl, lane) = (bench.ftl(), LaneConfig::new(Box::new(closed(reads(80, 1))), depth));
    let nand = bench.nand(&ftl);
    let lanes = vec![LaneConfig { commands_per_queue: of_job, queues, ..lane }];
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    device
}

#[test]
fn a_queue_has_so_many_commands_in_the_drive() {
    // Eight in flight, of which the drive takes in two, though it has room: each waits for the six before those.
    for (of_drive, of_job, queues) in
        [(Some(2), None, 1), (None, Some(2), 1), (Some(7), Some(2), 1), (Some(1), None, 2)]
    {
        let device = with_commands_per_queue(of_drive, of_job, (queues, 8));
        assert_eq!(latencies(&device)[7..], [8 * COST; 73]);
        assert_eq!(part(&device, Op::Read, Cause::HostQueue), (1 + 2 + 3 + 4 + 5 + 6) * COST + 72 * 6 * COST);
        // All but the first two.
        assert_eq!(device.counters().full_queue_waits, 78);
    }
    let free = with_commands_per_queue(Some(8), None, (1, 8));
    assert_eq!((part(&free, Op::Read, Cause::HostQueue), free.counters().full_queue_waits), (0, 0));
}

/// Requests of each job among the first `count` that completed, with so many queues each.
fn shares(protocol: ProtocolConfig, queues: &[u32], weights: Option<&[u32]>, count: usize) -> Vec<usize> {
    let mut bench = empty(protocol);
    bench.engine.queue_depth = 1;
    if weights.is_some() {
        bench.engine.arbitration = serde_json::from_str(r#"{"policy":"weighted-round-robin"}"#).expect("a policy");
    }
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let lane = |(index, &queues): (usize, &u32)| {
        let weight = weights.map(|weights| weights[index]);
        let turns = Turns { weight, ..Turns::default() };
        LaneConfig { queues, turns, ..LaneConfig::new(Box::new(closed(reads(count as u64, 1))), 16) }
    };
    let lanes = queues.iter().enumerate().map(lane).collect();
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    let first = &device.request_log()[..count];
    (0..queues.len()).map(|lane| first.iter().filter(|entry| usize::from(entry.lane) == lane).count()).collect()
}

#[test]
fn turns_are_those_of_queues() {
    assert_eq!(shares(with_entries(64), &[1, 1], None, 400), [200, 200]);
    assert_eq!(shares(with_entries(64), &[3, 1], None, 400), [300, 100]);
    assert_eq!(shares(with_entries(64), &[2, 1], Some(&[1, 2]), 400), [200, 200], "two queues of weight 1 as one of 2");
}

#[test]
fn a_fetch_brings_commands_of_one_queue() {
    assert_eq!(shares(fetching(COST, 4), &[1, 1], None, 400), [200, 200]);
    let mut bench = empty(fetching(8 * COST, 4));
    bench.engine.queue_depth = 64;
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let lane = |depth| LaneConfig::new(Box::new(closed(reads(200, 1))), depth);
    let lanes = vec![lane(8), lane(1)];
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    // In turn four of the first and one of the other, whose next is there when its turn comes again.
    assert_eq!(device.counters().fetches, 50 + 200);
}

#[test]
fn queues_in_all_but_name_change_nothing() {
    // One fetch of no more than what the controller does meanwhile, seen from outside by its time alone.
    let plain = closed_run(ProtocolConfig::default(), 4, 100);
    let queued = closed_run(with_entries(5), 4, 100);
    assert_eq!(latencies(&plain), latencies(&queued));
    assert_eq!(plain.now(), queued.now());
}

// ---- SATA ------------------------------------------------------------------------------------------

fn sata() -> ProtocolConfig {
    ProtocolConfig { interface: Interface::Sata, ..ProtocolConfig::default() }
}

/// A drive whose link, which moves a unit in 4 096 ns, is all that takes time.
fn linked(protocol: ProtocolConfig) -> Bench {
    let mut bench = empty(protocol);
    bench.timing = NandTiming { erase_loop: Ns(1), channel_rate: Rate(0), ..slc(1, 10) };
    bench.timing.command_address = Ns::ZERO;
    bench.engine.command_cost = Ns::ZERO;
    bench.engine.link_rate = Rate(1_000_000_000);
    bench.limits.closed_queue_depth = 8;
    bench
}

#[test]
fn a_mix_has_the_rate_of_the_link_once_where_nvme_has_it_twice() {
    let mix: Vec<Request> = (0..2_000_u64)
        .map(|index| if index % 2 == 0 { read(256, UNIT_SECTORS) } else { write(index % 32 * 8, UNIT_SECTORS) })
        .collect();
    let took = |protocol| linked(protocol).run(closed(mix.clone())).now().0 as f64 / (2_000.0 * 4_096.0);
    let (once, twice) = (took(sata()), took(ProtocolConfig::default()));
    assert!((once - 1.0).abs() < 0.005, "{once} of the time that all data take one after the other");
    assert!((twice - 0.5).abs() < 0.005, "{twice}");
}

#[test]
fn data_of_both_directions_wait_for_each_other() {
    let mut device = linked(sata()).run(open(vec![read(256, 8), write(0, 8), at(100, read(256, 16))]));
    // A unit towards the host, one to the drive, and two towards the host, in the order in which they were there.
    let order = |id: u64| device.request_log().iter().find(|entry| entry.id == id).map(|entry| entry.latency.0);
    assert_eq!([0, 1, 2].map(order), [Some(4_096), Some(2 * 4_096), Some(4 * 4_096 - 100)]);
    assert_eq!(part(&device, Op::Write, Cause::Link), 2 * 4_096);
    let used = device.utilization();
    assert_eq!((used.link_in.0, used.link_out.0), (4_096, 3 * 4_096));
}

#[test]
fn flush_and_trim_have_the_drive_for_themselves() {
    let requests = |op: Request| vec![read(0, 8), read(0, 8), at(10, op), at(20, read(0, 8)), at(30, read(0, 8))];
    for op in [flush(), trim(0, 8)] {
        let device = empty(sata()).run(open(requests(op)));
        // Two reads; the command begins when they are over, and the next two when it is.
        let ends: Vec<u64> = device.request_log().iter().map(|entry| entry.submitted.0 + entry.latency.0).collect();
        assert_eq!(ends, [COST, 2 * COST, 3 * COST, 4 * COST, 5 * COST]);
        assert_eq!(part(&device, op.op, Cause::HostQueue), 2 * COST - 10);
        assert_eq!(part(&device, op.op, Cause::CommandProcessing), COST, "nothing is before it in the controller");
        assert_eq!(device.counters().non_queued_commands, 1);
        let nvme = empty(ProtocolConfig::default()).run(open(requests(op)));
        assert_eq!(part(&nvme, op.op, Cause::HostQueue), 0);
    }
}

#[test]
fn a_queued_trim_is_one_of_the_queue_and_a_flush_still_has_the_drive_for_itself() {
    let queued = ProtocolConfig { queued_trims: true, ..sata() };
    let requests = |op: Request| vec![read(0, 8), read(0, 8), at(10, op), at(20, read(0, 8)), at(30, read(0, 8))];
    let device = empty(queued).run(open(requests(trim(0, 8))));
    // All five are inside from their coming on, and the controller takes them up in turn: the TRIM waits for it, not for the queue.
    let ends: Vec<u64> = device.request_log().iter().map(|entry| entry.submitted.0 + entry.latency.0).collect();
    assert_eq!(ends, [COST, 2 * COST, 3 * COST, 4 * COST, 5 * COST]);
    assert_eq!(part(&device, Op::Trim, Cause::HostQueue), 0);
    assert_eq!(part(&device, Op::Trim, Cause::CommandProcessing), 3 * COST - 10);
    assert_eq!((device.counters().non_queued_commands, device.counters().queued_trims), (0, 1));
    // One that finds nothing inside goes beside nobody.
    let alone = empty(queued).run(open(vec![trim(0, 8)]));
    assert_eq!((alone.counters().non_queued_commands, alone.counters().queued_trims), (0, 0));
    let flushed = empty(queued).run(open(requests(flush())));
    assert_eq!(part(&flushed, Op::Flush, Cause::HostQueue), 2 * COST - 10);
    assert_eq!((flushed.counters().non_queued_commands, flushed.counters().queued_trims), (1, 0));
}

#[test]
fn a_queued_trim_holds_up_no_read_that_is_under_way() {
    // The TRIM waits until the read has been read of flash where it is not queued, and completes before it where it is.
    let took = |protocol: ProtocolConfig| {
        let mut bench = linked(protocol);
        (bench.prefill, bench.timing) = (Prefill::Sequential, slc(50_000, 200_000));
        let device = bench.run(open(vec![read(0, 8), at(10, trim(256, 8))]));
        device.request_log().iter().map(|entry| (entry.op, entry.latency.0)).collect::<Vec<_>>()
    };
    let (queued, alone) = (took(ProtocolConfig { queued_trims: true, ..sata() }), took(sata()));
    assert_eq!(queued[0], (Op::Trim, 0));
    let (op, read) = alone[0];
    assert!(op == Op::Read && queued[1] == (Op::Read, read), "the read takes as long: {queued:?}");
    assert_eq!(alone[1], (Op::Trim, read - 10));
}

#[test]
fn no_job_passes_by_a_command_that_waits_for_the_drive() {
    let bench = empty(sata());
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let job = |requests: Vec<Request>, depth| LaneConfig::new(Box::new(closed(requests)), depth);
    let lanes = vec![job(vec![read(0, 8), flush(), read(0, 8)], 1), job(reads(50, 1), 4)];
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, Default::default());
    device.run().expect("the run ends well");
    let flush_ended = device.request_log().iter().position(|entry| entry.op == Op::Flush).expect("it completed");
    assert!(flush_ended <= 10, "it was number {flush_ended} of 53 that completed");
}
