//! Drives with two media: slots of storage-class memory above flash, or above slower storage-class memory.
//!
//! What a request touches is split into pages, each of which the tier places. A page is looked for in its slot first:
//! sectors that are valid there are read there, the others below. Validity changes when a bank takes up an access, as
//! contents do; so whatever is queued reads and writes what the order of issue says, and nothing has to be locked:
//!
//! - An access that is queued on a slot keeps it: a slot is given to another page when nobody is about to read it.
//! - What is written while its page is on its way down stays dirty in the slot; the copy below is older, and clean.
//! - What goes up fills sectors that are not valid when it is written; it is dropped if the unit below was written or
//!   moved since it was read there.
//! - A write that was to go below and whose page got a slot before its turn is written to the slot.

mod evict;
mod fill;
mod host;

use ninescope_kernel::NONE;
use ninescope_model::{Cause, Lpa, Ppa, SlotId, Source};
use ninescope_tier::Eviction;

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::tier::{Lower, MigrationKind, SlotWaiter, TierPart};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// The tier. Called in the flows of drives that have one.
    #[inline]
    pub(crate) fn tiered(&mut self) -> &mut TierPart {
        self.tier.as_mut().expect("a drive with two media has a tier")
    }

    /// The slot of the lower medium that holds a page, where that is SCM.
    #[inline]
    fn lower_slot(&self, page: u32) -> SlotId {
        SlotId(self.scm.layout().first_slot(1) + page)
    }

    /// Empties slots as far as the policy wants or waiting accesses need, and gives free ones to who waits. A request
    /// that waits for its migrations is `command`, or `NONE`.
    pub(crate) fn pump_tier(&mut self, command: u32) -> Result<(), SimulationError> {
        loop {
            self.serve_slot_waiters()?;
            let part = self.tiered();
            if part.evictions >= part.in_flight_max {
                return Ok(());
            }
            let needed = part.slots_needed();
            match part.tier.next_eviction(needed) {
                None => return Ok(()),
                Some(Eviction::Dropped { slot, page }) => observe!(self, Event::PageLeft { page, slot }),
                Some(Eviction::CopyDown(slot)) => self.start_eviction(slot.0, command)?,
            }
        }
    }

    /// Free slots go to those who wait, in their order.
    fn serve_slot_waiters(&mut self) -> Result<(), SimulationError> {
        while let Some(waiter) = self.tiered().waiting.front().copied() {
            let page = match waiter {
                SlotWaiter::Write { page, .. } => page,
                SlotWaiter::Fill(migration) => self.tiered().migrations[migration].page,
            };
            let Some(slot) = self.slot_for(page)? else { return Ok(()) };
            self.tiered().waiting.pop_front();
            match waiter {
                SlotWaiter::Write { command, sectors, .. } => self.queue_upper_write(command, slot, sectors),
                SlotWaiter::Fill(migration) => self.fill_got_slot(migration, slot)?,
            }
        }
        Ok(())
    }

    /// The slot of a page, a free one if it has none yet.
    fn slot_for(&mut self, page: u32) -> Result<Option<u32>, SimulationError> {
        let residency = self.tiered().tier.residency_mut();
        if let Some(slot) = residency.slot_of(page) {
            return Ok(Some(slot));
        }
        let taken = residency.take(page);
        if let Some(slot) = taken {
            self.tiered().slot_taken(page);
            observe!(self, Event::SlotTaken { page, slot: SlotId(slot) });
        }
        Ok(taken)
    }

    /// Reads a unit of flash for a migration.
    fn queue_migration_read(&mut self, migration: u32, ppa: Ppa) -> Result<(), SimulationError> {
        self.counters.migration_page_reads += 1;
        self.queue_read(Transaction::migration_read(ppa, migration))
    }

    // ---- what banks tell -------------------------------------------------------------------------

    /// A bank takes up an access of a drive with two media: masks and contents of its slot change now. Returns the
    /// sectors it is to access, none if it is not wanted any more.
    pub(crate) fn slot_taken_up(&mut self, transaction: &Transaction) -> Result<u32, SimulationError> {
        let (slot, sectors) = (transaction.slot(), transaction.sector_mask());
        if self.scm.layout().medium_of_slot(slot) != 0 {
            if self.reliability.is_some() && transaction.class == QueueClass::MoveProgram {
                self.eviction_takes_effect(transaction.migration(), false)?;
            }
            return Ok(sectors);
        }
        match (transaction.source, transaction.class) {
            (Source::Migration, QueueClass::MoveRead) => self.eviction_taken_up(transaction.migration()),
            (Source::Migration, _) => self.fill_taken_up(transaction.migration(), sectors),
            (_, QueueClass::HostRead) => {
                if self.tiered().tier.residency_mut().reader_left(slot.0) {
                    self.tier_touched = true;
                }
                Ok(sectors)
            }
            _ => {
                let part = self.tiered();
                let whole = part.tier.whole();
                // Eviction may have waited for it.
                let starved = part.tier.is_starved();
                let residency = part.tier.residency_mut();
                residency.writer_left(slot.0);
                let page = residency.slot(slot.0).page;
                if residency.written(slot.0, sectors, whole) {
                    self.forget_below(page)?;
                }
                if self.reliability.is_some() && sectors == whole {
                    self.repair(Lpa(page))?;
                }
                self.tier_touched |= starved;
                Ok(sectors)
            }
        }
    }

    /// All of a page is dirty above: what flash holds of it is of no use.
    fn forget_below(&mut self, page: u32) -> Result<(), SimulationError> {
        if self.tiered().lower == Lower::Scm {
            return Ok(());
        }
        let lpa = Lpa(page);
        let old = self.ftl.trim(lpa);
        if old != Ppa::UNMAPPED {
            self.tiered().tier.counters_mut().superseded_below += 1;
            self.touch_gc_of(old);
            observe!(self, Event::UnitSuperseded { lpa, old });
        }
        Ok(())
    }

    /// The sectors of a write are on their medium.
    pub(crate) fn migration_written(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let migration = self.transactions.slab[transaction].migration();
        self.transactions.slab.remove(transaction);
        match self.tiered().migrations[migration].kind {
            MigrationKind::Evict => self.eviction_ended(migration),
            MigrationKind::CopyUp | MigrationKind::MoveUp => self.fill_ended(migration),
        }
    }

    /// Sectors that a migration read are in the controller.
    pub(crate) fn migration_sectors_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let migration = self.transactions.slab[transaction].migration();
        self.transactions.slab.remove(transaction);
        self.migration_data_arrived(migration)
    }

    /// The unit that a migration read from flash is in the controller.
    pub(crate) fn migration_data_arrived(&mut self, migration: u32) -> Result<(), SimulationError> {
        self.tiered().migrations[migration].reads -= 1;
        if self.tiered().migrations[migration].reads == 0 {
            self.read_rest_if_due(migration)?;
        }
        let part = self.tiered();
        let reads_alone = part.tier.rules().waits_for_reads();
        let record = &mut part.migrations[migration];
        if record.reads > 0 {
            return Ok(());
        }
        let command = if reads_alone { std::mem::replace(&mut record.command, NONE) } else { NONE };
        match record.kind {
            MigrationKind::Evict => self.place_eviction(migration)?,
            MigrationKind::CopyUp | MigrationKind::MoveUp => self.fill_arrived(migration)?,
        }
        self.migration_wait_ends(command)
    }

    /// A migration is over. The command that waits for it may complete.
    fn end_migration(&mut self, migration: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        let record = part.migrations[migration];
        part.migrations.remove(migration);
        observe!(self, Event::MigrationEnded { migration });
        self.tier_touched = true;
        self.migration_wait_ends(record.command)
    }

    /// What a command waited for of a migration is done.
    fn migration_wait_ends(&mut self, command: u32) -> Result<(), SimulationError> {
        if command == NONE {
            return Ok(());
        }
        let mut parts = Parts::default();
        parts.add(Cause::MigrationWait, self.now - self.commands[command].mark);
        self.finish_part(command, parts, NONE)
    }
}
