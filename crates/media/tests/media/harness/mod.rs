//! A die under test, driven by three verbs. `probe` asks without changing anything, `issue` starts a command
//! that must be legal, `assert_earliest_ready_at` says that a command is refused until one nanosecond before a
//! time and legal at it.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use ninescope_kernel::{Ns, Rate};
use ninescope_media::{
    CommandKind, DieState, EraseLoops, FlashCommand, IllegalCommand, Nand, NandTiming, PageTypes, PlaneGroups,
    PlaneReads,
};
use ninescope_model::{DieId, Geometry};

/// The die under test, the second of two.
pub const DIE: DieId = DieId(1);
/// Recovery after a stop [ns].
pub const RECOVER: u64 = 100_000;
/// Ramp before pulses go on [ns].
pub const RAMP: u64 = 30_000;
/// One of three erase loops [ns].
pub const LOOP: u64 = 3_500_000;
/// tPROG by page type [ns]; the last does not divide by the number of pulses, so that pulse boundaries are rounded.
pub const PROGRAM: [u64; 3] = [350_000, 420_000, 700_001];
/// tR by page type [ns].
pub const READ: [u64; 3] = [34_000, 52_000, 41_000];

/// The part under test.
pub fn timing() -> NandTiming {
    NandTiming {
        read: READ.map(Ns).to_vec(),
        program: PROGRAM.map(Ns).to_vec(),
        slc: None,
        page_types: PageTypes::InTurn,
        program_pulses: 4,
        erase_loop: Ns(LOOP),
        erase_loops: EraseLoops::Fixed(3),
        command_address: Ns(200),
        suspend_recover: Ns(RECOVER),
        resume_ramp: Ns(RAMP),
        channel_rate: Rate(333_000_000),
        read_any_block: false,
        any_page: false,
        planes_per_command: 4,
        plane_groups: PlaneGroups::Neighbours,
        plane_reads: PlaneReads::Together,
        cache_read: None,
        times: Default::default(),
        program_load: Ns::ZERO,
    }
}

/// Two dies of four planes, six blocks per plane, twelve pages per block.
pub fn geometry() -> Geometry {
    Geometry::checked(2, 1, 1, 4, 6, 12, 16_384, 4_096, 4).expect("a legal geometry")
}

pub fn command(kind: CommandKind, planes: u8, block: u32, page: u32) -> FlashCommand {
    FlashCommand {
        kind,
        planes,
        die: DIE,
        page: [page; 4],
        block: [block; 4],
        transaction: [7, 8, 9, 10],
        ..Default::default()
    }
}

pub fn read(block: u32, page: u32) -> FlashCommand {
    command(CommandKind::Read, 0b1, block, page)
}

pub fn program(block: u32, page: u32) -> FlashCommand {
    command(CommandKind::Program, 0b1, block, page)
}

pub fn erase(block: u32) -> FlashCommand {
    command(CommandKind::Erase, 0b1, block, 0)
}

/// A drive whose blocks 0 and 1 hold three pages in each plane of [`DIE`], the others none.
#[derive(Clone)]
pub struct Harness {
    pub nand: Nand,
}

impl Harness {
    pub fn new() -> Self {
        Self::with(timing())
    }

    pub fn with(timing: NandTiming) -> Self {
        let mut nand = Nand::new(&geometry(), timing).expect("legal times");
        for plane in 0..4 {
            nand.set_programmed_pages(DIE, plane, 0, 3, 5);
            nand.set_programmed_pages(DIE, plane, 1, 3, 5);
        }
        Self { nand }
    }

    pub fn probe(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        self.nand.check(command)
    }

    /// Starts a command at `at`; returns its end.
    pub fn issue(&mut self, command: &FlashCommand, at: u64) -> u64 {
        self.nand.begin_array(command, Ns(at)).expect("a legal command").0
    }

    /// Lets everything happen that happens by itself up to and including `until`.
    pub fn advance(&mut self, until: u64) {
        while self.nand.next_change(DIE) <= Ns(until) {
            let now = self.nand.next_change(DIE);
            match self.nand.state(DIE) {
                DieState::Busy if self.nand.stop_time(DIE) == Some(now) => {
                    self.nand.stop_reached(DIE, now);
                }
                DieState::Busy | DieState::Suspended { .. } => {
                    self.nand.end_array(DIE, now).expect("an exact end");
                }
                DieState::Recovering => self.nand.recovered(DIE, now),
                DieState::Resuming => {
                    self.nand.resumed(DIE, now);
                }
                DieState::Idle => unreachable!("an idle die waits for nothing"),
            }
        }
    }

    pub fn assert_earliest_ready_at(&self, command: &FlashCommand, at: u64) {
        let mut earlier = self.clone();
        earlier.advance(at - 1);
        assert!(earlier.probe(command).is_err(), "{:?} is legal before {at}", command.kind);
        earlier.advance(at);
        assert_eq!(earlier.probe(command), Ok(()), "{:?} at {at}", command.kind);
    }

    /// An erase of block 1 suspended after 1 ms of pulses; it is `1 ms + RECOVER` now.
    pub fn suspended_erase() -> (Self, u64) {
        let mut harness = Self::new();
        harness.issue(&erase(1), 0);
        harness.nand.stop_at(DIE, Ns(1_000_000));
        let now = 1_000_000 + RECOVER;
        harness.advance(now);
        assert_eq!(harness.nand.state(DIE), DieState::Suspended { foreground: false });
        (harness, now)
    }
}
