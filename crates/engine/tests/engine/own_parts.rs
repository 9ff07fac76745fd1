//! A request is never blamed on itself: parts of one request that wait for each other are a cause of their own.
//!
//! Two laws hold whatever the drive: a request alone in an idle drive is behind nobody, and who is whose changes only
//! the name of a wait, never its length.

use crate::attribution::{shapes, worlds};
use crate::scenario::{
    COMMAND, Drive, Listed, PAGE_PROGRAM, PROGRAM, READ, UNIT, UNIT_READ, UNIT_TRANSFER, read_units, scenes, sectors,
    write_units,
};
use ninescope_engine::meter::Parts;
use ninescope_engine::{Event, Probe, SimulationError, View, Watched, WriteCompletion};
use ninescope_kernel::{NONE, Ns, RandomStream, Rate};
use ninescope_model::{Arrival, Cause, Op, Request};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// From the command of a read of a whole page to the end of its data, on an idle die.
const PAGE_READ: u64 = COMMAND + READ + 4 * UNIT_TRANSFER;

/// A drive with data, whose writes complete when they are programmed.
fn drive(change: impl FnOnce(&mut Drive)) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..16).collect();
        drive.engine.write_completion = WriteCompletion::Program;
        change(drive);
    })
}

// ---- splits by hand ----------------------------------------------------------------------------------

#[test]
fn the_second_page_of_a_die_waits_for_the_first_of_the_same_request() {
    let run = drive(|_| {}).run(vec![read_units(0, 0, 8)]);
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, COMMAND + READ), (Cause::Transfer, 4 * UNIT_TRANSFER), (Cause::OwnParts, PAGE_READ)]
    );
}

#[test]
fn a_channel_that_moves_data_of_the_same_request_is_no_ones_fault_either() {
    // Die 1 sends its command behind that of die 0, and its data, ready at 50.2 us, behind those from 50.1 to 54.1 us.
    let run = drive(|drive| drive.dies_per_channel = 2).run(vec![read_units(0, 0, 8)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, 4 * UNIT_TRANSFER),
            (Cause::OwnParts, COMMAND + 4 * UNIT_TRANSFER - COMMAND),
        ]
    );
}

#[test]
fn the_pages_of_a_multi_plane_read_leave_one_after_the_other() {
    let planes = |drive: &mut Drive| (drive.planes, drive.frontier_planes) = (2, 2);
    let run = drive(planes).run(vec![read_units(0, 0, 8)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::CommandArray, 2 * COMMAND + READ),
            (Cause::Transfer, 4 * UNIT_TRANSFER),
            (Cause::OwnParts, 4 * UNIT_TRANSFER),
        ]
    );
    // Of two requests in one command, the second waits for the channel that moves the first one's data.
    let run = drive(planes).run(vec![read_units(0, 0, 4), read_units(0, 4, 4)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::Channel, 4 * UNIT_TRANSFER),
            (Cause::CommandArray, 2 * (2 * COMMAND + READ)),
            (Cause::Transfer, 8 * UNIT_TRANSFER),
        ]
    );
}

#[test]
fn a_request_behind_another_has_both_kinds_of_waits() {
    let run = drive(|_| {}).run(vec![read_units(0, 0, 8), read_units(0, 8, 8)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostRead, 2 * PAGE_READ),
            (Cause::CommandArray, 2 * (COMMAND + READ)),
            (Cause::Transfer, 8 * UNIT_TRANSFER),
            (Cause::OwnParts, 2 * PAGE_READ),
        ]
    );
}

#[test]
fn a_part_that_is_queued_while_another_runs_waits_for_the_rest_of_it() {
    // The first page of the second request begins at 54.1 us, when the first request is through; the third request comes
    // meanwhile, and waits for what is left of both pages.
    let late = PAGE_READ + 10_000;
    let run = drive(|_| {}).run(vec![read_units(0, 0, 4), read_units(0, 4, 8), read_units(late, 0, 4)]);
    let parts = run.parts(Op::Read);
    assert!(parts.contains(&(Cause::OwnParts, PAGE_READ)), "{parts:?}");
    assert!(parts.contains(&(Cause::DieHostRead, PAGE_READ + 2 * PAGE_READ - 10_000)), "{parts:?}");
}

#[test]
fn pages_of_a_write_wait_for_each_other() {
    let run = drive(|drive| drive.prepared.clear()).run(vec![write_units(0, 0, 8)]);
    assert_eq!(
        run.parts(Op::Write),
        [
            (Cause::CommandArray, COMMAND + PROGRAM),
            (Cause::Transfer, 4 * UNIT_TRANSFER),
            (Cause::OwnParts, PAGE_PROGRAM)
        ]
    );
}

#[test]
fn a_write_behind_another_is_behind_its_pages_and_behind_its_own() {
    let run = drive(|drive| drive.prepared.clear()).run(vec![write_units(0, 0, 4), write_units(0, 4, 8)]);
    assert_eq!(
        run.parts(Op::Write),
        [
            (Cause::DieHostProgram, PAGE_PROGRAM),
            (Cause::CommandArray, 2 * (COMMAND + PROGRAM)),
            (Cause::Transfer, 8 * UNIT_TRANSFER),
            (Cause::OwnParts, PAGE_PROGRAM),
        ]
    );
}

#[test]
fn the_reads_of_both_ends_of_a_write_wait_for_each_other() {
    let buffered = |drive: &mut Drive| drive.engine.write_completion = WriteCompletion::Buffer;
    // The second half of unit 3, the last of its page, and the first half of unit 4.
    let both_ends = || vec![sectors(Op::Write, 0, 3 * u64::from(UNIT) + u64::from(UNIT) / 2, UNIT)];
    let run = drive(buffered).run(both_ends());
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ), (Cause::OwnParts, UNIT_READ)]);
    assert_eq!(run.counters().read_modify_write_reads, 2);
    // In one command their data leave one after the other, and are there when all have left.
    let planes = |drive: &mut Drive| {
        buffered(drive);
        (drive.planes, drive.frontier_planes) = (2, 2);
    };
    let run = drive(planes).run(both_ends());
    let read = 2 * COMMAND + READ + UNIT_TRANSFER;
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, read), (Cause::OwnParts, UNIT_TRANSFER)]);
}

#[test]
fn the_read_of_a_partial_write_waits_for_data_of_others_in_its_command() {
    let planes = |drive: &mut Drive| {
        drive.engine.write_completion = WriteCompletion::Buffer;
        (drive.planes, drive.frontier_planes) = (2, 2);
    };
    let read = 2 * COMMAND + READ + UNIT_TRANSFER;
    // The page of the read leaves before that of the write, or after it: the controller has both when both have left.
    for (of_read, of_write) in [(0, 4), (4, 0)] {
        let write = sectors(Op::Write, 0, of_write * u64::from(UNIT), UNIT / 2);
        let run = drive(planes).run(vec![read_units(0, of_read, 4), write]);
        assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, read), (Cause::Channel, 4 * UNIT_TRANSFER)]);
    }
}

#[test]
fn a_long_read_alone_behind_an_erase_is_behind_the_erase_and_itself() {
    let run = scenes::erase_with_reads(&[1_000_000], false);
    assert!(!run.parts(Op::Read).iter().any(|(cause, _)| *cause == Cause::OwnParts), "one page has no other parts");
}

// ---- laws ------------------------------------------------------------------------------------------

/// Writes down the parts of each request.
#[derive(Default)]
struct ByRequest {
    /// By number: latency and parts.
    requests: Vec<(u64, Parts)>,
    /// Whether the request waited for the media.
    on_media: Vec<bool>,
}

impl Probe for ByRequest {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        if let Event::Completed { id, request, parts, transaction, .. } = event {
            let id = id as usize;
            if self.requests.len() <= id {
                self.requests.resize(id + 1, (0, Parts::default()));
                self.on_media.resize(id + 1, false);
            }
            self.requests[id] = (view.now.0 - request.submitted.0, *parts);
            self.on_media[id] = transaction != NONE;
        }
        Ok(())
    }
}

fn run(drive: &Drive, requests: Vec<Request>, arrival: Arrival) -> Result<(ByRequest, bool), TestCaseError> {
    let mut device = drive.device::<Watched>(Listed::boxed(requests, arrival), Box::new(ByRequest::default()));
    device.run().map_err(|error| TestCaseError::fail(format!("{error}")))?;
    let collected = device.counters().gc_page_reads + device.counters().group_erases > 0;
    let probe = device.probe::<ByRequest>();
    Ok((ByRequest { requests: probe.requests.clone(), on_media: probe.on_media.clone() }, collected))
}

fn check<S: Strategy>(cases: u32, worlds: &S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    if let Err(error) = TestRunner::new_with_rng(config, random).run(worlds, law) {
        panic!("{error}");
    }
}

/// Requests of up to 24 units that begin and end anywhere.
fn long_requests(drive: &Drive, count: u64, reads_alone: bool) -> Vec<Request> {
    let mut stream = RandomStream::new(drive.seed, "test", "long requests");
    let per_unit = u64::from(drive.unit_bytes / 512);
    let total = drive.sectors();
    let mut request = |_| {
        let length = 1 + stream.below((24 * per_unit).min(total / 2));
        let op = if reads_alone || stream.below(2) == 0 { Op::Read } else { Op::Write };
        sectors(op, 0, stream.below(total - length), length as u32)
    };
    (0..count).map(&mut request).collect()
}

#[test]
fn a_request_alone_in_an_idle_drive_is_behind_nobody() {
    let mut own_parts = 0;
    let seen = std::cell::RefCell::new(&mut own_parts);
    check(300, &worlds(), |mut world| {
        let reads_alone = world.drive.engine.write_completion == WriteCompletion::Buffer;
        world.drive.limits.closed_queue_depth = 1;
        let requests = long_requests(&world.drive, 60, reads_alone);
        let (run, collected) = run(&world.drive, requests, Arrival::Closed)?;
        for (id, (_, parts)) in run.requests.iter().enumerate() {
            let of = |cause: Cause| parts.of(cause);
            prop_assert_eq!(of(Cause::DieHostRead) + of(Cause::DieHostProgram), 0, "request {}: {:?}", id, parts);
            if !collected {
                let others = of(Cause::DieWaitingForChannel) + of(Cause::Channel);
                prop_assert_eq!(others, 0, "request {}: {:?}", id, parts);
            }
            **seen.borrow_mut() += of(Cause::OwnParts);
        }
        Ok(())
    });
    assert!(own_parts > 0, "some requests had parts that waited for each other");
}

#[test]
fn a_buffered_write_alone_in_an_idle_drive_is_behind_nobody() {
    // Its units fill a small buffer. While its last unit, written in part, waits for room, garbage collection may move what that
    // is to be merged with: that is content as before, and not read again.
    let (mut own_parts, mut repeated) = (0, 0);
    let seen = std::cell::RefCell::new((&mut own_parts, &mut repeated));
    check(300, &shapes(), |mut drive| {
        drive.engine.write_completion = WriteCompletion::Buffer;
        drive.engine.buffered_pages = 4;
        // The pages of a stripe are programmed at once: none of an earlier write goes out by itself.
        drive.engine.multi_plane = true;
        let mut requests = long_requests(&drive, 120, false);
        for (id, request) in requests.iter_mut().enumerate() {
            // What the one before has left in the buffer is programmed by then.
            (request.op, request.submitted) = (Op::Write, Ns(id as u64 * 1_000_000_000));
        }
        let mut device =
            drive.device::<Watched>(Listed::boxed(requests, Arrival::Open), Box::new(ByRequest::default()));
        device.run().map_err(|error| TestCaseError::fail(format!("{error}")))?;
        let mut seen = seen.borrow_mut();
        *seen.1 += device.counters().read_modify_write_repeated;
        let collected = device.counters().gc_page_reads + device.counters().group_erases > 0;
        for (id, (_, parts)) in device.probe::<ByRequest>().requests.iter().enumerate() {
            let of = |cause: Cause| parts.of(cause);
            prop_assert_eq!(of(Cause::DieHostRead) + of(Cause::DieHostProgram), 0, "request {}: {:?}", id, parts);
            if !collected {
                let others = of(Cause::DieWaitingForChannel) + of(Cause::Channel);
                prop_assert_eq!(others, 0, "request {}: {:?}", id, parts);
            }
            *seen.0 += of(Cause::OwnParts);
        }
        Ok(())
    });
    assert!(own_parts > 0 && repeated == 0, "{own_parts} ns behind own parts, {repeated} units read again");
}

/// What waits there were behind somebody or oneself [ns].
fn waits(parts: &Parts) -> u64 {
    let whose = [Cause::DieHostRead, Cause::DieWaitingForChannel, Cause::Channel, Cause::OwnParts];
    whose.iter().map(|cause| parts.of(*cause)).sum()
}

#[test]
fn who_is_whose_changes_the_name_of_a_wait_and_not_its_length() {
    // The same pages, once as requests of several pages and once each as a request of its own: what the drive does is the
    // same. A long request takes as long as the slowest of its pages, and has its waits.
    let mut compared = 0;
    let seen = std::cell::RefCell::new(&mut compared);
    check(300, &(shapes(), 0_u64..200_000), |(mut drive, gap)| {
        // The controller and the link cost nothing, so that pages alone begin and end as those of a long request.
        (drive.engine.command_cost, drive.engine.link_rate) = (Ns::ZERO, Rate(0));
        drive.engine.queue_depth = 1 << 20;
        (drive.unit_bytes, drive.page_bytes) = (16_384, 16_384);
        let geometry = drive.geometry();
        drive.logical_units = geometry.units_per_group() * (drive.blocks - drive.reserve - 3) * geometry.pools();
        drive.prepared = (0..drive.logical_units).collect();
        let mut stream = RandomStream::new(drive.seed, "test", "gaps");
        let mut at = 0;
        let (mut long, mut short, mut pages_of) = (Vec::new(), Vec::new(), Vec::new());
        for request in long_requests(&drive, 40, true) {
            at += stream.below(gap + 1);
            let (first, last) = (request.lba.0 / 32, (request.end() - 1) / 32);
            long.push(sectors(Op::Read, at, first * 32, ((last + 1 - first) * 32) as u32));
            pages_of.push(short.len()..short.len() + (last + 1 - first) as usize);
            short.extend((first..=last).map(|page| sectors(Op::Read, at, page * 32, 4 * UNIT)));
        }
        let (long, short) = (run(&drive, long, Arrival::Open)?.0, run(&drive, short, Arrival::Open)?.0);
        for (id, pages) in pages_of.into_iter().enumerate() {
            let (latency, parts) = long.requests[id];
            let pages = || short.requests[pages.clone()].iter();
            let slowest = pages().map(|(latency, _)| *latency).max();
            prop_assert_eq!(Some(latency), slowest, "request {}", id);
            // Pages of several dies may end at the same time.
            let of_slowest: Vec<u64> =
                pages().filter(|(of_page, _)| *of_page == latency).map(|(_, parts)| waits(parts)).collect();
            prop_assert!(of_slowest.contains(&waits(&parts)), "request {}: {:?} of {:?}", id, parts, of_slowest);
            **seen.borrow_mut() += 1;
        }
        Ok(())
    });
    assert!(compared >= 300 * 40, "{compared}");
}
