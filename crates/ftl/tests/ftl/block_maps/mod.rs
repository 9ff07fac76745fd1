//! Maps by block without time: scenes worked out by hand, closed forms, and a naive model over random writes.

mod naive;

use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use ninescope_ftl::policies::Told;
use ninescope_ftl::{Ftl, FtlConfig, FtlError, GroupState, InstantDriver};
use ninescope_kernel::{RandomStream, Snapshot};
use ninescope_model::{BlockGroup, Geometry, Lpa};
use ninescope_oracles::write_amplification;

use BlockScheme::{Bast, Block, Fast};
use naive::{Counts, NaiveMap};

/// So many planes, each a map of its own, of blocks of so many pages, which are units; the logical blocks are those that leave room for
/// `logs` and one block.
fn config(scheme: BlockScheme, (planes, blocks, pages): (u32, u32, u32), logs: u32) -> FtlConfig {
    let geometry = Geometry::checked(planes, 1, 1, 1, blocks, pages, 4_096, 4_096, 1).expect("a legal geometry");
    FtlConfig {
        logical_units: planes * pages * (blocks - logs - 1),
        block_map: Some(BlockMapConfig { scheme, log_blocks: logs }),
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

/// One plane of blocks of eight pages, all of them written in order.
fn filled(scheme: BlockScheme, logs: u32) -> Ftl {
    let mut ftl = Ftl::new(&config(scheme, (1, 12, 8), logs)).expect("a drive");
    let units = ftl.logical_units();
    let mut driver = InstantDriver::new(&mut ftl);
    for unit in 0..units {
        driver.write(Lpa(unit)).expect("room");
    }
    assert_eq!(counts(&ftl), Counts::default(), "what comes in order into nothing is merged nowhere");
    ftl.clear_counters();
    ftl
}

fn counts(ftl: &Ftl) -> Counts {
    let counted = ftl.counters();
    Counts {
        copies: counted.gc_units,
        padding: counted.padding_units,
        switches: counted.switch_merges,
        partials: counted.partial_merges,
        fulls: counted.full_merges,
        emptied: counted.log_blocks_emptied,
        erases: counted.erased_groups,
    }
}

/// Writes pages, each by its logical block and its number there, one after the other.
fn write(ftl: &mut Ftl, pages: impl IntoIterator<Item = (u32, u32)>) {
    let of_block = ftl.geometry().units_per_group();
    let mut driver = InstantDriver::new(ftl);
    for (block, offset) in pages {
        driver.write(Lpa(block * of_block + offset)).expect("room");
    }
}

/// Each logical block lies in one group, each page at its place.
fn all_in_place(ftl: &Ftl, block: u32) -> bool {
    let place = |unit: u32| ftl.geometry().group_and_offset(ftl.translate(Lpa(unit)));
    let first = place(block * 8).0;
    (0..8).all(|offset| place(block * 8 + offset) == (first, offset))
}

// ---- scenes ------------------------------------------------------------------------------------------

#[test]
fn a_block_map_writes_a_block_anew_for_each_page() {
    let mut ftl = filled(Block, 0);
    write(&mut ftl, [(3, 5)]);
    // Seven pages are copied, the eighth is the host's.
    assert_eq!(counts(&ftl), Counts { copies: 7, fulls: 1, erases: 1, ..Counts::default() });
    assert_eq!(ftl.counters().write_amplification().to_bits(), 8.0_f64.to_bits());
    // Sequential writes page by page are as bad: each of them is one of a block that is full.
    ftl.clear_counters();
    write(&mut ftl, (0..8).map(|offset| (4, offset)));
    assert_eq!(counts(&ftl), Counts { copies: 56, fulls: 8, erases: 8, ..Counts::default() });
    assert!((0..11).all(|block| all_in_place(&ftl, block)));
}

#[test]
fn pages_of_one_request_are_written_with_one_merge() {
    let mut ftl = filled(Block, 0);
    InstantDriver::new(&mut ftl).write_request(26..30, Told::default()).expect("room");
    assert_eq!(counts(&ftl), Counts { copies: 4, fulls: 1, erases: 1, ..Counts::default() });
    // All of a block: nothing is left to copy. Of two blocks: each is merged.
    ftl.clear_counters();
    InstantDriver::new(&mut ftl).write_request(32..40, Told::default()).expect("room");
    assert_eq!(counts(&ftl), Counts { fulls: 1, erases: 1, ..Counts::default() });
    ftl.clear_counters();
    InstantDriver::new(&mut ftl).write_request(45..53, Told::default()).expect("room");
    assert_eq!(counts(&ftl), Counts { copies: 8, fulls: 2, erases: 2, ..Counts::default() });
}

#[test]
fn a_page_ahead_of_its_block_leaves_pages_empty_between() {
    let mut ftl = Ftl::new(&config(Block, (1, 12, 8), 0)).expect("a drive");
    write(&mut ftl, [(0, 0), (0, 3)]);
    assert_eq!(counts(&ftl), Counts { padding: 2, ..Counts::default() }, "pages 1 and 2, and nothing is copied");
    write(&mut ftl, [(0, 1)]);
    // 0, the host's, one that is empty, and 3.
    assert_eq!(counts(&ftl), Counts { padding: 3, copies: 2, fulls: 1, erases: 1, ..Counts::default() });
    write(&mut ftl, [(0, 4), (1, 2)]);
    assert_eq!(counts(&ftl), Counts { padding: 5, copies: 2, fulls: 1, erases: 1, ..Counts::default() });
}

#[test]
fn all_of_a_logical_block_in_order_is_a_switch_merge() {
    for (scheme, logs) in [(Bast, 2), (Fast, 3)] {
        let mut ftl = filled(scheme, logs);
        write(&mut ftl, (0..8).map(|offset| (3, offset)));
        assert_eq!(counts(&ftl), Counts { switches: 1, erases: 1, ..Counts::default() }, "{scheme:?}");
        assert_eq!(ftl.counters().write_amplification().to_bits(), 1.0_f64.to_bits());
        assert!(all_in_place(&ftl, 3));
    }
}

#[test]
fn the_beginning_of_a_logical_block_is_a_partial_merge() {
    for prefix in 1..8 {
        // The log block that makes way copies what is not there.
        let mut ftl = filled(Bast, 2);
        write(&mut ftl, (0..prefix).map(|offset| (3, offset)));
        assert_eq!(counts(&ftl), Counts::default());
        write(&mut ftl, [(1, 1), (2, 2)]);
        let copies = u64::from(8 - prefix);
        assert_eq!(counts(&ftl), Counts { copies, partials: 1, erases: 1, ..Counts::default() });
        assert!(all_in_place(&ftl, 3));
        // Sequential writes that begin elsewhere take the one block that is for them.
        let mut ftl = filled(Fast, 3);
        write(&mut ftl, (0..prefix).map(|offset| (3, offset)).chain([(4, 0)]));
        assert_eq!(counts(&ftl), Counts { copies, partials: 1, erases: 1, ..Counts::default() });
        assert!(all_in_place(&ftl, 3));
    }
}

#[test]
fn with_one_log_block_each_change_of_logical_block_is_a_merge() {
    let mut ftl = filled(Bast, 1);
    // Pages of the middle: not one of the logs is in order, so that all eight pages are copied.
    write(&mut ftl, (0..20).map(|turn| (turn % 10, 1 + turn % 7)));
    assert_eq!(counts(&ftl), Counts { copies: 19 * 8, fulls: 19, erases: 38, ..Counts::default() });
    // First pages: each log is the beginning of its block.
    ftl.clear_counters();
    write(&mut ftl, (0..20).map(|turn| (turn % 10, 0)));
    assert_eq!(
        counts(&ftl),
        Counts { copies: 8 + 19 * 7, fulls: 1, partials: 19, erases: 2 + 19, ..Counts::default() }
    );
}

#[test]
fn bast_has_the_log_block_make_way_that_was_written_longest_ago() {
    let mut ftl = filled(Bast, 2);
    write(&mut ftl, [(1, 3), (2, 3), (1, 4), (3, 3)]);
    assert!(all_in_place(&ftl, 2) && !all_in_place(&ftl, 1) && !all_in_place(&ftl, 3));
    // A log block that is full in no order is merged when its logical block is written next.
    write(&mut ftl, (0..6).map(|_| (1, 3)));
    assert_eq!(ftl.counters().full_merges, 1);
    write(&mut ftl, [(1, 3)]);
    assert_eq!(counts(&ftl), Counts { copies: 16, fulls: 2, erases: 4, ..Counts::default() });
}

#[test]
fn a_random_log_block_of_fast_is_merged_with_as_many_logical_blocks_as_it_has_pages_of() {
    for logical_blocks in 1..=8 {
        // Eight pages of so many logical blocks fill the one random log block.
        let mut ftl = filled(Fast, 2);
        write(&mut ftl, (0..8).map(|turn| (turn % logical_blocks, 1 + turn / logical_blocks % 7)));
        assert_eq!(counts(&ftl), Counts::default());
        write(&mut ftl, [(8, 4)]);
        let fulls = u64::from(logical_blocks);
        let expected = Counts { copies: 8 * fulls, fulls, emptied: 1, erases: fulls + 1, ..Counts::default() };
        assert_eq!(counts(&ftl), expected, "{logical_blocks}");
        assert!((0..logical_blocks).all(|block| all_in_place(&ftl, block)));
    }
}

#[test]
fn what_was_written_again_in_a_later_log_block_is_not_merged_for() {
    let mut ftl = filled(Fast, 3);
    // The first log block has block 1 alone valid when it makes way: block 0 was written again in the second.
    write(&mut ftl, (0..7).map(|_| (0, 3)).chain([(1, 3)]));
    write(&mut ftl, (0..8).map(|_| (0, 3)));
    write(&mut ftl, [(2, 3)]);
    assert_eq!(counts(&ftl), Counts { copies: 8, fulls: 1, emptied: 1, erases: 2, ..Counts::default() });
    // The second has nothing but block 0; the third takes its place, with nothing valid in the one before.
    write(&mut ftl, (0..7).map(|_| (0, 3)));
    ftl.clear_counters();
    write(&mut ftl, [(3, 3)]);
    assert_eq!(counts(&ftl), Counts { emptied: 1, erases: 1, ..Counts::default() });
}

#[test]
fn a_logical_block_that_is_merged_takes_its_sequential_pages_along() {
    let mut ftl = filled(Fast, 2);
    write(&mut ftl, [(5, 4)].into_iter().chain((0..7).map(|turn| (turn, 1 + turn % 7))));
    // Of block 5 there are pages in both: the random log block was there first.
    write(&mut ftl, [(5, 0), (5, 1), (5, 2)]);
    assert_eq!(counts(&ftl), Counts::default());
    write(&mut ftl, [(8, 4)]);
    // Blocks 0 to 6 are merged, among them 5, whose sequential log block is erased as well.
    assert_eq!(counts(&ftl), Counts { copies: 56, fulls: 7, emptied: 1, erases: 9, ..Counts::default() });
}

#[test]
fn a_trim_leaves_pages_empty_that_a_merge_would_copy() {
    let mut ftl = filled(Bast, 1);
    write(&mut ftl, [(3, 4)]);
    for unit in [26, 30, 31] {
        InstantDriver::new(&mut ftl).trim(Lpa(unit));
    }
    write(&mut ftl, [(4, 4)]);
    // Of block 3 five are left, the last of them the sixth: one is left empty, and two are free.
    assert_eq!(counts(&ftl), Counts { copies: 5, padding: 1, fulls: 1, erases: 2, ..Counts::default() });
    ftl.clear_counters();
    write(&mut ftl, [(3, 6), (3, 7)]);
    assert_eq!(counts(&ftl), Counts::default(), "these go where they belong");
}

#[test]
fn too_few_spare_blocks_are_refused() {
    let enough = config(Bast, (2, 12, 8), 3);
    assert!(Ftl::new(&enough).is_ok());
    let more = FtlConfig { logical_units: enough.logical_units + 1, ..enough };
    let refused = Ftl::new(&more).map(drop);
    assert_eq!(refused, Err(FtlError::TooLittleSpare { blocks_per_plane: 12, needed: 13, spare: 4 }));
}

// ---- closed forms ------------------------------------------------------------------------------------

/// Write amplification of so many uniform random writes of single pages, of which none is the first of its logical block, behind as many
/// that are not counted.
fn measured(config: &FtlConfig, writes: u32) -> f64 {
    let mut ftl = Ftl::new(config).expect("a drive");
    let (units, pages) = (ftl.logical_units(), ftl.geometry().units_per_group());
    let mut driver = InstantDriver::new(&mut ftl);
    for unit in 0..units {
        driver.write(Lpa(unit)).expect("room");
    }
    let mut stream = RandomStream::new(7, "test", "block maps");
    for counted in [false, true] {
        if counted {
            ftl.clear_counters();
        }
        let page = |stream: &mut RandomStream| stream.below(u64::from(pages - 1)) as u32 + 1;
        let blocks = u64::from(units / pages);
        write(&mut ftl, (0..writes).map(|_| (stream.below(blocks) as u32, page(&mut stream))).collect::<Vec<_>>());
    }
    ftl.counters().write_amplification()
}

#[test]
fn random_writes_amplify_as_closed_forms_say() {
    let close = |what: &str, measured: f64, expected: f64, tolerance: f64| {
        let off = (measured / expected - 1.0).abs();
        assert!(off < tolerance, "{what}: {measured} is measured, {expected} expected");
    };
    // 40 logical blocks of 32 pages. Each write is of a block that is full: exactly its pages.
    close("block", measured(&config(Block, (1, 41, 32), 0), 2_000), 32.0, 1e-12);
    // One log block: whenever another logical block is written.
    let one = write_amplification::bast_of_one_log_block(40, 32);
    close("bast, one log", measured(&config(Bast, (1, 42, 32), 1), 20_000), one, 0.005);
    // A log block for each: whenever it is full.
    close("bast, a log for each", measured(&config(Bast, (1, 81, 32), 40), 60_000), 2.0, 0.01);
    // One random log block: as many merges as logical blocks have pages there.
    let shared = write_amplification::fast_of_one_random_log_block(40, 32);
    close("fast, one random log", measured(&config(Fast, (1, 43, 32), 2), 60_000), shared, 0.005);
}

// ---- naive model -------------------------------------------------------------------------------------

/// Habits of a random writer: how often it goes on where it was, and how often it trims [%].
const HABITS: [(u64, u64); 4] = [(0, 0), (50, 0), (90, 5), (97, 20)];

#[test]
fn counts_are_those_of_a_naive_model() {
    let mut stream = RandomStream::new(11, "test", "block maps");
    let mut seen = [Counts::default(); 3];
    for round in 0..240_u32 {
        let at = round as usize % 3;
        let scheme = [Block, Bast, Fast][at];
        let logs = match scheme {
            Block => 0,
            Bast => 1 + stream.below(5) as u32,
            Fast => 2 + stream.below(5) as u32,
        };
        let (pages, logical) = (1 + stream.below(9) as u32, 1 + stream.below(12) as u32);
        let config = config(scheme, (1, logical + logs + 1, pages), logs);
        let mut ftl = Ftl::new(&config).expect("a drive");
        let mut model = NaiveMap::new(scheme, pages, logs);
        let (goes_on, trims) = HABITS[stream.below(4) as usize];
        let mut unit = 0;
        for step in 0..2_000 {
            let next = unit + 1 < logical * pages && stream.below(100) < goes_on;
            unit = if next { unit + 1 } else { stream.below(u64::from(logical * pages)) as u32 };
            if stream.below(100) < trims {
                InstantDriver::new(&mut ftl).trim(Lpa(unit));
                model.trim(unit / pages, unit % pages);
            } else {
                InstantDriver::new(&mut ftl).write(Lpa(unit)).expect("room");
                model.write(unit / pages, unit % pages);
            }
            let told = format!("{scheme:?} of {logs} logs, {logical} blocks of {pages}, step {step} (unit {unit})");
            assert_eq!(counts(&ftl), model.counts, "{told}");
        }
        let total = &mut seen[at];
        let Counts { copies, padding, switches, partials, fulls, emptied, erases } = model.counts;
        *total = Counts {
            copies: total.copies + copies,
            padding: total.padding + padding,
            switches: total.switches + switches,
            partials: total.partials + partials,
            fulls: total.fulls + fulls,
            emptied: total.emptied + emptied,
            erases: total.erases + erases,
        };
    }
    let [block, bast, fast] = seen;
    assert!(block.fulls > 0 && block.padding > 0 && block.switches + block.partials + block.emptied == 0, "{block:?}");
    let met = [bast.switches, bast.partials, bast.fulls, bast.padding, fast.switches, fast.partials, fast.fulls];
    assert!(met.iter().chain([&fast.emptied, &fast.padding]).all(|count| *count > 50), "{seen:?}");
}

// ---- what is saved -----------------------------------------------------------------------------------

#[test]
fn a_map_goes_on_from_a_snapshot_like_the_one_that_was_saved() {
    for (scheme, logs) in [(Block, 0), (Bast, 2), (Fast, 3)] {
        let config = config(scheme, (2, 12, 8), logs);
        let mut ftl = Ftl::new(&config).expect("a drive");
        let mut stream = RandomStream::new(5, "test", "block maps");
        let units = u64::from(ftl.logical_units());
        let some = |ftl: &mut Ftl, count: u32, stream: &mut RandomStream| {
            let mut driver = InstantDriver::new(ftl);
            for turn in 0..count {
                let unit = Lpa(stream.below(units) as u32);
                if turn % 9 == 0 {
                    driver.trim(unit);
                } else {
                    driver.write(unit).expect("room");
                }
            }
            driver.settle();
        };
        some(&mut ftl, 700, &mut stream);
        let saved = |ftl: &Ftl| {
            let mut bytes: Vec<u8> = Vec::new();
            ftl.save(&mut bytes).expect("it is quiet");
            bytes
        };
        let bytes = saved(&ftl);
        let mut again = Ftl::new(&config).expect("a drive");
        again.load(&mut &bytes[..]).expect("what was saved");
        assert_eq!(saved(&again), bytes, "{scheme:?}");
        ftl.clear_counters();
        let mut same = RandomStream::new(6, "test", "block maps");
        some(&mut ftl, 500, &mut RandomStream::new(6, "test", "block maps"));
        some(&mut again, 500, &mut same);
        assert_eq!((saved(&ftl), *ftl.counters()), (saved(&again), *again.counters()), "{scheme:?}");
        // Whatever a byte is changed to: a map that works, or a refusal.
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << (at % 8);
            let mut other = Ftl::new(&config).expect("a drive");
            if other.load(&mut &wrong[..]).is_ok() {
                some(&mut other, 60, &mut RandomStream::new(9, "test", "block maps"));
                let open = (0..other.geometry().groups()).map(|group| other.group(BlockGroup(group)).state);
                assert!(open.into_iter().all(|state| state != GroupState::Draining));
            }
        }
    }
}
