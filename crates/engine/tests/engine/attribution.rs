//! Every nanosecond of a request has one cause. The engine stops with an error at the first request whose
//! parts do not sum to its latency, so that a run that ends well proves the sum for each of its requests;
//! the splits are computed by hand.

use crate::scenario::{
    COMMAND, Drive, ERASE, Listed, PAGE_PROGRAM, PROGRAM, READ, UNIT_READ, UNIT_TRANSFER, flush, mixed_sectors, policy,
    policy_with, read, read_units, scenes, sectors, write, write_units,
};
use ninescope_engine::{Event, Probe, SimulationError, View, Watched, WriteCompletion};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Arrival, Cause, Occupancy, Op};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

// ---- splits by hand ----------------------------------------------------------------------------------

#[test]
fn a_read_behind_an_erase() {
    let run = scenes::erase_with_reads(&[1_000_000], false);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieErase, COMMAND + ERASE - 1_000_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
        ]
    );
    // The read that comes when the erase is over waits for none, and the writes have their buffer.
    let run = scenes::erase_with_reads(&[1_000_000, 2_000_000, COMMAND + ERASE + 1_000_000], false);
    let of = |op: Op| run.device.meter().ops[op as usize].behind_erase;
    assert_eq!((of(Op::Read), of(Op::Write)), (2, 0));
}

#[test]
fn a_read_behind_a_program() {
    let drive = Drive::with(|drive| drive.prepared = (0..8).collect());
    let run = drive.run(vec![write_units(0, 8, 4), read(1_000, 0)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostProgram, PAGE_PROGRAM - 1_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
        ]
    );
}

#[test]
fn a_read_behind_another_read_whose_die_waits_for_its_channel() {
    // Two dies on a channel. Die 1 reads a whole page (data out from 50.1 to 54.1 us); die 0, a command later,
    // has its unit at 50.2 us and waits for the channel until 54.1 us. The second read of die 0 is behind it.
    let drive = Drive::with(|drive| {
        drive.dies_per_channel = 2;
        drive.prepared = (0..16).collect();
    });
    let run = drive.run(vec![read_units(0, 4, 4), read(10, 0), read(20, 1)]);
    let page_out = COMMAND + READ + 4 * UNIT_TRANSFER;
    assert_eq!(run.completed_at(0), page_out);
    assert_eq!(run.completed_at(1), page_out + UNIT_TRANSFER);
    assert_eq!(run.completed_at(2), page_out + UNIT_TRANSFER + UNIT_READ);
    let waits_for_data_out = page_out - (2 * COMMAND + READ);
    assert_eq!(
        run.parts(Op::Read),
        [
            // The third read: what held its die since 20 ns.
            (Cause::DieWaitingForChannel, (COMMAND - 20) + waits_for_data_out),
            (Cause::DieHostRead, COMMAND + READ + UNIT_TRANSFER),
            // The second read's own waits for the channel, before its command and before its data.
            (Cause::Channel, (COMMAND - 10) + waits_for_data_out),
            (Cause::CommandArray, 3 * (COMMAND + READ)),
            (Cause::Transfer, 6 * UNIT_TRANSFER),
        ]
    );
}

#[test]
fn the_stages_of_the_controller_and_the_link_are_causes_of_their_own() {
    let drive = Drive::with(|drive| {
        drive.prepared = vec![0];
        drive.engine.command_cost = Ns(300);
        drive.engine.link_rate = Rate(4_096_000_000);
    });
    let run = drive.run(vec![read(0, 0), write(0, 1), write(0, 2)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::CommandProcessing, 300),
            (Cause::Link, 1_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
        ]
    );
    // The second write's command passes 300 ns after the first one's; its data waits for the link's other 700 ns.
    assert_eq!(run.parts(Op::Write), [(Cause::CommandProcessing, 600 + 900), (Cause::Link, 1_000 + 1_700)]);
}

#[test]
fn a_request_of_several_pages_has_the_parts_of_the_last_one_to_finish() {
    // Two dies on two channels; die 1 is busy with a program.
    let drive = Drive::with(|drive| {
        drive.channels = 2;
        drive.prepared = (0..12).collect();
    });
    let run = drive.run(vec![write_units(0, 20, 4), read_units(1_000, 0, 8)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostProgram, PAGE_PROGRAM - 1_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, 4 * UNIT_TRANSFER),
        ]
    );
}

#[test]
fn a_write_that_completes_at_its_program_inherits_the_merge_and_the_die() {
    let drive = Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.write_completion = WriteCompletion::Program;
    });
    // The read of unit 7 holds the die until 51.1 us, then that of the partly written unit 0.
    let run = drive.run(vec![read(0, 7), sectors(Op::Write, 1_000, 4, 4)]);
    assert_eq!(
        run.parts(Op::Write),
        [
            (Cause::DieHostRead, UNIT_READ - 1_000),
            (Cause::ReadModifyWrite, UNIT_READ),
            (Cause::CommandArray, COMMAND + PROGRAM),
            (Cause::Transfer, 4 * UNIT_TRANSFER),
        ]
    );
}

#[test]
fn a_flush_waits_for_programs() {
    let run = Drive::default().run(vec![write_units(0, 0, 4), flush(100)]);
    assert_eq!(run.parts(Op::Flush), [(Cause::ProgramWait, PAGE_PROGRAM - 100)]);
}

#[test]
fn a_dies_ledger_covers_all_of_its_time() {
    let mut run = scenes::erase_with_reads(&[1_500_000], true);
    let end = run.device.now().0;
    let utilization = run.device.utilization();
    assert_eq!(utilization.elapsed, Ns(end));
    let ledger = utilization.dies[0];
    assert_eq!(ledger.iter().sum::<u64>(), end, "nothing twice, nothing left out");
    // From the erase's command at 0 to its end at 3.1012 ms nothing is idle, and nothing comes after.
    assert_eq!(ledger[Occupancy::Idle as usize], 0);
    assert_eq!(utilization.channels, [Ns(2 * COMMAND + UNIT_TRANSFER)], "an erase, a read and its data");
}

// ---- any workload on any drive -----------------------------------------------------------------------

#[derive(Debug)]
pub struct World {
    pub drive: Drive,
    requests: u64,
    gap: u64,
    read_percent: u64,
    arrival: Arrival,
}

pub fn shapes() -> impl Strategy<Value = Drive> {
    let geometry = (1_u32..=2, 1_u32..=2, prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (2, 2), (4, 2)]));
    let units = prop::sample::select(vec![512_u32, 4_096, 16_384]);
    let policies = (
        prop::sample::select(vec!["greedy", "fifo", "random", "random-invalid", "d-choices"]),
        prop::sample::select(vec!["round-robin", "static"]),
        prop::sample::select(vec!["reads-first", "fifo"]),
        prop::sample::select(vec!["fifo", "least-worn"]),
    );
    let suspend = prop_oneof![
        Just(serde_json::json!({ "policy": "none" })),
        (1_u32..5, any::<bool>()).prop_map(|(points, programs)| {
            serde_json::json!({ "policy": "every-safe-point", "points_per_loop": points, "programs": programs })
        }),
    ];
    let controller = (
        any::<bool>(),
        prop::sample::select(vec![4_u32, 8, 16]),
        prop::option::of(10_000_u64..1_000_000),
        any::<bool>(),
        1_u32..9,
        prop::sample::select(vec![0_u64, 333_000_000, 4_096_000_000]),
        prop::sample::select(vec![0_u64, 700]),
        1_u32..40,
    );
    (geometry, units, policies, suspend, controller, 1_u32..=2, any::<u64>()).prop_map(
        |((channels, dies, (planes, frontier)), unit_bytes, policies, suspend, controller, reserve, seed)| {
            let mut drive = Drive::with(|drive| {
                (drive.channels, drive.dies_per_channel) = (channels, dies);
                (drive.planes, drive.frontier_planes) = (planes, frontier);
                (drive.blocks, drive.pages, drive.unit_bytes) = (10, 4, unit_bytes);
                drive.reserve = reserve;
                drive.seed = seed;
                drive.victim = policy(policies.0);
                drive.page_allocation = policy(policies.1);
                drive.engine.scheduler = policy(policies.2);
                drive.free_block_choice = policy(policies.3);
                drive.engine.suspend = policy_with(&suspend);
                let (at_program, buffered, timeout, multi_plane, gc_pages, link, cost, depth) = controller;
                drive.engine.write_completion =
                    if at_program { WriteCompletion::Program } else { WriteCompletion::Buffer };
                drive.engine.buffered_pages = buffered;
                drive.engine.page_timeout = timeout.map(Ns);
                drive.engine.multi_plane = multi_plane;
                drive.engine.gc_pages_in_flight = gc_pages;
                drive.engine.link_rate = Rate(link);
                drive.engine.command_cost = Ns(cost);
                drive.engine.queue_depth = depth;
                drive.limits.closed_queue_depth = depth;
                drive.timing.read = vec![Ns(34_000), Ns(52_000), Ns(61_000)];
                drive.timing.program = vec![Ns(250_000), Ns(400_000), Ns(610_000)];
            });
            // As full as garbage collection bears.
            let geometry = drive.geometry();
            drive.logical_units = geometry.units_per_group() * (drive.blocks - reserve - 3) * geometry.pools();
            drive.prepared = (0..drive.logical_units).collect();
            drive
        },
    )
}

pub fn worlds() -> impl Strategy<Value = World> {
    (shapes(), 200_u64..2_000, prop::sample::select(vec![0_u64, 5_000, 100_000]), 0_u64..=100, any::<bool>()).prop_map(
        |(drive, requests, gap, read_percent, open)| {
            let arrival = if open { Arrival::Open } else { Arrival::Closed };
            World { drive, requests, gap, read_percent, arrival }
        },
    )
}

/// Checks at each completion that time has not gone back, and counts.
#[derive(Default)]
struct Counting {
    completed: u64,
    latency_sum: u128,
    open: bool,
}

impl Probe for Counting {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        if let Event::Completed { request, .. } = event {
            self.completed += 1;
            if self.open {
                self.latency_sum += u128::from(view.now.0 - request.submitted.0);
            }
        }
        Ok(())
    }
}

#[test]
fn the_parts_of_every_request_sum_to_its_latency() {
    let config =
        ProptestConfig { cases: 1_000, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() };
    // The same worlds on every machine and in every run.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(config, random).run(&worlds(), |world| runs_well(&world));
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn runs_well(world: &World) -> Result<(), TestCaseError> {
    let drive = &world.drive;
    let unit = drive.unit_bytes / 512;
    let requests = mixed_sectors(drive.seed, world.requests, drive.sectors(), unit, world.gap, world.read_percent);
    let probe = Counting { open: world.arrival == Arrival::Open, ..Counting::default() };
    let mut device = drive.device::<Watched>(Listed::boxed(requests, world.arrival), Box::new(probe));
    // Far more events than any of these worlds needs: one that goes on for ever fails.
    match device.run_slice(500_000) {
        Ok(progress) => prop_assert!(progress.finished, "no end at {}", progress.now),
        Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
    }
    prop_assert_eq!(device.probe::<Counting>().completed, world.requests);
    // What was metered is all there was, by two ways of adding up.
    let meter = device.meter();
    let parts: u128 = meter.ops.iter().map(|op| u128::from(op.attribution.total().total())).sum();
    prop_assert_eq!(parts, meter.latency_sum);
    if world.arrival == Arrival::Open {
        prop_assert_eq!(meter.latency_sum, device.probe::<Counting>().latency_sum);
    }
    let elapsed = device.now().0;
    for die in device.utilization().dies {
        prop_assert_eq!(die.iter().sum::<u64>(), elapsed);
    }
    Ok(())
}
