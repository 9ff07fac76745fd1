//! Dirty data, flushed data and clean data, and what garbage collection makes of them: FlexECC's states of a page.

use ninescope_engine::WriteCompletion;
use ninescope_engine::reliability::NandCode;
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Lpa, Op, Ppa, Source, Stream};
use serde_json::json;

use crate::reliability::drives::{
    CHECK, CLEAN, Coded, ENCODE, LATER, cache, clean, flush_read, never_corrected, old_data_is_lost,
};
use crate::scenario::{
    COMMAND, Drive, Event, Outcome, PROGRAM, READ, UNIT, UNIT_READ, UNIT_TRANSFER, policy_with, read, read_units,
    sectors, trim, write, write_units,
};

const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;

/// A cache whose first two groups hold dirty data, units 0 to 15, and which collects whenever that frees a group.
fn dirty_cache() -> Drive {
    let mut drive = cache();
    drive.prepared = (0..16).collect();
    drive.prepared_is_clean = false;
    drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 9 }));
    drive
}

fn trim_units(at: u64, unit: u64, units: u32) -> ninescope_model::Request {
    sectors(Op::Trim, at, unit * u64::from(UNIT), units * UNIT)
}

fn moved(run: &Outcome) -> (u64, u64, u64) {
    let counted = run.reliable();
    (counted.ecc_units_moved, counted.units_moved_to_edc, counted.edc_units_moved)
}

fn is_clean(run: &Outcome, unit: u32) -> bool {
    run.device.ftl().is_clean(Lpa(unit))
}

fn is_under(run: &Outcome, unit: u32) -> Stream {
    run.device.ftl().stream_of(run.place_of(unit))
}

#[test]
fn dirty_data_is_decoded_and_encoded_by_the_correcting_code_when_it_is_moved() {
    // A group's worth of garbage in two groups: the first one is emptied, units 4 to 7 move.
    let run = dirty_cache().run(vec![trim_units(0, 0, 4), trim_units(0, 8, 4), read(LATER, 4)]);
    assert_eq!(moved(&run), (4, 0, 0));
    assert_eq!((is_under(&run, 4), run.latency(2)), (Stream::GC, UNIT_READ + CLEAN));
    let code = run.code(NandCode::Ecc);
    assert_eq!((code.codewords, code.encoded_codewords), (4 + 1, 4));
    let arrived = COMMAND + READ + PAGE_TRANSFER;
    let programmed = arrived + 4 * CLEAN + COMMAND + PAGE_TRANSFER + 4 * ENCODE + PROGRAM;
    assert_eq!(run.times(Event::Mapped(Lpa(4), Ppa(4), run.place_of(4))), [programmed]);
}

#[test]
fn flushed_data_goes_under_the_detecting_code_when_it_is_moved() {
    let flush_all = flush_read(read_units(0, 4, 4));
    let run = dirty_cache().run(vec![flush_all, trim_units(LATER, 0, 4), trim_units(LATER, 8, 4), read(2 * LATER, 4)]);
    assert_eq!(run.latency(0), COMMAND + READ + PAGE_TRANSFER + 4 * CLEAN);
    assert_eq!(moved(&run), (0, 4, 0));
    assert_eq!((is_under(&run, 4), run.latency(3)), (Stream::GC_APART, UNIT_READ + CHECK));
    // Read under one code, written under the other.
    let (ecc, edc) = (run.code(NandCode::Ecc), run.code(NandCode::Edc));
    assert_eq!((ecc.codewords, ecc.encoded_codewords), (4 + 4, 0));
    assert_eq!((edc.codewords, edc.encoded_codewords), (1, 4));
    let counted = run.reliable();
    assert_eq!((counted.ecc_units_read, counted.edc_units_read), (4, 1));
}

#[test]
fn clean_data_is_checked_when_it_is_moved_and_stays_where_it_is() {
    // The same with clean data all the way.
    let mut drive = dirty_cache();
    drive.prepared_is_clean = true;
    let run = drive.run(vec![trim_units(0, 0, 4), trim_units(0, 8, 4), read(LATER, 4)]);
    assert_eq!(moved(&run), (0, 0, 4));
    assert_eq!((is_under(&run, 4), run.latency(2)), (Stream::GC_APART, UNIT_READ + CHECK));
    let edc = run.code(NandCode::Edc);
    assert_eq!((edc.codewords, edc.encoded_codewords), (4 + 1, 4));
}

#[test]
fn a_page_of_which_some_is_flushed_is_moved_to_two_places() {
    let run = dirty_cache().run(vec![
        flush_read(read_units(0, 5, 2)),
        trim_units(LATER, 0, 4),
        trim_units(LATER, 8, 4),
        // Four more of either kind fill their pages: flushed data of the next victim, and dirty data.
        flush_read(read_units(2 * LATER, 14, 2)),
        write_units(3 * LATER, 16, 8),
        trim_units(4 * LATER, 16, 4),
    ]);
    // 5 and 6, then 14 and 15; 4 and 7, then 12 and 13.
    assert_eq!(moved(&run), (4, 4, 0));
    for (unit, stream) in [(4, Stream::GC), (5, Stream::GC_APART), (6, Stream::GC_APART), (7, Stream::GC)] {
        assert_eq!((is_under(&run, unit), is_clean(&run, unit)), (stream, stream == Stream::GC_APART), "unit {unit}");
    }
    for (unit, stream) in [(12, Stream::GC), (13, Stream::GC), (14, Stream::GC_APART), (15, Stream::GC_APART)] {
        assert_eq!(is_under(&run, unit), stream, "unit {unit}");
    }
}

#[test]
fn flushed_data_that_is_written_again_is_dirty_again() {
    let run = dirty_cache().run(vec![
        flush_read(read_units(0, 4, 4)),
        write(LATER, 4),                            // all of it
        sectors(Op::Write, LATER, 5 * 8, 3),        // a part
        clean(write(LATER, 6)),                     // clean data
        clean(sectors(Op::Write, LATER, 7 * 8, 3)), // a part, clean: the rest was flushed
        clean(sectors(Op::Write, LATER, 3 * 8, 3)), // a part, clean: the rest was not
    ]);
    let clean: Vec<bool> = (3..8).map(|unit| is_clean(&run, unit)).collect();
    assert_eq!(clean, [false, false, false, true, true]);
    for unit in 3..8 {
        assert_eq!(
            is_under(&run, unit),
            if is_clean(&run, unit) { Stream::APART } else { Stream::HOST },
            "unit {unit}"
        );
    }
}

#[test]
fn a_flush_read_of_a_part_of_a_unit_flushes_nothing() {
    let run = dirty_cache().run(vec![flush_read(sectors(Op::Read, 0, 4 * 8 + 1, 23))]);
    let clean: Vec<bool> = (3..8).map(|unit| is_clean(&run, unit)).collect();
    assert_eq!(clean, [false, false, true, true, false], "of units 4 to 6, the first only in part");
}

#[test]
fn a_flush_read_of_what_the_controller_holds_flushes_it_and_of_nothing_nothing() {
    let run = dirty_cache().run(vec![write(0, 20), flush_read(read_units(10, 20, 2))]);
    assert!(is_clean(&run, 20) && !is_clean(&run, 21));
    assert_eq!(is_under(&run, 20), Stream::HOST, "it lies where it was written");
    assert_eq!(run.times(Event::Flushed(Lpa(20))), [10]);
    assert!(run.times(Event::Flushed(Lpa(21))).is_empty());
}

#[test]
fn data_is_flushed_when_the_host_has_it_and_not_if_it_has_an_error() {
    let requests = || vec![flush_read(read_units(0, 4, 4))];
    let run = dirty_cache().run(requests());
    assert_eq!(run.times(Event::Flushed(Lpa(4))), [run.completed_at(0)]);
    let run = dirty_cache().with_errors(never_corrected()).run(requests());
    assert_eq!(run.reliable().reads_reported, 1);
    assert!((4..8).all(|unit| !is_clean(&run, unit)), "no other copy exists");
    // A request of two pages one of which fails has an error, and flushes neither: unit 8 was written just before.
    let mut drive = old_data_is_lost(dirty_cache());
    drive.channels = 2;
    drive.logical_units = 48;
    let run = drive.run(vec![write_units(0, 8, 4), flush_read(read_units(LATER, 4, 8))]);
    assert_eq!(run.reliable().reads_reported, 1);
    assert!((4..12).all(|unit| !is_clean(&run, unit)));
}

#[test]
fn what_is_written_while_it_is_flushed_stays_dirty() {
    let run = dirty_cache().run(vec![
        flush_read(read_units(0, 4, 4)),
        write(1_000, 4),
        sectors(Op::Write, 1_000, 5 * 8, 1),
        trim(1_000, 6),
        write(2_000, 6),
    ]);
    assert_eq!((4..8).map(|unit| is_clean(&run, unit)).collect::<Vec<_>>(), [false, false, false, true]);
}

#[test]
fn a_trimmed_unit_is_of_no_kind() {
    let run =
        cache().run(vec![trim(0, 0), read(10, 0), sectors(Op::Write, 20, 0, 4), clean(sectors(Op::Write, 30, 16, 4))]);
    assert_eq!((run.counters().unmapped_units, run.reliable().edc_units_read), (1, 0));
    // Half of it is written over nothing: dirty, as it was written.
    assert_eq!((is_under(&run, 0), is_clean(&run, 0)), (Stream::HOST, false));
    assert_eq!((is_under(&run, 2), is_clean(&run, 2)), (Stream::APART, true));
}

#[test]
fn moves_under_the_detecting_code_decode_at_its_speed() {
    let mut drive = dirty_cache();
    drive.prepared_is_clean = true;
    let run = drive.run(vec![trim_units(0, 0, 4), trim_units(0, 8, 4)]);
    let of_moves = run.decodes().into_iter().find(|decode| decode.source == Source::GarbageCollection);
    let decode = of_moves.expect("a page is moved");
    assert_eq!((decode.code, decode.until - decode.begins), (NandCode::Edc, 4 * CHECK));
}

/// An idle drive with the times of `FlexECC`'s simulator (USENIX ATC 2014, slides): 25 us to read a page of 4 KiB, 200 us to
/// program it, transfers in no time; 0.8 us to encode by either code, 5 or 10 us to decode by BCH, 0.8 us to check.
#[test]
fn relaxed_codes_save_the_published_times() {
    let mut drive = cache();
    (drive.page_bytes, drive.pages) = (4_096, 8);
    (drive.timing.read, drive.timing.program) = (vec![Ns(25_000)], vec![Ns(200_000)]);
    (drive.timing.command_address, drive.timing.channel_rate) = (Ns::ZERO, Rate(0));
    drive.engine.write_completion = WriteCompletion::Program;
    let run = drive.run(vec![
        write(0, 8),
        clean(write(LATER, 9)),
        read(2 * LATER, 8),
        read(3 * LATER, 9),
        flush_read(read(4 * LATER, 8)),
    ]);
    assert_eq!([0, 1, 2, 3, 4].map(|id| run.latency(id)), [200_800, 200_800, 30_000, 25_800, 30_000]);
    // A bit fails in each page: 35 us where it is corrected.
    let run = drive.all_corrupt_at(LATER).run(vec![write(0, 8), read(2 * LATER, 8)]);
    assert_eq!(run.latency(1), 35_000);
}
