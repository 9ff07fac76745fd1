//! Suspending erases and programs for reads: exact times of stop, recovery, read, ramp and end, computed by
//! hand from the constants of `scenario`, and pulse time that is neither lost nor invented.

use crate::scenario::{
    COMMAND, Drive, ERASE, ERASE_LOOP, Outcome, PAGE_PROGRAM, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER,
    mixed_requests, policy_with, read, read_units, scenes, write, write_units,
};
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Occupancy, Op};

/// When the erase of `scenes::erase_with_reads` starts in the array [ns].
const ERASE_STARTS: u64 = COMMAND;

/// The first die's time by occupancy [ns].
fn held(run: &mut Outcome, occupancy: Occupancy) -> u64 {
    run.device.utilization().dies[0][occupancy as usize]
}

#[test]
fn a_read_stops_an_erase_at_the_next_safe_point_and_the_erase_goes_on_after_it() {
    let mut run = scenes::read_during_a_suspendable_erase();
    // Queued at 1.5 ms; the second loop ends at 2.0001 ms, the die recovers, reads, ramps up, and erases on.
    let stop = ERASE_STARTS + 2 * ERASE_LOOP;
    let read_ends = stop + RECOVER + UNIT_READ;
    let resumed = read_ends + RAMP;
    assert_eq!(run.issued(CommandKind::Read)[0].0, stop + RECOVER);
    assert_eq!(run.completed_at(1), read_ends);
    assert_eq!(run.ended(CommandKind::Erase), [resumed + ERASE_LOOP]);
    assert_eq!((run.counters().suspends, run.counters().resumes), (1, 1));
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieErase, stop - 1_500_000),
            (Cause::DieSuspendOverhead, RECOVER),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
        ]
    );
    assert_eq!(held(&mut run, Occupancy::Erase), COMMAND + ERASE, "three loops, no more and no less");
    assert_eq!(held(&mut run, Occupancy::SuspendOverhead), RECOVER + RAMP);
    assert_eq!(held(&mut run, Occupancy::HostRead), UNIT_READ);
}

#[test]
fn finer_safe_points_stop_earlier() {
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "points_per_loop": 4 }));
    let run = drive.run(vec![write(0, 16), read(1_500_000, 20)]);
    // Progress at 1.5 ms is 1.4999 ms: a quarter loop ends at 1.5 ms of progress.
    let stop = ERASE_STARTS + 1_500_000;
    assert_eq!(run.issued(CommandKind::Read)[0].0, stop + RECOVER);
    assert_eq!(run.ended(CommandKind::Erase), [stop + RECOVER + UNIT_READ + RAMP + 1_500_000]);
}

#[test]
fn without_suspends_a_read_waits_for_the_end() {
    let run = scenes::erase_with_reads(&[1_500_000], false);
    let erased = ERASE_STARTS + ERASE;
    assert_eq!(run.ended(CommandKind::Erase), [erased]);
    assert_eq!(run.completed_at(1), erased + UNIT_READ);
    assert_eq!((run.counters().suspends, run.counters().resumes), (0, 0));
}

#[test]
fn a_stop_that_equals_the_end_is_an_end() {
    // In the last loop the next safe point is the end.
    let run = scenes::erase_with_reads(&[2_500_000], true);
    assert_eq!((run.counters().suspends, run.ended(CommandKind::Erase)), (0, vec![ERASE_STARTS + ERASE]));
    assert_eq!(run.completed_at(1), ERASE_STARTS + ERASE + UNIT_READ);
}

#[test]
fn reads_that_arrive_while_the_die_recovers_wait_for_it() {
    let stop = ERASE_STARTS + 2 * ERASE_LOOP;
    let run = scenes::erase_with_reads(&[1_500_000, stop + 10_000], true);
    // Both run beside the parked erase, one after the other.
    assert_eq!(run.completed_at(1), stop + RECOVER + UNIT_READ);
    assert_eq!(run.completed_at(2), stop + RECOVER + 2 * UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [stop + RECOVER + 2 * UNIT_READ + RAMP + ERASE_LOOP]);
    assert_eq!(run.counters().suspends, 1);
}

#[test]
fn a_read_that_arrives_while_the_die_ramps_up_waits_for_the_next_safe_point() {
    let stop = ERASE_STARTS + ERASE_LOOP;
    let ramp_begins = stop + RECOVER + UNIT_READ;
    let resumed = ramp_begins + RAMP;
    let run = scenes::erase_with_reads(&[500_000, ramp_begins + 5_000], true);
    assert_eq!(run.completed_at(1), ramp_begins);
    // The second loop runs in full, then the die stops again.
    let second_stop = resumed + ERASE_LOOP;
    assert_eq!(run.completed_at(2), second_stop + RECOVER + UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [second_stop + RECOVER + UNIT_READ + RAMP + ERASE_LOOP]);
    assert_eq!((run.counters().suspends, run.counters().resumes), (2, 2));
}

#[test]
fn reads_in_quick_succession_keep_the_erase_parked() {
    let stop = ERASE_STARTS + ERASE_LOOP;
    let first = stop + RECOVER;
    // Each arrives before the one before has left: the erase is resumed once.
    let run = scenes::erase_with_reads(&[500_000, first + 40_000, first + UNIT_READ + 40_000], true);
    assert_eq!(run.completed_at(3), first + 3 * UNIT_READ);
    assert_eq!((run.counters().suspends, run.counters().resumes), (1, 1));
    assert_eq!(run.ended(CommandKind::Erase), [first + 3 * UNIT_READ + RAMP + 2 * ERASE_LOOP]);
}

// ---- the policies of the SSR paper ------------------------------------------------------------------

/// An erase from the start, and reads of another group at the given times, under a policy.
fn erase_under(policy: &str, reads: &[u64]) -> Outcome {
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": policy }));
    let mut requests = vec![write(0, 16)];
    requests.extend(reads.iter().map(|&at| read(at, 20)));
    drive.run(requests)
}

#[test]
fn how_long_one_read_waits_is_what_each_policy_promises() {
    // The read comes at 1.5 ms, when 1.4999 ms of three loops of 1 ms are done.
    let arrival = 1_500_000;
    let thirtieth = |count: u64| ERASE_STARTS + 3 * ERASE_LOOP * count / 90;
    for (policy, stop) in [
        ("immediate", arrival),
        ("between-loops", ERASE_STARTS + 2 * ERASE_LOOP),
        ("every-safe-point", ERASE_STARTS + 15 * ERASE_LOOP / 10),
        // A new block has 30 points in each loop: the 45th of 90 comes at 1.5 ms of progress.
        ("safe-points-by-wear", thirtieth(45)),
    ] {
        let run = erase_under(policy, &[arrival]);
        assert_eq!(run.issued(CommandKind::Read)[0].0, stop + RECOVER, "{policy}");
        let left = ERASE - (stop - ERASE_STARTS);
        assert_eq!(run.ended(CommandKind::Erase), [stop + RECOVER + UNIT_READ + RAMP + left], "{policy}");
        assert_eq!((run.counters().suspends, run.counters().resumes), (1, 1), "{policy}");
    }
    let run = erase_under("none", &[arrival]);
    assert_eq!(run.issued(CommandKind::Read)[0].0, ERASE_STARTS + ERASE, "the rest of the erase");
}

#[test]
fn reads_without_a_pause_starve_an_erase_that_is_suspended_immediately_and_no_other() {
    // The die keeps up with the reads, but the gap it finds between two is shorter than the ramp: before the
    // erase has gone on, the next read is there. This lasts forty times as long as the erase takes.
    let gap = UNIT_READ + RAMP / 2;
    let last = 40 * ERASE;
    let reads: Vec<u64> = (1..last / gap).map(|index| index * gap).collect();
    let starved = erase_under("immediate", &reads);
    assert!(starved.ended(CommandKind::Erase)[0] > last, "the erase ends when the reads do");
    for (policy, most) in [("between-loops", 2), ("every-safe-point", 29), ("safe-points-by-wear", 89)] {
        let run = erase_under(policy, &reads);
        assert!(run.ended(CommandKind::Erase)[0] < last, "{policy}");
        // Claim 2.7: no more than N suspensions per loop, none at the very end.
        assert!(run.counters().suspends <= most, "{policy}: {} suspensions", run.counters().suspends);
    }
}

/// A program of page 2 and a read at `at` of page 0.
fn read_during_a_program(at: u64, programs: bool) -> Outcome {
    let mut drive = Drive::with(|drive| drive.prepared = (0..8).collect());
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "programs": programs }));
    drive.run(vec![write_units(0, 8, 4), read(at, 0)])
}

#[test]
fn a_program_stops_at_the_end_of_a_pulse_if_the_policy_says_so() {
    let pulse = PROGRAM / 4;
    let starts = PAGE_PROGRAM - PROGRAM;
    let mut run = read_during_a_program(150_000, true);
    let stop = starts + 2 * pulse;
    assert_eq!(run.completed_at(1), stop + RECOVER + UNIT_READ);
    assert_eq!(run.ended(CommandKind::Program), [stop + RECOVER + UNIT_READ + RAMP + 2 * pulse]);
    assert_eq!(held(&mut run, Occupancy::HostProgram), PAGE_PROGRAM, "four pulses and what came before");
    let run = read_during_a_program(150_000, false);
    assert_eq!(run.completed_at(1), PAGE_PROGRAM + UNIT_READ);
}

#[test]
fn a_read_during_the_data_of_a_program_stops_it_after_its_first_pulse() {
    // At 2 us the page is still on its way; the array begins at 4.1 us.
    let run = read_during_a_program(2_000, true);
    let stop = PAGE_PROGRAM - PROGRAM + PROGRAM / 4;
    assert_eq!(run.completed_at(1), stop + RECOVER + UNIT_READ);
}

#[test]
fn a_read_queued_while_an_erase_waits_for_its_channel_stops_it_too() {
    let mut drive = Drive::with(|drive| {
        drive.dies_per_channel = 2;
        drive.logical_units = 48;
        // Both dies in the state of `scenes::erase_with_reads`.
        drive.prepared = (0..48).chain(0..32).collect();
    });
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "points_per_loop": 1 }));
    // Die 0 has the channel for a page to program; the erase of die 1 waits for it when the read is queued.
    let run = drive.run(vec![write_units(0, 32, 4), write(10, 36), read(2_000, 44)]);
    let sent = COMMAND + 4 * UNIT_TRANSFER;
    let (at, erase) = run.issued(CommandKind::Erase)[0];
    assert_eq!((at, erase.die.0), (sent, 1));
    assert_eq!(run.completed_at(2), sent + COMMAND + ERASE_LOOP + RECOVER + UNIT_READ);
}

#[test]
fn lasting_suspends_lose_no_pulse_time() {
    let mut drive = Drive::busy();
    drive.engine.suspend = policy_with(&serde_json::json!({
        "policy": "every-safe-point", "points_per_loop": 7, "programs": true
    }));
    drive.timing.erase_loop = Ns(999_983);
    let mut run = drive.run(mixed_requests(3, 30_000, drive.logical_units, 20_000, 60));
    let counters = *run.counters();
    assert!(counters.suspends > 500, "{} suspends", counters.suspends);
    assert_eq!(counters.suspends, counters.resumes);
    let dies = run.device.utilization().dies;
    let time = |occupancy: Occupancy| dies.iter().map(|die| die[occupancy as usize]).sum::<u64>();
    // Commands to two planes: twice the command cycles. An erase moves no data.
    let erases = counters.erase_commands * (2 * COMMAND + 3 * 999_983);
    assert_eq!(time(Occupancy::Erase), erases, "loops times loop time, however often it stopped");
    let programs = counters.host_page_programs + counters.gc_page_programs;
    let program_time = programs * (COMMAND + 4 * UNIT_TRANSFER) + counters.program_commands * PROGRAM;
    assert_eq!(time(Occupancy::HostProgram) + time(Occupancy::GcProgram), program_time);
    assert_eq!(time(Occupancy::SuspendOverhead), counters.suspends * (RECOVER + RAMP));
}

#[test]
fn reads_beside_a_parked_erase_may_span_pages() {
    let stop = ERASE_STARTS + ERASE_LOOP;
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "points_per_loop": 1 }));
    let run = drive.run(vec![write(0, 16), read_units(500_000, 20, 4), read_units(600_000, 18, 2)]);
    let page = COMMAND + READ + 4 * UNIT_TRANSFER;
    assert_eq!(run.completed_at(1), stop + RECOVER + page);
    assert_eq!(run.completed_at(2), stop + RECOVER + page + COMMAND + READ + 2 * UNIT_TRANSFER);
}
