//! One bank: idle or busy with one command, and the rules of what it takes.

use std::ops::Range;

use ninescope_kernel::Ns;
use ninescope_model::{BankId, SECTORS_PER_SLOT_MAX};

/// What a command does with each of its sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ScmCommandKind {
    /// Reads it.
    #[default]
    Read,
    /// Overwrites it in place, with data from the channel.
    Write,
    /// Reads it and writes its content to another one of the same bank; no data crosses the channel.
    Copy,
    /// Reads it as the first half of a copy, whose data cross the channel to the controller and back.
    CopyOut,
    /// The second half: writes what was copied out to another sector of the same bank.
    CopyIn,
}

/// Kinds of command.
pub(super) const SCM_COMMAND_KINDS: usize = 5;

impl ScmCommandKind {
    /// Whether it pulses its sectors.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Copy | Self::CopyIn)
    }
}

/// A command for a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScmCommand {
    /// What it does.
    pub kind: ScmCommandKind,
    /// The bank.
    pub bank: BankId,
    /// To how many sectors.
    pub sectors: u32,
}

/// What a bank does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BankState {
    /// Nothing.
    #[default]
    Idle,
    /// Its array works on a command until `until` [ns].
    Busy {
        /// The command.
        command: ScmCommand,
        /// When it ends [ns].
        until: Ns,
    },
}

/// Why a bank refuses a command, or why its end makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the fields are the named place, in the words of the message
pub enum IllegalScmCommand {
    /// The drive has no such bank.
    #[error("SCM bank {bank} does not exist")]
    NoSuchBank { bank: BankId },
    /// Something runs on the bank.
    #[error("SCM bank {bank} is {state:?}, it takes no {kind:?}")]
    BankNotReady { bank: BankId, state: BankState, kind: ScmCommandKind },
    /// A command works on 1 to 32 sectors.
    #[error("SCM bank {bank}: a command on {sectors} sectors")]
    SectorCount { bank: BankId, sectors: u32 },
    /// A command that writes pulses the sectors named for its kind, what is copied out is to be copied in, and a read may
    /// not come between.
    #[error("SCM bank {bank}: a {kind:?} of {sectors} sectors, {to_pulse} are to be pulsed")]
    PulseCount { bank: BankId, kind: ScmCommandKind, sectors: u32, to_pulse: u32 },
    /// Where writes are verified, each sector of a command that writes is.
    #[error("SCM bank {bank}: a {kind:?} of {sectors} sectors, {verified} were verified")]
    VerifyCount { bank: BankId, kind: ScmCommandKind, sectors: u32, verified: u32 },
    /// An end was reported while nothing runs, or at another time.
    #[error("SCM bank {bank} is {state:?}, nothing ends there at {now}")]
    NothingEnds { bank: BankId, state: BankState, now: Ns },
}

/// A bank's state, and what was named for its next commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Bank {
    /// Which medium it is of.
    pub medium: usize,
    /// Its sectors among those of the drive.
    pub sectors: Range<usize>,
    pub state: BankState,
    /// Sectors by kind of command; none for reads.
    pub to_pulse: [u32; SCM_COMMAND_KINDS],
    /// Whether writes are verified, how many of those sectors know how, and what the array needs for that.
    pub verifies: bool,
    pub verified: [u32; SCM_COMMAND_KINDS],
    pub verify_time: [Ns; SCM_COMMAND_KINDS],
}

impl Bank {
    #[inline]
    pub fn begin(&mut self, command: &ScmCommand, until: Ns) -> Result<(), IllegalScmCommand> {
        let ScmCommand { kind, bank, sectors } = *command;
        if self.state != BankState::Idle {
            return Err(IllegalScmCommand::BankNotReady { bank, state: self.state, kind });
        }
        if sectors == 0 || sectors > SECTORS_PER_SLOT_MAX {
            return Err(IllegalScmCommand::SectorCount { bank, sectors });
        }
        if kind.writes() {
            let to_pulse = &mut self.to_pulse[kind as usize];
            if *to_pulse != sectors {
                return Err(IllegalScmCommand::PulseCount { bank, kind, sectors, to_pulse: *to_pulse });
            }
            let verified = &mut self.verified[kind as usize];
            if *verified != if self.verifies { sectors } else { 0 } {
                return Err(IllegalScmCommand::VerifyCount { bank, kind, sectors, verified: *verified });
            }
            (*to_pulse, *verified) = (0, 0);
            self.verify_time[kind as usize] = Ns::ZERO;
        } else {
            // What is named for a write waits for that: nothing else may run between.
            let (to_pulse, expected) = match kind {
                ScmCommandKind::CopyOut => (self.to_pulse[ScmCommandKind::CopyIn as usize], sectors),
                _ => (self.to_pulse.iter().sum(), 0),
            };
            if to_pulse != expected {
                return Err(IllegalScmCommand::PulseCount { bank, kind, sectors, to_pulse });
            }
        }
        self.state = BankState::Busy { command: *command, until };
        Ok(())
    }

    #[inline]
    pub fn end(&mut self, bank: BankId, now: Ns) -> Result<ScmCommand, IllegalScmCommand> {
        match self.state {
            BankState::Busy { command, until } if until == now => {
                self.state = BankState::Idle;
                Ok(command)
            }
            state => Err(IllegalScmCommand::NothingEnds { bank, state, now }),
        }
    }
}
