//! Storage-class memory: all banks of a drive, and the wear of every sector.
//!
//! A sector (512 B) is read and overwritten in place: there are no pages, no blocks and no erases. Like a die, a bank
//! goes through phases whose lengths are asked here and whose order the caller arranges: command and data on the
//! channel, the array, data out on the channel. Only the array phase occupies the bank's state machine. Within it the
//! sectors of a command follow each other, so that its time is the exact sum over them.
//!
//! The caller says which sectors a write or a copy pulses ([`Scm::pulse`], [`Scm::pulse_copy`]) before it begins the
//! command: which sectors these are is the answer of wear levelling, which is none of the media's business. Where writes
//! are verified, each sector also gets to know before how many cycles it takes ([`Scm::verify`]).
//!
//! Wear counts writes, whatever their verify cycles: rated endurance counts them too, and all cycles but the first
//! pulses are for the few cells that failed.
//!
//! Nothing is allocated after construction.

mod bank;
mod timing;

use ninescope_kernel::{Ns, RandomStream, zeroed};
use ninescope_model::{BankId, ScmGeometry};

pub use crate::policies::program_verify::{self, ProgramVerify, ProgramVerifyConfig, WrittenCells};
pub use bank::{BankState, IllegalScmCommand, ScmCommand, ScmCommandKind};
pub use timing::{CopyPath, PulseOrder, ScmTiming};

use bank::Bank;
use timing::Durations;

/// All banks and sectors of the drive.
#[derive(Debug)]
pub struct Scm {
    media: Vec<Medium>,
    banks: Vec<Bank>,
    /// Writes of each sector over its life, banks one after another [count].
    wear: Vec<u32>,
}

/// What all banks of a medium have in common.
#[derive(Debug)]
struct Medium {
    timing: ScmTiming,
    durations: Durations,
    verify: Option<Verify>,
}

/// How writes are verified, and what decides where chance does.
#[derive(Debug)]
struct Verify {
    policy: Box<dyn ProgramVerify>,
    stream: RandomStream,
}

/// What verifying one sector's write takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Cycles, each a verify read and further pulses [count].
    pub cycles: u32,
    /// Verify reads: one more than cycles where the last one finds that the sector passes [count].
    pub reads: u32,
}

impl Scm {
    /// Idle banks with sectors that were never written.
    ///
    /// # Errors
    /// When the time constants cannot be used, see [`ScmTiming::check`].
    pub fn new(geometry: &ScmGeometry, timing: &ScmTiming) -> Result<Self, crate::nand::TimingError> {
        Self::of_media(&[(*geometry, *timing)])
    }

    /// The same with several media, whose banks are numbered through them.
    ///
    /// # Errors
    /// When time constants cannot be used, see [`ScmTiming::check`].
    pub fn of_media(media: &[(ScmGeometry, ScmTiming)]) -> Result<Self, crate::nand::TimingError> {
        let (mut common, mut banks, mut sectors) = (Vec::new(), Vec::new(), 0);
        for (medium, (geometry, timing)) in media.iter().enumerate() {
            common.push(Medium { timing: *timing, durations: Durations::new(timing)?, verify: None });
            for _ in 0..geometry.banks() {
                let count = geometry.sectors_per_bank() as usize;
                banks.push(Bank { medium, sectors: sectors..sectors + count, ..Bank::default() });
                sectors += count;
            }
        }
        Ok(Self { media: common, banks, wear: zeroed(sectors) })
    }

    /// The same with writes of a medium verified; `seed` decides where chance does.
    #[must_use]
    pub fn with_verify(mut self, medium: usize, policy: Box<dyn ProgramVerify>, seed: u64) -> Self {
        let Medium { timing, durations, verify } = &mut self.media[medium];
        durations.verify(timing, &*policy);
        let component = if medium == 0 { "scm" } else { "storage scm" };
        *verify = Some(Verify { policy, stream: RandomStream::new(seed, component, "program verify") });
        let banks = self.banks.iter_mut().filter(|bank| bank.medium == medium);
        banks.for_each(|bank| bank.verifies = true);
        self
    }

    /// No SCM at all.
    pub fn absent() -> Self {
        Self { media: Vec::new(), banks: Vec::new(), wear: Vec::new() }
    }
}

/// Durations: functions of the command and its bank's medium alone.
impl Scm {
    #[inline]
    fn durations_of(&self, bank: BankId) -> &Durations {
        &self.media[self.banks[bank.index()].medium].durations
    }

    /// Channel time of the command and address cycles [ns].
    #[inline]
    pub fn command_address_time(&self, bank: BankId) -> Ns {
        self.durations_of(bank).command_address
    }

    /// Channel time of one burst of `bytes`, rounded up once [ns].
    #[inline]
    pub fn data_time(&self, bank: BankId, bytes: u64) -> Ns {
        self.durations_of(bank).channel_rate.burst(bytes)
    }

    /// Array time of one sector of a command; a write or copy takes so many verify cycles [ns].
    #[inline]
    pub fn sector_time(&self, bank: BankId, kind: ScmCommandKind, verify_cycles: u32) -> Ns {
        let durations = self.durations_of(bank);
        let plain = durations.sectors(kind, 1);
        if kind.writes() { plain + durations.verify_time(verify_cycles) } else { plain }
    }
}

/// Wear.
impl Scm {
    /// Writes of each sector of a bank over its life [count].
    #[inline]
    pub fn wear_of(&self, bank: BankId) -> &[u32] {
        &self.wear[self.banks[bank.index()].sectors.clone()]
    }

    /// Writes of every sector, banks one after another [count].
    pub fn wear(&self) -> &[u32] {
        &self.wear
    }

    /// A sector gets the pulses of the bank's next write.
    #[inline]
    pub fn pulse(&mut self, bank: BankId, sector: u32) {
        self.wears(bank, sector);
        self.banks[bank.index()].to_pulse[ScmCommandKind::Write as usize] += 1;
    }

    /// A sector gets the pulses of the bank's next command that writes copies.
    #[inline]
    pub fn pulse_copy(&mut self, bank: BankId, sector: u32) {
        self.wears(bank, sector);
        let kind = self.copy_kind(bank);
        self.banks[bank.index()].to_pulse[kind as usize] += 1;
    }

    /// Which way the copies of a bank take.
    #[inline]
    pub fn copy_path(&self, bank: BankId) -> CopyPath {
        self.media[self.banks[bank.index()].medium].timing.copies
    }

    /// The command that writes the copies of a bank.
    #[inline]
    pub fn copy_kind(&self, bank: BankId) -> ScmCommandKind {
        match self.copy_path(bank) {
            CopyPath::ThroughController => ScmCommandKind::CopyIn,
            CopyPath::InMemory => ScmCommandKind::Copy,
        }
    }

    fn wears(&mut self, bank: BankId, sector: u32) {
        let of_bank = &self.banks[bank.index()].sectors;
        let index = of_bank.start + sector as usize;
        debug_assert!(index < of_bank.end, "bank {bank} has no sector {sector}");
        self.wear[index] = self.wear[index].saturating_add(1);
    }
}

/// Verified writes.
impl Scm {
    /// Whether each sector of a write or copy of the bank is to be verified before its command begins.
    #[inline]
    pub fn verifies(&self, bank: BankId) -> bool {
        self.banks[bank.index()].verifies
    }

    /// One of the sectors named for the bank's next write, or for its next copies, gets to know its verify cycles.
    pub fn verify(&mut self, bank: BankId, kind: ScmCommandKind) -> Verified {
        let machine = &mut self.banks[bank.index()];
        let Medium { durations, verify, .. } = &mut self.media[machine.medium];
        let Some(Verify { policy, stream }) = verify else { return Verified::default() };
        let cycles = policy.cycles(stream);
        machine.verified[kind as usize] += 1;
        machine.verify_time[kind as usize] += durations.verify_time(cycles);
        Verified { cycles, reads: policy.reads(cycles) }
    }

    /// The most verify cycles that a sector write of a bank takes [count].
    pub fn verify_cycles_max(&self, bank: BankId) -> u32 {
        let verify = &self.media[self.banks[bank.index()].medium].verify;
        verify.as_ref().map_or(0, |verify| verify.policy.verify_loop().cap())
    }

    /// Bit errors of a medium as a share of those without verifying, in the mean over its sectors.
    pub fn ber_factor(&self, medium: usize) -> f64 {
        self.media.get(medium).and_then(|of| of.verify.as_ref()).map_or(1.0, |verify| verify.policy.ber_factor())
    }
}

/// The bank machine.
impl Scm {
    /// What the bank does.
    pub fn state(&self, bank: BankId) -> BankState {
        self.banks[bank.index()].state
    }

    /// Starts a command's array phase at `at`, which may lie in the future: the bank is taken from this call on.
    /// Returns when the phase ends [ns].
    ///
    /// # Errors
    /// When the command is illegal; nothing changes then.
    #[inline]
    pub fn begin_array(&mut self, command: &ScmCommand, at: Ns) -> Result<Ns, IllegalScmCommand> {
        let bank = self.banks.get_mut(command.bank.index());
        let bank = bank.ok_or(IllegalScmCommand::NoSuchBank { bank: command.bank })?;
        let kind = command.kind;
        let plain = self.media[bank.medium].durations.sectors(kind, command.sectors);
        let end = at + plain + bank.verify_time[kind as usize];
        bank.begin(command, end)?;
        Ok(end)
    }

    /// The running array phase is over.
    ///
    /// # Errors
    /// When nothing runs, or it ends at another time.
    #[inline]
    pub fn end_array(&mut self, bank: BankId, now: Ns) -> Result<ScmCommand, IllegalScmCommand> {
        self.banks[bank.index()].end(bank, now)
    }
}
