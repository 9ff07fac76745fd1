//! Channels that kinds of data have for themselves: what is written where, what goes elsewhere when they are full, and that data
//! which lie apart by channel are collected apart.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::victim_selection::fifo;
use ninescope_ftl::policies::{GcTriggerConfig, StreamChoiceConfig, Told, VictimSelectionConfig};
use ninescope_ftl::{Ftl, FtlConfig, FtlError, GcStep, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa, Pool, Ppa};
use ninescope_oracles::write_amplification::{self as oracle, TrafficClass};

/// A drive of four pools of which each is a channel; the host names three kinds.
fn config(homes: &[&[u32]], logical_units: u32) -> FtlConfig {
    let described = serde_json::json!({ "policy": "hinted", "streams": homes.len().max(2) });
    FtlConfig {
        logical_units,
        reserve_groups: 1,
        stream_choice: serde_json::from_value::<StreamChoiceConfig>(described).expect("a choice"),
        homes: homes.iter().map(|pools| pools.to_vec()).collect(),
        seed: 1,
        ..FtlConfig::bare(Geometry::checked(4, 1, 1, 1, 20, 8, 4_096, 4_096, 1).expect("a legal geometry"))
    }
}

fn pool_of(ftl: &Ftl, place: Ppa) -> Pool {
    ftl.geometry().pool_and_block(ftl.geometry().group_and_offset(place).0).0
}

/// Collects until nothing is wanted.
fn collect(ftl: &mut Ftl) {
    for pool in (0..ftl.geometry().pools()).map(Pool) {
        loop {
            match ftl.gc_next(pool, false) {
                GcStep::MovePage { first, mask } => {
                    let (lpa, from) = (ftl.content(first), ftl.residence(first));
                    assert_eq!(mask, 1, "a page is a unit");
                    if !ftl.move_is_current(lpa, from, 0) {
                        continue;
                    }
                    let placed = ftl.place_move(pool, lpa, first).expect("space for moves");
                    ended(ftl, placed.new);
                    ftl.moved(lpa, from, placed.new);
                }
                GcStep::Erase(group) => ftl.erased(group),
                GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => break,
            }
        }
    }
}

/// The program of a unit has ended.
fn ended(ftl: &mut Ftl, place: Ppa) {
    let (group, offset) = ftl.geometry().group_and_offset(place);
    ftl.programmed(group, offset + 1);
}

/// Writes a unit of a kind, and does what has to be done for that. Returns its pool.
fn write(ftl: &mut Ftl, lpa: u32, kind: u8) -> Pool {
    let told = Told { stream: kind, sectors: 8 };
    for _ in 0..3 {
        if let Some(placed) = ftl.write_as(Lpa(lpa), false, told) {
            ended(ftl, placed.new);
            collect(ftl);
            return pool_of(ftl, placed.new);
        }
        collect(ftl);
    }
    panic!("no pool takes unit {lpa}");
}

#[test]
fn kinds_are_written_to_their_own_channels_while_these_have_room() {
    // Of twenty groups of eight units a pool keeps one as reserve, three to work with, and two more for each of what is written and
    // what is moved, of three kinds.
    let mut ftl = Ftl::new(&config(&[&[0, 1], &[2], &[3]], 300)).expect("a legal drive");
    let most = ftl.units_of_a_home();
    assert_eq!(most, (20 - 1 - 3 - 2 - 2) * 8);
    for unit in 0..most {
        assert!(write(&mut ftl, unit, 0).0 < 2 && write(&mut ftl, 100 + unit, 1) == Pool(2));
    }
    assert_eq!(ftl.counters().away_units, 0);
    // Pool 2 is full of kind 1: what comes next goes elsewhere, and so does a unit that is written anew, which leaves room.
    assert_ne!(write(&mut ftl, 250, 1), Pool(2));
    assert_ne!(write(&mut ftl, 100, 1), Pool(2));
    assert_eq!((write(&mut ftl, 251, 1), ftl.counters().away_units), (Pool(2), 2));
    // What was forgotten leaves room, too.
    ftl.trim(Lpa(101));
    assert_eq!(write(&mut ftl, 252, 1), Pool(2));
    assert_eq!(write(&mut ftl, 253, 2), Pool(3));
}

#[test]
fn a_drive_that_is_written_by_one_kind_alone_fills_all_of_it() {
    let mut ftl = Ftl::new(&config(&[&[0], &[1, 2, 3]], 300)).expect("a legal drive");
    let mut stream = RandomStream::new(3, "tests", "units");
    for unit in (0..300).chain((0..6_000).map(|_| stream.below(300) as u32)) {
        write(&mut ftl, unit, 0);
    }
    let counters = ftl.counters();
    assert_eq!(ftl.mapped_units(), 300);
    // Three quarters at least lie where no unit of the kind would be by itself.
    assert!(counters.away_units > counters.host_units / 2, "{counters:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |homes: &[&[u32]], units| match config(homes, units).check() {
        Err(FtlError::Homes(problem)) => problem,
        other => panic!("{homes:?}: {other:?}"),
    };
    assert!(refused(&[&[0, 1], &[2]], 300).contains("of no kind"));
    assert!(refused(&[&[0, 1, 2, 3], &[]], 300).contains("has no planes"));
    let most = config(&[], 300).units_that_fit(4);
    assert!(refused(&[&[0, 1], &[2, 3]], most).contains("all planes together hold"));
    let mut by_address = config(&[&[0, 1], &[2, 3]], 300);
    by_address.page_allocation = serde_json::from_value(serde_json::json!({ "policy": "static" })).expect("a policy");
    assert!(matches!(by_address.check(), Err(FtlError::Homes(problem)) if problem.contains("address")));
}

#[test]
fn data_that_lie_apart_are_collected_as_if_each_had_a_drive_of_its_own() {
    const GROUPS: u32 = 256;
    const PAGES: u32 = 16;
    const BEYOND_RESERVE: u32 = 3;
    let geometry = Geometry::checked(4, 1, 1, 1, GROUPS, PAGES, 4_096, 4_096, 1).expect("a legal geometry");
    // A quarter of each pool holds nothing valid. The second half of the units is written nine times as often.
    let units = 4 * GROUPS * PAGES * 3 / 4;
    let amplification = |homes: Vec<Vec<u32>>| {
        let mut ftl = Ftl::new(&FtlConfig {
            geometry,
            homes,
            victim_selection: VictimSelectionConfig::Fifo(fifo::Fifo {}),
            gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: BEYOND_RESERVE }),
            ..config(&[&[0, 1], &[2, 3]], units)
        })
        .expect("a legal drive");
        let mut stream = RandomStream::new(9, "tests", "units");
        let half = u64::from(units / 2);
        let mut driver = InstantDriver::new(&mut ftl);
        let mut write = |unit: u64| {
            let told = Told { stream: u8::from(unit >= half), sectors: 8 };
            driver.write_told(Lpa(unit as u32), told).expect("room for all units");
        };
        (0..u64::from(units)).for_each(&mut write);
        let mut next = || if stream.below(10) > 0 { half + stream.below(half) } else { stream.below(half) };
        (0..units * 30).for_each(|_| write(next()));
        ftl.clear_counters();
        let mut driver = InstantDriver::new(&mut ftl);
        for _ in 0..units * 30 {
            let unit = next();
            let told = Told { stream: u8::from(unit >= half), sectors: 8 };
            driver.write_told(Lpa(unit as u32), told).expect("room for all units");
        }
        let counters = *ftl.counters();
        assert_eq!(counters.away_units, 0);
        counters.programmed_units() as f64 / counters.host_units as f64
    };
    // In each pool a group is open for what is written, and one for what is moved.
    let candidates = f64::from((GROUPS - 1 - BEYOND_RESERVE - 2) * PAGES * 4);
    let spare_factor = candidates / f64::from(units);
    let apart = amplification(vec![vec![0, 1], vec![2, 3]]);
    let expected = oracle::fifo(spare_factor);
    assert!((apart / expected - 1.0).abs() < 0.005, "{apart}, expected {expected}");
    // Where both may go everywhere, what is collected in order of age is the mixture of the two.
    let mixed = amplification(Vec::new());
    let class = |writes: f64| TrafficClass { write_share: writes, data_share: 0.5 };
    let expected = oracle::fifo_hot_cold(spare_factor, &[class(0.1), class(0.9)]);
    assert!((mixed / expected - 1.0).abs() < 0.03 && mixed > 1.02 * apart, "{mixed}, expected {expected}");
}
