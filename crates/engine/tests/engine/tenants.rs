//! Who waited for whom: waits of one tenant behind another, worked out by hand.
//!
//! The channel moves 1 B/ns, a unit is 4 KiB, a page 16 KiB, command and address take 300 ns, a read 50 us, a program 400 us.

use crate::common::{Bench, at, closed, open, read, slc, trim, write};
use crate::scenario::policy_with;
use ninescope_engine::meter::{BehindSum, SPLIT, Waits, is_split_whole};
use ninescope_engine::{
    Device, Event, HostArbitrationConfig, LaneConfig, NoProbe, Plain, Probe, SimulationError, View, Watched,
};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_model::{Cause, Op, Request, Turns, UrgencyClass};
use serde_json::json;

const COMMAND: u64 = 300;
const READ: u64 = 50_000;
const PROGRAM: u64 = 400_000;
const UNIT: u64 = 4_096;
const PAGE: u64 = 16_384;
const UNIT_SECTORS: u64 = 8;
const PAGE_SECTORS: u64 = 32;
/// A read of a unit on an idle die.
const UNIT_READ: u64 = COMMAND + READ + UNIT;
/// A program of a page on an idle die.
const PAGE_PROGRAM: u64 = COMMAND + PAGE + PROGRAM;

/// Places of causes in [`Waits`].
const DIE_CHANNEL: usize = 0;
const DIE_READ: usize = 1;
const DIE_PROGRAM: usize = 2;
const CHANNEL: usize = 3;
const PROCESSOR: usize = 9;
const LINK: usize = 10;
const QUEUE: usize = 13;
const BUFFER: usize = 14;

fn bench(channels: u32, dies_per_channel: u32) -> Bench {
    Bench { channels, dies_per_channel, timing: slc(READ, PROGRAM), ..Bench::tiny() }
}

fn lane(requests: Vec<Request>) -> LaneConfig {
    LaneConfig::new(Box::new(closed(requests)), 1)
}

fn arriving(requests: Vec<(u64, Request)>) -> LaneConfig {
    let timed = |(time, request)| at(time, request);
    LaneConfig::new(Box::new(open(requests.into_iter().map(timed).collect())), 1)
}

fn run(bench: &Bench, lanes: Vec<LaneConfig>) -> Device {
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
    device.run().expect("the run ends well");
    device
}

/// Whom the requests of a lane waited for.
fn waited(device: &Device, lane: usize, op: Op) -> BehindSum {
    device.meter().lanes[lane].ops[op as usize].behind.total()
}

/// Time behind one holder, by the causes named.
fn waits<const N: usize>(of: [(usize, u64); N]) -> Waits {
    let mut waits = Waits::default();
    for (cause, time) in of {
        waits[cause] += time;
    }
    waits
}

/// By holder, the waits of a sum behind them are those of its causes; of processor and link a part of them.
fn assert_sums(sum: &BehindSum) {
    for (at, cause) in SPLIT.into_iter().enumerate() {
        let (behind, said) = (sum.behind.iter().map(|waits| waits[at]).sum::<u64>(), sum.parts.of(cause));
        assert!(if is_split_whole(at) { behind == said } else { behind <= said }, "{}: {behind}, {said}", cause.name());
    }
}

#[test]
fn a_reader_of_depth_one_waits_for_the_program_of_a_writer() {
    // The writer fills a page at 0, and its program begins. The reader comes 1 us later, waits for what is left of it, and reads
    // once more on the idle die.
    let bench = bench(1, 1);
    let reads = vec![(1_000, read(64 * UNIT_SECTORS, 8)), (1_000_000, read(64 * UNIT_SECTORS, 8))];
    let device = run(&bench, vec![arriving(reads), lane(vec![write(0, PAGE_SECTORS as u32)])]);
    let reader = waited(&device, 0, Op::Read);
    assert_eq!(reader.count, 2);
    assert_eq!(reader.behind, [[0; SPLIT.len()], waits([(DIE_PROGRAM, PAGE_PROGRAM - 1_000)]), [0; SPLIT.len()]]);
    assert_eq!(reader.parts.total(), 2 * UNIT_READ + PAGE_PROGRAM - 1_000);
    assert_eq!(waited(&device, 1, Op::Write).behind, [[0; SPLIT.len()]; 3], "it left its page in the buffer");
    assert_sums(&reader);
}

#[test]
fn readers_of_one_die_wait_for_each_other_in_turn() {
    // Both are there at 0. The first goes first; from then on each waits while the other reads, and nobody for itself.
    let bench = bench(1, 1);
    let count = 10;
    let reads = |unit: u64| lane(vec![read(unit * UNIT_SECTORS, 8); count]);
    let device = run(&bench, vec![reads(0), reads(64)]);
    let (first, second) = (waited(&device, 0, Op::Read), waited(&device, 1, Op::Read));
    let rounds = count as u64;
    assert_eq!(first.behind, [[0; SPLIT.len()], waits([(DIE_READ, (rounds - 1) * UNIT_READ)]), [0; SPLIT.len()]]);
    assert_eq!(second.behind, [waits([(DIE_READ, rounds * UNIT_READ)]), [0; SPLIT.len()], [0; SPLIT.len()]]);
    assert_sums(&first);
    assert_sums(&second);
}

#[test]
fn a_deep_reader_waits_for_itself() {
    // Two reads of one tenant are there at once, and one of the other: 0, 0, 1 by their turns is 0, 1, 0.
    let bench = bench(1, 1);
    let deep = LaneConfig { closed_queue_depth: 2, ..lane(vec![read(0, 8), read(8 * UNIT_SECTORS, 8)]) };
    let device = run(&bench, vec![deep, lane(vec![read(64 * UNIT_SECTORS, 8)])]);
    let (deep, other) = (waited(&device, 0, Op::Read), waited(&device, 1, Op::Read));
    assert_eq!(deep.behind, [waits([(DIE_READ, UNIT_READ)]), waits([(DIE_READ, UNIT_READ)]), [0; SPLIT.len()]]);
    assert_eq!(other.behind, [waits([(DIE_READ, UNIT_READ)]), [0; SPLIT.len()], [0; SPLIT.len()]]);
}

/// Two tenants read a unit each at the same time, of one die and of the other.
fn read_of_each_die(bench: &Bench) -> Device {
    let ftl = bench.ftl();
    let unit_on = |die: u32| {
        let on_die = |unit: &u32| bench.die_of(&ftl, ninescope_model::Lpa(*unit)).0 == die;
        u64::from((0..bench.logical_units()).find(on_die).expect("a unit on each die"))
    };
    let reads = |die: u32| lane(vec![read(unit_on(die) * UNIT_SECTORS, 8)]);
    run(bench, vec![reads(0), reads(1)])
}

#[test]
fn dies_of_one_channel_wait_for_each_others_data() {
    // Two dies on one channel: the second command goes out behind the first, and its data come right behind the first one's.
    let bench = bench(1, 2);
    let device = read_of_each_die(&bench);
    assert_eq!(waited(&device, 0, Op::Read).behind, [[0; SPLIT.len()]; 3]);
    let second = waited(&device, 1, Op::Read);
    // The command waits for that of the first; its data are sensed as much later, and wait for the rest of the first one's.
    assert_eq!(second.behind, [waits([(CHANNEL, COMMAND + (UNIT - COMMAND))]), [0; SPLIT.len()], [0; SPLIT.len()]]);
    assert_eq!(second.parts.of(Cause::Channel), UNIT);
}

#[test]
fn a_page_counts_for_the_tenant_that_wrote_into_it_first() {
    // Tenant 0 writes a unit, tenant 1 the three others of the page: a reader behind its program waited for tenant 0.
    let bench = bench(1, 1);
    let writers = [vec![(0, write(0, 8))], vec![(10, write(UNIT_SECTORS, 24))]].map(arriving);
    let [first, second] = writers;
    let device = run(&bench, vec![first, second, arriving(vec![(20, read(64 * UNIT_SECTORS, 8))])]);
    let reader = waited(&device, 2, Op::Read);
    assert_eq!(reader.behind[0], waits([(DIE_PROGRAM, PAGE_PROGRAM - 10)]));
    assert_eq!(reader.behind[1..], [[0; SPLIT.len()]; 3]);
}

#[test]
fn processor_and_link_are_waited_for_in_the_order_of_entry() {
    // 1 us in the controller each, 2 B/ns on the link: three commands come at once, of tenants 0, 1 and 0.
    let mut bench = bench(1, 1);
    (bench.engine.command_cost, bench.engine.link_rate) = (Ns(1_000), Rate(2_000_000_000));
    let deep = LaneConfig { closed_queue_depth: 2, ..lane(vec![write(0, 8), write(UNIT_SECTORS, 8)]) };
    let device = run(&bench, vec![deep, lane(vec![write(2 * UNIT_SECTORS, 8)])]);
    let (deep, other) = (waited(&device, 0, Op::Write), waited(&device, 1, Op::Write));
    // Data take 2048 ns: the second is through the controller at 2000 and waits for the link until 3048, the third at 3000 until 5096.
    let link = UNIT / 2;
    let (second, third) = (1_000 + link - 2_000, 1_000 + 2 * link - 3_000);
    assert_eq!(other.behind, [waits([(PROCESSOR, 1_000), (LINK, second)]), [0; SPLIT.len()], [0; SPLIT.len()]]);
    let behind_other = waits([(PROCESSOR, 1_000), (LINK, link)]);
    assert_eq!(deep.behind, [waits([(PROCESSOR, 1_000), (LINK, third - link)]), behind_other, [0; SPLIT.len()]]);
    assert_eq!(other.parts.of(Cause::Link), second + link);
    assert_eq!(other.parts.of(Cause::CommandProcessing), 2_000);
}

#[test]
fn a_tenants_trims_are_waited_for_as_long_as_their_entries_take() {
    // Five entries of 1 us each; the reader comes 1 us later. No other command takes time of the controller.
    let mut bench = bench(1, 1);
    bench.engine.trim = policy_with(&json!({ "policy": "at-once", "entry_time": "1us" }));
    let trims = arriving(vec![(0, trim(0, 5 * 8)), (100_000, trim(0, 8))]);
    let device = run(&bench, vec![arriving(vec![(1_000, read(64 * UNIT_SECTORS, 8))]), trims]);
    let (reader, trimmer) = (waited(&device, 0, Op::Read), waited(&device, 1, Op::Trim));
    assert_eq!(reader.behind, [[0; SPLIT.len()], waits([(PROCESSOR, 4_000)]), [0; SPLIT.len()]]);
    assert_eq!(reader.parts.of(Cause::CommandProcessing), 4_000);
    assert_eq!((trimmer.behind, trimmer.parts.total()), ([[0; SPLIT.len()]; 3].to_vec(), 6_000));
}

#[test]
fn data_wait_for_the_link_behind_those_that_were_ready_before() {
    // Two dies with channels of their own, 1/4 B/ns on the link: both units are ready at once, and leave one after the other.
    let mut bench = bench(2, 1);
    bench.engine.link_rate = Rate(250_000_000);
    let device = read_of_each_die(&bench);
    assert_eq!(waited(&device, 0, Op::Read).behind, [[0; SPLIT.len()]; 3]);
    let second = waited(&device, 1, Op::Read);
    assert_eq!(second.behind, [waits([(LINK, 4 * UNIT)]), [0; SPLIT.len()], [0; SPLIT.len()]]);
    assert_eq!(second.parts.of(Cause::Link), 2 * 4 * UNIT);
}

#[test]
fn garbage_is_collected_for_who_writes() {
    // A drive that collects garbage under writes of one tenant: that is behind him, once he has opened a block of each pool.
    let mut bench = Bench { timing: slc(READ, PROGRAM), ..Bench::tiny().busy() };
    bench.engine.queue_depth = 16;
    let mut stream = RandomStream::new(3, "tests", "tenants");
    let units = u64::from(bench.logical_units());
    let mut unit = || stream.below(units) * UNIT_SECTORS;
    let reads = (0..4_000).map(|_| read(unit(), 8)).collect();
    let writes = (0..8_000).map(|_| write(unit(), 8)).collect();
    let deep = LaneConfig { closed_queue_depth: 8, ..lane(writes) };
    let device = run(&bench, vec![lane(reads), deep]);
    let (reader, writer) = (waited(&device, 0, Op::Read), waited(&device, 1, Op::Write));
    assert_sums(&reader);
    assert_sums(&writer);
    assert!(reader.parts.of(Cause::DieErase) > 0, "garbage is collected");
    assert_eq!(reader.behind[0][DIE_READ], 0, "its one read is never behind another of its own");
    assert_eq!(reader.behind[1][DIE_PROGRAM], reader.parts.of(Cause::DieHostProgram));
    assert!(reader.behind[1][DIE_CHANNEL] > 0);
    for cause in [Cause::DieGcRead, Cause::DieGcProgram, Cause::DieErase] {
        let at = SPLIT.iter().position(|split| *split == cause).expect("it is split");
        let (of_writer, of_all) = (reader.behind[1][at], reader.parts.of(cause));
        assert!(of_all > 0 && reader.behind[0][at] == 0, "{}: the reader writes nothing", cause.name());
        assert!(of_writer * 10 > of_all * 9, "{}: {of_writer} of {of_all}", cause.name());
    }
    // The parts of all lanes are those of the run.
    let all: u64 = (0..2).flat_map(|lane| Op::ALL.map(|op| waited(&device, lane, op).parts.total())).sum();
    assert_eq!(u128::from(all), device.meter().latency_sum);
}

#[test]
fn a_write_waits_for_a_free_page_behind_who_has_opened_the_groups() {
    // One writes all that the drive holds over and over, and what the host writes waits for garbage collection. The other one writes a
    // unit now and then, too few to open a group often: what it waits for is the first one's doing.
    let mut bench = Bench { timing: slc(READ, PROGRAM), ..Bench::tiny().busy() };
    (bench.channels, bench.dies_per_channel) = (1, 1);
    bench.engine.buffered_pages = 1_000;
    let trigger = serde_json::json!({ "policy": "foreground", "beyond_reserve": 0, "gain": 1 });
    bench.gc_trigger = serde_json::from_value(trigger).expect("a trigger");
    bench.engine.queue_depth = 64;
    let mut stream = RandomStream::new(3, "tests", "free pages");
    let units = u64::from(bench.logical_units());
    let mut unit = || stream.below(units) * UNIT_SECTORS;
    let seldom = arriving((0..300).map(|index| (index * 1_000_000, write(unit(), 8))).collect());
    let often = LaneConfig { closed_queue_depth: 48, ..lane((0..20_000).map(|_| write(unit(), 8)).collect()) };
    let device = run(&bench, vec![seldom, often]);
    let at = SPLIT.iter().position(|split| *split == Cause::AllocationStall).expect("it is split");
    let seldom = waited(&device, 0, Op::Write);
    assert_sums(&seldom);
    assert_sums(&waited(&device, 1, Op::Write));
    let (all, of_often) = (seldom.parts.of(Cause::AllocationStall), seldom.behind[1][at]);
    assert!(all > 0 && of_often * 10 > all * 9, "{of_often} of {all}");
}

// ---- whose command is next -----------------------------------------------------------------------

/// The lanes of commands in the order in which they were taken in.
#[derive(Debug, Default)]
struct Order(Vec<u16>);

impl Probe for Order {
    fn observe(&mut self, _view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        if let Event::Fetched { lane, .. } = event {
            self.0.push(lane);
        }
        Ok(())
    }
}

fn weighted(burst: u32) -> HostArbitrationConfig {
    let policy = format!("{{\"policy\": \"weighted-round-robin\", \"burst\": {burst}}}");
    serde_json::from_str(&policy).expect("a policy")
}

/// Deep readers of one die, each with what it says of its turn.
fn order_of(depth: u32, arbitration: &HostArbitrationConfig, turns: &[Turns], count: usize) -> Device<Watched> {
    let mut bench = bench(1, 1);
    (bench.engine.queue_depth, bench.engine.arbitration) = (depth, arbitration.clone());
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let of = |(unit, &turns): (u64, &Turns)| LaneConfig {
        turns,
        closed_queue_depth: 64,
        ..lane(vec![read(unit * UNIT_SECTORS, 8); count])
    };
    let lanes = (0..).zip(turns).map(of).collect();
    let probe = Box::new(Order::default());
    let mut device = Device::<Watched>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, probe);
    device.run().expect("the run ends well");
    device
}

fn weight(weight: u32) -> Turns {
    Turns { weight: Some(weight), ..Turns::default() }
}

fn class(class: UrgencyClass) -> Turns {
    Turns { class, weight: None }
}

#[test]
fn shares_of_a_full_queue_are_the_weights() {
    // Three jobs that always have something ready share eight slots: whatever the burst, each round of 7 has 4, 2 and 1 of them.
    for burst in [1, 3, 64] {
        let count = 1_400;
        let device = order_of(8, &weighted(burst), &[weight(4), weight(1), weight(2)], count);
        let order = &device.probe::<Order>().0;
        // Until the first of them has nothing more, after so many rounds.
        let rounds = count / 4;
        let taken = |lane: u16| order[..rounds * 7].iter().filter(|&&of| of == lane).count();
        assert_eq!([taken(0), taken(1), taken(2)], [4 * rounds, rounds, 2 * rounds], "burst {burst}");
        let chosen: Vec<u64> = device.meter().lanes.iter().map(|lane| lane.chosen.taken_in).collect();
        assert_eq!(chosen, [count as u64; 3], "all are taken in at last");
        assert!(device.meter().lanes[0].chosen.out_of_turn > 0);
    }
}

#[test]
fn commands_come_in_bursts_of_one_job() {
    // A round is 0 0 1 1 0; the next begins with the job behind the last one, and is 1 1 0 0 0.
    let device = order_of(1, &weighted(2), &[weight(3), weight(2)], 6);
    assert_eq!(device.probe::<Order>().0, [0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1]);
}

#[test]
fn urgent_jobs_go_first_and_the_others_share_the_rest() {
    let turns = [class(UrgencyClass::Low), class(UrgencyClass::Urgent), class(UrgencyClass::High)];
    // The low one has 1 of 5, the high one 4.
    let device = order_of(1, &weighted(1), &turns, 5);
    assert_eq!(device.probe::<Order>().0, [1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 2, 0, 0, 0]);
    let urgent = &device.meter().lanes[1];
    assert_eq!((urgent.chosen.taken_in, urgent.chosen.out_of_turn), (5, 5));
}

#[test]
fn in_turn_weights_say_nothing() {
    let said = order_of(4, &HostArbitrationConfig::default(), &[weight(9), class(UrgencyClass::Urgent)], 50);
    let silent = order_of(4, &HostArbitrationConfig::default(), &[Turns::default(); 2], 50);
    assert_eq!(said.digest(), silent.digest());
    assert!(said.meter().lanes.iter().all(|lane| lane.chosen.taken_in == 0));
}

#[test]
fn a_wait_for_a_place_of_the_queue_is_shared_by_who_holds_the_places() {
    // Two places. The second tenant's reads, which lie on one die, take both at 0, and leave them at one UNIT_READ and at two. The
    // first one's read comes at 1 us and gets the first of them; the second read comes with it and gets the other.
    let mut bench = bench(1, 1);
    bench.engine.queue_depth = 2;
    let of = |unit: u64| read(unit * UNIT_SECTORS, 8);
    let noisy = arriving(vec![(0, of(64)), (0, of(65))]);
    let quiet = arriving(vec![(1_000, of(0)), (1_000, of(8))]);
    let device = run(&bench, vec![quiet, noisy]);
    let quiet = waited(&device, 0, Op::Read);
    let first = UNIT_READ - 1_000;
    assert_eq!(quiet.parts.of(Cause::HostQueue), first + first + UNIT_READ);
    // Until then the other one holds both. Then each holds one: its other read, and the first of these, behind it at the die.
    // Of places times time, the last read's own tenant has UNIT_READ and the other one twice as much as that read waited less that.
    assert_eq!(quiet.behind[0][QUEUE], UNIT_READ / 2);
    assert_eq!((quiet.behind[1][QUEUE], quiet.behind[2][QUEUE]), (2 * first + UNIT_READ / 2, 0));
    assert_sums(&quiet);
}

#[test]
fn a_stall_behind_a_full_buffer_is_shared_by_whose_pages_are_in_it() {
    // Room for two pages: one of each tenant is there at 0. The first one's next page waits from 1 us on until one is programmed.
    let mut bench = bench(1, 1);
    bench.engine.buffered_pages = 2;
    let page = |at: u64| write(at * PAGE_SECTORS, PAGE_SECTORS as u32);
    let device = run(&bench, vec![arriving(vec![(0, page(0)), (1_000, page(1))]), arriving(vec![(0, page(8))])]);
    let (first, second) = (waited(&device, 0, Op::Write), waited(&device, 1, Op::Write));
    let stall = PAGE_PROGRAM - 1_000;
    assert_eq!(first.parts.of(Cause::BufferStall), stall);
    assert_eq!([0, 1, 2].map(|holder| first.behind[holder][BUFFER]), [stall / 2, stall / 2, 0]);
    assert_eq!(second.parts.of(Cause::BufferStall), 0);
    assert_sums(&first);
}
