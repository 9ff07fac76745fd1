//! Super-blocks under the instant driver: what is collected is a block group as large as the blocks of all its dies.

use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::policies::victim_selection::{fifo, greedy};
use ninescope_ftl::{Ftl, FtlConfig, FtlCounters, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa, ParityOver, Superblock};
use ninescope_oracles::write_amplification as oracle;

const GROUPS: u32 = 2_048;

/// One pool of so many dies with blocks of so many pages, overwritten at random at a spare factor of 1.28: what was counted, and the
/// spare factor that candidates have.
fn overwritten(victim: &VictimSelectionConfig, (dies, pages): (u32, u32), over: ParityOver) -> (FtlCounters, f64) {
    let (channels, per_channel) = if over == ParityOver::Channels { (dies, 1) } else { (1, dies) };
    let plain = Geometry::checked(channels, 1, per_channel, 1, GROUPS, pages, 4_096, 4_096, 1).expect("legal");
    let geometry = plain.with_superblock(Some(Superblock { dies, over })).expect("a legal width");
    assert_eq!((geometry.pools(), geometry.units_per_group()), (1, dies * pages));
    // Three groups are free, and the two frontiers are half full in the mean.
    let candidates = f64::from((GROUPS - 3 - 1) * geometry.units_per_group());
    let units = (candidates / 1.28).round() as u32;
    let config = FtlConfig {
        logical_units: units,
        reserve_groups: 1,
        victim_selection: victim.clone(),
        seed: 1,
        ..FtlConfig::bare(geometry)
    };
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let mut stream = RandomStream::new(1, "tests", "host writes");
    let mut write = |ftl: &mut Ftl, laps: u32| {
        let mut driver = InstantDriver::new(ftl);
        for _ in 0..laps * units {
            driver.write(Lpa(stream.below(units.into()) as u32)).expect("the drive is not full");
        }
    };
    InstantDriver::new(&mut ftl).fill(0..units);
    write(&mut ftl, 5);
    ftl.clear_counters();
    write(&mut ftl, 12);
    (*ftl.counters(), candidates / f64::from(units))
}

#[test]
fn write_amplification_is_that_of_blocks_of_the_larger_size() {
    let greedy = VictimSelectionConfig::Greedy(greedy::Greedy {});
    for (shape, over) in [((2, 8), ParityOver::Channels), ((4, 4), ParityOver::Dies), ((8, 2), ParityOver::Drive)] {
        let (counted, spare_factor) = overwritten(&greedy, shape, over);
        let expected = oracle::greedy(spare_factor, shape.0 * shape.1);
        let measured = counted.write_amplification();
        assert!((measured / expected - 1.0).abs() < 0.01, "{shape:?}: {measured} and not {expected}");
        assert_eq!(counted.parity_units, 0);
    }
    let fifo = VictimSelectionConfig::Fifo(fifo::Fifo {});
    let (counted, spare_factor) = overwritten(&fifo, (4, 4), ParityOver::Channels);
    let (measured, expected) = (counted.write_amplification(), oracle::fifo(spare_factor));
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} and not {expected}");
}

#[test]
fn a_super_block_is_to_the_layer_what_a_larger_block_is() {
    // Decision by decision: pages of several dies are counted as those of one block.
    let greedy = VictimSelectionConfig::Greedy(greedy::Greedy {});
    let one = overwritten(&greedy, (1, 8), ParityOver::Drive).0;
    for (dies, over) in [(2, ParityOver::Channels), (4, ParityOver::Dies), (8, ParityOver::Drive)] {
        assert_eq!(overwritten(&greedy, (dies, 8 / dies), over).0, one, "{dies} dies");
    }
}
