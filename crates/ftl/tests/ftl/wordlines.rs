//! Wordlines that are programmed in one go: what a frontier says of them, how they are padded, and what preparing leaves.

use ninescope_ftl::{Ftl, FtlConfig, InstantDriver, Padded};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};

/// Pages of a wordline, and units of one in both planes of a frontier.
const PAGES: u32 = 3;
const UNITS: u32 = PAGES * 2 * 4;

/// Dies of two planes, 16 blocks of three wordlines, four units to a page.
fn config(dies: u32, logical_units: u32) -> FtlConfig {
    let geometry = Geometry::checked(1, 1, dies, 2, 16, 9, 16_384, 4_096, 2).expect("legal");
    let geometry = geometry.with_pages_per_program(PAGES).expect("whole wordlines");
    FtlConfig { logical_units, reserve_groups: 1, seed: 1, ..FtlConfig::bare(geometry) }
}

fn ftl(dies: u32, logical_units: u32) -> Ftl {
    Ftl::new(&config(dies, logical_units)).expect("enough spare blocks")
}

#[test]
fn a_stripe_is_complete_with_its_wordline() {
    let mut ftl = ftl(2, 400);
    for unit in 0..3 * UNITS {
        let placed = ftl.write(Lpa(unit)).expect("there is space");
        // The next wordline goes to the next die.
        assert_eq!(placed.pool, Pool(unit / UNITS % 2));
        assert_eq!(placed.page_complete, unit % 4 == 3);
        assert_eq!(placed.stripe_complete, unit % UNITS == UNITS - 1, "unit {unit}");
    }
}

#[test]
fn padding_fills_the_wordline_and_no_more() {
    for written in 1..UNITS {
        let mut ftl = ftl(1, 200);
        (0..written).for_each(|unit| assert!(ftl.write(Lpa(unit)).is_some()));
        let first = ftl.translate(Lpa(0)).0;
        let padded = ftl.pad(Pool(0), Stream::HOST).expect("something is open");
        let (last, of_data) = (Ppa(first + UNITS - 1), Ppa(first + written - 1));
        assert_eq!(padded, Padded { last, written: of_data, stripe_complete: true, closed: false });
        assert_eq!(ftl.counters().padding_units, u64::from(UNITS - written));
        assert_eq!(ftl.pad(Pool(0), Stream::HOST), None, "nothing is");
        let next = ftl.write(Lpa(100)).expect("there is space");
        assert_eq!(next.new, Ppa(first + UNITS));
    }
}

#[test]
fn preparing_leaves_whole_wordlines() {
    let mut ftl = ftl(2, 1_400);
    let mut driver = InstantDriver::new(&mut ftl);
    let filled = driver.fill(0..1_400);
    (filled..1_400).for_each(|unit| assert!(driver.write(Lpa(unit)).is_ok()));
    let mut stream = RandomStream::new(1, "test", "wordlines");
    for _ in 0..5_000 {
        driver.write(Lpa(stream.below(1_400) as u32)).expect("garbage is collected");
    }
    driver.settle();
    assert!(ftl.counters().gc_units > 100, "{:?}", ftl.counters());
    for group in (0..ftl.geometry().groups()).map(BlockGroup) {
        let record = ftl.group(group);
        assert!(record.write_pointer.is_multiple_of(UNITS) && record.programmed == record.write_pointer);
    }
    for unit in 0..1_400 {
        assert_eq!(ftl.content(ftl.translate(Lpa(unit))), Lpa(unit));
    }
}
