//! The 24 static orders: sequences computed by hand for some, and what holds for all of them.

use std::collections::BTreeSet;

use ninescope_ftl::policies::PageAllocationConfig;
use ninescope_ftl::policies::page_allocation::static_striping::{Order, StaticStriping};
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver, Partition};
use ninescope_model::{Geometry, Lpa, Ppa};

/// Two channels of two packages of two dies of two planes, a unit to a page.
fn geometry(frontier_planes: u32) -> Geometry {
    Geometry::checked(2, 2, 2, 2, 12, 4, 4_096, 4_096, frontier_planes).expect("legal")
}

fn config(order: Order, geometry: Geometry) -> FtlConfig {
    FtlConfig {
        logical_units: geometry.pools() * geometry.units_per_group() * 6,
        reserve_groups: 1,
        page_allocation: PageAllocationConfig::StaticStriping(StaticStriping { order, planes_as_die: None }),
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

/// Channel, way, die within the package, plane within the die.
type Place = (u32, u32, u32, u32);

fn place_of(geometry: &Geometry, at: Ppa) -> Place {
    let pool = geometry.pool_and_block(geometry.group_and_offset(at).0).0;
    let die = geometry.die_of_pool(pool);
    let in_channel = die.0 % geometry.dies_per_channel();
    let plane = geometry.first_plane_of_pool(pool) + geometry.locate(at).plane_in_group;
    let (way, in_package) = (in_channel / geometry.dies_per_package, in_channel % geometry.dies_per_package);
    (geometry.channel_of_die(die).0, way, in_package, plane)
}

fn places(order: Order, geometry: Geometry, pages: u32) -> Vec<Place> {
    let mut ftl = Ftl::new(&config(order, geometry)).expect("fits");
    let write = |page| place_of(&geometry, ftl.write(Lpa(page)).expect("there is room").new);
    (0..pages).map(write).collect()
}

#[test]
fn four_orders_go_as_their_letters_say() {
    let expected: [(Order, [Place; 8]); 4] = [
        (
            Order::CWDP,
            [
                (0, 0, 0, 0),
                (1, 0, 0, 0),
                (0, 1, 0, 0),
                (1, 1, 0, 0),
                (0, 0, 1, 0),
                (1, 0, 1, 0),
                (0, 1, 1, 0),
                (1, 1, 1, 0),
            ],
        ),
        (
            Order::PWCD,
            [
                (0, 0, 0, 0),
                (0, 0, 0, 1),
                (0, 1, 0, 0),
                (0, 1, 0, 1),
                (1, 0, 0, 0),
                (1, 0, 0, 1),
                (1, 1, 0, 0),
                (1, 1, 0, 1),
            ],
        ),
        (
            Order::DPCW,
            [
                (0, 0, 0, 0),
                (0, 0, 1, 0),
                (0, 0, 0, 1),
                (0, 0, 1, 1),
                (1, 0, 0, 0),
                (1, 0, 1, 0),
                (1, 0, 0, 1),
                (1, 0, 1, 1),
            ],
        ),
        (
            Order::WCPD,
            [
                (0, 0, 0, 0),
                (0, 1, 0, 0),
                (1, 0, 0, 0),
                (1, 1, 0, 0),
                (0, 0, 0, 1),
                (0, 1, 0, 1),
                (1, 0, 0, 1),
                (1, 1, 0, 1),
            ],
        ),
    ];
    for (order, expected) in expected {
        let found = places(order, geometry(1), 17);
        assert_eq!(found[..8], expected, "{}", order.letters());
        assert_eq!(found[16], found[0], "{} begins again", order.letters());
    }
}

#[test]
fn planes_of_one_frontier_are_filled_as_they_come() {
    // Plane first: both pages of a stripe go to one die. Plane last: the second page of each die comes a round later.
    let first = places(Order::PCWD, geometry(2), 4);
    assert_eq!(first, [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1)]);
    let last = places(Order::CWDP, geometry(2), 16);
    assert_eq!((last[0], last[8], last[1], last[9]), ((0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1)));
}

#[test]
fn every_order_visits_each_plane_once_in_a_round_and_no_two_are_alike() {
    let names: BTreeSet<&str> = Order::ALL.iter().map(|order| order.letters()).collect();
    assert_eq!(names.len(), 24);
    for order in Order::ALL {
        let mut letters: Vec<char> = order.letters().chars().collect();
        letters.sort_unstable();
        assert_eq!(letters, ['C', 'D', 'P', 'W']);
    }
    for frontier_planes in [1, 2] {
        let mut sequences = BTreeSet::new();
        for order in Order::ALL {
            let found = places(order, geometry(frontier_planes), 48);
            for round in found.chunks(16) {
                let planes: BTreeSet<Place> = round.iter().copied().collect();
                assert_eq!((round.len(), planes.len()), (16, 16), "{} {frontier_planes}", order.letters());
            }
            sequences.insert(found);
        }
        assert_eq!(sequences.len(), 24, "{frontier_planes} planes in a frontier");
    }
}

#[test]
fn a_page_returns_to_its_frontier_however_often_it_is_written() {
    for order in Order::ALL {
        let mut ftl = Ftl::new(&config(order, geometry(1))).expect("fits");
        let first: Vec<Place> = places(order, geometry(1), 16);
        for page in [5, 3, 5, 12, 5, 0, 40, 3] {
            let placed = ftl.write(Lpa(page)).expect("there is room");
            assert_eq!(place_of(&geometry(1), placed.new), first[page as usize % 16], "{} {page}", order.letters());
        }
    }
}

#[test]
fn a_drive_is_filled_in_every_order_as_it_is_written() {
    for frontier_planes in [1, 2] {
        let mut in_groups = 0;
        for order in Order::ALL {
            let config = config(order, geometry(frontier_planes));
            let (mut one, mut other) = (Ftl::new(&config).expect("fits"), Ftl::new(&config).expect("fits"));
            let mut driver = InstantDriver::new(&mut one);
            let filled = driver.fill(0..config.logical_units);
            for unit in filled..config.logical_units {
                driver.write(Lpa(unit)).expect("space");
            }
            let mut driver = InstantDriver::new(&mut other);
            for unit in 0..config.logical_units {
                driver.write(Lpa(unit)).expect("space");
            }
            in_groups += u32::from(filled > 0);
            for unit in (0..config.logical_units).map(Lpa) {
                assert_eq!(one.translate(unit), other.translate(unit), "{} {unit}", order.letters());
            }
        }
        // With two planes in a frontier those orders fill groups in turn whose planes come first or last.
        assert_eq!(in_groups, if frontier_planes == 1 { 24 } else { 12 });
    }
}

#[test]
fn a_partition_goes_through_its_own_planes_in_the_same_order() {
    let geometry = geometry(1);
    let whole = config(Order::WDCP, geometry);
    // Channel 1 is pools 8 to 15; its addresses begin in the middle.
    let half = whole.logical_units / 2;
    let partitions = vec![
        Partition { pools: (0..8).collect(), units: vec![0..10, half + 10..whole.logical_units] },
        Partition { pools: (8..16).collect(), units: std::iter::once(10..half + 10).collect() },
    ];
    let mut ftl = Ftl::new(&FtlConfig { partitions, ..whole }).expect("fits");
    let found: Vec<Place> = (10..19).map(|page| place_of(&geometry, ftl.write(Lpa(page)).expect("room").new)).collect();
    let ways_and_dies = [(0, 0), (1, 0), (0, 1), (1, 1)];
    let expected: Vec<Place> =
        (0..9).map(|page| (1, ways_and_dies[page % 4].0, ways_and_dies[page % 4].1, page as u32 / 4 % 2)).collect();
    assert_eq!(found, expected);
}

#[test]
fn planes_that_count_as_a_die_are_where_its_letter_goes() {
    // One die of four planes, as two of two: PD goes over a pair and then over the other, DP from pair to pair.
    let geometry = Geometry::checked(2, 1, 1, 4, 12, 4, 4_096, 4_096, 1).expect("legal");
    let places = |order: Order| {
        let striping = StaticStriping { order, planes_as_die: Some(2) };
        let config =
            FtlConfig { page_allocation: PageAllocationConfig::StaticStriping(striping), ..config(order, geometry) };
        let mut ftl = Ftl::new(&config).expect("fits");
        let write = |page| {
            let (channel, _, _, plane) = place_of(&geometry, ftl.write(Lpa(page)).expect("there is room").new);
            (channel, plane)
        };
        (0..8).map(write).collect::<Vec<_>>()
    };
    assert_eq!(places(Order::PCWD), [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]);
    assert_eq!(places(Order::DCWP), [(0, 0), (0, 2), (1, 0), (1, 2), (0, 1), (0, 3), (1, 1), (1, 3)]);
    assert_eq!(places(Order::CWDP), [(0, 0), (1, 0), (0, 2), (1, 2), (0, 1), (1, 1), (0, 3), (1, 3)]);
}
