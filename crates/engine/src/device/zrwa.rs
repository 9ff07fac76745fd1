//! Random write areas in time: a write into one is done when it is in the controller and what it commits has places, as the data of other
//! writes have. A finish takes what an area holds along.

use ninescope_ftl::{Zone, ZoneError};
use ninescope_kernel::NONE;
use ninescope_model::{Cause, Lpa, ZoneCommand};

use super::Device;
use super::kind::Kind;
use super::write::Placing;
use crate::error::SimulationError;
use crate::flash::WriteEntry;
use crate::meter::Parts;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// Whether the zone of a unit takes writes into a random write area.
    pub(super) fn takes_any_order(&self, lpa: Lpa) -> bool {
        self.flash.zones().is_some_and(|zones| zones.takes_any_order(zones.layout().zone_and_offset(lpa).0))
    }

    /// Whether units of that zone go to their places out of such an area.
    pub(super) fn has_area(&self, lpa: Lpa) -> bool {
        self.flash.zones().is_some_and(|zones| zones.has_area(zones.layout().zone_and_offset(lpa).0))
    }

    /// The data of a write of whole units is in the controller, and goes into an area if that takes it.
    pub(super) fn start_write_into_area(&mut self, index: u32, lpa: Lpa, units: u32) -> Result<(), SimulationError> {
        let (command, zones) = (ZoneCommand::None, self.flash.zones_mut());
        match zones.map_or(Err(ZoneError::InvalidField), |zones| zones.write_into_area(lpa, units)) {
            Ok(committed) => {
                observe!(self, Event::ZoneAnswered { slot: index, lpa, units, command, answer: Ok(lpa) });
                self.host.sets_out(index, self.run.now);
                self.host.has_parts(index, 1);
                if committed.is_empty() {
                    return self.finish_part(index, &mut Parts::default(), NONE);
                }
                self.place_or_stall(self.entry(index, committed.start, committed.end))
            }
            Err(error) => self.zone_refuses(index, (lpa, units), command, error),
        }
    }

    /// A commit is judged; where its zone takes it, it is done when what it commits has places.
    pub(super) fn begin_commit(
        &mut self,
        slot: u32,
        zone: u32,
        end: u32,
    ) -> Result<Result<(), ZoneError>, SimulationError> {
        let Some(zones) = self.flash.zones_mut() else { return Ok(Err(ZoneError::InvalidOperation)) };
        let committed = match zones.commit(zone, end) {
            Ok(committed) => committed,
            Err(error) => return Ok(Err(error)),
        };
        let lpa = zones.layout().first_unit(zone);
        observe!(self, Event::ZoneAnswered { slot, lpa, units: end, command: ZoneCommand::Commit, answer: Ok(lpa) });
        // It came before that, and waited for the data of writes.
        let mut before = Parts::default();
        before.add(Cause::Ordering, self.run.now - self.host.command(slot).mark);
        let merge = self.run.transactions.keep_merge(Some(&before));
        self.host.has_parts(slot, 1);
        let entry = WriteEntry { merge, ..self.entry(slot, committed.start, committed.end) };
        self.place_or_stall(entry)?;
        Ok(Ok(()))
    }

    /// Places as many units of an entry that was committed as can be.
    pub(super) fn place_out_of_area(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        while entry.next < entry.end {
            if !self.unit_leaves_area(entry.command, Lpa(entry.next), true)? {
                return Ok(Placing::Waits);
            }
            entry.next += 1;
            entry.begun = true;
        }
        Ok(Placing::Done)
    }

    /// What the area of a zone that is finished holds goes to its places, as far as there is room: a stripe that is begun is filled
    /// whatever room there is, as with padding. Returns whether nothing is left.
    pub(super) fn area_is_emptied(&mut self, slot: u32, zone: u32) -> Result<bool, SimulationError> {
        while let Some(zones) = self.flash.zones().filter(|zones| zones.area_holds_something(zone)) {
            let (layout, &Zone { placed, .. }) = (zones.layout(), zones.zone(zone));
            let (lpa, needs_room) = (Lpa(layout.first_unit(zone).0 + placed), layout.is_at_stripe(placed));
            if !self.unit_leaves_area(slot, lpa, needs_room)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A unit that was committed gets its place for a command. Returns whether there is room for it.
    fn unit_leaves_area(&mut self, slot: u32, lpa: Lpa, needs_room: bool) -> Result<bool, SimulationError> {
        let Some((placed, is_written)) = self.flash.commit_in_zone(lpa, needs_room) else { return Ok(false) };
        observe!(self, Event::UnitCommitted { slot, lpa, new: placed.new, is_written });
        if self.run.transactions.tenants.is_some() {
            self.flash.written_by(&mut self.run, &placed, slot);
        }
        self.flash.host_unit_placed(&mut self.run, &placed, None);
        Ok(true)
    }
}
