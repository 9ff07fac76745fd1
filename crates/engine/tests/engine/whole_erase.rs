//! The drive is erased as a whole: formatted, or sanitized. Times are computed by hand from the constants of `scenario`.

use crate::scenario::{
    COMMAND, Drive, ERASE, Outcome, PAGE_PROGRAM, PROGRAM, UNIT_READ, UNIT_TRANSFER, policy_with, read, sectors, trim,
    write, write_units,
};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, DriveErase, Op, Pool, Ppa, Request};
use serde_json::json;

/// The erase of a block, from its command on.
const BLOCK: u64 = COMMAND + ERASE;

/// The range is of no account.
fn erase(at: u64, what: DriveErase) -> Request {
    Request { remark: what.into(), ..sectors(Op::Trim, at, 5, 1) }
}

/// Three blocks of eight are full.
fn filled() -> Drive {
    Drive::with(|drive| drive.prepared = (0..24).collect())
}

/// What a drive of one pool is like that holds nothing.
fn is_empty(run: &Outcome, free: u32) {
    assert_eq!((run.device.ftl().mapped_units(), run.free_groups()), (0, free));
    assert_eq!(run.place_of(0), Ppa::UNMAPPED);
}

pub fn formatted() -> Outcome {
    let requests = vec![
        erase(0, DriveErase::Format),
        read(10, 3),
        write(20, 4),
        Request { sectors: 0, ..sectors(Op::Flush, 30, 0, 0) },
        erase(40, DriveErase::Sanitize),
        read(3 * BLOCK + 1, 3),
        write_units(3 * BLOCK + 2, 0, 4),
    ];
    filled().run(requests)
}

#[test]
fn a_format_takes_the_erases_of_all_blocks_that_hold_anything_and_aborts_what_comes_meanwhile() {
    let run = formatted();
    // What is aborted is so at once. Behind it a read finds nothing, and writes begin in an empty drive.
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|id| run.latency(id)), [3 * BLOCK, 0, 0, 0, 0, 0, 0]);
    assert_eq!(run.parts(Op::Trim), [(Cause::DieErase, 3 * BLOCK)]);
    let counters = run.counters();
    assert_eq!((counters.whole_erases, counters.whole_erase_ns, counters.aborted_commands), (1, 3 * BLOCK, 4));
    assert_eq!((run.ftl().erased_groups, run.ftl().trimmed_units, run.ftl().host_units), (3, 24, 4));
    assert_eq!((run.device.ftl().mapped_units(), run.free_groups()), (4, 7));
    // No byte was trimmed, or written by what was aborted.
    let bytes = [Op::Trim, Op::Write].map(|op| run.device.meter().ops[op as usize].bytes);
    assert_eq!(bytes, [0, 4 * 4_096]);
}

#[test]
fn a_sanitize_completes_when_it_begins_and_goes_on() {
    let requests = vec![erase(0, DriveErase::Sanitize), read(3 * BLOCK - 1, 3), read(3 * BLOCK + 1, 3)];
    let run = filled().run(requests);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [0, 0, 0]);
    assert_eq!((run.counters().aborted_commands, run.counters().whole_erase_ns), (1, 3 * BLOCK));
    assert_eq!(run.ended(CommandKind::Erase), [BLOCK, 2 * BLOCK, 3 * BLOCK]);
    is_empty(&run, 8);
}

#[test]
fn a_changed_key_takes_no_time_and_leaves_blocks_to_be_collected() {
    let run = filled().run(vec![erase(0, DriveErase::SanitizeCrypto), read(0, 3)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [0, 0]);
    let counters = run.counters();
    assert_eq!((counters.whole_erases, counters.whole_erase_ns, counters.aborted_commands), (1, 0, 0));
    assert_eq!((run.ftl().erased_groups, run.ftl().trimmed_units), (0, 24));
    is_empty(&run, 5);
}

#[test]
fn what_came_before_is_carried_out_first() {
    // A read, and a write whose page is padded and programmed on the same die. What comes in between is aborted.
    let run = filled().run(vec![read(0, 3), write(0, 4), erase(10, DriveErase::Format), read(20, 5)]);
    assert_eq!(run.latency(0), UNIT_READ);
    assert_eq!(run.latency(3), 0);
    // The channel carries the page while the die reads; in any case the erases follow the program.
    let began = run.ended(CommandKind::Program)[0];
    let behind_the_read = UNIT_READ + PROGRAM..=UNIT_READ + PAGE_PROGRAM + UNIT_TRANSFER;
    assert!(behind_the_read.contains(&began), "{began}");
    assert_eq!(run.latency(2), began + 4 * BLOCK - 10, "a fourth block holds the page");
    assert_eq!(run.parts(Op::Trim), [(Cause::DieErase, 4 * BLOCK), (Cause::Ordering, began - 10)]);
    is_empty(&run, 8);
}

#[test]
fn dies_erase_at_a_time_and_planes_by_one_command() {
    let mut drive = filled();
    (drive.channels, drive.planes, drive.frontier_planes, drive.logical_units) = (2, 2, 2, 96);
    drive.prepared = (0..96).collect();
    let run = drive.run(vec![erase(0, DriveErase::Format)]);
    // 96 units are three groups of 16 on each die, of two planes that are addressed one after the other.
    assert_eq!(run.latency(0), 3 * (2 * COMMAND + ERASE));
    assert_eq!((run.ftl().erased_groups, run.counters().erase_commands), (6, 6));
    assert_eq!([0, 1].map(|pool| run.device.ftl().free_groups(Pool(pool))), [8, 8]);
}

#[test]
fn collection_under_way_ends_before_and_begins_anew_behind_it() {
    // The write opens a group, which has group 0 collected: its unit is on its way when the drive is to be erased.
    let requests = vec![write(0, 0), erase(10_000, DriveErase::Format), write(60_000_000, 1)];
    let run = Drive::before_collection().run(requests);
    assert_eq!(run.latency(2), 0);
    assert_eq!((run.device.ftl().mapped_units(), run.free_groups()), (1, 7));
}

#[test]
fn what_was_trimmed_and_put_off_goes_with_the_rest() {
    let mut drive = filled();
    drive.engine.trim = policy_with(&json!({ "policy": "lazy", "rest": "1ms", "reads": "old-data" }));
    let run = drive.run(vec![trim(0, 3), erase(10, DriveErase::Format), read(4 * BLOCK, 3)]);
    assert_eq!((run.counters().deferred_trims, run.counters().trims_at_rest, run.latency(2)), (1, 0, 0));
    assert_eq!(run.device.now().0, 4 * BLOCK, "nothing is left to be forgotten");
    is_empty(&run, 8);
}
