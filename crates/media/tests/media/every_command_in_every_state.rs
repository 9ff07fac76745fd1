//! Every command in every state of a die: who is refused, for which reason, and from which nanosecond on no longer.
//!
//! A scene is a die to which things are done at given times. It is looked at in the first and in the last
//! nanosecond of each of its states, so that every command is seen one tick before each change and at it.

use crate::harness;

use Verdict::{Empty, Erased, Legal, NotReady, OutOfOrder, Programmed, ReadsOnly};
use harness::{DIE, Harness, LOOP, PROGRAM, RAMP, READ, RECOVER, command, erase, program, read};
use ninescope_kernel::Ns;
use ninescope_media::{CommandKind, DieState, FlashCommand, IllegalCommand};
use ninescope_model::DieId;

// ---- commands and what becomes of them

/// Everything that is tried. The operation that runs or is parked works on block 1 in planes 0 and 1; blocks 0
/// and 1 hold pages 0 to 2 in each plane, the others nothing.
fn commands() -> [FlashCommand; COMMANDS] {
    [
        read(0, 1),
        command(CommandKind::Read, 0b1111, 0, 1),
        read(1, 2),
        read(1, 3),
        command(CommandKind::Read, 0b1110, 1, 2),
        command(CommandKind::Read, 0b1100, 1, 2),
        program(0, 3),
        program(1, 3),
        command(CommandKind::Program, 0b1100, 0, 3),
        erase(2),
        erase(1),
        command(CommandKind::Erase, 0b1111, 3, 0),
    ]
}

const COMMANDS: usize = 12;

/// What the die says to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Legal,
    /// The die works, or its voltages move.
    NotReady,
    /// An operation is parked.
    ReadsOnly,
    /// The block is half erased.
    Erased,
    /// The page is half programmed.
    Programmed,
    /// The page holds nothing.
    Empty,
    /// The next page of the block is another one.
    OutOfOrder(u32),
}

impl Verdict {
    /// The answer to `command` in `state`, word by word. The first plane that breaks a rule is named.
    fn answer(self, command: &FlashCommand, state: DieState) -> Result<(), IllegalCommand> {
        let FlashCommand { die, kind, .. } = *command;
        let plane = command.planes.trailing_zeros();
        let (block, page) = (command.block[plane as usize], command.page[plane as usize]);
        Err(match self {
            Legal => return Ok(()),
            NotReady => IllegalCommand::DieNotReady { die, state, kind },
            ReadsOnly => IllegalCommand::OnlyReadsWhileSuspended { die, kind },
            Erased => IllegalCommand::BlockBeingErased { die, plane, block, page },
            Programmed => IllegalCommand::PageBeingProgrammed { die, plane, block, page },
            Empty => IllegalCommand::PageNotProgrammed { die, plane, block, page },
            OutOfOrder(next_page) => IllegalCommand::ProgramOutOfOrder { die, plane, block, page, next_page },
        })
    }
}

/// One verdict for each of [`commands`].
type Row = [Verdict; COMMANDS];

/// Blocks as they are at first.
#[rustfmt::skip]
const AT_FIRST: Row = [
    Legal, Legal, Legal, Empty, Legal, Legal,
    Legal, Legal, Legal,
    Legal, Legal, Legal,
];

/// Beside a parked erase of block 1, planes 0 and 1: reads of everything else.
#[rustfmt::skip]
const BESIDE_ERASE: Row = [
    Legal, Legal, Erased, Erased, Erased, Legal,
    ReadsOnly, ReadsOnly, ReadsOnly,
    ReadsOnly, ReadsOnly, ReadsOnly,
];

/// Block 1 holds nothing in planes 0 and 1.
#[rustfmt::skip]
const AFTER_ERASE: Row = [
    Legal, Legal, Empty, Empty, Empty, Legal,
    Legal, OutOfOrder(0), Legal,
    Legal, Legal, Legal,
];

/// Beside a parked program of page 3 of block 1: its other pages can be read.
#[rustfmt::skip]
const BESIDE_PROGRAM: Row = [
    Legal, Legal, Legal, Programmed, Legal, Legal,
    ReadsOnly, ReadsOnly, ReadsOnly,
    ReadsOnly, ReadsOnly, ReadsOnly,
];

/// Block 1 holds page 3 too in planes 0 and 1.
#[rustfmt::skip]
const AFTER_PROGRAM: Row = [
    Legal, Legal, Legal, Legal, Legal, Legal,
    Legal, OutOfOrder(4), Legal,
    Legal, Legal, Legal,
];

/// Something runs beside a parked operation.
#[rustfmt::skip]
const BESIDE_BOTH: Row = [
    NotReady, NotReady, NotReady, NotReady, NotReady, NotReady,
    ReadsOnly, ReadsOnly, ReadsOnly,
    ReadsOnly, ReadsOnly, ReadsOnly,
];

const NOTHING: Row = [NotReady; COMMANDS];

// ---- scenes

/// What is done to the die. What it does by itself at that instant comes before.
#[derive(Clone, Copy, Debug)]
enum Step {
    Issue(FlashCommand),
    Stop,
    Resume,
}

/// A die over time.
struct Scene {
    steps: Vec<(u64, Step)>,
}

impl Scene {
    /// The die as it is at `now`, after everything that happens then.
    fn at(&self, now: u64) -> Harness {
        let mut harness = Harness::new();
        for &(at, step) in self.steps.iter().filter(|(at, _)| *at <= now) {
            harness.advance(at);
            match step {
                Step::Issue(command) => drop(harness.issue(&command, at)),
                Step::Stop => harness.nand.stop_at(DIE, Ns(at)),
                Step::Resume => drop(harness.nand.resume(DIE, Ns(at))),
            }
        }
        harness.advance(now);
        harness
    }

    /// What every command is told at `now`; a refused one changes nothing, and the other die does not care.
    fn assert_verdicts(&self, now: u64, state: DieState, row: &Row) {
        let harness = self.at(now);
        assert_eq!(harness.nand.state(DIE), state, "at {now}");
        for (command, verdict) in commands().iter().zip(row) {
            let answer = verdict.answer(command, state);
            assert_eq!(harness.probe(command), answer, "at {now}: {command:?}");
            let mut asked = harness.clone();
            let begun = asked.nand.begin_array(command, Ns(now));
            assert_eq!(begun.map(|_| ()), answer, "at {now}: {command:?}");
            let unmoved =
                (asked.nand.state(DIE), asked.nand.next_change(DIE)) == (state, harness.nand.next_change(DIE));
            assert_eq!(unmoved, answer.is_err(), "at {now}: {command:?}");
            let other = FlashCommand { die: DieId(0), ..erase(1) };
            assert_eq!(harness.probe(&other), Ok(()), "dies are independent");
        }
    }

    /// Walks the states, each with the time at which it begins.
    fn assert_states(&self, states: &[(u64, DieState, Row)]) {
        for (index, (from, state, row)) in states.iter().enumerate() {
            let last = states.get(index + 1).map_or(from + 1_000_000, |(next, ..)| next - 1);
            self.assert_verdicts(*from, *state, row);
            self.assert_verdicts(last, *state, row);
        }
    }

    /// Refused for this reason one nanosecond before `at`, legal at it.
    fn assert_earliest_ready_at(&self, command: &FlashCommand, at: u64, until_then: Verdict) {
        let before = self.at(at - 1);
        assert_eq!(before.probe(command), until_then.answer(command, before.nand.state(DIE)), "before {at}");
        assert_eq!(self.at(at).probe(command), Ok(()), "at {at}: {command:?}");
    }
}

const PARKED: DieState = DieState::Suspended { foreground: false };
const PARKED_AND_READING: DieState = DieState::Suspended { foreground: true };

/// When the operation of a scene begins [ns].
const BEGINS: u64 = 1_000;

/// `operation`, asked to stop at `asked`, which it does at `stop`; a read of block 0 beside it; resumed 7 us after
/// that. Returns the times at which the die's state changes, up to the one at which pulses go on.
fn suspended_once(operation: FlashCommand, asked: u64, stop: u64) -> (Scene, [u64; 6]) {
    let recovered = stop + RECOVER;
    let reads = recovered + 5_000;
    let has_read = reads + READ[1];
    let resumes = has_read + 7_000;
    let steps = vec![
        (BEGINS, Step::Issue(operation)),
        (asked, Step::Stop),
        (reads, Step::Issue(read(0, 1))),
        (resumes, Step::Resume),
    ];
    (Scene { steps }, [stop, recovered, reads, has_read, resumes, resumes + RAMP])
}

/// The states of [`suspended_once`] for an operation that ends at `end`.
fn states_of(times: [u64; 6], end: u64, parked: Row, after: Row) -> [(u64, DieState, Row); 9] {
    let [stop, recovered, reads, has_read, resumes, goes_on] = times;
    [
        (0, DieState::Idle, AT_FIRST),
        (BEGINS, DieState::Busy, NOTHING),
        (stop, DieState::Recovering, NOTHING),
        (recovered, PARKED, parked),
        (reads, PARKED_AND_READING, BESIDE_BOTH),
        (has_read, PARKED, parked),
        (resumes, DieState::Resuming, NOTHING),
        (goes_on, DieState::Busy, NOTHING),
        (end, DieState::Idle, after),
    ]
}

/// An erase stops where it is asked to: here after 1 ms of its pulses. Returns its end too.
fn erase_suspended_once() -> (Scene, [u64; 6], u64) {
    let stop = BEGINS + 1_000_000;
    let (scene, times) = suspended_once(command(CommandKind::Erase, 0b0011, 1, 0), stop, stop);
    (scene, times, times[5] + 3 * LOOP - 1_000_000)
}

/// Page 3 is of the first type: four pulses of 87 500 ns. Asked to stop in the third, the program stops at the end
/// of that. Returns its end too.
fn program_suspended_once() -> (Scene, [u64; 6], u64) {
    let asked = BEGINS + 2 * 87_500 + 1;
    let stop = BEGINS + 3 * 87_500;
    let (scene, times) = suspended_once(command(CommandKind::Program, 0b0011, 1, 3), asked, stop);
    (scene, times, times[5] + PROGRAM[0] - 3 * 87_500)
}

// ---- what must hold

#[test]
fn a_die_that_works_takes_nothing_until_its_array_phase_ends() {
    let planes = |kind, page| command(kind, 0b0011, 1, page);
    for (operation, time, after) in [
        (read(1, 1), READ[1], AT_FIRST),
        (planes(CommandKind::Read, 2), READ[2], AT_FIRST),
        (planes(CommandKind::Program, 3), PROGRAM[0], AFTER_PROGRAM),
        (planes(CommandKind::Erase, 0), 3 * LOOP, AFTER_ERASE),
    ] {
        let scene = Scene { steps: vec![(BEGINS, Step::Issue(operation))] };
        scene.assert_states(&[
            (0, DieState::Idle, AT_FIRST),
            (BEGINS, DieState::Busy, NOTHING),
            (BEGINS + time, DieState::Idle, after),
        ]);
    }
}

#[test]
fn around_a_suspended_erase_every_command_is_taken_exactly_when_it_may() {
    let (scene, times, end) = erase_suspended_once();
    scene.assert_states(&states_of(times, end, BESIDE_ERASE, AFTER_ERASE));
}

#[test]
fn around_a_suspended_program_every_command_is_taken_exactly_when_it_may() {
    let (scene, times, end) = program_suspended_once();
    scene.assert_states(&states_of(times, end, BESIDE_PROGRAM, AFTER_PROGRAM));
}

#[test]
fn a_read_is_ready_when_voltages_have_recovered_and_again_when_the_one_before_ends() {
    for (scene, [_, recovered, _, has_read, ..], end) in [erase_suspended_once(), program_suspended_once()] {
        scene.assert_earliest_ready_at(&read(0, 1), recovered, NotReady);
        scene.assert_earliest_ready_at(&read(0, 1), has_read, NotReady);
        scene.assert_earliest_ready_at(&read(0, 1), end, NotReady);
    }
}

#[test]
fn what_writes_is_ready_only_when_the_suspended_operation_has_ended() {
    let four_planes = command(CommandKind::Erase, 0b1111, 3, 0);
    for (scene, [.., resumes, _], end) in [erase_suspended_once(), program_suspended_once()] {
        for command in [program(0, 3), erase(2), erase(1), four_planes] {
            assert_eq!(scene.at(resumes - 1).probe(&command), ReadsOnly.answer(&command, PARKED));
            scene.assert_earliest_ready_at(&command, end, NotReady);
        }
    }
}

#[test]
fn the_cells_of_an_operation_are_read_when_it_has_ended_and_hold_what_it_left() {
    let (scene, _, end) = program_suspended_once();
    scene.assert_earliest_ready_at(&read(1, 3), end, NotReady);
    let (scene, _, end) = erase_suspended_once();
    assert_eq!(scene.at(end).probe(&read(1, 2)), Empty.answer(&read(1, 2), DieState::Idle));
    scene.assert_earliest_ready_at(&program_of_the_first_page(), end, NotReady);
}

/// Of block 1, in the planes of the operation.
fn program_of_the_first_page() -> FlashCommand {
    command(CommandKind::Program, 0b0011, 1, 0)
}

#[test]
fn an_operation_that_is_suspended_twice_pays_recovery_and_ramp_twice() {
    let (mut scene, times, end) = erase_suspended_once();
    let goes_on = times[5];
    // Asked to stop at once it does a nanosecond of pulses first; nothing is read beside it.
    let resumes = goes_on + 1 + RECOVER + 300;
    scene.steps.push((goes_on, Step::Stop));
    scene.steps.push((resumes, Step::Resume));
    scene.assert_earliest_ready_at(&read(0, 1), goes_on + 1 + RECOVER, NotReady);
    scene.assert_earliest_ready_at(&erase(2), end + RECOVER + 300 + RAMP, NotReady);
    let before = scene.at(end + RECOVER + 300 + RAMP - 1);
    assert_eq!(before.nand.running(DIE).expect("the erase runs").suspensions, 2);
}
