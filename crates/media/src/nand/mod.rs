//! NAND flash: all dies and blocks of a drive.
//!
//! A command goes through three phases whose lengths are asked here and whose order the caller arranges:
//! command and data on the channel, the array, data out on the channel. Only the array phase occupies the
//! die's state machine. The caller brings each time stamp back when it comes: [`Nand::end_array`],
//! [`Nand::stop_reached`], [`Nand::recovered`], [`Nand::resumed`].
//!
//! Nothing is allocated after construction.

mod block_table;
mod command;
mod die;
mod erase_loops;
mod legality;
mod operation;
mod page_types;
mod plane_reads;
mod time_factors;
mod timing;

use ninescope_kernel::{Ns, Rate};
use ninescope_model::{DieId, Geometry};

use crate::health::SuspendLimit;

pub use command::{CommandKind, CopiedFrom, FlashCommand};
pub use die::{DieState, Ended};
pub use erase_loops::{EraseLoops, LoopShares};
pub use legality::IllegalCommand;
pub use operation::Operation;
pub use page_types::{PageTypes, Stagger};
pub use time_factors::{ONE as FACTOR_ONE, TimeFactors, WearFactors};
pub use timing::{NandTiming, PlaneGroups, PlaneReads, SLC_PAGE_TYPE, SlcTimes, TimingError};

use block_table::{Block, BlockTable};
use die::Die;
use erase_loops::LoopTable;
use plane_reads::ReadsByPlane;
use time_factors::FactorTable;
use timing::Durations;

/// All dies and blocks of the drive.
#[derive(Clone, Debug)]
pub struct Nand {
    timing: NandTiming,
    durations: Durations,
    dies: Vec<Die>,
    /// What planes read each by itself, where they do.
    plane_reads: Option<Box<ReadsByPlane>>,
    /// By die: what its next copyback copies, or its last one did.
    copied_from: Vec<CopiedFrom>,
    blocks: BlockTable,
    erase_loops: LoopTable,
    wear: Wear,
    mean_times: MeanTimes,
    /// Reads of pages that are not programmed are taken: what they bring is told by nobody here.
    senses_unwritten: bool,
}

/// What accesses take in the array, whichever page and block they are of [ns].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeanTimes {
    /// A read, in the mean of all page types.
    pub read: Ns,
    /// A program, likewise.
    pub program: Ns,
    /// An erase of the most loops.
    pub erase: Ns,
}

/// What blocks have behind them, and what they bear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wear {
    /// P/E cycles of every block before its first erase here [count].
    pub initial_cycles: u32,
    /// Suspensions an erase bears; `None`: any number.
    pub suspend_limit: Option<SuspendLimit>,
}

impl Nand {
    /// Idle dies with erased blocks that were never erased before.
    ///
    /// # Errors
    /// When the time constants cannot be used, see [`NandTiming::check`].
    pub fn new(geometry: &Geometry, timing: NandTiming) -> Result<Self, TimingError> {
        let blocks = BlockTable::new(geometry);
        Ok(Self {
            durations: Durations::new(&timing, geometry)?,
            mean_times: timing.mean_times(0),
            dies: vec![Die::default(); geometry.dies() as usize],
            plane_reads: ReadsByPlane::new(timing.plane_reads, geometry),
            copied_from: vec![CopiedFrom::default(); geometry.dies() as usize],
            erase_loops: LoopTable::new(&timing.erase_loops, blocks.len()),
            blocks,
            wear: Wear::default(),
            senses_unwritten: false,
            timing,
        })
    }

    /// Takes reads of pages that are not programmed yet from now on.
    pub fn sense_unwritten(&mut self) {
        self.senses_unwritten = true;
    }

    /// Whether reads of pages that are not programmed are taken.
    pub fn senses_unwritten(&self) -> bool {
        self.senses_unwritten
    }

    /// No flash at all: no die and no block, whose times nobody asks.
    pub fn absent() -> Self {
        let (read, program, one) = (vec![Ns(1)], vec![Ns(1)], Ns(1));
        let timing = NandTiming {
            read,
            program,
            slc: None,
            page_types: PageTypes::InTurn,
            program_pulses: 1,
            program_load: Ns::ZERO,
            erase_loop: one,
            erase_loops: EraseLoops::Fixed(1),
            command_address: one,
            suspend_recover: one,
            resume_ramp: one,
            channel_rate: Rate(0),
            read_any_block: false,
            any_page: false,
            planes_per_command: 4,
            plane_groups: PlaneGroups::Neighbours,
            plane_reads: PlaneReads::Together,
            cache_read: None,
            times: TimeFactors::default(),
        };
        Self::new(&Geometry::absent(), timing).expect("a nanosecond each is legal")
    }

    /// The same with worn blocks, which differ from each other as `seed` says.
    #[must_use]
    pub fn with_wear(mut self, wear: Wear, seed: u64) -> Self {
        self.wear = wear;
        self.mean_times = self.timing.mean_times(wear.initial_cycles);
        self.erase_loops.vary(seed);
        self
    }
}

/// Durations: functions of the command alone.
impl Nand {
    /// Channel time of the command and address cycles, for each addressed plane [ns].
    #[inline]
    pub fn command_address_time(&self, command: &FlashCommand) -> Ns {
        self.durations.command_address_time(command)
    }

    /// Channel time of one burst of `bytes`, rounded up once [ns].
    #[inline]
    pub fn data_time(&self, bytes: u64) -> Ns {
        self.durations.data_time(bytes)
    }

    /// Channel time of the data of a program, each page a burst [ns].
    #[inline]
    pub fn data_in_time(&self, command: &FlashCommand) -> Ns {
        self.durations.data_in_time(command)
    }

    /// Time for which planes are busy with pages of a wordline between their bursts [ns].
    #[inline]
    pub fn load_time(&self, command: &FlashCommand) -> Ns {
        self.durations.load_time(command)
    }

    /// Pages of each plane that a command is of: those of a wordline where they are programmed in one go [count].
    #[inline]
    pub fn pages_of(&self, command: &FlashCommand) -> u32 {
        self.durations.pages_of(command)
    }

    /// Array time without suspensions, were the command to begin now [ns]. All planes work on the same page
    /// offset, so a read or program takes as long as one of them; an erase takes as long as its slowest block.
    #[inline]
    pub fn array_time(&self, command: &FlashCommand) -> Ns {
        self.array_phase(command).0
    }

    #[inline]
    fn array_phase(&self, command: &FlashCommand) -> (Ns, u32) {
        if let Some(factors) = &self.durations.factors {
            return self.phase_by_place(command, factors);
        }
        if command.copies {
            return self.durations.copyback(self.copied_from(command.die).page, command.first_page());
        }
        self.durations.array_phase(command, self.erase_loops(command))
    }

    /// The same of a part whose times depend on layer and wear: as long as the slowest of its planes, loops as in the block that takes
    /// most of them.
    #[inline(never)]
    fn phase_by_place(&self, command: &FlashCommand, factors: &FactorTable) -> (Ns, u32) {
        let durations = &self.durations;
        let senses = u64::from(command.more_senses) + 1;
        let (mut total, mut segments) = (Ns::ZERO, 1);
        for plane in command.addressed_planes() {
            let (page, block) = (command.page[plane], command.block[plane]);
            let (page_type, one_bit) = durations.type_of(command, page);
            let cycles = || self.cycles(command.die, plane as u32, block);
            let time = match command.kind {
                CommandKind::Read => Ns(factors.read(durations.read_of(page_type), page, one_bit).0 * senses),
                CommandKind::Program => {
                    let program = factors.program(durations.program_of(page_type), (page, one_bit), cycles());
                    if command.copies {
                        let from = self.copied_from(command.die).page;
                        factors.read(durations.read_of(self.page_type(from)), from, false) + program
                    } else {
                        segments = durations.program_pulses;
                        program
                    }
                }
                CommandKind::Erase => {
                    let cycles = cycles();
                    let loops = self.erase_loops.loops(self.blocks.index(command.die, plane, block), cycles);
                    segments = segments.max(loops);
                    factors.erase(durations.erase_of(loops), cycles)
                }
            };
            total = total.max(time);
        }
        (total, segments)
    }

    /// What accesses take in the array, whichever page and block they are of [ns].
    pub fn mean_times(&self) -> MeanTimes {
        self.mean_times
    }

    /// Loops an erase takes, those of its slowest block; 0 for other commands [count].
    #[inline]
    fn erase_loops(&self, command: &FlashCommand) -> u32 {
        if command.kind != CommandKind::Erase {
            return 0;
        }
        let loops = command.addressed_planes().map(|plane| {
            let block = self.blocks.index(command.die, plane, command.block[plane]);
            self.erase_loops.loops(block, self.cycles(command.die, plane as u32, command.block[plane]))
        });
        loops.max().unwrap_or(1)
    }

    /// The constants that all durations follow from.
    pub fn timing(&self) -> &NandTiming {
        &self.timing
    }

    /// Which bit of its cells a page is: 0 for the LSB page.
    #[inline]
    pub fn page_type(&self, page: u32) -> usize {
        self.durations.page_type(page)
    }
}

/// Blocks.
impl Nand {
    /// Puts a block into the state a prepared drive needs: `pages` programmed, `erase_count` erases.
    pub fn set_programmed_pages(&mut self, die: DieId, plane: u32, block: u32, pages: u32, erase_count: u32) {
        debug_assert!(pages <= self.blocks.pages_per_block, "more pages than a block has");
        *self.blocks.get_mut(die, plane as usize, block) = Block { programmed_pages: pages, erase_count };
    }

    /// Pages of a block programmed since its last erase [count].
    #[inline]
    pub fn programmed_pages(&self, die: DieId, plane: u32, block: u32) -> u32 {
        self.blocks.get(die, plane as usize, block).programmed_pages
    }

    /// P/E cycles of a block over its life [count].
    #[inline]
    pub fn cycles(&self, die: DieId, plane: u32, block: u32) -> u32 {
        self.wear.initial_cycles + self.erase_count(die, plane, block)
    }

    /// P/E cycles of the most worn block a command works on [count].
    #[inline]
    pub fn cycles_of(&self, command: &FlashCommand) -> u32 {
        let cycles = |plane: usize| self.cycles(command.die, plane as u32, command.block[plane]);
        command.addressed_planes().map(cycles).max().unwrap_or(0)
    }

    /// Erases of a block since the drive was put together [count].
    #[inline]
    pub fn erase_count(&self, die: DieId, plane: u32, block: u32) -> u32 {
        self.blocks.get(die, plane as usize, block).erase_count
    }
}

/// The die machine.
impl Nand {
    /// The next copyback of a die copies this page to that plane. One page offset is of all its planes.
    pub fn copies_from(&mut self, die: DieId, plane: u32, (block, page): (u32, u32)) {
        let from = &mut self.copied_from[die.index()];
        (from.page, from.block[plane as usize]) = (page, block);
    }

    /// What the next copyback of a die copies, or the last one did.
    pub fn copied_from(&self, die: DieId) -> CopiedFrom {
        self.copied_from[die.index()]
    }

    /// Starts a command's array phase at `at`, which may lie in the future: the die is taken from this
    /// call on. Returns when the phase ends [ns].
    ///
    /// # Errors
    /// When the command is illegal; nothing changes then.
    #[inline]
    pub fn begin_array(&mut self, command: &FlashCommand, at: Ns) -> Result<Ns, IllegalCommand> {
        self.check(command)?;
        let (total, segments) = self.array_phase(command);
        if let (CommandKind::Read, Some(reads)) = (command.kind, &mut self.plane_reads) {
            return Ok(reads.begin(command, at, total));
        }
        Ok(self.dies[command.die.index()].begin(command, at, total, segments))
    }

    /// The running array phase is over: its effect on the blocks shows from now on.
    ///
    /// A program or erase ends exactly at [`Nand::end_time`]; a read may be reported later, for instance
    /// when its data have left the die.
    ///
    /// # Errors
    /// When nothing runs, or the pulse time done is not what the operation needs; nothing changes then.
    #[inline]
    pub fn end_array(&mut self, die: DieId, now: Ns) -> Result<Ended, IllegalCommand> {
        let machine = &mut self.dies[die.index()];
        let Some(running) = machine.running() else {
            return Err(IllegalCommand::NothingRuns { die, state: machine.state });
        };
        check_pulse_time(running, now)?;
        let mut ended = machine.end();
        if let (1.., Some(limit)) = (ended.suspensions, &self.wear.suspend_limit)
            && ended.command.kind == CommandKind::Erase
        {
            let cycles = self.cycles_of(&ended.command);
            ended.excess_suspensions = limit.excess(ended.suspensions, ended.segments, cycles);
        }
        self.apply(&ended.command);
        Ok(ended)
    }

    /// The same of a read that a plane does by itself: its page is in the register of the plane.
    ///
    /// # Errors
    /// When the plane reads nothing, or its read is not through; nothing changes then.
    pub fn end_plane_read(&mut self, die: DieId, plane: u32, now: Ns) -> Result<Ended, IllegalCommand> {
        let state = self.state(die);
        let reads = self.plane_reads.as_mut().ok_or(IllegalCommand::NothingRuns { die, state })?;
        let Some(running) = reads.running(die, plane) else {
            return Err(IllegalCommand::NothingRuns { die, state });
        };
        check_pulse_time(running, now)?;
        Ok(reads.end(die, plane))
    }

    /// Whether planes read each by itself.
    #[inline]
    pub fn planes_read_independently(&self) -> bool {
        self.plane_reads.is_some()
    }

    /// What a plane reads by itself at this time.
    pub fn plane_read(&self, die: DieId, plane: u32) -> Option<&Operation> {
        self.plane_reads.as_ref()?.running(die, plane)
    }

    fn apply(&mut self, command: &FlashCommand) {
        if command.kind == CommandKind::Read {
            return;
        }
        let pages = self.pages_of(command);
        for plane in command.addressed_planes() {
            let block = self.blocks.get_mut(command.die, plane, command.block[plane]);
            if command.kind == CommandKind::Program {
                block.programmed_pages += pages;
            } else {
                block.programmed_pages = 0;
                block.erase_count += 1;
            }
        }
    }

    /// Whether a multi-plane read may address different blocks.
    pub fn reads_any_block(&self) -> bool {
        self.durations.read_any_block
    }

    /// Whether a multi-plane read or program may address different pages.
    pub fn takes_any_page(&self) -> bool {
        self.durations.any_page
    }

    /// The planes that no command addresses which addresses this one, one bit each.
    pub fn planes_apart_from(&self, plane: u32) -> u8 {
        self.durations.together.get(plane as usize).map_or(0, |&together| !together)
    }

    /// What so many suspensions too many in one erase add to the raw bit error rate of its block.
    pub fn added_rber(&self, excess_suspensions: u32) -> f64 {
        self.wear.suspend_limit.map_or(0.0, |limit| limit.added_rber(excess_suspensions))
    }

    /// What the die does.
    #[inline]
    pub fn state(&self, die: DieId) -> DieState {
        self.dies[die.index()].state
    }

    /// The operation in the array: that of a busy die, or the read beside a parked one.
    #[inline]
    pub fn running(&self, die: DieId) -> Option<&Operation> {
        self.dies[die.index()].running()
    }

    /// The operation that was stopped and not yet taken up again.
    #[inline]
    pub fn parked(&self, die: DieId) -> Option<&Operation> {
        self.dies[die.index()].parked()
    }

    /// When the running array phase ends if nothing stops it, `Ns::NEVER` when nothing runs [ns].
    #[inline]
    pub fn end_time(&self, die: DieId) -> Ns {
        self.dies[die.index()].end_time()
    }

    /// When the running operation will be stopped, if a stop is set [ns].
    #[inline]
    pub fn stop_time(&self, die: DieId) -> Option<Ns> {
        self.dies[die.index()].stop_time()
    }

    /// When the die's state changes next by itself: the stop, or the end of the array phase, the recovery
    /// or the ramp; `Ns::NEVER` while it waits for a command [ns].
    #[inline]
    pub fn next_change(&self, die: DieId) -> Ns {
        self.dies[die.index()].next_change()
    }

    /// Asks the running program or erase to stop at `at`, in place of an earlier request.
    ///
    /// The stop moves back to the next time the operation allows ([`Nand::stop_time`] says which): an
    /// erase stops anywhere, a program at the end of a pulse, neither before `run_until_at_least` nor
    /// before it started. A stop that equals or passes the end is an end: no stop is set.
    pub fn stop_at(&mut self, die: DieId, at: Ns) {
        self.dies[die.index()].stop_at(at, false);
    }

    /// The same, and an erase has to begin the loop anew in which it was stopped: its pulse time is lost.
    pub fn stop_and_restart_loop(&mut self, die: DieId, at: Ns) {
        self.dies[die.index()].stop_at(at, true);
    }

    /// Takes the request to stop back.
    pub fn clear_stop(&mut self, die: DieId) {
        self.dies[die.index()].clear_stop();
    }

    /// Forbids stopping the running or parked program or erase before it has done `pulse_time` of its
    /// work [ns]; a bound once set only grows. After each stop it is a nanosecond beyond what was done. It
    /// applies to stops asked for from now on.
    pub fn require_progress(&mut self, die: DieId, pulse_time: Ns) {
        self.dies[die.index()].require_progress(pulse_time);
    }

    /// The requested stop has come: parks the operation and accounts for its progress. Returns when the
    /// recovery ends [ns].
    pub fn stop_reached(&mut self, die: DieId, now: Ns) -> Ns {
        self.dies[die.index()].stop_reached(now, self.durations.suspend_recover)
    }

    /// The recovery is over: the die takes reads.
    pub fn recovered(&mut self, die: DieId, now: Ns) {
        self.dies[die.index()].recovered(now);
    }

    /// Starts to take the parked operation up again, while no read runs beside it. Returns when the ramp
    /// ends [ns].
    pub fn resume(&mut self, die: DieId, now: Ns) -> Ns {
        debug_assert!(!self.plane_reads.as_ref().is_some_and(|reads| reads.any(die)), "planes read beside it");
        self.dies[die.index()].resume(now, self.durations.resume_ramp)
    }

    /// The ramp is over: pulses go on. Returns the operation's new end [ns].
    pub fn resumed(&mut self, die: DieId, now: Ns) -> Ns {
        self.dies[die.index()].resumed(now)
    }
}

/// No suspension may lose or invent pulse time: a cell would be half written without a trace.
#[inline]
fn check_pulse_time(running: &Operation, now: Ns) -> Result<(), IllegalCommand> {
    let done = running.done + now.saturating_since(running.started);
    let complete = match running.command.kind {
        CommandKind::Read => done >= running.total,
        CommandKind::Program | CommandKind::Erase => done == running.total,
    };
    if complete { Ok(()) } else { Err(pulse_time_lost(running, done)) }
}

#[cold]
fn pulse_time_lost(running: &Operation, done: Ns) -> IllegalCommand {
    let command = &running.command;
    let plane = command.planes.trailing_zeros();
    IllegalCommand::PulseTimeLost {
        die: command.die,
        plane,
        block: command.block[plane as usize & 3],
        page: command.page[plane as usize & 3],
        done_ns: done.0,
        total_ns: running.total.0,
    }
}
