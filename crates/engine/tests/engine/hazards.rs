//! Each hazard is provoked by a hand-made scene, does what its name says, and shows in its
//! counter. All times are computed by hand from the constants of `scenario`.

use crate::scenario::{
    COMMAND, Drive, ERASE, PAGE_PROGRAM, READ, UNIT, UNIT_READ, UNIT_TRANSFER, mixed_requests, mixed_sectors, policy,
    policy_with, scenes, sectors, write, write_units,
};
use ninescope_engine::WriteCompletion;
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{BlockGroup, Cause, Op, Ppa};
use serde_json::json;

/// Units of a group of the default drive.
const GROUP: u32 = 8;

#[test]
fn a_read_of_an_in_flight_page_is_answered_from_the_controllers_copy() {
    let run = scenes::read_of_an_in_flight_page();
    assert_eq!((run.latency(1), run.latency(3)), (0, 0), "neither in the open page nor during its program");
    assert_eq!(run.latency(4), UNIT_READ, "once programmed it is read from the media");
    assert_eq!(run.counters().forwarded_units, 2);
    assert_eq!((run.counters().read_commands, run.counters().host_page_reads), (1, 1));
}

#[test]
fn an_unmapped_read_costs_the_link_and_no_flash() {
    let run = scenes::unmapped_read();
    assert_eq!(run.parts(Op::Read), [(Cause::Link, 1_000)], "4 KiB of zeros at 4.096 GB/s");
    assert_eq!((run.counters().unmapped_units, run.counters().read_commands), (1, 0));
}

#[test]
fn a_move_whose_unit_was_overwritten_during_its_read_is_dropped_then() {
    let run = scenes::overwrite_during_the_read_of_a_move();
    assert_eq!((run.ftl().moves_dropped_after_read, run.ftl().moves_dropped_after_program), (1, 0));
    assert_eq!((run.ftl().gc_units, run.counters().gc_page_programs), (0, 0), "nothing was copied");
    assert_eq!(run.place_of(7), Ppa(5 * GROUP + 1), "where the host wrote it: after unit 18 in group 5");
    // The victim holds nothing any more: it is erased as soon as the read's data has left the die.
    assert_eq!(run.issued(CommandKind::Erase)[0].0, UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [UNIT_READ + COMMAND + ERASE]);
    assert_eq!(run.device.ftl().group(BlockGroup(0)).erase_count, 1);
}

#[test]
fn a_move_whose_unit_was_trimmed_during_its_read_is_dropped_then() {
    let run = scenes::trim_during_the_read_of_a_move();
    assert_eq!((run.ftl().moves_dropped_after_read, run.ftl().trimmed_units), (1, 1));
    assert_eq!(run.place_of(7), Ppa::UNMAPPED, "a dropped move does not bring a trimmed unit back");
    // The TRIM empties the victim while it is being read: its erase waits for that read.
    assert_eq!(run.counters().erases_delayed_by_readers, 1);
    assert_eq!(run.issued(CommandKind::Erase)[0].0, UNIT_READ);
}

/// Reads of units 7, 15, 19 and 20, one after another; the fourth fills the page, and no more is moved than it takes.
const MOVE_PROGRAM_BEGINS: u64 = 4 * UNIT_READ;

#[test]
fn a_move_whose_unit_was_overwritten_during_its_program_is_dropped_at_its_end() {
    let run = scenes::overwrite_during_the_program_of_a_move();
    assert_eq!(run.issued(CommandKind::Program)[0].0, MOVE_PROGRAM_BEGINS, "204.4 us, the overwrite comes at 300 us");
    assert_eq!((run.ftl().moves_dropped_after_read, run.ftl().moves_dropped_after_program), (0, 1));
    assert_eq!(run.place_of(7), Ppa(5 * GROUP + 1), "the host's copy is the newer one");
    assert_eq!(run.place_of(15), Ppa(6 * GROUP + 1), "its neighbour in the same page moved");
    assert!(!run.device.ftl().is_valid(Ppa(6 * GROUP)), "the dropped copy is garbage");
    assert_eq!(run.issued(CommandKind::Erase)[0].0, MOVE_PROGRAM_BEGINS + PAGE_PROGRAM);
}

#[test]
fn a_move_whose_unit_was_trimmed_during_its_program_is_dropped_at_its_end() {
    let run = scenes::trim_during_the_program_of_a_move();
    assert_eq!((run.ftl().moves_dropped_after_program, run.ftl().trimmed_units), (1, 1));
    assert_eq!(run.place_of(7), Ppa::UNMAPPED);
    assert!(!run.device.ftl().is_valid(Ppa(6 * GROUP)));
}

#[test]
fn an_erase_waits_for_the_reads_queued_on_its_group() {
    let run = scenes::reader_of_a_group_to_be_erased();
    assert_eq!(run.counters().erases_delayed_by_readers, 1);
    // The host's read waits for that of garbage collection, which began at 0, and the erase for both.
    let read_ends = 2 * UNIT_READ;
    assert_eq!(run.completed_at(1), read_ends);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieGcRead, UNIT_READ - 10_000),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER)
        ]
    );
    assert_eq!(run.issued(CommandKind::Erase)[0].0, read_ends, "its data still occupied the die until then");
}

#[test]
fn of_two_writes_of_one_unit_in_one_page_the_later_allocation_wins() {
    let run = scenes::two_writes_of_one_unit_in_one_page();
    assert_eq!(run.place_of(3), Ppa(1));
    assert!(!run.device.ftl().is_valid(Ppa(0)) && run.device.ftl().is_valid(Ppa(1)));
    assert_eq!(run.device.ftl().valid_units(BlockGroup(0)), 1);
    assert_eq!((run.ftl().host_units, run.ftl().padding_units), (2, 2));
}

#[test]
fn a_partial_write_reads_the_rest_of_its_unit_first() {
    let run = scenes::partial_write();
    assert_eq!(run.counters().read_modify_write_reads, 1);
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ)]);
    assert_eq!(run.place_of(2), Ppa(GROUP), "the merged unit is the first of group 1");
}

#[test]
fn a_write_of_parts_of_two_units_senses_the_page_once_that_holds_both() {
    let prepared = || Drive::with(|drive| drive.prepared = (0..8).collect());
    let unit = u64::from(UNIT);
    // Side by side in one page: as a read of the same sectors.
    let run = prepared().run(vec![sectors(Op::Write, 0, unit / 2, UNIT)]);
    assert_eq!((run.counters().read_modify_write_reads, run.issued(CommandKind::Read).len()), (1, 1));
    assert_eq!(run.parts(Op::Write), [(Cause::ReadModifyWrite, UNIT_READ + UNIT_TRANSFER)]);
    assert_eq!((run.place_of(0), run.place_of(1)), (Ppa(GROUP), Ppa(GROUP + 1)));
    // In two pages of one die, and with a whole unit between them: one read each.
    for (first, count) in [(3 * unit + unit / 2, UNIT), (unit / 2, 2 * UNIT)] {
        let run = prepared().run(vec![sectors(Op::Write, 0, first, count)]);
        assert_eq!(run.counters().read_modify_write_reads, 2);
        assert_eq!(run.latency(0), 2 * UNIT_READ);
    }
}

#[test]
fn a_partial_write_needs_no_read_where_the_rest_is_in_the_controller_or_nowhere() {
    let run = scenes::partial_writes_without_a_read();
    assert_eq!((run.latency(1), run.latency(2)), (0, 0));
    assert_eq!((run.counters().read_modify_write_forwarded, run.counters().read_modify_write_unmapped), (1, 1));
    assert_eq!(run.counters().read_commands, 0);
}

#[test]
fn a_partial_write_reads_again_when_another_write_changed_its_unit_meanwhile() {
    let run = scenes::partial_write_overtaken_by_another();
    assert_eq!((run.counters().read_modify_write_reads, run.counters().read_modify_write_repeated), (2, 1));
    let reads: Vec<(u64, u32)> = run.issued(CommandKind::Read).iter().map(|(at, read)| (*at, read.die.0)).collect();
    assert_eq!(reads, [(PAGE_PROGRAM, 0), (PAGE_PROGRAM + UNIT_READ, 1)], "the old place, then the new one");
    assert_eq!(
        run.parts(Op::Write),
        [(Cause::DieHostProgram, PAGE_PROGRAM - 5), (Cause::ReadModifyWrite, 2 * UNIT_READ)]
    );
}

#[test]
fn a_write_that_finds_no_free_page_stalls_until_an_erase_ends() {
    let run = scenes::write_without_a_free_page();
    assert_eq!((run.counters().allocation_stalls, run.counters().buffer_stalls), (1, 0));
    assert_eq!(run.latency(31), 0, "the last unit that fits");
    assert_eq!(run.latency(32), COMMAND + ERASE, "garbage collection goes before the queued programs");
    assert_eq!(run.parts(Op::Write), [(Cause::AllocationStall, COMMAND + ERASE)]);
    assert_eq!(run.recorder().fewest_free_after_host, Some(1), "the reserve was left, and nothing but the reserve");
}

#[test]
fn a_write_stalls_for_cleaning_in_the_foreground_although_pages_are_free() {
    // Three groups are free. The first write of a unit opens one, and the erase of group 0 begins; the ninth finds no
    // open group, waits for the third free one, opens it, and two are free again.
    let triggers = [
        (json!({ "policy": "free-groups", "beyond_reserve": 1 }), (0, 0), 0),
        (json!({ "policy": "foreground", "beyond_reserve": 1, "gain": 1 }), (1, 2), COMMAND + ERASE),
    ];
    for (trigger, stalls_and_holds, latency) in triggers {
        let mut drive = Drive::before_erase();
        drive.gc_trigger = policy_with(&trigger);
        let run = drive.run(vec![write_units(0, 16, 8), write(0, 0)]);
        assert_eq!((run.counters().allocation_stalls, run.ftl().host_holds), stalls_and_holds, "{trigger}");
        assert_eq!(run.latency(1), latency, "{trigger}");
    }
}

#[test]
fn cleaning_in_the_foreground_goes_on_under_lasting_writes() {
    let run = |trigger: serde_json::Value| {
        let mut drive = Drive::busy();
        drive.gc_trigger = policy_with(&trigger);
        drive.run(mixed_requests(1, 20_000, drive.logical_units, 10_000, 30))
    };
    let held = run(json!({ "policy": "foreground", "beyond_reserve": 1, "gain": 1 }));
    let free = run(json!({ "policy": "free-groups", "beyond_reserve": 1 }));
    assert!(held.ftl().host_holds > 100 && held.ftl().erased_groups > 100, "{:?}", held.ftl());
    // The host opens no group once two are free, and all that it wants can be reclaimed.
    let fewest = [&held, &free].map(|run| run.recorder().fewest_free_after_host);
    assert_eq!(fewest[0], Some(2));
    assert!(fewest[1] < Some(2), "without waiting it takes what there is: {fewest:?}");
}

#[test]
fn a_write_that_finds_the_buffer_full_stalls_until_a_program_ends() {
    let run = scenes::write_into_a_full_buffer();
    assert_eq!((run.counters().buffer_stalls, run.counters().allocation_stalls), (1, 0));
    assert_eq!(run.completed_at(1), PAGE_PROGRAM);
    assert_eq!(run.parts(Op::Write), [(Cause::BufferStall, PAGE_PROGRAM - 10)]);
}

#[test]
fn host_writes_never_take_the_reserve() {
    // The probe checks each group that the host opens, here under every amount of reserve and lasting stalls.
    for reserve in 1..=3 {
        let mut drive = Drive::busy();
        drive.reserve = reserve;
        drive.blocks = 15 + reserve + 1;
        let run = drive.run(mixed_requests(u64::from(reserve), 20_000, drive.logical_units, 20_000, 20));
        assert!(run.ftl().erased_groups > 50, "{} erases", run.ftl().erased_groups);
        assert_eq!(run.recorder().fewest_free_after_host, Some(reserve), "used up to the reserve");
    }
}

/// The fullest drive that the translation layer accepts: 6 of 10 groups of each pool hold data.
fn fullest(seed: u64, change: impl FnOnce(&mut Drive)) -> Drive {
    Drive::with(|drive| {
        (drive.blocks, drive.pages, drive.seed) = (10, 4, seed);
        drive.engine.buffered_pages = 4;
        drive.engine.multi_plane = false;
        change(drive);
        drive.logical_units = drive.geometry().units_per_group() * 6 * drive.geometry().pools();
        drive.prepared = (0..drive.logical_units).collect();
    })
}

#[test]
fn collection_on_the_fullest_drive_neither_runs_in_circles_nor_sleeps_nor_runs_out_of_pages() {
    let worlds: [fn(&mut Drive); 4] = [
        // Filling pages of moves from full groups kept host programs waiting for ever.
        |drive| {
            (drive.planes, drive.unit_bytes) = (2, 512);
            drive.engine.write_completion = WriteCompletion::Program;
            drive.engine.gc_pages_in_flight = 1;
        },
        // The program that made the only worthwhile victim a candidate woke nobody.
        |drive| {
            (drive.planes, drive.unit_bytes) = (2, 512);
            drive.page_allocation = policy("static");
            drive.engine.page_timeout = Some(Ns(10_000));
        },
        // Nor did the retried write that made it worthwhile.
        |drive| {
            (drive.dies_per_channel, drive.unit_bytes) = (2, 16_384);
            drive.victim = policy("fifo");
        },
        // Moves were handed out against free groups that the host then took.
        |drive| {
            (drive.dies_per_channel, drive.planes) = (2, 2);
            drive.victim = policy("d-choices");
            drive.engine.gc_pages_in_flight = 7;
            drive.engine.queue_depth = 19;
        },
    ];
    for (number, world) in worlds.into_iter().enumerate() {
        for seed in 0..40 {
            let drive = fullest(seed, world);
            let unit = drive.unit_bytes / 512;
            let mut device = drive.recorded(mixed_sectors(seed, 1_500, drive.sectors(), unit, 5_000, 40));
            let progress = device.run_slice(1_000_000).unwrap_or_else(|error| panic!("world {number}.{seed}: {error}"));
            assert!(progress.finished, "world {number}.{seed} has no end");
        }
    }
}

#[test]
fn a_partial_write_that_is_read_again_keeps_its_turn() {
    let drive = Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.buffered_pages = 1;
    });
    // The buffer holds a page. Behind the first one waits a page with unit 2, behind that a part of unit 2, whose rest
    // is read meanwhile, and behind that two more pages. When the part has its turn, unit 2 is where the second page
    // was programmed.
    let later = PAGE_PROGRAM + UNIT_READ + 1;
    let partial = sectors(Op::Write, 2, 2 * 8 + 4, 4);
    let run = drive.run(vec![write_units(0, 8, 4), write_units(1, 2, 4), partial, write_units(later, 12, 8)]);
    assert_eq!((run.counters().read_modify_write_reads, run.counters().read_modify_write_repeated), (2, 1));
    // It waits for the second page, is read again, and waits for the third one, but not for the fourth.
    assert_eq!(run.latency(2), 3 * PAGE_PROGRAM + 2 * UNIT_READ - 2);
}
