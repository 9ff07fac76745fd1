//! Blocks of one bit in a cell in time, worked out by hand: what they take, where the cliff is, and when they are folded.

use crate::common::tiered::latencies;
use crate::common::{Bench, Prefill, at, closed, open, read, timing, write};
use ninescope_engine::{Device, WriteCompletion};
use ninescope_ftl::{SlcCacheConfig, WhenSlcFull};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::{NandTiming, SlcTimes};
use ninescope_model::Pool;

const US: u64 = 1_000;
/// What pages take with one bit in a cell, and with three.
const READ: u64 = 20 * US;
const PROGRAM: u64 = 100 * US;
const READS: [u64; 3] = [50 * US, 60 * US, 70 * US];
const PROGRAMS: [u64; 3] = [500 * US, 600 * US, 900 * US];
const ERASE: u64 = 2_600 * US;
/// A page of 16 KiB [512 B].
const PAGE: u32 = 32;

/// A die with blocks of six pages, two with one bit in a cell, of which so many may be. Writes complete with their program, and
/// nothing but the die takes time.
fn bench(fixed: u32, borrowed: u32, when_full: WhenSlcFull) -> Bench {
    let mut bench = Bench {
        pages_per_block: 6,
        blocks_per_plane: 24,
        prefill: Prefill::Nothing,
        slc_cache: Some(SlcCacheConfig { pages: 2, fixed, borrowed, when_full }),
        timing: NandTiming {
            read: READS.map(Ns).to_vec(),
            program: PROGRAMS.map(Ns).to_vec(),
            slc: Some(SlcTimes { read: Ns(READ), program: Ns(PROGRAM) }),
            command_address: Ns::ZERO,
            channel_rate: Rate(0),
            ..timing()
        },
        ..Bench::tiny()
    };
    bench.engine.write_completion = WriteCompletion::Program;
    bench
}

fn page(number: u64) -> u64 {
    number * u64::from(PAGE)
}

fn folded(device: &Device) -> (u64, u64, u32) {
    let seen = device.seen();
    let counters = seen.ftl.counters();
    (counters.slc_units, counters.folded_units, seen.ftl.slc_groups(Pool(0)))
}

/// Two blocks of two pages are fast, and what comes then takes its page type's time; so do reads.
#[test]
fn the_cliff_is_where_the_blocks_end() {
    let writes = (0..7).map(|number| write(page(number), PAGE));
    let reads = [0, 3, 4, 6].map(|number| read(page(number), PAGE));
    let device = bench(2, 0, WhenSlcFull::Direct).run(closed(writes.chain(reads).collect()));
    let [first, second, third] = PROGRAMS;
    let expected = [PROGRAM, PROGRAM, PROGRAM, PROGRAM, first, second, third, READ, READ, READS[0], READS[2]];
    assert_eq!(latencies(&device), expected);
    assert_eq!(folded(&device), (16, 0, 2));
}

/// 24 free blocks of which one is in reserve; the trigger wants two more, and one is open.
#[test]
fn borrowed_blocks_end_where_collection_would_begin() {
    let mut bench = bench(0, 100, WhenSlcFull::Direct);
    bench.logical_percent = 70;
    let beyond = match &bench.gc_trigger {
        ninescope_ftl::policies::GcTriggerConfig::FreeGroups(trigger) => u64::from(trigger.beyond_reserve),
        other => panic!("{other:?}"),
    };
    let cached = 2 * (24 - 1 - beyond - 1);
    let device = bench.run(closed((0..=cached).map(|number| write(page(number % 90), PAGE)).collect()));
    let found = latencies(&device);
    assert!(found[..cached as usize].iter().all(|&latency| latency == PROGRAM), "{found:?}");
    assert_eq!(found[cached as usize], PROGRAMS[0]);
}

/// A die that has had nothing to do for a millisecond folds: four pages are read, two from each block, and programmed with three
/// bits in a cell; then the blocks are erased, and the next writes are fast again.
#[test]
fn a_die_that_rests_folds() {
    let mut bench = bench(2, 0, WhenSlcFull::Direct);
    bench.engine.slc_fold_after = Some(Ns(1_000 * US));
    let mut requests: Vec<_> = (0..4).map(|number| write(page(number), PAGE)).collect();
    let begins = 4 * PROGRAM + 1_000 * US;
    // It has begun: the write goes past the blocks that it finds full, when the program that runs has ended.
    requests.push(at(begins + 50 * US, write(page(10), PAGE)));
    requests.extend([at(100_000 * US, write(page(4), PAGE)), at(100_000 * US + PROGRAM, read(page(0), PAGE))]);
    let device = bench.run(open(requests));
    let found = latencies(&device);
    assert_eq!(found[..4], [PROGRAM, 2 * PROGRAM, 3 * PROGRAM, 4 * PROGRAM]);
    assert!(found[4] >= PROGRAMS[0], "{found:?}");
    assert_eq!(found[5], PROGRAM, "everything was folded long ago");
    assert!(READS.contains(&found[6]), "it lies in another block now: {found:?}");
    let (written, folded, in_use) = folded(&device);
    assert_eq!((written, folded, in_use), (20, 16, 1));
    let erases = device.seen().ftl.counters().erased_groups;
    assert_eq!((erases, device.seen().counters.die_rests > 0), (2, true));
}

/// Where writes wait, each page is programmed twice: in the long run a block of two pages takes its two programs, the reads and
/// programs of what is folded, and its erase.
#[test]
fn what_waits_for_folding_goes_at_its_pace() {
    let mut bench = bench(3, 0, WhenSlcFull::Wait);
    bench.blocks_per_plane = 60;
    bench.engine.queue_depth = 64;
    bench.limits.closed_queue_depth = 8;
    let pages = 120;
    let device = bench.run(closed((0..pages).map(|number| write(page(number), PAGE)).collect()));
    let (written, folded, _) = folded(&device);
    assert_eq!(written, 4 * pages);
    let blocks = folded / 8;
    assert_eq!(folded % 8, 0);
    assert!((pages / 2 - 3..pages / 2).contains(&blocks), "{blocks} blocks were folded");
    let mean: u64 = PROGRAMS.iter().sum::<u64>() / 3;
    let of_block = 2 * PROGRAM + 2 * READ + 2 * mean + ERASE;
    let time = device.seen().now.0;
    let expected = blocks * of_block;
    assert!(time.abs_diff(expected) < expected / 20, "{time} ns, by hand {expected}");
}
