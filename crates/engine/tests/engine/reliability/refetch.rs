//! Clean data under a detecting code: what it refuses is fetched from the store behind the drive, and written anew.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_ecc::policies::ecc_scheme::crc::Crc;
use ninescope_engine::WriteCompletion;
use ninescope_engine::reliability::NandCode;
use ninescope_kernel::Rate;
use ninescope_media::nand::CommandKind;
use ninescope_model::units::Bytes;
use ninescope_model::{Cause, Lpa, Op, Ppa, Source, Stream};

use crate::reliability::drives::{CHECK, CLEAN, CORRUPTED, Coded, LATER, REFETCH, bch, cache, clean, crc};
use crate::scenario::{
    COMMAND, Drive, Event, READ, UNIT_READ, UNIT_TRANSFER, policy_with, read, read_units, sectors, trim, write,
    write_units,
};

#[test]
fn good_clean_data_is_checked_and_no_more() {
    let run = cache().run(vec![read(0, 0)]);
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, COMMAND + READ), (Cause::Transfer, UNIT_TRANSFER), (Cause::Decode, CHECK)]
    );
    let counted = run.reliable();
    assert_eq!((counted.edc_units_read, counted.ecc_units_read, counted.refetched), (1, 0, 0));
    assert_eq!((run.code(NandCode::Edc).codewords, run.code(NandCode::Ecc).codewords), (1, 0));
}

#[test]
fn a_corrupt_unit_is_fetched_for_the_host_and_written_anew() {
    let mut drive = cache().all_corrupt_at(0);
    drive.engine.link_rate = Rate(4_096_000_000);
    let run = drive.run(vec![read(0, 0), read(LATER, 0)]);
    assert_eq!(run.latency(0), UNIT_READ + CHECK + REFETCH + UNIT_TRANSFER);
    let fetched_at = UNIT_READ + CHECK + REFETCH;
    assert_eq!(run.times(Event::Fetched(Lpa(0), true)), [UNIT_READ + CHECK]);
    assert_eq!(run.times(Event::Healed(Lpa(0))), [fetched_at]);
    // The new copy is in an open page of clean data: no media, no decoder.
    assert_eq!(run.latency(1), UNIT_TRANSFER);
    assert_eq!(run.device.ftl().stream_of(run.place_of(0)), Stream::APART);
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::Link, 2 * UNIT_TRANSFER),
            (Cause::CommandArray, COMMAND + READ),
            (Cause::Transfer, UNIT_TRANSFER),
            (Cause::Decode, CHECK),
            (Cause::Refetch, REFETCH),
        ]
    );
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_under_edc), (8, 8));
    assert_eq!((counted.refetched, counted.corruptions_met_by_host, counted.prefetched), (1, 1, 0));
    assert_eq!((counted.reads_reported, counted.failed_reads, counted.retries), (0, 0, 0));
    assert_eq!((run.ftl().healed_units, run.ftl().host_units, counted.heals_dropped), (1, 0, 0));
}

#[test]
fn a_wrong_bit_is_met_in_its_codeword_alone() {
    // Four codewords to a unit, of which the first has the wrong bit: whoever asks for the last one does not meet it.
    let drive = cache().with_edc(Crc { user_data: Bytes(1_024), ..crc() }).all_corrupt_at(0);
    let run = drive.run(vec![sectors(Op::Read, 0, 6, 2), sectors(Op::Read, LATER, 0, 2)]);
    assert_eq!(run.latency(0), UNIT_READ + CHECK);
    assert_eq!(run.latency(1), UNIT_READ + CHECK + REFETCH);
    let counted = run.reliable();
    assert_eq!((counted.refetched, counted.corruptions_met_by_host, counted.reads_wrong), (1, 1, 0));
    assert_eq!(run.code(NandCode::Edc).codewords, 2);
}

#[test]
fn the_store_serves_one_unit_after_the_other_or_several_side_by_side() {
    let two_units = |parallel| {
        let mut drive = cache().all_corrupt_at(0);
        drive.reliability.backing_store.as_mut().expect("a store").parallel = parallel;
        let run = drive.run(vec![read_units(0, 2, 2)]);
        assert_eq!((run.reliable().refetched, run.ftl().healed_units), (2, 2));
        run
    };
    let checked = COMMAND + READ + 2 * (UNIT_TRANSFER + CHECK);
    assert_eq!(two_units(1).latency(0), checked + 2 * REFETCH);
    let run = two_units(2);
    assert_eq!(run.latency(0), checked + REFETCH);
    assert!(run.parts(Op::Read).contains(&(Cause::Refetch, REFETCH)));
}

#[test]
fn a_second_read_waits_in_the_store_behind_the_first() {
    let run = cache().all_corrupt_at(0).run(vec![read(0, 0), read(10, 4)]);
    assert_eq!(run.completed_at(0), UNIT_READ + CHECK + REFETCH);
    assert_eq!(run.completed_at(1), UNIT_READ + CHECK + 2 * REFETCH);
}

#[test]
fn what_the_host_overwrote_or_trimmed_meanwhile_is_not_written_anew() {
    for change in [write(1_000_000, 0), clean(write(1_000_000, 0)), trim(1_000_000, 0)] {
        let run = cache().all_corrupt_at(0).run(vec![read(0, 0), change]);
        let place = run.place_of(0);
        assert_eq!((run.reliable().heals_dropped, run.ftl().healed_units), (1, 0), "{change:?}");
        assert_eq!(run.times(Event::HealDropped(Lpa(0))), [UNIT_READ + CHECK + REFETCH]);
        assert_eq!(place == Ppa::UNMAPPED, change.op == Op::Trim);
        assert_eq!(run.reliable().reads_reported, 0, "the host has what was there when it asked");
    }
}

#[test]
fn two_reads_of_a_corrupt_unit_fetch_it_twice_and_write_it_once() {
    let run = cache().all_corrupt_at(0).run(vec![read(0, 0), read(10, 0)]);
    let counted = run.reliable();
    assert_eq!((counted.refetched, counted.corruptions_met_by_host, counted.heals_dropped), (2, 1, 1));
    assert_eq!(run.ftl().healed_units, 1);
}

#[test]
fn a_partial_write_of_a_corrupt_unit_is_merged_with_what_was_fetched() {
    let mut drive = cache().all_corrupt_at(0);
    drive.engine.write_completion = WriteCompletion::Buffer;
    let run = drive.run(vec![sectors(Op::Write, 0, 4, 4), read(LATER, 0)]);
    assert_eq!(
        run.parts(Op::Write),
        [(Cause::ReadModifyWrite, UNIT_READ), (Cause::Decode, CHECK), (Cause::Refetch, REFETCH)]
    );
    let counted = run.reliable();
    assert_eq!((counted.refetched, counted.corruptions_met_by_host), (1, 1));
    assert_eq!((counted.units_lost, counted.reads_reported), (0, 0));
    // The merged unit is dirty: it lies under the correcting code.
    assert_eq!(run.device.ftl().stream_of(run.place_of(0)), Stream::HOST);
    assert_eq!((run.ftl().healed_units, counted.heals_dropped), (0, 0), "what is written is the repair");
}

#[test]
fn dirty_data_of_a_cache_is_corrected_and_counted() {
    // Units 8 to 11 are written dirty; at 10 ms every unit there is has a wrong bit.
    let run =
        cache().all_corrupt_at(10_000_000).run(vec![write_units(0, 8, 4), read(20_000_000, 8), read(30_000_000, 8)]);
    assert_eq!(run.latency(1), UNIT_READ + CORRUPTED);
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_under_edc), (12, 8));
    // Corrected at every read, as it stays corrupt, and met once.
    assert_eq!((counted.corruptions_corrected, run.code(NandCode::Ecc).corrected_bits), (1, 2));
    assert_eq!((counted.ecc_units_read, counted.refetched), (2, 0));
}

#[test]
fn flash_under_one_code_alone_corrects_what_was_injected() {
    let run = Drive::with(|drive| drive.prepared = (0..8).collect())
        .with_ecc(bch())
        .all_corrupt_at(0)
        .run(vec![read(0, 0), read_units(LATER, 4, 4)]);
    assert_eq!(run.latency(0), UNIT_READ + CORRUPTED);
    assert_eq!(run.latency(1), COMMAND + READ + 4 * (UNIT_TRANSFER + CORRUPTED));
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_under_edc, counted.corruptions_corrected), (8, 0, 5));
}

#[test]
fn a_corrupt_unit_that_its_code_cannot_correct_is_met_by_who_reads_it() {
    // Four wrong bits in a codeword of four units, of which three are corrected: the page of 0 to 3 is refused.
    let code = Bch { user_data: Bytes(16_384), correctable: 3, ..bch() };
    let run = Drive::with(|drive| drive.prepared = (0..8).collect()).with_ecc(code).all_corrupt_at(0).run(vec![
        read(0, 1),
        read(LATER, 1),
        read_units(2 * LATER, 0, 4),
    ]);
    let counted = run.reliable();
    assert_eq!((counted.corruptions, counted.corruptions_corrected), (8, 0));
    // The codeword of unit 1 holds all four.
    assert_eq!((counted.failed_reads, counted.reads_reported), (3, 3));
    assert_eq!(counted.corruptions_met_by_host, 4, "unit 1 once, then the three others");
}

#[test]
fn a_read_that_is_good_at_a_second_try_meets_its_corruption_too() {
    // Every first decode fails, whatever was injected; the second succeeds.
    let drive = crate::reliability::drives::coded()
        .with_errors(crate::reliability::drives::never_corrected())
        .all_corrupt_at(0);
    let retry = serde_json::json!({ "policy": "levels", "success": [1.0] });
    let run = drive.with_retry(&retry).run(vec![read(0, 0), read(LATER, 0)]);
    assert_eq!((run.reliable().retries, run.reliable().corruptions_corrected), (2, 1));
}

#[test]
fn moves_of_corrupt_clean_data_carry_what_was_fetched() {
    // The first three groups hold units 0 to 23, of which 7, 15, 22 and 23 were not overwritten since; the sixth has room
    // for four more, so that the fifth opens another one, which starts a collection.
    let mut drive = cache().all_corrupt_at(0);
    drive.prepared = (0..24).chain(0..7).chain(8..15).chain(16..22).collect();
    drive.gc_trigger = policy_with(&serde_json::json!({ "policy": "free-groups", "beyond_reserve": 2 }));
    let run = drive.run(vec![clean(write_units(0, 16, 5))]);
    let counted = run.reliable();
    let moved: Vec<_> = run.decodes().into_iter().filter(|decode| decode.source == Source::GarbageCollection).collect();
    let units: u64 = moved.iter().map(|decode| u64::from(decode.failed.count_ones())).sum();
    assert!((1..=4).contains(&units), "{moved:?}");
    assert_eq!((counted.refetched_for_moves, counted.corruptions_met_by_moves), (units, units));
    assert_eq!((counted.refetched, counted.edc_units_moved, counted.units_lost), (0, units, 0));
    // A move is placed when its last unit has come.
    assert!(run.issued(CommandKind::Program).iter().all(|(at, _)| *at == 0 || *at > units * REFETCH));
}

#[test]
fn the_two_codes_have_decoders_of_their_own() {
    // Clean and dirty data of two dies on a channel: the dirty page does not wait for the check of the clean one.
    let mut drive = cache();
    (drive.dies_per_channel, drive.logical_units) = (2, 48);
    let run = drive.run(vec![
        write_units(0, 8, 4),
        write_units(0, 12, 4),
        read(10_000_000, 0),
        read(10_000_000, 8),
        read(10_000_000, 12),
    ]);
    let waits: Vec<u64> = run.decodes().iter().map(|decode| decode.begins - decode.arrived).collect();
    // Each die has one of 8 to 11 and 12 to 15, and one of 0 to 3 and 4 to 7; two of the three reads share a die.
    assert_eq!(waits.len(), 3);
    assert!(waits.iter().all(|&wait| wait <= CLEAN - UNIT_TRANSFER));
    assert_eq!(run.code(NandCode::Edc).decoder_wait_ns, 0);
}
