//! Blocks of one bit in a cell: how much of a burst they take, what is folded and when, and that nothing gets stuck.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::{GcTriggerConfig, VictimSelectionConfig};
use ninescope_ftl::{Ftl, FtlConfig, GcStep, InstantDriver, SlcCacheConfig, WhenSlcFull};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa, Pool, Ppa};

/// Of a block of three bits in a cell: twelve pages, and four with one bit.
const PAGES: u32 = 12;
const SLC_PAGES: u32 = 4;
const BEYOND_RESERVE: u32 = 2;

fn rules(fixed: u32, borrowed: u32, when_full: WhenSlcFull) -> SlcCacheConfig {
    SlcCacheConfig { pages: SLC_PAGES, fixed, borrowed, when_full }
}

fn config(pools: u32, blocks: u32, units: u32, cache: SlcCacheConfig) -> FtlConfig {
    let geometry = Geometry::checked(pools, 1, 1, 1, blocks, PAGES, 4096, 4096, 1).expect("legal");
    FtlConfig {
        logical_units: units,
        reserve_groups: 1,
        gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: BEYOND_RESERVE }),
        slc_cache: Some(cache),
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

fn drive(config: &FtlConfig) -> Ftl {
    let mut ftl = Ftl::new(config).expect("enough spare groups");
    ftl.begin_slc_cache();
    ftl
}

fn write(ftl: &mut Ftl, units: impl IntoIterator<Item = u32>) {
    for unit in units {
        InstantDriver::new(ftl).write(Lpa(unit)).expect("collection goes on");
    }
}

/// All that garbage collection wants done.
fn collect(ftl: &mut Ftl, pool: Pool) {
    loop {
        match ftl.gc_next(pool, false) {
            GcStep::MovePage { first, mask } => {
                for from in (0..32).filter(|unit| mask >> unit & 1 == 1).map(|unit| Ppa(first.0 + unit)) {
                    let lpa = ftl.content(from);
                    let placed = ftl.place_move(pool, lpa, from).expect("it was handed out");
                    let (group, offset) = ftl.geometry().group_and_offset(placed.new);
                    ftl.programmed(group, offset + 1);
                    ftl.moved(lpa, ftl.residence(from), placed.new);
                }
            }
            GcStep::Erase(group) => drop(ftl.erase_ended(group)),
            GcStep::Padded(_) | GcStep::Retired(_) => {}
            GcStep::Wait | GcStep::Nothing => return,
        }
    }
}

/// Each unit that was written lies where its content is.
fn holds(ftl: &Ftl, written: &[bool]) {
    for (unit, &is_written) in written.iter().enumerate() {
        let at = ftl.translate(Lpa(unit as u32));
        assert_eq!(at != Ppa::UNMAPPED, is_written, "unit {unit}");
        assert!(!is_written || ftl.content(at) == Lpa(unit as u32) && ftl.is_valid(at), "unit {unit} at {at}");
    }
}

/// A burst goes to as many pages of one bit as there are, and then to others.
#[test]
fn a_burst_is_taken_as_far_as_fixed_blocks_reach() {
    for (pools, fixed) in [(1, 3), (2, 5), (4, 1)] {
        let mut ftl = drive(&config(pools, 40, 20 * PAGES * pools, rules(fixed, 0, WhenSlcFull::Direct)));
        let cache = pools * fixed * SLC_PAGES;
        write(&mut ftl, 0..cache);
        assert_eq!((ftl.counters().slc_units, ftl.counters().gc_units), (cache.into(), 0));
        write(&mut ftl, cache..cache + 100);
        let counters = ftl.counters();
        assert_eq!((counters.slc_units, counters.host_units), (cache.into(), u64::from(cache) + 100));
        assert_eq!((counters.folded_groups, counters.erased_groups), (0, 0), "nothing folds while the drive works");
        assert_eq!(ftl.slc_groups(Pool(0)), fixed);
    }
}

/// Blocks are borrowed as long as nothing has to be collected for it: of F free groups the last one that is leaves more than the
/// reserve and what the trigger wants.
#[test]
fn borrowed_blocks_end_where_collection_would_begin() {
    for blocks in [20, 33] {
        let units = 10 * PAGES;
        let mut ftl = drive(&config(1, blocks, units, rules(0, 1000, WhenSlcFull::Direct)));
        let borrowed = blocks - 1 - BEYOND_RESERVE - 1;
        let cache = borrowed * SLC_PAGES;
        let all = cache.min(units);
        write(&mut ftl, 0..all);
        // Written again, a unit takes another page.
        write(&mut ftl, 0..cache - all);
        assert_eq!((ftl.counters().slc_units, ftl.slc_groups(Pool(0))), (cache.into(), borrowed));
        write(&mut ftl, [0]);
        assert_eq!(ftl.counters().slc_units, u64::from(cache), "the next one goes elsewhere");
    }
}

/// What waits for the cache is written twice, once into it and once out of it; of what is overwritten there only the rest.
#[test]
fn what_waits_for_the_cache_is_folded_once() {
    let units = 30 * PAGES;
    let mut ftl = drive(&config(1, 60, units, rules(4, 0, WhenSlcFull::Wait)));
    write(&mut ftl, 0..units);
    let counters = *ftl.counters();
    assert_eq!((counters.host_units, counters.slc_units), (u64::from(units), u64::from(units)));
    assert_eq!(counters.folded_units, counters.folded_groups * u64::from(SLC_PAGES), "all of it is valid");
    assert_eq!(counters.gc_units, counters.folded_units);
    // As the last of four is opened the first one is folded.
    assert_eq!(counters.folded_groups, u64::from(units / SLC_PAGES) - 3);
    holds(&ftl, &vec![true; units as usize]);
    // Each group is written again at once: of its units half are valid when they are folded.
    ftl.clear_counters();
    for pair in 0..units / 4 {
        write(&mut ftl, [2 * pair, 2 * pair + 1, 2 * pair, 2 * pair + 1]);
    }
    let counters = *ftl.counters();
    assert_eq!(counters.slc_units, u64::from(units));
    let of_halves = u64::from(units / SLC_PAGES) - 3;
    assert_eq!(counters.folded_units, 3 * u64::from(SLC_PAGES) + of_halves * u64::from(SLC_PAGES / 2));
}

#[test]
fn a_drive_that_rests_folds_everything_and_takes_the_next_burst() {
    let units = 30 * PAGES;
    let mut ftl = drive(&config(1, 60, units, rules(6, 0, WhenSlcFull::Direct)));
    let cache = 6 * SLC_PAGES;
    write(&mut ftl, 0..cache);
    collect(&mut ftl, Pool(0));
    assert_eq!(ftl.slc_groups(Pool(0)), 6, "it does not rest");
    ftl.set_slc_drain(Pool(0), true);
    collect(&mut ftl, Pool(0));
    assert_eq!((ftl.slc_groups(Pool(0)), ftl.counters().folded_units), (0, u64::from(cache)));
    ftl.set_slc_drain(Pool(0), false);
    write(&mut ftl, cache..2 * cache);
    assert_eq!(ftl.counters().slc_units, 2 * u64::from(cache));
    let written: Vec<bool> = (0..units).map(|unit| unit < 2 * cache).collect();
    holds(&ftl, &written);
}

/// What is prepared goes past the cache, which is empty when a run begins.
#[test]
fn nothing_is_cached_before_a_run() {
    let mut ftl = Ftl::new(&config(1, 40, 240, rules(3, 5, WhenSlcFull::Direct))).expect("enough");
    write(&mut ftl, 0..240);
    assert_eq!((ftl.counters().slc_units, ftl.slc_groups(Pool(0))), (0, 0));
    // Those that are kept for the cache stay free.
    (0..2_000).for_each(|write_of| write(&mut ftl, [write_of * 7 % 240]));
    assert!(ftl.free_groups(Pool(0)) > 3, "{} are free", ftl.free_groups(Pool(0)));
}

/// Any writes on any drive that is accepted, however little is spare.
#[test]
fn nothing_gets_stuck_with_the_least_spare() {
    let mut stream = RandomStream::new(1, "tests", "slc cache");
    for world in 0..400_u64 {
        let mut draw = |least: u64, most: u64| least + stream.below(most - least + 1);
        let (pools, pages, units_per_page) = (draw(1, 3) as u32, draw(3, 9) as u32, 1 << draw(0, 2));
        let (data_groups, reserve, beyond) = (draw(1, 6) as u32, draw(1, 3) as u32, draw(0, 3) as u32);
        let geometry = |blocks| {
            let page = 4_096 * units_per_page;
            Geometry::checked(pools, 1, 1, 1, blocks, pages, page, 4_096, 1).expect("a legal shape")
        };
        let when_full = [WhenSlcFull::Direct, WhenSlcFull::Wait][draw(0, 1) as usize];
        let (fixed, borrowed) = (draw(0, 3) as u32, draw(0, 6) as u32);
        let mut config = FtlConfig {
            logical_units: data_groups * pages * units_per_page * pools,
            reserve_groups: reserve,
            gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: beyond }),
            victim_selection: VictimSelectionConfig::default(),
            slc_cache: Some(SlcCacheConfig { pages: pages.div_ceil(3), fixed, borrowed, when_full }),
            seed: world,
            ..FtlConfig::bare(geometry(1))
        };
        config.geometry = geometry(data_groups + config.spare_groups_needed() + draw(0, 4) as u32);
        let mut ftl = drive(&config);
        let units = u64::from(config.logical_units);
        let mut written = vec![false; units as usize];
        for step in 0..1_500 {
            if draw(0, 40) == 0 {
                let drains = draw(0, 1) == 1;
                (0..pools).for_each(|pool| ftl.set_slc_drain(Pool(pool), drains));
            }
            let unit = if step < units { step } else { draw(0, units - 1) };
            if draw(0, 9) == 0 {
                InstantDriver::new(&mut ftl).trim(Lpa(unit as u32));
                written[unit as usize] = false;
                continue;
            }
            if let Err(error) = InstantDriver::new(&mut ftl).write(Lpa(unit as u32)) {
                panic!("world {world}, step {step}: {error}; {config:?}");
            }
            written[unit as usize] = true;
            for pool in (0..pools).map(Pool) {
                assert!(ftl.slc_groups(pool) <= fixed + borrowed, "world {world}");
            }
        }
        holds(&ftl, &written);
    }
}
