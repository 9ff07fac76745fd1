//! A drive that is filled a group at a time is the one that writing unit by unit leaves, and goes on like it.

use std::ops::Range;

use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
};
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::{RandomStream, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};

/// Drives of several shapes: channels, dies, planes, blocks, pages, units in a page, planes of a frontier.
fn geometries() -> Vec<Geometry> {
    [
        (2, 1, 2, 16, 4, 2, 1),
        (1, 1, 1, 24, 3, 4, 1),
        (3, 2, 4, 12, 5, 1, 2),
        (2, 3, 3, 11, 2, 2, 3),
        (2, 1, 2, 16, 1, 2, 2),
    ]
    .map(|(channels, dies, planes, blocks, pages, units, frontier)| {
        Geometry::checked(channels, 1, dies, planes, blocks, pages, units * 4_096, 4_096, frontier).expect("legal")
    })
    .into_iter()
    .chain(of_wordlines())
    .collect()
}

/// A drive whose wordlines of three pages are programmed in one go.
fn of_wordlines() -> Option<Geometry> {
    Geometry::checked(2, 1, 1, 2, 16, 6, 8_192, 4_096, 2).and_then(|geometry| geometry.with_pages_per_program(3)).ok()
}

/// Every policy of every registry on every geometry, little and much of it addressed by the host.
fn configs() -> Vec<FtlConfig> {
    let mut configs = Vec::new();
    for geometry in geometries() {
        for spare_groups in [3, 6] {
            let space = geometry.units() - spare_groups * geometry.pools() * geometry.units_per_group();
            let config = || FtlConfig {
                logical_units: space,
                reserve_groups: 2,
                page_allocation: PageAllocationConfig::default(),
                stream_choice: StreamChoiceConfig::default(),
                free_block_choice: FreeBlockChoiceConfig::default(),
                gc_trigger: GcTriggerConfig::default(),
                victim_selection: VictimSelectionConfig::default(),
                seed: 3,
                ..FtlConfig::bare(geometry)
            };
            let allocations = PageAllocationConfig::all().into_iter();
            configs.extend(allocations.map(|page_allocation| FtlConfig { page_allocation, ..config() }));
            let streams = StreamChoiceConfig::all().into_iter();
            configs.extend(streams.map(|stream_choice| FtlConfig { stream_choice, ..config() }));
            let free = FreeBlockChoiceConfig::all().into_iter();
            configs.extend(free.map(|free_block_choice| FtlConfig { free_block_choice, ..config() }));
            let triggers = GcTriggerConfig::all().into_iter();
            configs.extend(triggers.map(|gc_trigger| FtlConfig { gc_trigger, ..config() }));
            let victims = VictimSelectionConfig::all().into_iter();
            configs.extend(victims.map(|victim_selection| FtlConfig { victim_selection, ..config() }));
        }
    }
    let by_page = r#"{"policy": "round-robin", "granularity": "page"}"#;
    let page_allocation: PageAllocationConfig = serde_json::from_str(by_page).expect("a policy");
    let pages = configs.clone().into_iter().step_by(7);
    configs.extend(pages.map(|config| FtlConfig { page_allocation: page_allocation.clone(), ..config }));
    // Clean data apart needs more spare.
    configs.retain(|config| Ftl::new(config).is_ok());
    assert!(configs.len() > 60, "{}", configs.len());
    configs
}

/// The whole drive, none of it, and parts that end within a page, a stripe and a group; and such that begin later.
fn ranges(units: u32) -> Vec<Range<u32>> {
    let ends = [0, 1, 7, units / 3, units / 2 + 1, units - 1, units];
    let later = [(1, units), (units / 4, units / 2), (16, units - 3)];
    ends.into_iter().map(|end| 0..end).chain(later.into_iter().map(|(start, end)| start..end)).collect()
}

fn driver(ftl: &mut Ftl, clean: bool) -> InstantDriver<'_> {
    if clean { InstantDriver::of_clean_data(ftl) } else { InstantDriver::new(ftl) }
}

/// A drive on which units are filled, as far as that goes, and the rest of them written. Returns how many were filled.
fn filled(config: &FtlConfig, range: Range<u32>, clean: bool) -> (Ftl, u32) {
    let mut ftl = Ftl::new(config).expect("enough spare");
    let mut driver = driver(&mut ftl, clean);
    let filled = driver.fill(range.clone());
    for unit in range.start + filled..range.end {
        driver.write(Lpa(unit)).expect("space");
    }
    (ftl, filled)
}

fn written(config: &FtlConfig, range: Range<u32>, clean: bool) -> Ftl {
    let mut ftl = Ftl::new(config).expect("enough spare");
    let mut driver = driver(&mut ftl, clean);
    for unit in range {
        driver.write(Lpa(unit)).expect("space");
    }
    ftl
}

/// Everything that can be asked.
fn assert_alike(one: &Ftl, other: &Ftl, config: &FtlConfig) {
    for place in (0..config.geometry.units()).map(Ppa) {
        assert_eq!(one.is_valid(place), other.is_valid(place), "{place}");
        assert_eq!(one.content(place), other.content(place), "{place}");
        assert_eq!(one.is_in_flight(place), other.is_in_flight(place), "{place}");
    }
    for unit in (0..config.logical_units).map(Lpa) {
        assert_eq!((one.translate(unit), one.is_clean(unit)), (other.translate(unit), other.is_clean(unit)), "{unit}");
    }
    for group in (0..config.geometry.groups()).map(BlockGroup) {
        assert_eq!(format!("{:?}", one.group(group)), format!("{:?}", other.group(group)), "{group}");
        assert_eq!(one.valid_units(group), other.valid_units(group), "{group}");
    }
    for pool in (0..config.geometry.pools()).map(Pool) {
        assert!(one.free_list(pool).eq(other.free_list(pool)), "{pool}");
        assert_eq!(one.holds_host(pool), other.holds_host(pool), "{pool}");
        for stream in Stream::of_kinds(Stream::KINDS_MAX) {
            assert_eq!(one.frontier(pool, stream), other.frontier(pool, stream));
            assert_eq!(one.last_allocated(pool, stream), other.last_allocated(pool, stream));
        }
    }
    assert_eq!((one.counters(), one.mapped_units()), (other.counters(), other.mapped_units()));
    assert!(one.pools_without_space().eq(other.pools_without_space()));
}

/// What is saved, by the names of sections.
#[derive(Default, PartialEq)]
struct Sections(Vec<(String, Vec<u8>)>);

impl SectionWriter for Sections {
    fn begin(&mut self, name: &str) -> Result<(), SnapshotError> {
        self.0.push((name.to_owned(), Vec::new()));
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let (_, section) = self.0.last_mut().expect("a section has begun");
        section.extend_from_slice(bytes);
        Ok(())
    }
}

fn saved(ftl: &mut Ftl) -> Sections {
    InstantDriver::new(ftl).settle();
    let mut sections = Sections::default();
    ftl.save(&mut sections).expect("a quiet drive");
    sections
}

/// The same drive, from what was saved of it.
fn again(config: &FtlConfig, sections: &Sections) -> Ftl {
    let bytes: Vec<u8> = sections.0.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
    let (mut ftl, mut rest) = (Ftl::new(config).expect("enough spare"), bytes.as_slice());
    ftl.load(&mut rest).expect("what was saved");
    assert!(rest.is_empty() && saved(&mut ftl) == *sections, "what was read is written otherwise");
    ftl
}

/// Two drives are saved alike but for what follows from the order of filling, and are the same once they are read.
fn assert_saved_alike(one: &mut Ftl, other: &mut Ftl, config: &FtlConfig, range: &Range<u32>) {
    let (mut one, mut other) = (saved(one), saved(other));
    assert_alike(&again(config, &one), &again(config, &other), config);
    for sections in [&mut one, &mut other] {
        sections.0.retain(|(name, _)| name != "filling" && name != "contents");
    }
    assert!(one == other, "{config:?}, {range:?}");
}

/// Overwrites and forgets, so that what was filled moves.
fn wear_in(ftl: &mut Ftl, units: Range<u32>) {
    let mut stream = RandomStream::new(5, "test", "writes");
    let mut driver = InstantDriver::new(ftl);
    for number in 0..2_000 {
        let mut unit = || Lpa(units.start + stream.below(u64::from(units.end - units.start)) as u32);
        driver.write(unit()).expect("space");
        if number % 7 == 0 {
            driver.trim(unit());
        }
    }
}

#[test]
fn a_filled_drive_is_the_one_that_writes_leave_and_goes_on_like_it() {
    let (mut by_group, mut all, mut collected) = (0, 0, 0);
    for (number, config) in configs().iter().enumerate() {
        for range in ranges(config.logical_units) {
            let clean = number % 2 == 1;
            let (mut one, filled) = filled(config, range.clone(), clean);
            let mut other = written(config, range.clone(), clean);
            (by_group, all) = (by_group + u64::from(filled), all + range.len() as u64);
            assert_alike(&one, &other, config);
            assert_saved_alike(&mut one, &mut other, config, &range);
            if range.len() > 100 && range.start % 3 == 0 {
                wear_in(&mut one, range.clone());
                wear_in(&mut other, range.clone());
                assert_alike(&one, &other, config);
                assert_saved_alike(&mut one, &mut other, config, &range);
                collected += one.counters().erased_groups;
            }
        }
    }
    // Nearly everything: static striping begins at whole rows alone, and a group of one turn is written.
    assert!(by_group * 10 > all * 6, "{by_group} of {all} units were filled by group");
    assert!(collected > 10_000, "{collected}");
}

#[test]
fn a_drive_that_was_filled_and_read_goes_on_like_the_one_that_was_saved() {
    for config in configs().iter().step_by(3) {
        for range in ranges(config.logical_units).into_iter().filter(|range| range.len() > 100) {
            let (mut one, _) = filled(config, range.clone(), false);
            let mut other = again(config, &saved(&mut one));
            one.clear_counters();
            for round in 0..2 {
                wear_in(&mut one, range.clone());
                wear_in(&mut other, range.clone());
                assert_alike(&one, &other, config);
                assert!(saved(&mut one) == saved(&mut other), "{config:?}, {range:?}, round {round}");
                other = again(config, &saved(&mut other));
                other.clear_counters();
                one.clear_counters();
            }
        }
    }
}

#[test]
fn a_fill_is_saved_as_its_order_whatever_the_capacity() {
    let bytes_of = |blocks: u32, pages: u32| {
        let config = FtlConfig {
            geometry: Geometry::checked(2, 1, 1, 2, blocks, pages, 16_384, 4_096, 1).expect("legal"),
            logical_units: 4 * (blocks - 6) * pages * 4 - 11,
            ..configs().remove(0)
        };
        let (mut ftl, filled) = filled(&config, 0..config.logical_units, false);
        assert_eq!(filled, config.logical_units);
        let sections = saved(&mut ftl);
        again(&config, &sections);
        sections.0.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    };
    let (small, large) = (bytes_of(16, 64), bytes_of(16, 2_048));
    // A byte for each 64 Ki bits, and what the last page of each pool holds beside.
    assert!(small < 8_000 && large < small + 70_000, "{small} and {large} bytes");
}
