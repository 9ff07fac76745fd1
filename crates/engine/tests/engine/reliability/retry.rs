//! Pages that do not decode: read again, with more senses, and given up.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_engine::MergeBy;
use ninescope_engine::reliability::NandCode;
use ninescope_kernel::Rate;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Lpa, Op};
use serde_json::json;

use crate::reliability::drives::{CORRECTABLE, CORRUPTED, Coded, bch, coded, constant, never_corrected};
use crate::scenario::{COMMAND, Drive, Event, READ, UNIT_READ, UNIT_TRANSFER, policy, read, read_units};

/// One attempt to read a unit: sensed, sent, decoded in vain or not.
const ATTEMPT: u64 = UNIT_READ + CORRUPTED;
const FIRST: [(Cause, u64); 3] =
    [(Cause::CommandArray, COMMAND + READ), (Cause::Transfer, UNIT_TRANSFER), (Cause::Decode, CORRUPTED)];

/// A drive no page of which decodes, read again at levels that succeed with these chances.
fn at_levels(success: &[f64]) -> Drive {
    coded().with_errors(never_corrected()).with_retry(&json!({ "policy": "levels", "success": success }))
}

#[test]
fn a_level_that_succeeds_costs_one_more_read() {
    let run = at_levels(&[1.0]).run(vec![read(0, 0)]);
    assert_eq!(run.parts(Op::Read), [FIRST[0], FIRST[1], FIRST[2], (Cause::Retry, ATTEMPT)]);
    assert_eq!(run.latency(0), 2 * ATTEMPT);
    let (counted, code) = (run.reliable(), run.code(NandCode::Ecc));
    assert_eq!((counted.retried_reads, counted.retries, counted.failed_reads, counted.reads_reported), (1, 1, 0, 0));
    // A codeword of each attempt; what the second one corrected is as much as can be.
    assert_eq!((code.codewords, code.corrupted_codewords, code.failed_codewords), (2, 2, 1));
    assert_eq!((code.corrected_bits, code.decoder_busy_ns), (u64::from(CORRECTABLE), 2 * CORRUPTED));
}

#[test]
fn a_level_that_fails_costs_one_too() {
    let run = at_levels(&[0.0, 1.0]).run(vec![read(0, 0)]);
    assert_eq!(run.parts(Op::Read), [FIRST[0], FIRST[1], FIRST[2], (Cause::Retry, 2 * ATTEMPT)]);
    let (counted, code) = (run.reliable(), run.code(NandCode::Ecc));
    assert_eq!((counted.retried_reads, counted.retries), (1, 2));
    assert_eq!((code.codewords, code.failed_codewords), (3, 2));
    assert_eq!(run.decodes().iter().map(|decode| decode.attempt).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_read_that_no_level_brings_back_is_reported_and_sends_nothing() {
    for levels in [0, 1, 3] {
        let mut drive =
            if levels == 0 { coded().with_errors(never_corrected()) } else { at_levels(&vec![0.0; levels]) };
        drive.engine.link_rate = Rate(4_096_000_000);
        let run = drive.run(vec![read(0, 0), read_units(10_000_000, 4, 2)]);
        let attempts = levels as u64 + 1;
        assert_eq!(run.latency(0), attempts * ATTEMPT, "an error crosses the link in no time");
        assert_eq!(run.latency(1), attempts * (COMMAND + READ + 2 * (UNIT_TRANSFER + CORRUPTED)));
        let counted = run.reliable();
        assert_eq!((counted.failed_reads, counted.reads_reported, counted.reads_wrong), (2, 2, 0));
        assert_eq!((counted.retried_reads, counted.retries), (2 * u64::from(levels > 0), 2 * levels as u64));
        assert_eq!(counted.units_lost, 0, "a read of the host loses nothing: the next one may bring it");
        for (unit, at) in [(0, run.completed_at(0)), (4, run.completed_at(1)), (5, run.completed_at(1))] {
            assert_eq!(run.times(Event::Reported(Lpa(unit))), [at]);
        }
    }
}

#[test]
fn a_request_of_two_pages_of_which_one_fails_reports_an_error() {
    // Two dies; the pages of both fail, and the request is through when the later one is given up.
    let drive = Drive::with(|drive| {
        drive.channels = 2;
        drive.prepared = (0..8).collect();
    });
    let run = drive.with_ecc(bch()).with_errors(never_corrected()).run(vec![read_units(0, 2, 3)]);
    assert_eq!(run.latency(0), COMMAND + READ + 2 * (UNIT_TRANSFER + CORRUPTED));
    assert_eq!((run.reliable().failed_reads, run.reliable().reads_reported), (2, 1));
}

#[test]
fn reading_again_queues_behind_what_waits_on_the_die() {
    // The second read is queued while the first one is read: it goes before the first one's second attempt.
    let run = at_levels(&[1.0]).run(vec![read(0, 0), read(10, 4)]);
    // 0 to 51.1 us the first, to 102.2 the second; the first one failed at 61.1 and is sensed from 102.2 to 153.3, the
    // second one failed at 112.2 and is sensed from there.
    assert_eq!(run.completed_at(0), 3 * UNIT_READ + CORRUPTED);
    assert_eq!(run.completed_at(1), 4 * UNIT_READ + CORRUPTED);
}

#[test]
fn soft_sensing_senses_several_times_and_decodes_longer() {
    // 33,088 bits of which 99 fail in the mean: beyond 20 with certainty, within 200 as well (ten standard deviations).
    let drive = |correctable: [u32; 2]| {
        let drive = Drive { reliability: Default::default(), ..coded() }.with_ecc(Bch { correctable: 20, ..bch() });
        drive.with_errors(constant(99.0 / 33_088.0)).with_retry(&json!({
            "policy": "soft-sensing", "correctable": correctable, "senses": [3, 5], "decode": ["20us", "30us"],
        }))
    };
    let run = drive([200, 300]).run(vec![read(0, 0)]);
    let first = COMMAND + 3 * READ + UNIT_TRANSFER + CORRUPTED + 20_000;
    assert_eq!(run.parts(Op::Read), [FIRST[0], FIRST[1], FIRST[2], (Cause::Retry, first)]);
    assert_eq!(run.issued(CommandKind::Read).iter().map(|(_, read)| read.more_senses).collect::<Vec<_>>(), [0, 2]);
    // An attempt that corrects 30 is not enough.
    let second = COMMAND + 5 * READ + UNIT_TRANSFER + CORRUPTED + 30_000;
    let run = drive([30, 200]).run(vec![read(0, 0)]);
    assert_eq!(run.latency(0), ATTEMPT + first + second);
    assert_eq!(run.reliable().retries, 2);
    let run = drive([30, 40]).run(vec![read(0, 0)]);
    assert_eq!((run.latency(0), run.reliable().reads_reported), (ATTEMPT + first + second, 1));
}

#[test]
fn shifted_references_leave_a_share_of_the_errors() {
    // About 800 errors, of which no more are told than 256 beyond the 48 that are corrected: 305. Every attempt leaves
    // 30 %: 92, then 27, each five standard deviations from 48.
    let drive = coded().with_errors(constant(800.0 / 33_536.0)).with_retry(&json!({
        "policy": "shifted-reference", "attempts": 8, "remaining": 0.3,
    }));
    let run = drive.run(vec![read(0, 0)]);
    assert_eq!((run.reliable().retries, run.reliable().failed_reads), (2, 0));
    assert_eq!(run.latency(0), 3 * ATTEMPT);
}

#[test]
fn planes_that_fail_are_read_again_one_by_one() {
    let drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes) = (2, 2);
        drive.logical_units = 48;
        drive.prepared = (0..8).collect();
    });
    let drive = drive.with_ecc(bch()).with_errors(never_corrected());
    let run = drive.with_retry(&json!({ "policy": "levels", "success": [1.0] })).run(vec![read_units(0, 0, 8)]);
    let planes: Vec<u8> = run.issued(CommandKind::Read).iter().map(|(_, read)| read.planes).collect();
    assert_eq!(planes, [0b11, 0b01, 0b10]);
    assert_eq!((run.reliable().retried_reads, run.reliable().retries, run.reliable().reads_reported), (2, 2, 0));
    // Both planes' data, 40 us of decode for each: the first one fails at 94.2 us, the second one at 134.2.
    let page = 4 * UNIT_TRANSFER;
    let failed = 2 * COMMAND + READ + page + 8 * CORRUPTED;
    let first_again = failed - 4 * CORRUPTED + COMMAND + READ + page;
    assert!(first_again > failed);
    // The die is through with the first plane at 148.3 us; then the second, which is through with its decode last.
    let second_again = first_again + COMMAND + READ + page;
    assert_eq!(run.latency(0), second_again + 4 * CORRUPTED);
}

#[test]
fn what_is_read_again_goes_alone_where_planes_go_by_their_turns() {
    let mut drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes, drive.pages, drive.logical_units) = (2, 1, 32, 256);
        drive.prepared = (0..128).collect();
    });
    (drive.page_allocation, drive.timing.any_page, drive.engine.merge_by) = (policy("static"), true, MergeBy::Write);
    let drive = drive.with_ecc(bch()).with_errors(never_corrected());
    let drive = drive.with_retry(&json!({ "policy": "levels", "success": [1.0] }));
    // Pages of the host's space lie in the planes in turn. The first page of the second plane fails at 61.1 us, and waits behind
    // another read, of the eleventh page of the first plane, and a read of the first page there. Behind it waits a read of the page
    // that it is of, by another request: that goes beside the one of the first plane.
    let run = drive.run(vec![read(0, 4), read(10, 80), read(20, 0), read(70_000, 4)]);
    let planes: Vec<u8> = run.issued(CommandKind::Read).iter().map(|(_, read)| read.planes).collect();
    assert_eq!(planes, [0b10, 0b01, 0b11, 0b10, 0b01, 0b01, 0b10]);
    let together = 2 * COMMAND + READ + 2 * UNIT_TRANSFER;
    assert_eq!(run.latency(0), 2 * UNIT_READ + together + ATTEMPT);
    assert_eq!(run.latency(1), 3 * UNIT_READ + together + ATTEMPT - 10);
}

#[test]
fn a_group_is_not_erased_before_the_last_attempt_on_it() {
    // Unit 7 is read from the group that garbage collection empties, and is overwritten meanwhile.
    let drive = Drive::before_collection().with_ecc(bch()).with_errors(never_corrected());
    let drive = drive.with_retry(&json!({ "policy": "levels", "success": [0.0, 0.0, 0.0, 1.0] }));
    let run = drive.run(vec![crate::scenario::write(0, 18), read(10_000, 7), crate::scenario::write(20_000, 7)]);
    assert!(run.counters().erases_delayed_by_readers > 0);
    let erased = run.events().iter().find(|(_, event)| matches!(event, Event::Erased(_))).expect("an erase").0;
    let last = run.decodes().into_iter().rfind(|decode| decode.source == ninescope_model::Source::Host);
    assert!(erased > last.expect("the host's last attempt").arrived, "the last sense is before the erase");
    assert_eq!(run.reliable().reads_reported, 0);
}
