//! What happens when a bank's present phase ends.

use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, Occupancy, Source};

use super::{BankPhase, BankUnit};
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// The bank's wake-up came.
    pub(crate) fn bank_woke(&mut self, bank: BankId) -> Result<(), SimulationError> {
        match self.scm.banks[bank.index()].phase {
            BankPhase::CopyingOut => self.copies_were_read(bank)?,
            BankPhase::Copying => self.copies_ended(bank)?,
            BankPhase::Array => self.bank_array_ended(bank)?,
            BankPhase::DataOut => {
                let BankUnit { stays, transaction, .. } = self.scm.banks[bank.index()];
                self.set_bank_free(bank);
                if stays {
                    self.migration_sectors_arrived(transaction)?;
                }
            }
            BankPhase::Free | BankPhase::WaitingToCopy | BankPhase::WaitingToSend | BankPhase::WaitingForDataOut => {
                debug_assert!(false, "a bank without a timed phase has no wake-up");
            }
        }
        Ok(())
    }

    fn set_bank_free(&mut self, bank: BankId) {
        let unit = &mut self.scm.banks[bank.index()];
        unit.phase = BankPhase::Free;
        unit.ledger.enter(self.now, Occupancy::Idle);
        self.scm.touched.set(bank.index());
    }

    fn end_bank_array(&mut self, bank: BankId) -> Result<ScmCommand, SimulationError> {
        let ended = self.scm.media.end_array(bank, self.now);
        let command = ended.map_err(|source| SimulationError::IllegalOnScm { at: self.now, source })?;
        observe!(self, Event::BankCommandEnded { command: &command });
        Ok(command)
    }

    /// The sectors in the way of a write were read, and go through the controller.
    fn copies_were_read(&mut self, bank: BankId) -> Result<(), SimulationError> {
        self.end_bank_array(bank)?;
        self.request_bank_channel(bank, BankPhase::WaitingToCopy);
        Ok(())
    }

    /// The sectors in the way of a write are copied: what that took, the channel and the wait for it included, its
    /// request waited for wear levelling.
    fn copies_ended(&mut self, bank: BankId) -> Result<(), SimulationError> {
        self.end_bank_array(bank)?;
        let index = self.scm.banks[bank.index()].transaction;
        let track = &mut self.transactions.tracks[index as usize];
        track.die_wait[Occupancy::WearLeveling as usize] += (self.now - track.mark).0;
        track.mark = self.now;
        self.request_bank_channel(bank, BankPhase::WaitingToSend);
        Ok(())
    }

    fn bank_array_ended(&mut self, bank: BankId) -> Result<(), SimulationError> {
        let command = self.end_bank_array(bank)?;
        let index = self.scm.banks[bank.index()].transaction;
        if command.kind == ScmCommandKind::Read {
            let track = &mut self.transactions.tracks[index as usize];
            track.command_array = self.now - track.mark;
            track.mark = self.now;
            self.request_bank_channel(bank, BankPhase::WaitingForDataOut);
            return Ok(());
        }
        self.close_share_of_bank(bank, self.now);
        self.set_bank_free(bank);
        if self.transactions.slab[index].source == Source::Migration {
            return self.migration_written(index);
        }
        self.slot_written(index)
    }
}
