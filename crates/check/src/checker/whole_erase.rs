//! The drive is erased as a whole, and commands are aborted meanwhile.

use ninescope_engine::View;
use ninescope_model::DriveErase;

use super::Checker;
use crate::marks::Mark;
use crate::rule::Checked;

impl Checker {
    pub(super) fn whole_erase_began(&mut self, view: &View<'_>, slot: u32, what: DriveErase) -> Checked {
        self.marks.hit(Mark::DriveErased);
        let oldest = self.requests.oldest_inside();
        self.requests.erases_all(view, slot)?;
        self.whole_erase.began(view, (slot, what), oldest, &mut self.groups)
    }

    pub(super) fn command_aborted(&mut self, view: &View<'_>, slot: u32) -> Checked {
        let id = self.requests.get(view, slot)?.id;
        self.requests.aborted(slot);
        self.whole_erase.aborted(view, (slot, id))
    }
}
