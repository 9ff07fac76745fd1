//! Times that depend on layer and wear, against what they are by hand.

use ninescope_kernel::Ns;
use ninescope_media::nand::{SLC_PAGE_TYPE, SlcTimes};
use ninescope_media::{CommandKind, EraseLoops, FlashCommand, Nand, NandTiming, TimeFactors, Wear, WearFactors};

use crate::harness::{
    DIE, Harness, LOOP, PROGRAM, RAMP, READ, RECOVER, command, erase, geometry, program, read, timing,
};

const ONE: u32 = 1_000_000;

fn row(cycles: u32, program: u32, erase: u32) -> WearFactors {
    WearFactors { cycles, program, erase }
}

fn worn(times: &TimeFactors, initial_cycles: u32) -> Nand {
    let timing = NandTiming { times: times.clone(), ..timing() };
    let wear = Wear { initial_cycles, suspend_limit: None };
    Nand::new(&geometry(), timing).expect("legal times").with_wear(wear, 1)
}

#[test]
fn the_mean_over_a_block_is_that_of_its_types_times_that_of_its_layers() {
    // Twelve pages: four layers of three, one of each type. In millionths 0.5 + 0.9 + 1.1 + 1.7 = 4.2, and 1 + 1 + 1.2 + 1.4 = 4.6.
    let times = TimeFactors {
        read_layers: vec![ONE, ONE, 1_200_000, 1_400_000],
        program_layers: vec![500_000, 900_000, 1_100_000, 1_700_000],
        ..TimeFactors::default()
    };
    let nand = worn(&times, 0);
    let of_block =
        |of: fn(u32, u32) -> FlashCommand| -> u64 { (0..12).map(|page| nand.array_time(&of(2, page)).0).sum() };
    assert_eq!(of_block(read), READ.iter().sum::<u64>() * 46 / 10);
    let exact = PROGRAM.iter().sum::<u64>() * 42 / 10;
    // A time is rounded down to a nanosecond.
    assert!((exact - 12..=exact).contains(&of_block(program)), "{} for {exact}", of_block(program));
    assert_eq!(nand.array_time(&program(2, 0)), Ns(PROGRAM[0] / 2));
    assert_eq!(nand.array_time(&program(2, 10)), Ns(PROGRAM[1] * 17 / 10));
    // Two senses, and the pulses of a program, whatever it takes.
    assert_eq!(nand.array_time(&FlashCommand { more_senses: 1, ..read(2, 9) }), Ns(READ[0] * 14 / 10 * 2));
    let mut harness = Harness { nand };
    harness.issue(&program(2, 0), 0);
    assert_eq!(
        harness.nand.running(DIE).map(|running| (running.segments, running.total)),
        Some((4, Ns(PROGRAM[0] / 2)))
    );
}

#[test]
fn programs_get_faster_and_erases_slower_along_the_line() {
    // From 1.0 to 0.8 and from 1.0 to 1.5 within 1,000 cycles; a quarter of that after 250.
    let times = TimeFactors { wear: vec![row(0, ONE, ONE), row(1_000, 800_000, 1_500_000)], ..TimeFactors::default() };
    for (cycles, program_factor, erase_factor) in
        [(0, 1_000, 1_000), (250, 950, 1_125), (1_000, 800, 1_500), (9_000, 800, 1_500)]
    {
        let nand = worn(&times, cycles);
        assert_eq!(nand.array_time(&program(2, 0)), Ns(PROGRAM[0] * program_factor / 1_000), "{cycles}");
        assert_eq!(nand.array_time(&erase(2)), Ns(3 * LOOP * erase_factor / 1_000), "{cycles}");
        assert_eq!(nand.array_time(&read(2, 1)), Ns(READ[1]), "{cycles}");
        // What queues expect of any page or block.
        let mean = nand.mean_times();
        assert_eq!(mean.program, Ns(PROGRAM.iter().sum::<u64>() / 3 * program_factor / 1_000));
        assert_eq!((mean.read, mean.erase), (Ns(READ.iter().sum::<u64>() / 3), Ns(3 * LOOP * erase_factor / 1_000)));
    }
}

#[test]
fn a_command_takes_as_long_as_its_slowest_plane() {
    // Each cycle makes a program faster by a tenth and an erase longer by a tenth; the block of plane 0 has one more than the other.
    let times = TimeFactors { wear: vec![row(0, ONE, ONE), row(5, 500_000, 1_500_000)], ..TimeFactors::default() };
    let mut nand = worn(&times, 0);
    let end = nand.begin_array(&erase(2), Ns(0)).expect("legal");
    assert_eq!(end, Ns(3 * LOOP));
    nand.end_array(DIE, end).expect("it ends");
    assert_eq!(nand.array_time(&program(2, 0)), Ns(PROGRAM[0] * 9 / 10));
    assert_eq!(nand.array_time(&command(CommandKind::Program, 0b11, 2, 0)), Ns(PROGRAM[0]));
    assert_eq!(nand.array_time(&erase(2)), Ns(3 * LOOP * 11 / 10));
    assert_eq!(nand.array_time(&command(CommandKind::Erase, 0b10, 2, 0)), Ns(3 * LOOP));
    assert_eq!(nand.array_time(&command(CommandKind::Erase, 0b11, 2, 0)), Ns(3 * LOOP * 11 / 10));
}

#[test]
fn what_is_suspended_has_the_rest_of_its_own_time_left() {
    let times = TimeFactors { wear: vec![row(0, ONE, 2 * ONE)], ..TimeFactors::default() };
    let mut harness = Harness::with(NandTiming { times, ..timing() });
    assert_eq!(harness.issue(&erase(1), 0), 6 * LOOP);
    harness.nand.stop_at(DIE, Ns(1_000_000));
    let now = 1_000_000 + RECOVER;
    harness.advance(now);
    harness.nand.resume(DIE, Ns(now));
    assert_eq!(harness.nand.resumed(DIE, Ns(now + RAMP)), Ns(now + RAMP + 6 * LOOP - 1_000_000));
    // Loops are as long as each other: two of three thirds are over in the third loop.
    let parked = *harness.nand.running(DIE).expect("it goes on");
    assert_eq!((parked.segments, parked.segment_end(1)), (3, Ns(4 * LOOP)));
}

#[test]
fn a_copyback_takes_the_read_of_one_layer_and_the_program_of_another() {
    let times = TimeFactors {
        read_layers: vec![ONE, 2 * ONE],
        program_layers: vec![ONE, 3 * ONE],
        wear: vec![row(0, 500_000, ONE)],
        ..TimeFactors::default()
    };
    let mut nand = worn(&times, 0);
    // From page 7, of type 1, to page 0, and from page 1 to page 6, of type 0.
    let copy = |page| FlashCommand { copies: true, ..program(2, page) };
    nand.copies_from(DIE, 0, (0, 7));
    assert_eq!(nand.array_time(&copy(0)), Ns(READ[1] * 2 + PROGRAM[0] / 2));
    nand.copies_from(DIE, 0, (0, 1));
    assert_eq!(nand.array_time(&copy(6)), Ns(READ[1] + PROGRAM[0] * 3 / 2));
}

#[test]
fn blocks_of_one_bit_have_the_same_layers() {
    // Four pages of one bit in a cell in the place of twelve: one in each layer.
    let times =
        TimeFactors { program_layers: vec![ONE, 2 * ONE, 3 * ONE, 4 * ONE], slc_pages: 4, ..TimeFactors::default() };
    let slc = Some(SlcTimes { read: Ns(20_000), program: Ns(100_000) });
    let nand = Nand::new(&geometry(), NandTiming { times, slc, ..timing() }).expect("legal times");
    let one_bit = |page| FlashCommand { page_type: Some(SLC_PAGE_TYPE), ..program(2, page) };
    assert_eq!([0, 1, 2, 3].map(|page| nand.array_time(&one_bit(page)).0), [100_000, 200_000, 300_000, 400_000]);
    assert_eq!(
        [0, 3, 6, 9].map(|page| nand.array_time(&program(2, page)).0),
        [1, 2, 3, 4].map(|layer| layer * PROGRAM[0])
    );
}

#[test]
fn factors_that_make_no_time_are_refused() {
    let refused = |change: fn(&mut NandTiming)| {
        let mut timing = timing();
        change(&mut timing);
        let error = Nand::new(&geometry(), timing).expect_err("it makes no sense");
        (error.key, error.message)
    };
    let layers = |factor: u32| TimeFactors { program_layers: vec![factor], ..TimeFactors::default() };
    let (key, message) = refused(|timing| {
        timing.program = vec![Ns(7); 3];
        timing.times.program_layers = vec![500_000];
    });
    assert_eq!(key, "times.program_layers");
    assert!(message.contains("3 ns") && message.contains('4'), "{message}");
    let (key, message) = refused(|timing| {
        timing.erase_loops = EraseLoops::Fixed(60);
        timing.erase_loop = Ns(1_000_000_000);
        timing.times.wear = vec![row(0, ONE, 100 * ONE)];
    });
    assert_eq!(key, "times.wear");
    assert!(message.contains("6000 s"), "{message}");
    assert_eq!(
        Nand::new(&geometry(), NandTiming { times: layers(0), ..timing() }).expect_err("none").key,
        "times.program_layers"
    );
    assert!(Nand::new(&geometry(), NandTiming { times: layers(10_000), ..timing() }).is_ok());
}
