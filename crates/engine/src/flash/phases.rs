//! What happens when a die's present phase ends.

use ninescope_kernel::WakeQueue;
use ninescope_media::nand::{Ended, FlashCommand};
use ninescope_model::DieId;

use super::Flash;
use crate::error::SimulationError;
use crate::run::Run;
use crate::sched::Phase;

/// What ended when a die woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The array's operation.
    Array,
    /// The operation goes no further: it is suspended.
    Stop,
    /// The transfer of read data.
    DataOut,
    /// The recovery of a suspended operation's voltages.
    Recovery,
    /// The ramp of one that goes on.
    Ramp,
    /// The time for which a die had nothing to do, so that it rests.
    Idleness,
}

impl Flash {
    /// What ends now in a die that woke; `None` if nothing does.
    #[inline]
    pub fn ends_now<Q>(&self, run: &Run<Q>, die: DieId) -> Option<Ending> {
        match self.dies[die.0].phase() {
            Phase::Array if self.nand.stop_time(die) == Some(run.now) => Some(Ending::Stop),
            Phase::Array => Some(Ending::Array),
            Phase::DataOut => Some(Ending::DataOut),
            Phase::Recovering => Some(Ending::Recovery),
            Phase::Resuming => Some(Ending::Ramp),
            Phase::Free if self.collection.is_timed() => Some(Ending::Idleness),
            phase => {
                debug_assert!(false, "a die without a timed phase ({phase:?}) has no wake-up");
                None
            }
        }
    }

    /// The array is through with a command.
    ///
    /// # Errors
    /// Where the media was not.
    #[inline]
    pub fn end_array<Q>(&mut self, run: &mut Run<Q>, die: DieId) -> Result<Ended, SimulationError> {
        if let Some(power) = &mut run.power {
            power.die_rests(run.now, die, self.dies[die.0].occupancy);
            self.power_is_given_back(run, die);
        }
        self.nand.end_array(die, run.now).map_err(|source| SimulationError::Illegal { at: run.now, source })
    }

    /// A page was read, for good: its block may be erased when nobody else reads it.
    #[inline]
    pub fn read_ended<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) {
        let ppa = run.transactions.slab[index].ppa();
        let is_parity = self.geometry.is_parity(ppa);
        let group = if is_parity { self.geometry.locate(ppa).group } else { self.group_of(ppa) };
        if self.ftl.read_ended(group) {
            self.last_reader_left(run, group);
        }
    }

    /// The pages of a read are in their registers: the die asks for its channel, or the plane that read by itself.
    #[inline]
    pub fn ask_to_send_data<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        if self.registers.is_some() {
            self.page_is_sensed(run, station);
        } else {
            self.request_channel(run, station, Phase::WaitingForDataOut);
        }
    }

    /// A die is through with a command that moves no data.
    #[inline]
    pub fn command_ends<Q>(&mut self, run: &mut Run<Q>, command: &FlashCommand) {
        if self.dies[command.die.0].work.shared {
            self.close_shares(run, command.die.0, run.now);
        }
        self.dies.set_free(run.now, command.die.0);
        self.planes_follow(run, command.die);
    }
}
