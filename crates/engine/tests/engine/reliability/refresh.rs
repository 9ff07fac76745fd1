//! Refresh: groups that were read too often, whose data is too old, or of whose bits too many are expected to fail, are emptied; age
//! and reads begin anew.

use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::reliability::health::Ageing;
use ninescope_ftl::GroupState;
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Lpa, Op, Source};
use serde_json::json;

use crate::reliability::drives::{Coded, LATER, bch, old_data_is_lost};
use crate::scenario::{Drive, Event, Outcome, flush, policy_with, read, sectors, write, write_units};

/// The default drive with three full groups, refreshed so.
fn refreshed(policy: &serde_json::Value) -> Drive {
    let mut drive = Drive::with(|drive| drive.prepared = (0..24).collect()).with_ecc(bch());
    drive.reliability.refresh = Some(policy_with::<RefreshPolicyConfig>(policy));
    drive
}

fn by_reads(reads: u32) -> Drive {
    refreshed(&json!({ "policy": "limits", "reads": reads, "retention": null }))
}

fn by_age(retention: &str, period: &str) -> Drive {
    refreshed(&json!({ "policy": "limits", "reads": null, "retention": retention, "period": period }))
}

fn reads_of(run: &Outcome, group: u32) -> u32 {
    run.device.ftl().group(BlockGroup(group)).reads_since_erase
}

fn erased(run: &Outcome) -> Vec<BlockGroup> {
    let erased = |&(_, event): &(u64, Event)| match event {
        Event::Erased(group) => Some(group),
        _ => None,
    };
    run.events().iter().filter_map(erased).collect()
}

#[test]
fn a_group_that_was_read_too_often_is_written_anew() {
    let run = by_reads(10).run((0..10).map(|index| read(index * LATER, index % 8)).collect());
    let counted = run.reliable();
    assert_eq!((counted.refreshes_by_reads, counted.refreshes_by_age, run.ftl().refreshed_groups), (1, 0, 1));
    assert_eq!((run.ftl().gc_units, run.ftl().moves_completed, counted.ecc_units_moved), (8, 8, 8));
    assert_eq!((erased(&run), reads_of(&run, 0)), (vec![BlockGroup(0)], 0));
    // In one group, in order, and readable as before.
    let new = run.device.ftl().geometry().group_and_offset(run.place_of(0)).0;
    assert_eq!(
        (0..8).map(|unit| run.place_of(unit).0 - run.place_of(0).0).collect::<Vec<_>>(),
        (0..8).collect::<Vec<_>>()
    );
    assert_eq!(run.device.ftl().group(new).reads_since_erase, 0);
    assert_eq!(run.ftl().gc_victims, 0, "no victim was chosen for its space");
}

#[test]
fn one_read_less_refreshes_nothing() {
    let run = by_reads(10).run((0..9).map(|index| read(index * LATER, index % 8)).collect());
    assert_eq!((run.reliable().refreshes_by_reads, run.ftl().refreshed_groups, reads_of(&run, 0)), (0, 0, 9));
}

#[test]
fn the_new_group_is_refreshed_after_as_many_reads() {
    // Ten reads, and ten of the new group. The reads of the moves themselves are two of the old group.
    let run = by_reads(10).run((0..20).map(|index| read(index * LATER, index % 8)).collect());
    assert_eq!((run.reliable().refreshes_by_reads, run.ftl().refreshed_groups, run.ftl().gc_units), (2, 2, 16));
    assert_eq!(erased(&run).len(), 2);
}

#[test]
fn attempts_to_read_again_are_reads_of_the_group() {
    let drive = by_reads(10).with_errors(crate::reliability::drives::never_corrected());
    let drive = drive.with_retry(&json!({ "policy": "levels", "success": [0.0, 0.0, 1.0] }));
    // Four senses for each read: the third read is the ninth sense, and its attempts make it twelve; the fourth is due.
    let run = drive.run((0..4).map(|index| read(index * LATER, index % 8)).collect());
    assert_eq!((run.reliable().refreshes_by_reads, run.reliable().reads_reported), (1, 0));
    let run = by_reads(10).run((0..4).map(|index| read(index * LATER, index % 8)).collect());
    assert_eq!(run.reliable().refreshes_by_reads, 0);
}

#[test]
fn a_group_that_is_being_filled_is_refreshed_when_it_is_read_after_it_is_full() {
    let run = by_reads(5).run(
        [write_units(0, 0, 4)]
            .into_iter()
            .chain((1..=6).map(|index| read(index * LATER, 0)))
            .chain([write_units(7 * LATER, 4, 4), read(8 * LATER, 0)])
            .collect(),
    );
    // Six reads of an open group are no reason; the seventh is one.
    assert_eq!((run.reliable().refreshes_by_reads, run.ftl().refreshed_groups), (1, 1));
    assert_eq!(run.device.ftl().residence(run.place_of(0)).life, 0);
}

#[test]
fn groups_whose_data_is_old_are_written_anew() {
    // Data of 9 ms at the start; ages are looked at every 4 ms until the host has ended.
    let run_until = |at: u64| {
        let mut drive = by_age("10ms", "4ms");
        drive.reliability.nand.initial_age = Ns(9_000_000);
        drive.run(vec![read(0, 0), read(at, 0)])
    };
    let none = run_until(3_900_000);
    assert_eq!((none.reliable().refreshes_by_age, none.ftl().refreshed_groups), (0, 0));
    let once = run_until(10_000_000);
    let counted = once.reliable();
    assert_eq!((counted.refreshes_by_age, counted.refreshes_by_reads, once.ftl().refreshed_groups), (3, 0, 3));
    assert_eq!((once.ftl().gc_units, once.ftl().moves_completed, once.ftl().erased_groups), (24, 24, 3));
    let mut groups = erased(&once);
    groups.sort_unstable();
    assert_eq!(groups, [0, 1, 2].map(BlockGroup));
}

#[test]
fn new_data_is_refreshed_when_it_is_old_itself() {
    // Three groups of 8 units at a look at 12 ms, and their copies at the first look at which those are 10 ms old.
    let run = by_age("10ms", "4ms").run(vec![read(0, 0), read(39_000_000, 0)]);
    let (counted, first) = (run.reliable(), erased(&run).len());
    assert_eq!(counted.refreshes_by_age, first as u64);
    let looks: Vec<u64> = run
        .decodes()
        .iter()
        .filter(|decode| decode.source == Source::GarbageCollection)
        .map(|decode| decode.arrived / 4_000_000 * 4)
        .collect();
    // The copies are programmed within some ms of 12 ms, so that they are 10 ms old at 24 or 28, and theirs at 36 or 40.
    assert_eq!(looks[0], 12, "{looks:?}");
    assert!(looks.iter().all(|look| [12, 16, 24, 28, 32, 36].contains(look)), "{looks:?}");
    assert!(run.ftl().refreshed_groups >= 6);
    for unit in 0..24 {
        assert!(run.device.ftl().is_valid(run.place_of(unit)), "unit {unit}");
    }
}

/// Data of so many minutes at the start, of which bits fail with the tenth power of their age [days], refreshed at 2e-13: at 77.2 minutes.
fn by_rate(minutes: u64, warmer: Option<f64>) -> Drive {
    let mut drive =
        old_data_is_lost(refreshed(&json!({ "policy": "expected-errors", "rber": 2e-13, "period": "3min" })));
    drive.reliability.nand.initial_age = Ns(minutes * 60 * LATER);
    let initial = Ns(minutes * 60 * LATER);
    drive.reliability.nand.ageing = warmer.map(|factor| Ageing { initial, factor });
    drive
}

#[test]
fn groups_are_refreshed_when_too_many_bits_are_expected_to_fail() {
    let until = |minutes: u64, warmer: Option<f64>| {
        let run = by_rate(72, warmer).run(vec![read(0, 0), read(minutes * 60 * LATER, 0)]);
        let counted = run.reliable();
        assert_eq!((counted.refreshes_by_reads, counted.refreshes_by_age), (0, 0));
        assert_eq!(counted.refreshes_by_rate, run.ftl().refreshed_groups);
        counted.refreshes_by_rate
    };
    // At the look after three minutes they are 75 minutes old, after six 78: what was new then is not due again.
    assert_eq!([5, 7, 60].map(|minutes| until(minutes, None)), [0, 3, 3]);
    // Where an hour ages data by two, they are 78 minutes old after three.
    assert_eq!([2, 5].map(|minutes| until(minutes, Some(2.0))), [0, 3]);
}

#[test]
fn what_does_not_fill_a_page_is_programmed_all_the_same() {
    // Of the first group one unit is left, which alone is moved.
    let mut drive = by_reads(10);
    drive.prepared = (0..24).chain(0..7).collect();
    let run = drive.run((0..10).map(|index| read(index * LATER, 7)).collect());
    assert_eq!((run.reliable().refreshes_by_reads, run.ftl().refreshed_groups), (1, 1));
    assert_eq!((run.ftl().gc_units, run.ftl().moves_completed), (1, 1));
    assert_eq!((erased(&run), reads_of(&run, 0)), (vec![BlockGroup(0)], 0));
    assert_eq!((run.ftl().padding_units, run.counters().gc_padded_pages), (3, 1));
}

#[test]
fn a_refreshed_group_whose_units_are_overwritten_meanwhile_is_erased_without_them() {
    let run = by_reads(10).run(
        (0..10)
            .map(|index| read(index * LATER, 0))
            .chain([write_units(9 * LATER + 10_000, 0, 8), flush(10 * LATER)])
            .collect(),
    );
    assert_eq!((run.ftl().refreshed_groups, run.ftl().moves_completed), (1, 0));
    assert!(erased(&run).contains(&BlockGroup(0)));
}

#[test]
fn a_drive_that_refreshes_all_the_time_still_takes_writes() {
    // Every group is due at every look; the host writes six of the units on, and so does garbage collection.
    let mut drive = by_age("1ms", "3ms");
    drive.blocks = 9;
    let requests = (0..600).map(|index| write(index * 200_000, index * 7 % 6)).collect();
    let run = drive.run(requests);
    assert!(run.ftl().refreshed_groups > 20, "{:?}", run.ftl());
    assert!((0..24).all(|unit| run.place_of(unit) != ninescope_model::Ppa::UNMAPPED));
    assert_eq!(run.device.meter().ops[Op::Write as usize].latency.count(), 600);
    let idle = (0..9).map(BlockGroup).filter(|&group| run.device.ftl().group(group).state == GroupState::Draining);
    assert_eq!(idle.count(), 0, "no group waits half emptied");
}

#[test]
fn a_trimmed_group_needs_no_refresh() {
    let mut drive = by_age("10ms", "4ms");
    drive.reliability.nand.initial_age = Ns(9_000_000);
    let run = drive.run(vec![sectors(Op::Trim, 0, 0, 64), read(10_000_000, 8)]);
    // It is refreshed as a group without anything: erased.
    assert_eq!((run.ftl().gc_units, run.ftl().moves_completed), (16, 16));
    assert_eq!(run.times(Event::Mapped(Lpa(0), run.place_of(0), run.place_of(0))).len(), 0);
}
