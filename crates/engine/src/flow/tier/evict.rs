//! Eviction: the dirty sectors of a slot go down, so that it becomes free.
//!
//! Above flash a page goes down whole: what the slot does not hold is read from flash and merged. Above storage-type
//! memory its dirty sectors alone are written, or all that the slot holds, as the policy says.

use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, SlotId, Source};
use ninescope_tier::SlotState;

use crate::device::Device;
use crate::error::SimulationError;
use crate::flow::WriteEntry;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::tier::{Lower, Migration, MigrationKind};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Reads what is to go down, from the slot and, where flash completes the page, from there: beside the slot, or when
    /// that has been read.
    pub(super) fn start_eviction(&mut self, slot: u32, command: u32) -> Result<(), SimulationError> {
        let command = self.waits_for_migration(command);
        let part = self.tiered();
        let record = *part.tier.slot(slot);
        let mask = part.goes_down(&record);
        let merges = part.lower == Lower::Flash && record.valid != part.tier.whole();
        let rest_is_due = merges && part.tier.rules().waits_for_reads();
        part.evictions += 1;
        let migration = part.migrations.insert(Migration {
            kind: MigrationKind::Evict,
            page: record.page,
            slot,
            forgotten: record.forgotten,
            reads: 1,
            merges,
            rest_is_due,
            command,
            ..Migration::default()
        });
        observe!(self, Event::MigrationBegan { migration });
        let access = Transaction::migrating(SlotId(slot), mask, QueueClass::MoveRead, migration);
        self.enqueue_on_bank(access);
        if merges && !rest_is_due {
            self.read_rest(migration)?;
        }
        Ok(())
    }

    /// The slot of an eviction was read: what completes it is read now if it was not before.
    pub(super) fn read_rest_if_due(&mut self, migration: u32) -> Result<(), SimulationError> {
        let due = std::mem::take(&mut self.tiered().migrations[migration].rest_is_due);
        if due && !self.eviction_is_void(migration) { self.read_rest(migration) } else { Ok(()) }
    }

    /// A command that waits for migrations, if the policy has it wait.
    pub(super) fn waits_for_migration(&mut self, command: u32) -> u32 {
        if command == NONE || !self.tiered().tier.rules().waits() {
            return NONE;
        }
        self.commands[command].pending += 1;
        command
    }

    /// Reads the unit that completes an eviction, unless the controller has it or there is none.
    fn read_rest(&mut self, migration: u32) -> Result<(), SimulationError> {
        let lpa = Lpa(self.tiered().migrations[migration].page);
        let ppa = self.ftl.translate(lpa);
        let taken_from = self.ftl.residence(ppa);
        let record = &mut self.tiered().migrations[migration];
        (record.taken_from, record.harm_in_flash) = (taken_from, None);
        if ppa == Ppa::UNMAPPED || self.ftl.is_in_flight(ppa) {
            return Ok(());
        }
        self.tiered().migrations[migration].reads += 1;
        self.tiered().tier.counters_mut().evictions_merged += 1;
        self.queue_migration_read(migration, ppa)
    }

    /// Whether the page was trimmed since its eviction began: nothing of it goes down.
    pub(crate) fn eviction_is_void(&self, migration: u32) -> bool {
        self.tier.as_ref().is_some_and(|part| {
            let Migration { slot, forgotten, .. } = part.migrations[migration];
            part.tier.slot(slot).forgotten != forgotten
        })
    }

    /// The bank reads the slot now: what it holds goes down, and what is written from now on does not.
    pub(super) fn eviction_taken_up(&mut self, migration: u32) -> Result<u32, SimulationError> {
        if self.eviction_is_void(migration) {
            // What the slot holds was written after the TRIM and stays as it is.
            self.migration_data_arrived(migration)?;
            return Ok(0);
        }
        let part = self.tiered();
        let slot = part.migrations[migration].slot;
        part.tier.residency_mut().read_to_leave(slot);
        let sectors = part.goes_down(part.tier.slot(slot));
        part.migrations[migration].sectors = sectors;
        if sectors == 0 {
            self.migration_data_arrived(migration)?;
        }
        Ok(sectors)
    }

    /// The page is in the controller: it is written below.
    pub(super) fn place_eviction(&mut self, migration: u32) -> Result<(), SimulationError> {
        if self.eviction_is_void(migration) {
            return self.eviction_ended(migration);
        }
        let part = self.tiered();
        let record = part.migrations[migration];
        if part.lower == Lower::Scm {
            // What is rewritten since may go down as well or not: its slot stays.
            let access = Transaction::migrating(
                self.lower_slot(record.page),
                record.sectors,
                QueueClass::MoveProgram,
                migration,
            );
            self.enqueue_on_bank(access);
            return Ok(());
        }
        let merged_with = record.merges.then_some(record.taken_from);
        let entry = self.entry(migration, record.page, record.page + 1);
        self.place_or_stall(WriteEntry { merged_with, source: Source::Migration, ..entry })
    }

    /// What an eviction carries is below from now on. Where all of it was written anew above, nobody sees it.
    pub(crate) fn eviction_takes_effect(&mut self, migration: u32, of_flash: bool) -> Result<(), SimulationError> {
        let part = self.tiered();
        let Migration { slot, sectors, .. } = part.migrations[migration];
        let carried = if part.lower == Lower::Flash { part.tier.whole() } else { sectors };
        if carried & !part.tier.slot(slot).stays_dirty() == 0 {
            return Ok(());
        }
        self.migration_takes_effect(migration, of_flash)
    }

    /// The content of flash that an eviction was merged with lies elsewhere by now: it is read again.
    pub(crate) fn read_rest_again(&mut self, migration: u32) -> Result<(), SimulationError> {
        self.counters.read_modify_write_repeated += 1;
        self.read_rest(migration)?;
        if self.tiered().migrations[migration].reads == 0 {
            return self.place_eviction(migration);
        }
        Ok(())
    }

    /// The page is on the lower medium: its slot is free, unless it was written meanwhile.
    pub(crate) fn eviction_ended(&mut self, migration: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        let Migration { slot, page, .. } = part.migrations[migration];
        part.evictions -= 1;
        let gone = part.tier.left(slot);
        if gone {
            observe!(self, Event::PageLeft { page, slot: SlotId(slot) });
        } else if self.tiered().tier.slot(slot).dirty == self.tiered().tier.whole() {
            self.forget_below(page)?;
        }
        debug_assert!(gone == (self.tiered().tier.slot(slot).state != SlotState::Resident), "gone or resident");
        self.end_migration(migration)
    }
}
