//! What the host asks for: commands as they are fetched and complete, and the units that they write, trim and read.

use ninescope_engine::meter::{Parts, Waits};
use ninescope_engine::{LinkMessage, MergedWith, View};
use ninescope_kernel::Ns;
use ninescope_model::{CacheHint, Cause, Lpa, Op, Ppa, Request, Source};

use super::Checker;
use crate::marks::Mark;
use crate::requests::{forgets, mask_of, sectors_in, sectors_per_unit};
use crate::rule::{Checked, require};
use crate::units::agrees;

impl Checker {
    pub(super) fn fetched(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (id, lane, queue): (u64, u16, u32),
        (request, whole): (Request, Request),
    ) -> Checked {
        let first = self.protocol.fetched(view.now, slot, (id, lane), &request, &whole)?;
        let all_through = view.tier.is_some_and(ninescope_engine::TierPart::acknowledges_at_program);
        require!(
            request.fua || request.op != Op::Write || !all_through,
            FuaDurability,
            view.now,
            "request {id} does not ask to be on the media, and all writes of the drive are to be there"
        );
        self.requests.fetched(view, slot, (id, lane), request, first)?;
        if first {
            self.intake.fetched(view.now, (id, lane), &whole)?;
        }
        let held = self.queues.held(queue, request.submitted);
        self.places.fetched(view.now, slot, (lane, held), request.submitted);
        if let Some(holders) = &mut self.cache_holders {
            holders.fetched(view.now, slot, lane);
        }
        if let Some(holders) = &mut self.map_holders {
            holders.fetched(view.now, slot, lane);
        }
        self.namespaces.fetched(view, (slot, id, lane), &request, &mut self.marks)?;
        if let Some(blame) = &mut self.blame {
            blame.fetched(view.now, slot, (id, lane), request.fua);
        }
        if let Some(banks) = &mut self.banks {
            banks.fetched(slot);
        }
        if let Some(codes) = &mut self.codes {
            codes.fetched(slot);
        }
        if let Some(book) = &mut self.map {
            book.fetched(slot);
        }
        if let Some(book) = &mut self.dram {
            book.fetched(slot, lane, &request);
        }
        if let Some(book) = &mut self.firmware {
            book.fetched(slot, &request);
        }
        if let Some(book) = &mut self.tier {
            book.inside(view.now, 1);
        }
        if let Some(book) = &mut self.trims {
            book.fetched(view.now, slot);
        }
        self.whole_erase.fetched((slot, id), &request);
        if let Some(oracle) = &mut self.oracle {
            oracle.fetched(slot, &request, &self.blocks, view, &mut self.marks);
            if let Some(book) = self.tier.as_ref().filter(|_| request.op == Op::Flush)
                && oracle.flush_came(slot, book)
            {
                self.marks.hit(Mark::FlushOfCache);
            }
        }
        Ok(())
    }

    /// What is no data crosses the link, towards the host until now.
    pub(super) fn message_crosses(
        &mut self,
        view: &View<'_>,
        slot: u32,
        message: LinkMessage,
        (from, until): (Ns, Ns),
    ) -> Checked {
        self.messages.crosses(view.now, slot, message, (from, until))?;
        if message == LinkMessage::Entry {
            return self.transfers.link_in(view, slot, from, until);
        }
        if message == LinkMessage::Completion && self.interrupts.are_raised() {
            self.interrupts.gathered(view.now, (slot, self.queues.of(slot)))?;
        }
        self.transfers.link_out(view, slot, from)
    }

    /// Nothing is left to do for a TRIM.
    pub(super) fn trim_done(&mut self, view: &View<'_>, request: &Request) {
        if forgets(view) {
            self.ledger.trimmed(view, request);
        } else if let Some(banks) = &mut self.banks {
            banks.trim_ignored(request);
        }
    }

    pub(super) fn completed(
        &mut self,
        view: &View<'_>,
        (slot, id, last): (u32, u64, bool),
        request: &Request,
        (parts, behind, transaction): (&Parts, &[Waits], u32),
    ) -> Checked {
        let refused = match &mut self.zones {
            Some(book) => book.completed(view, slot)?,
            None => false,
        };
        let tenant = self.requests.get(view, slot)?.lane;
        let order = self.requests.completed(view, (slot, id), request, parts, last)?;
        self.map_wait_is(view, slot, parts)?;
        self.requests.waited_behind(view, (id, tenant), (parts, behind), &mut self.marks)?;
        // Of one that was gathered that was compared when it completed.
        let mut gathered = self.interrupts.told(view.now, (slot, id), parts)?;
        gathered |= self.messages.told(view.now, (slot, id), parts)?;
        self.places.told(view.now, (slot, id), behind)?;
        if let Some(blame) = &self.blame {
            blame.waited_for_space(view.now, (id, tenant), behind)?;
        }
        if !gathered {
            self.places.left(view.now, slot);
        }
        if let Some(holders) = self.cache_holders.as_mut().filter(|_| !gathered) {
            holders.completed(view, slot, request.op, (parts, behind, transaction))?;
        }
        if let Some(holders) = self.map_holders.as_mut().filter(|_| !gathered) {
            holders.completed(view.now, slot, behind)?;
        }
        self.queues.left(view.now, (slot, id), parts)?;
        if let Some(book) = self.dram.as_mut().filter(|_| !gathered) {
            book.completed(view, slot, (parts, behind, transaction))?;
        }
        if let Some(book) = self.firmware.as_ref().filter(|_| !gathered) {
            book.completed(view, slot, parts, transaction)?;
        }
        if parts.of(Cause::DieRebuild) > 0 {
            self.marks.hit(Mark::BehindRebuild);
        }
        if let Some(blame) = self.blame.as_mut().filter(|_| !gathered) {
            blame.completed(view, slot, id, (request.op, parts, behind, transaction))?;
        }
        if let Some(book) = self.sectors.as_mut().filter(|_| !gathered) {
            book.completed(view, slot, &mut self.marks)?;
        }
        if let Some(banks) = &mut self.banks {
            banks.completed(view, slot, request)?;
        }
        if let Some(book) = &mut self.tier {
            book.host_completes(view, slot)?;
            book.inside(view.now, self.requests.taken_in() - self.requests.completed_count());
        }
        if let Some(book) = &mut self.trims {
            book.completed(view.now);
        }
        self.whole_erase.completed(view, slot)?;
        let inside = self.requests.last_of(slot);
        let (is_void, is_error) = (refused || inside.is_void, inside.refused);
        if request.op == Op::Trim && !gathered && !is_void && !is_error {
            self.trim_done(view, request);
        }
        if let Some(oracle) = self.oracle.as_mut().filter(|_| !is_void) {
            let inside = self.requests.last_of(slot);
            // The command itself is still to be judged: nothing that it may have returned is forgotten before.
            let span = (order, self.requests.oldest_invocation().min(inside.invocation));
            let excused = self.codes.as_ref().map(|codes| codes.damage.excused(slot)).unwrap_or_default();
            oracle.completed(view, slot, inside, span, &excused, &self.blocks, &mut self.marks)?;
            if let Some(book) = self.tier.as_ref().filter(|_| request.op == Op::Flush) {
                oracle.flush_left_nothing(view, slot, inside, book)?;
            }
            if let Some(book) = self.tier.as_ref().filter(|_| request.fua)
                && oracle.is_not_above_alone(view, slot, inside, book)?
            {
                self.marks.hit(Mark::FuaOfCache);
            }
        }
        let harm = match &mut self.codes {
            Some(codes) if request.op == Op::Read => codes.completes(view, slot)?,
            _ => [false; 2],
        };
        if let (Some(harm), Some(codes)) = (self.protocol.completed(view.now, (slot, id), harm, last)?, &mut self.codes)
        {
            codes.damage.request_over(harm);
        }
        Ok(())
    }

    pub(super) fn lies_in_its_partition(&self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        self.partitions.as_ref().map_or(Ok(()), |book| book.placed(view, lpa, place))
    }

    /// The same of a unit of the host that is written there.
    pub(super) fn goes_into_its_partition(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        self.partitions.as_mut().map_or(Ok(()), |book| book.written(view, lpa, place))
    }

    /// A unit that the host wrote, or that goes where such units go, got a place.
    pub(super) fn host_unit_placed(&mut self, view: &View<'_>, (old, new): (Ppa, Ppa), tenant: Option<u16>) -> Checked {
        self.groups.written(view, old, new)?;
        if let Some(book) = &self.homes {
            book.written(view, old, new)?;
        }
        self.space.host_unit(view, new, tenant)
    }

    pub(super) fn unit_written(
        &mut self,
        view: &View<'_>,
        slot: u32,
        lpa: Lpa,
        (old, new): (Ppa, Ppa),
        merged_with: MergedWith,
    ) -> Checked {
        let request = self.requests.get(view, slot)?.request;
        self.whole_erase.nothing_is_done(view, slot)?;
        self.ledger.host_units += 1;
        self.ledger.host_sectors += sectors_in(&request, lpa, view.ftl.geometry().sectors_per_unit());
        self.requests.unit_done(view, slot, lpa, Op::Write)?;
        self.unit_is_mapped(view, slot, lpa)?;
        if let Some(book) = &mut self.map {
            book.placed(lpa, new);
        }
        self.decided_about(view, slot)?;
        if let Some(book) = &self.trims {
            book.written(view, lpa)?;
        }
        if let Some(book) = &mut self.dram {
            book.placed(view, slot, lpa)?;
        }
        self.map_is_changed_by(view, slot, lpa)?;
        self.unit_moved(view, lpa, Source::Host);
        if let Some(blame) = &mut self.blame {
            blame.unit_written(view, slot, lpa, new);
        }
        agrees(view, lpa, new)?;
        if let Some(book) = &mut self.zones {
            book.written(view, lpa, new)?;
        }
        if let Some(book) = &mut self.block_map {
            book.written(view, lpa, new, &mut self.marks)?;
        }
        self.goes_into_its_partition(view, lpa, new)?;
        self.host_unit_placed(view, (old, new), Some(self.requests.last_of(slot).lane))?;
        if let (Some(book), Some(banks)) = (&mut self.tier, &mut self.banks) {
            let sectors = mask_of(&request, lpa, sectors_per_unit(view));
            banks.done_in_flash(slot, sectors.count_ones());
            book.written_below(view, lpa.0, sectors)?;
        }
        if let Some(book) = &mut self.slc_cache {
            book.written(view, new, &mut self.marks)?;
        }
        if let Some(book) = &mut self.streams {
            book.written(view, lpa, (old, new), Some(&request))?;
        }
        if let Some(book) = &mut self.sectors {
            let mask = mask_of(&request, lpa, sectors_per_unit(view));
            book.written(view, lpa, new, mask);
            self.forwarding.written(view, lpa, mask, old);
        }
        if let Some(book) = &mut self.placement {
            book.written(view, lpa, (old, new), Some(&request), &mut self.marks)?;
        }
        self.merged(view, slot, (lpa, old), merged_with)?;
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            units.changed(view, lpa, old, new)?;
            let inside = (self.requests.get(view, slot)?, self.requests.order());
            oracle.written(view, slot, inside, lpa, (old, new), merged_with, &mut self.marks)?;
        }
        if let Some(clean) = &mut self.clean {
            let said = request.remark.hint() == CacheHint::CleanWrite;
            clean.written(view, lpa, new, (said, merged_with == MergedWith::Nothing), old)?;
            if let (Some(oracle), true) = (&mut self.oracle, said) {
                oracle.written_through(slot, lpa, mask_of(&request, lpa, sectors_per_unit(view)));
            }
        }
        Ok(())
    }

    pub(super) fn unit_trimmed(&mut self, view: &View<'_>, slot: u32, lpa: Lpa, old: Ppa) -> Checked {
        self.ledger.trimmed_units += u64::from(old != Ppa::UNMAPPED);
        if let Some(book) = &mut self.sectors {
            book.forgotten(lpa);
        }
        self.requests.unit_done(view, slot, lpa, Op::Trim)?;
        let request = self.requests.get(view, slot)?.request;
        if let Some(book) = self.trims.as_mut() {
            book.trimmed(view, (slot, lpa, old), &request)?;
        }
        self.decided_about(view, slot)?;
        self.map_is_changed_by(view, slot, lpa)?;
        self.unit_moved(view, lpa, Source::Host);
        if let Some(book) = &mut self.tier {
            book.trimmed(view, lpa.0, &mut self.marks)?;
        }
        self.lies_nowhere(view, lpa, old)?;
        if let Some(oracle) = &mut self.oracle {
            oracle.trimmed(view, slot, self.requests.get(view, slot)?, lpa, old, &mut self.marks);
        }
        Ok(())
    }

    /// A unit that lay there is in the map no more, because the host trimmed it.
    pub(super) fn lies_nowhere(&mut self, view: &View<'_>, lpa: Lpa, old: Ppa) -> Checked {
        agrees(view, lpa, Ppa::UNMAPPED)?;
        self.groups.invalidated(view, old)?;
        if let Some(codes) = &mut self.codes {
            codes.left(old);
        }
        if let Some(units) = &mut self.units {
            units.changed(view, lpa, old, Ppa::UNMAPPED)?;
            if old != Ppa::UNMAPPED && view.ftl.is_in_flight(old) {
                self.marks.hit(Mark::TrimInController);
            }
        }
        Ok(())
    }

    pub(super) fn unit_read(
        &mut self,
        view: &View<'_>,
        slot: u32,
        lpa: Lpa,
        from: ninescope_engine::ReadFrom,
    ) -> Checked {
        use ninescope_engine::ReadFrom;
        self.whole_erase.nothing_is_done(view, slot)?;
        self.unit_is_mapped(view, slot, lpa)?;
        self.decided_about(view, slot)?;
        let place = match from {
            ReadFrom::Nowhere => {
                self.ledger.units_from_nowhere += 1;
                Ppa::UNMAPPED
            }
            ReadFrom::Controller(place) => {
                self.ledger.units_from_controller += 1;
                place
            }
            ReadFrom::Area => {
                self.ledger.units_from_controller += 1;
                self.marks.hit(Mark::ZrwaRead);
                Ppa::UNMAPPED
            }
            ReadFrom::Media(place) => place,
        };
        let is_in_area = self.zones.as_ref().is_some_and(|book| book.holds(lpa));
        require!(
            is_in_area == (from == ReadFrom::Area),
            Zones,
            view.now,
            "unit {lpa} is read from {from:?}, and an area holds it: {is_in_area}"
        );
        let mapped = view.ftl.translate(lpa);
        let to_be_found = self.trims.as_ref().map_or(mapped, |book| book.place_of_read(lpa, mapped));
        require!(
            to_be_found == place,
            Mapping,
            view.now,
            "unit {lpa} is read from {from:?}, it is to be at {to_be_found}, and the map says {mapped}"
        );
        if self.trims.as_ref().is_some_and(|book| book.is_old_data(lpa, from)) {
            self.marks.hit(Mark::ReadOfOldData);
        }
        // What is to be forgotten and reads as zeros was not lost.
        self.coded_unit_read(view, slot, (lpa, to_be_found == mapped), from);
        if let (Some(book), None) = (&mut self.sectors, &self.tier) {
            let request = self.requests.get(view, slot)?.request;
            book.read(slot, lpa, mask_of(&request, lpa, sectors_per_unit(view)), from);
        }
        let mask = match (&mut self.tier, &mut self.banks) {
            (Some(book), Some(banks)) => {
                let mask = book.looked_below(view, slot, lpa)?;
                banks.done_in_flash(slot, mask.count_ones());
                self.dram_unit_read(view, slot, (lpa, Some(mask)), from)?;
                if let Some(book) = &mut self.sectors {
                    book.read(slot, lpa, mask, from);
                }
                mask
            }
            _ if self.oracle.is_none() => return self.dram_unit_read(view, slot, (lpa, None), from),
            _ => {
                self.dram_unit_read(view, slot, (lpa, None), from)?;
                mask_of(&self.requests.get(view, slot)?.request, lpa, sectors_per_unit(view))
            }
        };
        self.forwarding.read(view, lpa, mask, from)?;
        if let (Some(codes), ReadFrom::Media(place)) = (&mut self.codes, from) {
            codes.asks_for(slot, place, mask);
        }
        if let Some(oracle) = &mut self.oracle {
            oracle.read(view, slot, (lpa, mask), from, &mut self.marks)?;
        }
        Ok(())
    }
}
