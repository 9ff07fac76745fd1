//! What goes by sector. Times are computed by hand from the constants of `scenario`: a sector crosses the channel in 125 ns, and
//! a page has four units of eight sectors.

use crate::scenario::{COMMAND, Drive, PAGE_PROGRAM, PROGRAM, READ, UNIT, UNIT_READ, UNIT_TRANSFER, sectors};
use ninescope_engine::{SectorRules, WriteCompletion};
use ninescope_kernel::Chance;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Op};

const SECTOR: u64 = UNIT_TRANSFER / UNIT as u64;
const ALL: SectorRules = SectorRules { reads: true, programs: true, rests: true, used_at_start: Vec::new() };

/// Units 0 to 7 lie in the first two pages of the drive.
fn prepared(rules: SectorRules) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.sectors = rules;
        drive.engine.write_completion = WriteCompletion::Program;
    })
}

#[test]
fn a_read_moves_the_sectors_that_it_asks_for() {
    let unit = u64::from(UNIT);
    // Of one unit three, and of the second half of one and the whole of the next one.
    let requests = || vec![sectors(Op::Read, 0, 2, 3), sectors(Op::Read, 1_000_000, 4, UNIT + UNIT / 2)];
    let run = prepared(ALL).run(requests());
    assert_eq!((run.latency(0), run.latency(1)), (COMMAND + READ + 3 * SECTOR, COMMAND + READ + 3 * unit / 2 * SECTOR));
    let run = prepared(SectorRules::default()).run(requests());
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ, UNIT_READ + UNIT_TRANSFER), "whole units");
}

#[test]
fn a_program_moves_the_sectors_that_were_written() {
    // Two whole units, and three sectors of one of which nothing was used before: a page each, padded.
    let requests = || vec![sectors(Op::Write, 0, 0, 2 * UNIT), sectors(Op::Write, 10_000_000, u64::from(2 * UNIT), 3)];
    let run = prepared(ALL).run(requests());
    assert_eq!(
        (run.latency(0), run.latency(1)),
        (COMMAND + 2 * UNIT_TRANSFER + PROGRAM, COMMAND + 3 * SECTOR + PROGRAM)
    );
    let run = prepared(SectorRules { programs: false, ..ALL }).run(requests());
    assert_eq!((run.latency(0), run.latency(1)), (PAGE_PROGRAM, PAGE_PROGRAM));
}

#[test]
fn a_rest_is_read_where_something_of_it_was_used() {
    // What the drive was prepared with is no rest; what the first write wrote is one of the second, and of the third all is written anew.
    let at = |number: u64| number * 10_000_000;
    let requests =
        vec![sectors(Op::Write, at(0), 0, 3), sectors(Op::Write, at(1), 3, 2), sectors(Op::Write, at(2), 0, 5)];
    let run = prepared(ALL).run(requests.clone());
    let program = |sectors: u64| COMMAND + sectors * SECTOR + PROGRAM;
    let rest = COMMAND + READ + 3 * SECTOR;
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [program(3), rest + program(2), program(5)]);
    assert_eq!((run.counters().read_modify_write_reads, run.counters().read_modify_write_unmapped), (1, 2));
    assert_eq!(run.issued(CommandKind::Read).len(), 1);
    let run = prepared(SectorRules::default()).run(requests);
    assert_eq!(run.counters().read_modify_write_reads, 3, "units hold something, whatever was used");
    assert!(run.parts(Op::Write).contains(&(Cause::ReadModifyWrite, 3 * UNIT_READ)));
}

#[test]
fn a_rest_is_read_where_something_of_it_was_used_before_the_run() {
    // Of each unit the first sector, and of no unit that of its second half.
    let at = |number: u64| number * 10_000_000;
    let unit = u64::from(UNIT);
    let rules = SectorRules { used_at_start: vec![Chance::of(1.0), Chance::NEVER], ..ALL };
    let run = prepared(rules).run(vec![
        sectors(Op::Write, at(0), 3, 2),
        sectors(Op::Write, at(1), unit, 5),
        // Trimmed it is a rest no more, and of what the drive does not hold there never was one.
        sectors(Op::Trim, at(2), 2 * unit, UNIT),
        sectors(Op::Write, at(3), 2 * unit + 4, 2),
        sectors(Op::Write, at(4), 8 * unit + 4, 2),
    ]);
    let program = |sectors: u64| COMMAND + sectors * SECTOR + PROGRAM;
    let rest = COMMAND + READ + SECTOR;
    let latencies = [0, 1, 3, 4].map(|id| run.latency(id));
    assert_eq!(latencies, [rest + program(2), program(5), program(2), program(2)]);
    assert_eq!(run.counters().read_modify_write_reads, 1);
}

#[test]
fn so_many_units_were_used_before_the_run_as_was_said() {
    const UNITS: u32 = 100_000;
    let shares = [0.25, 0.9];
    let used_at_start = shares.map(Chance::of).to_vec();
    let rules = SectorRules { used_at_start, ..ALL };
    let used: Vec<u32> = (0..UNITS).map(|unit| rules.used_before(unit, 8)).collect();
    assert!(used.iter().all(|used| used & !0b1_0001 == 0), "the first sectors of two halves");
    let count = |mask: u32| f64::from(used.iter().filter(|used| *used & mask == mask).count() as u32);
    // Each by itself, and both together as often as that comes to: within four standard deviations.
    for (mask, share) in [(1, shares[0]), (1 << 4, shares[1]), (0b1_0001, shares[0] * shares[1])] {
        let slack = 4.0 * (f64::from(UNITS) * share * (1.0 - share)).sqrt();
        assert!((count(mask) - share * f64::from(UNITS)).abs() < slack, "{mask:#b}: {}", count(mask));
    }
}

#[test]
fn what_was_read_first_is_a_rest_and_what_was_trimmed_is_none() {
    let at = |number: u64| number * 10_000_000;
    let unit = u64::from(UNIT);
    let run = prepared(ALL).run(vec![
        sectors(Op::Read, at(0), 0, 2),
        sectors(Op::Write, at(1), 2, 2),
        sectors(Op::Trim, at(2), 0, UNIT),
        sectors(Op::Write, at(3), 2, 2),
        // A unit that was written is not made larger by what is read of it.
        sectors(Op::Write, at(4), unit, 2),
        sectors(Op::Read, at(5), unit + 4, 2),
        sectors(Op::Write, at(6), unit, 2),
    ]);
    assert_eq!(run.counters().read_modify_write_reads, 1, "of the two sectors that were read");
}
