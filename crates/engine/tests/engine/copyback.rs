//! Pages that dies copy by themselves: times by hand, how many go through the controller by formula, errors that go along.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_engine::reliability::NandCode;
use ninescope_engine::{NoProbe, Plain};
use ninescope_kernel::{RandomStream, Rate};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Arrival, Op};

use crate::common::generated;
use crate::reliability::drives::{Coded, LATER, bch, constant};
use crate::scenario::{
    COMMAND, Drive, Outcome, PAGE_PROGRAM, PROGRAM, READ, UNIT_TRANSFER, policy, read, sectors, write,
};

/// The default drive before the collection of group 0, of whose two pages the second one is valid as a whole: units 4 to 7. The
/// write of a unit of another group opens one of three free groups, which starts it.
fn before_copy(limit: u16) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..24).chain(0..4).chain(8..12).chain(16..20).chain(0..4).collect();
        drive.engine.gc_copybacks = limit;
    })
}

pub fn a_page_is_copied() -> Outcome {
    before_copy(1).run(vec![write(0, 0)])
}

#[test]
fn a_page_that_is_copied_saves_both_transfers() {
    let first_erase = |run: &Outcome| run.issued(CommandKind::Erase)[0].0;
    let through_controller = before_copy(0).run(vec![write(0, 0)]);
    assert_eq!(first_erase(&through_controller), COMMAND + READ + 4 * UNIT_TRANSFER + PAGE_PROGRAM);
    assert_eq!((through_controller.counters().copybacks, through_controller.counters().gc_page_reads > 0), (0, true));
    let run = a_page_is_copied();
    let (at, command) = run.issued(CommandKind::Program)[0];
    // Two commands, to read and to program, and no data.
    assert_eq!((at, run.ended(CommandKind::Program)[0]), (0, 2 * COMMAND + READ + PROGRAM));
    let from = run.copied()[0];
    assert_eq!((command.copies, from.block[0], from.page, command.bytes[0]), (true, 0, 1, 0));
    assert_eq!(first_erase(&run), 2 * COMMAND + READ + PROGRAM);
    assert_eq!(first_erase(&through_controller) - first_erase(&run), 2 * 4 * UNIT_TRANSFER);
    let counters = run.counters();
    assert_eq!((counters.gc_page_reads, counters.copybacks), (0, counters.gc_page_programs), "{counters:?}");
    assert!(run.issued(CommandKind::Read).is_empty(), "nothing is read into the controller");
}

#[test]
fn a_page_of_which_a_part_is_valid_is_put_together_in_the_controller() {
    let run = before_copy(5).run(vec![write(0, 5)]);
    let (at, command) = run.issued(CommandKind::Read)[0];
    assert_eq!((at, command.block[0], command.page[0]), (0, 0, 1));
    assert_eq!(run.counters().copybacks_at_limit, 0, "it is not the limit that keeps it from being copied");
}

#[test]
fn pages_of_a_victim_come_by_the_planes_that_have_their_turn() {
    // Of the oldest group units 0 and 3 are gone: of plane 0 it holds 2, 4 and 6, of plane 1 it holds 1, 5 and 7. In their order none
    // of them would meet its plane but the last ones.
    let drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes, drive.pages, drive.unit_bytes) = (2, 2, 4, 16_384);
        drive.prepared = (0..24).chain([0, 3]).chain(8..15).chain(16..23).collect();
        drive.victim = policy("fifo");
        drive.engine.gc_copybacks = 1;
    });
    let run = drive.run(vec![sectors(Op::Write, 0, 23 * 32, 32)]);
    let (erased, _) = run.issued(CommandKind::Erase)[0];
    assert!(run.issued(CommandKind::Read).iter().all(|&(at, _)| at >= erased), "nothing is read into the controller");
    let copies = run.issued(CommandKind::Program).into_iter().filter(|(at, command)| *at < erased && command.copies);
    let copies: Vec<_> = copies.zip(run.copied()).map(|((_, command), from)| (command.planes, from.page)).collect();
    assert_eq!(copies, [(0b01, 1), (0b10, 0), (0b11, 2), (0b11, 3)], "rows that are whole are copied by one command");
}

#[test]
fn a_copy_that_waits_for_its_stripe_goes_out_where_an_erase_waits_for_it() {
    // Of the oldest group unit 2 alone is left: its copy is the first page of a stripe, and nothing fills the second one.
    let drive = Drive::with(|drive| {
        (drive.planes, drive.frontier_planes, drive.pages, drive.unit_bytes) = (2, 2, 4, 16_384);
        drive.prepared = (0..24).chain([0, 1]).chain(3..17).collect();
        drive.victim = policy("fifo");
        drive.engine.gc_copybacks = 1;
    });
    // The unit is overwritten when its copy has its place: the group can be erased once the copy was made, of use to nobody.
    let write = |at, unit: u64| sectors(Op::Write, at, unit * 32, 32);
    let run = drive.run(vec![write(0, 17), write(1_000, 2)]);
    assert_eq!(run.ftl().moves_dropped_after_program, 1, "{:?}", run.counters());
    assert!(run.counters().group_erases > 0, "{:?}", run.counters());
}

/// Pages that reached the limit, of all that were moved, and the share of a victim that is valid. Mapping units are pages, so that
/// each page can be copied.
fn at_limit(limit: u16) -> (f64, f64) {
    let mut drive = Drive::with(|drive| {
        (drive.blocks, drive.pages, drive.unit_bytes) = (64, 16, 16_384);
        (drive.logical_units, drive.prepared) = (700, (0..700).collect());
        drive.victim = policy("fifo");
        drive.engine.gc_copybacks = limit;
        drive.timing.channel_rate = Rate(0);
        drive.limits.warmup_requests = 40_000;
    });
    drive.timing.program_pulses = 1;
    let (mut left, mut places) = (140_000_u32, RandomStream::new(7, "test", "uniform writes"));
    let workload = generated(Arrival::Closed, move || {
        left = left.checked_sub(1)?;
        Some(sectors(Op::Write, 0, places.below(700) * 32, 32))
    });
    let mut device = drive.device::<Plain>(Box::new(workload), NoProbe);
    device.run().expect("the run ends well");
    let (counters, ftl) = (device.counters(), device.ftl().counters());
    assert_eq!(counters.gc_page_reads, counters.copybacks_at_limit, "nothing else goes through the controller");
    let moves = (counters.copybacks + counters.gc_page_reads) as f64;
    let written = ftl.host_units as f64;
    (counters.copybacks_at_limit as f64 / moves, moves / (moves + written))
}

#[test]
fn after_so_many_copies_a_page_goes_through_the_controller() {
    // Victims are the oldest groups, and writes are uniform: a page is valid still when its group comes up with one chance p, however
    // often that was so before. Of its k-th moves there are p^k, and those with a k that the limit plus one divides are no copies.
    for limit in [1, 2, 4] {
        let (share, p) = at_limit(limit);
        let n = f64::from(limit);
        let expected = libm::pow(p, n) * (1.0 - p) / (1.0 - libm::pow(p, n + 1.0));
        println!("limit {limit}: {share:.4} for {expected:.4}, p = {p:.4}");
        assert!((share / expected - 1.0).abs() < 0.03, "limit {limit}: {share} for {expected}, p = {p}");
    }
}

#[test]
fn errors_of_a_page_that_is_copied_are_in_the_copy() {
    // A codeword of some 33,700 bits has fifteen errors in the mean; two readings have thirty, and the code corrects twice that.
    let errors = |limit| {
        let code = Bch { correctable: 60, ..bch() };
        let drive = before_copy(limit).with_ecc(code).with_errors(constant(15.0 / 33_728.0));
        let reads = (1..=400).map(|number| read(number * LATER, 4));
        let run = drive.run(std::iter::once(write(0, 0)).chain(reads).collect());
        assert_eq!(run.counters().copybacks > 0, limit > 0);
        let code = run.code(NandCode::Ecc);
        code.corrected_bits as f64 / code.codewords as f64
    };
    // Four standard deviations of a mean of 400 draws: 0.8 and 1.1.
    let (once, twice) = (errors(0), errors(1));
    assert!((once - 15.0).abs() < 0.8 && (twice - 30.0).abs() < 1.1, "{once} and {twice} errors of a codeword");
}

#[test]
fn what_is_copied_is_what_it_was() {
    for (planes, frontier_planes) in [(1, 1), (2, 1), (2, 2)] {
        let mut drive = Drive::busy();
        (drive.planes, drive.frontier_planes) = (planes, frontier_planes);
        drive.logical_units = 1_350 * planes;
        drive.prepared = (0..drive.logical_units).collect();
        drive.engine.gc_copybacks = 3;
        let run = drive.run(crate::scenario::mixed_requests(1, 20_000, drive.logical_units, 10_000, 30));
        let counters = run.counters();
        assert!(counters.copybacks > 0 && counters.gc_page_reads > 0, "{planes} planes: {counters:?}");
        assert!(counters.gc_page_programs > counters.copybacks, "{planes} planes: {counters:?}");
    }
}
