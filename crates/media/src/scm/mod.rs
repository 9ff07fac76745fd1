//! Storage-class memory: all banks of a drive, and the wear of every sector.
//!
//! A sector (512 B) is read and overwritten in place: there are no pages, no blocks and no erases. Like a die, a bank
//! goes through phases whose lengths are asked here and whose order the caller arranges: command and data on the
//! channel, the array, data out on the channel. Only the array phase occupies the bank's state machine. Within it the
//! sectors of a command follow each other, so that its time is the exact sum over them.
//!
//! The caller says which sectors a write or a copy pulses ([`Scm::pulse`], [`Scm::pulse_copy`]) before it begins the command: which sectors these are
//! is the answer of wear levelling, which is none of the media's business.
//!
//! Nothing is allocated after construction.

mod bank;
mod timing;

use ninescope_kernel::{Ns, table};
use ninescope_model::{BankId, ScmGeometry};

pub use bank::{BankState, IllegalScmCommand, ScmCommand, ScmCommandKind};
pub use timing::{PulseOrder, ScmTiming};

use bank::Bank;
use timing::Durations;

/// All banks and sectors of the drive.
#[derive(Clone, Debug)]
pub struct Scm {
    /// By medium.
    durations: Vec<Durations>,
    banks: Vec<Bank>,
    /// Writes of each sector over its life, banks one after another [count].
    wear: Vec<u32>,
}

impl Scm {
    /// Idle banks with sectors that were never written.
    ///
    /// # Errors
    /// When the time constants cannot be used, see [`ScmTiming::check`].
    pub fn new(geometry: &ScmGeometry, timing: &ScmTiming) -> Result<Self, crate::TimingError> {
        Self::of_media(&[(*geometry, *timing)])
    }

    /// The same with several media, whose banks are numbered through them.
    ///
    /// # Errors
    /// When time constants cannot be used, see [`ScmTiming::check`].
    pub fn of_media(media: &[(ScmGeometry, ScmTiming)]) -> Result<Self, crate::TimingError> {
        let (mut durations, mut banks, mut sectors) = (Vec::new(), Vec::new(), 0);
        for (medium, (geometry, timing)) in media.iter().enumerate() {
            durations.push(Durations::new(timing)?);
            for _ in 0..geometry.banks() {
                let count = geometry.sectors_per_bank() as usize;
                banks.push(Bank { medium, sectors: sectors..sectors + count, ..Bank::default() });
                sectors += count;
            }
        }
        Ok(Self { durations, banks, wear: table(sectors, 0) })
    }

    /// No SCM at all.
    pub fn absent() -> Self {
        Self { durations: Vec::new(), banks: Vec::new(), wear: Vec::new() }
    }
}

/// Durations: functions of the command and its bank's medium alone.
impl Scm {
    #[inline]
    fn durations_of(&self, bank: BankId) -> &Durations {
        &self.durations[self.banks[bank.index()].medium]
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

    /// Array time of a command [ns].
    #[inline]
    pub fn array_time(&self, bank: BankId, kind: ScmCommandKind, sectors: u32) -> Ns {
        self.durations_of(bank).array_time(kind, sectors)
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

    /// A sector gets the pulses of the bank's next command of copies.
    #[inline]
    pub fn pulse_copy(&mut self, bank: BankId, sector: u32) {
        self.wears(bank, sector);
        self.banks[bank.index()].to_pulse[ScmCommandKind::Copy as usize] += 1;
    }

    fn wears(&mut self, bank: BankId, sector: u32) {
        let of_bank = &self.banks[bank.index()].sectors;
        let index = of_bank.start + sector as usize;
        debug_assert!(index < of_bank.end, "bank {bank} has no sector {sector}");
        self.wear[index] = self.wear[index].saturating_add(1);
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
        let end = at + self.durations[bank.medium].array_time(command.kind, command.sectors);
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
