//! Pages that go up: copied, or moved so that the lower medium forgets them.

use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, SlotId};
use ninescope_tier::OnRead;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::flash::ReadFrom;
use crate::tier::{Lower, Migration, MigrationKind, Occasion};
use crate::transaction::{QueueClass, Transaction};

/// A page that is to come up.
#[derive(Clone, Copy, Debug)]
struct Fill {
    page: u32,
    kind: MigrationKind,
    occasion: Occasion,
    /// Where it lies in flash.
    taken_from: Ppa,
    /// Reads of it that are under way.
    reads: u8,
    /// Sectors that the host writes meanwhile.
    written: u32,
}

impl Fill {
    /// One that a request needs.
    fn of(page: u32, kind: MigrationKind, taken_from: Ppa, reads: u8) -> Self {
        Self { page, kind, occasion: Occasion::Need, taken_from, reads, written: 0 }
    }
}

impl<K: Kind> Device<K> {
    /// Begins to bring a page up into the part of a tenant, for which `command` may wait. `None` where it is on its way already, or too
    /// many are.
    fn begin_fill(&mut self, fill: Fill, tenant: u16, command: u32) -> Result<Option<u32>, SimulationError> {
        let Fill { page, kind, occasion, taken_from, reads, written } = fill;
        let taken_from = self.flash.ftl().residence(taken_from);
        if !self.tiered().may_fill(page) {
            return Ok(None);
        }
        // Nothing is to be read of what the controller holds.
        let command = if self.tiered().is_read(reads) { NONE } else { self.waits_for_migration(command) };
        let sectors = written;
        let record =
            Migration { kind, occasion, page, tenant, sectors, reads, taken_from, command, ..Migration::default() };
        let migration = self.tiered().begin_fill(record);
        self.move_began(migration)?;
        // Behind those that wait: there is no free slot while anybody does.
        if let Some(slot) = self.tiered().slot_of(page) {
            self.fill_got_slot(migration, slot)?;
        } else {
            let part = self.tiered().part_of(tenant);
            self.tiered().fill_waits(part, page, migration);
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
        let tenant = self.host.command(command).lane;
        self.begin_fill(Fill::of(lpa.0, kind, ppa, 1), tenant, command)
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
        let tenant = self.host.command(command).lane;
        self.begin_fill(Fill::of(lpa.0, kind, ppa, 0), tenant, command).map(drop)
    }

    /// Brings up a page from storage-type memory, which is read for it once it has a slot.
    pub(super) fn bring_up(&mut self, page: u32, on_read: OnRead, command: u32) -> Result<(), SimulationError> {
        let Some(kind) = kind_of(on_read) else { return Ok(()) };
        let tenant = self.host.command(command).lane;
        self.begin_fill(Fill::of(page, kind, Ppa::UNMAPPED, 1), tenant, command).map(drop)
    }

    /// Completes a page of which `written` is being written from below.
    pub(super) fn fetch_rest(&mut self, page: u32, written: u32, command: u32) -> Result<(), SimulationError> {
        if self.tiered().lower() == Lower::Scm {
            self.tiered().count_fetch_on_write();
            let fill = Fill { written, ..Fill::of(page, MigrationKind::CopyUp, Ppa::UNMAPPED, 1) };
            let tenant = self.host.command(command).lane;
            return self.begin_fill(fill, tenant, command).map(drop);
        }
        let lpa = Lpa(page);
        let from = self.flash.rest_of(lpa).0;
        if from == ReadFrom::Nowhere {
            return Ok(());
        }
        self.tiered().count_fetch_on_write();
        let ReadFrom::Media(ppa) = from else { return self.bring_up_held(lpa, from, OnRead::Copy, command) };
        let Some(migration) = self.bring_up_read(lpa, ppa, OnRead::Copy, command)? else { return Ok(()) };
        self.queue_migration_read(migration, ppa)
    }

    /// Brings up the pages behind a read that goes on where one before it ended, so that they are above when it comes to them.
    pub(super) fn read_ahead(&mut self, command: u32, lba: u64, sectors: u32) -> Result<(), SimulationError> {
        let tenant = self.host.command(command).lane;
        for page in self.tiered().worth_fetching(lba, sectors) {
            if self.page_is_above(page) {
                continue;
            }
            let ReadFrom::Media(ppa) = self.flash.rest_of(Lpa(page)).0 else { continue };
            let occasion = Occasion::ReadAhead;
            let fill = Fill { page, kind: MigrationKind::CopyUp, occasion, taken_from: ppa, reads: 1, written: 0 };
            if let Some(migration) = self.begin_fill(fill, tenant, NONE)? {
                self.tiered().count_fetched_ahead();
                self.queue_migration_read(migration, ppa)?;
            }
        }
        Ok(())
    }

    /// A page that goes up has its slot. What is in storage-type memory is read now: its slot keeps the page from
    /// changing below.
    pub(super) fn fill_got_slot(&mut self, migration: u32, slot: u32) -> Result<(), SimulationError> {
        let lacking = self.tiered().fill_got_slot(migration, slot);
        let Migration { page, reads, .. } = *self.tiered().migration(migration);
        if self.tiered().lower() == Lower::Scm {
            if lacking == 0 {
                return self.fill_ended(migration);
            }
            let access = Transaction::migrating(self.lower_slot(page), lacking, QueueClass::MoveRead, migration);
            self.scm.enqueue(&mut self.run, access);
            return Ok(());
        }
        if reads == 0 { self.queue_fill(migration) } else { Ok(()) }
    }

    /// The page that goes up is in the controller.
    pub(super) fn fill_arrived(&mut self, migration: u32) -> Result<(), SimulationError> {
        if self.tiered().migration(migration).slot == NONE { Ok(()) } else { self.queue_fill(migration) }
    }

    fn queue_fill(&mut self, migration: u32) -> Result<(), SimulationError> {
        let part = self.tiered();
        let slot = part.migration(migration).slot;
        let lacking = part.sectors_to_fill(migration, part.whole());
        if lacking == 0 {
            return self.fill_ended(migration);
        }
        let access = Transaction::migrating(SlotId(slot), lacking, QueueClass::MoveProgram, migration);
        self.scm.enqueue(&mut self.run, access);
        Ok(())
    }

    /// The bank writes the slot now: those sectors that are not valid by now, if the content below is still the one
    /// that was read.
    pub(super) fn fill_taken_up(&mut self, migration: u32, sectors: u32) -> Result<u32, SimulationError> {
        let part = self.tiered();
        let record = *part.migration(migration);
        let of_flash = part.lower() == Lower::Flash;
        let sectors = part.sectors_to_fill(migration, sectors);
        let resides = |device: &Self| device.flash.ftl().resides(Lpa(record.page), record.taken_from);
        let current = part.is_current(migration) && (!of_flash || resides(self));
        if !current || sectors == 0 {
            if !current {
                self.tiered().count_dropped_fill();
            }
            self.fill_ended(migration)?;
            return Ok(0);
        }
        self.migration_takes_effect(migration, true)?;
        if self.tiered().fill_taken_up(migration, sectors) {
            self.forget_below(record.page)?;
        }
        Ok(sectors)
    }

    /// The page is above, or nothing of it was wanted any more: a slot that holds nothing then is given back.
    pub(super) fn fill_ended(&mut self, migration: u32) -> Result<(), SimulationError> {
        let Migration { page, slot, .. } = *self.tiered().migration(migration);
        self.tiered().fill_ended(migration);
        self.end_migration(migration)?;
        if self.tiered().drop_if_empty(slot) {
            self.page_left_slot(page, SlotId(slot))?;
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
