//! The scrubber: which pages it reads, how fast, how often, and what it does about what it finds. And corruption over
//! time, which it is there for.

use ninescope_engine::reliability::corruption::CorruptionConfig;
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Occupancy, Op, Ppa, Source};
use serde_json::json;

use crate::reliability::drives::{CHECK, CLEAN, Coded, LATER, REFETCH, cache, clean, coded};
use crate::scenario::{
    COMMAND, Drive, Event, Outcome, READ, UNIT_READ, UNIT_TRANSFER, policy_with, read, sectors, trim, write,
    write_units,
};

/// A page of the scrubber, sensed and sent [ns].
const PAGE_READ: u64 = COMMAND + READ + 4 * UNIT_TRANSFER;

/// A drive that scrubs every 10 s from the start on, one page at a time.
fn scrubbed(mut drive: Drive) -> Drive {
    drive.reliability.scrub =
        Some(policy_with(&json!({ "policy": "periodic", "period": "10s", "first": "0s", "pages_in_flight": 1 })));
    drive
}

fn with_pages_in_flight(mut drive: Drive, pages: u32) -> Drive {
    drive.reliability.scrub =
        Some(policy_with(&json!({ "policy": "periodic", "period": "10s", "first": "0s", "pages_in_flight": pages })));
    drive
}

/// A host that is there until a time, and reads what was never written.
fn until(at: u64) -> ninescope_model::Request {
    read(at, 23)
}

fn pages_scrubbed(run: &Outcome) -> Vec<(u64, Ppa)> {
    let scrubbed = |&(at, event): &(u64, Event)| match event {
        Event::Scrubbed(ppa) => Some((at, ppa)),
        _ => None,
    };
    run.events().iter().filter_map(scrubbed).collect()
}

#[test]
fn a_pass_reads_every_page_of_clean_data_once() {
    // Two pages of clean data; a dirty page is not its business, and neither is one without anything valid.
    let run = scrubbed(cache()).run(vec![write_units(LATER, 8, 4), until(9 * LATER)]);
    assert_eq!((run.reliable().scrub_page_reads, run.reliable().scrub_passes), (2, 1));
    let pages: Vec<_> = pages_scrubbed(&run);
    // The next page is read when the one before is checked.
    assert_eq!(pages, [(COMMAND + READ, Ppa(0)), (PAGE_READ + 4 * CHECK + COMMAND + READ, Ppa(4))]);
    let decodes: Vec<_> = run.decodes().into_iter().filter(|decode| decode.source == Source::Scrub).collect();
    assert!(decodes.iter().all(|decode| decode.until - decode.begins == 4 * CHECK));
    let mut device = run.device;
    assert_eq!(device.utilization().dies[0][Occupancy::Scrub as usize], 2 * PAGE_READ);
}

#[test]
fn a_drive_with_one_code_scrubs_all_its_pages() {
    // The next pass finds units 0 to 3, 5 to 7 and 8 to 11; unit 12 is in an open page.
    let run = scrubbed(coded()).run(vec![write_units(LATER, 8, 5), trim(LATER, 4), until(11 * LATER)]);
    assert_eq!((run.reliable().scrub_passes, run.reliable().scrub_page_reads), (2, 2 + 3));
    let (second_pass, page) = (10 * LATER, PAGE_READ + 4 * CLEAN);
    let pages = [(0, 0), (page, 4), (second_pass, 0), (second_pass + page, 4), (second_pass + 2 * page, 8)];
    assert_eq!(pages_scrubbed(&run), pages.map(|(at, unit)| (at + COMMAND + READ, Ppa(unit))));
    let nothing = Drive { prepared: Vec::new(), ..scrubbed(coded()) }.run(vec![until(LATER)]);
    assert_eq!((nothing.reliable().scrub_page_reads, nothing.reliable().scrub_passes), (0, 1));
}

#[test]
fn pages_in_flight_are_spread_over_the_dies() {
    // Four dies on channels of their own, six pages of clean data on each.
    let drive = || {
        let mut drive = cache();
        (drive.channels, drive.logical_units, drive.blocks) = (4, 96, 12);
        drive.prepared = (0..96).collect();
        drive
    };
    let time_of = |pages| {
        let run = with_pages_in_flight(drive(), pages).run(vec![until(9 * LATER)]);
        assert_eq!((run.reliable().scrub_page_reads, run.reliable().scrub_passes), (24, 1));
        let of_scrubber = run.decodes().into_iter().filter(|decode| decode.source == Source::Scrub);
        of_scrubber.map(|decode| decode.until).max().expect("pages")
    };
    let page = PAGE_READ + 4 * CHECK;
    assert_eq!(time_of(1), 24 * page);
    assert_eq!(time_of(4), 6 * page);
    // With two pages for a die, the next one is read while one is checked.
    assert_eq!(time_of(8), 6 * PAGE_READ + 4 * CHECK);
}

#[test]
fn passes_follow_each_other_by_the_period_until_the_host_has_ended() {
    for (end, passes) in [(9, 1), (11, 2), (39, 4), (41, 5)] {
        let run = scrubbed(cache()).run(vec![until(end * LATER)]);
        let counted = run.reliable();
        assert_eq!((counted.scrub_passes, counted.scrub_page_reads), (passes, 2 * passes), "until {end} s");
        let begins: Vec<u64> = pages_scrubbed(&run).iter().step_by(2).map(|(at, _)| at - COMMAND - READ).collect();
        assert_eq!(begins, (0..passes).map(|pass| pass * 10 * LATER).collect::<Vec<_>>());
        assert_eq!(run.device.now().0, end * LATER, "nothing goes on behind the host");
    }
}

#[test]
fn a_pass_that_takes_longer_than_the_period_is_followed_at_once() {
    let mut drive = cache();
    drive.reliability.scrub =
        Some(policy_with(&json!({ "policy": "periodic", "period": "60us", "first": "7us", "pages_in_flight": 1 })));
    let run = drive.run(vec![until(1_000_000)]);
    let page = PAGE_READ + 4 * CHECK;
    assert!(page < 60_000 && 60_000 < 2 * page);
    let begins: Vec<u64> = pages_scrubbed(&run).iter().map(|(at, _)| at - COMMAND - READ).collect();
    assert_eq!(begins[..4], [0, 1, 2, 3].map(|pages| 7_000 + pages * page));
}

#[test]
fn what_the_scrubber_finds_is_fetched_and_written_anew_before_the_host_asks() {
    let run = scrubbed(cache().all_corrupt_at(0)).run(vec![read(2 * LATER, 0), read(2 * LATER, 5)]);
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.prefetched, counted.corruptions_met_by_scrub), (8, 8, 8));
    assert_eq!((counted.refetched, counted.corruptions_met_by_host, run.ftl().healed_units), (0, 0, 8));
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ + CHECK, 2 * UNIT_READ + CHECK), "good copies on one die");
    // The store reads one unit after the other: those of the first page from when it was checked on.
    let checked = PAGE_READ + 4 * CHECK;
    let healed: Vec<u64> = (0..8).flat_map(|unit| run.times(Event::Healed(ninescope_model::Lpa(unit)))).collect();
    assert_eq!(healed, (1..=8).map(|reads| checked + reads * REFETCH).collect::<Vec<_>>());
}

#[test]
fn the_host_goes_before_the_scrubber_in_the_store() {
    // When the scrubber has asked for eight units, 64 ms, the host asks for one of them; it is written anew once.
    let run = scrubbed(cache().all_corrupt_at(0)).run(vec![read(10_000_000, 7)]);
    assert_eq!(run.latency(0), UNIT_READ + CHECK + REFETCH);
    let counted = run.reliable();
    assert_eq!((counted.prefetched, counted.refetched, run.ftl().healed_units, counted.heals_dropped), (8, 1, 8, 0));
    assert_eq!((counted.corruptions_met_by_scrub, counted.corruptions_met_by_host), (8, 0), "the scrubber was first");
}

#[test]
fn a_unit_that_was_overwritten_before_the_scrubber_could_replace_it_stays_as_it_was_written() {
    let run = scrubbed(cache().all_corrupt_at(0)).run(vec![
        write(1_000_000, 0),
        clean(write(1_000_000, 1)),
        trim(1_000_000, 2),
    ]);
    assert_eq!((run.reliable().heals_dropped, run.ftl().healed_units), (3, 5));
    assert_eq!(run.place_of(2), Ppa::UNMAPPED);
}

#[test]
fn reads_of_the_host_wait_for_the_scrubber_and_are_told_so() {
    let run = scrubbed(cache()).run(vec![read(1_000, 0)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieScrub, PAGE_READ - 1_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
            // The scrubber's page has four codewords, checked until 3.2 us after it has left.
            (Cause::Decode, CHECK),
        ]
    );
}

#[test]
fn a_page_that_does_not_decode_is_not_lost_by_scrubbing() {
    let drive = scrubbed(coded()).with_errors(crate::reliability::drives::never_corrected());
    let run = drive.with_retry(&json!({ "policy": "levels", "success": [0.0] })).run(vec![until(LATER)]);
    let counted = run.reliable();
    assert_eq!((counted.scrub_page_reads, counted.retried_reads, counted.failed_reads), (2, 2, 2));
    assert_eq!((counted.units_lost, counted.scrub_passes), (0, 1));
    assert_eq!(run.issued(CommandKind::Read).len(), 4);
}

// ---- corruption -----------------------------------------------------------------------------------------

#[test]
fn corruption_at_a_time_hits_what_is_programmed_then() {
    // Units 8 to 11 are programmed, unit 12 is in an open page, unit 0 was overwritten.
    let run =
        cache().all_corrupt_at(LATER).run(vec![write_units(0, 8, 4), write(0, 12), write(0, 0), until(2 * LATER)]);
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_under_edc), (7 + 4, 7));
    let at: Vec<u64> =
        run.events().iter().filter(|(_, event)| matches!(event, Event::Corrupted(_))).map(|(at, _)| *at).collect();
    assert_eq!(at, vec![LATER; 11]);
    // After the host has ended nothing happens.
    assert_eq!(cache().all_corrupt_at(LATER).run(vec![until(LATER - 1)]).reliable().corruptions, 0);
}

#[test]
fn the_share_of_corrupt_units_at_the_start_is_that_of_their_bits() {
    // FlexECC's 1e-7 of 32,768 bits: 3.27e-3 of all units.
    let mut drive = cache();
    (drive.blocks, drive.pages, drive.logical_units) = (60, 64, 12_000);
    drive.prepared = (0..12_000).collect();
    let share = 1.0 - (1.0 - 1e-7_f64).powi(32_768);
    assert!((share / 3.27e-3 - 1.0).abs() < 2e-3);
    let (mut sum, seeds) = (0, 40);
    for seed in 0..seeds {
        drive.reliability.seed = seed;
        drive.reliability.nand.corruption =
            Some(CorruptionConfig { initial_rber: 1e-7, at: Ns::ZERO, until: None, hourly_rber: 0.0 });
        sum += drive.run(vec![until(0)]).reliable().corruptions;
    }
    let expected = share * 12_000.0 * f64::from(seeds as u32);
    assert!((sum as f64 - expected).abs() < 4.0 * expected.sqrt(), "{sum} for {expected}");
}

#[test]
fn errors_of_a_window_come_all_through_it_and_at_no_other_time() {
    // 12,000 units of which 3.27e-3 go wrong between the 2nd second and the 6th: 39 in a run, and ten in each second. The
    // places that hold nothing have their draws as well.
    let mut drive = cache();
    (drive.blocks, drive.pages, drive.logical_units) = (60, 64, 12_000);
    drive.prepared = (0..12_000).collect();
    drive.reliability.nand.corruption =
        Some(CorruptionConfig { initial_rber: 1e-7, at: Ns(2 * LATER), until: Some(Ns(6 * LATER)), hourly_rber: 0.0 });
    let seeds = 40;
    let mut by_second = [0_u32; 8];
    for seed in 0..seeds {
        drive.reliability.seed = seed;
        let run = drive.run(vec![until(8 * LATER)]);
        let times = run.events().iter().filter(|(_, event)| matches!(event, Event::Corrupted(_))).map(|(at, _)| *at);
        times.for_each(|at| by_second[(at / LATER) as usize] += 1);
        let counted = run.reliable();
        assert_eq!(counted.corruptions_under_edc, counted.corruptions, "all of it was prepared as clean data");
    }
    let share = 1.0 - (1.0 - 1e-7_f64).powi(32_768);
    let expected = share * 12_000.0 * f64::from(seeds as u32) / 4.0;
    assert_eq!((&by_second[..2], &by_second[6..]), (&[0, 0][..], &[0, 0][..]));
    for found in &by_second[2..6] {
        assert!((f64::from(*found) - expected).abs() < 4.0 * expected.sqrt(), "{by_second:?} for {expected} a second");
    }
    // A run that ends before the window does has had a part of it, and one that ends before it begins, nothing.
    let ended = |at| drive.run(vec![until(at)]).reliable().corruptions;
    assert_eq!(ended(2 * LATER - 1), 0);
    assert!((1..60).contains(&ended(4 * LATER)));
}

#[test]
fn a_unit_goes_wrong_once_in_a_window_and_what_is_written_meanwhile_may_too() {
    // Every place goes wrong within a second. The host overwrites unit 0 in the middle of it, so that it lies at a place whose
    // time has come or not.
    let mut drive = cache();
    drive.reliability.nand.corruption =
        Some(CorruptionConfig { initial_rber: 0.5, at: Ns::ZERO, until: Some(Ns(LATER)), hourly_rber: 0.0 });
    let run = drive.run(vec![write(LATER / 2, 0), until(2 * LATER)]);
    let places: Vec<_> = run
        .events()
        .iter()
        .filter_map(|(_, event)| if let Event::Corrupted(ppa) = event { Some(*ppa) } else { None })
        .collect();
    let mut once = places.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), places.len());
    // The seven that stay, and unit 0 where it lay or lies, or both, or neither.
    assert!((7..=9).contains(&places.len()) && run.reliable().corruptions == places.len() as u64, "{places:?}");
}

#[test]
fn corruption_over_time_comes_at_its_hourly_rate() {
    // 12,000 units of which 3.27e-3 go wrong in an hour: 39 in each of 30 hours.
    let mut drive = cache();
    (drive.blocks, drive.pages, drive.logical_units) = (60, 64, 12_000);
    drive.prepared = (0..12_000).collect();
    drive.reliability.nand.corruption =
        Some(CorruptionConfig { initial_rber: 0.0, at: Ns::ZERO, until: None, hourly_rber: 1e-7 });
    let hours = 30;
    let run = drive.run(vec![until(hours * 3_600 * LATER)]);
    // A unit whose turn comes twice is corrupt once: 1 - e^-(rate x hours) of all of them.
    let rate = 1.0 - (1.0 - 1e-7_f64).powi(32_768);
    let expected = 12_000.0 * -libm::expm1(-rate * hours as f64);
    let counted = run.reliable();
    assert!((counted.corruptions as f64 - expected).abs() < 4.0 * expected.sqrt(), "{counted:?} for {expected}");
    assert_eq!(counted.corruptions_under_edc, counted.corruptions);
}

#[test]
fn corruption_goes_with_the_erase_of_its_group_met_or_not() {
    // The first group: units 0 to 7, of which the host reads two; then all of it is overwritten and erased.
    let mut drive = cache().all_corrupt_at(0);
    drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 9 }));
    let run = drive.run(vec![
        read(0, 0),
        read(0, 1),
        sectors(Op::Trim, LATER, 0, 64),
        clean(write_units(2 * LATER, 0, 8)),
        read(3 * LATER, 5),
    ]);
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_met_by_host, counted.corruptions_erased), (8, 2, 6));
    assert!(run.ftl().erased_groups >= 1);
    assert_eq!((counted.refetched, run.latency(4)), (2, UNIT_READ + CHECK), "new data is good");
}
