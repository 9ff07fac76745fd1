//! Zones without time: where their units lie, and the state machine, transition by transition.

use ninescope_ftl::{Ftl, FtlConfig, InstantDriver, ZoneConfig, ZoneError, ZoneState, Zones, ZrwaConfig};
use ninescope_model::{Geometry, Lpa, Ppa, ZoneCommand};

use ZoneState::{Closed, Empty, ExplicitlyOpened, Full, ImplicitlyOpened, Offline, ReadOnly};

/// Four pools of two planes and five groups of three stripes: zones of `pools` of them.
fn config(pools: u32, size: u32, open: u32, active: u32) -> FtlConfig {
    let geometry = Geometry::checked(2, 1, 2, 2, 5, 3, 8_192, 4_096, 2).expect("a legal geometry");
    // Zones that are no good, where there are as many.
    let bad = |zone| if pools == 2 { vec![zone] } else { Vec::new() };
    FtlConfig {
        logical_units: size * 4 / pools * 5,
        zones: Some(ZoneConfig { pools, size, open, active, read_only: bad(8), offline: bad(9), zrwa: None }),
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

fn zones(open: u32, active: u32) -> Zones {
    Ftl::new(&config(2, 24, open, active)).expect("a drive").zones().expect("zones").clone()
}

#[test]
fn every_unit_of_every_zone_has_a_place_of_its_own() {
    for pools in [1, 2, 4] {
        // What a zone takes is less than what its addresses span.
        let (capacity, size) = (12 * pools, 12 * pools + 4);
        let ftl = Ftl::new(&config(pools, size, 4, 4)).expect("a drive");
        let geometry = *ftl.geometry();
        let layout = ftl.zones().expect("zones").layout();
        assert_eq!((layout.capacity(), layout.zones() * pools), (capacity, 20));
        let mut seen = vec![false; geometry.units() as usize];
        for zone in 0..layout.zones() {
            let groups: Vec<_> = layout.groups(zone).collect();
            for offset in 0..capacity {
                let place = layout.place(zone, offset);
                assert!(!std::mem::replace(&mut seen[place.index()], true), "unit {offset} of zone {zone}");
                let (group, within) = geometry.group_and_offset(place);
                // A stripe has four units; the next one is in the next group.
                assert_eq!(group, groups[(offset / 4 % pools) as usize]);
                assert_eq!(within, offset / 4 / pools * 4 + offset % 4);
                assert_eq!(layout.zone_of(group), zone);
                assert_eq!(layout.zone_and_offset(Lpa(zone * size + offset)), (zone, offset));
            }
        }
        assert!(seen.into_iter().all(|seen| seen), "all of the drive is in zones");
    }
}

#[test]
fn zones_of_one_set_share_its_pools_and_others_share_none() {
    let ftl = Ftl::new(&config(2, 24, 4, 4)).expect("a drive");
    let layout = ftl.zones().expect("zones").layout();
    let pools = |zone| layout.groups(zone).map(|group| ftl.geometry().pool_and_block(group).0).collect::<Vec<_>>();
    assert_eq!((pools(0), pools(1)), (pools(2), pools(3)));
    assert!(pools(0).iter().all(|pool| !pools(1).contains(pool)));
    assert_eq!((layout.set_of(0), layout.set_of(1), layout.set_of(4)), (0, 1, 0));
}

/// A zone of ten in a state.
fn in_state(state: ZoneState) -> (Zones, u32) {
    let mut zones = zones(3, 3);
    let written = zones.write(Lpa(0), 1, false);
    assert_eq!(written, Ok(Lpa(0)));
    let zone = match state {
        Empty => 1,
        ImplicitlyOpened => 0,
        ReadOnly => 8,
        Offline => 9,
        ExplicitlyOpened => {
            assert_eq!(zones.manage(0, ZoneCommand::Open), Ok(()));
            0
        }
        Closed => {
            assert_eq!(zones.manage(0, ZoneCommand::Close), Ok(()));
            0
        }
        Full => {
            assert_eq!(zones.manage(0, ZoneCommand::Finish), Ok(()));
            0
        }
    };
    assert_eq!(zones.zone(zone).state, state);
    (zones, zone)
}

#[test]
fn management_takes_zones_from_state_to_state() {
    let invalid = Err(ZoneError::InvalidTransition);
    let of_state = [
        // State, and where Reset, Finish, Open and Close take it.
        (Empty, [Ok(Empty), Ok(Full), Ok(ExplicitlyOpened), invalid]),
        (ImplicitlyOpened, [Ok(Empty), Ok(Full), Ok(ExplicitlyOpened), Ok(Closed)]),
        (ExplicitlyOpened, [Ok(Empty), Ok(Full), Ok(ExplicitlyOpened), Ok(Closed)]),
        (Closed, [Ok(Empty), Ok(Full), Ok(ExplicitlyOpened), Ok(Closed)]),
        (Full, [Ok(Empty), Ok(Full), invalid, invalid]),
        (ReadOnly, [invalid; 4]),
        (Offline, [invalid; 4]),
    ];
    let commands = [ZoneCommand::Reset, ZoneCommand::Finish, ZoneCommand::Open, ZoneCommand::Close];
    for (from, goes_to) in of_state {
        for (command, goes_to) in commands.into_iter().zip(goes_to) {
            let (mut zones, zone) = in_state(from);
            let answer = zones.manage(zone, command).map(|()| zones.zone(zone).state);
            assert_eq!(answer, goes_to, "{command:?} of {from:?}");
            let open = zones.in_states()[ImplicitlyOpened as usize] + zones.in_states()[ExplicitlyOpened as usize];
            assert_eq!(zones.resources(), (open, open + zones.in_states()[Closed as usize]));
        }
    }
}

#[test]
fn writes_are_taken_where_the_write_pointer_is() {
    let refused =
        [(Full, ZoneError::ZoneIsFull), (ReadOnly, ZoneError::ZoneIsReadOnly), (Offline, ZoneError::ZoneIsOffline)];
    for (state, error) in refused {
        let (mut zones, zone) = in_state(state);
        assert_eq!(zones.write(Lpa(zone * 24), 1, false), Err(error));
        assert_eq!(zones.write(Lpa(zone * 24), 1, true), Err(error));
    }
    let (mut zones, zone) = in_state(Closed);
    assert_eq!(zones.write(Lpa(2), 1, false), Err(ZoneError::InvalidWrite));
    assert_eq!(zones.write(Lpa(0), 1, false), Err(ZoneError::InvalidWrite));
    assert_eq!(zones.write(Lpa(1), 24, false), Err(ZoneError::BoundaryError));
    assert_eq!(zones.write(Lpa(0), 24, true), Err(ZoneError::BoundaryError), "one unit is there");
    assert_eq!(zones.zone(zone).state, Closed, "what is refused changes nothing");
    assert_eq!(zones.write(Lpa(0), 22, true), Ok(Lpa(1)));
    assert_eq!(zones.zone(zone).state, ImplicitlyOpened);
    assert_eq!(zones.write(Lpa(23), 1, false), Ok(Lpa(23)));
    assert_eq!((zones.zone(zone).state, zones.zone(zone).written), (Full, 24));
}

#[test]
fn the_drive_closes_what_a_write_opened_and_not_what_the_host_did() {
    let mut zones = zones(2, 3);
    let write = |zones: &mut Zones, zone: u32| zones.write(Lpa(zone * 24), 1, true).map(|_| ());
    assert_eq!((write(&mut zones, 0), write(&mut zones, 1)), (Ok(()), Ok(())));
    // The one that was opened first makes room; a third one is active.
    assert_eq!(write(&mut zones, 2), Ok(()));
    let states = |zones: &Zones| [0, 1, 2].map(|zone| zones.zone(zone).state);
    assert_eq!(states(&zones), [Closed, ImplicitlyOpened, ImplicitlyOpened]);
    assert_eq!(write(&mut zones, 3), Err(ZoneError::TooManyActiveZones));
    assert_eq!(zones.manage(0, ZoneCommand::Open), Ok(()));
    assert_eq!(zones.manage(2, ZoneCommand::Open), Ok(()));
    assert_eq!(states(&zones), [ExplicitlyOpened, Closed, ExplicitlyOpened]);
    assert_eq!(write(&mut zones, 1), Err(ZoneError::TooManyOpenZones));
    // A reset gives back what a zone took.
    assert_eq!(zones.manage(0, ZoneCommand::Reset), Ok(()));
    assert_eq!((write(&mut zones, 3), zones.resources()), (Ok(()), (2, 3)));
    assert_eq!((zones.counts().implicit_opens, zones.counts().implicit_closes), (4, 2));
}

#[test]
fn a_drive_is_filled_zone_by_zone() {
    let mut ftl = Ftl::new(&config(2, 26, 3, 3)).expect("a drive");
    let mut driver = InstantDriver::new(&mut ftl);
    for unit in (0..24).chain(52..76) {
        driver.write(Lpa(unit)).expect("a zone takes it");
    }
    driver.settle();
    let zones = ftl.zones().expect("zones");
    let states = [0, 1, 2].map(|zone| zones.zone(zone).state);
    assert_eq!((states, zones.resources()), ([Full, Empty, Full], (0, 0)));
    assert_eq!((ftl.mapped_units(), ftl.counters().programmed_units()), (48, 48));
    assert_eq!((ftl.translate(Lpa(52)), ftl.translate(Lpa(24))), (zones.layout().place(2, 0), Ppa::UNMAPPED));
}

/// The same zones, which take 24 units, with areas of six that are committed by three, of which there may be two.
fn zones_with_areas() -> Zones {
    let mut config = config(2, 24, 3, 3);
    config.zones.as_mut().expect("zones").zrwa = Some(ZrwaConfig { size: 6, granularity: 3, zones: 2 });
    Ftl::new(&config).expect("a drive").zones().expect("zones").clone()
}

#[test]
fn an_area_is_given_to_an_empty_zone_and_kept_until_that_is_full_or_empty() {
    let mut zones = zones_with_areas();
    let open = |zones: &mut Zones, zone| zones.manage(zone, ZoneCommand::OpenZrwa);
    assert_eq!((open(&mut zones, 0), open(&mut zones, 1)), (Ok(()), Ok(())));
    assert_eq!(
        (open(&mut zones, 2), open(&mut zones, 0)),
        (Err(ZoneError::ZrwaUnavailable), Err(ZoneError::InvalidOperation))
    );
    assert_eq!(
        (open(&mut zones, 8), open(&mut zones, 9)),
        (Err(ZoneError::InvalidTransition), Err(ZoneError::InvalidTransition))
    );
    assert_eq!((zones.zone(0).state, zones.manage(0, ZoneCommand::Close)), (ExplicitlyOpened, Ok(())));
    assert_eq!(open(&mut zones, 2), Err(ZoneError::ZrwaUnavailable), "a closed zone keeps it");
    // A write opens it again, and a commit does so, too.
    assert_eq!((zones.write_into_area(Lpa(5), 1), zones.zone(0).state), (Ok(0..0), ImplicitlyOpened));
    assert_eq!(zones.manage(0, ZoneCommand::Close), Ok(()));
    assert_eq!((zones.commit(0, 6), zones.zone(0).state), (Ok(0..6), ImplicitlyOpened));
    assert_eq!(zones.manage(1, ZoneCommand::Finish), Ok(()));
    assert_eq!((open(&mut zones, 1), open(&mut zones, 2)), (Err(ZoneError::InvalidTransition), Ok(())));
    assert_eq!(zones.manage(2, ZoneCommand::Reset), Ok(()));
    assert_eq!(open(&mut zones, 2), Ok(()));
    for end in [12, 18, 24] {
        assert_eq!(zones.commit(0, end), Ok(end - 6..end));
    }
    assert_eq!((zones.zone(0).state, open(&mut zones, 3)), (Full, Ok(())));
}

#[test]
fn a_write_behind_an_area_moves_the_pointer_by_the_least_granules_that_reach() {
    // Of an area of six units: where a write ends, and how far the pointer goes.
    for (end, pointer) in [(1, 0), (6, 0), (7, 3), (9, 3), (10, 6), (12, 6)] {
        let mut zones = zones_with_areas();
        assert_eq!(zones.manage(0, ZoneCommand::OpenZrwa), Ok(()));
        assert_eq!(zones.write_into_area(Lpa(end - 1), 1), Ok(0..pointer), "to {end}");
        assert_eq!(zones.zone(0).written, pointer);
    }
    let mut zones = zones_with_areas();
    assert_eq!(zones.manage(0, ZoneCommand::OpenZrwa), Ok(()));
    assert_eq!(
        zones.write_into_area(Lpa(12), 1),
        Err(ZoneError::InvalidWrite),
        "as much again is behind it, and no more"
    );
    assert_eq!(zones.write_into_area(Lpa(23), 2), Err(ZoneError::BoundaryError));
    assert_eq!(zones.write(Lpa(0), 1, true), Err(ZoneError::InvalidOperation), "no append");
    assert_eq!(zones.write_into_area(Lpa(0), 12), Ok(0..6), "of twelve units six are in the area");
    assert_eq!(zones.write_into_area(Lpa(5), 1), Err(ZoneError::InvalidWrite), "before the write pointer");
    assert_eq!((zones.holds(Lpa(0)), zones.holds(Lpa(11)), zones.holds(Lpa(12))), (true, true, false));
    // Twelve more, of which the first six were there: three and three of them are committed.
    assert_eq!(zones.write_into_area(Lpa(6), 12), Ok(6..12));
    let counts = zones.zrwa_counts();
    assert_eq!((counts.written_units, counts.overwritten_units, counts.implicit_commits), (24, 6, 2));
    let refused = [(12, ZoneError::BoundaryError), (19, ZoneError::BoundaryError), (16, ZoneError::InvalidField)];
    for (end, error) in refused {
        assert_eq!(zones.commit(0, end), Err(error), "to {end}");
    }
    assert_eq!(zones.commit(0, 15), Ok(12..15));
    assert_eq!(zones.manage(0, ZoneCommand::Reset), Ok(()));
    assert_eq!(zones.zrwa_counts().dropped_units, 18, "nothing of it had a place");
    assert_eq!(zones.commit(0, 3), Err(ZoneError::InvalidOperation));
}
