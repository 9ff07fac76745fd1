//! Banks and their channels take turns: what the storage-class memory decides goes on to whoever waits for it.

use ninescope_ftl::policies::SectorCopy;
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, ChannelId, Occupancy, Source};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};
use crate::scm::{BankEnding, BankGranted};
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    // ---- a free bank -------------------------------------------------------------------------------

    // Not inlined, so that drives without SCM are not made slower.
    /// Issues the next transaction of a bank if it is free and something waits.
    #[inline(never)]
    pub(super) fn dispatch_bank(&mut self, bank: BankId) -> Result<(), SimulationError> {
        if !self.scm.is_free(&self.run, bank) {
            return Ok(());
        }
        // What is not wanted any more when its turn comes makes room for the next.
        while let Some(index) = self.scm.take_next(&mut self.run, bank) {
            if self.issue_on_bank(bank, index)? {
                break;
            }
        }
        self.scm.turn_ends(&mut self.run, bank);
        Ok(())
    }

    /// A transaction has its turn. Where it writes, its sectors get their places now: from here to its end nothing else
    /// happens in the bank, so that the order of issue is the order of contents. Returns whether the bank has something to
    /// do.
    fn issue_on_bank(&mut self, bank: BankId, index: u32) -> Result<bool, SimulationError> {
        self.note_page_of_sectors(index)?;
        if self.tier.is_some() && !self.take_up_slot(index)? {
            self.scm.forget(&mut self.run, bank, index);
            return Ok(false);
        }
        let kind = self.scm.take_up(&mut self.run, bank, index);
        let transaction = self.run.transactions.slab[index];
        let (command, sectors) = (transaction.asker(), transaction.sector_mask());
        let (source, slot, queued) = (transaction.source, transaction.slot(), transaction.queued);
        observe!(self, Event::SlotDispatched { transaction: index, kind, source, command, slot, sectors, queued });
        let copies = if kind == ScmCommandKind::Read { 0 } else { self.place_sectors(bank, &transaction)? };
        if copies == 0 {
            self.scm.ask_to_send(&mut self.run, bank);
            return Ok(true);
        }
        let command = self.scm.copy_out_of_the_way(&mut self.run, bank, copies)?;
        self.bank_draws(&command);
        observe!(self, Event::BankCommandIssued { command: &command, sent: self.run.now, begins: self.run.now });
        Ok(true)
    }

    /// Has the tier say which sectors an access is still wanted for. Returns whether there are any.
    fn take_up_slot(&mut self, index: u32) -> Result<bool, SimulationError> {
        let transaction = self.run.transactions.slab[index];
        let mask = self.slot_taken_up(&transaction)?;
        self.run.transactions.slab[index].narrow_to(mask);
        Ok(mask != 0)
    }

    /// Has wear levelling say where each sector of a write goes. Returns how many sectors are to be copied before.
    fn place_sectors(&mut self, bank: BankId, transaction: &Transaction) -> Result<u32, SimulationError> {
        let (mut copies, mut mask) = (0, transaction.sector_mask());
        let first = self.scm.layout().first_sector_of_slot(transaction.slot());
        while mask != 0 {
            let sector = first + mask.trailing_zeros();
            mask &= mask - 1;
            let placed = self.scm.place_write(bank, sector);
            if let Some(SectorCopy { from, to }) = placed.copy {
                copies += 1;
                observe!(self, Event::SectorCopied { bank, from, to });
            }
            self.scm.pulse(bank, placed.place);
            observe!(self, Event::SectorPlaced { bank, sector, place: placed.place });
        }
        if self.scm.media().verifies(bank) {
            self.verify_sectors(bank, self.scm.media().copy_kind(bank), copies)?;
            self.verify_sectors(bank, ScmCommandKind::Write, u32::from(transaction.sectors))?;
        }
        Ok(copies)
    }

    #[inline(never)]
    fn verify_sectors(&mut self, bank: BankId, kind: ScmCommandKind, sectors: u32) -> Result<(), SimulationError> {
        for _ in 0..sectors {
            let verified = self.scm.verify(bank, kind);
            observe!(self, Event::SectorVerified { bank, kind, verified });
        }
        Ok(())
    }

    // ---- a free channel ----------------------------------------------------------------------------

    /// Gives the channel to those that wait for it while it is free.
    #[inline(never)]
    pub(super) fn arbitrate_bank_channel(&mut self, channel: ChannelId) -> Result<(), SimulationError> {
        if self.dram.is_some() && !self.cache_may_have_dram(channel) {
            return Ok(());
        }
        while let Some(granted) = self.scm.grant_channel(&mut self.run, channel) {
            match granted {
                BankGranted::Command(bank) => self.send_bank_command(bank)?,
                BankGranted::Copies(bank, sectors) => {
                    let bytes = self.bytes_of_sectors(bank, sectors);
                    let (command, sent) = self.scm.send_copies(&mut self.run, bank, sectors, bytes)?;
                    self.bank_draws(&command);
                    observe!(self, Event::BankCommandIssued { command: &command, sent, begins: sent });
                }
                BankGranted::Data(bank) => self.send_bank_data_out(bank)?,
            }
        }
        Ok(())
    }

    fn send_bank_command(&mut self, bank: BankId) -> Result<(), SimulationError> {
        let (command, _) = self.scm.command_of(bank);
        let bytes = self.bytes_of_sectors(bank, command.sectors);
        let encode = self.encode_sectors(&command);
        let sent = self.scm.send_command(&mut self.run, bank, bytes, encode)?;
        self.cache_has_dram(bank, sent);
        self.bank_draws(&command);
        observe!(self, Event::BankCommandIssued { command: &command, sent, begins: sent + encode });
        Ok(())
    }

    fn bank_draws(&mut self, command: &ScmCommand) {
        let ScmCommand { kind, bank, sectors } = *command;
        if let Some(power) = &mut self.run.power {
            let copies = !matches!(kind, ScmCommandKind::Read | ScmCommandKind::Write);
            let occupancy = if copies { Occupancy::WearLeveling } else { self.scm.occupancy_of(bank) };
            let medium = self.scm.layout().medium_of_bank(bank);
            power.bank_works(self.run.now, (medium, kind), sectors, occupancy);
        }
    }

    /// Read data go on to the link, or through a decoder, as soon as they have left the bank.
    fn send_bank_data_out(&mut self, bank: BankId) -> Result<(), SimulationError> {
        let (command, index) = self.scm.command_of(bank);
        let bytes = self.bytes_of_sectors(bank, command.sectors);
        let left = self.scm.data_leave(&mut self.run, bank, bytes);
        let transaction = self.run.transactions.slab[index];
        let source = transaction.source;
        // What passes a decoder is told by the timetable.
        let decoded = self.bank_is_coded(bank);
        let stays = source == Source::Migration && !decoded;
        let held = if decoded { self.sectors_left(bank, index, left)? } else { left };
        if !decoded {
            self.run.transactions.was_not_coded(index);
            if !stays {
                self.send_page(index, left);
            }
        }
        self.scm.held_by_data(&mut self.run, bank, (left, held), stays);
        self.cache_has_dram(bank, left);
        observe!(self, Event::BankDataOut { bank, source, command: transaction.asker(), until: left, held });
        Ok(())
    }

    // ---- a bank that wakes -------------------------------------------------------------------------

    /// The bank's wake-up came.
    pub(super) fn bank_woke(&mut self, bank: BankId) -> Result<(), SimulationError> {
        match self.scm.ends_now(bank) {
            Some(BankEnding::Array) => {
                let command = self.scm.end_array(&self.run, bank)?;
                observe!(self, Event::BankCommandEnded { command: &command });
                match self.scm.goes_on(&mut self.run, &command) {
                    Some(written) => self.sectors_written(written),
                    None => Ok(()),
                }
            }
            Some(BankEnding::DataOut) => match self.scm.data_left(self.run.now, bank) {
                Some(arrived) => self.migration_sectors_arrived(arrived),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The sectors of a write are on the media.
    fn sectors_written(&mut self, index: u32) -> Result<(), SimulationError> {
        match self.run.transactions.slab[index].source {
            Source::Migration => self.migration_written(index),
            _ => self.slot_written(index),
        }
    }
}
