//! What an upper medium is told of, and who waited for what of it, where several tenants share the drive.
//!
//! A drive with one tenant has none of it but the events.

use ninescope_kernel::Ns;
use ninescope_model::SlotId;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::meter::CacheHolders;
use crate::policies::back_pressure::BackPressureConfig;
use crate::probe::{Event, observe};
use crate::tier::{Migration, MigrationKind};

impl<K: Kind> Device<K> {
    /// Several tenants share the upper medium.
    pub(in crate::device) fn follow_holders_of_slots(&mut self) {
        let (Some(tenants), Some(tier)) = (&mut self.run.transactions.tenants, &self.tier) else { return };
        let residency = tier.tier().residency();
        let holders = tenants.ledgers.holders();
        tenants.cache = Some(CacheHolders::new(residency.slots(), residency.parts(), holders));
    }

    /// Who holds slots, and the part of one.
    fn holders(&mut self, slot: u32) -> Option<(Ns, &mut CacheHolders, usize)> {
        let cache = self.run.transactions.tenants.as_mut()?.cache.as_mut()?;
        Some((self.run.now, cache, self.tier.as_ref()?.tier().residency().part_of(slot)))
    }

    // ---- what changes ------------------------------------------------------------------------------

    /// A slot of a part is given to a page, for a tenant.
    pub(super) fn slot_is_taken(
        &mut self,
        page: u32,
        slot: u32,
        (part, tenant): (usize, u16),
    ) -> Result<(), SimulationError> {
        if let Some((now, holders, _)) = self.holders(slot) {
            holders.slot_taken(now, (slot, part), tenant);
        }
        observe!(self, Event::SlotTaken { page, slot: SlotId(slot), tenant });
        Ok(())
    }

    /// A page is not looked for in its slot any more.
    pub(in crate::device) fn page_left_slot(&mut self, page: u32, slot: SlotId) -> Result<(), SimulationError> {
        if let Some((now, holders, part)) = self.holders(slot.0) {
            holders.slot_left(now, (slot.0, part));
        }
        observe!(self, Event::PageLeft { page, slot });
        Ok(())
    }

    /// A page sets out.
    pub(super) fn move_began(&mut self, migration: u32) -> Result<(), SimulationError> {
        if self.run.transactions.tenants.is_some() {
            let Migration { kind, slot, tenant, .. } = *self.tiered().migration(migration);
            let goes_down = kind == MigrationKind::Evict;
            let holder = self.holders(if goes_down { slot } else { 0 }).map(|(now, holders, part)| {
                if goes_down {
                    holders.goes_down(now, (slot, part))
                } else {
                    holders.comes_up(now, tenant);
                    tenant
                }
            });
            if let (Some(tenants), Some(holder)) = (&mut self.run.transactions.tenants, holder) {
                tenants.migration_began(migration, holder);
            }
        }
        observe!(self, Event::MigrationBegan { migration });
        Ok(())
    }

    /// It is where it was to go.
    pub(super) fn move_ended(&mut self, migration: u32, record: &Migration) -> Result<(), SimulationError> {
        match record.kind {
            MigrationKind::Evict => {
                if let Some((now, holders, part)) = self.holders(record.slot) {
                    holders.is_down(now, (record.slot, part));
                }
            }
            MigrationKind::CopyUp | MigrationKind::MoveUp => {
                if let Some((now, holders, _)) = self.holders(0) {
                    holders.is_up(now, record.tenant);
                }
            }
        }
        observe!(self, Event::MigrationEnded { migration });
        Ok(())
    }

    // ---- who waited --------------------------------------------------------------------------------

    /// A write waited in that time for its slot.
    #[inline(never)]
    pub(in crate::device) fn waited_for_slot(&mut self, command: u32, span: (Ns, Ns)) {
        if self.run.transactions.tenants.is_none() {
            return;
        }
        let tenant = self.host.command(command).lane;
        let by_moves = matches!(self.tiered().back_pressure(), BackPressureConfig::PagesInFlight(_));
        let part = self.tiered().part_of(tenant);
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.waited_for_slot(command, (part, by_moves), span);
        }
    }

    /// A write that goes through waited until `set_out` for its slot, and since then for its page to be below.
    pub(super) fn waited_for_copy(&mut self, command: u32, (came, has_slot): (Ns, Ns)) {
        if has_slot > came {
            self.waited_for_slot(command, (came, has_slot));
        }
        let now = self.run.now;
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.waited_for_copy(command, (has_slot, now));
        }
    }
}
