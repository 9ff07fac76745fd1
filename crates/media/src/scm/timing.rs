//! The time constants of a storage-class memory, and the durations that follow from them.

use ninescope_kernel::{Ns, Rate};

use super::ScmCommandKind;
use super::bank::SCM_COMMAND_KINDS;
use super::program_verify::ProgramVerify;
use crate::nand::TimingError;
use crate::parameter::PULSE_TIME_MAX;

/// How the two kinds of pulse of a sector write follow each other: cells that become 1 are set, those that become 0
/// are reset, and a sector has both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PulseOrder {
    /// Side by side: the longer one decides.
    #[default]
    Together,
    /// One after the other.
    InTurn,
}

/// Which way the copies of wear levelling take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyPath {
    /// Out over the channel and back in: the controller corrects what it copies, and source and target may lie in
    /// different chips of a bank.
    #[default]
    ThroughController,
    /// From array to array, in memory that copies by itself.
    InMemory,
}

/// What the datasheet says about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScmTiming {
    /// Reading one sector [ns].
    pub read: Ns,
    /// The set pulse of a sector write [ns].
    pub set: Ns,
    /// The reset pulse of a sector write [ns].
    pub reset: Ns,
    /// How the two follow each other.
    pub pulse_order: PulseOrder,
    /// Channel time of the command and address cycles of a command [ns].
    pub command_address: Ns,
    /// Data rate of a channel [B/s]; zero moves data in no time.
    pub channel_rate: Rate,
    /// Which way copies take.
    pub copies: CopyPath,
}

impl ScmTiming {
    /// Checks that the constants describe a part that can work.
    ///
    /// # Errors
    /// Names the first constant that is zero where time must pass, or absurdly large.
    pub fn check(&self) -> Result<(), TimingError> {
        let times = [
            ("read", self.read, Ns(1)),
            ("set", self.set, Ns(1)),
            ("reset", self.reset, Ns(1)),
            ("command_address", self.command_address, Ns::ZERO),
        ];
        for (key, time, least) in times {
            if time < least {
                return Err(TimingError { key, message: format!("is {time}, it must be at least {least}") });
            }
            if time > PULSE_TIME_MAX {
                return Err(TimingError { key, message: format!("is {time}, more than {PULSE_TIME_MAX}") });
            }
        }
        Ok(())
    }
}

impl PulseOrder {
    /// How long pulses of these lengths take.
    fn time(self, set: Ns, reset: Ns) -> Ns {
        match self {
            Self::Together => set.max(reset),
            Self::InTurn => set + reset,
        }
    }
}

/// [`ScmTiming`] laid out for the hot path.
#[derive(Clone, Debug)]
pub(super) struct Durations {
    /// Array time of a sector by kind of command, before anything is verified.
    sector: [Ns; SCM_COMMAND_KINDS],
    /// What verify cycles add to a sector that is written, by their number.
    verify: Vec<Ns>,
    pub command_address: Ns,
    pub channel_rate: Rate,
}

impl Durations {
    pub fn new(timing: &ScmTiming) -> Result<Self, TimingError> {
        timing.check()?;
        let write = timing.pulse_order.time(timing.set, timing.reset);
        let mut sector = [Ns::ZERO; SCM_COMMAND_KINDS];
        sector[ScmCommandKind::Read as usize] = timing.read;
        sector[ScmCommandKind::Write as usize] = write;
        sector[ScmCommandKind::Copy as usize] = timing.read + write;
        sector[ScmCommandKind::CopyOut as usize] = timing.read;
        sector[ScmCommandKind::CopyIn as usize] = write;
        let ScmTiming { command_address, channel_rate, .. } = *timing;
        Ok(Self { sector, verify: vec![Ns::ZERO], command_address, channel_rate })
    }

    /// Has writes verified: cycle by cycle a verify read and the pulses that are left.
    pub fn verify(&mut self, timing: &ScmTiming, policy: &dyn ProgramVerify) {
        let verify_loop = policy.verify_loop();
        let verify_read = verify_loop.read.unwrap_or(timing.read);
        let mut pulses = Ns::ZERO;
        self.verify.clear();
        for cycles in 0..=verify_loop.cap() {
            if cycles > 0 {
                let pulse = |time: Ns, cap: u32| if cycles <= cap { time } else { Ns::ZERO };
                let (set, reset) = (pulse(timing.set, verify_loop.set), pulse(timing.reset, verify_loop.reset));
                pulses += timing.pulse_order.time(set, reset);
            }
            self.verify.push(pulses + Ns(verify_read.0 * u64::from(policy.reads(cycles))));
        }
    }

    /// So many sectors, before anything is verified.
    #[inline]
    pub fn sectors(&self, kind: ScmCommandKind, sectors: u32) -> Ns {
        Ns(self.sector[kind as usize].0 * u64::from(sectors))
    }

    /// What so many verify cycles add to a sector that is written.
    #[inline]
    pub fn verify_time(&self, cycles: u32) -> Ns {
        self.verify[cycles as usize]
    }
}
