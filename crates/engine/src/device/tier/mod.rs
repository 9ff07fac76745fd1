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
mod tenants;

pub(super) use host::pages_of;

use ninescope_kernel::{NONE, WakeQueue};
use ninescope_model::{Cause, Lpa, Ppa, SlotId, Source};
use ninescope_tier::Eviction;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::host::HostCommand;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::tier::{HeldWrite, Lower, MigrationKind, SlotWaiter, TierPart};
use crate::transaction::{QueueClass, Transaction, Writer};

impl<K: Kind> Device<K> {
    /// The tier. Called in the flows of drives that have one.
    #[inline]
    pub(in crate::device) fn tiered(&mut self) -> &mut TierPart {
        self.tier.as_mut().expect("a drive with two media has a tier")
    }

    /// The slot of the lower medium that holds a page, where that is SCM.
    #[inline]
    fn lower_slot(&self, page: u32) -> SlotId {
        SlotId(self.scm.layout().first_slot(1) + page)
    }

    /// Empties slots as far as the policy wants or waiting accesses need, and gives free ones to who waits. A request
    /// that waits for its migrations is `command`, or `NONE`.
    pub(in crate::device) fn pump_tier(&mut self, command: u32) -> Result<(), SimulationError> {
        loop {
            self.let_writes_in()?;
            self.serve_slot_waiters()?;
            match self.tiered().next_eviction() {
                None => {
                    self.await_writes_held();
                    return Ok(());
                }
                Some((Eviction::Dropped { slot, page }, _)) => self.page_left_slot(page, slot)?,
                Some((Eviction::CopyDown(slot), occasion)) => self.start_eviction(slot.0, occasion, command)?,
            }
        }
    }

    /// Nothing is inside any more: what is dirty goes down when the host has rested for some time, unless all is over.
    #[inline(never)]
    pub(in crate::device) fn host_may_begin_to_rest(&mut self) {
        let now = self.run.now;
        if self.host.inside() == 0
            && !self.host.is_over(now)
            && let Some(at) = self.tiered().nothing_is_inside(now)
        {
            self.run.queue.schedule(self.run.resources.rest_timer(), at);
        }
    }

    /// The host may have rested long enough. With what it asked for since, that is another time.
    pub(in crate::device) fn rest_may_begin(&mut self) {
        let now = self.run.now;
        if let Some(at) = self.tiered().host_may_rest(now) {
            self.run.queue.schedule(self.run.resources.rest_timer(), at);
        }
    }

    /// Writes that were held back and are no longer go on.
    fn let_writes_in(&mut self) -> Result<(), SimulationError> {
        for part in 0..self.tiered().parts() {
            let now = self.run.now;
            while let Some(HeldWrite { command, page, sectors }) = self.tiered().next_let_in(part, now) {
                self.enter_above(command, page, sectors)?;
            }
        }
        Ok(())
    }

    /// Where time alone lets the next one in, that is awaited.
    fn await_writes_held(&mut self) {
        if let Some(at) = self.tiered().lets_in_at() {
            let (resource, at) = (self.run.resources.held_writes(), at.max(self.run.now));
            if self.run.queue.wake_time(resource) != at {
                self.run.queue.schedule(resource, at);
            }
        }
    }

    /// Time has come for a write that is held back.
    pub(in crate::device) fn held_writes_woke(&mut self) {
        self.tiered().time_has_come();
    }

    /// Free slots go to those who wait, of each part in their order.
    fn serve_slot_waiters(&mut self) -> Result<(), SimulationError> {
        for part in 0..self.tiered().parts() {
            while let Some((waiter, page)) = self.tiered().first_waiter(part) {
                let tenant = match waiter {
                    SlotWaiter::Write { command, .. } => self.host.command(command).lane,
                    SlotWaiter::Fill(migration) => self.tiered().migration(migration).tenant,
                };
                let Some(slot) = self.slot_for(page, (part, tenant))? else { break };
                self.tiered().first_waiter_leaves(part);
                match waiter {
                    SlotWaiter::Write { command, sectors, .. } => self.queue_upper_write(command, slot, sectors),
                    SlotWaiter::Fill(migration) => self.fill_got_slot(migration, slot)?,
                }
            }
        }
        Ok(())
    }

    /// The part of the upper medium that a command has.
    fn part_of(&mut self, command: u32) -> usize {
        let tenant = self.host.command(command).lane;
        self.tiered().part_of(tenant)
    }

    /// The slot of a page, a free one of the part of a tenant if it has none yet.
    fn slot_for(&mut self, page: u32, (part, tenant): (usize, u16)) -> Result<Option<u32>, SimulationError> {
        let Some((slot, is_new)) = self.tiered().slot_for(page, part) else { return Ok(None) };
        if is_new {
            self.slot_is_taken(page, slot, (part, tenant))?;
        }
        Ok(Some(slot))
    }

    /// A command that waits for migrations, if the policy has it wait.
    fn waits_for_migration(&mut self, command: u32) -> u32 {
        if command == NONE || !self.tiered().has_requests_wait() {
            return NONE;
        }
        self.host.has_another_part(command);
        self.host.waits_without_data(command, 1);
        command
    }

    /// Reads a unit of flash for a migration.
    fn queue_migration_read(&mut self, migration: u32, ppa: Ppa) -> Result<(), SimulationError> {
        self.run.counters.migration_page_reads += 1;
        self.queue_read(Transaction::migration_read(ppa, migration)).map(drop)
    }

    // ---- what banks tell -------------------------------------------------------------------------

    /// A bank takes up an access of a drive with two media: masks and contents of its slot change now. Returns the
    /// sectors it is to access, none if it is not wanted any more.
    pub(in crate::device) fn slot_taken_up(&mut self, transaction: &Transaction) -> Result<u32, SimulationError> {
        let (slot, sectors) = (transaction.slot(), transaction.sector_mask());
        if self.scm.layout().medium_of_slot(slot) != 0 {
            if transaction.class == QueueClass::MoveProgram {
                self.eviction_takes_effect(transaction.migration(), false)?;
            }
            return Ok(sectors);
        }
        match (transaction.source, transaction.class) {
            (Source::Migration, QueueClass::MoveRead) => self.eviction_taken_up(transaction.migration()),
            (Source::Migration, _) => self.fill_taken_up(transaction.migration(), sectors),
            (_, QueueClass::HostRead) => {
                self.tiered().read_taken_up(slot.0);
                Ok(sectors)
            }
            _ => {
                let (page, all_dirty) = self.tiered().write_taken_up(slot.0, sectors);
                self.goes_through(transaction);
                if all_dirty {
                    self.forget_below(page)?;
                }
                if sectors == self.tiered().whole() {
                    self.repair(Lpa(page))?;
                }
                Ok(sectors)
            }
        }
    }

    /// A write that is to be on the media is in the cache, which may lose it: it waits for its page to be below as well.
    fn goes_through(&mut self, access: &Transaction) {
        let command = access.command();
        let HostCommand { fua, mark, .. } = *self.host.command(command);
        if fua {
            self.tiered().goes_through(access.slot().0, command, access.queued - mark);
        }
    }

    /// What writes waited for to be below is.
    pub(in crate::device) fn complete_written_through(&mut self) -> Result<(), SimulationError> {
        while let Some((command, for_slot)) = self.tiered().next_written_through() {
            let (mut parts, came) = (Parts::default(), self.host.command(command).mark);
            parts.add(Cause::MigrationWait, for_slot);
            parts.add(Cause::ProgramWait, self.run.now - came - for_slot);
            self.waited_for_copy(command, (came, came + for_slot));
            self.finish_part(command, &mut parts, NONE)?;
        }
        Ok(())
    }

    /// All of a page is dirty above: what flash holds of it is of no use.
    fn forget_below(&mut self, page: u32) -> Result<(), SimulationError> {
        // What is above may go with the power: then what is below is all that there is.
        if self.tiered().is_volatile() {
            return Ok(());
        }
        if self.tiered().lower() == Lower::Scm {
            return Ok(());
        }
        let lpa = Lpa(page);
        let old = self.flash.trim(lpa);
        if old != Ppa::UNMAPPED {
            self.tiered().count_superseded();
            observe!(self, Event::UnitSuperseded { lpa, old });
            let slot = self.tiered().slot_of(page).unwrap_or(NONE);
            self.unit_is_written(lpa, Writer::Slot(slot))?;
        }
        Ok(())
    }

    /// The sectors of a write are on their medium.
    pub(in crate::device) fn migration_written(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let migration = self.run.transactions.slab[transaction].migration();
        self.run.transactions.slab.remove(transaction);
        match self.tiered().migration(migration).kind {
            MigrationKind::Evict => self.eviction_ended(migration),
            MigrationKind::CopyUp | MigrationKind::MoveUp => self.fill_ended(migration),
        }
    }

    /// Sectors that a migration read are in the controller.
    pub(in crate::device) fn migration_sectors_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let migration = self.run.transactions.slab[transaction].migration();
        self.run.transactions.slab.remove(transaction);
        self.migration_data_arrived(migration)
    }

    /// The unit that a migration read from flash is in the controller.
    pub(in crate::device) fn migration_data_arrived(&mut self, migration: u32) -> Result<(), SimulationError> {
        if self.tiered().read_arrived(migration) {
            self.read_rest(migration)?;
        }
        if !self.tiered().has_read_all(migration) {
            return Ok(());
        }
        let command = self.tiered().wait_for_reads_ends(migration);
        match self.tiered().migration(migration).kind {
            MigrationKind::Evict => self.place_eviction(migration)?,
            MigrationKind::CopyUp | MigrationKind::MoveUp => self.fill_arrived(migration)?,
        }
        self.migration_wait_ends(command)
    }

    /// A migration is over. The command that waits for it may complete.
    fn end_migration(&mut self, migration: u32) -> Result<(), SimulationError> {
        let record = self.tiered().end(migration);
        self.move_ended(migration, &record)?;
        self.migration_wait_ends(record.command)
    }

    /// What a command waited for of a migration is done.
    fn migration_wait_ends(&mut self, command: u32) -> Result<(), SimulationError> {
        if command == NONE {
            return Ok(());
        }
        self.host.waits_without_data(command, -1);
        let mut parts = Parts::default();
        let (came, now) = (self.host.command(command).mark, self.run.now);
        parts.add(Cause::MigrationWait, now - came);
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.waited_for_moves(command, (came, now));
        }
        if self.host.command(command).pending == 1 {
            self.ends_without_answer(command);
        }
        self.finish_part(command, &mut parts, NONE)
    }
}
