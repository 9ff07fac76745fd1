//! Pages on their way through a decoder: how long it takes them, who waits for whom, and what of it each request is
//! told.

use ninescope_ecc::LatencyConfig;
use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_ecc::policies::latency::cycles::Cycles;
use ninescope_engine::reliability::NandCode;
use ninescope_kernel::Rate;
use ninescope_media::nand::CommandKind;
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Cause, Occupancy, Op, Source};

use crate::reliability::drives::{CLEAN, CORRUPTED, Coded, always_corrected, bch, coded};
use crate::scenario::{COMMAND, Drive, READ, UNIT_READ, UNIT_TRANSFER, read, read_units, sectors, write};

const SENSED: (Cause, u64) = (Cause::CommandArray, COMMAND + READ);
const UNIT_SENT: (Cause, u64) = (Cause::Transfer, UNIT_TRANSFER);

#[test]
fn a_clean_codeword_is_decoded_after_its_transfer() {
    let run = coded().run(vec![read(0, 0)]);
    assert_eq!(run.parts(Op::Read), [SENSED, UNIT_SENT, (Cause::Decode, CLEAN)]);
    assert_eq!(run.latency(0), UNIT_READ + CLEAN);
    let counted = run.code(NandCode::Ecc);
    assert_eq!((counted.codewords, counted.corrupted_codewords, counted.decoder_busy_ns), (1, 0, CLEAN));
}

#[test]
fn a_codeword_with_errors_takes_longer() {
    let run = coded().with_errors(always_corrected()).run(vec![read(0, 0), read_units(1_000_000, 0, 4)]);
    assert_eq!(run.latency(0), UNIT_READ + CORRUPTED);
    // Four codewords, one after the other.
    assert_eq!(run.latency(1), COMMAND + READ + 4 * UNIT_TRANSFER + 4 * CORRUPTED);
    let counted = run.code(NandCode::Ecc);
    assert_eq!((counted.codewords, counted.corrupted_codewords, counted.failed_codewords), (5, 5, 0));
    // 15 in the mean of a Poisson law, five times.
    assert!((75 - 45..75 + 45).contains(&counted.corrected_bits), "{}", counted.corrected_bits);
}

#[test]
fn a_pipeline_overlaps_the_stages_of_codewords() {
    // 33,536 bits, eight per cycle of 10 ns: 41,920 ns of syndromes. The key equation takes 0.16 x 48^2 = 368.64, so 369
    // cycles; the search is overlapped.
    let pipeline = |pipelined| {
        let cycles = Cycles { bits_per_cycle: 8, cycle: Duration(10), factor: 0.16, pipelined, ..Cycles::default() };
        let code = Bch { latency: LatencyConfig::Cycles(cycles), ..bch() };
        let drive = Drive { reliability: Default::default(), ..coded() }.with_ecc(code);
        drive.with_errors(always_corrected()).run(vec![read_units(0, 0, 4)]).latency(0)
    };
    let sensed_and_sent = COMMAND + READ + 4 * UNIT_TRANSFER;
    assert_eq!(pipeline(true), sensed_and_sent + 4 * 41_920 + 3_690);
    assert_eq!(pipeline(false), sensed_and_sent + 4 * (41_920 + 3_690));
}

/// Two dies, a page on each.
fn two_dies(channels: u32, code: Bch) -> Drive {
    Drive::with(|drive| {
        (drive.channels, drive.dies_per_channel) = (channels, 2 / channels);
        drive.prepared = (0..8).collect();
    })
    .with_ecc(code)
}

#[test]
fn two_pages_of_a_channel_queue_at_its_decoder() {
    let run = two_dies(1, bch()).run(vec![read(0, 0), read(0, 4)]);
    // The second page follows the first over the channel and waits for the rest of its decode.
    let second = UNIT_READ + UNIT_TRANSFER;
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ + CLEAN, UNIT_READ + 2 * CLEAN));
    let waits: Vec<_> = run.decodes().iter().map(|decode| (decode.arrived, decode.begins)).collect();
    assert_eq!(waits, [(UNIT_READ, UNIT_READ), (second, UNIT_READ + CLEAN)]);
    assert!(run.parts(Op::Read).contains(&(Cause::DecoderWait, CLEAN - UNIT_TRANSFER)));
    assert_eq!(run.code(NandCode::Ecc).decoder_wait_ns, CLEAN - UNIT_TRANSFER);
}

#[test]
fn a_second_decoder_takes_the_second_page() {
    let run = two_dies(1, Bch { decoders: 2, ..bch() }).run(vec![read(0, 0), read(0, 4)]);
    assert_eq!((run.latency(0), run.latency(1)), (UNIT_READ + CLEAN, UNIT_READ + UNIT_TRANSFER + CLEAN));
    assert_eq!(run.code(NandCode::Ecc).decoder_wait_ns, 0);
    assert_eq!(run.reliability().nand_code(NandCode::Ecc).expect("a code").decoder_count(), 2);
}

#[test]
fn channels_have_decoders_of_their_own_unless_they_share_them() {
    let reads = || vec![read(0, 0), read(0, 4)];
    let apart = two_dies(2, bch()).run(reads());
    assert_eq!((apart.latency(0), apart.latency(1)), (UNIT_READ + CLEAN, UNIT_READ + CLEAN));
    let shared = two_dies(2, Bch { shared: true, ..bch() }).run(reads());
    assert_eq!((shared.latency(0), shared.latency(1)), (UNIT_READ + CLEAN, UNIT_READ + 2 * CLEAN));
    assert!(shared.parts(Op::Read).contains(&(Cause::DecoderWait, CLEAN)));
    let both = two_dies(2, Bch { shared: true, decoders: 2, ..bch() }).run(reads());
    assert_eq!((both.latency(0), both.latency(1)), (UNIT_READ + CLEAN, UNIT_READ + CLEAN));
}

#[test]
fn shared_decoders_serve_in_the_order_of_arrival_not_in_that_of_the_channels_grants() {
    // Die 0 begins to send a whole page at 50.1 us; die 1 begins later and is through earlier.
    let code = Bch { shared: true, ..bch() };
    let run = two_dies(2, code).run(vec![read_units(0, 0, 4), read(1_000, 4)]);
    let (whole, unit) = (COMMAND + READ + 4 * UNIT_TRANSFER, 1_000 + UNIT_READ);
    assert!(COMMAND + READ < unit - UNIT_TRANSFER && unit < whole);
    assert_eq!(run.completed_at(1), unit + CLEAN);
    assert_eq!(run.completed_at(0), unit + CLEAN + 4 * CLEAN);
    assert!(run.parts(Op::Read).contains(&(Cause::DecoderWait, unit + CLEAN - whole)));
}

#[test]
fn reads_of_a_die_overlap_with_decoding_unless_the_decode_holds_the_die() {
    let two_reads = |holds_die| {
        let code = Bch { holds_die, ..bch() };
        Drive { reliability: Default::default(), ..coded() }.with_ecc(code).run(vec![read(0, 0), read(0, 4)])
    };
    // Read and decode of a page take turns with those of the other, or not.
    assert_eq!(two_reads(false).latency(1), 2 * UNIT_READ + CLEAN);
    let held = two_reads(true);
    assert_eq!(held.latency(1), 2 * (UNIT_READ + CLEAN));
    // What held the die: the first read, until it was decoded.
    assert!(held.parts(Op::Read).contains(&(Cause::DieHostRead, UNIT_READ + CLEAN)));
    let mut device = held.device;
    assert_eq!(device.utilization().dies[0][Occupancy::HostRead as usize], 2 * (UNIT_READ + CLEAN));
}

#[test]
fn a_die_that_waits_for_a_busy_decoder_is_held_too() {
    // Two dies on a channel with one decoder: die 1 has its page decoded at 61.1 us, and only then reads on.
    let run = two_dies(1, Bch { holds_die: true, ..bch() }).run(vec![read(0, 0), read(0, 4), read(10, 5)]);
    let decoded = UNIT_READ + 2 * CLEAN;
    assert_eq!(run.completed_at(1), decoded);
    assert_eq!(run.completed_at(2), decoded + UNIT_READ + CLEAN);
}

#[test]
fn the_channel_is_free_while_a_decode_holds_the_die() {
    let run = two_dies(1, Bch { holds_die: true, decoders: 2, ..bch() }).run(vec![read(0, 0), read(0, 4)]);
    assert_eq!(run.latency(1), UNIT_READ + UNIT_TRANSFER + CLEAN);
}

#[test]
fn the_pages_of_a_multi_plane_read_pass_one_decoder_in_turn() {
    let drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes) = (2, 2);
        drive.logical_units = 48;
        drive.prepared = (0..8).collect();
    });
    let run = drive.with_ecc(bch()).run(vec![read_units(0, 0, 8)]);
    let page = 4 * UNIT_TRANSFER;
    let first = 2 * COMMAND + READ + page;
    let decodes: Vec<_> = run.decodes().iter().map(|decode| (decode.arrived, decode.begins, decode.until)).collect();
    assert_eq!(decodes, [(first, first, first + 4 * CLEAN), (first + page, first + 4 * CLEAN, first + 8 * CLEAN)]);
    // The request has the parts of the page that is through last.
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::CommandArray, 2 * COMMAND + READ),
            (Cause::Transfer, page),
            (Cause::DecoderWait, 4 * CLEAN - page),
            (Cause::Decode, 4 * CLEAN),
            (Cause::OwnParts, page),
        ]
    );
    assert_eq!(run.counters().multi_plane_reads, 1);
}

/// The default drive under a code with codewords of so many bytes.
fn with_codewords_of(bytes: u64) -> Drive {
    Drive { reliability: Default::default(), ..coded() }.with_ecc(Bch { user_data: Bytes(bytes), ..bch() })
}

#[test]
fn codewords_that_are_larger_than_a_unit_are_read_whole() {
    for (bytes, first, units, whole_units, codewords) in [
        // One of four units of a page: the page. Two of them: the page as well.
        (16_384, 1, 1, 4, 1),
        (16_384, 1, 2, 4, 1),
        // Half pages: the one that the unit lies in, both where the units lie in both.
        (8_192, 3, 1, 2, 1),
        (8_192, 2, 2, 2, 1),
        (8_192, 1, 2, 4, 2),
        (8_192, 0, 3, 4, 2),
        // Four codewords to a unit.
        (1_024, 1, 2, 2, 8),
    ] {
        let run = with_codewords_of(bytes).run(vec![read_units(0, first, units)]);
        let what = format!("{units} units from {first} in codewords of {bytes} B");
        let expected = COMMAND + READ + whole_units * UNIT_TRANSFER + codewords * CLEAN;
        assert_eq!((run.latency(0), run.code(NandCode::Ecc).codewords), (expected, codewords), "{what}");
    }
}

#[test]
fn sectors_of_a_unit_are_read_with_their_codewords_and_no_more_cross_the_link() {
    // Two sectors: the unit is decoded, 1 KiB crosses the link.
    let mut drive = coded();
    drive.engine.link_rate = Rate(1_024_000_000);
    let run = drive.run(vec![sectors(Op::Read, 0, 2, 2)]);
    assert_eq!(run.parts(Op::Read), [(Cause::Link, 1_000), SENSED, UNIT_SENT, (Cause::Decode, CLEAN)]);
}

#[test]
fn a_read_decodes_the_codewords_that_it_asks_for() {
    // A unit has eight sectors, and crosses the channel whole; each codeword is decoded by itself.
    for (bytes, first, count, units, codewords) in [
        // Two sectors to a codeword: one codeword, and two of them for as many sectors.
        (1_024, 2, 2, 1, 1),
        (1_024, 1, 2, 1, 2),
        // The last sector of a unit and the first one of the next.
        (1_024, 7, 2, 2, 2),
        // The last codeword of a unit, the next unit, and three codewords of the one behind it.
        (1_024, 6, 16, 3, 1 + 4 + 3),
        (1_024, 0, 8, 1, 4),
        // One sector to a codeword.
        (512, 3, 1, 1, 1),
        (512, 6, 4, 2, 4),
        // One codeword to a unit, and one to two of them.
        (4_096, 3, 1, 1, 1),
        (8_192, 3, 1, 2, 1),
    ] {
        let run = with_codewords_of(bytes).run(vec![sectors(Op::Read, 0, first, count)]);
        let what = format!("{count} sectors from {first} in codewords of {bytes} B");
        let expected = COMMAND + READ + units * UNIT_TRANSFER + codewords * CLEAN;
        let counted = run.code(NandCode::Ecc);
        assert_eq!(run.latency(0), expected, "{what}");
        assert_eq!((counted.codewords, counted.decoder_busy_ns), (codewords, codewords * CLEAN), "{what}");
    }
}

#[test]
fn a_die_that_keeps_its_page_for_the_decoder_keeps_it_for_what_is_asked_for() {
    let code = Bch { user_data: Bytes(1_024), holds_die: true, ..bch() };
    let drive = Drive { reliability: Default::default(), ..coded() }.with_ecc(code);
    let run = drive.run(vec![sectors(Op::Read, 0, 0, 2), read(0, 4)]);
    let first = UNIT_READ + CLEAN;
    assert_eq!((run.latency(0), run.latency(1)), (first, first + UNIT_READ + 4 * CLEAN));
}

#[test]
fn parity_crosses_the_channel_where_it_is_told_to() {
    // 48 errors in GF(2^16) take 768 bits, 96 B: 4192 B at 4.096 B/ns, rounded up.
    let drive = Drive { reliability: Default::default(), ..coded() }.with_ecc(Bch { moves_parity: true, ..bch() });
    let run = drive.run(vec![read(0, 0), read_units(1_000_000, 4, 4)]);
    assert_eq!(run.latency(0), COMMAND + READ + 1_024 + CLEAN);
    // Four codewords: 16,768 B take 4093.75.
    assert_eq!(run.latency(1), COMMAND + READ + 4_094 + 4 * CLEAN);
    assert_eq!(
        run.issued(CommandKind::Read).iter().map(|(_, read)| read.bytes[0]).collect::<Vec<_>>(),
        [4_192, 16_768]
    );
}

#[test]
fn reads_of_two_channels_with_unequal_decodes_leave_over_the_link_as_they_are_ready() {
    // Channel 0 reads a page of four codewords first, channel 1 one codeword later: it is ready first, and is sent first.
    let mut drive = two_dies(2, bch());
    drive.engine.link_rate = Rate(4_096_000_000);
    let run = drive.run(vec![read_units(0, 0, 4), read(1_000, 4)]);
    assert_eq!(run.completion_order(), [1, 0]);
    assert_eq!(run.completed_at(1), 1_000 + UNIT_READ + CLEAN + UNIT_TRANSFER);
    assert_eq!(run.completed_at(0), COMMAND + READ + 4 * (UNIT_TRANSFER + CLEAN) + 4 * UNIT_TRANSFER);
}

#[test]
fn the_units_of_a_move_are_placed_when_they_are_decoded() {
    let run = Drive::before_collection().with_ecc(bch()).run(vec![write(0, 18)]);
    // Units 7, 15 and 19 lie alone, and one of 20 to 23 fills their page; each is read when the one before is placed.
    let moved = run.decodes();
    assert!(moved.iter().all(|decode| decode.source == Source::GarbageCollection));
    let ends: Vec<u64> = moved.iter().map(|decode| decode.until).collect();
    assert_eq!(ends, [1, 2, 3, 4].map(|reads| reads * (UNIT_READ + CLEAN)));
    assert_eq!((run.code(NandCode::Ecc).codewords, run.reliable().ecc_units_moved), (4, 4));
    assert_eq!(run.issued(CommandKind::Program)[0].0, 4 * (UNIT_READ + CLEAN));
}
