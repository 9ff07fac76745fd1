//! Cache reads: scenes worked out by hand from the constants of `scenario`, and the rate of reads that queue without end, which is that
//! of the array or that of the channel, whichever is slower, and not of both one after the other.

use crate::scenario::{
    COMMAND, Drive, ERASE_LOOP, Outcome, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, mixed_requests,
    policy, policy_with, read, read_units, write, write_units,
};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Occupancy, Op};
use serde_json::json;

/// What a page takes from one register to the other [ns].
const MOVE: u64 = 3_000;
/// A page of the default drive on the channel [ns].
const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;

/// One die of one plane that caches reads.
fn caching() -> Drive {
    Drive::with(|drive| {
        (drive.pages, drive.blocks) = (32, 16);
        (drive.logical_units, drive.prepared) = (1_024, (0..1_024).collect());
        drive.timing.cache_read = Some(Ns(MOVE));
    })
}

/// The first unit of a page of the host's space.
fn page(number: u64) -> u64 {
    4 * number
}

/// The same drive without a second register.
fn without(mut drive: Drive) -> Drive {
    drive.timing.cache_read = None;
    drive
}

/// The second of two reads is sensed while the page of the first one leaves: for the mechanisms.
pub fn two_reads_in_a_row() -> Outcome {
    caching().run(vec![read(0, page(0)), read(0, page(1))])
}

// ---- two reads -------------------------------------------------------------------------------------

#[test]
fn a_page_leaves_while_the_next_one_is_sensed() {
    let mut run = two_reads_in_a_row();
    // The first page is sensed, the second command is sent, the page moves, and then it leaves and the array goes on.
    let sensed = COMMAND + READ;
    let moved = sensed + COMMAND + MOVE;
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [moved + UNIT_TRANSFER, moved + READ + UNIT_TRANSFER]);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieHostRead, sensed),
            (Cause::Channel, COMMAND),
            (Cause::CommandArray, 2 * (COMMAND + READ + MOVE)),
            (Cause::Transfer, 2 * UNIT_TRANSFER),
        ]
    );
    assert_eq!(run.counters().cached_reads, 1);
    // The die is at reads all the time; what leaves from the second register does not keep it.
    let held = run.device.utilization().dies[0];
    assert_eq!(held[Occupancy::HostRead as usize], moved + READ + UNIT_TRANSFER);
    let run = without(caching()).run(vec![read(0, page(0)), read(0, page(1))]);
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [UNIT_READ, 2 * UNIT_READ]);
    assert_eq!(run.counters().cached_reads, 0);
}

#[test]
fn a_read_by_itself_takes_what_it_took() {
    // The second one comes when the first is on its way out.
    let reads = || vec![read(0, page(0)), read(COMMAND + READ + 10, page(1))];
    let run = caching().run(reads());
    assert_eq!([0, 1].map(|id| run.completed_at(id)), [UNIT_READ, 2 * UNIT_READ]);
    assert_eq!(
        (run.counters().cached_reads, run.parts(Op::Read)),
        (0, without(caching()).run(reads()).parts(Op::Read))
    );
}

#[test]
fn a_page_waits_in_the_die_for_the_second_register() {
    let mut drive = caching();
    // 60 us for a unit: longer than the array takes.
    drive.timing.channel_rate = Rate(4_096_000_000_u64 / 60);
    let transfer = drive.parts().1.data_time(4_096).0;
    assert!(transfer > READ + MOVE + COMMAND);
    let run = drive.run((0..3).map(|number| read(0, page(number))).collect());
    let first = COMMAND + READ + COMMAND + MOVE + transfer;
    let second = first + COMMAND + MOVE + transfer;
    // The last one leaves from the register that it was sensed into, as soon as the channel is free.
    assert_eq!([0, 1, 2].map(|id| run.completed_at(id)), [first, second, second + transfer]);
    let waits_for_die = (COMMAND + READ) + first;
    // What waits in the die waits for the channel, on which the page before it leaves; so do those who wait for the die.
    let waited = [COMMAND, transfer - READ + COMMAND, transfer - READ];
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieWaitingForChannel, transfer - READ),
            (Cause::DieHostRead, waits_for_die - (transfer - READ)),
            (Cause::Channel, waited.iter().sum()),
            (Cause::CommandArray, 3 * (COMMAND + READ) + 2 * MOVE + 2 * MOVE),
            (Cause::Transfer, 3 * transfer),
        ]
    );
    assert_eq!(run.counters().cached_reads, 2);
}

#[test]
fn pages_of_two_planes_move_together() {
    let mut drive = caching();
    (drive.planes, drive.frontier_planes) = (2, 2);
    let reads = [0, 1, 2, 3].map(|number| read(0, page(number)));
    let run = drive.run(reads.to_vec());
    let moved = 2 * COMMAND + READ + 2 * COMMAND + MOVE;
    let first = [moved + UNIT_TRANSFER, moved + 2 * UNIT_TRANSFER];
    let second = [moved + READ + UNIT_TRANSFER, moved + READ + 2 * UNIT_TRANSFER];
    assert_eq!([0, 1, 2, 3].map(|id| run.completed_at(id)), [first[0], first[1], second[0], second[1]]);
    assert_eq!((run.counters().multi_plane_reads, run.counters().cached_reads), (2, 1));
}

#[test]
fn one_request_of_two_pages_waits_for_its_own_parts_alone() {
    let run = caching().run(vec![read_units(0, page(0), 8)]);
    let sensed = COMMAND + READ;
    assert_eq!(run.completed_at(0), sensed + COMMAND + MOVE + READ + PAGE_TRANSFER);
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, COMMAND + MOVE + READ), (Cause::Transfer, PAGE_TRANSFER), (Cause::OwnParts, sensed),]
    );
}

// ---- beside other things ---------------------------------------------------------------------------

#[test]
fn a_program_finds_both_registers_free() {
    let reads = || vec![read(0, page(0)), write_units(10, page(8), 4), read(20, page(1))];
    // Reads go first: the second one follows the first, and the program both.
    let run = caching().run(reads());
    let second = COMMAND + READ + COMMAND + MOVE + READ + UNIT_TRANSFER;
    assert_eq!((run.completed_at(2), run.counters().cached_reads), (second, 1));
    assert_eq!(run.issued(CommandKind::Program)[0].0, second);
    // In the order in which they came nothing follows the first one but the program, which needs its register.
    let mut drive = caching();
    drive.engine.scheduler = policy("fifo");
    let run = drive.run(reads());
    assert_eq!(run.issued(CommandKind::Program)[0].0, UNIT_READ);
    let programmed = UNIT_READ + COMMAND + PAGE_TRANSFER + PROGRAM;
    assert_eq!((run.completed_at(2), run.counters().cached_reads), (programmed + UNIT_READ, 0));
}

#[test]
fn beside_a_suspended_erase_pages_leave_from_the_register_they_were_sensed_into() {
    let mut drive = Drive::before_erase();
    drive.timing.cache_read = Some(Ns(MOVE));
    drive.engine.suspend = policy_with(&json!({ "policy": "between-loops" }));
    let run = drive.run(vec![write(0, 16), read(500_000, 20), read(500_010, 21)]);
    let begin = COMMAND + ERASE_LOOP + RECOVER;
    assert_eq!([1, 2].map(|id| run.completed_at(id)), [begin + UNIT_READ, begin + 2 * UNIT_READ]);
    assert_eq!((run.counters().suspends, run.counters().cached_reads), (1, 0));
    assert_eq!(run.ended(CommandKind::Erase), [begin + 2 * UNIT_READ + RAMP + 2 * ERASE_LOOP]);
}

#[test]
fn garbage_collection_and_suspended_operations_go_with_it() {
    let run = |cache_read| {
        let mut drive = Drive::busy();
        drive.timing.cache_read = cache_read;
        drive.engine.suspend = policy("immediate");
        let requests = mixed_requests(7, 6_000, drive.logical_units, 20_000, 60);
        drive.run(requests)
    };
    let (cached, plain) = (run(Some(Ns(500))), run(None));
    let counters = cached.counters();
    assert!(counters.cached_reads > 200 && counters.suspends > 50 && counters.gc_page_reads > 500, "{counters:?}");
    assert_eq!(plain.counters().cached_reads, 0);
}

// ---- rates -----------------------------------------------------------------------------------------

/// A hundred reads of whole pages, all at once: how far apart their ends are, from the second to the last but one [ns].
fn apart(cache_read: Option<u64>, transfer: u64) -> u64 {
    let mut drive = caching();
    drive.timing.cache_read = cache_read.map(Ns);
    drive.timing.channel_rate = Rate(16_384_000_000_000 / transfer);
    let run = drive.run((0..100).map(|number| read_units(0, page(number), 4)).collect());
    let ends = [1, 98].map(|id| run.completed_at(id));
    (ends[1] - ends[0]) / 97
}

#[test]
fn a_die_reads_at_the_rate_of_its_array_or_of_its_channel_and_not_of_both() {
    for transfer in [1_000, 4_096, 16_384, 40_960, 65_536, 102_400] {
        assert_eq!(apart(None, transfer), COMMAND + READ + transfer, "one after the other");
        for time in [0, MOVE] {
            assert_eq!(apart(Some(time), transfer), COMMAND + time + READ.max(transfer), "{transfer} and {time} ns");
        }
    }
}
