//! What was fetched from the backing store is written anew, as clean data, and what is injected in the other direction.

use ninescope_ftl::{Placed, Residence};
use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Ppa, Source};

use crate::device::Device;
use crate::error::SimulationError;
use crate::flow::WriteEntry;
use crate::flow::write::Placing;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::NandCode;
use crate::reliability::corruption::Corruption;
use crate::reliability::timetable::Appointment;

impl<K: Kind> Device<K> {
    /// The content of a unit has come: its copy at `from` is replaced.
    pub(super) fn heal(&mut self, lpa: Lpa, from: Residence) -> Result<(), SimulationError> {
        let entry = self.entry_of(Source::Scrub, NONE, lpa.0, lpa.0 + 1);
        self.place_or_stall(WriteEntry { merged_with: Some(from), ..entry })
    }

    /// Whether a unit's content is on its way already.
    pub(super) fn is_healing(&mut self, lpa: Lpa) -> bool {
        self.reliable().healing.get(lpa.index())
    }

    /// Places a fetched unit, if its copy is still the one that was no good.
    #[inline(never)]
    pub(crate) fn place_healed(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        let lpa = Lpa(entry.next);
        let from = entry.merged_with.unwrap_or(Residence::NONE);
        if !self.ftl.resides(lpa, from) {
            self.reliable().healing.clear(lpa.index());
            self.reliable().counters.heals_dropped += 1;
            observe!(self, Event::HealDropped { lpa, from: from.place });
            return Ok(Placing::NotWanted);
        }
        let Some(placed) = self.ftl.heal(lpa) else { return Ok(Placing::Waits) };
        self.reliable().healing.clear(lpa.index());
        let Placed { old, new, .. } = placed;
        observe!(self, Event::UnitHealed { lpa, old, new });
        // What was fetched is as it should be, whatever its copy had become.
        self.repair(lpa)?;
        self.touch_gc_of(old);
        self.host_unit_placed(&placed, None);
        Ok(Placing::Done)
    }

    // ---- injection -------------------------------------------------------------------------------

    /// The first injection: at once, or in the time that it takes.
    pub(super) fn begin_corruption(&mut self) -> Result<(), SimulationError> {
        let Some(corruption) = &mut self.reliable().corruption else { return Ok(()) };
        if !corruption.takes_time() {
            return self.corrupt_at_once();
        }
        corruption.draw_times();
        observe!(self, Event::CorruptionDrawn);
        self.note_timed_corruption();
        Ok(())
    }

    fn note_timed_corruption(&mut self) {
        let next = self.reliable().corruption.as_ref().and_then(Corruption::next_time);
        if let Some(at) = next {
            self.note(at, Appointment::TimedCorruption);
        }
    }

    /// Units whose time has come go wrong, where they hold something.
    pub(super) fn corrupt_in_time(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let now = self.now;
        while let Some(ppa) = self.reliable().corruption.as_mut().and_then(|corruption| corruption.due(now)) {
            if self.holds_data(ppa) {
                self.corrupt(ppa)?;
            }
        }
        self.note_timed_corruption();
        Ok(())
    }

    /// Whether something lies on the media that the map points at.
    fn holds_data(&self, ppa: Ppa) -> bool {
        self.ftl.is_valid(ppa) && !self.ftl.is_in_flight(ppa)
    }

    /// Each unit that holds something may go wrong.
    fn corrupt_at_once(&mut self) -> Result<(), SimulationError> {
        for ppa in (0..self.geometry.units()).map(Ppa) {
            let draws =
                self.holds_data(ppa) && self.reliable().corruption.as_mut().is_some_and(Corruption::draw_initial);
            if draws {
                self.corrupt(ppa)?;
            }
        }
        Ok(())
    }

    pub(super) fn note_next_corruption(&mut self) {
        let interval = self.reliable().corruption.as_mut().and_then(Corruption::next_interval);
        if let Some(interval) = interval {
            self.note(self.now + interval, Appointment::Corruption);
        }
    }

    /// The turn of the next unit: if it holds something, it becomes corrupt.
    pub(super) fn corrupt_next(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let unit = self.reliable().corruption.as_mut().map(Corruption::draw_unit);
        if let Some(ppa) = unit.filter(|&ppa| self.holds_data(ppa)) {
            self.corrupt(ppa)?;
        }
        self.note_next_corruption();
        Ok(())
    }

    fn corrupt(&mut self, ppa: Ppa) -> Result<(), SimulationError> {
        let edc = self.nand_code_of(ppa) == NandCode::Edc;
        let part = self.reliable();
        if part.corruption.as_mut().is_some_and(|injector| injector.corrupt(ppa)) {
            part.counters.corruptions += 1;
            part.counters.corruptions_under_edc += u64::from(edc);
            observe!(self, Event::UnitCorrupted { ppa });
        }
        Ok(())
    }
}
