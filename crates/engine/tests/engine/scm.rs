//! A drive of storage-class memory: latencies and causes worked out by hand, bounds of bus and banks, and a serial
//! drive against the sum of its stages.

use crate::common::tiered::{self, TierBench};
use crate::common::{Bench, at, closed, flush, generated, open, read, trim, write};
use ninescope_engine::{Device, EngineConfig, LaneConfig, NoProbe, RunLimits, ScmPart, TransactionSchedulerConfig};
use ninescope_ftl::policies::sector_wear_leveling::ladder::Ladder;
use ninescope_ftl::policies::sector_wear_leveling::start_gap::StartGap;
use ninescope_ftl::policies::{SectorWearLeveling, SectorWearLevelingConfig};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::scm::program_verify::to_the_cap::ToTheCap;
use ninescope_media::scm::program_verify::until_pass::UntilPass;
use ninescope_media::scm::{CopyPath, ProgramVerify, ProgramVerifyConfig, PulseOrder, Scm, ScmTiming, WrittenCells};
use ninescope_model::{Arrival, Cause, Op, Request, ScmGeometry, Workload};
use ninescope_oracles::scm as bounds;

/// The seed of verified writes.
const SEED: u64 = 17;

/// A drive by hand: 2 channels of 2 banks, 16 slots of 32 sectors; reads of 100 ns, set pulses of 70, reset pulses of
/// 110, 10 ns of command, 400 ns of bus per sector; copies go through the controller. It takes 1 us per command, the
/// link 1 ns per byte.
#[derive(Clone, Debug)]
struct ScmBench {
    channels: u32,
    banks_per_channel: u32,
    slots: u32,
    sectors_per_slot: u32,
    leveling: SectorWearLevelingConfig,
    verify: Option<ProgramVerifyConfig>,
    timing: ScmTiming,
    engine: EngineConfig,
}

impl ScmBench {
    fn new() -> Self {
        Self {
            channels: 2,
            banks_per_channel: 2,
            slots: 16,
            sectors_per_slot: 32,
            leveling: SectorWearLevelingConfig::default(),
            verify: None,
            timing: ScmTiming {
                read: Ns(100),
                set: Ns(70),
                reset: Ns(110),
                pulse_order: PulseOrder::Together,
                command_address: Ns(10),
                channel_rate: Rate(1_280_000_000),
                copies: CopyPath::ThroughController,
            },
            engine: EngineConfig {
                command_cost: Ns(1000),
                link_rate: Rate(1_000_000_000),
                log_requests: true,
                ..Bench::tiny().engine
            },
        }
    }

    /// The same with one bank and nothing but the memory and its bus.
    fn serial(timing: ScmTiming) -> Self {
        let mut bench = Self { channels: 1, banks_per_channel: 1, timing, ..Self::new() };
        (bench.engine.command_cost, bench.engine.link_rate) = (Ns::ZERO, Rate(0));
        bench
    }

    /// The same with memory that copies by itself, or through the controller.
    fn copying(mut self, copies: CopyPath) -> Self {
        self.timing.copies = copies;
        self
    }

    fn verify_policy(&self) -> Option<Box<dyn ProgramVerify>> {
        let cells = WrittenCells { count: 4096, rber: Some(1e-3) };
        self.verify.as_ref().map(|config| config.build(&cells).expect("a legal policy"))
    }

    fn run(&self, workload: impl Workload + 'static, depth: u32) -> Device {
        let banks = self.channels * self.banks_per_channel;
        let logical = self.slots / banks * self.sectors_per_slot;
        let spare = self.leveling.chosen().spare_sectors(logical);
        let shape =
            ScmGeometry::checked(self.channels, self.banks_per_channel, self.slots, self.sectors_per_slot, spare)
                .expect("a legal shape");
        let mut media = Scm::new(&shape, &self.timing).expect("legal times");
        if let Some(policy) = self.verify_policy() {
            media = media.with_verify(0, policy, SEED);
        }
        let scm = ScmPart::new(&[(shape, self.leveling.clone())], media);
        let lanes = vec![LaneConfig::new(Box::new(workload), depth)];
        let mut device: Device = Device::of_scm(&self.engine, &RunLimits::default(), scm, lanes, NoProbe);
        device.run().expect("the run ends well");
        device
    }
}

fn latencies(device: &Device) -> Vec<u64> {
    device.request_log().iter().map(|entry| entry.latency.0).collect()
}

/// The parts of all requests of a kind, those that are not zero.
fn parts(device: &Device, op: Op) -> Vec<(Cause, u64)> {
    let total = device.meter().ops[op as usize].attribution.total();
    Cause::ALL.into_iter().map(|cause| (cause, total.of(cause))).filter(|(_, time)| *time > 0).collect()
}

#[test]
fn a_single_read_takes_the_sum_of_its_stages() {
    let device = ScmBench::new().run(closed(vec![read(8, 8)]), 1);
    // Controller 1000, command 10, eight sectors of 100, eight of 400 over the bus, 4096 B over the link.
    assert_eq!(latencies(&device), [1000 + 10 + 800 + 3200 + 4096]);
    let expected =
        [(Cause::CommandProcessing, 1000), (Cause::Link, 4096), (Cause::CommandArray, 810), (Cause::Transfer, 3200)];
    assert_eq!(parts(&device, Op::Read), expected);
}

#[test]
fn a_single_write_takes_the_sum_of_its_stages_and_wears_its_sectors() {
    let device = ScmBench::new().run(closed(vec![write(8, 8)]), 1);
    // The same way back: 4096 B over the link, then bus and eight sectors whose longer pulse takes 110.
    assert_eq!(latencies(&device), [1000 + 4096 + 10 + 3200 + 880]);
    let expected =
        [(Cause::CommandProcessing, 1000), (Cause::Link, 4096), (Cause::CommandArray, 890), (Cause::Transfer, 3200)];
    assert_eq!(parts(&device, Op::Write), expected);
    let wear = device.scm().media().wear();
    assert!(wear[8..16].iter().all(|&wear| wear == 1) && wear.iter().sum::<u32>() == 8);
    assert_eq!(device.scm().counters(0).sectors_written, 8);
}

#[test]
fn parts_on_different_channels_run_at_the_same_time() {
    // Four sectors at the end of slot 0 and four at the beginning of slot 1, on the other channel: both are read at
    // 1000 + 10 + 400 + 1600 = 3010, then they cross the link one after the other.
    let device = ScmBench::new().run(closed(vec![read(28, 8)]), 1);
    assert_eq!(latencies(&device), [3010 + 2048 + 2048]);
    assert_eq!(device.scm().counters(0).channel_waits, 0);
}

#[test]
fn parts_on_one_channel_wait_for_each_others_bytes() {
    // The second command is sent at 1010 and sensed at 1420; the bus is free again at 3010 and moves its data until
    // 4610. Its data cross the link from 5058 to 7106, behind those of the first.
    let bench = ScmBench { channels: 1, ..ScmBench::new() };
    let device = bench.run(closed(vec![read(28, 8)]), 1);
    assert_eq!(latencies(&device), [7106]);
    let expected = [
        (Cause::CommandProcessing, 1000),
        (Cause::Link, 7106 - 4610),
        (Cause::CommandArray, 410),
        (Cause::Transfer, 1600),
        (Cause::OwnParts, 10 + 3010 - 1420),
    ];
    assert_eq!(parts(&device, Op::Read), expected);
    assert_eq!(device.scm().counters(0).channel_waits, 2);
}

#[test]
fn parts_on_one_bank_are_behind_nobody_else() {
    // Both slots are of the only bank: the first holds it from 1000 to 3010, the second until 5020, whose data cross
    // the link behind those of the first, from 5058 to 7106.
    let bench = ScmBench { channels: 1, banks_per_channel: 1, ..ScmBench::new() };
    let device = bench.run(closed(vec![read(28, 8)]), 1);
    let expected = [
        (Cause::CommandProcessing, 1000),
        (Cause::Link, 7106 - 5020),
        (Cause::CommandArray, 410),
        (Cause::Transfer, 1600),
        (Cause::OwnParts, 2010),
    ];
    assert_eq!(parts(&device, Op::Read), expected);
}

#[test]
fn a_wait_for_the_bank_is_split_by_what_held_it() {
    // Both reads are of slot 0. The first holds the bank from 1000 to 5010; the second leaves the processor at 2000.
    let device = ScmBench::new().run(closed(vec![read(0, 8), read(16, 8)]), 2);
    assert_eq!(latencies(&device), [9106, 13_202]);
    let of_both = [
        (Cause::DieHostRead, 3010),
        (Cause::CommandProcessing, 1000 + 2000),
        (Cause::Link, 4096 + 13_202 - 9020),
        (Cause::CommandArray, 810 + 810),
        (Cause::Transfer, 3200 + 3200),
    ];
    assert_eq!(parts(&device, Op::Read), of_both);
}

/// Both ways that copies take.
const PATHS: [CopyPath; 2] = [CopyPath::InMemory, CopyPath::ThroughController];

fn ladder(overwrites: u32) -> SectorWearLevelingConfig {
    SectorWearLevelingConfig::Ladder(Ladder { overwrites: overwrites.try_into().expect("a rung"), spare: 0.0 })
}

fn start_gap(psi: u32) -> SectorWearLevelingConfig {
    SectorWearLevelingConfig::StartGap(StartGap { psi: psi.try_into().expect("writes") })
}

/// Banks of one slot of four sectors on one channel.
fn banks_on_a_channel(banks_per_channel: u32, leveling: SectorWearLevelingConfig) -> ScmBench {
    let slots = banks_per_channel;
    ScmBench { channels: 1, banks_per_channel, slots, sectors_per_slot: 4, leveling, ..ScmBench::new() }
}

#[test]
fn copies_of_wear_levelling_delay_the_write_they_make_room_for() {
    let plain = 1000 + 512 + 10 + 400 + 110;
    // A read of 100 and a write of 110; through the controller two crossings of 400 and a command of 10 between them.
    for (copies, copy) in PATHS.into_iter().zip([210, 100 + 400 + 10 + 400 + 110]) {
        // Rungs of two: the third write to sector 0 changes places with sector 1 before its command is sent.
        let device = banks_on_a_channel(1, ladder(2)).copying(copies).run(closed(vec![write(0, 1); 3]), 1);
        assert_eq!(latencies(&device), [plain, plain, plain + copy]);
        assert!(parts(&device, Op::Write).contains(&(Cause::DieWearLeveling, copy)));
        assert_eq!(parts(&device, Op::Write).iter().map(|(_, time)| time).sum::<u64>(), 3 * plain + copy);
        assert_eq!(device.scm().media().wear(), [3, 1, 0, 0]);
        let counters = *device.scm().counters(0);
        assert_eq!((counters.sectors_copied, counters.sectors_written, counters.channel_waits), (1, 3, 0));
        assert_eq!(device.scm().locate(ninescope_model::SlotId(0), 0), 1);

        // The gap moves before every second write.
        let device = banks_on_a_channel(1, start_gap(2)).copying(copies).run(closed(vec![write(0, 1); 4]), 1);
        assert_eq!(latencies(&device), [plain, plain + copy, plain, plain + copy]);
        assert!(parts(&device, Op::Write).contains(&(Cause::DieWearLeveling, 2 * copy)));
        assert_eq!(device.scm().counters(0).sectors_copied, 2);
    }
}

#[test]
fn copies_of_one_write_cross_the_channel_together() {
    // Both sectors have reached their rung: k = 2 copies are k x (read + write + 2 x bus) and one command.
    let plain = 1000 + 1024 + 10 + 800 + 220;
    for (copies, copy) in PATHS.into_iter().zip([2 * 210, 2 * (100 + 110 + 800) + 10]) {
        let device = banks_on_a_channel(1, ladder(2)).copying(copies).run(closed(vec![write(0, 2); 3]), 1);
        assert_eq!(latencies(&device), [plain, plain, plain + copy]);
        assert_eq!(device.scm().counters(0).sectors_copied, 2);
    }
}

/// Two banks on a channel, rungs of two; the third write to sector 0 comes at 2000 and the bank has read what it copies
/// at 2100. Another request to the other bank is given with its time.
fn third_write_beside(other: (u64, Request), copies: CopyPath) -> Device {
    let mut bench = banks_on_a_channel(2, ladder(2)).copying(copies);
    (bench.engine.command_cost, bench.engine.link_rate) = (Ns::ZERO, Rate(0));
    let writes = [0, 1000, 2000].map(|time| at(time, write(0, 1)));
    bench.run(open(writes.into_iter().chain([at(other.0, other.1)]).collect()), 4)
}

/// Latencies by number of request.
fn by_number(device: &Device) -> Vec<u64> {
    let mut entries: Vec<(u64, u64)> = device.request_log().iter().map(|entry| (entry.id, entry.latency.0)).collect();
    entries.sort_unstable();
    entries.into_iter().map(|(_, latency)| latency).collect()
}

#[test]
fn copies_wait_for_the_channel_of_their_bank() {
    // The other write sends four sectors from 2050 to 3660 and is through at 4100. The copy crosses from 3660 to 4470
    // and is written until 4580; then its write: 410 on the channel and 110.
    let device = third_write_beside((2050, write(4, 4)), CopyPath::ThroughController);
    assert_eq!(by_number(&device), [520, 520, 2580 + 520, 2050]);
    let expected =
        [(Cause::DieWearLeveling, 2580), (Cause::CommandArray, 3 * 120 + 450), (Cause::Transfer, 3 * 400 + 1600)];
    assert_eq!(parts(&device, Op::Write), expected);
    assert_eq!(device.scm().counters(0).channel_waits, 1);
    // Memory that copies by itself is through with it while the channel is taken: its write waits from 2210 to 3660.
    let device = third_write_beside((2050, write(4, 4)), CopyPath::InMemory);
    assert_eq!(by_number(&device), [520, 520, 210 + 1450 + 520, 2050]);
    assert_eq!(device.scm().counters(0).channel_waits, 1);
}

#[test]
fn other_banks_wait_for_the_channel_while_copies_cross_it() {
    // The copy crosses from 2100 to 2910 and is written until 3020. The other write waits from 2150 on, sends until
    // 3320 and is through at 3430. The copying bank's own write waits for that from 3020 on.
    let mut device = third_write_beside((2150, write(4, 1)), CopyPath::ThroughController);
    assert_eq!(by_number(&device), [520, 520, 1020 + 300 + 520, 760 + 520]);
    let expected = [
        (Cause::DieWearLeveling, 1020),
        (Cause::Channel, 300 + 760),
        (Cause::CommandArray, 4 * 120),
        (Cause::Transfer, 4 * 400),
    ];
    assert_eq!(parts(&device, Op::Write), expected);
    assert_eq!(device.scm().counters(0).channel_waits, 2);
    // Four commands with a sector each, and a copy out and in.
    assert_eq!(device.utilization().bank_channels[0], Ns(4 * 410 + 810));
    // Memory that copies by itself asks for the channel at 2210, behind the other write, which has it from 2150 to
    // 2560.
    let mut device = third_write_beside((2150, write(4, 1)), CopyPath::InMemory);
    assert_eq!(by_number(&device), [520, 520, 210 + 350 + 520, 520]);
    assert_eq!(device.scm().counters(0).channel_waits, 1);
    assert_eq!(device.utilization().bank_channels[0], Ns(4 * 410));
}

#[test]
fn a_verified_write_takes_its_cycles_and_so_do_the_copies_before_it() {
    // Three cycles of a verify read of 100 and a pulse of 110 behind each write of a sector.
    let verify = Some(ProgramVerifyConfig::ToTheCap(ToTheCap { cycles: 3, ..ToTheCap::default() }));
    let device = ScmBench { verify: verify.clone(), ..ScmBench::new() }.run(closed(vec![write(8, 8), read(8, 8)]), 1);
    assert_eq!(latencies(&device), [1000 + 4096 + 10 + 3200 + 8 * 740, 1000 + 10 + 800 + 3200 + 4096]);
    assert!(parts(&device, Op::Write).contains(&(Cause::CommandArray, 10 + 8 * 740)));
    let counters = *device.scm().counters(0);
    assert_eq!((counters.verify_cycles, counters.verify_reads, counters.sectors_written), (24, 24, 8));
    assert_eq!(device.scm().media().wear().iter().sum::<u32>(), 8, "cycles are no writes");

    // As above, the third write to sector 0 changes places with sector 1: the copy is read, written and verified.
    let plain = 1000 + 512 + 10 + 400 + 740;
    for (copies, copy) in PATHS.into_iter().zip([100 + 740, 100 + 810 + 740]) {
        let bench = ScmBench { verify: verify.clone(), ..banks_on_a_channel(1, ladder(2)) }.copying(copies);
        let device = bench.run(closed(vec![write(0, 1); 3]), 1);
        assert_eq!(latencies(&device), [plain, plain, plain + copy]);
        assert!(parts(&device, Op::Write).contains(&(Cause::DieWearLeveling, copy)));
        assert_eq!(device.scm().counters(0).verify_cycles, 3 * 4);
    }
}

#[test]
fn writes_until_they_pass_take_as_many_cycles_as_their_cells_fail() {
    // Requests of a slot each, so that many sectors are drawn.
    const REQUESTS: u64 = 2_000;
    const SECTORS: u64 = 32 * REQUESTS;
    let verify = Some(ProgramVerifyConfig::UntilPass(UntilPass { rber: Some(2e-4), ..UntilPass::default() }));
    let bench = ScmBench { verify, ..ScmBench::serial(ScmBench::new().timing) };
    let device = bench.run(closed(vec![write(0, 32); REQUESTS as usize]), 1);
    let counters = *device.scm().counters(0);
    // The mean of cycles is the sum over v < 20 of P[a cell still fails after v of them], of verify reads that of v <
    // 19 and the first, which every sector has; the rate after v cycles is that of `VerifyCurve`.
    let fails = |cycles: u32| {
        let cut = 0.49 * (-f64::from(cycles) / 5.0).exp_m1() / (-4.0_f64).exp_m1();
        1.0 - (1.0 - 2e-4 * (1.0 - cut)).powi(4096)
    };
    let expected: f64 = (0..20).map(fails).sum();
    let (cycles, reads) = (counters.verify_cycles as f64, counters.verify_reads as f64);
    // A sector's cycles have a standard deviation of at most 10.
    let limit = 4.0 * 10.0 / (SECTORS as f64).sqrt();
    assert!((cycles / SECTORS as f64 - expected).abs() < limit, "{} for {expected}", cycles / SECTORS as f64);
    assert!((reads / SECTORS as f64 - (expected - fails(19) + 1.0)).abs() < limit);
    // 110 for the first pulse, 110 per cycle and 100 per verify read, to the nanosecond.
    let stages =
        REQUESTS * (10 + 32 * 400) + SECTORS * 110 + counters.verify_cycles * 110 + counters.verify_reads * 100;
    assert_eq!(latencies(&device).iter().sum::<u64>(), stages);
}

#[test]
fn reads_pass_waiting_writes_unless_the_order_is_that_of_arrival() {
    // All of one slot; the other two are queued while the first write holds the bank.
    let order = |scheduler: TransactionSchedulerConfig| -> Vec<u64> {
        let mut bench = ScmBench::new();
        (bench.engine.command_cost, bench.engine.link_rate) = (Ns::ZERO, Rate(0));
        bench.engine.scheduler = scheduler;
        let device = bench.run(open(vec![write(0, 1), at(1, write(1, 1)), at(2, read(2, 1))]), 3);
        device.request_log().iter().map(|entry| entry.id).collect()
    };
    assert_eq!(order(TransactionSchedulerConfig::default()), [0, 2, 1]);
    let fifo = TransactionSchedulerConfig::all().into_iter().find(|config| config.name() == "fifo");
    assert_eq!(order(fifo.expect("a policy")), [0, 1, 2]);
}

#[test]
fn flushes_have_nothing_to_wait_for_and_trims_nothing_to_gain() {
    let mut bench = ScmBench::new();
    bench.engine.command_cost = Ns(7);
    let device = bench.run(closed(vec![write(0, 1), flush(), trim(0, 8), read(0, 1)]), 1);
    let latencies = latencies(&device);
    assert_eq!((latencies[1], latencies[2]), (7, 7));
    assert_eq!(device.scm().counters(0).trim_sectors_ignored, 8);
}

/// A memory of one time for reads and writes, behind a bus of 400 ns per sector.
fn symmetric(time: u64) -> ScmTiming {
    let time = Ns(time);
    ScmTiming { read: time, set: time, reset: time, command_address: Ns::ZERO, ..ScmBench::new().timing }
}

#[test]
fn a_serial_drive_gains_from_faster_memory_what_its_bus_allows() {
    // Multi-SCM drive: 0.4 us of bus, inferred; 1.28 us, a bus of 400 MB/s, which cannot reproduce
    // the paper's +134 %; and 0.5 us, which can.
    for overhead in [400, 500, 1280] {
        let time_of = |time: u64| {
            let sectors = (0..64).map(|index| if index % 3 == 0 { read(index, 1) } else { write(index, 1) }).collect();
            let timing = ScmTiming { channel_rate: Rate(512_000_000_000 / overhead), ..symmetric(time) };
            ScmBench::serial(timing).run(closed(sectors), 1).now().0
        };
        let (slow, fast) = (time_of(1000), time_of(100));
        assert_eq!((slow, fast), (64 * (overhead + 1000), 64 * (overhead + 100)));
        let bound = bounds::gain_of_faster_memory(overhead as f64, 1000.0, 100.0);
        let gain = slow as f64 / fast as f64;
        assert!((gain - bound).abs() < 1e-12);
        assert_eq!(gain > 2.34, overhead <= 500);
    }
}

#[test]
fn caching_in_faster_memory_gains_what_the_bus_allows_and_no_more() {
    // 0.4 us of bus above and below, 0.1 and 1 us of array. Sixteen pages are read in turn; eight slots or all hold
    // them.
    let time_of = |slots: u32, placement: &str| {
        let mut bench = TierBench::round(&serde_json::json!({ "policy": placement, "migration": "foreground" }));
        (bench.slots, bench.times) = ((slots, 16), (tiered::symmetric(100, 400), tiered::symmetric(1000, 400)));
        bench.flash.limits.warmup_requests = 16 * 8;
        let reads = (0..16 * 64).map(|index| read(index % 16 * 32 + index % 7, 1)).collect();
        let device = bench.run(closed(reads));
        tiered::latencies(&device).iter().sum::<u64>()
    };
    let reads = 16 * 56;
    // A slot is kept free: with 17 of them all pages stay.
    let (all, half) = (time_of(17, "nv-wb"), time_of(8, "nv-wb"));
    assert_eq!(all, reads * 500);
    // Read in turn, a page is gone from eight slots before it is read again: its sector, its page, its slot.
    assert_eq!(half, reads * (1400 + 32 * 1400 + 32 * 500));
    let bound = bounds::gain_of_faster_memory(400.0, 1000.0, 100.0);
    assert!(((reads * 1400) as f64 / all as f64 - bound).abs() < 1e-12);
}

#[test]
fn levelling_takes_the_time_that_the_bounds_say() {
    let (one, in_turn): (Vec<u64>, Vec<u64>) =
        ((0..10_000).map(|_| 3).collect(), (0..9_600).map(|at| at % 64).collect());
    let of_path = [bounds::copy_in_memory(1000.0, 1000.0), bounds::copy_through_controller(1000.0, 1000.0, 400.0, 0.0)];
    for (copies, copy) in PATHS.into_iter().zip(of_path) {
        let mean_of = |leveling: &SectorWearLevelingConfig, sectors: &[u64]| {
            let serial = ScmBench::serial(symmetric(1000)).copying(copies);
            let bench = ScmBench { leveling: leveling.clone(), slots: 2, ..serial };
            let device = bench.run(closed(sectors.iter().map(|&sector| write(sector, 1)).collect()), 1);
            device.now().0 as f64 / sectors.len() as f64 - 1400.0
        };
        for overwrites in [5, 20] {
            let overwrites_of = overwrites.try_into().expect("a rung");
            let ladder = SectorWearLevelingConfig::Ladder(Ladder { overwrites: overwrites_of, ..Ladder::default() });
            let added = mean_of(&ladder, &one) / bounds::ladder_overhead_max(overwrites, copy);
            // Who received a copy is one overwrite ahead and sits out the next rung: about every second stay ends in
            // one.
            assert!((0.5..=1.0).contains(&added), "one sector alone: {added} of the most");
            // All alike: nothing is swapped.
            assert!(mean_of(&ladder, &in_turn).abs() < 1e-9);
        }
        for psi in [5, 100] {
            for sectors in [&one, &in_turn] {
                let added = mean_of(&start_gap(psi), sectors) / bounds::start_gap_overhead(psi, copy);
                assert!((added - 1.0).abs() < 1e-9, "whatever is written: {added}");
            }
        }
    }
}

/// Sectors per second of random single sectors at a depth of 256.
fn sectors_per_second(bench: &ScmBench, op: Op) -> f64 {
    let sectors = u64::from(bench.slots * bench.sectors_per_slot);
    let mut stream = RandomStream::new(1, "tests", "scm");
    let mut left = 60_000;
    let workload = generated(Arrival::Closed, move || {
        left -= 1;
        (left >= 0).then(|| crate::common::request(op, stream.below(sectors), 1))
    });
    let device = bench.run(workload, 256);
    60_000.0 * 1e9 / device.now().0 as f64
}

#[test]
fn many_requests_reach_the_bound_of_the_bus_or_of_the_banks() {
    for op in [Op::Read, Op::Write] {
        // Sixteen banks of 1 us on a channel: the two buses are the bound.
        let busy_bus = ScmBench { channels: 2, banks_per_channel: 16, slots: 64, ..ScmBench::serial(symmetric(1000)) };
        let bound = bounds::bus_bound(2, 400.0);
        let reached = sectors_per_second(&busy_bus, op) / bound;
        assert!((0.995..=1.0).contains(&reached), "{op:?}: {reached} of the bus");
        // One bank of 10 us on each of four channels: a bank is held for its sector's time and its bytes.
        let busy_banks =
            ScmBench { channels: 4, banks_per_channel: 1, slots: 64, ..ScmBench::serial(symmetric(10_000)) };
        let reached = sectors_per_second(&busy_banks, op) / bounds::bank_bound(4, 10_400.0);
        assert!((0.97..=1.0).contains(&reached), "{op:?}: {reached} of the banks");
    }
}

/// What a serial drive must take for a list of requests: the sum over the slots they touch, and over the copies that
/// an instance of the same policy asks for.
fn serial_latencies(bench: &ScmBench, requests: &[Request]) -> Vec<u64> {
    let logical = bench.slots * bench.sectors_per_slot;
    let mut policy: Box<dyn SectorWearLeveling> = bench.leveling.chosen().build(logical);
    let mut wear = vec![0; (logical + bench.leveling.chosen().spare_sectors(logical)) as usize];
    let timing = &bench.timing;
    let verify = bench.verify_policy();
    let mut stream = RandomStream::new(SEED, "scm", "program verify");
    let mut write = || {
        let pulse = timing.set.max(timing.reset).0;
        let Some(verify) = &verify else { return pulse };
        let cycles = verify.cycles(&mut stream);
        pulse * (1 + u64::from(cycles)) + timing.read.0 * u64::from(verify.reads(cycles))
    };
    let mut time = |request: &Request| {
        let mut total = bench.engine.command_cost.0;
        let sectors: Vec<u64> = (request.lba.0..request.end()).collect();
        for slot in
            sectors.chunk_by(|a, b| a / u64::from(bench.sectors_per_slot) == b / u64::from(bench.sectors_per_slot))
        {
            let bytes = slot.len() as u64 * 512;
            total += timing.command_address.0 + timing.channel_rate.burst(bytes).0;
            if request.op == Op::Read {
                total += slot.len() as u64 * timing.read.0;
            }
            let mut copies = 0;
            for &sector in slot.iter().filter(|_| request.op == Op::Write) {
                let placed = policy.write(sector as u32, &wear);
                if let Some(copy) = placed.copy {
                    wear[copy.to as usize] += 1;
                    copies += 1;
                }
                wear[placed.place as usize] += 1;
            }
            // All copies of a slot come before its writes, and cross the bus together if they do.
            total += (0..copies).map(|_| timing.read.0 + write()).sum::<u64>();
            if copies > 0 && timing.copies == CopyPath::ThroughController {
                total += 2 * timing.channel_rate.burst(copies * 512).0 + timing.command_address.0;
            }
            if request.op == Op::Write {
                total += slot.iter().map(|_| write()).sum::<u64>();
            }
        }
        total
    };
    requests.iter().map(&mut time).collect()
}

#[test]
fn a_serial_drive_takes_the_closed_loop_sum_to_the_nanosecond() {
    let until_pass = ProgramVerifyConfig::UntilPass(UntilPass { accept_bits: 1, ..UntilPass::default() });
    let policies = [
        (SectorWearLevelingConfig::default(), None),
        (SectorWearLevelingConfig::Ladder(Ladder::default()), None),
        (start_gap(7), None),
        (start_gap(7), Some(until_pass)),
    ];
    let cases = PATHS.into_iter().flat_map(|copies| policies.clone().map(|policy| (copies, policy)));
    for (seed, (copies, (leveling, verify))) in cases.enumerate() {
        let mut stream = RandomStream::new(seed as u64, "tests", "serial");
        let mut bench =
            ScmBench { slots: 6, sectors_per_slot: 8, leveling, verify, ..ScmBench::serial(ScmBench::new().timing) }
                .copying(copies);
        bench.engine.command_cost = Ns(333);
        bench.timing.channel_rate = Rate(900_000_000);
        let requests: Vec<Request> = (0..2000)
            .map(|_| {
                let sectors = 1 + stream.below(20);
                // Half of them in a corner, so that something wears out.
                let space = if stream.below(2) == 0 { 4 } else { 48 - sectors + 1 };
                let lba = stream.below(space);
                crate::common::request(if stream.below(3) == 0 { Op::Read } else { Op::Write }, lba, sectors as u32)
            })
            .collect();
        let expected = serial_latencies(&bench, &requests);
        let levels = bench.leveling.name() != "none";
        let device = bench.run(closed(requests), 1);
        assert_eq!(latencies(&device), expected, "{}", bench.leveling.name());
        assert_eq!(device.scm().counters(0).sectors_copied > 100, levels);
    }
}

#[test]
fn every_nanosecond_of_a_bank_is_accounted_for() {
    for (copies, copy) in PATHS.into_iter().zip([210, 210 + 800]) {
        let leveling = SectorWearLevelingConfig::Ladder(Ladder::default());
        let mut bench = ScmBench { leveling, ..ScmBench::new() }.copying(copies);
        // How many commands the copies took is not counted.
        bench.timing.command_address = Ns::ZERO;
        let mut stream = RandomStream::new(5, "tests", "ledger");
        let requests = (0..500).map(|index| {
            let lba = stream.below(480);
            if index % 2 == 0 { read(lba, 12) } else { write(lba % 4, 12) }
        });
        let mut device = bench.run(closed(requests.collect()), 8);
        let used = device.utilization();
        assert_eq!((used.dies.len(), used.banks.len(), used.bank_channels.len()), (0, 4, 2));
        for bank in &used.banks {
            assert_eq!(bank.iter().sum::<u64>(), used.elapsed.0);
        }
        let counters = *device.scm().counters(0);
        let leveled: u64 = used.banks.iter().map(|bank| bank[ninescope_model::Occupancy::WearLeveling as usize]).sum();
        assert_eq!(leveled, counters.sectors_copied * copy);
        assert!(leveled > 0);
        // What crossed the buses: every sector once, and copies out and in.
        let crossings = if copies == CopyPath::InMemory { 0 } else { 2 * counters.sectors_copied };
        let moved = (counters.sectors_read + counters.sectors_written + crossings) * 400;
        assert_eq!(used.bank_channels.iter().map(|busy| busy.0).sum::<u64>(), moved);
        let of_op = |op: Op| parts(&device, op).iter().map(|(_, time)| time).sum::<u64>();
        assert_eq!(of_op(Op::Read) + of_op(Op::Write), latencies(&device).iter().sum::<u64>());
    }
}
