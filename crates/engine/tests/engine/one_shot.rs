//! Wordlines that are programmed in one go: scenes worked out by hand from the constants of `scenario`, and the rate at which a die, or a
//! channel of many dies, takes what is written.

use crate::scenario::{
    COMMAND, Drive, Outcome, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, flush, mixed_requests,
    policy_with, read, read_units, write, write_units,
};
use ninescope_engine::{SuspendPolicyConfig, WriteCompletion};
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Cause, DieId, Op};

/// For how long a plane is busy with a page before it takes the next one of its wordline [ns].
const LOAD: u64 = 3_000;
/// Command and data of a page on the channel [ns].
const PAGE_SENT: u64 = COMMAND + 4 * UNIT_TRANSFER;
/// The three pages of a wordline of one plane [ns].
const SENT: u64 = 3 * PAGE_SENT + 2 * LOAD;
/// From the first command to the end of the array phase, on an idle die [ns].
const WORDLINE: u64 = SENT + PROGRAM;

/// One die of one plane, whose cells have three bits; blocks of three wordlines.
fn tlc() -> Drive {
    Drive::with(|drive| {
        (drive.pages, drive.pages_per_program, drive.blocks) = (9, 3, 8);
        drive.logical_units = 72;
        drive.timing.program_load = Ns(LOAD);
    })
}

/// The same pages, programmed one by one, in a third of the time each.
fn by_page() -> Drive {
    let mut drive = tlc();
    drive.pages_per_program = 1;
    drive.timing.program_load = Ns::ZERO;
    drive.timing.program = vec![Ns(PROGRAM / 3)];
    drive
}

/// Programs are stopped at the end of their pulse when a read comes.
fn suspends_programs() -> SuspendPolicyConfig {
    policy_with(&serde_json::json!({ "policy": "immediate", "programs": true }))
}

/// Programs that were sent, with their times.
fn programs(run: &Outcome) -> Vec<(u64, FlashCommand)> {
    run.issued(CommandKind::Program)
}

/// Somebody waits for one unit, whose wordline has eleven more: for the mechanisms.
pub fn a_flush_of_one_unit_of_a_wordline() -> Outcome {
    tlc().run(vec![write(0, 0), flush(10)])
}

// ---- one wordline ----------------------------------------------------------------------------------

#[test]
fn the_pages_of_a_wordline_come_one_after_the_other_and_are_programmed_at_once() {
    let run = tlc().run(vec![write_units(0, 0, 12)]);
    let sent = programs(&run);
    assert_eq!(sent.len(), 1);
    let (at, command) = sent[0];
    assert_eq!((at, command.planes, command.page[0], command.bytes[0]), (0, 1, 0, 3 * 16_384));
    assert_eq!(run.ended(CommandKind::Program), [WORDLINE]);
    let counters = run.counters();
    assert_eq!((counters.program_commands, counters.one_shot_programs, counters.host_page_programs), (1, 1, 3));
    assert_eq!((counters.padded_pages, counters.wordline_padding_pages), (0, 0));
    assert_eq!(run.device.nand().programmed_pages(DieId(0), 0, command.block[0]), 3);
}

#[test]
fn pages_wait_in_the_controller_until_their_wordline_is_full() {
    let run = tlc().run(vec![
        write_units(0, 0, 8),
        read_units(1_000_000, 0, 4),
        write_units(2_000_000, 8, 4),
        read_units(2_000_000 + SENT + 10, 4, 4),
        read(2_000_000 + WORDLINE, 0),
    ]);
    assert_eq!(programs(&run).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2_000_000]);
    // Before and during its program what is read comes from the controller, and then from the media.
    assert_eq!([1, 3].map(|id| run.latency(id)), [0, 0]);
    assert_eq!((run.latency(4), run.counters().forwarded_units), (UNIT_READ, 8));
}

#[test]
fn a_flush_pads_the_rest_of_a_wordline() {
    let run = a_flush_of_one_unit_of_a_wordline();
    assert_eq!((programs(&run)[0].0, run.latency(1)), (10, WORDLINE));
    let counters = run.counters();
    assert_eq!((counters.padded_pages, counters.wordline_padding_pages), (1, 2));
    assert_eq!((counters.host_page_programs, run.ftl().padding_units), (3, 11));
    // The next write begins the next wordline.
    let run = tlc().run(vec![write(0, 0), flush(10), write_units(20, 4, 12)]);
    let pages: Vec<u32> = programs(&run).iter().map(|(_, program)| program.page[0]).collect();
    assert_eq!(pages, [0, 3]);
}

#[test]
fn a_flush_at_the_end_of_a_page_pads_whole_pages_alone() {
    let run = tlc().run(vec![write_units(0, 0, 8), flush(10), flush(2_000_000)]);
    assert_eq!((run.latency(1), run.latency(2)), (WORDLINE, 0), "nothing is open any more");
    let counters = run.counters();
    assert_eq!((counters.padded_pages, counters.wordline_padding_pages, run.ftl().padding_units), (0, 1, 4));
}

#[test]
fn without_a_write_buffer_a_write_takes_a_wordline_for_itself() {
    let mut drive = tlc();
    drive.engine.write_completion = WriteCompletion::Program;
    let run = drive.run(vec![write(0, 0), write(WORDLINE, 1)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [WORDLINE; 2]);
    assert_eq!(
        run.parts(Op::Write),
        [(Cause::CommandArray, 2 * (3 * COMMAND + 2 * LOAD + PROGRAM)), (Cause::Transfer, 2 * 12 * UNIT_TRANSFER)]
    );
    assert_eq!((run.counters().wordline_padding_pages, run.ftl().padding_units), (4, 22));
}

#[test]
fn the_first_unit_of_a_wordline_starts_its_clock() {
    let mut drive = tlc();
    drive.engine.page_timeout = Some(Ns(100_000));
    // The first page is full at once, the second one after a while; the other wordline is full in time.
    let requests = vec![
        write_units(0, 0, 4),
        write_units(60_000, 4, 4),
        write_units(1_000_000, 8, 4),
        write_units(1_050_000, 12, 8),
    ];
    let run = drive.run(requests);
    assert_eq!(programs(&run).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [100_000, 1_050_000]);
    let counters = run.counters();
    assert_eq!((counters.page_timeouts, counters.padded_pages, counters.wordline_padding_pages), (1, 0, 1));
}

#[test]
fn a_prepared_drive_holds_whole_wordlines() {
    let mut drive = tlc();
    drive.prepared = (0..13).collect();
    let run = drive.run(vec![write_units(0, 0, 12), read(2 * WORDLINE, 12)]);
    let (at, command) = programs(&run)[0];
    assert_eq!((at, command.page[0], run.latency(1)), (0, 6, UNIT_READ));
}

// ---- several planes --------------------------------------------------------------------------------

/// The same die with two planes that are filled together.
fn two_planes() -> Drive {
    let mut drive = tlc();
    (drive.planes, drive.frontier_planes) = (2, 2);
    drive
}

#[test]
fn a_wordline_of_all_planes_is_one_command() {
    for multi_plane in [true, false] {
        let mut drive = two_planes();
        drive.engine.multi_plane = multi_plane;
        // Units go round the planes page by page: the wordlines of both are full with the sixth page.
        let run = drive.run((0..6).map(|page| write_units(page, 4 * page, 4)).collect());
        let sent = programs(&run);
        assert_eq!(sent.len(), 1, "multi_plane = {multi_plane}");
        let (at, command) = sent[0];
        assert_eq!((at, command.planes, command.page[0], command.page[1]), (5, 0b11, 0, 0));
        assert_eq!(run.ended(CommandKind::Program), [5 + 6 * PAGE_SENT + 2 * LOAD + PROGRAM]);
        assert_eq!(run.counters().host_page_programs, 6);
    }
}

#[test]
fn a_flush_pads_the_wordlines_of_all_planes() {
    let run = two_planes().run(vec![write_units(0, 0, 5), flush(10)]);
    assert_eq!(run.latency(1), 6 * PAGE_SENT + 2 * LOAD + PROGRAM);
    let counters = run.counters();
    assert_eq!((counters.padded_pages, counters.wordline_padding_pages, run.ftl().padding_units), (1, 4, 19));
}

// ---- reads meanwhile -------------------------------------------------------------------------------

#[test]
fn a_read_waits_for_all_of_a_program_and_by_page_for_a_third_of_it() {
    let run = |mut drive: Drive| {
        drive.prepared = (36..48).collect();
        let meanwhile = SENT + 10;
        let run = drive.run(vec![write_units(0, 0, 12), read(meanwhile, 40)]);
        (meanwhile, run.latency(1), run.parts(Op::Read))
    };
    let (came, latency, parts) = run(tlc());
    assert_eq!(latency, WORDLINE - came + UNIT_READ);
    assert_eq!(
        parts,
        [
            (Cause::DieHostProgram, WORDLINE - came),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER)
        ]
    );
    // By page the first of three programs is over after a page and a third of the time, and the read is next.
    let (came, latency, _) = run(by_page());
    assert_eq!(latency, PAGE_SENT + PROGRAM / 3 - came + UNIT_READ);
}

#[test]
fn a_wordline_is_suspended_as_a_page_is() {
    let mut drive = tlc();
    drive.prepared = (36..48).collect();
    drive.engine.suspend = suspends_programs();
    let run = drive.run(vec![write_units(0, 0, 12), read(SENT + 10, 40), read(SENT + 20, 4)]);
    // Pulses are of 100 us: the read comes in the first one, and unit 4 is in the controller still.
    let stopped = SENT + PROGRAM / 4;
    assert_eq!(run.completed_at(1), stopped + RECOVER + UNIT_READ);
    assert_eq!(run.latency(2), 0);
    assert_eq!(run.ended(CommandKind::Program), [stopped + RECOVER + UNIT_READ + RAMP + 3 * PROGRAM / 4]);
    assert_eq!(run.counters().suspends, 1);
}

// ---- garbage collection ----------------------------------------------------------------------------

#[test]
fn moves_wait_for_their_wordline_as_writes_do() {
    let mut drive = Drive::busy();
    (drive.pages, drive.pages_per_program, drive.blocks) = (9, 3, 16);
    drive.engine.buffered_pages = 16;
    drive.engine.suspend = suspends_programs();
    drive.timing.program_load = Ns(LOAD);
    let requests = mixed_requests(7, 8_000, drive.logical_units, 20_000, 40);
    let run = drive.run(requests);
    let sent = programs(&run);
    assert!(sent.iter().all(|(_, program)| program.planes == 0b11 && program.page[0] % 3 == 0));
    let counters = run.counters();
    assert!(counters.gc_page_programs > 500 && counters.suspends > 50, "{counters:?}");
    assert_eq!(counters.host_page_programs + counters.gc_page_programs, 6 * sent.len() as u64);
    assert_eq!(counters.one_shot_programs, sent.len() as u64);
}

// ---- rates -----------------------------------------------------------------------------------------

/// Wordlines written all at once to so many dies of one channel: when each was sent.
fn times_sent(dies: u32, program: u64, wordlines: u64) -> Vec<u64> {
    let mut drive = tlc();
    drive.dies_per_channel = dies;
    (drive.pages, drive.blocks) = (90, 16);
    drive.logical_units = dies * 90 * 4 * 8;
    drive.timing.program = vec![Ns(program)];
    let run = drive.run((0..wordlines).map(|number| write_units(0, 12 * number, 12)).collect());
    programs(&run).iter().map(|(at, _)| *at).collect()
}

#[test]
fn one_die_takes_a_wordline_in_the_time_of_its_pages_and_its_program() {
    let sent = times_sent(1, PROGRAM, 60);
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == WORDLINE), "{sent:?}");
}

#[test]
fn many_dies_take_wordlines_as_fast_as_the_channel_brings_them() {
    // Five dies are sent a wordline each while one of them programs: 5 x 18.3 us are more than 18.3 + 60 us.
    let sent = times_sent(5, 60_000, 60);
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == SENT), "{sent:?}");
    // Three are not enough: each goes on when it is through.
    let sent = times_sent(3, 60_000, 60);
    assert!(sent.windows(4).all(|four| four[3] - four[0] == SENT + 60_000), "{sent:?}");
}
