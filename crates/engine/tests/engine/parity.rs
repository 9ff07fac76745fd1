//! Parity over dies in time: when its pages are programmed, who waits for them, and erases on all dies of a group. All times by
//! hand.

use ninescope_engine::WriteCompletion;
use ninescope_model::{Cause, Lpa, Op, Parity, ParityOver};

use crate::common::{Bench, Prefill, closed, flush, open, read, request, slc, write};

/// Command and address, the transfer of 16 KiB at 1 GB/s, and the program [ns].
const PROGRAM: u64 = 300 + 16_384 + 200_000;

/// Three dies on channels of their own with a stripe over them: a page of 16 KiB on each of two, and its parity.
fn bench() -> Bench {
    let tiny = Bench::tiny();
    Bench {
        channels: 3,
        parity: Some(Parity { stripe: 3, over: ParityOver::Channels }),
        timing: slc(50_000, 200_000),
        prefill: Prefill::Sequential,
        ..tiny
    }
}

/// Sixteen groups of 64 units, half of them filled: the ninth is written next, whose parity is on the first die, since that
/// goes back by one die from block to block.
#[test]
fn parity_is_programmed_when_its_stripe_is_full_and_a_read_waits_for_it_by_name() {
    let mut bench = bench();
    bench.engine.write_completion = WriteCompletion::Program;
    // Of the first group, whose data are on the first two dies, the third row lies on the first die: units 8 to 11.
    let late = ninescope_model::Request { submitted: ninescope_kernel::Ns(1_000), ..read(64, 8) };
    let device = bench.run(open(vec![write(0, 32), write(32, 32), late]));
    let seen = device.seen();
    let writes = &seen.meter.ops[Op::Write as usize];
    assert_eq!((writes.latency.min(), writes.latency.max()), (PROGRAM, PROGRAM), "on two dies beside each other");
    assert_eq!((seen.counters.host_page_programs, seen.counters.parity_page_programs), (2, 1));
    assert_eq!((seen.ftl.counters().host_units, seen.ftl.counters().parity_units), (8, 4));
    let reads = &seen.meter.ops[Op::Read as usize];
    // The die programs parity from the beginning, since the stripe was full at once.
    assert_eq!(reads.latency.max(), PROGRAM - 1_000 + 300 + 50_000 + 4_096);
    let parts = reads.attribution.total();
    assert_eq!(parts.of(Cause::DieParity), PROGRAM - 1_000);
    assert_eq!(parts.of(Cause::CommandArray), 50_300);
    assert_eq!(parts.total(), reads.latency.max());
}

#[test]
fn a_stripe_that_is_not_full_has_its_parity_in_the_controller_and_a_flush_does_not_wait_for_it() {
    let device = bench().run(closed(vec![write(0, 32), flush()]));
    let seen = device.seen();
    assert_eq!(seen.meter.ops[Op::Flush as usize].latency.max(), PROGRAM);
    assert_eq!((seen.counters.host_page_programs, seen.counters.parity_page_programs), (1, 0));
    // With the second page of the stripe it goes out.
    let device = bench().run(closed(vec![write(0, 32), flush(), write(32, 32), flush()]));
    assert_eq!(device.seen().counters.parity_page_programs, 1);
}

#[test]
fn a_flush_behind_a_full_stripe_waits_for_the_data_and_not_for_the_parity() {
    let mut bench = bench();
    // The die with parity of the ninth group reads for a while before it programs.
    bench.timing = slc(5_000_000, 200_000);
    let device = bench.run(open(vec![read(64, 8), write(0, 32), write(32, 32), flush()]));
    let seen = device.seen();
    assert_eq!(seen.meter.ops[Op::Flush as usize].latency.max(), PROGRAM);
    assert_eq!(seen.counters.parity_page_programs, 1);
    assert!(seen.now.0 >= 5_000_000 + PROGRAM, "it comes behind the read");
}

#[test]
fn a_group_is_erased_on_all_of_its_dies() {
    let bench = Bench { prefill: Prefill::Overwritten(3_000), logical_percent: 60, ..bench() };
    let mut stream = ninescope_kernel::RandomStream::new(2, "tests", "overwrites");
    let units = u64::from(bench.logical_units());
    let writes = (0..3_000).map(|_| request(Op::Write, stream.below(units) * 8, 8)).collect();
    let device = bench.run(closed(writes));
    let seen = device.seen();
    assert!(seen.counters.group_erases > 10);
    assert_eq!(seen.counters.erase_commands, 3 * seen.counters.group_erases);
    assert_eq!(seen.counters.parity_page_programs * 4, seen.ftl.counters().parity_units);
    let data = seen.ftl.counters().programmed_units() - seen.ftl.counters().parity_units;
    // A frontier of what is written and one of what is moved end within a stripe of eight units, and began in one.
    let whole = seen.ftl.counters().parity_units * 2;
    assert!(data.abs_diff(whole) <= 16, "{data} units of data, {whole} in whole stripes");
    assert!((0..units as u32).all(|unit| seen.ftl.translate(Lpa(unit)) != ninescope_model::Ppa::UNMAPPED));
}
