//! What was fetched from the backing store is written anew, as clean data, and what was found by parity as it was; and what is
//! injected in the other direction.

use ninescope_ftl::{Placed, Residence};
use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::device::write::Placing;
use crate::error::SimulationError;
use crate::flash::WriteEntry;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// The content of a unit has come: its copy at `from` is replaced.
    pub(super) fn heal(&mut self, lpa: Lpa, from: Residence) -> Result<(), SimulationError> {
        let entry = self.entry_of(Source::Scrub, NONE, lpa.0);
        self.place_or_stall(WriteEntry { merged_with: Some(from), ..entry })
    }

    /// The content of a unit was found by the rest of its parity stripe: its copy at `from` is replaced, where the place of the
    /// new one follows from the unit alone.
    pub(super) fn heal_rebuilt(&mut self, lpa: Lpa, from: Residence) -> Result<(), SimulationError> {
        let ftl = self.flash.ftl();
        let as_it_was = !ftl.chooses_streams() || ftl.knows_clean() && ftl.stream_of(from.place).is_apart();
        let is_there = lpa != Lpa::NONE && ftl.resides(lpa, from) && !self.flash.is_trimmed_and_mapped(lpa);
        let maps_alone = self.tier.is_none() && self.mapping.is_none();
        if !(as_it_was && is_there && maps_alone) {
            return Ok(());
        }
        // What was lost before it came there is not found again.
        if self.reliable().is_healing(lpa) || self.reliable().harm_at(lpa).is_some() {
            return Ok(());
        }
        self.reliable().begin_healing(lpa);
        self.heal(lpa, from)
    }

    /// Places a fetched unit, if its copy is still the one that was no good.
    #[inline(never)]
    pub(in crate::device) fn place_healed(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        let lpa = Lpa(entry.next);
        let from = entry.merged_with.unwrap_or(Residence::NONE);
        if !self.flash.ftl().resides(lpa, from) {
            self.reliable().end_healing(lpa, true);
            observe!(self, Event::HealDropped { lpa, from: from.place });
            return Ok(Placing::NotWanted);
        }
        if !self.flash.part_has_room(0) {
            return Ok(Placing::Waits);
        }
        let Some(placed) = self.flash.heal(self.run.now, lpa) else { return Ok(Placing::Waits) };
        self.reliable().end_healing(lpa, false);
        let Placed { old, new, .. } = placed;
        observe!(self, Event::UnitHealed { lpa, old, new });
        // What was fetched is as it should be, whatever its copy had become.
        self.repair(lpa)?;
        self.flash.written_by_drive(&mut self.run, &placed);
        self.flash.page_gets(&placed, self.flash.geometry().sectors_per_unit() as u16);
        self.flash.host_unit_placed(&mut self.run, &placed, None);
        Ok(Placing::Done)
    }

    /// What was fetched of a unit will never be placed: the drive takes no more writes.
    #[cold]
    pub(in crate::device) fn heal_refused(&mut self, entry: &WriteEntry) -> Result<(), SimulationError> {
        let (lpa, from) = (Lpa(entry.next), entry.merged_with.unwrap_or(Residence::NONE));
        self.reliable().end_healing(lpa, true);
        observe!(self, Event::HealDropped { lpa, from: from.place });
        Ok(())
    }

    // ---- injection -------------------------------------------------------------------------------

    /// The first injection: at once, or in the time that it takes.
    pub(super) fn begin_corruption(&mut self) -> Result<(), SimulationError> {
        if !self.reliable().draw_corruption() {
            return self.corrupt_at_once();
        }
        observe!(self, Event::CorruptionDrawn);
        let (part, run) = self.reliable_and_run();
        part.note_timed_corruption(run);
        Ok(())
    }

    /// Units whose time has come go wrong, where they hold something.
    pub(super) fn corrupt_in_time(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let now = self.run.now;
        while let Some(ppa) = self.reliable().next_timed_corruption(now) {
            if self.holds_data(ppa) {
                self.corrupt(ppa)?;
            }
        }
        let (part, run) = self.reliable_and_run();
        part.note_timed_corruption(run);
        Ok(())
    }

    /// Whether something lies on the media that the map points at.
    fn holds_data(&self, ppa: Ppa) -> bool {
        self.flash.ftl().is_valid(ppa) && !self.flash.ftl().is_in_flight(ppa)
    }

    /// Each unit that holds something may go wrong.
    fn corrupt_at_once(&mut self) -> Result<(), SimulationError> {
        for ppa in (0..self.flash.geometry().units()).map(Ppa) {
            if self.holds_data(ppa) && self.reliable().goes_wrong_at_once() {
                self.corrupt(ppa)?;
            }
        }
        Ok(())
    }

    /// The turn of the next unit: if it holds something, it becomes corrupt.
    pub(super) fn corrupt_next(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let unit = self.reliable().draw_corrupt_unit();
        if let Some(ppa) = unit.filter(|&ppa| self.holds_data(ppa)) {
            self.corrupt(ppa)?;
        }
        let (part, run) = self.reliable_and_run();
        part.note_next_corruption(run);
        Ok(())
    }

    fn corrupt(&mut self, ppa: Ppa) -> Result<(), SimulationError> {
        if self.reliability.as_mut().is_some_and(|part| part.corrupt(self.flash.ftl(), ppa)) {
            observe!(self, Event::UnitCorrupted { ppa });
        }
        Ok(())
    }
}
