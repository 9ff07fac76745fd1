//! Blocks that are bad from the start, wear out, and fail to be erased: against order statistics and binomial laws.

use ninescope_ftl::policies::WearOutConfig;
use ninescope_ftl::policies::wear_out::{fixed::Fixed, weibull::Weibull};
use ninescope_ftl::{BreakdownConfig, Ftl, FtlConfig, FtlError, GroupState, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool};

const NOTHING_BREAKS: BreakdownConfig = BreakdownConfig {
    wear_out: None,
    program_failures: 0.0,
    erase_failures: 0.0,
    rise: 1.0,
    rise_cycles: 1,
    factory_bad_blocks: 0.0,
    initial_cycles: 0,
};

/// Four pools of 64 groups of 32 units, half of which the host sees.
fn config(breakdown: BreakdownConfig, seed: u64) -> FtlConfig {
    let geometry = Geometry::checked(2, 1, 2, 1, 64, 8, 16_384, 4_096, 1).expect("a legal geometry");
    FtlConfig {
        logical_units: geometry.units() / 2,
        reserve_groups: 2,
        breakdown: Some(breakdown),
        seed,
        ..FtlConfig::bare(geometry)
    }
}

/// Writes at random until so many units are written, or the drive takes no more. Returns how many were.
fn overwrite(ftl: &mut Ftl, seed: u64, most: u64) -> (u64, Option<FtlError>) {
    let (units, mut stream) = (u64::from(ftl.logical_units()), RandomStream::new(seed, "test", "overwrite"));
    let mut driver = InstantDriver::new(ftl);
    for written in 0..most {
        let unit = if written < units { written } else { stream.below(units) };
        if let Err(error) = driver.write(Lpa(unit as u32)) {
            return (written, Some(error));
        }
    }
    (most, None)
}

fn groups(ftl: &Ftl) -> impl Iterator<Item = BlockGroup> + use<> {
    (0..ftl.geometry().groups()).map(BlockGroup)
}

/// Of N blocks that bear Weibull numbers of cycles with scale s and shape k, the first wears out after s N^(-1/k) Gamma(1 + 1/k) in the
/// mean: the least of N is Weibull with the same shape. With k = 2 Gamma(1.5) = sqrt(pi) / 2. A group of p blocks is one of its least.
#[test]
fn the_first_block_wears_out_when_order_statistics_say() {
    let (scale, drives) = (1e6, 400);
    for planes in [1, 2] {
        let law = WearOutConfig::Weibull(Weibull { scale, shape: 2.0 });
        let geometry = Geometry::checked(1, 1, 1, 2, 32, 8, 16_384, 4_096, planes).expect("a legal geometry");
        let first_of = |seed: u64| {
            let breakdown = BreakdownConfig { wear_out: Some(law.clone()), ..NOTHING_BREAKS };
            let config = FtlConfig { geometry, logical_units: geometry.units() / 2, ..config(breakdown, seed) };
            let ftl = Ftl::new(&config).expect("enough spare blocks");
            groups(&ftl).filter_map(|group| ftl.endurance(group)).min().map_or(0.0, f64::from)
        };
        let mean = (0..drives).map(|seed| first_of(1 + seed)).sum::<f64>() / drives as f64;
        // 64 blocks, however they are grouped.
        let expected = scale / 64_f64.sqrt() * std::f64::consts::PI.sqrt() / 2.0;
        // Of Weibull numbers with shape 2 the deviation is 0.5227 of the mean; four standard errors.
        let off = 4.0 * 0.5227 / (drives as f64).sqrt();
        assert!((mean / expected - 1.0).abs() < off, "{planes} planes: {mean} for {expected}");
    }
}

/// All blocks bear 20 cycles: each that is retired has had exactly as many, and the drive ends when a pool has fewer groups than it needs.
#[test]
fn a_block_is_retired_after_the_cycles_that_it_bears_and_the_drive_ends_when_too_few_are_left() {
    let law = WearOutConfig::Fixed(Fixed { cycles: 25.0 });
    let breakdown = BreakdownConfig { wear_out: Some(law), initial_cycles: 5, ..NOTHING_BREAKS };
    let config = config(breakdown, 3);
    let mut ftl = Ftl::new(&config).expect("enough spare blocks");
    // Half of the 64 groups hold the host's units, and three more are for frontiers, plus the reserve.
    assert_eq!(config.groups_needed(), [37; 4]);
    assert_eq!(ftl.spare_groups_left(), 27);
    let (written, error) = overwrite(&mut ftl, 3, u64::MAX);
    assert!(matches!(error, Some(FtlError::ReadOnly(_))) && ftl.is_read_only(), "{error:?}");
    let retired: Vec<_> = groups(&ftl).filter(|&group| ftl.group(group).state == GroupState::Retired).collect();
    assert!(retired.iter().all(|&group| ftl.group(group).erase_count == 20), "20 of 25 cycles were left");
    assert!(groups(&ftl).all(|group| ftl.group(group).erase_count <= 20));
    let (said, seen) = (ftl.bad_blocks(), retired.len() as u64);
    assert_eq!((said.worn_out, said.retired, said.erase_failures), (seen, seen, 0));
    assert_eq!(u64::from(ftl.retired_groups()), seen);
    let of_pool =
        |pool: u32| retired.iter().filter(|&&group| ftl.geometry().pool_and_block(group).0 == Pool(pool)).count();
    assert_eq!((0..4).map(of_pool).max(), Some(28), "one group more than it could spare");
    assert_eq!(ftl.spare_groups_left(), 0);
    // Everything is where it was.
    assert_eq!(ftl.mapped_units(), ftl.logical_units());
    // No block has more cycles than it bears, and those of random writes wear alike: most of the cycles are used.
    let programmed = ftl.counters().programmed_units() as f64;
    let ideal = f64::from(ftl.geometry().units()) * 20.0;
    assert!((0.9..=1.0 + 1.0 / 20.0).contains(&(programmed / ideal)), "{written} written, {programmed} of {ideal}");
}

/// Erases fail as often as they are said to: five standard deviations of a binomial law.
#[test]
fn erases_fail_as_often_as_they_are_told_to() {
    for planes in [1, 2] {
        let chance = 0.002;
        let breakdown = BreakdownConfig { erase_failures: chance, ..NOTHING_BREAKS };
        let geometry = Geometry::checked(2, 1, 2, 2, 64, 8, 16_384, 4_096, planes).expect("a legal geometry");
        let config = FtlConfig { geometry, logical_units: geometry.units() / 4, ..config(breakdown, 7) };
        let mut ftl = Ftl::new(&config).expect("enough spare blocks");
        assert_eq!(overwrite(&mut ftl, 7, 300_000), (300_000, None));
        let (erases, failed) = (ftl.counters().erased_groups as f64, ftl.bad_blocks().erase_failures as f64);
        let of_group: f64 = 1.0 - libm::pow(1.0 - chance, f64::from(planes));
        let (expected, variance) = (erases * of_group, erases * of_group * (1.0 - of_group));
        assert!(expected > 10.0 && (failed - expected).abs() < 5.0 * variance.sqrt(), "{failed} for {expected}");
        let lost = groups(&ftl).filter(|&group| ftl.group(group).state == GroupState::Retired).count();
        assert_eq!(failed as usize, lost, "each is retired");
    }
}

/// The chance grows by the factor with each so many cycles: over one block's life the failures are the sum of a geometric series.
#[test]
fn failures_rise_with_wear() {
    let erased = |rise: f64, rise_cycles: u32| {
        let breakdown = BreakdownConfig { erase_failures: 1e-4, rise, rise_cycles, ..NOTHING_BREAKS };
        let mut ftl = Ftl::new(&config(breakdown, 11)).expect("enough spare blocks");
        let (written, _) = overwrite(&mut ftl, 11, 1_000_000);
        assert_eq!(written, 1_000_000, "it goes on");
        let expected: f64 = groups(&ftl)
            .map(|group| {
                let chance = |cycle: u32| 1e-4 * libm::pow(rise, f64::from(cycle) / f64::from(rise_cycles));
                (0..ftl.group(group).erase_count).map(chance).sum::<f64>()
            })
            .sum();
        (ftl.bad_blocks().erase_failures as f64, expected)
    };
    for (rise, cycles) in [(1.0, 1), (4.0, 100)] {
        let (failed, expected) = erased(rise, cycles);
        assert!((failed - expected).abs() < 5.0 * expected.sqrt() + 1.0, "rise {rise}: {failed} for {expected}");
    }
    assert!(erased(4.0, 100).0 > 2.0 * erased(1.0, 1).0);
}

#[test]
fn blocks_that_are_bad_from_the_start_are_never_written() {
    let share = 0.1;
    let breakdown = BreakdownConfig { factory_bad_blocks: share, ..NOTHING_BREAKS };
    let mut ftl = Ftl::new(&config(breakdown, 5)).expect("enough spare blocks");
    let bad: Vec<_> = groups(&ftl).filter(|&group| ftl.group(group).state == GroupState::Retired).collect();
    let (expected, deviation) = (256.0 * share, (256.0 * share * (1.0 - share)).sqrt());
    assert!((bad.len() as f64 - expected).abs() < 5.0 * deviation, "{} of 256", bad.len());
    assert_eq!(ftl.retired_groups() as usize, bad.len());
    let free: u32 = (0..4).map(|pool| ftl.free_groups(Pool(pool))).sum();
    assert_eq!(free as usize + bad.len(), 256);
    assert_eq!(overwrite(&mut ftl, 5, 50_000).1, None);
    assert!(bad.iter().all(|&group| ftl.group(group).erase_count == 0 && ftl.valid_units(group) == 0));
    assert_eq!(ftl.bad_blocks().retired, 0, "none since");
    // Too many of them are told.
    let breakdown = BreakdownConfig { factory_bad_blocks: 0.6, ..NOTHING_BREAKS };
    assert!(matches!(config(breakdown, 5).check(), Err(FtlError::TooManyBadBlocks { .. })));
}
