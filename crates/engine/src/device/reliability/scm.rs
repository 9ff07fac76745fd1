//! Sectors of storage-class memory on their way through a decoder, and what encoding adds to their writes.

use ninescope_kernel::Ns;
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, Lpa, SECTOR_BYTES, SlotId, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::probe::{Event, observe};
use crate::reliability::code::Decoded;
use crate::reliability::timetable::Appointment;
use crate::reliability::{Decoder, Passage};
use crate::transaction::{Coding, Harm, QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// The decoder of sectors that leave a bank.
    #[inline]
    fn decoder_of_bank(&self, bank: BankId) -> Decoder {
        let medium = self.scm.layout().medium_of_bank(bank);
        self.reliability.as_ref().map_or(Decoder::None, |part| part.decoder_of_medium(medium))
    }

    /// Whether the sectors of a bank are guarded by a code.
    #[inline]
    pub(in crate::device) fn bank_is_coded(&self, bank: BankId) -> bool {
        self.decoder_of_bank(bank) != Decoder::None
    }

    /// Time to encode what a command writes. The bank waits for it [ns].
    #[inline]
    pub(in crate::device) fn encode_sectors(&mut self, command: &ScmCommand) -> Ns {
        match &mut self.reliability {
            Some(part) if command.kind == ScmCommandKind::Write => {
                part.encode_sectors(self.scm.layout().medium_of_bank(command.bank), command.sectors)
            }
            _ => Ns::ZERO,
        }
    }

    /// Bytes that cross the channel for some sectors [B].
    #[inline]
    pub(in crate::device) fn bytes_of_sectors(&self, bank: BankId, sectors: u32) -> u64 {
        let medium = self.scm.layout().medium_of_bank(bank);
        let coded = self.reliability.as_ref().and_then(|part| part.bytes_of_sectors(medium, sectors));
        coded.unwrap_or(u64::from(sectors) * SECTOR_BYTES)
    }

    /// The sectors that a bank read leave it until `left`. Returns until when the bank keeps them.
    #[inline(never)]
    pub(in crate::device) fn sectors_left(
        &mut self,
        bank: BankId,
        transaction: u32,
        left: Ns,
    ) -> Result<Ns, SimulationError> {
        match self.decoder_of_bank(bank) {
            Decoder::None => {}
            Decoder::Shared => self.note(left, Appointment::SectorsAtDecoder { bank, transaction }),
            Decoder::OfChannel { holds } => {
                let channel = self.scm.channel_within_medium(bank) as usize;
                let until = self.decode_sectors(bank, transaction, channel, left)?;
                return Ok(if holds { until } else { left });
            }
        }
        Ok(left)
    }

    /// Gives sectors that `arrive` to a decoder. Returns when they are decoded.
    pub(super) fn decode_sectors(
        &mut self,
        bank: BankId,
        index: u32,
        channel: usize,
        arrives: Ns,
    ) -> Result<Ns, SimulationError> {
        let transaction = self.run.transactions.slab[index];
        let (slot, sectors) = (transaction.slot(), u32::from(transaction.sectors));
        let medium = self.scm.layout().medium_of_bank(bank);
        let writes = self.scm.writes_of(slot, transaction.sector_mask());
        let passage = self.reliable().decode_sectors((medium, channel), index, (sectors, writes), arrives);
        let Some((Passage { begins, until, decoded, .. }, page)) = passage else { return Ok(arrives) };
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
        let coding = Coding { wait: begins - arrives, time: until - begins, ..Coding::default() };
        self.run.transactions.decoded(index, coding);
        self.tell_sectors(&transaction, page, failed, undetected)?;
        if source == Source::Migration {
            self.note(until, Appointment::Decoded { transaction: index });
        } else {
            let bytes = if failed == 0 { u64::from(sectors) * SECTOR_BYTES } else { 0 };
            self.host.send(&mut self.run, LinkJob { ready: until, bytes, command, transaction: index });
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
        if failed != 0 {
            self.reliable().count_failed_sectors();
        }
        let harm = if failed == 0 { Harm::Wrong } else { Harm::Lost };
        match (transaction.source, harm) {
            (Source::Migration, _) => {
                self.tiered().harm_in_slot(transaction.migration(), harm);
                Ok(())
            }
            (_, Harm::Lost) => self.report(transaction.command(), page),
            (_, Harm::Wrong) => self.pass_wrong(transaction.command(), page),
        }
    }

    /// A bank is about to take up an access: of a read of the host it is known now which page it reads. What is lost or
    /// wrong of it may have become so since the read was queued.
    #[inline]
    pub(in crate::device) fn note_page_of_sectors(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.reliability.is_some() { self.reliable_page_of_sectors(index) } else { Ok(()) }
    }

    #[inline(never)]
    fn reliable_page_of_sectors(&mut self, index: u32) -> Result<(), SimulationError> {
        let transaction = self.run.transactions.slab[index];
        if transaction.source != Source::Host || transaction.class != QueueClass::HostRead {
            return Ok(());
        }
        let page = self.page_of_slot(transaction.slot());
        self.reliable().sectors_are_of(index, page);
        if self.tier.is_some() { self.tell_damage(transaction.command(), page) } else { Ok(()) }
    }

    /// What a migration has read takes effect: where it is no good, neither is its page. `of_flash` says that what it read
    /// from flash is in it.
    #[inline]
    pub(in crate::device) fn migration_takes_effect(
        &mut self,
        migration: u32,
        of_flash: bool,
    ) -> Result<(), SimulationError> {
        if self.reliability.is_none() {
            return Ok(());
        }
        let (page, harms) = self.tiered().harms_of(migration, of_flash);
        for harm in harms.into_iter().flatten() {
            self.harm(Lpa(page), harm)?;
        }
        Ok(())
    }

    /// The page that a slot holds.
    fn page_of_slot(&self, slot: SlotId) -> Lpa {
        let first_of_storage = self.scm.layout().first_slot(1);
        match &self.tier {
            Some(part) if self.scm.layout().medium_of_slot(slot) == 0 => Lpa(part.tier().slot(slot.0).page),
            Some(_) => Lpa(slot.0 - first_of_storage),
            None => Lpa(slot.0),
        }
    }
}
