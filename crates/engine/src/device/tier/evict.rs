//! Eviction: the dirty sectors of a slot go down, so that it becomes free.
//!
//! Above flash a page goes down whole: what the slot does not hold is read from flash and merged. Above storage-type
//! memory its dirty sectors alone are written, or all that the slot holds, as the policy says.

use ninescope_model::{Lpa, SlotId, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::flash::{ReadFrom, WriteEntry};
use crate::tier::{Lower, Occasion};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Reads what is to go down, from the slot and, where flash completes the page, from there: beside the slot, or when
    /// that has been read.
    pub(super) fn start_eviction(
        &mut self,
        slot: u32,
        occasion: Occasion,
        command: u32,
    ) -> Result<(), SimulationError> {
        let command = self.waits_for_migration(command);
        let (migration, mask, reads_rest) = self.tiered().begin_eviction(slot, occasion, command);
        self.move_began(migration)?;
        let access = Transaction::migrating(SlotId(slot), mask, QueueClass::MoveRead, migration);
        self.scm.enqueue(&mut self.run, access);
        if reads_rest { self.read_rest(migration).map(drop) } else { Ok(()) }
    }

    /// Reads the unit that completes an eviction, unless the controller has it or there is none. Returns whether it is read.
    pub(super) fn read_rest(&mut self, migration: u32) -> Result<bool, SimulationError> {
        let lpa = Lpa(self.tiered().migration(migration).page);
        let mask = self.tiered().carried(migration);
        let (from, taken_from) = self.flash.rest_of(lpa);
        let is_there = !self.flash.counts_sectors() || self.flash.sectors_of_rest(lpa, mask) > 0;
        let read = if let (ReadFrom::Media(ppa), true) = (from, is_there) { Some(ppa) } else { None };
        self.tiered().completes_from(migration, taken_from, read.is_some());
        if let Some(ppa) = read {
            self.queue_migration_read(migration, ppa)?;
        }
        Ok(read.is_some())
    }

    /// Whether the page was trimmed since its eviction began: nothing of it goes down.
    pub(in crate::device) fn eviction_is_void(&self, migration: u32) -> bool {
        self.tier.as_ref().is_some_and(|part| part.is_void(migration))
    }

    /// The bank reads the slot now: what it holds goes down, and what is written from now on does not.
    pub(super) fn eviction_taken_up(&mut self, migration: u32) -> Result<u32, SimulationError> {
        // What the slot of a void one holds was written after the TRIM and stays as it is.
        let void = self.eviction_is_void(migration);
        let sectors = if void { 0 } else { self.tiered().eviction_taken_up(migration) };
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
        let record = *self.tiered().migration(migration);
        if self.tiered().lower() == Lower::Scm {
            // What is rewritten since may go down as well or not: its slot stays.
            let slot = self.lower_slot(record.page);
            let access = Transaction::migrating(slot, record.sectors, QueueClass::MoveProgram, migration);
            self.scm.enqueue(&mut self.run, access);
            return Ok(());
        }
        let merged_with = record.merges.then_some(record.taken_from);
        let entry = self.entry_of(Source::Migration, migration, record.page);
        self.place_or_stall(WriteEntry { merged_with, ..entry })
    }

    /// What an eviction carries is below from now on.
    pub(in crate::device) fn eviction_takes_effect(
        &mut self,
        migration: u32,
        of_flash: bool,
    ) -> Result<(), SimulationError> {
        let seen = self.tiered().is_seen_below(migration);
        if seen { self.migration_takes_effect(migration, of_flash) } else { Ok(()) }
    }

    /// The content of flash that an eviction was merged with lies elsewhere by now: it is read again.
    pub(in crate::device) fn read_rest_again(&mut self, migration: u32) -> Result<(), SimulationError> {
        self.run.counters.read_modify_write_repeated += 1;
        if self.read_rest(migration)? { Ok(()) } else { self.place_eviction(migration) }
    }

    /// The page is on the lower medium: its slot is free, unless it was written meanwhile.
    pub(in crate::device) fn eviction_ended(&mut self, migration: u32) -> Result<(), SimulationError> {
        let (slot, page) = {
            let record = self.tiered().migration(migration);
            (record.slot, record.page)
        };
        let (gone, written_anew) = self.tiered().eviction_ended(migration);
        if gone {
            self.page_left_slot(page, SlotId(slot))?;
        } else if written_anew {
            self.forget_below(page)?;
        }
        self.end_migration(migration)
    }
}
