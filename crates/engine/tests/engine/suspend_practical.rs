//! The practical suspension of ATC'19: the interrupted loop begins again, the last one is not interrupted, and
//! neither an erase nor a write starves. Times computed by hand from the constants of `scenario`.

use crate::scenario::{
    COMMAND, Drive, ERASE, ERASE_LOOP, Outcome, RAMP, RECOVER, UNIT_READ, mixed_requests, policy_with, read, write,
};
use ninescope_media::nand::CommandKind;
use ninescope_model::Occupancy;

/// When the erase starts in the array [ns].
const ERASE_STARTS: u64 = COMMAND;

/// An erase from the start, and reads of another group at the given times.
fn erase_with_reads(timeout: &str, reads: &[u64]) -> Outcome {
    let mut drive = Drive::with(|drive| drive.prepared = (0..24).chain(0..8).chain(8..16).collect());
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "practical", "timeout": timeout }));
    let mut requests = vec![write(0, 16)];
    requests.extend(reads.iter().map(|&at| read(at, 20)));
    drive.run(requests)
}

#[test]
fn an_interrupted_loop_begins_again() {
    // At 1.5 ms the second loop has run for 0.4999 ms: that is lost, two loops are left.
    let arrival = 1_500_000;
    let lost = arrival - ERASE_STARTS - ERASE_LOOP;
    let mut run = erase_with_reads("64ms", &[arrival]);
    let resumed = arrival + RECOVER + UNIT_READ + RAMP;
    assert_eq!(run.completed_at(1), arrival + RECOVER + UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [resumed + 2 * ERASE_LOOP]);
    assert_eq!((run.counters().suspends, run.counters().loops_restarted), (1, 1));
    assert_eq!(run.device.meter().suspensions.lost_ns(), lost);
    let held = run.device.utilization().dies[0][Occupancy::Erase as usize];
    assert_eq!(held, COMMAND + ERASE + lost, "three loops and what was lost");
}

#[test]
fn the_last_loop_is_not_interrupted() {
    let run = erase_with_reads("64ms", &[2_500_000]);
    assert_eq!(run.completed_at(1), ERASE_STARTS + ERASE + UNIT_READ);
    assert_eq!((run.counters().suspends, run.counters().loops_restarted), (0, 0));
    // A nanosecond before it begins, the second one still is.
    let run = erase_with_reads("64ms", &[ERASE_STARTS + 2 * ERASE_LOOP - 1]);
    assert_eq!((run.counters().suspends, run.device.meter().suspensions.lost_ns()), (1, ERASE_LOOP - 1));
}

#[test]
fn reads_without_a_pause_hold_an_erase_up_until_its_timeout_and_no_longer() {
    // The next read is there before a loop has ended; the die keeps up with the reads.
    let gap = UNIT_READ + RAMP / 2;
    let reads: Vec<u64> = (1..40 * ERASE / gap).map(|index| index * gap).collect();
    for timeout in [2_000_000, 20_000_000] {
        let run = erase_with_reads(&format!("{timeout}ns"), &reads);
        let due = ERASE_STARTS + timeout;
        let ended = run.ended(CommandKind::Erase)[0];
        // When it is due the die recovers, reads or ramps up; then the erase goes on and is not stopped again.
        assert!(ended >= due && ended <= due + RECOVER + UNIT_READ + RAMP + ERASE, "{timeout}: {ended}");
        let erases_suspended = run.device.meter().suspensions.histogram().count();
        assert_eq!((erases_suspended, run.device.meter().suspensions.erases()), (1, 1));
    }
}

/// Random reads and writes on four dies, more than they keep up with: writes wait for tens of milliseconds.
fn overload(timeout: &str) -> Outcome {
    let mut drive = Drive::busy();
    drive.engine.suspend =
        policy_with(&serde_json::json!({ "policy": "practical", "timeout": timeout, "programs": true }));
    let requests = mixed_requests(3, 30_000, drive.logical_units, 20_000, 60);
    drive.run(requests)
}

#[test]
fn a_write_that_has_waited_on_any_die_ends_suspensions_on_all_of_them() {
    // An erase by itself waits for no more than a few loops here, far below both timeouts' difference.
    let (patient, impatient) = (overload("1s"), overload("20ms"));
    assert!(patient.counters().loops_restarted > 100, "{} loops begun again", patient.counters().loops_restarted);
    assert!(impatient.counters().loops_restarted < patient.counters().loops_restarted / 4);
}

#[test]
fn all_pulse_time_is_either_done_or_lost() {
    let mut run = overload("1s");
    let counters = *run.counters();
    let lost = run.device.meter().suspensions.lost_ns();
    assert!(counters.loops_restarted > 100 && lost > 0, "{} loops begun again", counters.loops_restarted);
    assert!(counters.loops_restarted < counters.suspends, "programs lose nothing");
    let dies = run.device.utilization().dies;
    let erase_time: u64 = dies.iter().map(|die| die[Occupancy::Erase as usize]).sum();
    // Commands to two planes: twice the command cycles.
    assert_eq!(erase_time, counters.erase_commands * (2 * COMMAND + ERASE) + lost);
}
