//! What happens when a bank's present phase ends.

use ninescope_kernel::Ns;
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::BankId;

use super::ScmPart;
use crate::error::SimulationError;
use crate::run::Run;
use crate::sched::Phase;

/// What ended when a bank woke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankEnding {
    /// The array's operation.
    Array,
    /// The transfer of read data.
    DataOut,
}

impl ScmPart {
    /// What ends now in a bank that woke; `None` if nothing does.
    pub(crate) fn ends_now(&self, bank: BankId) -> Option<BankEnding> {
        match self.banks[bank.0].phase() {
            Phase::CopyingOut | Phase::Copying | Phase::Array => Some(BankEnding::Array),
            Phase::DataOut => Some(BankEnding::DataOut),
            phase => {
                debug_assert!(false, "a bank without a timed phase ({phase:?}) has no wake-up");
                None
            }
        }
    }

    /// The array is through with a command.
    ///
    /// # Errors
    /// Where the media was not.
    pub(crate) fn end_array<Q>(&mut self, run: &Run<Q>, bank: BankId) -> Result<ScmCommand, SimulationError> {
        let ended = self.media.end_array(bank, run.now);
        ended.map_err(|source| SimulationError::IllegalOnScm { at: run.now, source })
    }

    /// A bank goes on behind an operation of its array. Returns the transaction that is written then, if one is.
    pub(crate) fn goes_on<Q>(&mut self, run: &mut Run<Q>, command: &ScmCommand) -> Option<u32> {
        let (now, bank) = (run.now, command.bank);
        let index = self.banks[bank.0].work.transaction;
        match (self.banks[bank.0].phase(), command.kind) {
            // The sectors in the way of a write go through the controller.
            (Phase::CopyingOut, _) => self.request_channel(run, bank, Phase::WaitingToCopy),
            // They are copied: what that took, the channel and the wait for it included, its request waited for wear
            // levelling.
            (Phase::Copying, _) => {
                run.transactions.made_way_for(index, now);
                self.request_channel(run, bank, Phase::WaitingToSend);
            }
            (_, ScmCommandKind::Read) => {
                run.transactions.sensed(index, now);
                self.request_channel(run, bank, Phase::WaitingForDataOut);
            }
            _ => {
                run.transactions.close_share(index, now, now, self.banks[bank.0].ledger(now));
                self.banks.set_free(now, bank.0);
                return Some(index);
            }
        }
        None
    }

    /// The data of a read have left a bank, which is free. Returns the transaction whose data stay in the controller, if they
    /// do.
    pub(crate) fn data_left(&mut self, now: Ns, bank: BankId) -> Option<u32> {
        self.banks.set_free(now, bank.0);
        let work = &self.banks[bank.0].work;
        work.stays.then_some(work.transaction)
    }
}
