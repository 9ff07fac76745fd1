//! Parity over dies under the instant driver: what it takes of the drive, and write amplification by closed form.
//!
//! Of stripes of N dies N - 1 hold data, so that a page of parity is programmed for each N - 1 pages, whoever wrote these: write
//! amplification is `N / (N - 1)` of that of a drive whose block groups are N - 1 times as large.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::victim_selection::{fifo, greedy};
use ninescope_ftl::policies::{GcTriggerConfig, StreamChoiceConfig, Told, VictimSelectionConfig};
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa, Parity, ParityOver};
use ninescope_oracles::write_amplification as oracle;

const GROUPS: u32 = 4_096;
const FIFO: VictimSelectionConfig = VictimSelectionConfig::Fifo(fifo::Fifo {});
const GREEDY: VictimSelectionConfig = VictimSelectionConfig::Greedy(greedy::Greedy {});

fn geometry(stripe: u32, over: ParityOver, (blocks, pages): (u32, u32)) -> Geometry {
    let (channels, dies) = if over == ParityOver::Channels { (stripe, 1) } else { (1, stripe) };
    let plain = Geometry::checked(channels, 1, dies, 1, blocks, pages, 4_096, 4_096, 1).expect("a legal geometry");
    plain.with_parity(Some(Parity { stripe, over })).expect("a legal stripe")
}

/// A drive of one pool, a unit to a page, overwritten at random: its write amplification and the closed form's, with
/// parity.
fn overwritten(victim_selection: &VictimSelectionConfig, (stripe, pages): (u32, u32), spare_factor: f64) -> (f64, f64) {
    let geometry = geometry(stripe, ParityOver::Channels, (GROUPS, pages));
    let per_group = geometry.units_per_group();
    assert_eq!(per_group, pages * (stripe - 1));
    // Three groups are free, and the two frontiers are half full in the mean.
    let candidates = f64::from((GROUPS - 3 - 1) * per_group);
    let config = FtlConfig {
        logical_units: (candidates / spare_factor).round() as u32,
        reserve_groups: 1,
        gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: 1 }),
        victim_selection: victim_selection.clone(),
        seed: 1,
        ..FtlConfig::bare(geometry)
    };
    let units = config.logical_units;
    let spare_factor = candidates / f64::from(units);
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let mut stream = RandomStream::new(1, "tests", "host writes");
    let mut write_random = |ftl: &mut Ftl, laps: u32| {
        let mut driver = InstantDriver::new(ftl);
        for _ in 0..u64::from(laps) * u64::from(units) {
            driver.write(Lpa(stream.below(units.into()) as u32)).expect("the drive is not full");
        }
    };
    let mut driver = InstantDriver::new(&mut ftl);
    (0..units).for_each(|unit| {
        let _ = driver.write(Lpa(unit)).expect("the drive is not full");
    });
    write_random(&mut ftl, 5);
    ftl.clear_counters();
    write_random(&mut ftl, 12);
    let counted = ftl.counters();
    let data = counted.host_units + counted.gc_units;
    // Frontiers were somewhere in a stripe at the beginning, and are at the end.
    let parity = data as f64 / f64::from(stripe - 1);
    assert!((counted.parity_units as f64 - parity).abs() <= 4.0, "{counted:?}");
    let alone = match victim_selection {
        VictimSelectionConfig::Fifo(_) => oracle::fifo(spare_factor),
        _ => oracle::greedy(spare_factor, per_group),
    };
    (counted.write_amplification(), alone * f64::from(stripe) / f64::from(stripe - 1))
}

#[test]
fn write_amplification_is_that_of_the_closed_form_with_a_page_of_parity_for_each_stripe() {
    let cases = [
        (&FIFO, (2, 16), 1.28),
        (&FIFO, (4, 8), 1.28),
        (&GREEDY, (3, 8), 1.28),
        (&GREEDY, (5, 4), 1.28),
        (&GREEDY, (8, 4), 1.5),
    ];
    for (policy, stripe, spare_factor) in cases {
        let (measured, expected) = overwritten(policy, stripe, spare_factor);
        let error = measured / expected - 1.0;
        assert!(error.abs() < 0.005, "{stripe:?}, {spare_factor}: {measured} and not {expected}");
    }
}

#[test]
fn what_is_written_in_order_takes_one_page_of_parity_for_each_whole_stripe() {
    for over in [ParityOver::Channels, ParityOver::Dies] {
        let geometry = geometry(4, over, (12, 4));
        let config = FtlConfig { logical_units: 72, reserve_groups: 1, ..FtlConfig::bare(geometry) };
        let mut ftl = Ftl::new(&config).expect("enough spare groups");
        let mut driver = InstantDriver::new(&mut ftl);
        for (unit, parity) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (5, 2)] {
            driver.write(Lpa(unit)).expect("the drive is empty");
            assert_eq!(driver.ftl().counters().parity_units, parity, "three pages of data to a stripe");
        }
        assert_eq!(driver.ftl().counters().programmed_units(), 8);
    }
}

/// Filling by formula leaves what writing unit by unit does.
#[test]
fn a_drive_that_is_filled_has_the_parity_of_what_fills_it() {
    let geometry = geometry(4, ParityOver::Channels, (12, 4));
    let config = FtlConfig { logical_units: 70, reserve_groups: 1, ..FtlConfig::bare(geometry) };
    let (mut filled, mut written) = (Ftl::new(&config).expect("legal"), Ftl::new(&config).expect("legal"));
    assert_eq!(InstantDriver::new(&mut filled).fill(0..70), 70);
    let mut driver = InstantDriver::new(&mut written);
    (0..70).for_each(|unit| {
        let _ = driver.write(Lpa(unit)).expect("the drive is empty");
    });
    assert_eq!(filled.counters().parity_units, 23, "of 70 pages, 23 stripes of three are whole");
    assert_eq!(filled.counters(), written.counters());
}

/// Each kind of data has stripes of its own: its parity is of its own pages.
#[test]
fn streams_have_stripes_of_their_own() {
    let described = serde_json::json!({ "policy": "hinted", "streams": 2 });
    let config = FtlConfig {
        logical_units: 60,
        reserve_groups: 1,
        stream_choice: serde_json::from_value::<StreamChoiceConfig>(described).expect("a choice"),
        ..FtlConfig::bare(geometry(4, ParityOver::Channels, (16, 4)))
    };
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let mut write = |unit, stream| {
        ftl.write_as(Lpa(unit), false, Told { stream, sectors: 8 }).expect("the drive is empty");
        ftl.counters().parity_units
    };
    // Two pages of either stream are no stripe; the third one of each is.
    assert_eq!([write(0, 0), write(1, 1), write(2, 0), write(3, 1)], [0; 4]);
    assert_eq!([write(4, 1), write(5, 0)], [1, 2]);
}

/// As text a geometry says its parity, and one without says nothing of it: what names a prepared drive stays.
#[test]
fn a_geometry_says_its_parity() {
    let with = geometry(4, ParityOver::Dies, (12, 4));
    let written = serde_json::to_value(with).expect("numbers can be written");
    assert_eq!(written["parity"], serde_json::json!({ "stripe": 4, "over": "dies" }));
    assert_eq!(serde_json::from_value::<Geometry>(written).expect("what was written"), with);
    let plain = Geometry::checked(1, 1, 4, 1, 12, 4, 4_096, 4_096, 1).expect("a legal geometry");
    assert_eq!(serde_json::to_value(plain).expect("numbers can be written").get("parity"), None);
    let odd = serde_json::json!({ "stripe": 3, "over": "dies" });
    let mut written = serde_json::to_value(with).expect("numbers can be written");
    written["parity"] = odd;
    assert!(
        serde_json::from_value::<Geometry>(written).expect_err("refused").to_string().contains("parity.stripe is 3")
    );
}
