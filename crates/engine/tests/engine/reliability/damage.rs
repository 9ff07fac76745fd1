//! Units that are lost, or wrong without anybody knowing: what makes them so, what keeps them so, and what ends it.

use ninescope_ecc::policies::ecc_scheme::crc::Crc;
use ninescope_engine::WriteCompletion;
use ninescope_model::units::Bytes;
use ninescope_model::{Cause, Lpa, Op};
use serde_json::json;

use crate::reliability::drives::{
    CLEAN, CORRUPTED, Coded, ENCODE, LATER, bch, cache, clean, coded, crc, old_data_is_lost,
};
use crate::scenario::{
    Drive, Event, PAGE_PROGRAM, UNIT_READ, flush, policy, policy_with, read, sectors, trim, write, write_units,
};

/// A read that is given up, and one that is not.
const IN_VAIN: u64 = UNIT_READ + CORRUPTED;
const WELL: u64 = UNIT_READ + CLEAN;

#[test]
fn a_partial_write_over_what_cannot_be_read_loses_its_unit() {
    let run = old_data_is_lost(coded()).run(vec![sectors(Op::Write, 0, 4, 4), flush(1_000_000), read(LATER, 0)]);
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ), (Cause::Decode, CORRUPTED)]);
    let counted = run.reliable();
    assert_eq!((counted.failed_reads, counted.units_lost, counted.reads_reported), (1, 1, 1));
    assert_eq!(run.times(Event::Lost(Lpa(0))), [IN_VAIN]);
    // The page is new and decodes; half of what it holds is not what was written.
    assert_eq!(run.latency(2), WELL);
    assert_eq!(run.code(ninescope_engine::reliability::NandCode::Ecc).failed_codewords, 1);
}

#[test]
fn another_partial_write_keeps_a_lost_unit_lost_and_a_whole_one_repairs_it() {
    let run = old_data_is_lost(coded()).run(vec![
        sectors(Op::Write, 0, 4, 4),
        sectors(Op::Write, LATER, 0, 4),
        read(2 * LATER, 0),
        write(3 * LATER, 0),
        read(4 * LATER, 0),
        sectors(Op::Write, 5 * LATER, 4, 4),
        read(6 * LATER, 0),
    ]);
    // The second one finds its unit in the open page, and both halves written now; only who knows that could tell.
    assert_eq!(run.times(Event::Reported(Lpa(0))), [2 * LATER]);
    assert_eq!(run.times(Event::Repaired(Lpa(0))), [3 * LATER]);
    assert_eq!((run.reliable().units_lost, run.reliable().reads_reported), (1, 1));
}

#[test]
fn a_trim_ends_a_loss() {
    let run = old_data_is_lost(coded()).run(vec![sectors(Op::Write, 0, 4, 4), trim(LATER, 0), read(2 * LATER, 0)]);
    assert_eq!(run.times(Event::Repaired(Lpa(0))), [LATER]);
    assert_eq!((run.reliable().units_lost, run.reliable().reads_reported), (1, 0));
    assert_eq!(run.counters().unmapped_units, 1);
}

#[test]
fn a_partial_write_that_another_write_overtook_is_not_merged_with_what_was_lost() {
    // While the rest of unit 0 is read, all of it is written: that is what the partial write is merged with.
    let run = old_data_is_lost(coded()).run(vec![sectors(Op::Write, 0, 4, 4), write(1_000, 0), read(LATER, 0)]);
    let counted = run.reliable();
    assert_eq!((counted.failed_reads, counted.units_lost, counted.reads_reported), (1, 0, 0));
    // The same where it is trimmed meanwhile.
    let run = old_data_is_lost(coded()).run(vec![sectors(Op::Write, 0, 4, 4), trim(1_000, 0), read(LATER, 0)]);
    assert_eq!((run.reliable().failed_reads, run.reliable().units_lost, run.reliable().reads_reported), (1, 0, 0));
}

#[test]
fn each_of_two_units_whose_rests_one_read_did_not_bring_is_lost() {
    let two = sectors(Op::Write, 0, 4, 8);
    let run = old_data_is_lost(coded()).run(vec![two, flush(1_000_000), read(LATER, 0), read(2 * LATER, 1)]);
    let counted = run.reliable();
    assert_eq!(run.counters().read_modify_write_reads, 1);
    assert_eq!((counted.units_lost, counted.reads_reported), (2, 2));
    // Of two that are read together, the one that the host writes whole meanwhile is well.
    let run =
        old_data_is_lost(coded()).run(vec![two, write(1_000, 1), flush(1_000_000), read(LATER, 0), read(2 * LATER, 1)]);
    assert_eq!((run.reliable().units_lost, run.reliable().reads_reported), (1, 1));
}

#[test]
fn a_partial_write_whose_unit_was_programmed_elsewhere_meanwhile_reads_again() {
    // Two dies, as in `scenes::partial_write_overtaken_by_another`: what was lost is not what it is merged with.
    let drive = Drive::with(|drive| {
        drive.channels = 2;
        drive.logical_units = 48;
        drive.prepared = (0..48).collect();
    });
    let run = old_data_is_lost(drive.with_ecc(bch())).run(vec![
        write_units(0, 16, 4),
        sectors(Op::Write, 5, 0, 4),
        write_units(10, 0, 4),
        read(LATER, 0),
    ]);
    assert_eq!(run.counters().read_modify_write_repeated, 1);
    assert_eq!((run.reliable().failed_reads, run.reliable().units_lost, run.reliable().reads_reported), (1, 0, 0));
}

/// The drive before its collection, nothing of whose old data can be read.
fn old_before_collection() -> Drive {
    old_data_is_lost(Drive::before_collection().with_ecc(bch()))
}

#[test]
fn a_move_that_cannot_read_its_units_loses_them() {
    let run = old_before_collection().run(vec![write(0, 18), read(LATER, 7), write(2 * LATER, 7), read(3 * LATER, 7)]);
    // Units 7, 15, 19 and 20 fill the page of moves, as without codes.
    let counted = run.reliable();
    assert_eq!((counted.failed_reads, counted.units_lost, counted.ecc_units_moved), (4, 4, 4));
    for unit in [7, 15, 19, 20] {
        assert_eq!(run.times(Event::Lost(Lpa(unit))).len(), 1, "unit {unit}");
    }
    // The copy decodes, and is known to be worthless; so until the unit is written.
    assert_eq!((run.latency(1), run.latency(3)), (WELL, 0));
    assert_eq!(run.times(Event::Reported(Lpa(7))), [LATER]);
    assert_eq!(counted.reads_reported, 1);
}

#[test]
fn a_lost_unit_that_is_moved_stays_lost() {
    // Unit 7 is lost at once. Its copy is programmed, and moved when its group is the one that was filled first.
    let mut drive = old_before_collection();
    drive.victim = policy("fifo");
    let mut requests = vec![sectors(Op::Write, 0, 7 * 8, 4), flush(1_000_000)];
    let others = (0..24).filter(|unit| *unit != 7).cycle().take(23 * 6);
    requests.extend((1..).zip(others).map(|(index, unit)| write(LATER * index, unit)));
    requests.push(read(LATER * 1_000, 7));
    let run = drive.run(requests);
    let moves = |&&(_, event): &&(u64, Event)| matches!(event, Event::Mapped(Lpa(7), ..));
    assert!(run.events().iter().filter(moves).count() >= 2, "written once, moved at least once");
    assert_eq!(run.times(Event::Reported(Lpa(7))), [LATER * 1_000]);
    assert!(run.times(Event::Repaired(Lpa(7))).is_empty());
    assert_eq!(run.times(Event::Lost(Lpa(7))).len(), 1);
}

#[test]
fn a_move_whose_unit_is_overwritten_loses_nothing() {
    // Before the read is through, and while the page of moves is programmed.
    for at in [10_000, 300_000] {
        let run = old_before_collection().run(vec![write(0, 18), write(at, 7), read(LATER, 7)]);
        assert_eq!(run.reliable().reads_reported, 0, "overwritten at {at}");
        assert!(!run.reliability().damage().is_lost(Lpa(7)));
    }
}

/// A cache whose checksums are one bit: every second corrupt codeword passes.
fn blind_cache() -> Drive {
    Drive { reliability: Default::default(), ..cache() }
        .with_ecc(bch())
        .with_edc(Crc { width: 1, ..crc() })
        .all_corrupt_at(0)
}

#[test]
fn wrong_data_that_passes_is_counted_where_it_is_read() {
    let requests = (0..200).map(|index| read(index * LATER, index % 8)).collect();
    let run = blind_cache().run(requests);
    let undetected = run.decodes().iter().filter(|decode| decode.undetected != 0).count() as u64;
    let counted = run.reliable();
    assert_eq!((counted.reads_wrong, counted.reads_reported), (undetected, 0));
    assert_eq!(run.code(ninescope_engine::reliability::NandCode::Edc).undetected_codewords, undetected);
    // What is detected is written anew: a unit is met once, and passes as often as a coin shows heads before that.
    assert_eq!((counted.refetched, run.ftl().healed_units, counted.corruptions_met_by_host), (8, 8, 8));
    assert_eq!(counted.units_wrong, 0, "the media hold what they held");
}

#[test]
fn wrong_data_that_is_moved_or_merged_is_wrong_from_then_on() {
    // The rest of each unit is read and merged: those that passed are wrong, the others are fetched.
    let run = blind_cache().run(
        (0..8)
            .map(|unit| sectors(Op::Write, unit * LATER, unit * 8, 4))
            .chain((0..8).map(|unit| read((10 + unit) * LATER, unit)))
            .chain((0..8).map(|unit| write((20 + unit) * LATER, unit)))
            .chain((0..8).map(|unit| read((30 + unit) * LATER, unit)))
            .collect(),
    );
    let counted = run.reliable();
    let wrong = counted.units_wrong;
    assert!((1..8).contains(&wrong), "{wrong} of 8 tosses of a coin");
    assert_eq!(counted.refetched, 8 - wrong);
    assert_eq!((counted.reads_wrong, counted.reads_reported, counted.units_lost), (wrong, 0, 0));
    for unit in 0..8 {
        let made_wrong = run.times(Event::MadeWrong(Lpa(unit))).len();
        assert_eq!(
            run.times(Event::ReadWrong(Lpa(unit))).len(),
            made_wrong,
            "unit {unit}, read before it is rewritten"
        );
        assert_eq!(run.times(Event::Repaired(Lpa(unit))).len(), made_wrong, "unit {unit}");
    }
}

#[test]
fn a_wrong_unit_is_good_again_when_it_was_fetched() {
    // Every read finds errors, and every second one passes. Clean units are moved at 0: those that passed are wrong from
    // then on, until a read of them is refused and they are fetched as they should be.
    let mut drive = Drive { reliability: Default::default(), ..cache() }.with_ecc(bch());
    drive = drive.with_edc(Crc { width: 1, ..crc() }).with_errors(crate::reliability::drives::constant(0.02));
    drive.prepared = (0..24).chain(0..4).chain(8..12).collect();
    drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 4 }));
    let mut requests = vec![clean(write_units(0, 16, 1))];
    requests.extend((1..=10).flat_map(|round| (0..24).map(move |unit| read(round * LATER + unit, unit))));
    let run = drive.run(requests);
    assert!(run.reliable().units_wrong > 0, "{:?}", run.reliable());
    let mut repaired = 0;
    for unit in (0..24).map(Lpa) {
        let wrong = run.times(Event::MadeWrong(unit));
        let Some(&wrong) = wrong.first() else { continue };
        let healed = run.times(Event::Healed(unit)).into_iter().find(|&healed| healed > wrong);
        assert_eq!(run.times(Event::Repaired(unit)).first(), healed.as_ref(), "{unit:?}");
        repaired += u32::from(healed.is_some());
    }
    assert!(repaired > 0);
}

#[test]
fn a_unit_of_which_a_codeword_is_refused_does_not_pass_for_another_that_is_wrong() {
    // Four codewords to a unit, each with a wrong bit at every read; each passes with a chance of one half. A unit is
    // wrong if all four pass.
    let code = Crc { width: 1, user_data: Bytes(1024), ..crc() };
    let drive = Drive { reliability: Default::default(), ..cache() }.with_ecc(bch()).with_edc(code);
    let drive = drive.with_errors(crate::reliability::drives::constant(0.02));
    let run = drive.run((0..400).map(|index| read(index * LATER, index % 8)).collect());
    let (mut passed, mut refused) = (0, 0);
    for decode in run.decodes().iter().filter(|decode| decode.code == ninescope_engine::reliability::NandCode::Edc) {
        passed += u64::from(decode.undetected != 0 && decode.failed == 0);
        refused += u64::from(decode.failed != 0);
    }
    let counted = run.reliable();
    assert_eq!((counted.reads_wrong, counted.refetched), (passed, refused));
    assert!(passed > 0 && refused > 10 * passed, "1 in 16: {passed} to {refused}");
}

#[test]
fn a_buffered_copy_of_a_lost_unit_reports_it_as_well() {
    let mut drive = old_data_is_lost(coded());
    drive.engine.write_completion = WriteCompletion::Buffer;
    let run = drive.run(vec![sectors(Op::Write, 0, 4, 4), read(100_000, 0)]);
    assert_eq!((run.latency(1), run.reliable().reads_reported), (0, 1));
    assert_eq!(run.counters().forwarded_units, 1);
}

#[test]
fn nothing_is_lost_where_bits_do_not_fail() {
    let run = coded().run(vec![sectors(Op::Write, 0, 4, 4), flush(1_000_000), read(LATER, 0)]);
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ), (Cause::Decode, CLEAN)]);
    assert_eq!((run.reliable().units_lost, run.reliable().failed_reads, run.reliable().reads_reported), (0, 0, 0));
    assert_eq!((run.latency(1), run.latency(2)), (PAGE_PROGRAM + 4 * ENCODE, WELL));
}
