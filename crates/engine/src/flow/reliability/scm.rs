//! Sectors of storage-class memory on their way through a decoder, and what encoding adds to their writes.

use ninescope_kernel::Ns;
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, ChannelId, Lpa, SECTOR_BYTES, SlotId, Source};

use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::code::{Asked, Decoded};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Harm, Sensed};
use crate::tier::Migration;
use crate::transaction::{Coding, QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Whether the sectors of a bank are guarded by a code.
    #[inline]
    pub(crate) fn bank_is_coded(&self, bank: BankId) -> bool {
        let medium = self.scm.layout().medium_of_bank(bank);
        self.reliability.as_ref().is_some_and(|part| part.scm[medium].is_some())
    }

    /// Time to encode what a command writes. The bank waits for it [ns].
    #[inline]
    pub(crate) fn encode_sectors(&mut self, command: &ScmCommand) -> Ns {
        if self.reliability.is_none() || command.kind != ScmCommandKind::Write {
            return Ns::ZERO;
        }
        let medium = self.scm.layout().medium_of_bank(command.bank);
        let of_medium = self.reliable().scm[medium].as_mut();
        of_medium.map_or(Ns::ZERO, |of_medium| of_medium.code.encode(command.sectors))
    }

    /// Bytes that cross the channel for some sectors [B].
    #[inline]
    pub(crate) fn bytes_of_sectors(&self, bank: BankId, sectors: u32) -> u64 {
        let medium = self.scm.layout().medium_of_bank(bank);
        let code = self.reliability.as_ref().and_then(|part| part.scm[medium].as_ref());
        code.map_or(u64::from(sectors) * SECTOR_BYTES, |of_medium| u64::from(of_medium.code.channel_bytes(sectors)))
    }

    /// The sectors that a bank read leave it until `left`. Returns until when the bank keeps them.
    #[inline(never)]
    pub(crate) fn sectors_left(&mut self, bank: BankId, channel: ChannelId, left: Ns) -> Result<Ns, SimulationError> {
        let layout = self.scm.layout();
        let medium = layout.medium_of_bank(bank);
        let first_channel = if medium == 0 { 0 } else { layout.medium(0).channels };
        let part = self.reliable();
        let Some(of_medium) = &part.scm[medium] else { return Ok(left) };
        let (shared, holds) = (of_medium.code.scheme().shared(), of_medium.code.scheme().holds_die());
        if shared {
            self.note(
                left,
                Appointment::SectorsAtDecoder { bank, transaction: self.scm.banks[bank.index()].transaction },
            );
            return Ok(left);
        }
        let index = self.scm.banks[bank.index()].transaction;
        let until = self.decode_sectors(bank, index, channel.index() - first_channel as usize, left)?;
        Ok(if holds { until } else { left })
    }

    /// Gives sectors that `arrive` to a decoder. Returns when they are decoded.
    pub(super) fn decode_sectors(
        &mut self,
        bank: BankId,
        index: u32,
        channel: usize,
        arrives: Ns,
    ) -> Result<Ns, SimulationError> {
        let transaction = self.transactions.slab[index];
        let page = self.sensed(index).page;
        let (slot, mask) = (transaction.slot(), transaction.sector_mask());
        let medium = self.scm.layout().medium_of_bank(bank);
        // Sectors of a slot are much alike: the first one speaks for all.
        let place = self.scm.locate(slot, mask.trailing_zeros());
        let writes = self.scm.media.wear_of(bank)[place as usize];
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Some(of_medium) = &mut part.scm[medium] else { return Ok(arrives) };
        let level = of_medium.level(writes);
        let code = &mut of_medium.code;
        let decoded = code.draw(level, u32::from(transaction.sectors), 0, Asked::ALL);
        let time = code.scheme().decode_time(decoded.codewords, decoded.corrupted);
        let begins = code.take_decoder(channel, arrives, time);
        let until = begins + time;
        let Decoded { codewords, corrupted, failed, undetected, .. } = decoded;
        let (source, command) = (transaction.source, transaction.asker());
        observe!(
            self,
            Event::SectorsDecoded {
                slot,
                source,
                command,
                arrived: arrives,
                begins,
                until,
                codewords,
                corrupted,
                failed,
                undetected,
            }
        );
        // What it did is told here, not when it arrives.
        *self.sensed(index) = Sensed::default();
        self.transactions.tracks[index as usize].coding = Coding { wait: begins - arrives, time, ..Coding::default() };
        self.tell_sectors(&transaction, page, failed, undetected)?;
        if source == Source::Migration {
            self.note(until, Appointment::Decoded { transaction: index });
        } else {
            let bytes = if failed == 0 { u64::from(transaction.sectors) * SECTOR_BYTES } else { 0 };
            self.queue_link_out(LinkJob { ready: until, bytes, command, transaction: index });
        }
        Ok(until)
    }

    /// What did not decode is reported, or lost to a migration; what is wrong goes on as if it were good.
    fn tell_sectors(
        &mut self,
        transaction: &Transaction,
        page: Lpa,
        failed: u32,
        undetected: u32,
    ) -> Result<(), SimulationError> {
        if failed | undetected == 0 {
            return Ok(());
        }
        self.reliable().counters.failed_reads += u64::from(failed != 0);
        let harm = if failed == 0 { Harm::Wrong } else { Harm::Lost };
        match (transaction.source, harm) {
            (Source::Migration, _) => {
                self.tiered().migrations[transaction.migration()].harm_in_slot = Some(harm);
                Ok(())
            }
            (_, Harm::Lost) => self.report(transaction.command(), page),
            (_, Harm::Wrong) => self.pass_wrong(transaction.command(), page),
        }
    }

    /// A bank is about to take up an access: of a read of the host it is known now which page it reads. What is lost or
    /// wrong of it may have become so since the read was queued.
    #[inline(never)]
    pub(crate) fn note_page_of_sectors(&mut self, index: u32) -> Result<(), SimulationError> {
        let transaction = self.transactions.slab[index];
        if transaction.source != Source::Host || transaction.class != QueueClass::HostRead {
            return Ok(());
        }
        let page = self.page_of_slot(transaction.slot());
        self.sensed(index).page = page;
        if self.tier.is_some() { self.tell_damage(transaction.command(), page) } else { Ok(()) }
    }

    /// What a migration has read takes effect: where it is no good, neither is its page. `of_flash` says that what it read
    /// from flash is in it.
    #[inline(never)]
    pub(crate) fn migration_takes_effect(&mut self, migration: u32, of_flash: bool) -> Result<(), SimulationError> {
        let Migration { page, harm_in_flash, harm_in_slot, .. } = self.tiered().migrations[migration];
        for harm in [harm_in_flash.filter(|_| of_flash), harm_in_slot].into_iter().flatten() {
            self.harm(Lpa(page), harm)?;
        }
        Ok(())
    }

    /// The page that a slot holds.
    fn page_of_slot(&self, slot: SlotId) -> Lpa {
        let first_of_storage = self.scm.layout().first_slot(1);
        match &self.tier {
            Some(part) if self.scm.layout().medium_of_slot(slot) == 0 => Lpa(part.tier.slot(slot.0).page),
            Some(_) => Lpa(slot.0 - first_of_storage),
            None => Lpa(slot.0),
        }
    }
}
