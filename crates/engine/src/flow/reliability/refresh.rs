//! Refresh: groups whose data is too old, or was read too often, are emptied by garbage collection, which writes it anew.

use ninescope_model::BlockGroup;

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::timetable::Appointment;

impl<K: Kind> Device<K> {
    /// A page read is queued on a group.
    #[inline(never)]
    pub(crate) fn reliable_read_queued(&mut self, group: BlockGroup) -> Result<(), SimulationError> {
        let reads = self.ftl.group(group).reads_since_erase;
        let part = self.reliable();
        let due = part.refresh.as_ref().is_some_and(|refresh| refresh.is_due_by_reads(reads));
        if due && self.ask_refresh(group) {
            self.reliable().counters.refreshes_by_reads += 1;
            observe!(self, Event::RefreshAsked { group, by_reads: true });
        }
        Ok(())
    }

    /// It is time to look at the age of all groups.
    pub(super) fn check_ages(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let now = self.now;
        for group in (0..self.geometry.groups()).map(BlockGroup) {
            let holds = self.ftl.group(group).programmed > 0;
            let part = self.reliable();
            let age = part.ages.age(group, now);
            let due = holds && part.refresh.as_ref().is_some_and(|refresh| refresh.is_due_by_age(age));
            if due && self.ask_refresh(group) {
                self.reliable().counters.refreshes_by_age += 1;
                observe!(self, Event::RefreshAsked { group, by_reads: false });
            }
        }
        let period = self.reliable().refresh.as_ref().and_then(|refresh| refresh.check_period());
        if let Some(period) = period {
            self.note(now + period, Appointment::RefreshCheck);
        }
        Ok(())
    }

    /// Has garbage collection empty a group, unless it was asked to; returns whether it will.
    fn ask_refresh(&mut self, group: BlockGroup) -> bool {
        if self.reliable().refresh_asked.get(group.index()) || !self.ftl.refresh(group) {
            return false;
        }
        self.reliable().refresh_asked.set(group.index());
        self.gc_touched.set(self.geometry.pool_and_block(group).0.index());
        true
    }

    /// The first page of a group was programmed: its data is new.
    #[inline(never)]
    pub(crate) fn reliable_group_begun(&mut self, group: BlockGroup) {
        let now = self.now;
        let part = self.reliable();
        part.ages.programmed(group, now);
        if let Some(health) = &mut part.health {
            health.forget(group);
        }
    }

    /// The erase of a group ended, with so many suspensions more than it bears.
    #[inline(never)]
    pub(crate) fn reliable_group_erased(&mut self, transaction: u32, excess_suspensions: u32) {
        let group = self.geometry.group_and_offset(self.transactions.slab[transaction].ppa()).0;
        let (first, count) = (self.geometry.first_unit(group), self.geometry.units_per_group());
        let part = self.reliable();
        part.refresh_asked.clear(group.index());
        if let Some(corruption) = &mut part.corruption {
            part.counters.corruptions_erased += corruption.erased(first, count);
        }
        if let Some(health) = &mut part.health {
            health.erased(group, excess_suspensions);
        }
    }
}
