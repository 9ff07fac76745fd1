//! The channels of storage-class memory, granted as those of NAND are: one transfer at a time, bare commands before
//! data, first come first served within each, and decided last at an instant.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, ChannelId, Occupancy, SECTOR_BYTES, Source};

use super::{BankPhase, BankUnit};
use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::transaction::{Coding, Transaction};

fn bank_link(banks: &mut [BankUnit], index: u32) -> &mut u32 {
    &mut banks[index as usize].channel_next
}

impl<K: Kind> Device<K> {
    /// Asks for the channel, for which the bank waits in the phase named: to send its command, what it copies, or the data
    /// that it read.
    #[inline]
    pub(super) fn request_bank_channel(&mut self, bank: BankId, waits: BankPhase) {
        let channel_id = self.scm.layout().channel_of_bank(bank);
        let channel = &mut self.scm.channels[channel_id.index()];
        let unit = &mut self.scm.banks[bank.index()];
        unit.phase = waits;
        unit.channel_requested = self.now;
        unit.ledger.enter(self.now, Occupancy::WaitingForChannel);
        let bare = waits == BankPhase::WaitingToSend && unit.command.kind == ScmCommandKind::Read;
        let queue = if bare { &mut channel.commands } else { &mut channel.data };
        queue.push_back(&mut self.scm.banks[..], bank.0, bank_link);
        self.scm.channels_touched.set(channel_id.index());
        let index = self.scm.banks[bank.index()].transaction;
        self.transactions.begin_channel_wait(&self.own_parts, index, self.now);
    }

    /// Gives the channel to those that wait for it while it is free, and has it wake when it frees if some are left.
    #[inline(never)]
    pub(crate) fn arbitrate_bank_channel(&mut self, channel_id: ChannelId) -> Result<(), SimulationError> {
        loop {
            let channel = &mut self.scm.channels[channel_id.index()];
            if channel.commands.is_empty() && channel.data.is_empty() {
                return Ok(());
            }
            if channel.free_at > self.now {
                self.queue.schedule(self.resources.bank_channel(channel_id), channel.free_at);
                return Ok(());
            }
            let queue = if channel.commands.is_empty() { &mut channel.data } else { &mut channel.commands };
            let Some(bank) = queue.pop_front(&mut self.scm.banks[..], bank_link) else { return Ok(()) };
            let BankUnit { phase, channel_requested, .. } = self.scm.banks[bank as usize];
            self.scm.counters_of(BankId(bank)).channel_waits += u64::from(channel_requested < self.now);
            match phase {
                BankPhase::WaitingToSend => self.send_bank_command(BankId(bank), channel_id)?,
                BankPhase::WaitingToCopy => self.send_copies_out_and_in(BankId(bank), channel_id)?,
                _ => self.send_bank_data_out(BankId(bank), channel_id)?,
            }
        }
    }

    /// Sectors that wear levelling copies cross the channel to the controller and, behind command and address, back; the
    /// array writes them right after. The channel is taken once for all of it.
    fn send_copies_out_and_in(&mut self, bank: BankId, channel: ChannelId) -> Result<(), SimulationError> {
        let now = self.now;
        let BankUnit { copies: sectors, transaction: index, .. } = self.scm.banks[bank.index()];
        let burst = self.scm.media.data_time(bank, self.bytes_of_sectors(bank, sectors));
        let sent = now + burst + self.scm.media.command_address_time(bank) + burst;
        let command = ScmCommand { kind: ScmCommandKind::CopyIn, bank, sectors };
        let end = self.begin_bank_array(&command, sent)?;
        let unit = &mut self.scm.banks[bank.index()];
        unit.ledger.enter(now, Occupancy::WearLeveling);
        unit.phase = BankPhase::Copying;
        self.take_bank_channel(channel, sent);
        self.queue.schedule(self.resources.bank(bank), end);
        self.scm.counters_of(bank).sectors_copied += u64::from(sectors);
        self.digest_bank_command(&command, &self.transactions.slab[index].clone());
        observe!(self, Event::BankCommandIssued { command: &command, sent, begins: sent });
        Ok(())
    }

    /// Command, address and, for a write, its data; the array starts right after.
    fn send_bank_command(&mut self, bank: BankId, channel: ChannelId) -> Result<(), SimulationError> {
        let now = self.now;
        let (command, index) = {
            let unit = &self.scm.banks[bank.index()];
            (unit.command, unit.transaction)
        };
        let writes = command.kind == ScmCommandKind::Write;
        let bytes = self.bytes_of_sectors(bank, command.sectors);
        let data_in = if writes { self.scm.media.data_time(bank, bytes) } else { Ns::ZERO };
        let sent = now + self.scm.media.command_address_time(bank) + data_in;
        let encode = self.encode_sectors(&command);
        let end = self.begin_bank_array(&command, sent + encode)?;
        let unit = &mut self.scm.banks[bank.index()];
        unit.ledger.enter(now, unit.occupancy);
        unit.phase = BankPhase::Array;
        self.take_bank_channel(channel, sent);
        self.queue.schedule(self.resources.bank(bank), end);
        let track = &mut self.transactions.tracks[index as usize];
        track.channel = now - track.mark;
        track.transfer = data_in;
        track.coding.time = encode;
        track.mark = now;
        self.end_shared_channel_wait_of_bank(bank, sent);
        let counters = self.scm.counters_of(bank);
        let (commands, sectors) = if writes {
            (&mut counters.write_commands, &mut counters.sectors_written)
        } else {
            (&mut counters.read_commands, &mut counters.sectors_read)
        };
        *commands += 1;
        *sectors += u64::from(command.sectors);
        self.digest_bank_command(&command, &self.transactions.slab[index].clone());
        observe!(self, Event::BankCommandIssued { command: &command, sent, begins: sent + encode });
        Ok(())
    }

    /// Read data go on to the link as soon as they have left the bank.
    fn send_bank_data_out(&mut self, bank: BankId, channel: ChannelId) -> Result<(), SimulationError> {
        let now = self.now;
        let unit = &self.scm.banks[bank.index()];
        let index = unit.transaction;
        let sectors = unit.command.sectors;
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let left = now + self.scm.media.data_time(bank, self.bytes_of_sectors(bank, sectors));
        let track = &mut self.transactions.tracks[index as usize];
        track.channel += now - track.mark;
        track.transfer = left - now;
        let transaction = self.transactions.slab[index];
        let (asker, source) = (transaction.asker(), transaction.source);
        // What passes a decoder is told by the timetable.
        let coded = self.bank_is_coded(bank);
        let stays = source == Source::Migration && !coded;
        let held = if coded {
            self.sectors_left(bank, channel, left)?
        } else {
            if self.reliability.is_some() {
                self.transactions.tracks[index as usize].coding = Coding::default();
            }
            if !stays {
                self.queue_link_out(LinkJob { ready: left, bytes, command: asker, transaction: index });
            }
            left
        };
        self.end_shared_channel_wait_of_bank(bank, left);
        self.close_share_of_bank(bank, held);
        self.take_bank_channel(channel, left);
        let unit = &mut self.scm.banks[bank.index()];
        unit.stays = stays;
        unit.ledger.enter_until(now, unit.occupancy, held);
        unit.phase = BankPhase::DataOut;
        unit.data_out_end = held;
        // Nobody has to decide anything at the end of a read on a bank with nothing else to do.
        if unit.waiting != 0 || stays {
            self.queue.schedule(self.resources.bank(bank), held);
        }
        observe!(self, Event::BankDataOut { bank, source, command: asker, until: left, held });
        Ok(())
    }

    fn take_bank_channel(&mut self, channel: ChannelId, until: Ns) {
        let unit = &mut self.scm.channels[channel.index()];
        unit.busy += until - self.now;
        unit.free_at = until;
    }

    pub(super) fn begin_bank_array(&mut self, command: &ScmCommand, at: Ns) -> Result<Ns, SimulationError> {
        let begun = self.scm.media.begin_array(command, at);
        begun.map_err(|source| SimulationError::IllegalOnScm { at: self.now, source })
    }

    pub(super) fn digest_bank_command(&mut self, command: &ScmCommand, transaction: &Transaction) {
        // Dies number fewer than 2^47: the top bit tells a bank from a die.
        let what = 1 << 63 | u64::from(command.bank.0) << 16 | u64::from(command.sectors) << 8 | command.kind as u64;
        self.digest.word(self.now.0);
        self.digest.word(what);
        self.digest.word(u64::from(transaction.slot().0) << 32 | u64::from(transaction.sector_mask()));
    }
}
