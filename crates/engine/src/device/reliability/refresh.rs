//! Refresh: groups whose data is too old, was read too often or is expected to fail are emptied by garbage collection, which writes
//! it anew.

use ninescope_model::BlockGroup;

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::policies::refresh::RefreshReason;
use crate::probe::{Event, observe};
use crate::reliability::Ground;

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
        if due { self.ask_refresh(group, RefreshReason::Reads) } else { Ok(()) }
    }

    /// It is time to look at all groups.
    pub(super) fn check_groups(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let now = self.run.now;
        for group in (0..self.flash.geometry().groups()).map(BlockGroup) {
            let holds = self.flash.ftl().group(group).programmed > 0;
            if holds && self.reliable().is_due_by_age(group, now) {
                self.ask_refresh(group, RefreshReason::Age)?;
            } else if holds && self.is_due_by_rate(group) {
                self.ask_refresh(group, RefreshReason::Rate)?;
            }
        }
        let (part, run) = self.reliable_and_run();
        part.note_refresh_check(run);
        Ok(())
    }

    /// Whether too many bits of a group are expected to fail.
    fn is_due_by_rate(&self, group: BlockGroup) -> bool {
        let (ftl, nand) = (self.flash.ftl(), self.flash.nand());
        let ground = Ground { now: self.run.now, ftl, nand, transactions: &self.run.transactions };
        self.reliability.as_ref().is_some_and(|part| part.is_due_by_rate(ground, group))
    }

    /// Has garbage collection empty a group, if it will.
    fn ask_refresh(&mut self, group: BlockGroup, reason: RefreshReason) -> Result<(), SimulationError> {
        if self.flash.refresh(group) {
            self.reliable().refresh_asked(group, reason);
            observe!(self, Event::RefreshAsked { group, reason });
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
