//! A translation layer that is made from a snapshot goes on like the one that was saved, and no bytes make one that
//! contradicts itself.

use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, Told, VictimSelectionConfig,
};
use ninescope_ftl::{Ftl, FtlConfig, FtlError, GroupState, InstantDriver, Partition};
use ninescope_kernel::{RandomStream, Snapshot, SnapshotError};
use ninescope_model::{BlockGroup, Geometry, Lpa, Parity, ParityOver, Pool, Ppa, Stream};

/// Two dies of two planes, each plane by itself: 4 pools of 16 groups of 8 units, 2 units to a page.
fn config() -> FtlConfig {
    FtlConfig {
        logical_units: 200,
        reserve_groups: 2,
        page_allocation: PageAllocationConfig::default(),
        stream_choice: StreamChoiceConfig::default(),
        free_block_choice: FreeBlockChoiceConfig::default(),
        gc_trigger: GcTriggerConfig::default(),
        victim_selection: VictimSelectionConfig::default(),
        seed: 3,
        ..FtlConfig::bare(Geometry::checked(2, 1, 1, 2, 16, 4, 8_192, 4_096, 1).expect("a legal geometry"))
    }
}

/// The same where some addresses have two of the four pools for themselves.
fn divided() -> FtlConfig {
    let partitions = vec![
        Partition { pools: vec![1, 2], units: vec![0..30, 110..180] },
        Partition { pools: vec![0, 3], units: vec![30..110, 180..200] },
    ];
    FtlConfig { partitions, ..config() }
}

/// Every policy of every registry once, the others being the defaults.
fn configs() -> Vec<FtlConfig> {
    let mut configs: Vec<FtlConfig> = Vec::new();
    configs.extend(
        PageAllocationConfig::all().into_iter().map(|page_allocation| FtlConfig { page_allocation, ..config() }),
    );
    // Each kind of data that is kept apart takes groups of its own.
    let roomier = Geometry::checked(2, 1, 1, 2, 20, 4, 8_192, 4_096, 1).expect("a legal geometry");
    configs.extend(StreamChoiceConfig::all().into_iter().map(|stream_choice| {
        let geometry = if stream_choice.kinds().1 > 2 { roomier } else { config().geometry };
        FtlConfig { geometry, stream_choice, ..config() }
    }));
    let isolated = serde_json::json!({
        "policy": "fdp",
        "handles": ["persistently-isolated", "initially-isolated", "persistently-isolated"],
    });
    let stream_choice = serde_json::from_value(isolated).expect("a policy of the registry");
    configs.push(FtlConfig { geometry: roomier, stream_choice, ..config() });
    configs.extend(
        FreeBlockChoiceConfig::all().into_iter().map(|free_block_choice| FtlConfig { free_block_choice, ..config() }),
    );
    configs.extend(GcTriggerConfig::all().into_iter().map(|gc_trigger| FtlConfig { gc_trigger, ..config() }));
    configs.extend(
        VictimSelectionConfig::all().into_iter().map(|victim_selection| FtlConfig { victim_selection, ..config() }),
    );
    configs.push(divided());
    let parity = Some(Parity { stripe: 2, over: ParityOver::Channels });
    configs.push(FtlConfig { geometry: roomier.with_parity(parity).expect("two channels"), ..config() });
    configs
}

/// Writes, some of them forgotten again.
fn work(ftl: &mut Ftl, stream: &mut RandomStream, writes: u32) -> Result<(), FtlError> {
    let units = u64::from(ftl.logical_units());
    for number in 0..writes {
        let mut driver = if number % 3 == 0 { InstantDriver::of_clean_data(ftl) } else { InstantDriver::new(ftl) };
        // The host names streams, one of which some drives have not.
        let told = Told { stream: (number % 5) as u8, sectors: 8 };
        driver.write_told(Lpa(stream.below(units) as u32), told)?;
        if number % 7 == 0 {
            driver.trim(Lpa(stream.below(units) as u32));
        }
    }
    InstantDriver::new(ftl).settle();
    Ok(())
}

/// A drive that is worn in, and quiet.
fn worn(config: &FtlConfig) -> Ftl {
    let mut ftl = Ftl::new(config).expect("enough spare");
    work(&mut ftl, &mut RandomStream::new(1, "test", "writes"), 1_500).expect("space");
    assert!(ftl.counters().erased_groups > 20, "{:?}", ftl.counters());
    ftl
}

fn saved(ftl: &Ftl) -> Vec<u8> {
    let mut bytes = Vec::new();
    ftl.save(&mut bytes).expect("a quiet drive");
    bytes
}

fn made(config: &FtlConfig, mut bytes: &[u8]) -> Result<Ftl, SnapshotError> {
    let mut ftl = Ftl::new(config).expect("enough spare");
    ftl.load(&mut bytes)?;
    if bytes.is_empty() { Ok(ftl) } else { Err(SnapshotError::Impossible("bytes are left".to_owned())) }
}

#[test]
fn it_goes_on_as_if_nothing_had_happened() {
    for config in configs() {
        let mut ftl = worn(&config);
        let mut again = made(&config, &saved(&ftl)).unwrap_or_else(|error| panic!("{config:?}: {error}"));
        assert_eq!(again.mapped_units(), ftl.mapped_units());
        ftl.clear_counters();
        for round in 0..3 {
            for drive in [&mut ftl, &mut again] {
                work(drive, &mut RandomStream::new(round, "test", "more writes"), 500).expect("space");
            }
            assert_eq!(saved(&again), saved(&ftl), "{config:?}");
            assert_eq!(again.counters(), ftl.counters(), "{config:?}");
            let counts = |ftl: &Ftl| ftl.reclaim_units().map(|units| units.counts().clone());
            assert_eq!(counts(&again), counts(&ftl), "{config:?}");
        }
    }
}

#[test]
fn everything_that_can_be_asked_is_the_same() {
    for config in configs() {
        let mut ftl = worn(&config);
        let again = made(&config, &saved(&ftl)).expect("what was saved");
        ftl.clear_counters();
        for unit in 0..config.geometry.units() {
            let place = Ppa(unit);
            assert_eq!((again.content(place), again.is_valid(place)), (ftl.content(place), ftl.is_valid(place)));
            assert_eq!(again.is_in_flight(place), ftl.is_in_flight(place));
        }
        for unit in (0..config.logical_units).map(Lpa) {
            assert_eq!((again.translate(unit), again.is_clean(unit)), (ftl.translate(unit), ftl.is_clean(unit)));
        }
        for group in (0..config.geometry.groups()).map(BlockGroup) {
            assert_eq!(format!("{:?}", again.group(group)), format!("{:?}", ftl.group(group)));
            assert_eq!(again.valid_units(group), ftl.valid_units(group));
        }
        for pool in (0..config.geometry.pools()).map(Pool) {
            assert!(again.free_list(pool).eq(ftl.free_list(pool)));
            for stream in Stream::of_kinds(Stream::KINDS_MAX) {
                assert_eq!(again.last_allocated(pool, stream), ftl.last_allocated(pool, stream));
            }
        }
        assert!(again.pools_without_space().eq(ftl.pools_without_space()));
        assert!(again.erases_since_cleared().eq(ftl.erases_since_cleared()));
    }
}

#[test]
fn what_is_under_way_is_not_saved() {
    let refused = |ftl: &Ftl| match ftl.save(&mut Vec::new()) {
        Err(SnapshotError::NotQuiet(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let mut ftl = worn(&config());
    let placed = ftl.write(Lpa(5)).expect("space");
    assert!(refused(&ftl).contains("in use"), "a unit is not programmed yet");
    let (group, offset) = config().geometry.group_and_offset(placed.new);
    ftl.programmed(group, offset + 1);
    assert!(refused(&ftl).contains("partly filled"));
    InstantDriver::new(&mut ftl).settle();
    ftl.read_queued(group);
    assert!(refused(&ftl).contains("in use"), "a read is queued");
    ftl.read_ended(group);
    ftl.save(&mut Vec::new()).expect("it is quiet again");
    let closed = (0..config().geometry.groups()).map(BlockGroup).find(|&group| ftl.refresh(group));
    assert!(closed.is_some() && refused(&ftl).contains("collects garbage"));
}

const GROUPS: usize = 64;
const UNITS: usize = 512;

/// Where a column of the records of groups begins.
fn column_at(column: usize) -> usize {
    4 + 4 * column * GROUPS
}

/// Where the pools begin.
const POOLS_AT: usize = 4 + 6 * 4 * GROUPS;

fn put(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

/// Where what was filled in order begins.
fn filling_at(ftl: &Ftl) -> usize {
    let of_pool = |pool: u32| 4 + 4 * ftl.free_groups(Pool(pool)) as usize + 16;
    POOLS_AT + (0..4).map(of_pool).sum::<usize>()
}

/// Sets a number of a column that begins at a byte: numbers are written as differences.
fn put_in_column(bytes: &mut [u8], at: usize, index: usize, len: usize, to: u32) {
    let number = |bytes: &[u8], index: usize| {
        let at = at + 4 * index;
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let before = (0..index).fold(0_u32, |sum, index| sum.wrapping_add(number(bytes, index)));
    let changed_by = to.wrapping_sub(before.wrapping_add(number(bytes, index)));
    put(bytes, at + 4 * index, to.wrapping_sub(before));
    if index + 1 < len {
        let next = number(bytes, index + 1).wrapping_sub(changed_by);
        put(bytes, at + 4 * (index + 1), next);
    }
}

/// Sets a number of the record of a group.
fn put_in_group(bytes: &mut [u8], group: u32, column: usize, to: u32) {
    put_in_column(bytes, column_at(column), group as usize, GROUPS, to);
}

/// Sets what a place holds, where each group tells all that it holds.
fn put_content(bytes: &mut [u8], contents_at: usize, place: usize, to: u32) {
    put_in_column(bytes, contents_at, place, UNITS, to);
}

/// What is done to the bytes of a snapshot.
type Damage<'a> = &'a dyn Fn(&mut [u8]);

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let ftl = worn(&config());
    let good = saved(&ftl);
    let free = ftl.free_list(Pool(0)).next().expect("a free group").0;
    let is_open = |stream: &Stream| ftl.frontier(Pool(0), *stream).is_some();
    let stream = Stream::of_kinds(2).find(is_open).expect("a frontier");
    let open = ftl.frontier(Pool(0), stream).expect("a frontier").0;
    let holds_data = |group: &BlockGroup| ftl.group(*group).state == GroupState::Closed && ftl.valid_units(*group) > 0;
    let closed = (0..16).map(BlockGroup).find(holds_data).expect("data").0;
    let all_written = (0..GROUPS as u32).all(|group| ftl.group(BlockGroup(group)).erase_count > 0);
    assert!(all_written, "each group tells all that it holds");
    let contents_at = filling_at(&ftl) + 4;
    let valid_at = contents_at + 4 * UNITS;
    let place_of = |group: u32| config().geometry.first_unit(BlockGroup(group)).index();
    let valid = (place_of(closed)..UNITS).find(|&unit| ftl.is_valid(Ppa(unit as u32))).expect("valid units");
    let mapped = ftl.content(Ppa(valid as u32)).0;
    let free_groups = ftl.free_groups(Pool(0)) as usize;
    let frontier_at = POOLS_AT + 4 + 4 * free_groups + 4 * stream.index();
    let cases: [(&str, Damage<'_>); 19] = [
        ("is in state 7", &|bytes| put_in_group(bytes, closed, 0, 7)),
        ("is in state 3", &|bytes| put_in_group(bytes, closed, 0, 3)),
        ("is of stream 9", &|bytes| put_in_group(bytes, closed, 1, 9)),
        ("is of stream 256", &|bytes| put_in_group(bytes, closed, 1, 256)),
        ("is of stream 2", &|bytes| put_in_group(bytes, closed, 1, 2)),
        ("units are written", &|bytes| put_in_group(bytes, closed, 2, 7)),
        ("units are written", &|bytes| put_in_group(bytes, free, 2, 2)),
        ("units are written", &|bytes| put_in_group(bytes, open, 2, 1)),
        ("was erased 4294967295 times", &|bytes| put_in_group(bytes, closed, 3, u32::MAX)),
        ("has 17 free groups of 16", &|bytes| put(bytes, POOLS_AT, 17)),
        ("has 1 free groups of 16, 2 of them in reserve", &|bytes| put(bytes, POOLS_AT, 1)),
        ("cannot be Free in pool 0", &|bytes| put_in_column(bytes, POOLS_AT + 4, 0, free_groups, closed)),
        ("cannot be Free in pool 0", &|bytes| put_in_column(bytes, POOLS_AT + 4, 0, free_groups, 63)),
        ("cannot be Open in pool 0", &|bytes| put(bytes, frontier_at, 1_000_000)),
        ("neither free nor open nor closed", &|bytes| put(bytes, frontier_at, u32::MAX)),
        ("unit 200 is beyond the drive", &|bytes| put_content(bytes, contents_at, valid, 200)),
        ("is valid and holds nothing", &|bytes| put_content(bytes, contents_at, valid, u32::MAX)),
        ("is valid at", &|bytes| {
            let other = (0..UNITS).find(|&unit| unit != valid && ftl.is_valid(Ppa(unit as u32))).expect("another");
            put_content(bytes, contents_at, other, mapped);
        }),
        ("is valid and was not written", &|bytes| {
            let place = place_of(free);
            bytes[valid_at + 1 + place / 8] |= 1 << (place % 8);
        }),
    ];
    for (words, change) in cases {
        let mut bytes = good.clone();
        change(&mut bytes);
        let error = made(&config(), &bytes).err().unwrap_or_else(|| panic!("`{words}` passes")).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    for length in [0, 3, POOLS_AT, contents_at - 1, contents_at + 1, valid_at, good.len() - 1] {
        assert!(made(&config(), &good[..length]).is_err(), "{length} bytes suffice");
    }
}

/// A drive that is filled but for its last units, some of which were overwritten, and quiet.
fn filled(config: &FtlConfig) -> Ftl {
    let mut ftl = Ftl::new(config).expect("enough spare");
    let mut driver = InstantDriver::new(&mut ftl);
    driver.fill(3..config.logical_units - 1);
    for unit in 40..60 {
        driver.write(Lpa(unit)).expect("space");
    }
    driver.settle();
    ftl
}

#[test]
fn an_order_of_filling_that_cannot_be_is_refused_with_a_reason() {
    let ftl = filled(&config());
    let good = saved(&ftl);
    let at = filling_at(&ftl);
    let first_groups_at = at + 12;
    let word = |at: usize| u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]]);
    assert_eq!([word(at), word(at + 4)], [196, 3], "units, and the first of them");
    let cases: [(&str, Damage<'_>); 9] = [
        ("197 units were filled from unit 4 on, of 200", &|bytes| {
            put(bytes, at, 197);
            put(bytes, at + 4, 4);
        }),
        ("were filled from unit 4294967295 on", &|bytes| put(bytes, at + 4, u32::MAX)),
        ("4294967295 units were filled", &|bytes| put(bytes, at, u32::MAX)),
        ("0 units were filled in turn, into groups of 8", &|bytes| put(bytes, at + 8, 0)),
        ("3 units were filled in turn, into groups of 8", &|bytes| put(bytes, at + 8, 3)),
        ("8 units were filled in turn, into groups of 8", &|bytes| put(bytes, at + 8, 8)),
        ("group 64 cannot be filled at position 0", &|bytes| put_in_column(bytes, first_groups_at, 0, 9, 64)),
        ("cannot be filled at position 1", &|bytes| put_in_column(bytes, first_groups_at, 1, 9, word(first_groups_at))),
        ("and 0 are written", &|bytes| put_in_column(bytes, first_groups_at, 0, 9, 15)),
    ];
    for (words, change) in cases {
        let mut bytes = good.clone();
        change(&mut bytes);
        let error = made(&config(), &bytes).err().unwrap_or_else(|| panic!("`{words}` passes")).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn a_turn_beyond_the_pools_is_refused() {
    let mut bytes = saved(&worn(&config()));
    let end = bytes.len();
    put(&mut bytes, end - 4, 5);
    let error = made(&config(), &bytes).expect_err("it is refused").to_string();
    assert!(error.contains("the turn is at pool 5"), "{error}");
}

#[test]
fn a_unit_in_the_planes_of_others_is_refused() {
    let bytes = saved(&worn(&divided()));
    let mut other = divided();
    other.partitions[0].units = vec![0..31, 110..180];
    other.partitions[1].units = vec![31..110, 180..200];
    let error = made(&other, &bytes).expect_err("unit 30 lies elsewhere").to_string();
    assert!(error.contains("unit 30 lies at") && error.contains("in another partition"), "{error}");
    let mut turned = divided();
    turned.partitions.reverse();
    assert!(made(&turned, &bytes).is_ok(), "the numbers of partitions say nothing");
}

#[test]
fn bytes_are_refused_or_make_a_drive_that_works() {
    let mut stream = RandomStream::new(1, "test", "changes");
    let (mut refused, mut worked) = (0, 0);
    let drives = configs().into_iter().flat_map(|config| [worn, filled].map(|made| (config.clone(), made(&config))));
    let all: Vec<(FtlConfig, Vec<u8>)> = drives.map(|(config, ftl)| (config, saved(&ftl))).collect();
    for _ in 0..30_000 {
        let (config, good) = &all[stream.below(all.len() as u64) as usize];
        let mut bytes = good.clone();
        for _ in 0..=stream.below(3) {
            let at = stream.below(bytes.len() as u64) as usize;
            bytes[at] = if stream.below(2) == 0 { bytes[at] ^ (1 << stream.below(8)) } else { stream.bits() as u8 };
        }
        let Ok(mut ftl) = made(config, &bytes) else {
            refused += 1;
            continue;
        };
        assert_eq!(saved(&ftl), bytes, "what was read is what is written");
        // It may be full, but it neither panics nor loses a unit.
        let done = work(&mut ftl, &mut RandomStream::new(2, "test", "writes"), 60);
        worked += u32::from(done.is_ok());
        for unit in (0..config.logical_units).map(Lpa).filter(|&unit| ftl.translate(unit) != Ppa::UNMAPPED) {
            let place = ftl.translate(unit);
            assert!(ftl.is_valid(place) && ftl.content(place) == unit, "{unit}");
        }
    }
    assert!(refused > 5_000 && worked > 500, "{refused} refused, {worked} worked");
}
