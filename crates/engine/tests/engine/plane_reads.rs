//! Planes that read each by itself: scenes worked out by hand from the constants of `scenario`, and the rate of reads that queue
//! without end, which is that of all planes, or the channel's.

use crate::scenario::{
    COMMAND, Drive, ERASE_LOOP, Outcome, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, mixed_requests,
    policy, policy_with, read, read_units, write, write_units,
};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::{CommandKind, PlaneReads};
use ninescope_model::{Cause, Occupancy, Op, Request};
use serde_json::json;

/// A page of the default drive on the channel [ns].
const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;

/// One die of so many planes that read by themselves, even pages of the host's space in the first of two, and so on.
fn of_planes(planes: u32) -> Drive {
    Drive::with(|drive| {
        (drive.planes, drive.pages, drive.blocks) = (planes, 32, 16);
        (drive.logical_units, drive.prepared) = (1_024, (0..1_024).collect());
        drive.page_allocation = policy("static");
        drive.timing.plane_reads = PlaneReads::Independently;
    })
}

/// The first unit of a page of the host's space.
fn page(number: u64) -> u64 {
    4 * number
}

/// The only die's time by occupancy [ns].
fn held(run: &mut Outcome, occupancy: Occupancy) -> u64 {
    run.device.utilization().dies[0][occupancy as usize]
}

/// Two planes read at different times, one of which the other had begun with: for the mechanisms.
pub fn two_reads_apart() -> Outcome {
    of_planes(2).run(vec![read(0, page(0)), read(10_000, page(1))])
}

// ---- two planes ------------------------------------------------------------------------------------

#[test]
fn reads_of_two_planes_that_begin_apart_take_no_longer_than_each_alone() {
    let mut run = two_reads_apart();
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [UNIT_READ, 10_000 + UNIT_READ]);
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, 2 * (COMMAND + READ)), (Cause::Transfer, 2 * UNIT_TRANSFER)]
    );
    let counters = run.counters();
    assert_eq!((counters.read_commands, counters.multi_plane_reads, counters.reads_beside_reads), (2, 0, 1));
    // The die reads from the beginning of the first to the end of the second.
    assert_eq!(held(&mut run, Occupancy::HostRead), 10_000 + UNIT_READ);

    let mut together = of_planes(2);
    together.timing.plane_reads = PlaneReads::Together;
    let run = together.run(vec![read(0, page(0)), read(10_000, page(1))]);
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [UNIT_READ, 2 * UNIT_READ]);
    assert_eq!(run.counters().reads_beside_reads, 0);
}

#[test]
fn reads_of_one_plane_follow_each_other_and_those_of_the_other_plane_pass_them() {
    // Two of plane 0, of which the second waits, and one of plane 1 behind that.
    let run = of_planes(2).run(vec![read(0, page(0)), read(5_000, page(2)), read(10_000, page(1))]);
    assert_eq!([0, 1, 2].map(|id| run.completed_at(id)), [UNIT_READ, 2 * UNIT_READ, 10_000 + UNIT_READ]);
    let waited = (Cause::DieHostRead, UNIT_READ - 5_000);
    assert_eq!(run.parts(Op::Read)[0], waited, "for the plane's own read, and nothing else");
    assert_eq!(run.counters().reads_beside_reads, 2);
}

#[test]
fn reads_of_two_planes_share_the_channel() {
    let run = of_planes(2).run(vec![read(0, page(0)), read(0, page(1))]);
    // The second command is sent behind the first one, and its data wait for the data of the first one.
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [UNIT_READ, UNIT_READ + UNIT_TRANSFER]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::Channel, COMMAND + (UNIT_TRANSFER - COMMAND)),
            (Cause::CommandArray, 2 * (COMMAND + READ)),
            (Cause::Transfer, 2 * UNIT_TRANSFER),
        ]
    );
}

#[test]
fn each_plane_takes_what_its_own_page_takes() {
    let times = |plane_reads| {
        let mut drive = of_planes(2);
        drive.timing.plane_reads = plane_reads;
        (drive.timing.read, drive.timing.program) = (vec![Ns(40_000), Ns(90_000)], vec![Ns(PROGRAM); 2]);
        // Of block after block: page 0 of plane 0, and page 1 of plane 1.
        let run = drive.run(vec![read(0, page(0)), read(1_000, page(3))]);
        [0, 1].map(|id| run.completed_at(id))
    };
    let alone = |tr: u64| COMMAND + tr + UNIT_TRANSFER;
    assert_eq!(times(PlaneReads::Independently), [alone(40_000), 1_000 + alone(90_000)]);
    assert_eq!(times(PlaneReads::Together), [alone(40_000), alone(40_000) + alone(90_000)]);
}

#[test]
fn one_request_over_two_planes_waits_for_its_own_parts_alone() {
    // Four pages, two of each plane: their commands go out first, and the data of plane 0 are 4 us long.
    let run = of_planes(2).run(vec![read_units(0, page(0), 16)]);
    let first = COMMAND + READ + PAGE_TRANSFER;
    // Plane 0 is free then, and its second command goes before the data of plane 1.
    let second = first + COMMAND + PAGE_TRANSFER;
    let third = first + COMMAND + READ + PAGE_TRANSFER;
    let last = second + COMMAND + READ + PAGE_TRANSFER;
    assert!(last > third, "plane 1 ends last");
    assert_eq!(run.completed_at(0), last);
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, COMMAND + READ), (Cause::Transfer, PAGE_TRANSFER), (Cause::OwnParts, second),]
    );
}

#[test]
fn a_plane_that_is_held_waits_for_own_parts_in_other_planes_and_for_others() {
    let mut drive = of_planes(4);
    drive.engine.scheduler = policy("fifo");
    // Plane 0 reads, and again; a page is to be programmed; then a request for five pages, of planes 1, 2, 3, 0 and 1.
    let run =
        drive.run(vec![read(0, page(0)), read(10, page(4)), write_units(20, page(12), 4), read_units(30, page(5), 20)]);
    // Three of the five go past the program, behind the command of the first read. When plane 0 is free it reads again, and then
    // the program is next: planes 1 to 3 send their data, one after the other, behind one command.
    let sent = [1, 2, 3].map(|page| UNIT_READ + COMMAND + page * PAGE_TRANSFER);
    let program = UNIT_READ + UNIT_READ;
    assert_eq!(run.issued(CommandKind::Program)[0].0, program);
    let free = program + COMMAND + PAGE_TRANSFER + PROGRAM;
    // The fifth page, of plane 1, goes behind the fourth, of plane 0.
    assert_eq!(run.completed_at(3), free + COMMAND + READ + 2 * PAGE_TRANSFER);
    // It waited for its own page in its plane, for own pages in planes 2 and 3, and then for the read of plane 0.
    let own = (sent[0] - 30) + (sent[2] - sent[0]) + COMMAND + (PAGE_TRANSFER - COMMAND);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostRead, (UNIT_READ - 10) + (program - sent[2])),
            (Cause::DieHostProgram, free - program),
            (Cause::CommandArray, 3 * (COMMAND + READ)),
            (Cause::Transfer, 2 * UNIT_TRANSFER + PAGE_TRANSFER),
            (Cause::OwnParts, own),
        ]
    );
}

// ---- what takes the whole die ----------------------------------------------------------------------

#[test]
fn a_program_waits_for_all_planes_and_keeps_them() {
    let mut drive = of_planes(2);
    drive.engine.suspend = policy("none");
    // Plane 0 reads; a page is written, whose program has to wait; plane 1 is free, and reads only after that.
    let mut run = drive.run(vec![read(0, page(0)), write_units(1_000, page(8), 4), read(2_000, page(1))]);
    let program = run.issued(CommandKind::Program)[0].0;
    assert_eq!(program, UNIT_READ);
    let programmed = program + COMMAND + PAGE_TRANSFER + PROGRAM;
    assert_eq!(run.ended(CommandKind::Program), [programmed]);
    assert_eq!(run.completed_at(2), programmed + UNIT_READ);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostRead, UNIT_READ - 2_000),
            (Cause::DieHostProgram, COMMAND + PAGE_TRANSFER + PROGRAM),
            (Cause::CommandArray, 2 * (COMMAND + READ)),
            (Cause::Transfer, 2 * UNIT_TRANSFER),
        ]
    );
    assert_eq!(run.counters().reads_beside_reads, 0);
    assert_eq!(held(&mut run, Occupancy::HostRead), 2 * UNIT_READ);
    assert_eq!(held(&mut run, Occupancy::HostProgram), COMMAND + PAGE_TRANSFER + PROGRAM);
}

#[test]
fn a_program_that_a_request_waits_for_waits_for_the_reads_of_all_planes() {
    let mut drive = of_planes(2);
    drive.engine.write_completion = ninescope_engine::WriteCompletion::Program;
    let reads = vec![read(0, page(0)), read(30_000, page(1)), write_units(40_000, page(8), 4)];
    let run = drive.run(reads);
    let begins = 30_000 + UNIT_READ;
    assert_eq!(run.completed_at(2), begins + COMMAND + PAGE_TRANSFER + PROGRAM);
    assert_eq!(
        run.parts(Op::Write),
        [
            (Cause::DieHostRead, begins - 40_000),
            (Cause::CommandArray, COMMAND + PROGRAM),
            (Cause::Transfer, PAGE_TRANSFER),
        ]
    );
}

#[test]
fn both_planes_read_beside_a_suspended_erase() {
    let erase = |reads: &[Request]| {
        let mut drive = Drive::with(|drive| {
            (drive.planes, drive.frontier_planes, drive.logical_units) = (2, 2, 48);
            drive.prepared = (0..48).chain(0..32).collect();
            drive.timing.plane_reads = PlaneReads::Independently;
        });
        drive.engine.suspend = policy_with(&json!({ "policy": "between-loops" }));
        drive.run([&[write(0, 32)], reads].concat())
    };
    let stop = 2 * COMMAND + ERASE_LOOP;
    // Of the second stripe: plane 0 and plane 1.
    let run = erase(&[read(500_000, 40), read(500_010, 44)]);
    let begin = stop + RECOVER;
    let both = begin + UNIT_READ + UNIT_TRANSFER;
    assert_eq!([1, 2].map(|id| run.completed_at(id)), [begin + UNIT_READ, both]);
    assert_eq!(run.ended(CommandKind::Erase), [both + RAMP + 2 * ERASE_LOOP]);
    assert_eq!((run.counters().suspends, run.counters().resumes, run.counters().reads_beside_reads), (1, 1, 1));
    // One that comes while the other plane reads goes at once, and the erase waits for it.
    let run = erase(&[read(500_000, 40), read(begin + 40_000, 44)]);
    assert_eq!(run.completed_at(2), begin + 40_000 + UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [begin + 40_000 + UNIT_READ + RAMP + 2 * ERASE_LOOP]);
}

// ---- rates -----------------------------------------------------------------------------------------

/// So many reads of each plane of a die, all at once: when the last one ends, with this much on the channel for each [ns].
fn all_at_once(planes: u32, of_each: u64, (command, transfer): (u64, u64)) -> u64 {
    let mut drive = of_planes(planes);
    drive.timing.command_address = Ns(command);
    drive.timing.channel_rate = Rate(4_096_000_000_000_u64.checked_div(transfer).unwrap_or_default());
    let pages = u64::from(planes) * of_each;
    let run = drive.run((0..pages).map(|number| read(0, page(number))).collect());
    (0..pages as usize).map(|id| run.completed_at(id as u64)).max().expect("there are some")
}

#[test]
fn with_a_fast_channel_planes_read_as_fast_as_so_many_dies() {
    for planes in [1, 2, 4] {
        assert_eq!(all_at_once(planes, 10, (0, 0)), 10 * READ, "{planes} planes");
    }
}

#[test]
fn with_a_slow_channel_they_read_as_fast_as_that() {
    // Of four planes three wait for the channel while one senses: from the first page on it is never idle, and each command of the
    // later 36 reads goes between two pages.
    let transfer = 32_000;
    assert_eq!(all_at_once(4, 10, (COMMAND, transfer)), COMMAND + READ + 40 * transfer + 36 * COMMAND);
}

#[test]
fn garbage_collection_and_suspended_operations_go_with_it() {
    let run = |plane_reads| {
        let mut drive = Drive::busy();
        drive.timing.plane_reads = plane_reads;
        drive.engine.suspend = policy("immediate");
        let requests = mixed_requests(7, 6_000, drive.logical_units, 20_000, 60);
        drive.run(requests)
    };
    let (apart, together) = (run(PlaneReads::Independently), run(PlaneReads::Together));
    let counters = apart.counters();
    assert!(counters.reads_beside_reads > 500 && counters.multi_plane_reads == 0, "{counters:?}");
    assert!(
        counters.suspends > 50 && counters.gc_page_reads > 500 && counters.multi_plane_programs > 500,
        "{counters:?}"
    );
    assert!(together.counters().multi_plane_reads > 100 && together.counters().reads_beside_reads == 0);
    let mean = |run: &Outcome| run.device.meter().ops[Op::Read as usize].latency.mean();
    assert!(mean(&apart) < mean(&together), "{} and {} ns", mean(&apart), mean(&together));
}
