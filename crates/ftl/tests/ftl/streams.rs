//! Clean data apart from dirty data, and groups that are refreshed: nothing gets stuck with the least spare there may be,
//! no dirty unit lies among clean ones, and a drive with one stream works as before there were several.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
};
use ninescope_ftl::{Ftl, FtlConfig, FtlCounters, FtlError, GcStep, GroupState, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde::de::DeserializeOwned;

fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(serde_json::json!({ "policy": name })).expect("a policy of the registry")
}

/// A drive with as little spare as the check lets pass: so many groups of each pool hold the host's data at rest.
fn smallest(
    channels: u32,
    pages: u32,
    units_per_page: u32,
    data_groups: u32,
    reserve: u32,
    streams: StreamChoiceConfig,
) -> FtlConfig {
    let geometry = |blocks| {
        let page = 4_096 * units_per_page;
        Geometry::checked(channels, 1, 1, 1, blocks, pages, page, 4_096, 1).expect("a legal shape")
    };
    let mut config = FtlConfig {
        logical_units: data_groups * pages * units_per_page * channels,
        reserve_groups: reserve,
        page_allocation: PageAllocationConfig::default(),
        stream_choice: streams,
        free_block_choice: FreeBlockChoiceConfig::default(),
        gc_trigger: GcTriggerConfig::default(),
        victim_selection: VictimSelectionConfig::default(),
        seed: 1,
        ..FtlConfig::bare(geometry(1))
    };
    config.geometry = geometry(data_groups + config.spare_groups_needed());
    config.check().expect("enough");
    let one_less = FtlConfig { geometry: geometry(data_groups + config.spare_groups_needed() - 1), ..config.clone() };
    assert!(matches!(one_less.check(), Err(FtlError::TooLittleSpare { .. })), "as little as may be");
    config
}

#[test]
fn clean_data_apart_needs_two_groups_more_and_a_reserve_of_two() {
    let single = smallest(1, 4, 2, 3, 1, named("single"));
    let apart = smallest(1, 4, 2, 3, 2, named("clean-apart"));
    assert_eq!((single.spare_groups_needed(), apart.spare_groups_needed()), (1 + 3, 2 + 5));
    assert_eq!((single.reserve_groups_min(), apart.reserve_groups_min()), (1, 2));
    let too_small = FtlConfig { reserve_groups: 1, ..apart };
    assert!(Ftl::new(&too_small).is_err());
}

// ---- random work -----------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
struct World {
    channels: u32,
    pages: u32,
    units_per_page: u32,
    data_groups: u32,
    reserve: u32,
    beyond_reserve: u32,
    victim: &'static str,
    /// Of a hundred writes, those of clean data.
    clean_percent: u64,
    /// Of a hundred operations, those that flush a unit, and those that trim one.
    flush_percent: u64,
    trim_percent: u64,
    /// Work lies in this part of the space, in hundredths.
    hot_percent: u64,
    seed: u64,
}

fn worlds() -> impl Strategy<Value = World> {
    (
        (1_u32..=2, 1_u32..=6, prop::sample::select(vec![1_u32, 2, 4, 8]), 1_u32..=6, 2_u32..=4, 0_u32..=3),
        prop::sample::select(vec!["greedy", "fifo", "random"]),
        (0_u64..=100, 0_u64..=60, 0_u64..=20, 5_u64..=100, any::<u64>()),
    )
        .prop_map(|(shape, victim, (clean_percent, flush_percent, trim_percent, hot_percent, seed))| {
            let (channels, pages, units_per_page, data_groups, reserve, beyond_reserve) = shape;
            World {
                channels,
                pages,
                units_per_page,
                data_groups,
                reserve,
                beyond_reserve,
                victim,
                clean_percent,
                flush_percent,
                trim_percent,
                hot_percent,
                seed,
            }
        })
}

/// What each unit was last said to be: clean or not; `None` where it is not mapped.
fn runs_well(world: &World) -> Result<(), TestCaseError> {
    let World { channels, pages, units_per_page, data_groups, reserve, .. } = *world;
    let mut config = smallest(channels, pages, units_per_page, data_groups, reserve, named("clean-apart"));
    config.gc_trigger = GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: world.beyond_reserve });
    config.victim_selection = named(world.victim);
    let mut ftl = Ftl::new(&config).expect("as checked");
    let units = u64::from(config.logical_units);
    let hot = (units * world.hot_percent / 100).max(1);
    let mut stream = RandomStream::new(world.seed, "tests", "streams");
    let mut model = vec![None; units as usize];
    for step in 0..3_000_u64 {
        // First everything is written once.
        let unit = if step < units { step } else { stream.below(hot) };
        let lpa = Lpa(unit as u32);
        let draw = stream.below(100);
        if draw < world.flush_percent {
            if let Some(clean) = &mut model[unit as usize] {
                ftl.set_clean(lpa);
                *clean = true;
            }
        } else if draw < world.flush_percent + world.trim_percent {
            InstantDriver::new(&mut ftl).trim(lpa);
            model[unit as usize] = None;
        } else {
            let clean = stream.below(100) < world.clean_percent;
            let mut driver = if clean { InstantDriver::of_clean_data(&mut ftl) } else { InstantDriver::new(&mut ftl) };
            if let Err(error) = driver.write(lpa) {
                return Err(TestCaseError::fail(format!("step {step}: {error}")));
            }
            model[unit as usize] = Some(clean);
        }
        if step % 97 == 0 {
            check(&ftl, &model)?;
        }
    }
    check(&ftl, &model)
}

fn check(ftl: &Ftl, model: &[Option<bool>]) -> Result<(), TestCaseError> {
    let geometry = ftl.geometry();
    let mut valid = 0;
    for (unit, expected) in model.iter().enumerate() {
        let lpa = Lpa(unit as u32);
        let place = ftl.translate(lpa);
        prop_assert_eq!(place == Ppa::UNMAPPED, expected.is_none(), "unit {}", unit);
        let Some(clean) = *expected else { continue };
        valid += 1;
        prop_assert!(ftl.is_valid(place) && ftl.content(place) == lpa, "unit {}", unit);
        prop_assert_eq!(ftl.is_clean(lpa), clean, "unit {}", unit);
        // What is flushed stays where it is until it is moved; what is dirty is never among clean data.
        prop_assert!(clean || !ftl.stream_of(place).is_apart(), "unit {} is dirty and lies with clean data", unit);
    }
    prop_assert_eq!(ftl.mapped_units(), valid);
    let sum: u32 = (0..geometry.groups()).map(|group| ftl.valid_units(BlockGroup(group))).sum();
    prop_assert_eq!(sum, valid);
    Ok(())
}

#[test]
fn clean_and_dirty_writes_never_get_stuck_with_the_least_spare() {
    let config = ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(config, random).run(&worlds(), |world| runs_well(&world));
    if let Err(error) = result {
        panic!("{error}");
    }
}

// ---- moves -------------------------------------------------------------------------------------------------

/// Carries out what garbage collection wants in a pool, as far as it goes.
fn collect(ftl: &mut Ftl, pool: Pool) -> u32 {
    let mut moved = 0;
    loop {
        match ftl.gc_next(pool, false) {
            GcStep::MovePage { first, mask } => {
                for from in (0..32).filter(|bit| mask >> bit & 1 == 1).map(|bit| Ppa(first.0 + bit)) {
                    let lpa = ftl.content(from);
                    let residence = ftl.residence(from);
                    assert!(ftl.move_is_current(lpa, residence, 0));
                    let placed = ftl.place_move(pool, lpa, from).expect("space was counted");
                    if placed.closed {
                        let group = ftl.geometry().group_and_offset(placed.new).0;
                        ftl.programmed(group, ftl.geometry().units_per_group());
                    }
                    assert!(ftl.moved(lpa, residence, placed.new));
                    moved += 1;
                }
            }
            GcStep::Erase(group) => ftl.erased(group),
            GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => return moved,
        }
    }
}

/// One pool: groups of four pages of two units; units 0 to 23 written in order.
fn three_full_groups(streams: &str, clean: bool) -> Ftl {
    let config = smallest(1, 4, 2, 3, 2, named(streams));
    let mut ftl = Ftl::new(&config).expect("as checked");
    let prepare = if clean { InstantDriver::of_clean_data } else { InstantDriver::new };
    let mut driver = prepare(&mut ftl);
    for unit in 0..24 {
        driver.write(Lpa(unit)).expect("space");
    }
    ftl.clear_counters();
    ftl
}

#[test]
fn a_group_is_refreshed_unit_by_unit_into_others() {
    let mut ftl = three_full_groups("single", false);
    assert!(ftl.refresh(BlockGroup(0)));
    assert!(ftl.gc_next(Pool(0), false) != GcStep::Nothing, "although there is space");
    let mut ftl = three_full_groups("single", false);
    ftl.refresh(BlockGroup(0));
    assert_eq!(collect(&mut ftl, Pool(0)), 8);
    let record = *ftl.group(BlockGroup(0));
    assert_eq!((record.state, record.erase_count, record.reads_since_erase), (GroupState::Free, 1, 0));
    let counted = *ftl.counters();
    assert_eq!((counted.refreshed_groups, counted.gc_units, counted.gc_victims, counted.erased_groups), (1, 8, 0, 1));
    for unit in 0..24 {
        assert_eq!(ftl.content(ftl.translate(Lpa(unit))), Lpa(unit));
    }
}

#[test]
fn groups_that_hold_no_data_at_rest_are_not_refreshed() {
    let mut ftl = three_full_groups("single", false);
    assert!(!ftl.refresh(BlockGroup(3)), "free");
    ftl.write(Lpa(0)).expect("space");
    assert!(!ftl.refresh(BlockGroup(3)), "open");
    assert!(ftl.refresh(BlockGroup(1)));
    assert!(matches!(ftl.gc_next(Pool(0), false), GcStep::MovePage { .. }));
    assert!(!ftl.refresh(BlockGroup(1)), "a victim already");
}

#[test]
fn a_refresh_is_of_one_life_of_a_group() {
    // Asked for twice; the second finds another life of the group and does nothing.
    let mut ftl = three_full_groups("single", false);
    assert!(ftl.refresh(BlockGroup(0)) && ftl.refresh(BlockGroup(0)));
    assert_eq!(collect(&mut ftl, Pool(0)), 8);
    assert_eq!((ftl.counters().refreshed_groups, ftl.counters().erased_groups), (1, 1));
}

#[test]
fn a_refresh_sorts_data_into_its_streams() {
    // Dirty data, half of which was flushed since.
    let mut ftl = three_full_groups("clean-apart", false);
    (0..8).step_by(2).for_each(|unit| ftl.set_clean(Lpa(unit)));
    assert!(ftl.refresh(BlockGroup(0)));
    assert_eq!(collect(&mut ftl, Pool(0)), 8);
    for unit in 0..8 {
        let expected = if unit % 2 == 0 { Stream::GC_APART } else { Stream::GC };
        assert_eq!(ftl.stream_of(ftl.translate(Lpa(unit))), expected, "unit {unit}");
    }
}

#[test]
fn space_goes_before_refreshing() {
    // A group without anything valid, and one that is to be refreshed, on a drive that wants space at once.
    let mut config = smallest(1, 4, 2, 3, 1, named("single"));
    config.gc_trigger = GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: 9 });
    let mut ftl = Ftl::new(&config).expect("as checked");
    for unit in 0..24 {
        let placed = ftl.write(Lpa(unit)).expect("space");
        if placed.closed {
            ftl.programmed(BlockGroup(unit / 8), 8);
        }
    }
    for unit in 8..16 {
        ftl.trim(Lpa(unit));
    }
    assert!(ftl.refresh(BlockGroup(0)));
    assert_eq!(ftl.gc_next(Pool(0), false), GcStep::Erase(BlockGroup(1)));
}

#[test]
fn what_is_healed_is_clean_and_not_of_the_host() {
    let mut ftl = three_full_groups("clean-apart", true);
    let (old, host_units) = (ftl.translate(Lpa(5)), ftl.counters().host_units);
    let placed = ftl.heal(Lpa(5)).expect("space");
    assert_eq!((placed.old, placed.stream, ftl.is_clean(Lpa(5))), (old, Stream::APART, true));
    assert!(!ftl.is_valid(old) && ftl.is_valid(placed.new));
    assert_eq!((ftl.counters().host_units, ftl.counters().healed_units), (host_units, 1));
    assert_eq!(ftl.counters().programmed_units(), host_units + 1);
}

// ---- one stream --------------------------------------------------------------------------------------------

/// Random overwrites of a drive of 48 groups, 36 of them full of data.
fn overwritten(streams: &str, reserve: u32, overwrites: u32) -> FtlCounters {
    let geometry = Geometry::checked(1, 1, 1, 1, 48, 16, 8_192, 4_096, 1).expect("a legal shape");
    let config = FtlConfig {
        logical_units: 36 * 32,
        reserve_groups: reserve,
        page_allocation: PageAllocationConfig::default(),
        stream_choice: named(streams),
        free_block_choice: FreeBlockChoiceConfig::default(),
        gc_trigger: GcTriggerConfig::default(),
        victim_selection: named("greedy"),
        seed: 1,
        ..FtlConfig::bare(geometry)
    };
    let mut ftl = Ftl::new(&config).expect("enough");
    let mut driver = InstantDriver::new(&mut ftl);
    let mut stream = RandomStream::new(1, "tests", "overwrites");
    let overwritten = (0..overwrites).map(|_| stream.below(36 * 32) as u32);
    for unit in (0..36 * 32).chain(overwritten) {
        driver.write(Lpa(unit)).expect("space");
    }
    FtlCounters { streams: Default::default(), ..*ftl.counters() }
}

#[test]
fn a_single_stream_amplifies_writes_as_it_did_before_there_were_more() {
    // Counted before streams were a choice.
    let counted = overwritten("single", 1, 100_000);
    assert_eq!((counted.host_units, counted.gc_units, counted.erased_groups), (101_152, 166_167, 8_309));
}

#[test]
fn dirty_data_alone_is_collected_as_by_a_drive_with_one_stream() {
    // Where nothing is clean there is nothing to keep apart: the same moves, the same erases.
    assert_eq!(overwritten("clean-apart", 2, 100_000), overwritten("single", 2, 100_000));
}
