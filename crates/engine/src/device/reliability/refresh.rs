//! Refresh: groups whose data is too old, or was read too often, are emptied by garbage collection, which writes it anew.

use ninescope_model::BlockGroup;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// A page read is queued on a group.
    #[inline]
    pub(in crate::device) fn group_read(&mut self, group: BlockGroup) -> Result<(), SimulationError> {
        if self.reliability.is_some() { self.reliable_group_read(group) } else { Ok(()) }
    }

    #[inline(never)]
    fn reliable_group_read(&mut self, group: BlockGroup) -> Result<(), SimulationError> {
        let reads = self.flash.ftl().group(group).reads_since_erase;
        let due = self.reliable().is_due_by_reads(group, reads);
        if due { self.ask_refresh(group, true) } else { Ok(()) }
    }

    /// It is time to look at the age of all groups.
    pub(super) fn check_ages(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let now = self.run.now;
        for group in (0..self.flash.geometry().groups()).map(BlockGroup) {
            let holds = self.flash.ftl().group(group).programmed > 0;
            if holds && self.reliable().is_due_by_age(group, now) {
                self.ask_refresh(group, false)?;
            }
        }
        let (part, run) = self.reliable_and_run();
        part.note_refresh_check(run);
        Ok(())
    }

    /// Has garbage collection empty a group, if it will.
    fn ask_refresh(&mut self, group: BlockGroup, by_reads: bool) -> Result<(), SimulationError> {
        if self.flash.refresh(group) {
            self.reliable().refresh_asked(group, by_reads);
            observe!(self, Event::RefreshAsked { group, by_reads });
        }
        Ok(())
    }

    /// The first page of a group was programmed: its data is new.
    #[inline]
    pub(in crate::device) fn group_begun(&mut self, group: BlockGroup) {
        if let Some(part) = &mut self.reliability {
            part.group_begun(group, self.run.now);
        }
    }

    /// The erase of a group ended, with so many suspensions more than it bears.
    #[inline]
    pub(in crate::device) fn group_is_empty(&mut self, group: BlockGroup, excess_suspensions: u32) {
        if let Some(part) = &mut self.reliability {
            part.group_erased(self.flash.ftl(), group, excess_suspensions);
        }
    }
}
