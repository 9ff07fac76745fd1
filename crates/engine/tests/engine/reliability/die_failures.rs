//! Dies that fail as a whole, with parity over dies and without: degraded reads, and the rebuild on the die that takes the place. All
//! times by hand.
//!
//! Three dies with a stripe over them; a group is two pages of each. The first group is full: units 0 to 3 and 8 to 11 are on the
//! first die, 4 to 7 and 12 to 15 on the second, parity is on the third. Of the second group, whose parity is on the second die, a
//! stripe is written: units 16 to 19 on the first die, 20 to 23 on the third.

use ninescope_ecc::EccSchemeConfig;
use ninescope_engine::reliability::die_rebuild::DieRebuildConfig;
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, DieId, Lpa, Occupancy, Op, Parity, ParityOver, Request};
use serde_json::json;

use crate::reliability::drives::{CHECK, Coded, LATER, crc, never_corrected};
use crate::scenario::{
    COMMAND, Drive, Event, Outcome, PAGE_PROGRAM, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, policy_with,
    read, read_units, write_units,
};

/// A read of a unit that is checked.
const CHECKED: u64 = UNIT_READ + CHECK;
/// A read of the four units of a page that are checked one after the other.
pub const PAGE_CHECKED: u64 = COMMAND + READ + 4 * (UNIT_TRANSFER + CHECK);
/// A program of a page of four codewords, each encoded as long as it is checked.
pub const ENCODED_PROGRAM: u64 = PAGE_PROGRAM + 4 * CHECK;

/// The drive of which these dies fail, that many nanoseconds after the start; after the first page nothing is written again.
fn failing(over: ParityOver, dies: &[(u32, u64)]) -> Drive {
    let mut drive = Drive::with(|drive| {
        (drive.channels, drive.dies_per_channel) = if over == ParityOver::Channels { (3, 1) } else { (1, 3) };
        drive.parity = Some(Parity { stripe: 3, over });
        drive.blocks = 12;
        drive.logical_units = 48;
        drive.prepared = (0..24).collect();
    });
    drive.reliability.nand.ecc = Some(EccSchemeConfig::Crc(crc()).build().expect("a code"));
    drive.reliability.nand.die_failures = dies.iter().map(|&(die, at)| (DieId(die), Ns(at))).collect();
    drive.reliability.nand.rebuild = DieRebuildConfig { page_interval: Ns(100 * LATER), pages_in_flight: 1 };
    drive
}

/// The same, whose pages are written again with so much time from one to the next.
pub fn rebuilt(dies: &[(u32, u64)], page_interval: u64) -> Outcome {
    let mut drive = failing(ParityOver::Channels, dies);
    drive.reliability.nand.rebuild.page_interval = Ns(page_interval);
    // The last request keeps the drive going.
    drive.run(vec![read(LATER, 20)])
}

fn reads_of_die(run: &Outcome, die: u32) -> usize {
    run.issued(CommandKind::Read).iter().filter(|(_, command)| command.die == DieId(die)).count()
}

#[test]
fn a_read_of_a_die_that_failed_is_as_long_as_the_longest_of_the_others() {
    // Two pages on channels of their own are read side by side; on one channel the second one's data wait for those of the first.
    let both = COMMAND + READ + 2 * UNIT_TRANSFER + CHECK;
    for (over, expected) in [(ParityOver::Channels, CHECKED), (ParityOver::Dies, both)] {
        let run = failing(over, &[(0, 0)]).run(vec![read(LATER, 8)]);
        assert_eq!(run.latency(0), expected, "{over:?}");
        assert_eq!(run.parts(Op::Read), [(Cause::DegradedRead, expected)]);
        assert_eq!(reads_of_die(&run, 0), 0, "nothing is read of the die that failed");
        let counted = run.reliable();
        assert_eq!((counted.die_failures, counted.degraded_reads, counted.stripe_page_reads), (1, 1, 2));
        assert_eq!((counted.units_rebuilt, counted.reads_reported, run.ftl().healed_units), (1, 0, 0));
        // The other dies are read as ever.
        let run = failing(over, &[(0, 0)]).run(vec![read(LATER, 12)]);
        assert_eq!((run.latency(0), run.reliable().degraded_reads), (CHECKED, 0));
    }
}

#[test]
fn a_page_is_written_again_by_as_many_reads_as_there_are_others() {
    // One after the other: the rest of its stripe is read, and it is programmed.
    let run = rebuilt(&[(0, 0)], 0);
    let counted = run.reliable();
    assert_eq!((counted.pages_rebuilt, counted.rebuild_page_reads), (2, 4), "two reads for a page of three");
    assert_eq!((counted.dies_rebuilt, counted.rebuild_ns), (1, 2 * (PAGE_CHECKED + ENCODED_PROGRAM)));
    assert_eq!((counted.rebuild_pages_lost, counted.degraded_reads, counted.units_rebuilt), (0, 0, 0));
    assert_eq!((run.counters().rebuild_page_programs, run.ftl().rebuilt_units), (2, 8));
    let programs = run.issued(CommandKind::Program);
    assert!(programs.iter().all(|(_, command)| command.die == DieId(0)), "on the die that takes the place");
}

#[test]
fn a_rebuild_goes_at_its_rate() {
    let interval = 10_000_000;
    let run = rebuilt(&[(0, 5_000)], interval);
    assert_eq!(run.reliable().rebuild_ns, interval + PAGE_CHECKED + ENCODED_PROGRAM);
}

#[test]
fn what_was_written_again_is_read_of_the_die_again() {
    let mut drive = failing(ParityOver::Channels, &[(0, 0)]);
    drive.reliability.nand.rebuild.page_interval = Ns(0);
    // Of the block that was written in part the page is missing still: pages are programmed in order, and it goes on behind it.
    let run = drive.run(vec![read(LATER, 0), read(2 * LATER, 8), read(3 * LATER, 16)]);
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [CHECKED; 3]);
    assert_eq!((run.reliable().degraded_reads, reads_of_die(&run, 0)), (1, 2));
}

#[test]
fn two_dies_of_a_stripe_lose_what_lay_on_them() {
    let mut drive = failing(ParityOver::Channels, &[(0, 0), (1, 0)]);
    drive.reliability.nand.rebuild.page_interval = Ns(0);
    let reads = vec![read(LATER, 8), read(2 * LATER, 12), read(3 * LATER, 16), read(4 * LATER, 20)];
    let run = drive.run(reads);
    let counted = run.reliable();
    assert_eq!((counted.die_failures, counted.dies_rebuilt), (2, 2));
    // Both pages of both dies in the full group, each of which has one page of its stripe left.
    assert_eq!((counted.pages_rebuilt, counted.rebuild_pages_lost, counted.rebuild_page_reads), (0, 4, 8));
    for unit in [8, 12, 16] {
        assert_eq!(run.times(Event::Reported(Lpa(unit))).len(), 1, "unit {unit}");
    }
    assert_eq!(counted.reads_reported, 3, "the last one is on the third die");
    assert_eq!(run.latency(0), CHECKED, "the one page that is there is read all the same");
    assert_eq!(run.latency(3), CHECKED);
}

#[test]
fn a_second_die_of_a_stripe_that_fails_later_takes_what_was_written_again_with_it() {
    // The first die is whole again before the second one fails: all of it is found.
    let mut drive = failing(ParityOver::Channels, &[(0, 0), (1, LATER)]);
    drive.reliability.nand.rebuild.page_interval = Ns(0);
    let run = drive.run(vec![read(2 * LATER, 0), read(3 * LATER, 4), read(4 * LATER, 12)]);
    let counted = run.reliable();
    assert_eq!((counted.pages_rebuilt, counted.rebuild_pages_lost, counted.reads_reported), (4, 0, 0));
    assert_eq!([0, 1, 2].map(|id| run.latency(id)), [CHECKED; 3]);
}

#[test]
fn a_die_ends_what_it_works_on_before_it_fails_and_reads_that_wait_go_to_the_others() {
    // The second read waits on the first die when that is to fail, and is found by the others as soon as it has.
    let run = failing(ParityOver::Channels, &[(0, 2_000)]).run(vec![read(0, 0), read(1_000, 8)]);
    assert_eq!(run.latency(0), CHECKED);
    assert_eq!(run.latency(1), UNIT_READ - 1_000 + CHECKED);
    assert_eq!(reads_of_die(&run, 0), 1);
    let parts = run.parts(Op::Read);
    assert!(parts.contains(&(Cause::DieHostRead, UNIT_READ - 1_000)), "{parts:?}");
    assert!(parts.contains(&(Cause::DegradedRead, CHECKED)), "{parts:?}");
}

#[test]
fn a_program_on_a_die_that_is_to_fail_makes_room_for_a_read_no_more() {
    // Two pages and their parity begin at 0, each on a die that has a channel of its own. The read comes in the second of four pulses of the
    // first one's program, whose die is to fail 1 ns later: the program stops behind that pulse, goes on as soon as it can, to its end,
    // and the read is one of the other dies then.
    let comes = ENCODED_PROGRAM - PROGRAM + 150_000;
    let mut drive = failing(ParityOver::Channels, &[(0, comes + 1)]);
    drive.engine.suspend = policy_with(&json!({ "policy": "immediate", "programs": true }));
    let run = drive.run(vec![write_units(0, 24, 8), read(comes, 8)]);
    assert_eq!(run.latency(1), ENCODED_PROGRAM + RECOVER + RAMP - comes + CHECKED);
    assert_eq!((run.counters().suspends, run.counters().resumes, reads_of_die(&run, 0)), (1, 1, 0));
    assert_eq!(run.reliable().degraded_reads, 1);
}

#[test]
fn who_waits_behind_a_rebuild_waits_behind_that_and_not_behind_parity() {
    let page = COMMAND + READ + 4 * UNIT_TRANSFER;
    // A page is read of the two others and programmed on the first, and the second one is.
    let second_program = 2 * PAGE_CHECKED + ENCODED_PROGRAM;
    let cases = [
        // The second die reads for the rebuild, which lacks all of a page.
        (1_000, 4, page - 1_000, Cause::DieRebuild),
        // The first die programs the second page; the first one is there.
        (second_program + 1_000, 0, ENCODED_PROGRAM - 1_000, Cause::DieRebuild),
    ];
    for (at, unit, waited, cause) in cases {
        let mut drive = failing(ParityOver::Channels, &[(0, 0)]);
        drive.reliability.nand.rebuild.page_interval = Ns(0);
        let run = drive.run(vec![read(at, unit)]);
        assert_eq!(run.latency(0), waited + CHECKED, "unit {unit}");
        let parts = [(cause, waited), (Cause::CommandArray, COMMAND + READ), (Cause::Transfer, UNIT_TRANSFER)];
        assert_eq!(run.parts(Op::Read), [&parts[..], &[(Cause::Decode, CHECK)]].concat());
    }
    // What the host lacks is read behind parity.
    let mut run = failing(ParityOver::Channels, &[(0, 0)]).run(vec![read(LATER, 8), read(LATER + 1_000, 12)]);
    assert_eq!((run.latency(0), run.latency(1)), (CHECKED, UNIT_READ - 1_000 + CHECKED));
    let parts = run.parts(Op::Read);
    assert!(parts.contains(&(Cause::DieParity, UNIT_READ - 1_000)), "{parts:?}");
    assert!(parts.iter().all(|&(cause, _)| cause != Cause::DieRebuild), "{parts:?}");
    let dies = run.device.utilization().dies;
    let held = |die: usize, occupancy| dies[die][occupancy as usize];
    assert_eq!([0, 1, 2].map(|die| held(die, Occupancy::Parity)), [0, UNIT_READ, UNIT_READ]);
    // The first page is written again at the beginning.
    assert_eq!([0, 1, 2].map(|die| held(die, Occupancy::Rebuild)), [ENCODED_PROGRAM, page, page]);
}

#[test]
fn a_page_of_a_stripe_that_is_to_be_read_again_is_gone_with_its_die() {
    // What the first die held is found by the two others, whose pages decode when they are read again. The second die fails while
    // its page is decoded, or while that waits behind another read of the die to be read again.
    let page = COMMAND + READ + 4 * UNIT_TRANSFER;
    let [decoding, waiting] = [LATER + UNIT_READ + CHECK / 2, LATER + CHECKED + 1_000];
    let other = read_units(LATER + UNIT_READ - 1_000, 12, 4);
    let cases = [
        // The third die's page is read again meanwhile.
        (decoding, vec![], 2 * CHECKED, [1, 2]),
        // That is there 1.4 us before the second die is through with a page, and fails.
        (waiting, vec![other], UNIT_READ + page, [2, 4]),
    ];
    for (at, others, expected, reads) in cases {
        let mut drive = failing(ParityOver::Channels, &[(0, 0), (1, at)]).with_errors(never_corrected());
        drive.reliability.nand.retry = Some(policy_with(&json!({ "policy": "levels", "success": [1.0] })));
        let run = drive.run([vec![read(LATER, 8)], others].concat());
        assert_eq!((run.latency(0), run.times(Event::Reported(Lpa(8)))), (expected, vec![LATER + expected]));
        let commands = run.issued(CommandKind::Read);
        let since = |die| commands.iter().filter(|(at, read)| *at >= LATER && read.die == DieId(die)).count();
        assert_eq!([1, 2].map(since), reads, "reads of the second and the third die");
        assert_eq!(run.reliable().units_lost, 0);
    }
}

/// A die of a drive without parity.
fn alone(requests: Vec<Request>) -> Outcome {
    let mut drive = Drive::with(|drive| drive.prepared = (0..16).collect()).with_ecc(crate::reliability::drives::bch());
    drive.reliability.nand.die_failures = vec![(DieId(0), Ns(0))];
    drive.run(requests)
}

#[test]
fn without_parity_reads_report_errors_until_the_data_are_written_anew() {
    let run = alone(vec![read(LATER, 0), write_units(2 * LATER, 0, 4), read(3 * LATER, 0), read(4 * LATER, 4)]);
    let counted = run.reliable();
    assert_eq!((counted.missing_page_reads, counted.failed_reads, counted.reads_reported), (2, 2, 2));
    assert_eq!((counted.pages_rebuilt, counted.degraded_reads, counted.dies_rebuilt), (0, 0, 0));
    assert_eq!(run.times(Event::Reported(Lpa(0))).len(), 1);
    assert_eq!(run.times(Event::Reported(Lpa(4))).len(), 1);
    assert_eq!(run.latency(0), 0, "nothing is read");
}

/// All of it is overwritten, four times.
pub fn overwritten() -> Outcome {
    alone((0..24).map(|write| write_units(LATER + write * 10_000_000, write * 4 % 24, 4)).collect())
}

#[test]
fn what_is_overwritten_everywhere_is_erased_and_not_missing_any_more() {
    let run = overwritten();
    // Four pages lay on the die, of two blocks, and both were erased.
    assert_eq!(run.reliable().missing_pages_erased, 4);
    assert_eq!(run.reliable().units_lost, 0, "nothing of them had to be moved");
}
