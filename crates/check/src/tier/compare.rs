//! The walk over slots, and the counters of the tier against what was seen.

use ninescope_engine::{Lower, View};
use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, SlotId};
use ninescope_tier::{ClassCounters, SlotState};

use super::{State, TierBook};
use crate::rule::{Checked, require};

/// Events since measuring began, by the names of the counters they must equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub read_upper: u64,
    pub read_lower: u64,
    pub evicted_dirty: u64,
    pub evicted_clean: u64,
    pub evictions_kept: u64,
    pub evictions_merged: u64,
    pub copied_up: u64,
    pub moved_up: u64,
    pub superseded_below: u64,
    pub replaced_above: u64,
    pub written_through: u64,
    pub writes_held: u64,
}

impl TierBook {
    /// Walks over slots and pages: each slot is what the events made it, each page is where its slot is.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let residency = part.tier().residency();
        let mut held = [0_u32; 4];
        for (index, own) in self.slots.iter().enumerate() {
            let said = residency.slot(index as u32);
            let (kind, state) = match own.state {
                State::Free => (0, SlotState::Free),
                State::Resident => (1, SlotState::Resident),
                State::Leaving(_) => (2, SlotState::Leaving),
                State::Draining => (3, SlotState::Draining),
            };
            held[kind] += 1;
            require!(
                said.state == state && (kind == 0 || said.page == own.page),
                SlotPartition,
                view.now,
                "slot {index} is said to be {said:?}, it is {own:?}"
            );
            if matches!(own.state, State::Resident | State::Leaving(_)) {
                self.agrees(view, SlotId(index as u32))?;
                self.is_needed_below(view, own.page, own.dirty, own.state)?;
            }
            let readers = self.awaited[index].len();
            require!(
                usize::from(said.readers) == readers,
                SlotPartition,
                view.now,
                "{} reads of slot {index} are said to be queued, {readers} are",
                said.readers
            );
        }
        require!(
            held[0] == residency.free_slots() && held[0] + held[3] == residency.free_soon(),
            SlotPartition,
            view.now,
            "slots free, resident, leaving and draining are {held:?}, {} are said to be free and {} soon",
            residency.free_slots(),
            residency.free_soon()
        );
        for (page, &slot) in self.slot_of.iter().enumerate() {
            let said = residency.slot_of(page as u32);
            require!(
                said == (slot != NONE).then_some(slot),
                SlotPartition,
                view.now,
                "page {page} is looked for in {said:?}, its slot is {slot}"
            );
        }
        Ok(())
    }

    /// Flash keeps no page of which all sectors are dirty above, unless that page is on its way down again.
    fn is_needed_below(&self, view: &View<'_>, page: u32, dirty: u32, state: State) -> Checked {
        if self.lower == Lower::Scm || self.volatile || dirty != self.whole || state != State::Resident {
            return Ok(());
        }
        let place = view.ftl.translate(Lpa(page));
        require!(
            place == Ppa::UNMAPPED,
            BelowForgotten,
            view.now,
            "all sectors of page {page} are dirty above, and flash keeps it at {place}"
        );
        Ok(())
    }

    /// What the tier counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let said = part.tier().counters();
        let classes = [said.hot_random, said.hot_sequential, said.cold_random, said.cold_sequential];
        let of_all = |count: fn(&ClassCounters) -> u64| classes.iter().map(count).sum::<u64>();
        let own = &self.counts;
        for (name, counted, seen) in [
            ("read_upper", of_all(|class| class.read_upper), own.read_upper),
            ("read_lower", of_all(|class| class.read_lower), own.read_lower),
            ("evicted_dirty", said.evicted_dirty, own.evicted_dirty),
            ("evicted_clean", said.evicted_clean, own.evicted_clean),
            ("evictions_kept", said.evictions_kept, own.evictions_kept),
            ("evictions_merged", said.evictions_merged, own.evictions_merged),
            ("copied_up", said.copied_up, own.copied_up),
            ("moved_up", said.moved_up, own.moved_up),
            ("superseded_below", said.superseded_below, own.superseded_below),
            ("replaced_above", said.replaced_above, own.replaced_above),
            ("written_through", said.written_through, own.written_through),
            ("writes_held", said.writes_held, own.writes_held),
        ] {
            require!(counted == seen, Ledger, view.now, "tier.{name} is {counted}, {seen} were seen");
        }
        let pages = |tenant: usize| part.pages_of(tenant);
        let sums = (0..part.tenants())
            .map(pages)
            .fold((0, 0), |(accesses, hits), pages| (accesses + pages.page_accesses, hits + pages.page_hits));
        let said = (said.page_accesses, said.page_hits);
        require!(
            said == sums,
            Ledger,
            view.now,
            "pages touched and found are {said:?}, those of tenants sum to {sums:?}"
        );
        Ok(())
    }

    /// Nothing is under way, and nobody waits.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let under_way = self.migrations.iter().flatten().count();
        let awaited: usize = self.awaited.iter().map(Vec::len).sum();
        let waiting = view.tier.map_or(0, ninescope_engine::TierPart::waiting);
        require!(
            under_way == 0 && awaited == 0 && waiting == 0 && (self.evictions, self.fills) == (0, 0),
            Leftover,
            view.now,
            "{under_way} migrations are under way, {awaited} reads queued and {waiting} accesses wait for a slot"
        );
        let busy = self.slots.iter().position(|slot| matches!(slot.state, State::Leaving(_) | State::Draining));
        require!(busy.is_none(), Leftover, view.now, "slot {busy:?} is on its way to be free");
        self.nobody_is_held(view)?;
        self.sweep(view)?;
        self.compare(view)
    }
}
