//! Queueing a transaction on its bank, and giving a free bank its next one.

use ninescope_ftl::policies::SectorCopy;
use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_media::scm::{CopyPath, ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, Occupancy, Source};

use super::BankPhase;
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::sched::transaction_scheduler::DieView;
use crate::transaction::{CLASSES, QueueClass, Transaction, TransactionStore};

impl<K: Kind> Device<K> {
    /// Queues a transaction on its bank, from which it is dispatched before time moves on if the bank is free.
    #[inline]
    pub(crate) fn enqueue_on_bank(&mut self, transaction: Transaction) {
        let now = self.now;
        let class = transaction.class;
        let bank = self.scm.layout().bank_of_slot(transaction.slot());
        let index = self.transactions.insert(now, transaction);
        self.free_bank_after_data_out(bank);
        self.join_share_of_bank(bank, index);
        let unit = &mut self.scm.banks[bank.index()];
        let track = &mut self.transactions.tracks[index as usize];
        track.mark = now;
        track.snapshot_taken = unit.phase != BankPhase::Free || unit.waiting != 0;
        if track.snapshot_taken {
            let ledger = unit.ledger.read(now);
            self.transactions.begin_wait(&self.own_parts, index, now, ledger);
        } else {
            unit.unsnapped = index;
        }
        self.transactions.push(&mut unit.queues[class as usize], index);
        unit.waiting |= 1 << class as u8;
        match unit.phase {
            BankPhase::Free => self.scm.touched.set(bank.index()),
            // The transfer was to end without an event, because nothing waited.
            BankPhase::DataOut => self.queue.schedule(self.resources.bank(bank), unit.data_out_end),
            _ => {}
        }
    }

    /// A bank whose data transfer ended without an event is free.
    #[inline]
    fn free_bank_after_data_out(&mut self, bank: BankId) {
        let unit = &mut self.scm.banks[bank.index()];
        if unit.phase == BankPhase::DataOut
            && unit.data_out_end <= self.now
            && self.queue.wake_time(self.resources.bank(bank)) == Ns::NEVER
        {
            unit.phase = BankPhase::Free;
        }
    }

    // Not inlined, so that drives without SCM are not made slower.
    /// Issues the next transaction of a bank if it is free and something waits.
    #[inline(never)]
    pub(crate) fn dispatch_bank(&mut self, bank: BankId) -> Result<(), SimulationError> {
        self.free_bank_after_data_out(bank);
        if self.scm.banks[bank.index()].phase != BankPhase::Free {
            return Ok(());
        }
        // What is not wanted any more when its turn comes makes room for the next.
        while let Some(class) = self.next_class_of_bank(bank) {
            if self.issue_on_bank(bank, class)? {
                break;
            }
        }
        // One that was queued on the idle bank at this instant and was not issued has to wait: the ledger still
        // stands where it stood then.
        let unit = &mut self.scm.banks[bank.index()];
        let index = std::mem::replace(&mut unit.unsnapped, NONE);
        if index != NONE {
            let ledger = unit.ledger.read(self.now);
            self.transactions.begin_wait(&self.own_parts, index, self.now, ledger);
        }
        Ok(())
    }

    fn next_class_of_bank(&mut self, bank: BankId) -> Option<QueueClass> {
        let unit = &self.scm.banks[bank.index()];
        if unit.waiting == 0 {
            return None;
        }
        // One class alone is no decision.
        if unit.waiting == 1 << QueueClass::HostRead as u8 {
            return Some(QueueClass::HostRead);
        }
        let mut head_queued = [Ns::ZERO; CLASSES];
        for (queued, queue) in head_queued.iter_mut().zip(&unit.queues) {
            if !queue.is_empty() {
                *queued = self.transactions.slab[queue.head()].queued;
            }
        }
        self.scheduler.pick(&DieView { waiting: unit.waiting, head_queued, gc_is_urgent: false })
    }

    /// Takes the first transaction of a class. Where it writes, its sectors get their places now: from here to its end
    /// nothing else happens in the bank, so that the order of issue is the order of contents. Returns whether the bank
    /// has something to do.
    fn issue_on_bank(&mut self, bank: BankId, class: QueueClass) -> Result<bool, SimulationError> {
        let unit = &mut self.scm.banks[bank.index()];
        let queue = &mut unit.queues[class as usize];
        let index = queue
            .pop_front(&mut self.transactions.slab, TransactionStore::link)
            .expect("the scheduler picks a class that waits");
        if queue.is_empty() {
            unit.waiting &= !(1 << class as u8);
        }
        if self.reliability.is_some() {
            self.note_page_of_sectors(index)?;
        }
        if self.tier.is_some() && !self.take_up_slot(bank, index)? {
            return Ok(false);
        }
        let transaction = self.transactions.slab[index];
        let reads = matches!(class, QueueClass::HostRead | QueueClass::MoveRead);
        let kind = if reads { ScmCommandKind::Read } else { ScmCommandKind::Write };
        let unit = &mut self.scm.banks[bank.index()];
        unit.command = ScmCommand { kind, bank, sectors: u32::from(transaction.sectors) };
        unit.transaction = index;
        unit.occupancy = class.occupancy(transaction.source);
        self.close_wait_on_bank(bank, index);
        self.open_share_of_bank(bank);
        if !reads && transaction.source == Source::Host {
            self.scm.counters_of(bank).host_sectors_taken += u64::from(transaction.sectors);
        }
        observe!(
            self,
            Event::SlotDispatched {
                kind,
                source: transaction.source,
                command: transaction.asker(),
                slot: transaction.slot(),
                sectors: transaction.sector_mask()
            }
        );
        if kind == ScmCommandKind::Read || self.place_sectors(bank, &transaction)? == 0 {
            self.request_bank_channel(bank, BankPhase::WaitingToSend);
        } else {
            self.copy_out_of_the_way(bank, &transaction)?;
        }
        Ok(true)
    }

    /// Has the tier say which sectors an access is still wanted for, and forgets it if none are left.
    fn take_up_slot(&mut self, bank: BankId, index: u32) -> Result<bool, SimulationError> {
        let transaction = self.transactions.slab[index];
        let mask = self.slot_taken_up(&transaction)?;
        if mask == 0 {
            let unsnapped = &mut self.scm.banks[bank.index()].unsnapped;
            if *unsnapped == index {
                *unsnapped = NONE;
            }
            self.transactions.slab.remove(index);
            return Ok(false);
        }
        self.transactions.slab[index].narrow_to(mask);
        Ok(true)
    }

    /// The transaction leaves the queue: the difference of the bank's ledger since it was queued is its wait.
    #[inline]
    fn close_wait_on_bank(&mut self, bank: BankId, index: u32) {
        let unit = &mut self.scm.banks[bank.index()];
        if unit.unsnapped == index {
            unit.unsnapped = NONE;
        }
        let ledger = unit.ledger.read(self.now);
        self.transactions.end_wait(&self.own_parts, index, self.now, ledger);
    }

    /// Lets each sector of a command that writes know its verify cycles.
    #[inline(never)]
    fn verify_sectors(&mut self, bank: BankId, kind: ScmCommandKind, sectors: u32) -> Result<(), SimulationError> {
        for _ in 0..sectors {
            let verified = self.scm.media.verify(bank, kind);
            let counters = self.scm.counters_of(bank);
            counters.verify_cycles += u64::from(verified.cycles);
            counters.verify_reads += u64::from(verified.reads);
            observe!(self, Event::SectorVerified { bank, kind, verified });
        }
        Ok(())
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
                self.scm.media.pulse_copy(bank, to);
                observe!(self, Event::SectorCopied { bank, from, to });
            }
            self.scm.media.pulse(bank, placed.place);
            observe!(self, Event::SectorPlaced { bank, sector, place: placed.place });
        }
        if self.scm.media.verifies(bank) {
            self.verify_sectors(bank, self.scm.media.copy_kind(bank), copies)?;
            self.verify_sectors(bank, ScmCommandKind::Write, u32::from(transaction.sectors))?;
        }
        self.scm.banks[bank.index()].copies = copies;
        Ok(copies)
    }

    /// Begins with the copies that wear levelling wants before a write: all of it, where the memory copies by itself, or
    /// reading what then goes through the controller.
    fn copy_out_of_the_way(&mut self, bank: BankId, transaction: &Transaction) -> Result<(), SimulationError> {
        let now = self.now;
        let sectors = self.scm.banks[bank.index()].copies;
        let (kind, phase) = match self.scm.media.copy_path(bank) {
            CopyPath::ThroughController => (ScmCommandKind::CopyOut, BankPhase::CopyingOut),
            CopyPath::InMemory => (ScmCommandKind::Copy, BankPhase::Copying),
        };
        let command = ScmCommand { kind, bank, sectors };
        let end = self.begin_bank_array(&command, now)?;
        let unit = &mut self.scm.banks[bank.index()];
        unit.phase = phase;
        unit.ledger.enter(now, Occupancy::WearLeveling);
        self.queue.schedule(self.resources.bank(bank), end);
        if kind == ScmCommandKind::Copy {
            self.scm.counters_of(bank).sectors_copied += u64::from(sectors);
        }
        self.digest_bank_command(&command, transaction);
        observe!(self, Event::BankCommandIssued { command: &command, sent: now, begins: now });
        Ok(())
    }
}
