//! Partitions: what each holds and does is what a drive of its planes alone would.

use std::ops::Range;

use ninescope_ftl::policies::{PageAllocationConfig, Told, VictimSelectionConfig};
use ninescope_ftl::{Ftl, FtlConfig, FtlError, InstantDriver, Partition, give_map};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa};

/// Channels of two dies of one plane, 16 blocks of 8 pages, two units to a page.
fn geometry(channels: u32) -> Geometry {
    Geometry::checked(channels, 1, 2, 1, 16, 8, 8_192, 4_096, 1).expect("legal")
}

fn config(channels: u32, logical_units: u32) -> FtlConfig {
    FtlConfig { logical_units, reserve_groups: 1, seed: 1, ..FtlConfig::bare(geometry(channels)) }
}

const FEW: u32 = 250;
const MANY: u32 = 370;

/// Three channels: one for `FEW` units in the middle of the addresses, two others for `2 * MANY`.
fn divided() -> FtlConfig {
    let units = FEW + 2 * MANY;
    let partitions = vec![
        Partition { pools: vec![2, 3], units: std::iter::once(100..100 + FEW).collect() },
        Partition { pools: vec![0, 1, 4, 5], units: vec![0..100, 100 + FEW..units] },
    ];
    FtlConfig { partitions, ..config(3, units) }
}

/// The unit of the divided drive that is number so much of a partition.
fn unit_of(partition: usize, number: u32) -> u32 {
    match partition {
        0 => 100 + number,
        _ if number < 100 => number,
        _ => number + FEW,
    }
}

/// Pools that hold valid units of a range.
fn pools_of(ftl: &Ftl, units: impl Iterator<Item = u32>) -> Vec<u32> {
    let geometry = ftl.geometry();
    let places = units.map(|unit| ftl.translate(Lpa(unit))).filter(|&place| place != Ppa::UNMAPPED);
    let mut pools: Vec<u32> =
        places.map(|place| geometry.pool_and_block(geometry.group_and_offset(place).0).0.0).collect();
    pools.sort_unstable();
    pools.dedup();
    pools
}

#[test]
fn a_partition_does_as_a_drive_of_its_planes_would() {
    for name in ["greedy", "fifo"] {
        for allocation in ["round-robin", "static"] {
            let victim_selection: VictimSelectionConfig =
                serde_json::from_value(serde_json::json!({ "policy": name })).expect("a policy");
            let page_allocation: PageAllocationConfig =
                serde_json::from_value(serde_json::json!({ "policy": allocation })).expect("a policy");
            let with = |config: FtlConfig| FtlConfig {
                victim_selection: victim_selection.clone(),
                page_allocation: page_allocation.clone(),
                ..config
            };
            let mut whole = Ftl::new(&with(divided())).expect("enough spare");
            let mut alone = [(1, FEW), (2, 2 * MANY)]
                .map(|(channels, units)| Ftl::new(&with(config(channels, units))).expect("fits"));
            let mut stream = RandomStream::new(4, "tests", "partitions");
            let counts = [FEW, 2 * MANY];
            for partition in [1, 0] {
                for number in 0..counts[partition] {
                    InstantDriver::new(&mut whole).write(Lpa(unit_of(partition, number))).expect("space");
                    InstantDriver::new(&mut alone[partition]).write(Lpa(number)).expect("space");
                }
            }
            whole.clear_counters();
            alone.iter_mut().for_each(Ftl::clear_counters);
            for _ in 0..20_000 {
                let partition = stream.below(2) as usize;
                let number = stream.below(u64::from(counts[partition])) as u32;
                InstantDriver::new(&mut whole).write(Lpa(unit_of(partition, number))).expect("space");
                InstantDriver::new(&mut alone[partition]).write(Lpa(number)).expect("space");
            }
            let mut programmed = 0;
            for (partition, drive) in alone.iter().enumerate() {
                let expected = (drive.counters().host_units, drive.counters().programmed_units());
                let found = whole.units_of_partition(partition as u32);
                assert_eq!(found, expected, "{name} {allocation} {partition}");
                assert!(found.1 > found.0 * 11 / 10, "it collects");
                programmed += found.1;
            }
            assert_eq!(programmed, whole.counters().programmed_units());
            assert_eq!(pools_of(&whole, 100..100 + FEW), [2, 3]);
            assert_eq!(pools_of(&whole, (0..100).chain(100 + FEW..FEW + 2 * MANY)), [0, 1, 4, 5]);
        }
    }
}

#[test]
fn a_partition_that_has_no_room_does_not_take_that_of_others() {
    let mut ftl = Ftl::new(&divided()).expect("enough spare");
    for pool in [2, 3] {
        ftl.set_room(Pool(pool), false);
    }
    assert_eq!(ftl.write(Lpa(120)), None, "its planes do not take it");
    assert!(ftl.write(Lpa(20)).is_some(), "others take theirs");
    assert!(ftl.has_space_for(Lpa(120), false, Told::default()), "there is space but no room");
    ftl.set_room(Pool(3), true);
    assert_eq!(ftl.write(Lpa(120)).map(|placed| placed.pool), Some(Pool(3)));
}

#[test]
fn what_is_no_partition_is_refused() {
    let partitions = |pools: [&[u32]; 2], units: [Range<u32>; 2]| {
        let partition = |(pools, units): (&[u32], Range<u32>)| Partition {
            pools: pools.to_vec(),
            units: std::iter::once(units).collect(),
        };
        FtlConfig { partitions: pools.into_iter().zip(units).map(partition).collect(), ..config(1, 200) }
    };
    let refused = |config: &FtlConfig| matches!(config.check(), Err(FtlError::Partition(_)));
    assert_eq!(partitions([&[0], &[1]], [0..100, 100..200]).check(), Ok(()));
    assert!(refused(&partitions([&[0], &[0]], [0..100, 100..200])), "a pool twice");
    assert!(refused(&partitions([&[0], &[]], [0..100, 100..200])), "no pools");
    assert!(refused(&partitions([&[0], &[1]], [0..100, 90..200])), "a unit twice");
    assert!(refused(&partitions([&[0], &[1]], [0..100, 101..200])), "a unit nowhere");
    assert!(refused(&partitions([&[0], &[1]], [0..100, 100..199])), "the last one nowhere");
    // A pool has 16 groups of 16 units, four of which are spare.
    assert_eq!(partitions([&[0], &[1]], [0..192, 192..200]).check(), Ok(()));
    assert!(refused(&partitions([&[0], &[1]], [0..193, 193..200])), "too many for one pool");
    let with_map =
        |partitions| FtlConfig { translation_units: 2, translation_entries: ENTRIES, partitions, ..config(1, 200) };
    let mut list = partitions([&[0], &[1]], [0..100, 100..200]).partitions;
    assert!(refused(&with_map(list.clone())), "the map nowhere");
    give_map(&mut list, 200, 2, 128);
    // Unit 128 is the first one that the second page tells of.
    assert_eq!([&list[0].units[..], &list[1].units], [&[0..100, 200..201], &[100..200, 201..202]]);
    assert_eq!((list[1].unit_count(), list[1].unit_count_before(200)), (101, 100));
    assert_eq!(with_map(list).check(), Ok(()));
}

#[test]
fn a_padded_page_and_a_refreshed_group_stay_in_the_partition() {
    let mut ftl = Ftl::new(&divided()).expect("enough spare");
    let mut driver = InstantDriver::new(&mut ftl);
    for number in 0..FEW {
        driver.write(Lpa(unit_of(0, number))).expect("space");
    }
    driver.write(Lpa(0)).expect("space");
    driver.settle();
    let closed = (0..ftl.geometry().groups()).map(BlockGroup).find(|&group| ftl.refresh(group)).expect("a full group");
    assert_eq!(ftl.geometry().pool_and_block(closed).0, Pool(2));
    InstantDriver::new(&mut ftl).write(Lpa(unit_of(0, 3))).expect("space");
    assert_eq!(pools_of(&ftl, 100..100 + FEW), [2, 3]);
    let (host, programmed) = ftl.units_of_partition(1);
    assert_eq!((host, programmed), (1, 2), "one unit and one of padding");
}

/// Units of the host that a page of the map tells of.
const ENTRIES: u32 = 64;

/// The same drive with so many pages of a map on the media, and with blocks for them.
fn with_map(config: FtlConfig, pages: u32) -> FtlConfig {
    let channels = config.geometry.channels;
    let geometry = Geometry::checked(channels, 1, 2, 1, 20, 8, 8_192, 4_096, 1).expect("legal");
    FtlConfig { geometry, translation_units: pages, translation_entries: ENTRIES, reserve_groups: 2, ..config }
}

#[test]
fn pages_of_the_map_go_where_the_first_unit_lies_that_they_tell_of() {
    let units = FEW + 2 * MANY;
    let mut partitions = divided().partitions;
    // Units 128 to 319 are told of by pages that begin within units 100 to 349, and page 5 begins there with 320.
    give_map(&mut partitions, units, units.div_ceil(ENTRIES), ENTRIES);
    assert_eq!(partitions[0].units, [100..350, units + 2..units + 6]);
    assert_eq!(partitions[1].units, [0..100, 350..units, units..units + 2, units + 6..units + 16]);
    // Stretches whose pages follow each other have them in one piece, and units among which no page begins have none.
    let partition = |units: &[Range<u32>]| Partition { pools: vec![0], units: units.to_vec() };
    let mut few = [partition(&[0..70, 80..200]), partition(&[70..80, 200..250])];
    give_map(&mut few, 250, 4, ENTRIES);
    assert_eq!([&few[0].units[..], &few[1].units], [&[0..70, 80..200, 250..254][..], &[70..80, 200..250]]);
    let mut few = [partition(&[0..10, 128..140]), partition(&[10..128, 140..200])];
    give_map(&mut few, 200, 4, ENTRIES);
    assert_eq!([&few[0].units[2..], &few[1].units[2..]], [[200..201, 202..203], [201..202, 203..204]]);
}

#[test]
fn a_partition_writes_its_pages_of_the_map_as_a_drive_of_its_planes_would() {
    let units = FEW + 2 * MANY;
    let mut partitions = divided().partitions;
    give_map(&mut partitions, units, units.div_ceil(ENTRIES), ENTRIES);
    let pages_of = [(2..6).collect::<Vec<u32>>(), (0..2).chain(6..16).collect()];
    let mut whole = Ftl::new(&with_map(FtlConfig { partitions, ..divided() }, 16)).expect("enough spare");
    let alone = [(1, FEW), (2, 2 * MANY)];
    let mut alone = [0, 1].map(|at| {
        let (channels, units) = alone[at];
        Ftl::new(&with_map(config(channels, units), pages_of[at].len() as u32)).expect("fits")
    });
    let counts = [FEW, 2 * MANY];
    for partition in [1, 0] {
        for number in 0..counts[partition] {
            InstantDriver::new(&mut whole).write(Lpa(unit_of(partition, number))).expect("space");
            InstantDriver::new(&mut alone[partition]).write(Lpa(number)).expect("space");
        }
    }
    InstantDriver::new(&mut whole).write_map(false).expect("space");
    for drive in &mut alone {
        InstantDriver::new(drive).write_map(true).expect("space");
    }
    whole.clear_counters();
    alone.iter_mut().for_each(Ftl::clear_counters);
    let mut stream = RandomStream::new(4, "tests", "partitions");
    for round in 0..20_000 {
        let partition = stream.below(2) as usize;
        let number = stream.below(u64::from(counts[partition])) as u32;
        InstantDriver::new(&mut whole).write(Lpa(unit_of(partition, number))).expect("space");
        InstantDriver::new(&mut alone[partition]).write(Lpa(number)).expect("space");
        if round % 1_000 == 0 {
            // All of the map anew.
            InstantDriver::new(&mut whole).write_map(false).expect("space");
            for drive in &mut alone {
                InstantDriver::new(drive).write_map(true).expect("space");
            }
        }
    }
    for (partition, drive) in alone.iter().enumerate() {
        let found = whole.units_of_partition(partition as u32);
        assert_eq!(found, (drive.counters().host_units, drive.counters().programmed_units()), "{partition}");
        assert_eq!(whole.map_units_of_partition(partition as u32), drive.counters().map_units, "{partition}");
        assert_eq!(drive.counters().map_units, 20 * u64::from(drive.translation_units()));
        assert!(drive.counters().gc_units > 0, "it collects");
    }
    let of_map = |partition: usize| pages_of[partition].iter().map(|page| units + page);
    assert_eq!(pools_of(&whole, of_map(0)), [2, 3]);
    assert_eq!(pools_of(&whole, of_map(1)), [0, 1, 4, 5]);
}
