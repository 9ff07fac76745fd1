//! What encoding adds to programs, of flash.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_engine::WriteCompletion;
use ninescope_engine::reliability::NandCode;
use ninescope_media::nand::CommandKind;
use ninescope_model::units::Bytes;
use ninescope_model::{Cause, Occupancy, Op};

use crate::reliability::drives::{Coded, ENCODE, bch, cache, clean, coded};
use crate::scenario::{COMMAND, Drive, PAGE_PROGRAM, PROGRAM, UNIT_READ, UNIT_TRANSFER, read, write, write_units};

/// A drive whose writes complete with their program.
fn write_through(mut drive: Drive) -> Drive {
    drive.engine.write_completion = WriteCompletion::Program;
    drive
}

#[test]
fn the_die_waits_for_the_encoder_and_the_channel_does_not() {
    let run = write_through(coded()).run(vec![write_units(0, 8, 4)]);
    assert_eq!(
        run.parts(Op::Write),
        [(Cause::CommandArray, COMMAND + PROGRAM), (Cause::Transfer, 4 * UNIT_TRANSFER), (Cause::Encode, 4 * ENCODE),]
    );
    assert_eq!(run.latency(0), PAGE_PROGRAM + 4 * ENCODE);
    assert_eq!(run.code(NandCode::Ecc).encoded_codewords, 4);
    let mut device = run.device;
    let used = device.utilization();
    assert_eq!(used.dies[0][Occupancy::HostProgram as usize], PAGE_PROGRAM + 4 * ENCODE);
    assert_eq!(used.channels[0].0, COMMAND + 4 * UNIT_TRANSFER);
}

#[test]
fn a_padded_page_is_encoded_whole() {
    let run = write_through(coded()).run(vec![write(0, 8)]);
    assert_eq!(run.latency(0), PAGE_PROGRAM + 4 * ENCODE);
    // One codeword of a page is encoded once.
    let drive = Drive { reliability: Default::default(), ..coded() };
    let whole = write_through(drive.with_ecc(Bch { user_data: Bytes(16_384), ..bch() })).run(vec![write(0, 8)]);
    assert_eq!(whole.latency(0), PAGE_PROGRAM + ENCODE);
}

#[test]
fn the_pages_of_a_multi_plane_program_are_encoded_one_after_the_other() {
    let drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes) = (2, 2);
        drive.logical_units = 48;
    });
    let run = write_through(drive.with_ecc(bch())).run(vec![write_units(0, 0, 8)]);
    assert_eq!(run.latency(0), 2 * COMMAND + 8 * UNIT_TRANSFER + 8 * ENCODE + PROGRAM);
    assert!(run.parts(Op::Write).contains(&(Cause::Encode, 8 * ENCODE)));
}

#[test]
fn parity_moves_into_the_page_with_its_data() {
    let drive = Drive { reliability: Default::default(), ..coded() }.with_ecc(Bch { moves_parity: true, ..bch() });
    let run = write_through(drive).run(vec![write_units(0, 8, 4)]);
    // 4 x (4096 + 96) B at 4.096 B/ns.
    assert!(run.parts(Op::Write).contains(&(Cause::Transfer, 4_094)));
}

#[test]
fn a_read_behind_a_program_waits_for_its_encoding_too() {
    let run = coded().run(vec![write_units(0, 8, 4), read(1_000, 0)]);
    assert!(run.parts(Op::Read).contains(&(Cause::DieHostProgram, PAGE_PROGRAM + 4 * ENCODE - 1_000)));
    assert_eq!(run.completed_at(1), PAGE_PROGRAM + 4 * ENCODE + UNIT_READ + crate::reliability::drives::CLEAN);
}

#[test]
fn each_stream_is_encoded_by_its_code() {
    let run = write_through(cache()).run(vec![write_units(0, 8, 4), clean(write_units(1_000_000, 12, 4))]);
    assert_eq!(run.code(NandCode::Ecc).encoded_codewords, 4);
    assert_eq!(run.code(NandCode::Edc).encoded_codewords, 4);
    let groups = [8, 12].map(|unit| run.device.ftl().geometry().group_and_offset(run.place_of(unit)).0);
    assert_ne!(groups[0], groups[1], "in groups of their own");
    assert_eq!(run.issued(CommandKind::Program).len(), 2);
}
