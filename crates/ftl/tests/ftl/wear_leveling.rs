//! Static wear levelling against the ideal, in which all groups are worn out together.

use ninescope_ftl::policies::stream_choice::fdp::{Fdp, Isolation};
use ninescope_ftl::policies::wear_leveling::{dual_pool::DualPool, threshold::Threshold};
use ninescope_ftl::policies::wear_out::fixed::Fixed;
use ninescope_ftl::policies::{FreeBlockChoiceConfig, StreamChoiceConfig, Told, WearLevelingConfig, WearOutConfig};
use ninescope_ftl::{BreakdownConfig, Ftl, FtlConfig, FtlError, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Stream};

/// Two pools of 80 groups of 64 units, three quarters of which the host sees.
fn config(wear_leveling: WearLevelingConfig, wears_out_after: Option<u32>) -> FtlConfig {
    let geometry = Geometry::checked(1, 1, 1, 2, 80, 16, 16_384, 4_096, 1).expect("a legal geometry");
    FtlConfig {
        zones: None,
        block_map: None,
        geometry,
        logical_units: geometry.units() / 4 * 3,
        translation_units: 0,
        translation_entries: 0,
        reserve_groups: 2,
        page_allocation: Default::default(),
        stream_choice: Default::default(),
        free_block_choice: FreeBlockChoiceConfig::all().into_iter().last().expect("least-worn"),
        gc_trigger: Default::default(),
        victim_selection: Default::default(),
        partitions: Vec::new(),
        homes: Vec::new(),
        slc_cache: None,
        breakdown: wears_out_after.map(|cycles| BreakdownConfig {
            wear_out: Some(WearOutConfig::Fixed(Fixed { cycles: f64::from(cycles) })),
            program_failures: 0.0,
            erase_failures: 0.0,
            rise: 1.0,
            rise_cycles: 1,
            factory_bad_blocks: 0.0,
            initial_cycles: 0,
        }),
        wear_leveling,
        seed: 1,
    }
}

/// Fills the drive and then overwrites a third of its addresses at random. Stops when the drive takes no more.
fn overwrite(ftl: &mut Ftl, writes: u64) -> Option<FtlError> {
    let (units, mut stream) = (u64::from(ftl.logical_units()), RandomStream::new(1, "test", "hot"));
    let mut driver = InstantDriver::new(ftl);
    let mut next = |write: u64| if write < units { write } else { stream.below(units / 3) };
    (0..writes).find_map(|write| driver.write(Lpa(next(write) as u32)).err())
}

fn erases(ftl: &Ftl) -> Vec<u32> {
    (0..ftl.geometry().groups()).map(|group| ftl.group(BlockGroup(group)).erase_count).collect()
}

fn leveled(cycles: u32) -> [(WearLevelingConfig, u32); 2] {
    // Of the dual pool the hot pool alone may lie apart by twice the threshold before its groups change pools.
    let threshold = (WearLevelingConfig::Threshold(Threshold { cycles }), cycles + 2);
    [threshold, (WearLevelingConfig::DualPool(DualPool { cycles }), 2 * cycles + 3)]
}

#[test]
fn without_it_data_that_lies_still_keeps_its_groups_unworn_and_with_it_none_is_far_behind() {
    let writes = 1_200_000;
    let mut plain = Ftl::new(&config(WearLevelingConfig::default(), None)).expect("enough spare blocks");
    assert_eq!(overwrite(&mut plain, writes), None);
    let counts = erases(&plain);
    let (unworn, most) = (counts.iter().filter(|&&count| count <= 1).count(), counts.iter().max());
    assert!(unworn >= 70 && most > Some(&180), "{unworn} of 160 groups, {most:?}");
    assert_eq!(plain.counters().leveled_groups, 0);
    for cycles in [4, 12] {
        for (policy, spread) in leveled(cycles) {
            let mut ftl = Ftl::new(&config(policy.clone(), None)).expect("enough spare blocks");
            assert_eq!(overwrite(&mut ftl, writes), None);
            for pool in erases(&ftl).chunks(80) {
                let (least, most) = (pool.iter().min().copied(), pool.iter().max().copied());
                let apart = most.unwrap_or(0) - least.unwrap_or(0);
                assert!(apart <= spread, "{policy:?}: {least:?} to {most:?}");
            }
            let counters = ftl.counters();
            assert!(counters.leveled_groups > 20 && counters.leveled_units <= counters.gc_units);
            // Half of the groups hold cold data. Each of them makes way once in `cycles` erases of a hot one, which is a group's
            // worth of moves for each `cycles` groups that are written, or fewer where the threshold is just passed.
            let more = counters.write_amplification() / plain.counters().write_amplification() - 1.0;
            assert!(more < 2.0 / f64::from(cycles), "{policy:?}: {more} more is written");
        }
    }
}

/// Two placement handles, by one of which is written what is written over and over, and by the other what lies still: that keeps its handle
/// when it makes way.
#[test]
fn what_makes_way_keeps_its_handle() {
    for (policy, spread) in leveled(4) {
        let stream_choice = StreamChoiceConfig::Fdp(Fdp { handles: vec![Isolation::InitiallyIsolated; 2] });
        let config = FtlConfig { stream_choice, ..config(policy.clone(), None) };
        let mut ftl = Ftl::new(&config).expect("enough spare blocks");
        let (units, mut stream) = (ftl.logical_units(), RandomStream::new(1, "test", "hot"));
        let handle_of = |unit: u32| u8::from(unit >= units / 3);
        let mut driver = InstantDriver::new(&mut ftl);
        for write in 0..1_200_000 {
            let unit = if write < units { write } else { stream.below(u64::from(units / 3)) as u32 };
            let told = Told { stream: handle_of(unit), sectors: 8 };
            driver.write_told(Lpa(unit), told).expect("it is never full");
        }
        for pool in erases(&ftl).chunks(80) {
            let (least, most) = (pool.iter().min().copied(), pool.iter().max().copied());
            assert!(most.unwrap_or(0) - least.unwrap_or(0) <= spread, "{policy:?}: {least:?} to {most:?}");
        }
        let (counters, counts) = (ftl.counters(), ftl.reclaim_units().expect("handles").counts());
        let [hot, cold] = [0, 1].map(|handle| counts.handles[handle]);
        // What lies still is moved for no other reason, and little else makes way.
        let share = cold.moved_units as f64 / counters.leveled_units as f64;
        assert!(counters.leveled_groups > 20 && (0.9..=1.0).contains(&share), "{policy:?}: {share}, {counters:?}");
        assert_eq!(cold.host_units, u64::from(units - units / 3), "written once");
        assert_eq!(hot.moved_units + cold.moved_units, counters.gc_units);
        // Each reclaim unit that was begun is erased, or holds something.
        let all = [hot.units, cold.units, counts.shared];
        let (begun, erased) = all.iter().fold((0, 0), |sum, of| (sum.0 + of.begun, sum.1 + of.erased));
        let in_use = (0..ftl.geometry().groups()).filter(|&group| ftl.group(BlockGroup(group)).write_pointer > 0);
        assert_eq!(begun - erased, in_use.count() as u64);
        assert!(counts.shared.begun >= counters.leveled_groups / 2, "{counts:?}");
        for unit in (0..units).map(Lpa) {
            assert_eq!(ftl.handle_of(unit), u32::from(handle_of(unit.0)));
            let of = ftl.stream_of(ftl.translate(unit));
            assert!(of.is_of_moves() || of == Stream::of_writes(ftl.handle_of(unit)), "unit {unit} lies in {of:?}");
        }
    }
}

/// A group bears 150 cycles. In the ideal the drive programs 150 times all its units before it takes no more writes; to its end the
/// groups lie apart by the threshold and some, and with a handful of them gone it is over.
#[test]
fn a_drive_whose_wear_is_level_lasts_nearly_as_long_as_all_its_cycles() {
    let cycles = 150;
    let used = |policy: WearLevelingConfig| {
        let mut ftl = Ftl::new(&config(policy, Some(cycles))).expect("enough spare blocks");
        let error = overwrite(&mut ftl, u64::MAX);
        assert!(matches!(error, Some(FtlError::ReadOnly(_))), "{error:?}");
        let ideal = f64::from(cycles) * f64::from(ftl.geometry().units());
        ftl.counters().programmed_units() as f64 / ideal
    };
    let plain = used(WearLevelingConfig::default());
    assert!((0.4..0.62).contains(&plain), "with cold data where it is, {plain} of the cycles");
    for (policy, spread) in leveled(6) {
        let share = used(policy.clone());
        let bound = 1.0 - f64::from(spread + 1) / f64::from(cycles);
        assert!((bound..1.01).contains(&share), "{policy:?}: {share} of the cycles, at least {bound}");
    }
}
