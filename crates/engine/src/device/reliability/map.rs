//! Pages of a map in flash that no decoder makes good: the drive finds their entries again from what lies beside data, the
//! address that each unit of data carries, and whoever wants them waits for that.
//!
//! What a code did not notice is noticed here: a page of the map carries which one it is and a checksum of its own.

use ninescope_model::Source;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};
use crate::reliability::ones;
use crate::reliability::timetable::Appointment;
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    /// What the drive read for itself is decoded, or given up. It goes on, but for pages of the map that are no good.
    pub(super) fn own_read_ends(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.mapping.is_some() && self.reliable().bad_units(index) != 0 && self.loses_map_pages(index)? {
            return Ok(());
        }
        self.page_arrived(index)
    }

    /// Whether an access of which something is no good brought pages of the map that are wanted still: they are found again.
    fn loses_map_pages(&mut self, index: u32) -> Result<bool, SimulationError> {
        let read = self.run.transactions.slab[index];
        let mut lost = 0_u32;
        for number in ones(self.reliable().bad_units(index)) {
            let Some(page) = self.map_page_of_access(&read, index, number) else { continue };
            lost |= 1 << number;
            let for_commands = read.source == Source::Mapping && read.is_waited_for();
            observe!(self, Event::MapPageLost { page, for_commands });
        }
        if let (Some(mapping), 1..) = (&mut self.mapping, lost) {
            let until = self.run.now + mapping.lost(lost.count_ones());
            self.reliable().make_good(index, lost);
            self.note(until, Appointment::MapRebuilt { transaction: index });
        }
        Ok(lost != 0)
    }

    /// The page of the map that an access brought as one of its units, if that is one and still wanted.
    fn map_page_of_access(&mut self, read: &Transaction, index: u32, number: u32) -> Option<u32> {
        if read.source == Source::Mapping {
            return Some(read.map_page());
        }
        if read.source != Source::GarbageCollection {
            return None;
        }
        let (lpa, from) = self.unit_of_access(index, number);
        let ftl = self.flash.ftl();
        let is_wanted = ftl.is_translation(lpa) && ftl.resides(lpa, from);
        is_wanted.then(|| lpa.0 - ftl.logical_units())
    }

    /// Pages of the map that a read lost were found again.
    pub(super) fn map_rebuilt(&mut self, index: u32) -> Result<(), SimulationError> {
        let read = self.run.transactions.slab[index];
        if let Some(mapping) = self.mapping.as_mut().filter(|_| read.source == Source::Mapping && read.is_waited_for())
        {
            mapping.rebuilt(read.map_page());
            observe!(self, Event::MapPageRebuilt { page: read.map_page() });
            self.tell_of_cache()?;
        }
        self.page_arrived(index)
    }
}
