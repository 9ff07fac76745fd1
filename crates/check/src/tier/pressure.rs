//! When writes are taken into a cache that pushes back: in the order of coming, and as its policy says, by what the slots of a
//! part are seen to do.

use std::collections::VecDeque;

use ninescope_engine::policies::back_pressure::{BackPressureConfig, Paced};
use ninescope_engine::{TierPart, View};
use ninescope_kernel::Ns;
use ninescope_model::SlotId;

use super::{State, TierBook};
use crate::rule::{Checked, require};

/// Writes of a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Intake {
    /// Those that are held back: command and page.
    held: VecDeque<(u32, u32)>,
    /// When the last one was taken in.
    last: Ns,
    /// The fewest slots that were lacking to the watermark at a time since then; none: not looked at.
    least_lacking: Option<u64>,
}

impl TierBook {
    /// A write of a page is held back.
    pub fn write_held(&mut self, view: &View<'_>, tenant: u16, (command, page): (u32, u32)) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let number = part.part_of(tenant);
        let lacking = self.look_at(part, number);
        let leaving = self.leaving_of(number);
        let intake = &mut self.intakes[number];
        let may_be = match (part.back_pressure(), intake.held.is_empty()) {
            (BackPressureConfig::FreeSlots(_), _) => false,
            (_, false) | (BackPressureConfig::Added(_), true) => true,
            (BackPressureConfig::PagesInFlight(rules), true) => leaving >= rules.pages.unwrap_or(part.planes_below()),
            (BackPressureConfig::Paced(_), true) => lacking > 0,
        };
        require!(
            may_be,
            BackPressure,
            view.now,
            "a write of page {page} is held back, with {leaving} pages on their way down: {intake:?}"
        );
        intake.held.push_back((command, page));
        self.counts.writes_held += 1;
        Ok(())
    }

    /// A write of a page is taken in.
    pub(super) fn write_taken_in(&mut self, view: &View<'_>, tenant: u16, (command, page): (u32, u32)) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let number = part.part_of(tenant);
        self.look_at(part, number);
        let leaving = self.leaving_of(number);
        let intake = &mut self.intakes[number];
        let in_turn = intake.held.pop_front().is_none_or(|first| first == (command, page));
        let may_be = match part.back_pressure() {
            BackPressureConfig::FreeSlots(_) | BackPressureConfig::Added(_) => true,
            BackPressureConfig::PagesInFlight(rules) => leaving < rules.pages.unwrap_or(part.planes_below()),
            BackPressureConfig::Paced(rules) => {
                let lacking = intake.least_lacking.unwrap_or(0);
                let from = watermark(rules, part.tier().residency().slots_of(number));
                lacking == 0 || (view.now - intake.last).0 >= rules.longest.0 * lacking / from
            }
        };
        require!(
            in_turn && may_be,
            BackPressure,
            view.now,
            "a write of page {page} is taken in, with {leaving} pages on their way down and before others: {intake:?}"
        );
        // It has not got its slot: with that another one is lacking, but not where its page has one.
        (intake.last, intake.least_lacking) = (view.now, None);
        self.look_at(part, number);
        Ok(())
    }

    /// A slot of a part is taken or free.
    pub(super) fn slot_changed(&mut self, view: &View<'_>, slot: SlotId) {
        if let Some(part) = view.tier {
            self.look_at(part, self.part_of(slot));
        }
    }

    /// Nobody is held back for ever.
    pub(super) fn nobody_is_held(&self, view: &View<'_>) -> Checked {
        let held: usize = self.intakes.iter().map(|intake| intake.held.len()).sum();
        require!(held == 0, Leftover, view.now, "{held} writes are held back");
        Ok(())
    }

    fn slots_of(&self, part: usize) -> &[super::Slot] {
        let end = self.parts.get(part + 1).map_or(self.slots.len(), |&end| end as usize);
        &self.slots[self.parts[part] as usize..end]
    }

    fn leaving_of(&self, part: usize) -> u32 {
        self.slots_of(part).iter().filter(|slot| matches!(slot.state, State::Leaving(_))).count() as u32
    }

    /// Keeps how many slots are lacking to a watermark, and returns it.
    fn look_at(&mut self, part: &TierPart, number: usize) -> u64 {
        let BackPressureConfig::Paced(rules) = part.back_pressure() else { return 0 };
        let slots = self.slots_of(number);
        let free = slots.iter().filter(|slot| matches!(slot.state, State::Free | State::Draining)).count() as u64;
        let lacking = watermark(rules, slots.len() as u32).saturating_sub(free);
        let least = &mut self.intakes[number].least_lacking;
        *least = Some(least.map_or(lacking, |least| least.min(lacking)));
        lacking
    }
}

/// Slots with which writes are taken in as they come.
fn watermark(rules: &Paced, slots: u32) -> u64 {
    (rules.from * f64::from(slots) + 1e-9).floor() as u64
}
