//! Every modelled mechanism acts in some scene and shows in its counter, with times computed by hand from
//! the constants of `scenario`. The last test fails when a counter is added that no scene makes rise.

use std::collections::BTreeSet;

use crate::cache_reads::two_reads_in_a_row;
use crate::collection_times::{put_off_until_it_is_overdue, rest_before_the_first_request};
use crate::copyback::a_page_is_copied;
use crate::one_shot::a_flush_of_one_unit_of_a_wordline;
use crate::plane_reads::two_reads_apart;
use crate::scenario::{
    COMMAND, Drive, ERASE, Outcome, PAGE_PROGRAM, PROGRAM, READ, UNIT_READ, UNIT_TRANSFER, flush, mixed_requests,
    policy, policy_with, read, read_units, scenes, sectors, trim, write, write_units,
};
use crate::throttle::six_writes_that_are_held_back;
use crate::trims::{trimmed_before_collection, trims_at_rest, trims_before_writes};
use crate::whole_erase::formatted;
use ninescope_engine::{
    ChannelArbitrationConfig, EngineCounters, MergeBy, SimulationError, TransactionSchedulerConfig, WriteCompletion,
};
use ninescope_ftl::FtlCounters;
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Op, Ppa, Request};

/// Time of one 16 KiB page on the channel [ns].
const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;

/// Two planes that share a frontier.
fn two_planes() -> Drive {
    Drive::with(|drive| {
        drive.planes = 2;
        drive.frontier_planes = 2;
        drive.logical_units = 48;
    })
}

// ---- planes ----------------------------------------------------------------------------------------

fn stripe_written_and_read() -> Outcome {
    two_planes().run(vec![write_units(0, 0, 8), read_units(1_000_000, 0, 8)])
}

#[test]
fn a_full_stripe_is_programmed_and_read_by_one_command_each() {
    let run = stripe_written_and_read();
    let program = &run.issued(CommandKind::Program)[0];
    assert_eq!((program.0, program.1.planes), (0, 0b11));
    assert_eq!(run.ended(CommandKind::Program), [2 * COMMAND + 2 * PAGE_TRANSFER + PROGRAM], "data of both, one array");
    assert_eq!(run.latency(1), 2 * COMMAND + READ + 2 * PAGE_TRANSFER);
    let counters = run.counters();
    assert_eq!((counters.program_commands, counters.multi_plane_programs, counters.host_page_programs), (1, 1, 2));
    assert_eq!((counters.read_commands, counters.multi_plane_reads, counters.host_page_reads), (1, 1, 2));
}

fn group_of_two_planes_erased() -> Outcome {
    // Group 0 of 16 units is overwritten; opening the sixth of eight groups starts its erase.
    let mut drive = two_planes();
    drive.prepared = (0..48).chain(0..32).collect();
    drive.run(vec![write(0, 32)])
}

#[test]
fn an_erase_of_a_group_is_one_command_to_all_its_planes() {
    let run = group_of_two_planes_erased();
    assert_eq!(run.issued(CommandKind::Erase)[0].1.planes, 0b11);
    assert_eq!(run.ended(CommandKind::Erase), [2 * COMMAND + ERASE]);
    assert_eq!((run.counters().erase_commands, run.counters().multi_plane_erases), (1, 1));
    assert_eq!((run.counters().group_erases, run.ftl().erased_groups), (1, 1));
}

#[test]
fn planes_with_a_shared_frontier_wait_for_the_stripe_and_independent_planes_do_not() {
    let one_page = |frontier_planes| {
        let mut drive = two_planes();
        drive.frontier_planes = frontier_planes;
        drive.run(vec![write_units(0, 0, 4)])
    };
    assert_eq!(one_page(2).counters().program_commands, 0, "the other plane's page is not full");
    assert_eq!(one_page(1).counters().program_commands, 1);
}

#[test]
fn reads_that_wait_are_merged_as_far_as_the_window_goes() {
    // Even pages of the host's space lie in plane 0, odd ones in plane 1. One is read, the page before it waits, and behind that
    // so many others of its plane; the page beside it, in the other plane, waits last.
    let merged = |window: u32, between: u64| {
        let mut drive = two_planes();
        (drive.frontier_planes, drive.pages, drive.logical_units) = (1, 32, 256);
        drive.page_allocation = policy("static");
        drive.prepared = (0..128).collect();
        drive.engine.merge_window = window;
        let mut requests = vec![read_units(0, 8, 4), read_units(10, 0, 4)];
        requests.extend((0..between).map(|number| read_units(11 + number, 16 + 8 * number, 4)));
        requests.push(read_units(100, 4, 4));
        drive.run(requests).counters().multi_plane_reads
    };
    assert_eq!([7, 8].map(|between| merged(8, between)), [1, 0]);
    assert_eq!([0, 1].map(|between| merged(1, between)), [1, 0]);
    assert_eq!(merged(u32::MAX, 12), 1);
}

#[test]
fn without_multi_plane_commands_the_pages_of_a_stripe_go_one_by_one() {
    let mut drive = two_planes();
    drive.engine.multi_plane = false;
    let run = drive.run(vec![write_units(0, 0, 8), read_units(1_000_000, 0, 8)]);
    assert_eq!(run.ended(CommandKind::Program), [PAGE_PROGRAM, 2 * PAGE_PROGRAM]);
    assert_eq!(run.latency(1), 2 * (COMMAND + READ + PAGE_TRANSFER));
    assert_eq!((run.counters().multi_plane_programs, run.counters().multi_plane_reads), (0, 0));
}

#[test]
fn a_stripe_that_preparing_left_half_programmed_is_completed_plane_by_plane() {
    let mut drive = two_planes();
    drive.prepared = (0..4).collect();
    let run = drive.run(vec![flush(0), write_units(10, 4, 4)]);
    assert_eq!(run.latency(0), 0, "nothing waits for the FLUSH");
    let programs = run.issued(CommandKind::Program);
    assert_eq!(programs.len(), 1);
    assert_eq!((programs[0].0, programs[0].1.planes, programs[0].1.first_page()), (10, 0b10, 0));
}

#[test]
fn merging_planes_never_reorders_the_programs_of_one_plane() {
    // Two independent planes, even pages of the host's space in plane 0. Behind the first program wait plane 0
    // page 1, plane 1 page 0, plane 0 page 2, plane 1 page 1: page 1 of plane 1 must not pass its page 0.
    let mut drive = two_planes();
    drive.frontier_planes = 1;
    drive.pages = 4;
    drive.page_allocation = policy("static");
    let pages = [2, 1, 4, 3].map(|page| write_units(10, page * 4, 4));
    let run = drive.run([write_units(0, 0, 4)].into_iter().chain(pages).collect());
    let order: Vec<(u8, u32)> =
        run.issued(CommandKind::Program).iter().map(|(_, program)| (program.planes, program.first_page())).collect();
    assert_eq!(order, [(0b01, 0), (0b01, 1), (0b10, 0), (0b01, 2), (0b10, 1)]);
}

/// A drive of two independent planes, even pages of the host's space in plane 0, which merges by this.
fn planes_that_take_any_page(merge_by: MergeBy) -> Drive {
    let mut drive = two_planes();
    (drive.frontier_planes, drive.pages, drive.logical_units) = (1, 32, 256);
    drive.page_allocation = policy("static");
    drive.timing.any_page = true;
    drive.engine.merge_by = merge_by;
    drive
}

/// Planes and pages of its commands of a kind, in order.
fn planes_and_pages(run: &Outcome, kind: CommandKind) -> Vec<(u8, [u32; 2])> {
    run.issued(kind).iter().map(|(_, command)| (command.planes, [command.page[0], command.page[1]])).collect()
}

#[test]
fn programs_of_one_turn_of_their_planes_go_together_and_planes_keep_their_order() {
    // Behind the first program wait plane 0 page 1, plane 1 page 0, plane 0 page 2, plane 1 page 1. Page 1 of plane 0 finds
    // one of the second turn in plane 1 too, for which its page 0 goes; its page 1 is left as one of the first turn.
    let drive = |merge_by| {
        let pages = [2, 1, 4, 3].map(|page| write_units(10, page * 4, 4));
        planes_that_take_any_page(merge_by).run([write_units(0, 0, 4)].into_iter().chain(pages).collect())
    };
    for merge_by in [MergeBy::Write, MergeBy::Touch] {
        let run = drive(merge_by);
        let order = planes_and_pages(&run, CommandKind::Program);
        assert_eq!(order, [(0b01, [0, 0]), (0b11, [1, 0]), (0b01, [2, 0]), (0b10, [0, 1])]);
        assert_eq!(run.counters().multi_plane_programs, 1);
    }
    assert_eq!(drive(MergeBy::Page).counters().multi_plane_programs, 0);
}

#[test]
fn what_was_never_written_has_its_turn_when_it_is_read_first() {
    // Read are, in this order: plane 0 page 2 and, while it is read, page 5; plane 1 page 3 and page 0. The second ones of the
    // planes go together. Later the first ones wait behind another read, and go together.
    let drive = |merge_by| {
        let mut drive = planes_that_take_any_page(merge_by);
        drive.prepared = (0..128).collect();
        let first = [(0, 4), (10, 10), (11, 7), (12, 1)];
        let again = [(1_000_000, 20), (1_000_010, 4), (1_000_011, 7)];
        drive.run(first.into_iter().chain(again).map(|(at, page)| read_units(at, page * 4, 4)).collect())
    };
    let order = planes_and_pages(&drive(MergeBy::Touch), CommandKind::Read);
    let together = [(0b11, [5, 0]), (0b11, [2, 3])];
    assert_eq!(order, [(0b01, [2, 0]), together[0], (0b10, [0, 3]), (0b01, [10, 0]), together[1]]);
    for merge_by in [MergeBy::Page, MergeBy::Write] {
        assert_eq!(drive(merge_by).counters().multi_plane_reads, 0);
    }
}

#[test]
fn a_page_that_has_its_place_when_it_is_touched_is_of_the_type_of_that_place() {
    // Two bits to a cell, and each plane holds 16 pages. Plane 0 has page 20 read, then 0 and 4 written, and 20 and 0 read
    // again. They lie at 10, 16 and 17, of types 0, 0 and 1; their places are 0, 1 and 2, of types 0, 1 and 0.
    let slower: i64 = 300_000;
    let time = |fast: u64| Ns(fast + slower.cast_unsigned());
    let drive = |merge_by| {
        let mut drive = planes_that_take_any_page(merge_by);
        drive.timing.read = vec![Ns(READ), time(READ)];
        drive.timing.program = vec![Ns(PROGRAM), time(PROGRAM)];
        drive.prepared = (0..128).collect();
        let at = |turn: u64| turn * 10_000_000;
        let run = drive.run(vec![
            read_units(0, 80, 4),
            write_units(at(1), 0, 4),
            write_units(at(2), 16, 4),
            read_units(at(3), 80, 4),
            read_units(at(4), 0, 4),
        ]);
        let ended = [CommandKind::Read, CommandKind::Program].map(|kind| run.ended(kind)).concat();
        let issued = [CommandKind::Read, CommandKind::Program].map(|kind| run.issued(kind)).concat();
        (0..5).map(|command| (ended[command] - issued[command].0).cast_signed()).collect::<Vec<_>>()
    };
    let (by_touch, by_place) = (drive(MergeBy::Touch), drive(MergeBy::Write));
    // Read 20, 20, 0; written 0, 4.
    let more: Vec<i64> = by_touch.iter().zip(&by_place).map(|(touch, place)| touch - place).collect();
    assert_eq!(more, [0, 0, slower, slower, -slower]);
}

#[test]
fn a_program_of_pages_of_two_types_takes_as_long_as_the_slower() {
    // Two bits to a cell: the second page of a block takes 300 us more.
    let mut drive = planes_that_take_any_page(MergeBy::Write);
    drive.timing.read = vec![Ns(READ); 2];
    drive.timing.program = vec![Ns(PROGRAM), Ns(PROGRAM + 300_000)];
    let pages = [2, 1, 4, 3].map(|page| write_units(10, page * 4, 4));
    let run = drive.run([write_units(0, 0, 4)].into_iter().chain(pages).collect());
    let ended = run.ended(CommandKind::Program);
    let slower = ended[1] - ended[0];
    assert_eq!(slower, PAGE_PROGRAM + 300_000 + COMMAND + PAGE_TRANSFER);
}

// ---- padding and FLUSH -------------------------------------------------------------------------------

#[test]
fn a_flush_pads_the_open_page_and_waits_for_its_program() {
    let run = scenes::two_writes_of_one_unit_in_one_page();
    assert_eq!(run.parts(Op::Flush), [(Cause::ProgramWait, PAGE_PROGRAM)]);
    assert_eq!((run.counters().padded_pages, run.ftl().padding_units), (1, 2));
}

#[test]
fn a_flush_waits_for_running_programs_and_for_nothing_else() {
    let run = Drive::default().run(vec![write_units(0, 0, 4), flush(10), flush(1_000_000)]);
    assert_eq!((run.latency(1), run.latency(2)), (PAGE_PROGRAM - 10, 0));
    assert_eq!(run.counters().padded_pages, 0, "the page was full");
}

#[test]
fn a_flush_sends_full_pages_that_wait_for_their_stripe_without_padding() {
    let run = two_planes().run(vec![write_units(0, 0, 4), flush(10), write_units(20, 4, 4)]);
    let planes: Vec<u8> = run.issued(CommandKind::Program).iter().map(|(_, program)| program.planes).collect();
    assert_eq!(planes, [0b01, 0b10], "the stripe's other page follows by itself");
    assert_eq!((run.latency(1), run.counters().padded_pages), (PAGE_PROGRAM, 0));
}

fn page_timeout() -> Outcome {
    let drive = Drive::with(|drive| drive.engine.page_timeout = Some(Ns(100_000)));
    // The first page is full before its time has come; the second is not.
    drive.run(vec![write(0, 0), write_units(10, 1, 3), write(1_000_000, 4), write(1_050_000, 5)])
}

#[test]
fn a_page_partly_filled_for_too_long_is_padded_and_programmed() {
    let run = page_timeout();
    let issued: Vec<u64> = run.issued(CommandKind::Program).iter().map(|(at, _)| *at).collect();
    assert_eq!(issued, [10, 1_100_000], "the clock starts with the first unit of a page");
    assert_eq!((run.counters().page_timeouts, run.counters().padded_pages, run.ftl().padding_units), (1, 1, 2));
}

fn write_through() -> Outcome {
    let drive = Drive::with(|drive| drive.engine.write_completion = WriteCompletion::Program);
    drive.run(vec![write(0, 0)])
}

#[test]
fn without_a_write_buffer_a_write_completes_with_its_padded_page() {
    let run = write_through();
    assert_eq!(run.parts(Op::Write), [(Cause::CommandArray, COMMAND + PROGRAM), (Cause::Transfer, PAGE_TRANSFER)]);
    assert_eq!((run.counters().padded_pages, run.ftl().padding_units), (1, 3));
}

// ---- garbage collection ------------------------------------------------------------------------------

fn collection_with_nothing_left_to_fill_its_page() -> Outcome {
    // Two full groups, garbage collection wanted at once: the TRIMs leave one valid unit in each.
    let drive = Drive::with(|drive| {
        drive.gc_trigger = policy_with(&serde_json::json!({ "policy": "free-groups", "beyond_reserve": 6 }));
        drive.prepared = (0..16).collect();
    });
    drive.run(vec![sectors(Op::Trim, 0, 0, 7 * 8), sectors(Op::Trim, 10, 64, 7 * 8)])
}

#[test]
fn a_victim_waits_with_its_last_move_while_nobody_needs_its_group() {
    let run = collection_with_nothing_left_to_fill_its_page();
    // Six groups are free: the one unit of the first victim waits in the open page (decision 10).
    assert_eq!((run.counters().gc_page_reads, run.counters().gc_page_programs), (1, 0));
    assert_eq!((run.counters().gc_padded_pages, run.ftl().padding_units, run.ftl().erased_groups), (0, 0, 0));
    assert_eq!((run.ftl().gc_victims, run.ftl().gc_units, run.ftl().moves_completed), (1, 1, 0));
}

#[test]
fn consecutive_moves_of_one_page_share_one_read() {
    // Of each of the first groups the second page is valid.
    let prepared = (0..24).chain(0..4).chain(8..12).chain(16..20).chain(0..4);
    let run = Drive::with(|drive| drive.prepared = prepared.collect()).run(vec![write(0, 18)]);
    let (_, first) = run.issued(CommandKind::Read)[0];
    assert_eq!(first.bytes[0] / 4096, 4, "units 4 to 7 lie together");
    let alone = scenes::overwrite_during_the_program_of_a_move();
    let first_four: Vec<u32> =
        alone.issued(CommandKind::Read)[..4].iter().map(|(_, command)| command.bytes[0] / 4096).collect();
    assert_eq!(first_four, [1; 4], "units 7, 15 and 19 lie alone, and of 20 to 23 only one is needed to fill the page");
}

fn lasting_work(read_percent: u64) -> Outcome {
    let mut drive = Drive::busy();
    drive.engine.page_timeout = Some(Ns(5_000_000));
    drive.run(mixed_requests(1, 20_000, drive.logical_units, 20_000, read_percent))
}

#[test]
fn lasting_garbage_collection_accounts_for_every_page() {
    let run = lasting_work(30);
    let (counters, ftl) = (run.counters(), run.ftl());
    assert!(ftl.erased_groups > 100 && ftl.moves_completed > 1_000, "{ftl:?}");
    assert_eq!(counters.group_erases, ftl.erased_groups);
    let programmed = (counters.host_page_programs + counters.gc_page_programs) * 4;
    // Units in pages that are still open or filled and not sent are allocated and not programmed.
    let waiting = ftl.programmed_units() - programmed;
    assert!(waiting <= 4 * 2 * 8, "{waiting} units wait, at most a stripe of each of two frontiers on four dies");
    assert_eq!(counters.multi_plane_erases, counters.erase_commands, "frontiers span both planes");
}

// ---- units, pages, cells -------------------------------------------------------------------------------

#[test]
fn units_side_by_side_in_one_page_are_one_page_read() {
    let run = Drive::with(|drive| drive.prepared = (0..8).collect()).run(vec![
        read_units(0, 0, 4),
        read_units(1_000_000, 1, 2),
        read_units(2_000_000, 2, 4),
    ]);
    assert_eq!(run.latency(0), COMMAND + READ + 4 * UNIT_TRANSFER);
    assert_eq!(run.latency(1), COMMAND + READ + 2 * UNIT_TRANSFER);
    // Two pages of one plane, one after the other.
    assert_eq!(run.latency(2), 2 * (COMMAND + READ + 2 * UNIT_TRANSFER));
    assert_eq!(run.counters().host_page_reads, 4);
}

#[test]
fn a_request_of_many_gigabytes_is_one_burst() {
    let drive = Drive::with(|drive| {
        (drive.blocks, drive.pages, drive.unit_bytes) = (140, 4_096, 16_384);
        drive.logical_units = 1 << 19;
        drive.engine.link_rate = Rate(4_096_000_000);
    });
    // 8 GiB at 4.096 GB/s, never written.
    let run = drive.run(vec![sectors(Op::Read, 0, 0, 1 << 24)]);
    assert_eq!(run.parts(Op::Read), [(Cause::Link, 2_097_152_000)]);
}

#[test]
fn units_of_one_page_that_do_not_follow_each_other_are_read_apart() {
    let run = Drive::with(|drive| drive.prepared = vec![1, 0]).run(vec![read_units(0, 0, 2)]);
    assert_eq!((run.place_of(0), run.place_of(1)), (Ppa(1), Ppa(0)));
    assert_eq!((run.counters().host_page_reads, run.latency(0)), (2, 2 * UNIT_READ));
}

#[test]
fn the_mapping_unit_decides_what_is_read_merged_and_padded() {
    // Unit size, logical units; of a 4 KiB write and a FLUSH: units, merges, padding; bytes of reading it back.
    for (unit_bytes, logical_units, units, merges, padding, bytes) in
        [(512, 192, 8, 0, 24, 4_096), (4_096, 24, 1, 0, 3, 4_096), (16_384, 6, 1, 1, 0, 16_384)]
    {
        let drive = Drive::with(|drive| (drive.unit_bytes, drive.logical_units) = (unit_bytes, logical_units));
        let run = drive.run(vec![
            sectors(Op::Write, 0, 8, 8),
            flush(10),
            sectors(Op::Read, 1_000_000, 8, 8),
            sectors(Op::Write, 2_000_000, 8, 8),
        ]);
        assert_eq!((run.ftl().host_units, run.ftl().padding_units), (2 * units, padding), "{unit_bytes} B");
        assert_eq!(run.counters().read_modify_write_unmapped, merges, "{unit_bytes} B");
        assert_eq!(
            run.counters().read_modify_write_reads,
            merges,
            "{unit_bytes} B: it is on the media the second time"
        );
        assert_eq!(run.latency(2), COMMAND + READ + (bytes / 4_096) * UNIT_TRANSFER, "{unit_bytes} B");
    }
}

#[test]
fn page_types_alternate_within_the_wordline() {
    let (reads, programs) = ([25_000, 50_000, 75_000, 100_000], [200_000, 400_000, 600_000, 800_000]);
    for types in 1..=4 {
        let drive = Drive::with(|drive| {
            drive.pages = 4;
            drive.logical_units = 48;
            drive.timing.read = reads[..types].iter().map(|&time| Ns(time)).collect();
            drive.timing.program = programs[..types].iter().map(|&time| Ns(time)).collect();
        });
        let mut requests = vec![write_units(0, 0, 16)];
        requests.extend((0..4).map(|page| read(10_000_000 * (page + 1), page * 4)));
        let run = drive.run(requests);
        let mut end = 0;
        for page in 0..4_usize {
            end += COMMAND + PAGE_TRANSFER + programs[page % types];
            assert_eq!(run.ended(CommandKind::Program)[page], end, "{types} types, page {page}");
            let read = COMMAND + reads[page % types] + UNIT_TRANSFER;
            assert_eq!(run.latency(page as u64 + 1), read, "{types} types, page {page}");
        }
    }
}

// ---- scheduling ------------------------------------------------------------------------------------------

/// A program runs, another is queued, then a read comes.
fn read_behind_two_programs(scheduler: &str) -> Outcome {
    let drive = Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.scheduler = policy::<TransactionSchedulerConfig>(scheduler);
    });
    drive.run(vec![write_units(0, 8, 4), write_units(10, 12, 4), read(20, 0)])
}

#[test]
fn reads_first_lets_a_read_pass_queued_programs_and_fifo_does_not() {
    assert_eq!(read_behind_two_programs("reads-first").completed_at(2), PAGE_PROGRAM + UNIT_READ);
    assert_eq!(read_behind_two_programs("fifo").completed_at(2), 2 * PAGE_PROGRAM + UNIT_READ);
}

#[test]
fn no_more_commands_than_the_queue_depth_are_inside() {
    let drive = Drive::with(|drive| {
        drive.prepared = vec![0];
        drive.engine.queue_depth = 2;
    });
    let run = drive.run(vec![read(0, 0), read(0, 0), read(0, 0)]);
    assert_eq!(
        run.parts(Op::Read),
        [
            // The second waits for the first; the third enters with the first one's end and waits for the second.
            (Cause::DieHostRead, 2 * UNIT_READ),
            (Cause::HostQueue, UNIT_READ),
            (Cause::CommandArray, 3 * (COMMAND + READ)),
            (Cause::Transfer, 3 * UNIT_TRANSFER),
        ]
    );
}

/// Two dies of a channel read at once. The first one's data cross, the second one's wait from `2 * COMMAND + READ` on, and
/// something else is asked of a third die, which is the next to be written behind 8 prepared units and holds the last of 12.
fn third_die(arbitration: &str, prepared: u32, third: Request) -> Outcome {
    let drive = Drive::with(|drive| {
        drive.dies_per_channel = 3;
        drive.prepared = (0..prepared).collect();
        drive.engine.channel = policy::<ChannelArbitrationConfig>(arbitration);
    });
    drive.run(vec![read(0, 0), read(0, 4), third])
}

#[test]
fn what_crosses_a_channel_next_is_the_policys_choice() {
    // When the first one's data have crossed.
    let crossed = COMMAND + READ + UNIT_TRANSFER;
    let (before, behind) = (COMMAND + READ + 1, 2 * COMMAND + READ + 1);
    for (policy, at, command_first) in [
        ("commands-first", before, true),
        ("commands-first", behind, true),
        ("first-come", before, true),
        ("first-come", behind, false),
        ("read-data-first", before, false),
        ("read-data-first", behind, false),
    ] {
        let run = third_die(policy, 12, read(at, 8));
        let sent = crossed + if command_first { COMMAND } else { UNIT_TRANSFER + COMMAND };
        let second = crossed + UNIT_TRANSFER + if command_first { COMMAND } else { 0 };
        assert_eq!(run.completed_at(1), second, "{policy}, asked at {at}");
        assert_eq!(run.completed_at(2), sent + READ + UNIT_TRANSFER, "{policy}, asked at {at}");
    }
}

#[test]
fn a_program_crosses_behind_read_data_where_these_go_first() {
    let crossed = COMMAND + READ + UNIT_TRANSFER;
    let before = COMMAND + READ + 1;
    for (policy, program_first) in [("commands-first", true), ("first-come", true), ("read-data-first", false)] {
        let run = third_die(policy, 8, write_units(before, 8, 4));
        let (program, data) = (COMMAND + PAGE_TRANSFER, UNIT_TRANSFER);
        assert_eq!(run.completed_at(1), crossed + data + if program_first { program } else { 0 }, "{policy}");
        let begins = crossed + if program_first { 0 } else { data };
        assert_eq!(run.ended(CommandKind::Program), [begins + program + PROGRAM], "{policy}");
    }
}

#[test]
fn dies_whose_data_go_first_fall_into_step() {
    // 16 dies are never without reads, and their data take the channel longer than a read takes a die.
    const DIES: u64 = 16;
    const ROUNDS: u64 = 50;
    let time_of_a_page = |arbitration: &str| {
        let drive = Drive::with(|drive| {
            drive.dies_per_channel = DIES as u32;
            drive.logical_units = 4 * DIES as u32;
            drive.prepared = (0..4 * DIES as u32).collect();
            drive.engine.channel = policy::<ChannelArbitrationConfig>(arbitration);
        });
        let reads = ROUNDS * DIES;
        let run = drive.run((0..reads).map(|index| read_units(0, index % DIES * 4, 4)).collect());
        let end = (0..reads).map(|id| run.completed_at(id)).max().expect("reads");
        end as f64 / reads as f64
    };
    // Commands between the data keep the channel busy; but for them all dies sense, then all send.
    let busy = (COMMAND + PAGE_TRANSFER) as f64;
    let in_step = (COMMAND + READ + DIES * PAGE_TRANSFER) as f64 / DIES as f64;
    for (policy, expected) in [("commands-first", busy), ("read-data-first", in_step)] {
        let measured = time_of_a_page(policy);
        assert!((measured / expected - 1.0).abs() < 0.02, "{policy}: {measured} ns, {expected} expected");
    }
}

/// Two reads at once, on two dies.
fn two_reads(channels: u32, link_rate: u64) -> Outcome {
    let drive = Drive::with(|drive| {
        (drive.channels, drive.dies_per_channel) = (channels, 2 / channels);
        drive.prepared = (0..8).collect();
        drive.engine.link_rate = Rate(link_rate);
    });
    drive.run(vec![read(0, 0), read(0, 4)])
}

#[test]
fn two_dies_share_their_channel() {
    let run = two_reads(1, 0);
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ, UNIT_READ + UNIT_TRANSFER));
    // The second waits for the first one's command (100 ns), is ready 100 ns later, and waits for the rest of
    // the first one's data.
    assert!(run.parts(Op::Read).contains(&(Cause::Channel, COMMAND + UNIT_TRANSFER - COMMAND)));
    assert_eq!(run.counters().channel_waits, 2);
}

#[test]
fn two_channels_share_the_link() {
    let run = two_reads(2, 4_096_000_000);
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ + 1_000, UNIT_READ + 2_000));
    assert!(run.parts(Op::Read).contains(&(Cause::Link, 3_000)));
    assert_eq!(run.counters().channel_waits, 0);
}

#[test]
fn the_write_buffer_holds_as_many_pages_as_it_is_given() {
    for pages in 1..=4 {
        let drive = Drive::with(|drive| drive.engine.buffered_pages = pages);
        let run = drive.run((0..6).map(|page| write_units(0, page * 4, 4)).collect());
        for page in 0..6_u64 {
            let programs_before = (page + 1).saturating_sub(u64::from(pages));
            assert_eq!(run.latency(page), programs_before * PAGE_PROGRAM, "page {page} with {pages} buffered pages");
        }
        assert_eq!(run.counters().buffer_stalls, 6 - u64::from(pages));
    }
}

#[test]
fn dies_may_share_the_write_buffer() {
    // Pages go to the two dies in turn; as many as the buffer holds are taken at once, the others as programs end.
    for pages in 1..=5_u32 {
        let mut drive = Drive::with(|drive| drive.channels = 2);
        (drive.engine.buffered_pages, drive.engine.shared_buffered_pages) = (8, Some(pages));
        let run = drive.run((0..6).map(|page| write_units(0, page * 4, 4)).collect());
        // Two programs run at a time where the buffer holds two pages, else one.
        let at_a_time = u64::from(pages.min(2));
        for page in 0..6_u64 {
            let programs_before = (page + 1).saturating_sub(u64::from(pages)).div_ceil(at_a_time);
            assert_eq!(run.latency(page), programs_before * PAGE_PROGRAM, "page {page} with {pages} pages shared");
        }
        assert_eq!(run.counters().buffer_stalls, 6 - u64::from(pages));
    }
}

// ---- ends ------------------------------------------------------------------------------------------------

#[test]
fn a_trim_forgets_whole_units_and_ignores_parts() {
    let run = ignored_parts_of_a_trim();
    assert_eq!((run.ftl().trimmed_units, run.counters().trim_sectors_ignored), (1, 4 + 2));
    assert_eq!((run.place_of(0), run.place_of(1), run.place_of(2)), (Ppa(0), Ppa::UNMAPPED, Ppa(2)));
}

fn ignored_parts_of_a_trim() -> Outcome {
    Drive::with(|drive| drive.prepared = (0..4).collect()).run(vec![sectors(Op::Trim, 0, 4, 14)])
}

#[test]
fn a_buffer_too_small_for_a_stripe_is_taken_as_large_as_needed() {
    // A page less, and the stripe would never fill and the write wait for ever.
    let mut drive = two_planes();
    drive.engine.buffered_pages = 1;
    let run = drive.run(vec![write_units(0, 0, 8)]);
    assert_eq!((run.counters().program_commands, run.counters().multi_plane_programs), (1, 1));
}

#[test]
fn a_request_beyond_the_drive_is_an_error_that_names_it() {
    let error = Drive::default().run_to_error(vec![write(0, 23), write(10, 24)]);
    assert!(
        matches!(error, SimulationError::BeyondDrive { index: 1, end: 200, sectors: 192, bytes: 98_304 }),
        "{error}"
    );
}

// ---- all counters ----------------------------------------------------------------------------------------

/// The fields of the translation layer's counters. Naming all of them makes a new one fail to compile here.
fn ftl_fields(counters: &FtlCounters) -> [(&'static str, u64); 10] {
    let FtlCounters {
        host_units,
        gc_units,
        padding_units,
        trimmed_units,
        moves_completed,
        moves_dropped_after_read,
        moves_dropped_after_program,
        gc_victims,
        gc_victim_valid_units,
        erased_groups,
        // Of drives with codes or a tier, which have scenes of their own.
        healed_units: _,
        migrated_units: _,
        refreshed_groups: _,
        // Of a map that lies in flash, see `cached_map.rs`.
        map_units: _,
        // Of a trigger that has a scene of its own.
        host_holds: _,
        // Maps of blocks have tests of their own.
        switch_merges: _,
        partial_merges: _,
        full_merges: _,
        log_blocks_emptied: _,
        // Of streams that have channels for themselves, see the tests of the translation layer.
        away_units: _,
        // Of streams that are chosen, whose sums the tests of choices have.
        streams: _,
        // Of log blocks and zones, see `block_maps.rs` of the program.
        erased_unwritten_units: _,
        // Of programs that fail, see `program_failures.rs`.
        rewritten_units: _,
        // Of parity over dies, see `parity.rs`.
        parity_units: _,
        // Of dies that fail, see `reliability/die_failures.rs`.
        rebuilt_units: _,
        // Of static wear levelling, see `wear_leveling.rs` of the translation layer.
        leveled_groups: _,
        leveled_units: _,
        // Of blocks of one bit in a cell, see `slc_cache.rs`.
        slc_units: _,
        folded_groups: _,
        folded_units: _,
    } = *counters;
    [
        ("host_units", host_units),
        ("gc_units", gc_units),
        ("padding_units", padding_units),
        ("trimmed_units", trimmed_units),
        ("moves_completed", moves_completed),
        ("moves_dropped_after_read", moves_dropped_after_read),
        ("moves_dropped_after_program", moves_dropped_after_program),
        ("gc_victims", gc_victims),
        ("gc_victim_valid_units", gc_victim_valid_units),
        ("erased_groups", erased_groups),
    ]
}

fn engine_fields(counters: &EngineCounters) -> Vec<(String, u64)> {
    let fields = serde_json::to_value(counters).expect("counters are plain numbers");
    let fields = fields.as_object().expect("a struct");
    fields.iter().map(|(name, value)| (name.clone(), value.as_u64().expect("a count"))).collect()
}

#[test]
fn every_counter_rises_in_some_scene_whose_times_are_checked() {
    let more: [fn() -> Outcome; 18] = [
        stripe_written_and_read,
        group_of_two_planes_erased,
        page_timeout,
        collection_with_nothing_left_to_fill_its_page,
        || two_reads(1, 0),
        ignored_parts_of_a_trim,
        rest_before_the_first_request,
        put_off_until_it_is_overdue,
        six_writes_that_are_held_back,
        trims_at_rest,
        trims_before_writes,
        || trimmed_before_collection(true),
        || trimmed_before_collection(false),
        formatted,
        a_page_is_copied,
        two_reads_apart,
        two_reads_in_a_row,
        a_flush_of_one_unit_of_a_wordline,
    ];
    let scenes = scenes::all().into_iter().map(|(_, run)| run).chain(more.iter().map(|scene| scene()));
    let mut silent: BTreeSet<String> =
        engine_fields(&EngineCounters::default()).into_iter().map(|(name, _)| name).collect();
    silent.extend(ftl_fields(&FtlCounters::default()).map(|(name, _)| name.to_owned()));
    assert_eq!(silent.len(), 75 + 10, "fields of both structs");
    for run in scenes {
        let risen = engine_fields(run.counters())
            .into_iter()
            .chain(ftl_fields(run.ftl()).map(|(name, count)| (name.to_owned(), count)));
        for (name, _) in risen.filter(|&(_, count)| count > 0) {
            silent.remove(&name);
        }
    }
    // `tier_mechanisms.rs` has the scenes of two media.
    assert!(silent.remove("migration_page_reads") && silent.remove("migration_page_programs"), "no tier is here");
    for of_map in ["map_page_reads", "map_page_programs", "held_programs"] {
        assert!(silent.remove(of_map), "`cached_map.rs` has its scene");
    }
    // `protocol.rs` has the scenes of what lies between requests and commands.
    let of_protocol = ["split_requests", "split_commands", "non_queued_commands", "queued_trims"];
    let of_fetches = ["fetches", "fetched_commands"];
    let of_link = ["link_messages", "whole_reads"];
    let of_queues = ["full_queue_waits", "interrupts", "gathered_completions"];
    for name in of_protocol.into_iter().chain(of_fetches).chain(of_queues).chain(of_link) {
        assert!(silent.remove(name), "no protocol is here: {name}");
    }
    assert!(silent.remove("sensed_while_waiting"), "`forwarding.rs` has its scenes");
    assert!(silent.remove("power_waits"), "`power.rs` has their scenes");
    assert!(silent.remove("power_wakes"), "`power_states.rs` has their scenes");
    assert!(silent.remove("thermal_throttles"), "`heat.rs` has their scenes");
    assert!(silent.remove("fua_writes"), "`fua.rs` has their scenes");
    assert!(
        silent.remove("part_stalls") && silent.remove("class_passes"),
        "`buffer_parts.rs` and `classes.rs` have their scenes"
    );
    // `program_failures.rs` has the scenes of blocks that break.
    for name in ["pages_programmed_again", "pages_kept", "refused_commands"] {
        assert!(silent.remove(name), "no block breaks here: {name}");
    }
    assert!(silent.remove("parity_page_programs"), "`parity.rs` has their scenes");
    assert!(silent.remove("rebuild_page_programs"), "`reliability/die_failures.rs` has their scenes");
    assert!(silent.remove("copybacks_at_limit"), "`copyback.rs` has its scenes");
    // A pool without free groups and without another victim takes more than a scene: crates/check has a minimal
    // world for it, `worlds/marks/gc_padded_pages.toml`.
    assert!(silent.remove("gc_padded_pages"), "a scene pads a page of moves: say here which");
    assert!(silent.is_empty(), "no scene makes these counters rise: {silent:?}");
}

#[test]
fn an_idle_drive_counts_nothing() {
    let run = Drive::default().run(vec![]);
    assert!(engine_fields(run.counters()).iter().all(|(_, count)| *count == 0));
    assert!(ftl_fields(run.ftl()).iter().all(|(_, count)| *count == 0));
    let trimmed = Drive::default().run(vec![trim(0, 1)]);
    assert_eq!((trimmed.ftl().trimmed_units, trimmed.latency(0)), (0, 0), "there was nothing to forget");
}
