//! What the firmware decides.

use ninescope_engine::View;
use ninescope_model::BlockGroup;

use super::Checker;
use crate::rule::Checked;
use crate::victim;

impl Checker {
    /// A group is to be emptied.
    pub(super) fn victim_chosen(&mut self, view: &View<'_>, group: BlockGroup) -> Checked {
        victim::chosen(view, group)?;
        let pool = view.ftl.geometry().pool_and_block(group).0;
        self.firmware.as_mut().map_or(Ok(()), |book| book.victim_chosen(view, pool.0))
    }

    /// A unit that was read to be moved was placed, or dropped.
    pub(super) fn move_was_decided(&mut self, view: &View<'_>) -> Checked {
        self.firmware.as_mut().map_or(Ok(()), |book| book.unit_moved(view))
    }

    /// A unit of a command is found, placed or forgotten.
    pub(super) fn decided_about(&self, view: &View<'_>, slot: u32) -> Checked {
        self.firmware.as_ref().map_or(Ok(()), |book| book.sets_out(view, slot))
    }
}
