//! Pages that go up: copied, or moved so that the lower medium forgets them.

use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, SlotId};
use ninescope_tier::OnRead;

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, ReadFrom, observe};
use crate::tier::{Lower, Migration, MigrationKind, SlotWaiter};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Begins to bring a page up but for the sectors `written`, with `reads` of it under way. `None` where it is on its
    /// way already, or too many are.
    fn begin_fill(
        &mut self,
        page: u32,
        kind: MigrationKind,
        taken_from: Ppa,
        reads: u8,
        written: u32,
        command: u32,
    ) -> Result<Option<u32>, SimulationError> {
        let taken_from = self.ftl.residence(taken_from);
        let part = self.tiered();
        if part.filling.get(page as usize) {
            return Ok(None);
        }
        if part.fills >= part.in_flight_max {
            part.tier.counters_mut().fills_skipped += 1;
            return Ok(None);
        }
        part.filling.set(page as usize);
        part.fills += 1;
        // Nothing is to be read of what the controller holds.
        let is_read = reads == 0 && self.tiered().tier.rules().waits_for_reads();
        let command = if is_read { NONE } else { self.waits_for_migration(command) };
        let record = Migration { kind, page, reads, sectors: written, taken_from, command, ..Migration::default() };
        let migration = self.tiered().migrations.insert(record);
        observe!(self, Event::MigrationBegan { migration });
        let part = self.tiered();
        // Behind those that wait: there is no free slot while anybody does.
        match part.tier.residency().slot_of(page) {
            Some(slot) => self.fill_got_slot(migration, slot)?,
            None => part.wait_for_slot(page, SlotWaiter::Fill(migration)),
        }
        Ok(Some(migration))
    }

    /// Brings up a page whose unit a read of the host is about to bring into the controller.
    pub(super) fn bring_up_read(
        &mut self,
        lpa: Lpa,
        ppa: Ppa,
        on_read: OnRead,
        command: u32,
    ) -> Result<Option<u32>, SimulationError> {
        let Some(kind) = kind_of(on_read) else { return Ok(None) };
        self.begin_fill(lpa.0, kind, ppa, 1, 0, command)
    }

    /// Brings up a page that the controller holds on its way to flash.
    pub(super) fn bring_up_held(
        &mut self,
        lpa: Lpa,
        from: ReadFrom,
        on_read: OnRead,
        command: u32,
    ) -> Result<(), SimulationError> {
        let (Some(kind), ReadFrom::Controller(ppa)) = (kind_of(on_read), from) else { return Ok(()) };
        self.begin_fill(lpa.0, kind, ppa, 0, 0, command).map(drop)
    }

    /// Brings up a page from storage-type memory, which is read for it once it has a slot.
    pub(super) fn bring_up(&mut self, page: u32, on_read: OnRead, command: u32) -> Result<(), SimulationError> {
        let Some(kind) = kind_of(on_read) else { return Ok(()) };
        self.begin_fill(page, kind, Ppa::UNMAPPED, 1, 0, command).map(drop)
    }

    /// Completes a page of which `written` is being written from below.
    pub(super) fn fetch_rest(&mut self, page: u32, written: u32, command: u32) -> Result<(), SimulationError> {
        if self.tiered().lower == Lower::Scm {
            self.tiered().tier.counters_mut().fetched_on_write += 1;
            return self.begin_fill(page, MigrationKind::CopyUp, Ppa::UNMAPPED, 1, written, command).map(drop);
        }
        let lpa = Lpa(page);
        let ppa = self.ftl.translate(lpa);
        if ppa == Ppa::UNMAPPED {
            return Ok(());
        }
        self.tiered().tier.counters_mut().fetched_on_write += 1;
        if self.ftl.is_in_flight(ppa) {
            return self.bring_up_held(lpa, ReadFrom::Controller(ppa), OnRead::Copy, command);
        }
        let Some(migration) = self.bring_up_read(lpa, ppa, OnRead::Copy, command)? else { return Ok(()) };
        self.queue_migration_read(migration, ppa)
    }

    /// A page that goes up has its slot. What is in storage-type memory is read now: its slot keeps the page from
    /// changing below.
    pub(super) fn fill_got_slot(&mut self, migration: u32, slot: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        // What the host is about to write need not be read below.
        let lacking = part.tier.whole() & !part.tier.slot(slot).valid & !part.migrations[migration].sectors;
        let forgotten = part.tier.slot(slot).forgotten;
        part.tier.residency_mut().writer_queued(slot);
        let record = &mut part.migrations[migration];
        (record.slot, record.forgotten) = (slot, forgotten);
        let (page, reads) = (record.page, record.reads);
        if part.lower == Lower::Scm {
            if lacking == 0 {
                return self.fill_ended(migration);
            }
            let access = Transaction::migrating(self.lower_slot(page), lacking, QueueClass::MoveRead, migration);
            self.enqueue_on_bank(access);
            return Ok(());
        }
        if reads == 0 { self.queue_fill(migration) } else { Ok(()) }
    }

    /// The page that goes up is in the controller.
    pub(super) fn fill_arrived(&mut self, migration: u32) -> Result<(), SimulationError> {
        if self.tiered().migrations[migration].slot == NONE { Ok(()) } else { self.queue_fill(migration) }
    }

    fn queue_fill(&mut self, migration: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        let slot = part.migrations[migration].slot;
        let lacking = part.tier.residency().sectors_to_fill(slot, part.tier.whole());
        if lacking == 0 {
            return self.fill_ended(migration);
        }
        let access = Transaction::migrating(SlotId(slot), lacking, QueueClass::MoveProgram, migration);
        self.enqueue_on_bank(access);
        Ok(())
    }

    /// The bank writes the slot now: those sectors that are not valid by now, if the content below is still the one
    /// that was read.
    pub(super) fn fill_taken_up(&mut self, migration: u32, sectors: u32) -> Result<u32, SimulationError> {
        let part = self.tiered();
        let record = part.migrations[migration];
        let of_flash = part.lower == Lower::Flash;
        let sectors = part.tier.residency().sectors_to_fill(record.slot, sectors);
        let current = part.tier.slot(record.slot).forgotten == record.forgotten
            && (!of_flash || self.ftl.resides(Lpa(record.page), record.taken_from));
        if !current || sectors == 0 {
            self.tiered().tier.counters_mut().fills_dropped += u64::from(!current);
            self.fill_ended(migration)?;
            return Ok(0);
        }
        if self.reliability.is_some() {
            self.migration_takes_effect(migration, true)?;
        }
        let part = self.tiered();
        let moves = record.kind == MigrationKind::MoveUp;
        let whole = part.tier.whole();
        let residency = part.tier.residency_mut();
        residency.filled(record.slot, sectors, moves);
        let all_dirty = residency.slot(record.slot).stays_dirty() == whole;
        let counters = part.tier.counters_mut();
        counters.copied_up += u64::from(!moves);
        counters.moved_up += u64::from(moves);
        if moves && all_dirty {
            self.forget_below(record.page)?;
        }
        Ok(sectors)
    }

    /// The page is above, or nothing of it was wanted any more: a slot that holds nothing then is given back.
    pub(super) fn fill_ended(&mut self, migration: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        let Migration { page, slot, .. } = part.migrations[migration];
        part.fills -= 1;
        part.filling.clear(page as usize);
        part.tier.residency_mut().writer_left(slot);
        self.end_migration(migration)?;
        if self.tiered().tier.residency_mut().drop_if_empty(slot) {
            observe!(self, Event::PageLeft { page, slot: SlotId(slot) });
        }
        Ok(())
    }
}

fn kind_of(on_read: OnRead) -> Option<MigrationKind> {
    match on_read {
        OnRead::Stay => None,
        OnRead::Copy => Some(MigrationKind::CopyUp),
        OnRead::Move => Some(MigrationKind::MoveUp),
    }
}
