//! Who answers for a unit that waits for its program. Times are computed by hand from the constants of `scenario`: a sector
//! crosses the channel in 125 ns, and a unit has eight.

use ninescope_engine::{Forwarding, SectorRules, WriteCompletion};
use ninescope_model::Op;

use crate::scenario::{COMMAND, Drive, Outcome, PAGE_PROGRAM, PROGRAM, READ, UNIT, UNIT_READ, UNIT_TRANSFER, sectors};

const SECTOR: u64 = UNIT_TRANSFER / UNIT as u64;
const BY_SECTOR: SectorRules = SectorRules { reads: true, programs: true, rests: true, used_at_start: Vec::new() };

/// Sectors of the first unit that are written or read, each at a time of its own.
fn of_first_unit(forwards: Forwarding, rules: SectorRules, accesses: &[(Op, u64, u64, u32)]) -> Outcome {
    let drive = Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.sectors = rules;
        drive.engine.forwards = forwards;
        drive.engine.write_completion = WriteCompletion::Program;
    });
    drive.run(accesses.iter().map(|&(op, at, first, count)| sectors(op, at, first, count)).collect())
}

#[test]
fn a_drive_that_forwards_nothing_senses_a_page_behind_its_program() {
    let accesses = [(Op::Write, 0, 0, 4 * UNIT), (Op::Read, 10, 0, UNIT)];
    let run = of_first_unit(Forwarding::Nothing, SectorRules::default(), &accesses);
    assert_eq!(run.latency(1), PAGE_PROGRAM - 10 + UNIT_READ);
    assert_eq!((run.counters().sensed_while_waiting, run.counters().forwarded_units), (1, 0));
    let run = of_first_unit(Forwarding::All, SectorRules::default(), &accesses);
    assert_eq!(run.latency(1), 0);
    assert_eq!((run.counters().sensed_while_waiting, run.counters().forwarded_units), (0, 1));
}

#[test]
fn a_drive_that_forwards_nothing_reads_the_rest_of_a_unit_behind_its_program() {
    // Three sectors, and two more of the same unit while those are programmed.
    let accesses = [(Op::Write, 0, 0, 3), (Op::Write, 10, 3, 2)];
    let program = |sectors: u64| COMMAND + sectors * SECTOR + PROGRAM;
    let run = of_first_unit(Forwarding::Nothing, BY_SECTOR, &accesses);
    assert_eq!(run.latency(1), program(3) - 10 + COMMAND + READ + 3 * SECTOR + program(2));
    assert_eq!((run.counters().read_modify_write_reads, run.counters().read_modify_write_forwarded), (1, 0));
    for forwards in [Forwarding::All, Forwarding::Written] {
        let run = of_first_unit(forwards, BY_SECTOR, &accesses);
        assert_eq!((run.counters().read_modify_write_reads, run.counters().read_modify_write_forwarded), (0, 1));
    }
}

#[test]
fn what_was_written_is_forwarded_and_what_was_not_is_sensed() {
    let program = COMMAND + 3 * SECTOR + PROGRAM;
    let sensed = |sectors: u64, at: u64| program - at + COMMAND + READ + sectors * SECTOR;
    // Sectors 0 to 2 are written. Read are some of them, two others, and one of each.
    let accesses = [(Op::Write, 0, 0, 3), (Op::Read, 10, 1, 2), (Op::Read, 20, 4, 2)];
    let run = of_first_unit(Forwarding::Written, BY_SECTOR, &accesses);
    assert_eq!([1, 2].map(|id| run.latency(id)), [0, sensed(2, 20)]);
    assert_eq!((run.counters().sensed_while_waiting, run.counters().forwarded_units), (1, 1));
    let run = of_first_unit(Forwarding::Written, BY_SECTOR, &[(Op::Write, 0, 0, 3), (Op::Read, 10, 2, 2)]);
    assert_eq!(run.latency(1), sensed(2, 10));
    // What is written meanwhile joins it.
    let accesses = [(Op::Write, 0, 0, 3), (Op::Write, 10, 3, 2), (Op::Read, 20, 1, 4)];
    let run = of_first_unit(Forwarding::Written, BY_SECTOR, &accesses);
    assert_eq!(run.latency(2), 0);
}
