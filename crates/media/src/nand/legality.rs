//! Which command a die may be given: the rules of the part, checked before a command runs.

use ninescope_model::DieId;

use super::die::{Die, DieState};
use super::{CommandKind, CopiedFrom, FlashCommand, Nand, Operation};

/// Why a die refuses a command, or why its end makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the fields are the named place, in the words of the message
pub enum IllegalCommand {
    /// The drive has no such die.
    #[error("die {die} does not exist")]
    NoSuchDie { die: DieId },
    /// The plane mask is empty.
    #[error("die {die}: the command addresses no plane")]
    NoPlane { die: DieId },
    /// The plane mask names a plane the die does not have.
    #[error("die {die} has no plane {plane}")]
    NoSuchPlane { die: DieId, plane: u32 },
    /// The block index is beyond the plane.
    #[error("die {die}, plane {plane} has no block {block}")]
    NoSuchBlock { die: DieId, plane: u32, block: u32 },
    /// The page offset is beyond the block.
    #[error("die {die}, plane {plane}, block {block} has no page {page}")]
    NoSuchPage { die: DieId, plane: u32, block: u32, page: u32 },
    /// Something runs on the die, or its voltages are moving.
    #[error("die {die} is {state:?}, it takes no {kind:?}")]
    DieNotReady { die: DieId, state: DieState, kind: CommandKind },
    /// The plane reads a page, and has one register.
    #[error("die {die}, plane {plane} reads, it takes no other read")]
    PlaneReads { die: DieId, plane: u32 },
    /// Planes of the die read, and this takes all of the die.
    #[error("planes {planes:#b} of die {die} read, it takes no {kind:?}")]
    PlanesRead { die: DieId, planes: u8, kind: CommandKind },
    /// Where planes read each by itself, a read is of one plane.
    #[error("die {die}: one read of the planes {planes:#b}, which read each by itself")]
    PlanesReadAlone { die: DieId, planes: u8 },
    /// Beside a suspended operation only reads may run.
    #[error("die {die} has a suspended operation, it takes no {kind:?}")]
    OnlyReadsWhileSuspended { die: DieId, kind: CommandKind },
    /// A multi-plane command must address the same block index in all its planes.
    #[error("die {die}, plane {plane}: block {block} where the first plane has block {first_block}")]
    BlocksDiffer { die: DieId, plane: u32, block: u32, first_block: u32 },
    /// The planes are to read or program different pages, and the part does not.
    #[error("die {die}, plane {plane}: page {page} beside page {first_page} in the first plane")]
    PagesDiffer { die: DieId, plane: u32, page: u32, first_page: u32 },
    /// One command addresses planes that lie in one group of so many.
    #[error(
        "die {die}, plane {plane}: the command begins in plane {first_plane}, and addresses {together} planes together"
    )]
    PlanesApart { die: DieId, plane: u32, first_plane: u32, together: u32 },
    /// Pages are programmed in ascending order, once between erases.
    #[error("die {die}, plane {plane}, block {block}: program of page {page}, the next one is {next_page}")]
    ProgramOutOfOrder { die: DieId, plane: u32, block: u32, page: u32, next_page: u32 },
    /// The page holds nothing.
    #[error("die {die}, plane {plane}, block {block}: read of page {page}, which is not programmed")]
    PageNotProgrammed { die: DieId, plane: u32, block: u32, page: u32 },
    /// The block belongs to the suspended erase.
    #[error("die {die}, plane {plane}, block {block}: read of page {page} while its erase is suspended")]
    BlockBeingErased { die: DieId, plane: u32, block: u32, page: u32 },
    /// The page belongs to the suspended program.
    #[error("die {die}, plane {plane}, block {block}: read of page {page} while its program is suspended")]
    PageBeingProgrammed { die: DieId, plane: u32, block: u32, page: u32 },
    /// An end was reported while nothing runs.
    #[error("die {die} is {state:?}, nothing ends there")]
    NothingRuns { die: DieId, state: DieState },
    /// At its end an operation had more or less pulse time than it needs.
    #[error(
        "die {die}, plane {plane}, block {block}, page {page}: {done_ns} ns of pulses at the end of an operation of {total_ns} ns"
    )]
    PulseTimeLost { die: DieId, plane: u32, block: u32, page: u32, done_ns: u64, total_ns: u64 },
}

impl Nand {
    /// Whether the die may run `command` now.
    ///
    /// Multi-plane programs and erases address the same block index in every plane: parts differ in what
    /// they allow, and this is what all of them do. Reads need that too unless the part reads any block.
    ///
    /// # Errors
    /// Names the rule that is broken and the place.
    pub fn check(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let die = command.die;
        let Some(machine) = self.dies.get(die.index()) else {
            return Err(IllegalCommand::NoSuchDie { die });
        };
        check_readiness(machine, command)?;
        self.check_planes(command)?;
        if let Some(reads) = &self.plane_reads {
            reads.check(command)?;
        }
        match command.kind {
            CommandKind::Read => self.check_read(command, machine.parked()),
            CommandKind::Program if command.copies => self.check_copyback(command),
            CommandKind::Program => self.check_program(command),
            CommandKind::Erase => Ok(()),
        }
    }

    fn check_planes(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let die = command.die;
        if command.planes == 0 {
            return Err(IllegalCommand::NoPlane { die });
        }
        let last_plane = command.planes.ilog2();
        if last_plane >= self.blocks.planes_per_die {
            return Err(IllegalCommand::NoSuchPlane { die, plane: last_plane });
        }
        let (first_plane, together) = (command.planes.trailing_zeros(), self.durations.planes_per_command);
        if command.planes & !self.durations.together[first_plane as usize] != 0 {
            return Err(IllegalCommand::PlanesApart { die, plane: last_plane, first_plane, together });
        }
        if command.planes == 1 << first_plane {
            return self.check_block(command, first_plane as usize);
        }
        self.check_planes_together(command)
    }

    #[inline]
    fn check_block(&self, command: &FlashCommand, plane: usize) -> Result<(), IllegalCommand> {
        let block = command.block[plane];
        if block >= self.blocks.blocks_per_plane {
            return Err(IllegalCommand::NoSuchBlock { die: command.die, plane: plane as u32, block });
        }
        Ok(())
    }

    /// Several planes are at one page of one block each, unless the part takes others.
    fn check_planes_together(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let die = command.die;
        let (any_block, any_page) = match command.kind {
            CommandKind::Read => (self.durations.read_any_block || self.durations.any_page, self.durations.any_page),
            CommandKind::Program => (self.durations.any_page, self.durations.any_page),
            CommandKind::Erase => (false, true),
        };
        let (first_block, first_page) = (command.block[command.first_plane()], command.first_page());
        for plane in command.addressed_planes() {
            self.check_block(command, plane)?;
            let block = command.block[plane];
            if block != first_block && !any_block {
                return Err(IllegalCommand::BlocksDiffer { die, plane: plane as u32, block, first_block });
            }
            let page = command.page[plane];
            if page != first_page && !any_page {
                return Err(IllegalCommand::PagesDiffer { die, plane: plane as u32, page, first_page });
            }
        }
        Ok(())
    }

    fn check_read(&self, command: &FlashCommand, parked: Option<&Operation>) -> Result<(), IllegalCommand> {
        let die = command.die;
        for plane in command.addressed_planes() {
            let (block, page) = (command.block[plane], command.page[plane]);
            if let Some(parked) = parked {
                check_beside_parked(command, plane, &parked.command, self.pages_of(&parked.command))?;
            }
            if page >= self.blocks.get(die, plane, block).programmed_pages && !self.senses_unwritten {
                return Err(IllegalCommand::PageNotProgrammed { die, plane: plane as u32, block, page });
            }
        }
        Ok(())
    }

    /// What is copied from is read as a command of its own could read it, and what is copied to is programmed.
    fn check_copyback(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let CopiedFrom { block, page } = self.copied_from(command.die);
        let read = FlashCommand { kind: CommandKind::Read, copies: false, block, page: [page; 4], ..*command };
        self.check_planes(&read)?;
        self.check_read(&read, None)?;
        self.check_program(command)
    }

    fn check_program(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let die = command.die;
        let last = self.pages_of(command) - 1;
        for plane in command.addressed_planes() {
            let (block, page) = (command.block[plane], command.page[plane]);
            if page + last >= self.blocks.pages_per_block {
                return Err(IllegalCommand::NoSuchPage { die, plane: plane as u32, block, page: page + last });
            }
            let next_page = self.blocks.get(die, plane, block).programmed_pages;
            if page != next_page {
                return Err(IllegalCommand::ProgramOutOfOrder { die, plane: plane as u32, block, page, next_page });
            }
        }
        Ok(())
    }
}

fn check_readiness(machine: &Die, command: &FlashCommand) -> Result<(), IllegalCommand> {
    let FlashCommand { die, kind, .. } = *command;
    match machine.state {
        DieState::Idle => Ok(()),
        DieState::Suspended { foreground: false } if kind == CommandKind::Read => Ok(()),
        DieState::Suspended { .. } if kind != CommandKind::Read => {
            Err(IllegalCommand::OnlyReadsWhileSuspended { die, kind })
        }
        state => Err(IllegalCommand::DieNotReady { die, state, kind }),
    }
}

/// Cells that are half erased or half programmed hold no data.
fn check_beside_parked(
    read: &FlashCommand,
    plane: usize,
    parked: &FlashCommand,
    pages: u32,
) -> Result<(), IllegalCommand> {
    let (die, block, page) = (read.die, read.block[plane], read.page[plane]);
    if parked.planes >> plane & 1 == 0 || parked.block[plane] != block {
        return Ok(());
    }
    let plane = plane as u32;
    match parked.kind {
        CommandKind::Erase => Err(IllegalCommand::BlockBeingErased { die, plane, block, page }),
        CommandKind::Program if page.wrapping_sub(parked.page[plane as usize]) < pages => {
            Err(IllegalCommand::PageBeingProgrammed { die, plane, block, page })
        }
        CommandKind::Program | CommandKind::Read => Ok(()),
    }
}
