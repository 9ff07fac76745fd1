//! Drives with codes, and drives that keep clean data apart: what their events mean to the books.

use ninescope_engine::reliability::Harm;
use ninescope_engine::{Event, MergedWith, ReadFrom, View};
use ninescope_media::scm::ScmCommandKind;
use ninescope_model::{Lpa, Ppa, SlotId, Source};

use super::Checker;
use crate::marks::Mark;
use crate::reliability::decoders::Decoding;
use crate::reliability::reads::Taker;
use crate::rule::{Checked, Rule, require};
use crate::tier::SlotUse;
use crate::units::agrees;

impl Checker {
    /// What decoders find and what is done about it; a drive without codes tells nothing but that a unit was flushed.
    #[inline(never)]
    pub(super) fn coded_event(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        if let Event::UnitFlushed { slot, lpa } = *event {
            return self.unit_flushed(view, slot, lpa);
        }
        let Some(codes) = &mut self.codes else {
            return Err(Rule::PageDecoded.violated(view.now, format!("{event:?} of a drive without codes")));
        };
        match *event {
            Event::PageDecoded { transaction, .. } => match Decoding::of(event) {
                Some(decoding) => codes.page_decoded(view, transaction, &decoding),
                None => Ok(()),
            },
            Event::SectorsDecoded { slot, command, .. } => self.sectors_decoded(view, event, slot, command),
            Event::ReadWillRepeat { transaction } => {
                let ppa = codes.reads.will_repeat(view, transaction)?;
                self.groups.read_repeats(view, ppa);
                if let Some(blame) = &mut self.blame {
                    blame.repeats(transaction);
                }
                Ok(())
            }
            Event::ReadWillBeRebuilt { transaction } => {
                let ppa = codes.reads.will_be_rebuilt(view, transaction)?;
                self.groups.read_repeats(view, ppa);
                Ok(())
            }
            Event::ReadDegraded { transaction, source, pages } => self.degraded(view, (transaction, source), pages),
            Event::StripeSensed { transaction, ppa, units } => {
                codes.stripe_sensed(view, transaction, ppa, units);
                Ok(())
            }
            Event::ReadRebuilt { transaction, source, lost, wrong } => {
                self.rebuilt(view, (transaction, source), (lost, wrong))
            }
            Event::ReadGivenUp { transaction, source } => codes.given_up(view, transaction, source),
            Event::CorruptionDrawn => codes.corruption_drawn(view),
            Event::UnitCorrupted { ppa } => codes.corrupted(view, ppa),
            Event::UnitFetched { lpa, from, wanted } => self.unit_fetched(view, lpa, from, wanted),
            Event::UnitHealed { lpa, old, new } => self.unit_healed(view, lpa, (old, new)),
            Event::HealDropped { lpa, from } => codes.heal_dropped(view, lpa, from),
            Event::UnitLost { lpa } => codes.harmed(view, lpa, Harm::Lost),
            Event::UnitMadeWrong { lpa } => codes.harmed(view, lpa, Harm::Wrong),
            Event::UnitRepaired { lpa } => self.unit_repaired(view, lpa),
            Event::ReadReported { slot, lpa } => codes.damage.tells(view, slot, lpa, Harm::Lost),
            Event::ReadWrong { slot, lpa } => codes.damage.tells(view, slot, lpa, Harm::Wrong),
            Event::ScrubSensed { ppa } => codes.scrub_sensed(view, ppa),
            _ => codes.maintenance(view, event),
        }
    }

    fn sectors_decoded(&mut self, view: &View<'_>, event: &Event<'_>, slot: SlotId, command: u32) -> Checked {
        let (Some(codes), Some(decoding)) = (&mut self.codes, Decoding::of(event)) else { return Ok(()) };
        let bad = codes.sectors_decoded(view, slot, command, &decoding)?;
        if decoding.source != Source::Migration {
            return Ok(());
        }
        if let Some(oracle) = &mut self.oracle {
            oracle.spoil_sectors(command, bad);
        }
        match &mut self.tier {
            Some(book) => book.migration_data_out(view.now, command, decoding.until),
            None => Ok(()),
        }
    }

    // ---- units on their way ------------------------------------------------------------------------

    /// A unit is in its page register, for somebody.
    pub(super) fn coded_unit_sensed(&mut self, view: &View<'_>, place: Ppa, lpa: Lpa, taker: Taker) {
        if let Some(codes) = &mut self.codes {
            codes.unit_sensed(view, place, lpa, taker);
        }
    }

    /// The host reads a unit of flash.
    pub(super) fn coded_unit_read(&mut self, view: &View<'_>, slot: u32, (lpa, holds): (Lpa, bool), from: ReadFrom) {
        let Some(codes) = &mut self.codes else { return };
        // Of a page that may lie above it was looked at before.
        if self.tier.is_none() && holds {
            codes.damage.read(slot, lpa);
        }
        match from {
            ReadFrom::Media(place) => codes.unit_read(view, place),
            ReadFrom::Controller(_) | ReadFrom::Area | ReadFrom::Nowhere => codes.answered(slot, view.now),
        }
    }

    /// A unit that the host writes got a place: what completes it may be no good.
    pub(super) fn merged(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (lpa, old): (Lpa, Ppa),
        merged_with: MergedWith,
    ) -> Checked {
        let Some(codes) = &mut self.codes else { return Ok(()) };
        codes.left(old);
        if !matches!(merged_with, MergedWith::Read(_)) {
            codes.reads.dropped(Taker::Merge(slot, lpa));
            return Ok(());
        }
        let harm = codes.merged(view, slot, lpa)?;
        if let (Some(oracle), Some(_)) = (&mut self.oracle, harm) {
            oracle.spoil_merge(slot, lpa);
        }
        Ok(())
    }

    pub(super) fn coded_move_placed(
        &mut self,
        view: &View<'_>,
        record: u32,
        lpa: Lpa,
        (from, to): (Ppa, Ppa),
    ) -> Checked {
        if let Some(clean) = &self.clean {
            clean.moved(view, lpa, to)?;
        }
        let Some(codes) = &mut self.codes else { return Ok(()) };
        let harm = codes.move_placed(view, record, (from, to))?;
        if let (Some(oracle), Some(_)) = (&mut self.oracle, harm) {
            oracle.spoil_move(record, lpa);
        }
        Ok(())
    }

    /// A page that goes down got a place in flash, and may be merged with what is no good.
    pub(super) fn coded_eviction_placed(
        &mut self,
        view: &View<'_>,
        migration: u32,
        (lpa, old, new): (Lpa, Ppa, Ppa),
        merged_with: MergedWith,
    ) -> Checked {
        if let Some(clean) = &mut self.clean {
            clean.written(view, lpa, new, (false, true), old)?;
        }
        let Some(codes) = &mut self.codes else { return Ok(()) };
        codes.left(old);
        let hidden = self.tier.as_ref().is_some_and(|book| book.is_rewritten(lpa.0, u32::MAX));
        codes.used(view, Taker::Sectors(migration), hidden)?;
        if !matches!(merged_with, MergedWith::Read(_)) {
            codes.reads.dropped(Taker::Migration(migration));
            return Ok(());
        }
        let harm = codes.used(view, Taker::Migration(migration), hidden)?;
        if let (Some(oracle), Some(_)) = (&mut self.oracle, harm) {
            oracle.spoil_migration(migration, true);
        }
        Ok(())
    }

    /// A bank takes up an access of a slot for something.
    pub(super) fn coded_slot_use(
        &mut self,
        view: &View<'_>,
        (access, slot_use): ((ScmCommandKind, Source, u32), SlotUse),
        (slot, sectors): (SlotId, u32),
        page: Lpa,
    ) -> Checked {
        let Some(codes) = &mut self.codes else { return Ok(()) };
        codes.slot_dispatched(view, access, (slot, sectors), page);
        let migration = access.2;
        match slot_use {
            SlotUse::EvictionWrite => {
                let hidden = self.tier.as_ref().is_some_and(|book| book.is_rewritten(page.0, sectors));
                codes.used(view, Taker::Sectors(migration), hidden)?;
            }
            SlotUse::FillWrite => {
                codes.used(view, Taker::Sectors(migration), false)?;
                let harm = codes.used(view, Taker::Migration(migration), false)?;
                if let (Some(oracle), Some(_)) = (&mut self.oracle, harm) {
                    oracle.spoil_migration(migration, false);
                }
            }
            // What became lost since the read was queued is told now.
            SlotUse::HostRead(_) => codes.damage.read(migration, page),
            _ => {}
        }
        Ok(())
    }

    // ---- the store behind ----------------------------------------------------------------------------

    fn unit_flushed(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        let Some(clean) = &mut self.clean else {
            let what = format!("unit {lpa} is flushed on a drive that does not know what is clean");
            return Err(Rule::DirtyUnderDetection.violated(view.now, what));
        };
        self.requests.get(view, slot)?;
        let damage = self.codes.as_ref().map(|codes| &codes.damage);
        let good = damage.is_none_or(|damage| !damage.reports(slot) && !damage.excused(slot).contains(&lpa));
        require!(
            good,
            CopyBehind,
            view.now,
            "unit {lpa} is taken as flushed by the read of slot {slot}, which did not bring it"
        );
        clean.flushed(view, lpa)?;
        match &mut self.oracle {
            Some(oracle) => oracle.flushed(view, slot, lpa),
            None => Ok(()),
        }
    }

    /// The rest of the stripe of an access is read: the group stays until that is.
    fn degraded(&mut self, view: &View<'_>, access: (u32, Source), pages: u32) -> Checked {
        let Some(codes) = &mut self.codes else { return Ok(()) };
        let (ppa, rest) = codes.degraded(view, access, (pages, &self.blocks))?;
        if let Some(blame) = &mut self.blame {
            blame.degraded(access.0, access.1);
        }
        if let (Source::Rebuild, Some(book)) = (access.1, &mut self.failed_dies) {
            // It holds its group until it is written again.
            book.stripe_is_read(pages);
            return Ok(());
        }
        self.groups.reader_leaves(view, ppa);
        self.marks.hit(Mark::DegradedRead);
        if rest.len() + 1 < view.ftl.geometry().parity.map_or(0, |parity| parity.stripe as usize) {
            self.marks.hit(Mark::DegradedInController);
        }
        Ok(())
    }

    /// All of the stripe of an access is there: what the host or the scrubber lacked is written anew, where a copy is alone and its
    /// kind is known.
    fn rebuilt(&mut self, view: &View<'_>, (transaction, source): (u32, Source), harm: (u32, u32)) -> Checked {
        let Some(codes) = &mut self.codes else { return Ok(()) };
        let rebuilt = codes.rebuilt(view, (transaction, source), harm)?;
        if !rebuilt.ends {
            self.marks.hit(Mark::LostInStripe);
        }
        if let (Source::Rebuild, Some(book)) = (source, &mut self.failed_dies) {
            book.stripe_is_there(rebuilt.ppa, rebuilt.harmed);
        }
        let ftl = view.ftl;
        if !matches!(source, Source::Host | Source::Scrub)
            || rebuilt.missing
            || view.tier.is_some()
            || view.mapping.is_some()
        {
            return Ok(());
        }
        for &(lpa, from) in rebuilt.found.iter().filter(|(lpa, _)| !rebuilt.wrong.contains(lpa)) {
            let kind = !ftl.chooses_streams() || self.clean.is_some() && ftl.stream_of(from).is_apart();
            let is_trimmed = || self.trims.as_ref().is_some_and(|trims| trims.is_noted(lpa));
            if kind && lpa != Lpa::NONE && ftl.translate(lpa) == from && !is_trimmed() {
                codes.heals(view, lpa, from);
            }
        }
        Ok(())
    }

    fn unit_fetched(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa, wanted: bool) -> Checked {
        let Some(codes) = &mut self.codes else { return Ok(()) };
        let taker = codes.unit_fetched(view, lpa, from, wanted)?;
        let Some(oracle) = &mut self.oracle else { return Ok(()) };
        oracle.fetched_behind(view, lpa, from)?;
        if let Taker::Host(slot) = taker {
            oracle.fetched_for_host(slot, lpa);
        }
        Ok(())
    }

    /// What was fetched of a unit got a place.
    fn unit_healed(&mut self, view: &View<'_>, lpa: Lpa, (old, new): (Ppa, Ppa)) -> Checked {
        self.ledger.healed_units += 1;
        agrees(view, lpa, new)?;
        self.lies_in_its_partition(view, lpa, new)?;
        self.host_unit_placed(view, (old, new), None)?;
        if let Some(codes) = &mut self.codes {
            codes.healed(view, lpa, old)?;
            codes.left(old);
        }
        if let Some(clean) = &self.clean {
            clean.healed(view, lpa, new)?;
        }
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            units.changed(view, lpa, old, new)?;
            oracle.healed(view, lpa, (old, new))?;
        }
        Ok(())
    }

    fn unit_repaired(&mut self, view: &View<'_>, lpa: Lpa) -> Checked {
        if let Some(codes) = &mut self.codes {
            codes.damage.repaired(view, lpa)?;
        }
        // Of a page that may lie above, the walks see it.
        let spoiled = |oracle: &crate::oracle::Oracle| oracle.is_spoiled(view.ftl.translate(lpa));
        require!(
            self.tier.is_some() || !self.oracle.as_ref().is_some_and(spoiled),
            Damage,
            view.now,
            "unit {lpa} is taken as repaired, and what it holds is no good"
        );
        Ok(())
    }

    // ---- walks ---------------------------------------------------------------------------------------

    pub(super) fn sweep_codes(&self, view: &View<'_>) -> Checked {
        if let Some(clean) = &self.clean {
            clean.sweep(view)?;
            if let Some(oracle) = &self.oracle {
                oracle.clean_is_behind(view, clean)?;
            }
        }
        let Some(codes) = &self.codes else { return Ok(()) };
        codes.sweep(view)?;
        match &self.oracle {
            Some(oracle) => oracle.spoiled_are_known(view, self.tier.as_ref(), &codes.damage),
            None => Ok(()),
        }
    }
}
