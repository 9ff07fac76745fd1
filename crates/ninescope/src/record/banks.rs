//! Accesses of slots on their way through banks, of storage-class memory or of a cache in DRAM.

use ninescope_engine::View;
use ninescope_kernel::{NONE, Ns};
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, SlotId};

/// An access of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct BankVisit {
    /// Its bank is one of a cache in DRAM: all of it is for DRAM.
    pub in_dram: bool,
    /// When it was queued [ns].
    pub queued: Ns,
    /// When the bank asked for its channel for it, having made way for it before [ns].
    pub asked: Ns,
    /// When it got the channel [ns].
    pub issued: Ns,
    /// When command and data were sent [ns].
    pub sent: Ns,
    /// When the array ended [ns].
    pub ended: Ns,
    /// When its data began to leave [ns].
    pub data_from: Ns,
    /// When its data had left [ns].
    pub data_until: Ns,
}

/// The accesses under way.
#[derive(Debug, Default)]
pub struct BankBook {
    /// By transaction; none where that is a page access of flash.
    visits: Vec<Option<BankVisit>>,
    /// By bank: the transaction that it works on.
    present: Vec<u32>,
}

impl BankBook {
    /// A bank takes up an access that was queued then.
    pub fn dispatched(&mut self, view: &View<'_>, transaction: u32, slot: SlotId, queued: Ns) {
        let layout = view.scm.layout();
        let bank = layout.bank_of_slot(slot).index();
        let in_dram = layout.medium_of_slot(slot) == 0 && view.dram.is_some_and(|dram| dram.config().cache);
        if self.present.len() <= bank {
            self.present.resize(bank + 1, NONE);
        }
        self.present[bank] = transaction;
        if self.visits.len() <= transaction as usize {
            self.visits.resize(transaction as usize + 1, None);
        }
        self.visits[transaction as usize] =
            Some(BankVisit { in_dram, queued, asked: view.now, ..BankVisit::default() });
    }

    /// A die takes up a page access under this number.
    pub fn is_of_flash(&mut self, transaction: u32) {
        if let Some(visit) = self.visits.get_mut(transaction as usize) {
            *visit = None;
        }
    }

    fn present(&mut self, bank: BankId) -> Option<&mut BankVisit> {
        let transaction = *self.present.get(bank.index())?;
        self.visits.get_mut(transaction as usize)?.as_mut()
    }

    /// The channel is the command's until `sent`.
    pub fn issued(&mut self, now: Ns, command: &ScmCommand, sent: Ns) {
        let is_access = matches!(command.kind, ScmCommandKind::Read | ScmCommandKind::Write);
        if let Some(visit) = self.present(command.bank).filter(|_| is_access) {
            (visit.issued, visit.sent) = (now, sent);
        }
    }

    /// Its array phase is over. Copies that make way for a write go before it.
    pub fn ended(&mut self, now: Ns, command: &ScmCommand) {
        let is_access = matches!(command.kind, ScmCommandKind::Read | ScmCommandKind::Write);
        if let Some(visit) = self.present(command.bank) {
            *(if is_access { &mut visit.ended } else { &mut visit.asked }) = now;
        }
    }

    /// Its data leave until then.
    pub fn data_out(&mut self, now: Ns, bank: BankId, until: Ns) {
        if let Some(visit) = self.present(bank) {
            (visit.data_from, visit.data_until) = (now, until);
        }
    }

    /// The access with which a request ends, if it is one of a slot.
    pub fn visit(&self, transaction: u32) -> Option<BankVisit> {
        *self.visits.get(transaction as usize)?
    }
}
