//! What banks of storage-class memory do, and what a tier moves between two media.

use ninescope_engine::{Event, MergedWith, View};
use ninescope_media::scm::ScmCommandKind;
use ninescope_model::{Lpa, Ppa, SlotId, Source};

use super::Checker;
use crate::marks::Mark;
use crate::reliability::reads::Taker;
use crate::rule::{Checked, Rule, require};
use crate::scm::ScmBanks;
use crate::tier::SlotUse;
use crate::units::agrees;

impl Checker {
    /// What banks do; a drive without any does not get here.
    #[inline(never)]
    pub(super) fn bank_event(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(banks) = &mut self.banks else {
            return Err(Rule::BankDoubleBooked.violated(view.now, format!("{event:?} of a drive without banks")));
        };
        match *event {
            Event::SlotDispatched { kind, source, command, slot, sectors, queued, .. } => {
                if let Some(holders) = self.cache_holders.as_mut().filter(|_| source == Source::Host) {
                    holders.writes(command, queued);
                }
                banks.dispatched(view, (kind, source, command), (slot, sectors))?;
                self.slot_dispatched(view, (kind, source, command), (slot, sectors))
            }
            Event::SectorCopied { bank, from, to } => banks.copied(view, bank, from, to),
            Event::SectorPlaced { bank, sector, place } => banks.placed(view, &mut self.requests, bank, sector, place),
            Event::SectorVerified { bank, kind, verified } => banks.verified(view, bank, kind, verified),
            Event::BankCommandIssued { command, sent, begins } => {
                if let Some(codes) = &mut self.codes {
                    codes.bank_issued(view, command, (sent, begins))?;
                } else {
                    require!(begins == sent, EncodeTime, view.now, "{command:?} begins at {begins}, not {sent}");
                }
                banks.issued(view, command, sent, begins)?;
                if matches!(command.kind, ScmCommandKind::Copy | ScmCommandKind::CopyOut) {
                    return Ok(());
                }
                self.dram_bank(view, command.bank, sent)
            }
            Event::BankCommandEnded { command } => match (banks.ended(view, command)?, &mut self.tier) {
                (Some(migration), Some(book)) => book.migration_write_ended(view.now, migration),
                _ => Ok(()),
            },
            Event::BankDataOut { bank, source, command, until, held } => {
                banks.data_out(view, bank, (source, command), until, held)?;
                if let Some(codes) = &mut self.codes {
                    codes.bank_data_out(view, bank, (source, command), until);
                }
                self.dram_bank(view, bank, until)?;
                match &mut self.tier {
                    Some(book) if source == Source::Migration => book.migration_data_out(view.now, command, until),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// A bank took up an access: contents change hands now.
    fn slot_dispatched(
        &mut self,
        view: &View<'_>,
        (kind, source, owner): (ScmCommandKind, Source, u32),
        (slot, sectors): (SlotId, u32),
    ) -> Checked {
        let access = (kind, source, owner);
        let Some(book) = &mut self.tier else {
            if let Some(codes) = &mut self.codes {
                codes.slot_dispatched(view, access, (slot, sectors), Lpa(slot.0));
            }
            return ScmBanks::asked_for(view, &self.requests, (kind, owner), (slot, sectors));
        };
        let slot_use = book.dispatched(view, &mut self.requests, access, (slot, sectors), &mut self.marks)?;
        let page = match slot_use {
            SlotUse::HostRead(page) | SlotUse::HostWrite(page) => page,
            _ => book.page_of_migration(owner),
        };
        self.coded_slot_use(view, (access, slot_use), (slot, sectors), Lpa(page))?;
        let Some(oracle) = &mut self.oracle else { return Ok(()) };
        match slot_use {
            SlotUse::HostRead(page) => oracle.read_slot(owner, page, (slot, sectors)),
            SlotUse::HostWrite(page) => {
                oracle.wrote_slot(owner, self.requests.get(view, owner)?, page, (slot, sectors));
            }
            SlotUse::EvictionRead | SlotUse::FillRead => oracle.slot_read_for(owner, slot),
            SlotUse::EvictionWrite => oracle.written_below(owner, (slot, sectors)),
            SlotUse::FillWrite => oracle.filled(view, owner, (slot, sectors))?,
        }
        Ok(())
    }

    /// What a tier does; a drive of one medium does not get here.
    #[inline(never)]
    pub(super) fn tier_event(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(book) = &mut self.tier else {
            return Err(Rule::SlotPartition.violated(view.now, format!("{event:?} of a drive of one medium")));
        };
        if let Some(holders) = &mut self.cache_holders {
            holders.told(view, event)?;
        }
        match *event {
            Event::SlotTaken { page, slot, .. } => book.taken(view, page, slot),
            Event::PageLeft { page, slot } => {
                let sectors = book.left(view, page, slot)?;
                self.oracle.as_ref().map_or(Ok(()), |oracle| oracle.left(view, page, (slot, sectors)))
            }
            Event::PageForgotten { page } => book.makes_way(view, page),
            Event::PageRead { slot, page, above, below } => {
                if let Some(codes) = &mut self.codes {
                    codes.damage.read(slot, Lpa(page));
                }
                book.page_read(view, &self.requests, slot, (page, above, below), &mut self.marks)
            }
            Event::WriteHeld { slot, page } => {
                let tenant = self.requests.get(view, slot)?.lane;
                book.write_held(view, tenant, (slot, page))
            }
            Event::PageWritten { slot, page, sectors } => {
                book.page_written(view, &self.requests, slot, (page, sectors))
            }
            Event::MigrationBegan { migration } => {
                book.migration_began(view, migration)?;
                if let (Some(blame), Some(holders)) = (&mut self.blame, &self.cache_holders) {
                    blame.migration_began(migration, holders.mover(migration));
                }
                if let Some(oracle) = &mut self.oracle {
                    oracle.migration_began(view, migration);
                }
                Ok(())
            }
            Event::MigrationUnitSensed { migration, ppa } => {
                book.rest_sensed(view.now, migration)?;
                self.coded_unit_sensed(view, ppa, view.ftl.content(ppa), Taker::Migration(migration));
                match &mut self.oracle {
                    Some(oracle) => oracle.migration_sensed(view, migration, ppa),
                    None => Ok(()),
                }
            }
            Event::EvictionPlaced { migration, lpa, old, new, merged_with } => {
                self.eviction_placed(view, (migration, lpa), (old, new), merged_with)
            }
            Event::UnitSuperseded { lpa, old } => self.unit_superseded(view, lpa, old),
            Event::MigrationEnded { migration } => {
                book.migration_ended(view, migration, &self.blocks)?;
                if let Some(codes) = &mut self.codes {
                    codes.reads.dropped(Taker::Migration(migration));
                    codes.reads.dropped(Taker::Sectors(migration));
                }
                if let Some(oracle) = &mut self.oracle {
                    oracle.migration_ended(migration);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn eviction_placed(
        &mut self,
        view: &View<'_>,
        (migration, lpa): (u32, Lpa),
        (old, new): (Ppa, Ppa),
        merged_with: MergedWith,
    ) -> Checked {
        self.ledger.migrated_units += 1;
        agrees(view, lpa, new)?;
        if let (Some(map), Some(holders)) = (&mut self.map_holders, &self.cache_holders) {
            map.changed(lpa, holders.mover(migration));
        }
        self.unit_moved(view, lpa, Source::Migration);
        self.goes_into_its_partition(view, lpa, new)?;
        if self.partitions.is_some() {
            self.marks.hit(Mark::WentDownApart);
        }
        self.host_unit_placed(view, (old, new), None)?;
        if let Some(blame) = &mut self.blame {
            let mover = blame.mover(migration);
            blame.page_placed(view, new, mover);
        }
        if let Some(book) = &mut self.streams {
            book.written(view, lpa, (old, new), None)?;
        }
        if let (Some(book), Some(tier)) = (&mut self.sectors, view.tier) {
            book.written(view, lpa, new, tier.migration(migration).sectors);
            self.forwarding.written(view, lpa, tier.migration(migration).sectors, old);
        }
        if let Some(book) = &mut self.placement {
            book.written(view, lpa, (old, new), None, &mut self.marks)?;
        }
        let Some(book) = &mut self.tier else { return Ok(()) };
        let from_slot = book.eviction_placed(view, migration, lpa.0, new, merged_with)?;
        self.coded_eviction_placed(view, migration, (lpa, old, new), merged_with)?;
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            oracle.eviction_placed(view, migration, (new, merged_with), from_slot, &mut self.marks)?;
            units.changed(view, lpa, old, new)?;
        }
        Ok(())
    }

    fn unit_superseded(&mut self, view: &View<'_>, lpa: Lpa, old: Ppa) -> Checked {
        self.ledger.trimmed_units += 1;
        agrees(view, lpa, Ppa::UNMAPPED)?;
        let slot = view.tier.and_then(|part| part.tier().residency().slot_of(lpa.0));
        if let (Some(map), Some(holders), Some(slot)) = (&mut self.map_holders, &self.cache_holders, slot) {
            map.changed(lpa, holders.of_slot(slot));
        }
        self.unit_moved(view, lpa, Source::Migration);
        self.groups.invalidated(view, old)?;
        if view.ftl.is_in_flight(old) {
            self.marks.hit(Mark::SupersededInController);
        }
        if let Some(units) = &mut self.units {
            units.changed(view, lpa, old, Ppa::UNMAPPED)?;
        }
        if let Some(codes) = &mut self.codes {
            codes.left(old);
        }
        match &mut self.tier {
            Some(book) => book.superseded(view.now, lpa.0),
            None => Ok(()),
        }
    }

    /// Decides what the last events left open, before one that does not belong to them.
    #[inline(never)]
    pub(super) fn settle_tier(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(book) = &mut self.tier else { return Ok(()) };
        if !matches!(event, Event::SlotTaken { .. } | Event::MigrationBegan { .. }) {
            book.settle_fetch(view.now)?;
        }
        // What is lost or wrong is told in between, and what a TRIM changes of a map in flash.
        let may_belong = matches!(
            event,
            Event::PageLeft { .. }
                | Event::PageForgotten { .. }
                | Event::UnitTrimmed { .. }
                | Event::MapCacheChanged { .. }
                | Event::UnitRead { .. }
                | Event::UnitRepaired { .. }
                | Event::UnitLost { .. }
                | Event::UnitMadeWrong { .. }
                | Event::ReadReported { .. }
                | Event::ReadWrong { .. }
        );
        if may_belong && !book.left_before(view.now) {
            return Ok(());
        }
        book.settle(view.now)?;
        let goes_on = matches!(
            event,
            Event::SlotDispatched { .. } | Event::MigrationEnded { .. } | Event::MapCacheChanged { .. }
        );
        if goes_on {
            return Ok(());
        }
        book.settle_superseded(view.now)
    }
}
