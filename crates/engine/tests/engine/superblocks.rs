//! Super-blocks in time: rows go round the dies, and all of them erase. All times by hand.

use ninescope_engine::WriteCompletion;
use ninescope_model::{Op, ParityOver, Superblock};

use crate::common::{Bench, Prefill, closed, open, request, slc, write};

/// Command and address, the transfer of 16 KiB at 1 GB/s, and the program [ns].
const PROGRAM: u64 = 300 + 16_384 + 200_000;

/// Four dies, two on each channel, in one super-block.
fn bench() -> Bench {
    Bench {
        channels: 2,
        dies_per_channel: 2,
        superblock: Some(Superblock { dies: 4, over: ParityOver::Drive }),
        timing: slc(50_000, 200_000),
        ..Bench::tiny()
    }
}

#[test]
fn rows_go_round_the_channels_first_and_one_transfer_waits_for_the_other() {
    let mut bench = bench();
    bench.engine.write_completion = WriteCompletion::Program;
    let pages = |count: u64| open((0..count).map(|page| write(page * 32, 32)).collect());
    let latencies = |count| {
        let device = bench.run(pages(count));
        let seen = device.seen();
        assert_eq!((seen.counters.host_page_programs, seen.counters.parity_page_programs), (count, 0));
        let latency = &seen.meter.ops[Op::Write as usize].latency;
        (latency.min(), latency.max())
    };
    assert_eq!(latencies(2), (PROGRAM, PROGRAM), "on two channels");
    assert_eq!(
        latencies(4),
        (PROGRAM, PROGRAM + 300 + 16_384),
        "the second die of a channel is sent its data behind the first"
    );
    assert_eq!(latencies(5).1, PROGRAM + PROGRAM, "the fifth page is the second one of the first die");
}

#[test]
fn a_group_is_erased_on_all_of_its_dies() {
    let mut bench = Bench { prefill: Prefill::Overwritten(3_000), ..bench() };
    bench.engine.queue_depth = 4;
    let device = bench.run(closed((0..1_200).map(|number| write(number * 7 % 64 * 32, 32)).collect()));
    let counters = device.seen().counters;
    assert!(counters.group_erases > 0, "{counters:?}");
    assert_eq!(counters.erase_commands, 4 * counters.group_erases);
}

#[test]
fn a_width_of_one_is_no_super_block() {
    let digest = |superblock| {
        let bench = Bench { superblock, ..Bench::tiny().busy() };
        let writes =
            (0..2_000).map(|number| request(Op::Write, number * 7_919 % (bench.logical_sectors() - 8), 8)).collect();
        bench.run(closed(writes)).digest()
    };
    assert_eq!(digest(Some(Superblock { dies: 1, over: ParityOver::Drive })), digest(None));
    assert_ne!(digest(Some(Superblock { dies: 2, over: ParityOver::Drive })), digest(None));
}
