//! What a die does around a suspend, step by step and to the nanosecond, under every suspend policy: the commands it is
//! given, and when it stops, has recovered, begins to ramp and goes on. Times are computed by hand from the constants
//! of `scenario`.

use crate::scenario::{
    COMMAND, Drive, ERASE, Event, Outcome, PAGE_PROGRAM, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, flush,
    policy, policy_with, read, sectors, trim, write, write_units,
};
use Step::{Ends, GoesOn, Issues, Recovered, Resumes, Stops};
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind::{self, Erase, Program, Read};
use ninescope_model::{Op, Request};

/// A step of the only die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is given a command: the channel phase begins.
    Issues(CommandKind),
    /// An array phase ends.
    Ends(CommandKind),
    /// Its operation is parked.
    Stops,
    /// It takes reads.
    Recovered,
    /// The ramp begins.
    Resumes,
    /// Pulses go on.
    GoesOn,
}

/// All steps with their times [ns].
fn sequence(run: &Outcome) -> Vec<(u64, Step)> {
    let step = |event| match event {
        Event::Issued(command) => Some(Issues(command.kind)),
        Event::Ended(command) => Some(Ends(command.kind)),
        Event::Suspended(_) => Some(Stops),
        Event::Recovered(_) => Some(Recovered),
        Event::ResumeBegan(_) => Some(Resumes),
        Event::Resumed(_) => Some(GoesOn),
        _ => None,
    };
    run.events().iter().filter_map(|&(at, event)| Some((at, step(event)?))).collect()
}

/// From a stop at `stop` until pulses go on, with `reads` units read one after the other.
fn one_suspension(stop: u64, reads: u64) -> Vec<(u64, Step)> {
    let mut steps = vec![(stop, Stops), (stop + RECOVER, Recovered)];
    for index in 0..reads {
        let issued = stop + RECOVER + index * UNIT_READ;
        steps.extend([(issued, Issues(Read)), (issued + COMMAND + READ, Ends(Read))]);
    }
    let resumes = stop + RECOVER + reads * UNIT_READ;
    steps.extend([(resumes, Resumes), (resumes + RAMP, GoesOn)]);
    steps
}

/// What [`one_suspension`] takes.
fn suspension_time(reads: u64) -> u64 {
    RECOVER + reads * UNIT_READ + RAMP
}

/// Reads beside nothing from `from` on.
fn reads_from(from: u64, reads: u64) -> Vec<(u64, Step)> {
    let read = |index| from + index * UNIT_READ;
    (0..reads).flat_map(|index| [(read(index), Issues(Read)), (read(index) + COMMAND + READ, Ends(Read))]).collect()
}

const SUSPENDING: [&str; 4] = ["immediate", "between-loops", "every-safe-point", "safe-points-by-wear"];

// ---- erases ------------------------------------------------------------------------------------------

/// When the erase of [`Drive::before_erase`] starts in the array [ns].
const ERASE_STARTS: u64 = COMMAND;

/// An erase from time 0 on, of a block with so many P/E cycles, and then `more`.
fn erase_under(policy_name: &str, worn_by: u32, more: Vec<Request>) -> Outcome {
    let mut drive = Drive::before_erase();
    drive.worn_by = worn_by;
    drive.engine.suspend = policy(policy_name);
    drive.run([write(0, 16)].into_iter().chain(more).collect())
}

/// Two reads of which each stops the erase, after `first` and `second` nanoseconds of its pulses. The other one comes
/// while the die ramps up after the first.
fn assert_two_stops_of_an_erase(policy_name: &str, worn_by: u32, first: u64, second: u64) {
    let first_stop = ERASE_STARTS + first;
    let ramp_begins = first_stop + RECOVER + UNIT_READ;
    let second_stop = ramp_begins + RAMP + (second - first);
    let end = second_stop + suspension_time(1) + (ERASE - second);
    let expected = [
        vec![(0, Issues(Erase))],
        one_suspension(first_stop, 1),
        one_suspension(second_stop, 1),
        vec![(end, Ends(Erase))],
    ];
    let run = erase_under(policy_name, worn_by, vec![read(500_000, 20), read(ramp_begins + 5_000, 20)]);
    assert_eq!(sequence(&run), expected.concat(), "{policy_name}, {worn_by} P/E cycles");
    assert_eq!(run.completed_at(1), ramp_begins, "{policy_name}: the die resumes when the data have left");
    assert_eq!(run.latency(2), RAMP - 5_000 + (second - first) + RECOVER + UNIT_READ, "{policy_name}");
}

#[test]
fn each_policy_stops_an_erase_where_it_promises_and_again_at_its_next_point() {
    // The first read comes after 499 900 ns of pulses. The second comes while voltages ramp: the erase does at least a
    // nanosecond before it stops again.
    assert_two_stops_of_an_erase("immediate", 0, 499_900, 499_901);
    assert_two_stops_of_an_erase("between-loops", 0, 1_000_000, 2_000_000);
    assert_two_stops_of_an_erase("every-safe-point", 0, 500_000, 600_000);
}

#[test]
fn the_points_of_a_block_follow_its_wear() {
    // Three loops of 1 ms. New: 30 points per loop, the 15th at 500 000 and the 16th at 533 333.3. After 316 cycles
    // 30 - 20 log10(3.16) = 20.006, 20 points 50 us apart; after 1 000 cycles 10 points 100 us apart.
    for (worn_by, second) in [(0, 533_333), (100, 533_333), (316, 550_000), (1_000, 600_000), (5_000, 600_000)] {
        assert_two_stops_of_an_erase("safe-points-by-wear", worn_by, 500_000, second);
    }
}

#[test]
fn without_suspends_reads_wait_for_the_end_of_the_erase() {
    let run = erase_under("none", 0, vec![read(500_000, 20), read(700_000, 20)]);
    let end = ERASE_STARTS + ERASE;
    let expected = [vec![(0, Issues(Erase)), (end, Ends(Erase))], reads_from(end, 2)];
    assert_eq!(sequence(&run), expected.concat());
}

#[test]
fn reads_that_come_before_the_erase_is_resumed_are_served_in_the_same_suspension() {
    for (policy_name, progress) in SUSPENDING.into_iter().zip([499_900, 1_000_000, 500_000, 500_000]) {
        let stop = ERASE_STARTS + progress;
        let last = stop + RECOVER + 3 * UNIT_READ - 1;
        // While the erase goes on to its stop, at the stop, in the recovery, beside the first read, and in the last
        // nanosecond of the data of the one before: five reads, one suspension.
        let first = 500_000.min(stop);
        let arrivals = [first, stop, stop + 10_000, stop + RECOVER + 20_000, last];
        let run = erase_under(policy_name, 0, arrivals.map(|at| read(at, 20)).to_vec());
        let end = stop + suspension_time(5) + (ERASE - progress);
        let expected = [vec![(0, Issues(Erase))], one_suspension(stop, 5), vec![(end, Ends(Erase))]];
        assert_eq!(sequence(&run), expected.concat(), "{policy_name}");
        for (index, arrival) in arrivals.into_iter().enumerate() {
            let served = stop + RECOVER + (index as u64 + 1) * UNIT_READ;
            assert_eq!(run.latency(index as u64 + 1), served - arrival, "{policy_name}, read {index}");
        }
    }
}

#[test]
fn a_read_that_comes_when_the_ramp_begins_is_too_late_for_it() {
    for (policy_name, first, second) in [("immediate", 499_900, 499_901), ("every-safe-point", 500_000, 600_000)] {
        let ramp_begins = ERASE_STARTS + first + RECOVER + UNIT_READ;
        // A nanosecond earlier it would have been served beside the parked erase.
        for (arrival, suspensions) in [(ramp_begins - 1, 1), (ramp_begins + 1, 2)] {
            let run = erase_under(policy_name, 0, vec![read(500_000, 20), read(arrival, 20)]);
            assert_eq!(run.counters().suspends, suspensions, "{policy_name}");
            let late = if suspensions == 1 { 0 } else { RAMP + (second - first) + RECOVER };
            assert_eq!(run.completed_at(2), ramp_begins + late + UNIT_READ, "{policy_name}");
        }
    }
}

#[test]
fn the_read_half_of_a_partial_write_stops_an_erase_as_a_read_does() {
    let half = sectors(Op::Write, 500_000, 20 * 8, 4);
    let run = erase_under("between-loops", 0, vec![half]);
    let stop = ERASE_STARTS + 1_000_000;
    let end = stop + suspension_time(1) + 2_000_000;
    let expected = [vec![(0, Issues(Erase))], one_suspension(stop, 1), vec![(end, Ends(Erase))]];
    assert_eq!(sequence(&run), expected.concat());
}

// ---- programs ----------------------------------------------------------------------------------------

/// When the program of a page that is written at time 0 starts in the array [ns].
const PROGRAM_STARTS: u64 = PAGE_PROGRAM - PROGRAM;

/// A program from time 0 on, and then `more`.
fn program_under(description: &serde_json::Value, more: Vec<Request>) -> Outcome {
    let mut drive = Drive::with(|drive| drive.prepared = (0..8).collect());
    drive.engine.suspend = policy_with(description);
    drive.run([write_units(0, 8, 4)].into_iter().chain(more).collect())
}

#[test]
fn every_policy_that_suspends_programs_stops_them_at_the_ends_of_their_pulses() {
    // Four pulses of 100 us. The first read comes in the second pulse, the other one while the die ramps up.
    let first_stop = PROGRAM_STARTS + 200_000;
    let ramp_begins = first_stop + RECOVER + UNIT_READ;
    let second_stop = ramp_begins + RAMP + 100_000;
    let end = second_stop + suspension_time(1) + 100_000;
    let expected = [
        vec![(0, Issues(Program))],
        one_suspension(first_stop, 1),
        one_suspension(second_stop, 1),
        vec![(end, Ends(Program))],
    ]
    .concat();
    for name in SUSPENDING {
        let description = serde_json::json!({ "policy": name, "programs": true });
        let run = program_under(&description, vec![read(150_000, 0), read(ramp_begins + 5_000, 0)]);
        assert_eq!(sequence(&run), expected, "{name}");
        assert_eq!(run.completed_at(1), ramp_begins, "{name}");
        assert_eq!(run.completed_at(2), second_stop + RECOVER + UNIT_READ, "{name}");
    }
}

#[test]
fn unless_told_to_no_policy_suspends_a_program() {
    let expected = [vec![(0, Issues(Program)), (PAGE_PROGRAM, Ends(Program))], reads_from(PAGE_PROGRAM, 2)].concat();
    for name in ["none"].into_iter().chain(SUSPENDING) {
        let run = program_under(&serde_json::json!({ "policy": name }), vec![read(150_000, 0), read(200_000, 0)]);
        assert_eq!(sequence(&run), expected, "{name}");
    }
}

#[test]
fn a_read_in_the_last_pulse_of_a_program_waits_for_its_end() {
    for name in SUSPENDING {
        let description = serde_json::json!({ "policy": name, "programs": true });
        // At the third boundary a stop is still possible, a nanosecond after it no longer.
        let last_boundary = PROGRAM_STARTS + 300_000;
        for (arrival, suspensions) in [(last_boundary, 1), (last_boundary + 1, 0)] {
            let run = program_under(&description, vec![read(arrival, 0)]);
            assert_eq!(run.counters().suspends, suspensions, "{name}");
            let served = if suspensions == 1 { last_boundary + RECOVER } else { PAGE_PROGRAM };
            assert_eq!(run.completed_at(1), served + UNIT_READ, "{name}");
        }
    }
}

// ---- what neither suspends nor runs beside a parked operation ------------------------------------------

#[test]
fn writes_trims_and_flushes_never_suspend() {
    for name in SUSPENDING {
        let description = serde_json::json!({ "policy": name, "programs": true });
        let mut drive = Drive::before_erase();
        drive.engine.suspend = policy_with(&description);
        // The first unit of the open page starts the erase, three more and the FLUSH send pages out.
        let more = vec![write_units(500_000, 17, 3), write_units(600_000, 20, 3), trim(650_000, 23), flush(700_000)];
        let run = drive.run([write(0, 16)].into_iter().chain(more).collect());
        let end = ERASE_STARTS + ERASE;
        let expected = [
            (0, Issues(Erase)),
            (end, Ends(Erase)),
            (end, Issues(Program)),
            (end + PAGE_PROGRAM, Ends(Program)),
            (end + PAGE_PROGRAM, Issues(Program)),
            (end + 2 * PAGE_PROGRAM, Ends(Program)),
        ];
        assert_eq!(sequence(&run), expected, "{name}");
        let run = program_under(&description, vec![write_units(150_000, 12, 4)]);
        assert_eq!((run.counters().suspends, run.ended(Program)[0]), (0, PAGE_PROGRAM), "{name}");
    }
}

#[test]
fn a_program_queued_while_an_erase_is_parked_waits_for_its_end() {
    for (name, progress) in SUSPENDING.into_iter().zip([499_900, 1_000_000, 500_000, 500_000]) {
        let stop = ERASE_STARTS + progress;
        let end = stop + suspension_time(1) + (ERASE - progress);
        // Queued in the recovery, beside the read, in the ramp: a full page with the unit that started the erase.
        for arrival in [stop + 1, stop + RECOVER + 1, stop + RECOVER + UNIT_READ, stop + RECOVER + UNIT_READ + 1] {
            let run = erase_under(name, 0, vec![read(500_000, 20), write_units(arrival, 17, 3)]);
            let expected = [
                vec![(0, Issues(Erase))],
                one_suspension(stop, 1),
                vec![(end, Ends(Erase)), (end, Issues(Program)), (end + PAGE_PROGRAM, Ends(Program))],
            ];
            assert_eq!(sequence(&run), expected.concat(), "{name}, written at {arrival}");
        }
    }
}

/// Three full groups and garbage collection wanted at once. A TRIM empties the first, whose erase begins; two more
/// leave one page in each of the others, whose reads are queued behind the erase.
fn moves_queued_behind_an_erase(policy_name: &str, more: Vec<Request>) -> Outcome {
    let mut drive = Drive::with(|drive| {
        drive.gc_trigger = policy_with(&serde_json::json!({ "policy": "free-groups", "beyond_reserve": 6 }));
        drive.prepared = (0..24).collect();
    });
    drive.engine.suspend = policy(policy_name);
    let trims = [(0, 0, 8), (100_000, 8, 4), (100_000, 16, 4)]
        .map(|(at, unit, units)| sectors(Op::Trim, at, unit * 8, units * 8));
    drive.run(trims.into_iter().chain(more).collect())
}

#[test]
fn a_read_of_garbage_collection_neither_suspends_an_erase_nor_runs_beside_it() {
    for (name, progress) in SUSPENDING.into_iter().zip([499_900, 1_000_000, 500_000, 500_000]) {
        let end = ERASE_STARTS + ERASE;
        let run = moves_queued_behind_an_erase(name, vec![]);
        assert!(run.counters().gc_page_reads > 0);
        let expected = [(0, Issues(Erase)), (end, Ends(Erase)), (end, Issues(Read))];
        assert_eq!(sequence(&run)[..3], expected, "{name}");
        // A read of the host stops the erase and is the only one beside it.
        let run = moves_queued_behind_an_erase(name, vec![read(500_000, 20)]);
        let end = end + suspension_time(1);
        let expected = [
            vec![(0, Issues(Erase))],
            one_suspension(ERASE_STARTS + progress, 1),
            vec![(end, Ends(Erase)), (end, Issues(Read))],
        ]
        .concat();
        assert_eq!(sequence(&run)[..expected.len()], expected, "{name}");
    }
}

#[test]
fn recovery_and_ramp_that_take_no_time_cost_none() {
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy("immediate");
    (drive.timing.suspend_recover, drive.timing.resume_ramp) = (Ns::ZERO, Ns::ZERO);
    let run = drive.run(vec![write(0, 16), read(500_000, 20)]);
    let has_read = 500_000 + UNIT_READ;
    let expected = [
        (0, Issues(Erase)),
        (500_000, Stops),
        (500_000, Recovered),
        (500_000, Issues(Read)),
        (has_read - UNIT_TRANSFER, Ends(Read)),
        (has_read, Resumes),
        (has_read, GoesOn),
        (ERASE_STARTS + ERASE + UNIT_READ, Ends(Erase)),
    ];
    assert_eq!(sequence(&run), expected);
}
