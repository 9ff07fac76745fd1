//! The die machine from outside: which command is legal, and at which nanosecond things happen.

use crate::harness;

use harness::{DIE, Harness, LOOP, PROGRAM, RAMP, READ, RECOVER, command, erase, geometry, program, read, timing};
use ninescope_kernel::Ns;
use ninescope_media::health::{LimitByWear, SuspendLimit, WearPoint};
use ninescope_media::nand::SLC_PAGE_TYPE;
use ninescope_media::{
    CommandKind, DieState, Ended, EraseLoops, FlashCommand, IllegalCommand, LoopShares, Nand, NandTiming, PageTypes,
    PlaneGroups, PlaneReads, Stagger, Wear,
};
use ninescope_model::DieId;
use proptest::prelude::*;

// ---- durations

#[test]
fn array_time_follows_the_page_type() {
    let Harness { nand } = Harness::new();
    for page in 0..12 {
        let page_type = page as usize % 3;
        assert_eq!(nand.page_type(page), page_type);
        assert_eq!(nand.array_time(&read(0, page)), Ns(READ[page_type]));
        assert_eq!(nand.array_time(&program(0, page)), Ns(PROGRAM[page_type]));
    }
    assert_eq!(nand.array_time(&erase(0)), Ns(3 * LOOP));
    let four_planes = command(CommandKind::Read, 0b1111, 0, 1);
    assert_eq!(nand.array_time(&four_planes), Ns(READ[1]), "planes work at the same time");
}

/// Two planar parts: two bits to a cell, where a wordline's second bit is written after the first bit of the next one (Park et
/// al., IEEE Journal of Solid-State Circuits 43, 2008), and three bits to a cell with the pages of even and odd bit
/// lines side by side (Yaakobi et al., ICNC 2012).
#[test]
fn wordlines_that_are_filled_staggered_have_their_types_in_the_order_that_is_said() {
    let types = |first: &[u8], then: &[u8], last: &[u8]| {
        let (first, then, last) = (first.to_vec(), then.to_vec(), last.to_vec());
        let page_types = PageTypes::Staggered(Stagger { first, then, last });
        let Harness { nand } = Harness::with(NandTiming { page_types, ..timing() });
        for page in 0..12 {
            assert_eq!(nand.array_time(&read(0, page)), Ns(READ[nand.page_type(page)]));
            assert_eq!(nand.array_time(&program(0, page)), Ns(PROGRAM[nand.page_type(page)]));
        }
        (0..12).map(|page| nand.page_type(page)).collect::<Vec<_>>()
    };
    assert_eq!(types(&[0], &[0, 1], &[1]), [0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]);
    assert_eq!(types(&[0, 0, 0, 0, 0, 0, 1, 1], &[0, 0, 1, 1, 2, 2], &[]), [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(types(&[], &[0, 0, 1, 1, 2, 2], &[2]), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_copyback_senses_and_programs_in_one_piece() {
    let mut harness = Harness::new();
    let copy = |page| FlashCommand { copies: true, ..program(2, page) };
    assert_eq!(harness.nand.command_address_time(&copy(0)), Ns(400), "of a read and of a program");
    let end = READ[1] + PROGRAM[0];
    harness.nand.copies_from(DIE, 0, (0, 1));
    assert_eq!(harness.issue(&copy(0), 0), end);
    harness.nand.stop_at(DIE, Ns(1_000));
    assert_eq!(harness.nand.stop_time(DIE), None, "its register is taken until it is programmed");
    harness.advance(end);
    assert_eq!(harness.nand.programmed_pages(DIE, 0, 2), 1);
    // It is copied from where something lies, to the next page.
    let empty = IllegalCommand::PageNotProgrammed { die: DIE, plane: 0, block: 0, page: 3 };
    harness.nand.copies_from(DIE, 0, (0, 3));
    assert_eq!(harness.probe(&copy(1)), Err(empty));
    harness.nand.copies_from(DIE, 0, (0, 1));
    let order = IllegalCommand::ProgramOutOfOrder { die: DIE, plane: 0, block: 2, page: 2, next_page: 1 };
    assert_eq!(harness.probe(&copy(2)), Err(order));
    // What several planes copy is read by one command.
    let two_planes = FlashCommand { planes: 0b110, ..copy(0) };
    let from_two_blocks = |nand: &mut Nand| {
        nand.copies_from(DIE, 1, (0, 2));
        nand.copies_from(DIE, 2, (1, 2));
    };
    from_two_blocks(&mut harness.nand);
    let apart = IllegalCommand::BlocksDiffer { die: DIE, plane: 2, block: 1, first_block: 0 };
    assert_eq!(harness.probe(&two_planes), Err(apart));
    let mut any_block = Harness::with(NandTiming { read_any_block: true, ..timing() });
    from_two_blocks(&mut any_block.nand);
    assert_eq!(any_block.probe(&two_planes), Ok(()));
}

#[test]
fn a_wordline_is_programmed_in_one_go() {
    let geometry = geometry().with_pages_per_program(3).expect("four wordlines of three pages");
    let timing = NandTiming { program: vec![Ns(PROGRAM[2]); 3], program_load: Ns(5_000), ..timing() };
    let mut harness = Harness { nand: Nand::new(&geometry, timing).expect("legal times") };
    let wordline = |page| FlashCommand { bytes: [3 * 16_384; 4], planes: 0b11, ..program(2, page) };
    // Each page has a command, an address and a burst of its own; between pages of one plane it is busy with the last one.
    let nand = &harness.nand;
    assert_eq!((nand.pages_of(&wordline(0)), nand.pages_of(&read(2, 0)), nand.pages_of(&erase(2))), (3, 1, 1));
    assert_eq!(nand.command_address_time(&wordline(0)), Ns(6 * 200));
    assert_eq!((nand.data_in_time(&wordline(0)), nand.load_time(&wordline(0))), (Ns(6 * 49_202), Ns(2 * 5_000)));
    assert_eq!(harness.issue(&wordline(0), 0), PROGRAM[2]);
    // Suspended, no page of it can be read; when it is over, all can, and the next wordline is next.
    harness.nand.stop_at(DIE, Ns(1));
    harness.advance(PROGRAM[2] / 4 + 1 + RECOVER);
    for page in 0..3 {
        let half = IllegalCommand::PageBeingProgrammed { die: DIE, plane: 0, block: 2, page };
        assert_eq!(harness.probe(&read(2, page)), Err(half));
    }
    let resumed = 1_000_000;
    let ramped = harness.nand.resume(DIE, Ns(resumed));
    harness.advance(ramped.0 + PROGRAM[2]);
    assert_eq!(harness.nand.programmed_pages(DIE, 1, 2), 3);
    assert_eq!([0, 1, 2].map(|page| harness.probe(&read(2, page))), [Ok(()); 3]);
    let order = IllegalCommand::ProgramOutOfOrder { die: DIE, plane: 0, block: 2, page: 1, next_page: 3 };
    assert_eq!(harness.probe(&wordline(1)), Err(order));
    assert_eq!(harness.probe(&wordline(3)), Ok(()));
    harness.nand.set_programmed_pages(DIE, 0, 2, 10, 0);
    let beyond = IllegalCommand::NoSuchPage { die: DIE, plane: 0, block: 2, page: 12 };
    assert_eq!(harness.probe(&FlashCommand { planes: 1, ..wordline(10) }), Err(beyond));
    // One bit in a cell makes a wordline of a page.
    let slc = FlashCommand { page_type: Some(SLC_PAGE_TYPE), bytes: [16_384; 4], ..program(3, 0) };
    assert_eq!((harness.nand.pages_of(&slc), harness.nand.load_time(&slc)), (1, Ns(0)));
    assert_eq!(harness.nand.data_in_time(&slc), Ns(49_202));
}

#[test]
fn channel_times_count_planes_and_round_a_burst_up_once() {
    let Harness { nand } = Harness::new();
    assert_eq!(nand.command_address_time(&read(0, 0)), Ns(200));
    assert_eq!(nand.command_address_time(&command(CommandKind::Erase, 0b1011, 0, 0)), Ns(600));
    // 16 384 B at 333 MB/s: 49 201.2 ns, while four bursts of 4 096 B are rounded four times.
    assert_eq!(nand.data_time(16_384), Ns(49_202));
    assert_eq!(nand.data_time(4_096), Ns(12_301));
    assert_eq!((nand.data_time(0), nand.data_time(1)), (Ns(0), Ns(4)));
}

#[test]
fn impossible_times_name_their_key() {
    let key = |change: fn(&mut NandTiming)| {
        let mut timing = timing();
        change(&mut timing);
        Nand::new(&geometry(), timing).expect_err("refused").key
    };
    assert_eq!(key(|timing| timing.read.clear()), "read");
    assert_eq!(key(|timing| timing.read.resize(5, Ns(1))), "read");
    assert_eq!(key(|timing| timing.read[1] = Ns(0)), "read");
    assert_eq!(key(|timing| timing.program.truncate(2)), "program");
    assert_eq!(key(|timing| timing.program[0] = Ns(3)), "program");
    assert_eq!(key(|timing| timing.program_pulses = 0), "program_pulses");
    for (first, then) in [(vec![], vec![]), (vec![3], vec![0]), (vec![0], vec![1, 3])] {
        let page_types = PageTypes::Staggered(Stagger { first, then, last: vec![] });
        let error = Nand::new(&geometry(), NandTiming { page_types, ..timing() }).expect_err("refused");
        assert_eq!(error.key, "page_types");
    }
    assert_eq!(key(|timing| timing.erase_loops = EraseLoops::Fixed(0)), "erase_loops");
    assert_eq!(key(|timing| timing.erase_loop = Ns(0)), "erase_loop");
    assert_eq!(key(|timing| timing.erase_loops = EraseLoops::Fixed(u32::MAX)), "erase_loops");
    assert_eq!(key(|timing| timing.suspend_recover = Ns::NEVER), "suspend_recover");
}

// ---- legality

#[test]
fn a_refusal_names_the_state_and_changes_nothing() {
    let (mut harness, now) = Harness::suspended_erase();
    let refused = harness.nand.begin_array(&program(0, 3), Ns(now));
    assert_eq!(refused, Err(IllegalCommand::OnlyReadsWhileSuspended { die: DIE, kind: CommandKind::Program }));
    harness.issue(&read(0, 0), now);
    let state = DieState::Suspended { foreground: true };
    let refused = harness.nand.begin_array(&read(0, 1), Ns(now));
    assert_eq!(refused, Err(IllegalCommand::DieNotReady { die: DIE, state, kind: CommandKind::Read }));
    assert_eq!(harness.nand.state(DIE), state);
    assert_eq!(harness.nand.programmed_pages(DIE, 0, 0), 3);
}

#[test]
fn an_address_must_exist() {
    let harness = Harness::new();
    let refusal = |command: FlashCommand| harness.probe(&command).expect_err("illegal");
    let die = DIE;
    let stranger = FlashCommand { die: DieId(2), ..erase(0) };
    assert_eq!(refusal(stranger), IllegalCommand::NoSuchDie { die: DieId(2) });
    assert_eq!(refusal(command(CommandKind::Read, 0, 0, 0)), IllegalCommand::NoPlane { die });
    let beyond = command(CommandKind::Read, 0b1_0001, 0, 0);
    assert_eq!(refusal(beyond), IllegalCommand::NoSuchPlane { die, plane: 4 });
    assert_eq!(refusal(erase(6)), IllegalCommand::NoSuchBlock { die, plane: 0, block: 6 });
    let mut last_plane = command(CommandKind::Erase, 0b1000, 0, 0);
    last_plane.block = [99, 99, 99, 5];
    assert_eq!(harness.probe(&last_plane), Ok(()), "planes that are not addressed do not count");
}

#[test]
fn pages_are_programmed_in_order_once_between_erases() {
    let mut harness = Harness::new();
    let out_of_order =
        |page, next_page| Err(IllegalCommand::ProgramOutOfOrder { die: DIE, plane: 0, block: 2, page, next_page });
    assert_eq!(harness.probe(&program(2, 1)), out_of_order(1, 0));
    let mut now = 0;
    for page in 0..12 {
        now = harness.issue(&program(2, page), now);
        assert_eq!(harness.nand.programmed_pages(DIE, 0, 2), page, "not before the end");
        harness.advance(now);
        assert_eq!(harness.probe(&program(2, page)), out_of_order(page, page + 1));
        assert_eq!(harness.probe(&read(2, page)), Ok(()));
    }
    let full = IllegalCommand::NoSuchPage { die: DIE, plane: 0, block: 2, page: 12 };
    assert_eq!(harness.probe(&program(2, 12)), Err(full));
    let end = harness.issue(&erase(2), now);
    harness.advance(end);
    assert_eq!((harness.nand.programmed_pages(DIE, 0, 2), harness.nand.erase_count(DIE, 0, 2)), (0, 1));
    assert_eq!(harness.probe(&program(2, 0)), Ok(()));
}

#[test]
fn a_page_is_read_only_when_it_is_programmed() {
    let harness = Harness::new();
    assert_eq!(harness.probe(&read(0, 2)), Ok(()));
    let empty = |block, page| Err(IllegalCommand::PageNotProgrammed { die: DIE, plane: 0, block, page });
    assert_eq!(harness.probe(&read(0, 3)), empty(0, 3));
    assert_eq!(harness.probe(&read(2, 0)), empty(2, 0));
    assert_eq!(harness.probe(&read(0, 12)), empty(0, 12));
}

#[test]
fn a_multi_plane_command_addresses_one_block_index_but_for_reads_of_any_block() {
    let mixed = |kind, page| FlashCommand { block: [9, 1, 0, 9], ..command(kind, 0b0110, 0, page) };
    let differ = Err(IllegalCommand::BlocksDiffer { die: DIE, plane: 2, block: 0, first_block: 1 });
    let strict = Harness::new();
    let any = Harness::with(NandTiming { read_any_block: true, ..timing() });
    for (kind, page) in [(CommandKind::Read, 0), (CommandKind::Program, 3), (CommandKind::Erase, 0)] {
        assert_eq!(strict.probe(&mixed(kind, page)), differ);
        let expected = if kind == CommandKind::Read { Ok(()) } else { differ };
        assert_eq!(any.probe(&mixed(kind, page)), expected);
    }
}

#[test]
fn a_multi_plane_command_addresses_one_page_but_where_the_part_takes_any() {
    // Block 0 holds three pages, block 1 too.
    let apart = |kind, pages| FlashCommand { block: [9, 1, 0, 9], page: pages, ..command(kind, 0b0110, 0, 0) };
    let (reads, programs) = (apart(CommandKind::Read, [9, 2, 1, 9]), apart(CommandKind::Program, [9, 3, 3, 9]));
    let strict = Harness::with(NandTiming { read_any_block: true, ..timing() });
    let differ = Err(IllegalCommand::PagesDiffer { die: DIE, plane: 2, page: 1, first_page: 2 });
    assert_eq!(strict.probe(&reads), differ);
    let any = Harness::with(NandTiming { any_page: true, ..timing() });
    assert_eq!((any.probe(&reads), any.probe(&programs)), (Ok(()), Ok(())));
    // Each plane programs its next page all the same.
    let early = apart(CommandKind::Program, [9, 3, 4, 9]);
    let (plane, page, next_page) = (2, 4, 3);
    let out_of_order = IllegalCommand::ProgramOutOfOrder { die: DIE, plane, block: 0, page, next_page };
    assert_eq!(any.probe(&early), Err(out_of_order));
}

#[test]
fn a_command_addresses_planes_of_one_group_of_neighbours() {
    let pairs = Harness::with(NandTiming { planes_per_command: 2, ..timing() });
    let apart = Err(IllegalCommand::PlanesApart { die: DIE, plane: 2, first_plane: 1, together: 2 });
    assert_eq!(pairs.probe(&command(CommandKind::Erase, 0b0110, 0, 0)), apart);
    for planes in [0b0011, 0b1100, 0b1000] {
        assert_eq!(pairs.probe(&command(CommandKind::Erase, planes, 0, 0)), Ok(()));
    }
    let timing = NandTiming { planes_per_command: 2, plane_groups: PlaneGroups::Interleaved, ..timing() };
    let interleaved = Harness::with(timing);
    let apart = Err(IllegalCommand::PlanesApart { die: DIE, plane: 1, first_plane: 0, together: 2 });
    assert_eq!(interleaved.probe(&command(CommandKind::Erase, 0b0011, 0, 0)), apart);
    for planes in [0b0101, 0b1010, 0b1000] {
        assert_eq!(interleaved.probe(&command(CommandKind::Erase, planes, 0, 0)), Ok(()));
    }
    assert_eq!(
        [0, 1, 2, 3].map(|plane| interleaved.nand.planes_apart_from(plane) & 0b1111),
        [0b1010, 0b0101, 0b1010, 0b0101]
    );
    assert_eq!(
        [0, 1, 2, 3].map(|plane| pairs.nand.planes_apart_from(plane) & 0b1111),
        [0b1100, 0b1100, 0b0011, 0b0011]
    );
    assert_eq!(Harness::new().nand.planes_apart_from(2) & 0b1111, 0);
}

#[test]
fn planes_read_each_by_itself_where_the_part_can() {
    let mut harness = Harness::with(NandTiming { plane_reads: PlaneReads::Independently, ..timing() });
    let of_plane = |plane: u32, block: u32, page: u32| command(CommandKind::Read, 1 << plane, block, page);
    // Page 0 of plane 0 from 100 on, and page 1 of another block of plane 2 while that runs: each has its own type.
    assert_eq!(harness.issue(&of_plane(0, 0, 0), 100), 100 + READ[0]);
    assert_eq!(harness.issue(&of_plane(2, 1, 1), 10_000), 10_000 + READ[1]);
    assert_eq!(harness.probe(&of_plane(0, 1, 1)), Err(IllegalCommand::PlaneReads { die: DIE, plane: 0 }));
    assert_eq!(harness.probe(&of_plane(3, 1, 1)), Ok(()));
    let together = Err(IllegalCommand::PlanesReadAlone { die: DIE, planes: 0b1010 });
    assert_eq!(harness.probe(&command(CommandKind::Read, 0b1010, 0, 1)), together);
    for kind in [CommandKind::Program, CommandKind::Erase] {
        let held = Err(IllegalCommand::PlanesRead { die: DIE, planes: 0b101, kind });
        assert_eq!(harness.probe(&command(kind, 0b1000, 0, 3)), held);
    }
    // Each ends by itself, not before its time, and once.
    assert!(harness.nand.end_plane_read(DIE, 0, Ns(99 + READ[0])).is_err());
    let ended = harness.nand.end_plane_read(DIE, 0, Ns(100 + READ[0])).expect("it is through");
    assert_eq!((ended.command, ended.began), (of_plane(0, 0, 0), Ns(100)));
    assert!(harness.nand.end_plane_read(DIE, 0, Ns(1_000_000)).is_err() && harness.nand.plane_read(DIE, 0).is_none());
    assert!(harness.nand.plane_read(DIE, 2).is_some() && harness.probe(&program(0, 3)).is_err());
    harness.nand.end_plane_read(DIE, 2, Ns(1_000_000)).expect("reads may be reported later");
    // A program takes all of the die, too.
    harness.issue(&program(0, 3), 1_000_000);
    assert!(matches!(harness.probe(&of_plane(1, 0, 0)), Err(IllegalCommand::DieNotReady { .. })));
}

#[test]
fn a_multi_plane_command_changes_exactly_its_planes() {
    let mut harness = Harness::new();
    let end = harness.issue(&command(CommandKind::Program, 0b1010, 0, 3), 0);
    harness.advance(end);
    let pages = [0, 1, 2, 3].map(|plane| harness.nand.programmed_pages(DIE, plane, 0));
    assert_eq!(pages, [3, 4, 3, 4]);
    let uneven = command(CommandKind::Program, 0b0011, 0, 3);
    let reason = IllegalCommand::ProgramOutOfOrder { die: DIE, plane: 1, block: 0, page: 3, next_page: 4 };
    assert_eq!(harness.probe(&uneven), Err(reason));
    let end = harness.issue(&command(CommandKind::Erase, 0b0111, 0, 0), end);
    harness.advance(end);
    let blocks = [0, 1, 2, 3]
        .map(|plane| (harness.nand.programmed_pages(DIE, plane, 0), harness.nand.erase_count(DIE, plane, 0)));
    assert_eq!(blocks, [(0, 6), (0, 6), (0, 6), (4, 5)]);
    assert_eq!(harness.nand.programmed_pages(DieId(0), 1, 0), 0, "the other die has blocks of its own");
}

#[test]
fn half_erased_and_half_programmed_cells_are_not_read() {
    let (harness, _) = Harness::suspended_erase();
    let erased = IllegalCommand::BlockBeingErased { die: DIE, plane: 0, block: 1, page: 2 };
    assert_eq!(harness.probe(&read(1, 2)), Err(erased));
    let other_plane = command(CommandKind::Read, 0b10, 1, 2);
    assert_eq!(harness.probe(&other_plane), Ok(()), "the block of another plane is another block");

    let mut harness = Harness::new();
    harness.issue(&program(0, 3), 0);
    harness.nand.stop_at(DIE, Ns(1));
    harness.advance(1_000_000);
    let programmed = IllegalCommand::PageBeingProgrammed { die: DIE, plane: 0, block: 0, page: 3 };
    assert_eq!(harness.probe(&read(0, 3)), Err(programmed));
    assert_eq!(harness.probe(&read(0, 2)), Ok(()));
}

// ---- time

#[test]
fn a_die_is_free_when_its_array_phase_ends() {
    for (command, time) in [(read(0, 1), READ[1]), (program(0, 3), PROGRAM[0]), (erase(1), 3 * LOOP)] {
        let mut harness = Harness::new();
        assert_eq!(harness.issue(&command, 5_000), 5_000 + time, "phases may begin in the future");
        assert_eq!(harness.nand.end_time(DIE), Ns(5_000 + time));
        harness.assert_earliest_ready_at(&erase(3), 5_000 + time);
    }
}

#[test]
fn an_erase_takes_the_loops_of_its_slowest_block_at_its_wear() {
    // Half of the blocks take one loop when new; from 10 cycles on all take three.
    let rows =
        vec![LoopShares { cycles: 0, shares: vec![0.5, 0.5] }, LoopShares { cycles: 10, shares: vec![0.0, 0.0, 1.0] }];
    let timing = NandTiming { erase_loops: EraseLoops::ByWear(rows), ..timing() };
    let nand = |initial_cycles| {
        let wear = Wear { initial_cycles, suspend_limit: None };
        Nand::new(&geometry(), timing.clone()).expect("legal times").with_wear(wear, 1)
    };
    let one_plane = |plane: usize| FlashCommand { planes: 1 << plane, block: [1; 4], ..erase(1) };
    let new = nand(0);
    let times: Vec<Ns> = (0..4).map(|plane| new.array_time(&one_plane(plane))).collect();
    assert!(times.iter().all(|time| [Ns(LOOP), Ns(2 * LOOP)].contains(time)), "{times:?}");
    assert!(times.iter().min() < times.iter().max(), "the seed was chosen so that the four blocks differ");
    let all = FlashCommand { planes: 0b1111, block: [1; 4], ..erase(1) };
    assert_eq!(new.array_time(&all), Ns(2 * LOOP));
    assert_eq!(nand(10).array_time(&one_plane(0)), Ns(3 * LOOP));
    // Erases here count on from there.
    let mut nand = nand(9);
    let end = nand.begin_array(&one_plane(0), Ns(0)).expect("legal");
    assert!(end < Ns(3 * LOOP) || nand.cycles(DIE, 0, 1) == 9);
    nand.end_array(DIE, end).expect("it ends");
    assert_eq!((nand.cycles(DIE, 0, 1), nand.array_time(&one_plane(0))), (10, Ns(3 * LOOP)));
}

#[test]
fn suspensions_beyond_what_an_erase_bears_are_told_at_its_end() {
    let limit = |cycles, per_loop| WearPoint { cycles, per_loop };
    let by_wear = LimitByWear::new(limit(100, 2), limit(1_000, 1)).expect("legal");
    let limit = SuspendLimit::new(by_wear, 1e-6, 1.0).expect("legal");
    for (initial_cycles, excess) in [(100, 0), (1_000, 2)] {
        // Three loops bear six suspensions when young and three when worn; five come.
        let wear = Wear { initial_cycles, suspend_limit: Some(limit) };
        let mut nand = Nand::new(&geometry(), timing()).expect("legal times").with_wear(wear, 1);
        nand.begin_array(&erase(1), Ns(0)).expect("legal");
        let mut now = Ns(0);
        for _ in 0..5 {
            nand.stop_at(DIE, now + Ns(1_000));
            let recovered = nand.stop_reached(DIE, now + Ns(1_000));
            nand.recovered(DIE, recovered);
            now = nand.resume(DIE, recovered);
            nand.resumed(DIE, now);
        }
        let end = nand.end_time(DIE);
        let ended = nand.end_array(DIE, end).expect("it ends");
        assert_eq!((ended.suspensions, ended.excess_suspensions), (5, excess), "{initial_cycles} cycles");
        assert!((nand.added_rber(ended.excess_suspensions) - f64::from(excess) * 1e-6).abs() < 1e-18);
    }
}

#[test]
fn the_end_returns_the_command_unread() {
    let mut harness = Harness::new();
    let command = FlashCommand { bytes: [4_096, 0, 0, 0], ..read(0, 0) };
    harness.issue(&command, 0);
    let ended = harness.nand.end_array(DIE, Ns(READ[0] + 9_000)).expect("data may leave before the end is told");
    assert_eq!(ended, Ended { command, suspensions: 0, segments: 1, began: Ns(0), excess_suspensions: 0 });
    let state = DieState::Idle;
    assert_eq!(harness.nand.end_array(DIE, Ns(READ[0])), Err(IllegalCommand::NothingRuns { die: DIE, state }));
}

#[test]
fn a_suspended_erase_to_the_nanosecond() {
    let mut harness = Harness::new();
    let end = harness.issue(&erase(1), 1_000);
    harness.nand.stop_at(DIE, Ns(2_001_000));
    assert_eq!((harness.nand.stop_time(DIE), harness.nand.end_time(DIE)), (Some(Ns(2_001_000)), Ns(end)));
    harness.assert_earliest_ready_at(&read(0, 1), 2_001_000 + RECOVER);

    let mut now = 2_001_000 + RECOVER;
    harness.advance(now);
    let parked = *harness.nand.parked(DIE).expect("the erase is parked");
    assert_eq!((parked.done, parked.suspensions), (Ns(2_000_000), 1));
    assert_eq!((harness.nand.running(DIE), harness.nand.end_time(DIE)), (None, Ns::NEVER));

    assert_eq!(harness.issue(&read(0, 1), now), now + READ[1]);
    assert_eq!(harness.nand.running(DIE).expect("the read runs").command, read(0, 1));
    harness.assert_earliest_ready_at(&read(0, 0), now + READ[1]);
    now += READ[1];
    harness.advance(now);

    assert_eq!(harness.nand.resume(DIE, Ns(now)), Ns(now + RAMP));
    now += RAMP;
    assert_eq!(harness.nand.resumed(DIE, Ns(now)), Ns(now + 3 * LOOP - 2_000_000));
    assert_eq!(harness.nand.parked(DIE), None);
    harness.assert_earliest_ready_at(&erase(1), end + RECOVER + READ[1] + RAMP);
    let end = Ns(end + RECOVER + READ[1] + RAMP);
    let ended = harness.nand.end_array(DIE, end).expect("an exact end");
    assert_eq!(
        ended,
        Ended { command: erase(1), suspensions: 1, segments: 3, began: Ns(1_000), excess_suspensions: 0 }
    );
    assert_eq!((harness.nand.programmed_pages(DIE, 0, 1), harness.nand.erase_count(DIE, 0, 1)), (0, 6));
}

#[test]
fn an_erase_that_stops_at_every_safe_point() {
    for loops in [1, 2, 3, 5] {
        for points in [1, 3, 10, 30] {
            let mut harness = Harness::with(NandTiming { erase_loops: EraseLoops::Fixed(loops), ..timing() });
            harness.issue(&erase(1), 0);
            let mut now = Ns::ZERO;
            let ended = loop {
                let running = *harness.nand.running(DIE).expect("the erase runs");
                harness.nand.stop_at(DIE, running.next_safe_point(now, points));
                let Some(stop) = harness.nand.stop_time(DIE) else {
                    now = harness.nand.end_time(DIE);
                    break harness.nand.end_array(DIE, now).expect("pulse time is conserved");
                };
                assert!(stop.0 - now.0 <= (LOOP / u64::from(points)) + 1, "a wait longer than one safe point");
                now = harness.nand.stop_reached(DIE, stop);
                harness.nand.recovered(DIE, now);
                now = harness.nand.resume(DIE, now);
                harness.nand.resumed(DIE, now);
            };
            let suspensions = u64::from(ended.suspensions);
            assert_eq!(ended.suspensions, points * loops - 1, "the last safe point is the end");
            assert_eq!(now.0, u64::from(loops) * LOOP + suspensions * (RECOVER + RAMP));
        }
    }
}

#[test]
fn a_stop_that_equals_the_end_is_an_end() {
    let mut harness = Harness::new();
    let end = harness.issue(&erase(1), 0);
    harness.nand.stop_at(DIE, Ns(end - 1));
    assert_eq!(harness.nand.stop_time(DIE), Some(Ns(end - 1)));
    harness.nand.stop_at(DIE, Ns(end));
    assert_eq!(harness.nand.stop_time(DIE), None, "it takes the place of the earlier request");
    harness.nand.stop_at(DIE, Ns(end + 1));
    assert_eq!(harness.nand.stop_time(DIE), None);
    assert_eq!(harness.nand.next_change(DIE), Ns(end));
}

#[test]
fn a_request_to_stop_can_be_taken_back() {
    let mut harness = Harness::new();
    let end = harness.issue(&erase(1), 0);
    harness.nand.stop_at(DIE, Ns(1_000));
    harness.nand.clear_stop(DIE);
    harness.assert_earliest_ready_at(&erase(1), end);
}

#[test]
fn a_program_stops_at_pulse_boundaries() {
    // 700 001 ns in four pulses: boundaries are floors of multiples of 175 000.25 ns.
    let boundaries = [175_000, 350_000, 525_000];
    let mut harness = Harness::new();
    harness.nand.set_programmed_pages(DIE, 0, 0, 5, 0);
    harness.issue(&program(0, 5), 1_000);
    let running = *harness.nand.running(DIE).expect("the program runs");
    for (index, boundary) in boundaries.into_iter().enumerate() {
        assert_eq!(running.segment_end(index as u32), Ns(boundary));
    }
    assert_eq!((running.segment_end(3), running.segment_end(9)), (Ns(700_001), Ns(700_001)));
    for (asked, stops) in [(0, 175_000), (174_999, 175_000), (175_000, 175_000), (175_001, 350_000), (400_000, 525_000)]
    {
        harness.nand.stop_at(DIE, Ns(1_000 + asked));
        assert_eq!(harness.nand.stop_time(DIE), Some(Ns(1_000 + stops)), "asked at {asked}");
    }
    harness.nand.stop_at(DIE, Ns(1_000 + 525_001));
    assert_eq!(harness.nand.stop_time(DIE), None, "the last boundary is the end");
}

#[test]
fn a_resumed_operation_moves_on_before_it_stops_again() {
    let (mut harness, now) = Harness::suspended_erase();
    let resumed = harness.nand.resume(DIE, Ns(now));
    harness.nand.resumed(DIE, resumed);
    harness.nand.stop_at(DIE, resumed);
    assert_eq!(harness.nand.stop_time(DIE), Some(resumed + Ns(1)));
    harness.nand.require_progress(DIE, Ns(1_700_000));
    harness.nand.stop_at(DIE, resumed);
    assert_eq!(harness.nand.stop_time(DIE), Some(resumed + Ns(700_000)));
    let running = harness.nand.running(DIE).expect("the erase runs");
    let point = running.next_safe_point(resumed, 10);
    assert_eq!(point, resumed + Ns(750_000), "the next tenth of a loop after 1.7 ms is 1.75 ms");
}

#[test]
fn safe_points_of_a_stretch_that_has_not_begun() {
    let mut harness = Harness::new();
    let end = harness.issue(&erase(1), 50_000);
    let running = *harness.nand.running(DIE).expect("taken from the call on");
    assert_eq!(running.progress(Ns(10)), Ns::ZERO);
    assert_eq!(running.next_safe_point(Ns(10), 10), Ns(50_000 + LOOP / 10));
    assert_eq!(running.next_safe_point(Ns(50_000 + LOOP / 10), 10), Ns(50_000 + LOOP / 10));
    assert_eq!(running.next_safe_point(Ns(10), 1), Ns(50_000 + LOOP));
    assert_eq!(running.next_safe_point(Ns(10), 0), Ns(end));
    assert_eq!(running.next_safe_point(Ns(50_000 + 2 * LOOP + 1), 1), Ns(end));
    harness.nand.stop_at(DIE, Ns(10));
    assert_eq!(harness.nand.stop_time(DIE), Some(Ns(50_000)), "nothing stops before it starts");
}

#[test]
fn an_end_with_the_wrong_pulse_time_is_an_error_and_changes_nothing() {
    let mut harness = Harness::new();
    let end = harness.issue(&erase(1), 0);
    for now in [end - 1, end + 1] {
        let lost = IllegalCommand::PulseTimeLost { die: DIE, plane: 0, block: 1, page: 0, done_ns: now, total_ns: end };
        assert_eq!(harness.nand.end_array(DIE, Ns(now)), Err(lost));
    }
    assert_eq!((harness.nand.programmed_pages(DIE, 0, 1), harness.nand.erase_count(DIE, 0, 1)), (3, 5));
    assert!(harness.nand.end_array(DIE, Ns(end)).is_ok());
}

proptest! {
    #[test]
    fn random_suspensions_conserve_pulse_time(
        is_erase in any::<bool>(),
        segments in 1_u32..6,
        start in 0_u64..1_000_000,
        steps in prop::collection::vec((0_u64..4_000_000, 0_u64..3, 0_u64..50_000), 0..40),
    ) {
        let timing = NandTiming { erase_loops: EraseLoops::Fixed(segments), program_pulses: segments, ..timing() };
        let mut harness = Harness::with(timing);
        let command = if is_erase { erase(1) } else { program(0, 3) };
        let total = harness.issue(&command, start) - start;
        let (mut overhead, mut suspensions) = (0, 0);
        let mut now = Ns(start);
        for (stretch, reads, pause) in steps {
            harness.nand.stop_at(DIE, now + Ns(stretch));
            let Some(stop) = harness.nand.stop_time(DIE) else { continue };
            prop_assert!(stop >= now && stop < harness.nand.end_time(DIE));
            let recovered = harness.nand.stop_reached(DIE, stop);
            harness.nand.recovered(DIE, recovered);
            now = recovered;
            for _ in 0..reads {
                now = Ns(harness.issue(&read(0, 2), now.0));
                harness.nand.end_array(DIE, now).expect("a read ends");
            }
            now = harness.nand.resume(DIE, now + Ns(pause));
            harness.nand.resumed(DIE, now);
            overhead += now.0 - stop.0;
            suspensions += 1;
            let running = harness.nand.running(DIE).expect("it goes on");
            prop_assert_eq!(running.done + Ns(overhead + start), now);
            prop_assert!(is_erase || (0..segments).any(|pulse| running.segment_end(pulse) == running.done));
        }
        let end = harness.nand.end_time(DIE);
        prop_assert_eq!(end, Ns(start + total + overhead));
        let ended = harness.nand.end_array(DIE, end).expect("pulse time is conserved");
        prop_assert_eq!(ended, Ended { command, suspensions, segments, began: Ns(start), excess_suspensions: 0 });
    }

    #[test]
    fn the_next_safe_point_is_the_first_of_all_of_them(
        total in 1_u64..5_000, segments in 1_u32..8, points in 1_u32..12, done in 0_u64..5_000, ahead in 0_u64..5_000, least in 0_u64..6_000,
    ) {
        let operation = ninescope_media::Operation {
            command: erase(0),
            started: Ns(1_000),
            total: Ns(total),
            done: Ns(done % total),
            segments,
            suspensions: 0,
            run_until_at_least: Ns(least),
            began: Ns(0),
            stopped: Ns(0),
            lost: Ns(0),
        };
        let now = Ns(1_000 + ahead);
        let count = u64::from(segments * points);
        let earliest = operation.progress(now).max(operation.run_until_at_least);
        let expected = (1..count).map(|index| Ns(total * index / count)).find(|&point| point >= earliest).unwrap_or(Ns(total));
        prop_assert_eq!(operation.next_safe_point(now, points), Ns(1_000) + (expected - operation.done));
        // The loop that runs is the last one whose beginning is reached.
        let begins: Vec<Ns> = (0..u64::from(segments)).map(|index| Ns(total * index / u64::from(segments))).collect();
        let loop_index = begins.iter().rposition(|&begin| begin <= operation.progress(now)).expect("0 is reached");
        prop_assert_eq!(operation.segment_at(now) as usize, loop_index);
        prop_assert_eq!(operation.segment_begin(now), begins[loop_index]);
    }

    /// However often loops are stopped and begun anew, the erase ends when each was done once without a stop.
    #[test]
    fn a_loop_begun_anew_loses_what_was_done_of_it(
        loops in 1_u32..5, stretches in prop::collection::vec(1_u64..4_000_000, 0..20),
    ) {
        let mut harness = Harness::with(NandTiming { erase_loops: EraseLoops::Fixed(loops), ..timing() });
        let total = harness.issue(&erase(1), 0);
        let loop_time = total / u64::from(loops);
        let (mut now, mut done, mut lost) = (Ns(0), 0, 0);
        for stretch in stretches {
            harness.nand.stop_and_restart_loop(DIE, now + Ns(stretch));
            let Some(stop) = harness.nand.stop_time(DIE) else { break };
            let reached = done + (stop - now).0;
            lost += reached % loop_time;
            done = reached - reached % loop_time;
            let recovered = harness.nand.stop_reached(DIE, stop);
            harness.nand.recovered(DIE, recovered);
            let parked = harness.nand.parked(DIE).expect("it is parked");
            prop_assert_eq!((parked.done, parked.lost), (Ns(done), Ns(lost)));
            now = harness.nand.resume(DIE, recovered);
            prop_assert_eq!(harness.nand.resumed(DIE, now), now + Ns(total - done));
        }
        let end = harness.nand.end_time(DIE);
        prop_assert_eq!(end, now + Ns(total - done));
        harness.nand.clear_stop(DIE);
        harness.nand.end_array(DIE, end).expect("pulse time is conserved");
    }
}
