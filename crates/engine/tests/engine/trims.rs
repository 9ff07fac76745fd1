//! TRIMs: how long they take, and what is put off of them. Times are computed by hand from the constants of `scenario`.

use crate::scenario::{COMMAND, Drive, ERASE, Outcome, UNIT, UNIT_READ, policy_with, read, sectors, trim, write};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Op, Ppa, Request};
use serde_json::json;

fn run(mut drive: Drive, trims: &serde_json::Value, requests: Vec<Request>) -> Outcome {
    drive.engine.trim = policy_with(trims);
    drive.run(requests)
}

fn filled() -> Drive {
    Drive::with(|drive| drive.prepared = (0..24).collect())
}

fn trim_units(at: u64, unit: u64, units: u32) -> Request {
    sectors(Op::Trim, at, unit * u64::from(UNIT), units * UNIT)
}

// ---- at once ---------------------------------------------------------------------------------------------

#[test]
fn each_entry_takes_its_time_and_other_commands_wait_behind_it() {
    let trims = json!({ "policy": "at-once", "entry_time": "1us" });
    // Parts of the units at both ends are ignored, and take no time.
    let requests = vec![trim_units(0, 0, 4), read(1_000, 8), sectors(Op::Trim, 100_000, 44, 17)];
    let run = run(filled(), &trims, requests);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [4_000, 3_000 + UNIT_READ, 1_000]);
    assert_eq!(run.parts(Op::Trim), [(Cause::CommandProcessing, 5_000)]);
    assert_eq!((run.ftl().trimmed_units, run.counters().deferred_trims), (5, 0));
}

// ---- put off ---------------------------------------------------------------------------------------------

pub fn trims_at_rest() -> Outcome {
    let trims = json!({ "policy": "lazy", "rest": "1ms", "entry_time": "10us", "reads": "old-data" });
    // The first read has the rest begin anew, after which a unit is forgotten; the second one comes just before the next.
    let requests = vec![trim_units(0, 0, 4), read(500_000, 1), read(1_570_000, 1), read(2_631_101, 1)];
    run(filled(), &trims, requests)
}

#[test]
fn what_was_trimmed_is_forgotten_one_by_one_while_the_host_rests() {
    let run = trims_at_rest();
    assert_eq!([0, 1, 2, 3].map(|id| run.latency(id)), [0, UNIT_READ, UNIT_READ, 0], "old data is read until then");
    assert_eq!((run.counters().deferred_trims, run.counters().trims_at_rest, run.ftl().trimmed_units), (4, 4, 4));
    // Two of four were forgotten before the last read.
    assert_eq!(run.device.now().0, 2_631_101 + 1_000_000 + 2 * 10_000);
    assert_eq!([0, 3].map(|unit| run.place_of(unit)), [Ppa::UNMAPPED; 2]);
}

#[test]
fn reads_return_zeros_at_once_where_they_are_deterministic() {
    let trims = json!({ "policy": "lazy", "rest": "1ms" });
    let run = run(filled(), &trims, vec![trim(0, 3), read(10, 3), read(20, 4)]);
    assert_eq!([1, 2].map(|id| run.latency(id)), [0, UNIT_READ]);
    assert_eq!(run.counters().unmapped_units, 1);
    assert_eq!(run.device.now().0, 20 + UNIT_READ + 1_000_000, "all at once");
}

pub fn trims_before_writes() -> Outcome {
    let trims = json!({ "policy": "lazy", "rest": "1ms", "reads": "old-data" });
    // Of the second one a sector is written, to which nothing of the rest is read.
    let requests = vec![trim(0, 0), trim(0, 1), write(10, 0), sectors(Op::Write, 20, u64::from(UNIT) + 1, 1)];
    run(filled(), &trims, requests)
}

#[test]
fn what_is_written_is_forgotten_first_and_nothing_of_it_is_merged() {
    let run = trims_before_writes();
    assert_eq!([2, 3].map(|id| run.latency(id)), [0, 0]);
    let counters = run.counters();
    assert_eq!((counters.trims_before_writes, counters.trims_at_rest, counters.deferred_trims), (2, 0, 2));
    assert_eq!((counters.read_modify_write_unmapped, counters.read_modify_write_reads), (1, 0));
    assert_eq!(run.device.ftl().mapped_units(), 24);
}

#[test]
fn a_unit_that_lies_nowhere_is_not_put_off() {
    let trims = json!({ "policy": "lazy", "rest": "1ms" });
    let run = run(Drive::default(), &trims, vec![trim(0, 0)]);
    assert_eq!((run.counters().deferred_trims, run.device.now().0), (0, 0));
}

/// Unit 7 is all that group 0 holds, which the first write has collected.
pub fn trimmed_before_collection(before_collection: bool) -> Outcome {
    let trims = json!({ "policy": "lazy", "rest": "1s", "before_collection": before_collection });
    run(Drive::before_collection(), &trims, vec![trim(0, 7), write(10_000, 0)])
}

#[test]
fn collection_moves_what_was_trimmed_unless_it_is_forgotten_before() {
    let knows = trimmed_before_collection(true);
    assert_eq!((knows.counters().trims_before_collection, knows.counters().trims_at_rest), (1, 0));
    assert_eq!((knows.ftl().gc_units, knows.counters().trimmed_units_moved), (0, 0));
    assert_eq!(knows.ended(CommandKind::Erase)[0], 10_000 + COMMAND + ERASE, "it is erased at once");
    let moves = trimmed_before_collection(false);
    assert_eq!((moves.counters().trims_before_collection, moves.counters().trims_at_rest), (0, 1));
    assert!(moves.ftl().gc_units > 0 && moves.counters().trimmed_units_moved > 0);
    assert_eq!(moves.issued(CommandKind::Read)[0].0, 10_000, "it is read to be moved");
    assert_eq!(moves.place_of(7), Ppa::UNMAPPED);
}
