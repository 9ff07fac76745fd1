//! Flexible data placement: what handles say of small sequences, worked out by hand; write amplification of each handle by closed
//! form; that nothing of another handle comes into a group of one that is persistently isolated, with the least spare there may be
//! and whatever the victims are; and that what is counted are the events.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::stream_choice::fdp::{Fdp, Isolation};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, StreamChoiceParameters as _,
    Told, VictimSelectionConfig, Written,
};
use ninescope_ftl::{Ftl, FtlConfig, GroupState, HandleCounts, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Ppa, Stream};
use ninescope_oracles::write_amplification as oracle;

use Isolation::{InitiallyIsolated as Initially, PersistentlyIsolated as Persistently};

fn fdp(handles: &[Isolation]) -> StreamChoiceConfig {
    StreamChoiceConfig::Fdp(Fdp { handles: handles.to_vec() })
}

fn by(handle: u8) -> Told {
    Told { stream: handle, sectors: 8 }
}

#[test]
fn a_write_goes_by_the_handle_that_it_names_and_a_move_by_how_that_is_isolated() {
    let told = Fdp { handles: vec![Persistently, Initially, Persistently, Initially] };
    let mut policy = told.build(10, 4);
    // Streams of moves: of each that is isolated for good, and one for the others.
    assert_eq!((policy.kinds_of_writes(), policy.kinds_of_moves(), policy.isolates()), (4, 3, true));
    let write = |told, before| Written { lpa: Lpa(7), clean: false, told, before };
    // A handle that there is not is the first.
    assert_eq!([0, 1, 3, 4, 255].map(|named| policy.of_write(&write(by(named), None))), [0, 1, 3, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|kind| policy.of_move(Lpa(7), false, Stream::of_writes(kind))), [0, 1, 2, 1]);
    assert_eq!(policy.of_move(Lpa(7), false, Stream::of_moves(1)), 1);
    // What the drive writes by itself stays with its handle, wherever it was moved to.
    policy.written(Lpa(7), 3);
    let own = Told::default();
    assert_eq!(policy.of_write(&write(own, Some(Stream::of_moves(1)))), 3);
    assert_eq!(policy.of_write(&write(own, None)), 0);
    let initially = Fdp { handles: vec![Initially; 8] }.build(1, 1);
    assert_eq!((initially.kinds_of_moves(), initially.isolates()), (1, false));
}

#[test]
fn handles_are_two_to_eight() {
    let problem = |count: usize| Fdp { handles: vec![Initially; count] }.problem();
    assert_eq!([2, 8].map(problem), [None, None]);
    assert_eq!(problem(9), Some(("handles", "are 9, and there may be 2 to 8".to_owned())));
    assert!(problem(0).is_some() && problem(1).is_some());
}

// ---- write amplification ---------------------------------------------------------------------------------

const GROUPS: u32 = 2048;
const PAGES: u32 = 16;
const BEYOND_RESERVE: u32 = 2;
const FREE: u32 = 1 + BEYOND_RESERVE + 1;
/// What is written over and over in order, as a log or a cache does: whole groups.
const LOG: u32 = 512 * PAGES;
/// What is written at random.
const RANDOM: u32 = 1_024 * PAGES;

fn config(streams: StreamChoiceConfig, geometry: Geometry, logical_units: u32) -> FtlConfig {
    FtlConfig {
        logical_units,
        reserve_groups: 1,
        page_allocation: PageAllocationConfig::default(),
        stream_choice: streams,
        free_block_choice: FreeBlockChoiceConfig::default(),
        gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: BEYOND_RESERVE }),
        victim_selection: VictimSelectionConfig::default(),
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

/// A neighbour that writes in order and one that writes at random, as much as each other.
fn neighbours(streams: StreamChoiceConfig) -> Ftl {
    let geometry = Geometry::checked(1, 1, 1, 1, GROUPS, PAGES, 4096, 4096, 1).expect("legal");
    let mut ftl = Ftl::new(&config(streams, geometry, LOG + RANDOM)).expect("enough spare groups");
    let mut random = RandomStream::new(1, "tests", "neighbours");
    let mut at = 0;
    let mut write = |ftl: &mut Ftl, rounds: u32| {
        let mut driver = InstantDriver::new(ftl);
        for _ in 0..rounds * RANDOM {
            driver.write_told(Lpa(at % LOG), by(0)).expect("collection goes on");
            at += 1;
            let unit = LOG + random.below(u64::from(RANDOM)) as u32;
            driver.write_told(Lpa(unit), by(1)).expect("collection goes on");
        }
    };
    for unit in 0..LOG + RANDOM {
        InstantDriver::new(&mut ftl).write_told(Lpa(unit), by(u8::from(unit >= LOG))).expect("it fills");
    }
    write(&mut ftl, 10);
    ftl.clear_counters();
    write(&mut ftl, 10);
    ftl
}

fn amplification(counts: &HandleCounts) -> f64 {
    (counts.host_units + counts.moved_units + counts.units.padding_units) as f64 / counts.host_units as f64
}

/// What is written in order dies a group at a time, and is never moved; what is written at random has all the spare there is, but
/// for the group that the log writes into.
#[test]
fn each_handle_that_is_isolated_has_the_write_amplification_of_its_own_writes() {
    let ftl = neighbours(fdp(&[Persistently, Persistently]));
    let counts = ftl.reclaim_units().expect("there are handles").counts();
    let [log, random] = [counts.handles[0], counts.handles[1]];
    assert_eq!((log.moved_units, log.host_units), (0, random.host_units));
    let groups = GROUPS - FREE - (LOG / PAGES + 1);
    // Two frontiers, each half full on average.
    let spare_factor = f64::from((groups - 1) * PAGES) / f64::from(RANDOM);
    let expected = oracle::greedy(spare_factor, PAGES);
    let measured = amplification(&random);
    assert!((measured / expected - 1.0).abs() < 0.005, "{measured}, expected {expected}");
}

/// Where moves lie together, what is written in order is still never moved: its groups have died before they are chosen. Where
/// writes do, as without handles, each of its groups holds some of the other's, and all of it is moved.
#[test]
fn without_handles_the_neighbour_that_writes_at_random_costs_both() {
    let initially = neighbours(fdp(&[Initially, Initially]));
    let counts = initially.reclaim_units().expect("there are handles").counts();
    assert_eq!(counts.handles[0].moved_units, 0);
    let together = neighbours(StreamChoiceConfig::default());
    let (apart, together) = (initially.counters().write_amplification(), together.counters().write_amplification());
    assert!(together - 1.0 > 1.35 * (apart - 1.0), "{together} without handles, {apart} with them");
}

#[test]
fn what_is_counted_are_the_events() {
    let ftl = neighbours(fdp(&[Persistently, Initially, Initially]));
    let counts = ftl.reclaim_units().expect("there are handles").counts();
    let counters = ftl.counters();
    let of_handles = |of: fn(&HandleCounts) -> u64| counts.handles.iter().map(of).sum::<u64>();
    assert_eq!(of_handles(|handle| handle.host_units), counters.host_units);
    assert_eq!(of_handles(|handle| handle.moved_units), counters.gc_units);
    assert_eq!(of_handles(|handle| handle.units.erased) + counts.shared.erased, counters.erased_groups);
    assert!(counts.shared.filled > 0 && counts.handles[2] == HandleCounts::default());
    // Each round of the log fills its groups once, and erases as many.
    assert_eq!(counts.handles[0].units.filled, counts.handles[0].host_units / u64::from(PAGES));
    assert!(counts.media_reallocated > 0 && counts.media_reallocated <= counters.gc_victims);
    assert_eq!((counts.invalid_identifiers, counts.handles[0].own_units), (0, 0));
}

#[test]
fn a_handle_that_there_is_not_is_an_event_and_the_first_one_takes_the_write() {
    let geometry = Geometry::checked(1, 1, 1, 1, 64, PAGES, 4096, 4096, 1).expect("legal");
    let mut ftl = Ftl::new(&config(fdp(&[Initially, Initially]), geometry, 100)).expect("enough spare groups");
    let mut driver = InstantDriver::new(&mut ftl);
    for (unit, told) in [(0, by(1)), (1, by(2)), (2, Told::default()), (0, Told::default())] {
        driver.write_told(Lpa(unit), told).expect("it goes on");
    }
    let counts = ftl.reclaim_units().expect("there are handles").counts();
    assert_eq!(counts.invalid_identifiers, 1);
    let of = |handle: usize| (counts.handles[handle].host_units, counts.handles[handle].own_units);
    assert_eq!([of(0), of(1)], [(1, 1), (1, 1)]);
    assert_eq!([0, 1, 2].map(|unit| ftl.handle_of(Lpa(unit))), [1, 0, 0]);
}

// ---- the least spare -------------------------------------------------------------------------------------

/// By group: the handle of what is written there, where it is isolated for good.
fn nothing_else_lies_there(ftl: &Ftl, handles: &[Isolation], handle_of: &[u8]) {
    let geometry = ftl.geometry();
    for (unit, &handle) in (0..).zip(handle_of) {
        let place = ftl.translate(Lpa(unit));
        if place == Ppa::UNMAPPED {
            continue;
        }
        let stream = ftl.stream_of(place);
        let filler = handles[stream.kind() as usize];
        let alone = filler == Persistently || !stream.is_of_moves();
        assert!(!alone || stream.kind() == u32::from(handle), "unit {unit} of {handle} lies in {stream}");
        assert!(handles[handle as usize] == Initially || stream.kind() == u32::from(handle));
    }
    for group in (0..geometry.groups()).map(BlockGroup) {
        assert!(ftl.group(group).state != GroupState::Draining, "nothing waits");
    }
}

#[test]
fn nothing_gets_stuck_and_nothing_mixes_with_the_least_spare() {
    let mut stream = RandomStream::new(1, "tests", "least spare of handles");
    let mut passed = 0;
    for victim in VictimSelectionConfig::all() {
        for world in 0..60_u64 {
            let mut draw = |least: u64, most: u64| least + stream.below(most - least + 1);
            let (channels, pages, units_per_page) = (draw(1, 2) as u32, draw(3, 9) as u32, 1 << draw(0, 2));
            let data_groups = draw(1, 9) as u32;
            let handles: Vec<Isolation> =
                (0..draw(2, 5)).map(|_| if draw(0, 2) > 0 { Persistently } else { Initially }).collect();
            let geometry = |blocks| {
                let page = 4_096 * units_per_page;
                Geometry::checked(channels, 1, 1, 1, blocks, pages, page, 4_096, 1).expect("a legal shape")
            };
            let units = data_groups * pages * units_per_page * channels;
            let mut config = FtlConfig {
                victim_selection: victim.clone(),
                gc_trigger: GcTriggerConfig::default(),
                reserve_groups: draw(1, 3) as u32,
                seed: world,
                ..config(fdp(&handles), geometry(1), units)
            };
            let enough = (1..1_000).find(|&blocks| data_groups + config.spare_groups_of(blocks) <= blocks);
            config.geometry = geometry(enough.expect("some are enough"));
            let mut ftl = Ftl::new(&config).expect("as much as the check asks");
            let mut handle_of = vec![0; units as usize];
            for step in 0..1_500_u64 {
                let unit = if step < u64::from(units) { step } else { draw(0, u64::from(units) - 1) };
                let handle = draw(0, handles.len() as u64 - 1) as u8;
                handle_of[unit as usize] = handle;
                if let Err(error) = InstantDriver::new(&mut ftl).write_told(Lpa(unit as u32), by(handle)) {
                    panic!("{victim:?}, world {world}, step {step}: {error}");
                }
            }
            nothing_else_lies_there(&ftl, &handles, &handle_of);
            passed += ftl.reclaim_units().map_or(0, |units| units.counts().victims_passed);
        }
    }
    assert!(passed > 0, "some victims would have given too little");
}
