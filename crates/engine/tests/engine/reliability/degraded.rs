//! Pages that no decoder makes good on a drive with parity over dies: the rest of their stripe is read. All times by hand.
//!
//! The code detects errors and corrects none, and a tenth or so of the units has a wrong bit from the start: which ones is told by
//! the drive, and what that comes to follows from where they lie. Parity has none.

use ninescope_ecc::EccSchemeConfig;
use ninescope_engine::reliability::corruption::CorruptionConfig;
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Lpa, Op, Parity, ParityOver, Ppa, Request, Source};
use serde_json::json;

use crate::reliability::drives::{CHECK, Coded, LATER, crc, never_corrected};
use crate::scenario::{
    COMMAND, Drive, Event, Outcome, READ, UNIT_READ, UNIT_TRANSFER, policy_with, read, read_units, sectors, write_units,
};

/// A read of a unit that is checked.
const CHECKED: u64 = UNIT_READ + CHECK;
/// Units of the drive that hold something: three stripes of three dies, two pages of four units in each.
const UNITS: u32 = 24;

/// Three dies with a stripe over them, and a code that corrects nothing.
fn drive(over: ParityOver) -> Drive {
    let mut drive = Drive::with(|drive| {
        (drive.channels, drive.dies_per_channel) = if over == ParityOver::Channels { (3, 1) } else { (1, 3) };
        drive.parity = Some(Parity { stripe: 3, over });
        drive.blocks = 12;
        drive.logical_units = 2 * UNITS;
        drive.prepared = (0..UNITS).collect();
    });
    drive.reliability.nand.ecc = Some(EccSchemeConfig::Crc(crc()).build().expect("a code"));
    drive
}

/// The same with a wrong bit in a few units.
fn harmed(over: ParityOver) -> Drive {
    let mut drive = drive(over);
    // 1 - (1 - p)^32768 = 0.26
    drive.reliability.nand.corruption =
        Some(CorruptionConfig { initial_rber: 9e-6, at: Ns(0), until: None, hourly_rber: 0.0 });
    drive
}

/// Which units have a wrong bit: filled in order, unit and place have one number.
fn corrupt(run: &Outcome) -> Vec<u32> {
    let corrupted = |&(_, event): &(u64, Event)| match event {
        Event::Corrupted(Ppa(place)) => Some(place),
        _ => None,
    };
    run.events().iter().filter_map(corrupted).collect()
}

/// Each unit is read when all else is at rest.
fn read_one_by_one() -> Vec<Request> {
    (0..UNITS).map(|unit| read(u64::from(unit) * LATER, unit.into())).collect()
}

/// The unit at the same place of the other page of data of a stripe.
fn beside(unit: u32) -> u32 {
    unit ^ 4
}

#[test]
fn a_unit_that_is_no_good_is_what_the_other_pages_of_its_stripe_come_to() {
    let (mut found_in_all, mut lost_in_all) = (0, 0);
    for seed in 1..=8 {
        let (found, lost) = read_all(seed);
        (found_in_all, lost_in_all) = (found_in_all + found, lost_in_all + lost);
    }
    assert!(found_in_all > 0 && lost_in_all > 0, "{found_in_all} found again, {lost_in_all} not: some of each");
}

/// Reads every unit of a drive and returns how many were found by parity, and how many were not.
fn read_all(seed: u64) -> (u64, u64) {
    let mut drive = harmed(ParityOver::Channels);
    drive.reliability.seed = seed;
    let run = drive.run(read_one_by_one());
    let bad = corrupt(&run);
    let is_bad = |unit: u32| bad.contains(&unit);
    let (mut found, mut lost) = (0, 0);
    for unit in 0..UNITS {
        // The two others are read side by side, each on a channel of its own.
        let expected = if is_bad(unit) { 2 * CHECKED } else { CHECKED };
        assert_eq!(run.latency(unit.into()), expected, "unit {unit}");
        let two = is_bad(unit) && is_bad(beside(unit));
        assert_eq!(run.times(Event::Reported(Lpa(unit))).len(), usize::from(two), "unit {unit}");
        (found, lost) = (found + u64::from(is_bad(unit) && !two), lost + u64::from(two));
    }
    let counted = run.reliable();
    assert_eq!((counted.degraded_reads, counted.stripe_page_reads), (found + lost, 2 * (found + lost)));
    // Where two of a stripe are gone, the page that was read for the first is given up, and so is that.
    assert_eq!((counted.units_rebuilt, counted.failed_reads, counted.reads_reported), (found, 2 * lost, lost));
    assert_eq!((counted.units_lost, counted.corruptions_met_by_host), (0, found + lost));
    // What was found is written anew, once.
    assert_eq!((run.ftl().healed_units, counted.heals_dropped), (found, 0));
    let degraded = run.parts(Op::Read).into_iter().find(|(cause, _)| *cause == Cause::DegradedRead);
    assert_eq!(degraded.map_or(0, |(_, time)| time), (found + lost) * CHECKED);
    (found, lost)
}

#[test]
fn pages_of_a_stripe_on_one_channel_leave_one_behind_the_other() {
    let run = harmed(ParityOver::Dies).run(read_one_by_one());
    // Commands and data of the two share the channel: the second is sent behind the first, sensed as long, and its data, there at
    // 50.2 us, wait for those of the first, which leave from 50.1 to 51.1.
    let both = COMMAND + READ + 2 * UNIT_TRANSFER + CHECK;
    for unit in corrupt(&run) {
        assert_eq!(run.latency(unit.into()), CHECKED + both, "unit {unit}");
    }
}

#[test]
fn a_page_that_is_read_for_another_waits_for_its_die_as_any_read_does() {
    let first = harmed(ParityOver::Channels).run(vec![read(0, 0)]);
    let bad = corrupt(&first);
    let unit = *bad.iter().find(|&&unit| unit < 4 && !bad.contains(&beside(unit))).expect("one on the first die alone");
    // The die with parity of the first group, the third, reads for the host when the stripe is asked for: of the second group it
    // has the second page of data.
    let other = (20..24).find(|unit| !bad.contains(unit)).expect("a good unit there");
    let late = CHECKED - 1_000;
    let run = harmed(ParityOver::Channels).run(vec![read(0, unit.into()), read(late, other.into())]);
    let third = run.issued(CommandKind::Read).iter().filter(|(_, command)| command.die.0 == 2).count();
    assert_eq!(third, 2, "both on the third die");
    assert_eq!(run.latency(1), CHECKED);
    // The host's read of that die, sensed and sent, ends 50.1 us after the stripe was asked for.
    assert_eq!(run.latency(0), CHECKED + (UNIT_READ - 1_000) + CHECKED);
}

#[test]
fn what_is_not_on_the_media_yet_is_in_the_controller() {
    // Two pages of data are written and not programmed by the time, so that of a stripe with a bad unit nothing is on the media but
    // that page. 28 units: the fourth stripe has one page on the media, and its parity is in the controller.
    let mut drive = harmed(ParityOver::Channels);
    drive.prepared = (0..28).collect();
    let run = drive.run((24..28_u32).map(|unit| read(u64::from(unit) * LATER, unit.into())).collect());
    let bad: Vec<u32> = corrupt(&run).into_iter().filter(|&unit| unit >= 24).collect();
    assert!(!bad.is_empty(), "a bad unit in the page");
    for unit in bad {
        assert_eq!(run.latency(u64::from(unit) - 24), CHECKED, "nothing has to be read");
        assert!(run.times(Event::Reported(Lpa(unit))).is_empty());
    }
    assert_eq!(run.reliable().stripe_page_reads, 0);
    assert!(run.reliable().units_rebuilt > 0);
}

#[test]
fn nothing_is_found_again_where_every_page_of_the_stripe_is_no_good() {
    let run = drive(ParityOver::Channels).with_errors(never_corrected()).run(vec![read_units(0, 0, 4)]);
    let counted = run.reliable();
    assert_eq!((counted.degraded_reads, counted.stripe_page_reads, counted.units_rebuilt), (1, 2, 0));
    assert_eq!((counted.failed_reads, counted.reads_reported), (3, 1), "two of the stripe, and the one of the host");
    assert_eq!(run.latency(0), 2 * (COMMAND + READ + 4 * (UNIT_TRANSFER + CHECK)));
    assert_eq!(run.ftl().healed_units, 0);
}

#[test]
fn a_page_is_read_again_before_its_stripe_is() {
    let mut drive = drive(ParityOver::Channels).with_errors(never_corrected());
    drive.reliability.nand.retry = Some(policy_with(&json!({ "policy": "levels", "success": [0.0] })));
    let run = drive.run(vec![read(0, 0)]);
    let read = |attempts: u64| attempts * CHECKED;
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
            (Cause::Decode, CHECK),
            (Cause::Retry, read(1)),
            // Pages of the stripe are read again, too.
            (Cause::DegradedRead, read(2)),
        ]
    );
    assert_eq!((run.reliable().retries, run.reliable().degraded_reads), (3, 1));
}

#[test]
fn the_rest_of_a_partial_write_is_found_by_parity_and_its_time_is_named() {
    let first = harmed(ParityOver::Channels).run(vec![read(0, 0)]);
    let bad = corrupt(&first);
    let unit = *bad.iter().find(|&&unit| !bad.contains(&beside(unit))).expect("a unit that is found again");
    let run = harmed(ParityOver::Channels).run(vec![sectors(Op::Write, 0, u64::from(unit) * 8, 1)]);
    assert_eq!(
        run.parts(Op::Write),
        [(Cause::ReadModifyWrite, UNIT_READ), (Cause::Decode, CHECK), (Cause::DegradedRead, CHECKED)]
    );
    let counted = run.reliable();
    assert_eq!((counted.units_rebuilt, counted.units_lost, run.ftl().healed_units), (1, 0, 0), "it is written anyway");
}

#[test]
fn the_scrubber_has_what_it_finds_written_anew() {
    let mut drive = harmed(ParityOver::Channels);
    drive.reliability.scrub =
        Some(policy_with(&json!({ "policy": "periodic", "period": "10s", "first": "0s", "pages_in_flight": 1 })));
    let run = drive.run(vec![read(9 * LATER, 40)]);
    let bad = corrupt(&run);
    let found = bad.iter().filter(|&&unit| !bad.contains(&beside(unit))).count() as u64;
    let counted = run.reliable();
    assert_eq!((counted.units_rebuilt, run.ftl().healed_units), (found, found));
    assert_eq!(counted.corruptions_met_by_scrub, bad.len() as u64);
    let of_scrub = |(_, event): &&(u64, Event)| matches!(event, Event::Degraded(Source::Scrub, 2));
    assert_eq!(run.events().iter().filter(of_scrub).count() as u64, counted.degraded_reads);
}

#[test]
fn what_is_moved_is_found_by_parity() {
    // Eight groups of 16 units, of which 60 are seen, and written all over.
    let mut drive = harmed(ParityOver::Channels);
    (drive.blocks, drive.logical_units) = (8, 60);
    drive.prepared = (0..60).collect();
    let writes = (0..60).map(|write| write_units(write * 1_000_000, write * 14 % 58, 2)).collect();
    let run = drive.run(writes);
    assert!(run.events().iter().any(|(_, event)| matches!(event, Event::Degraded(Source::GarbageCollection, _))));
    assert!(run.reliable().units_rebuilt > 0);
    assert_eq!(run.ftl().healed_units, 0, "they are moved anyway");
}
