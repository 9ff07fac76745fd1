//! What zones answer, and what a reset forgets.

use ninescope_engine::{Dropped, View};
use ninescope_ftl::ZoneError;
use ninescope_model::{Lpa, ZoneCommand};

use super::Checker;
use crate::rule::Checked;

impl Checker {
    pub(super) fn zone_answered(
        &mut self,
        view: &View<'_>,
        slot: u32,
        what: (ZoneCommand, Lpa, u32),
        answer: Result<Lpa, ZoneError>,
    ) -> Checked {
        let request = self.requests.get(view, slot)?.request;
        let Some(book) = &mut self.zones else { return Ok(()) };
        book.answered(view, (slot, &request), what, answer, &mut self.marks)?;
        self.requests.zone_answered(view, slot, what.0, answer);
        Ok(())
    }

    pub(super) fn zone_dropped(&mut self, view: &View<'_>, dropped: &Dropped) -> Checked {
        if let Some(book) = &mut self.zones {
            book.dropped(view, dropped, &mut self.marks)?;
        }
        if let Some(blame) = &mut self.blame {
            blame.dropped(view, dropped);
        }
        self.groups.dropped(view, dropped)?;
        self.ledger.dropped(dropped.units);
        self.space.dropped(view, dropped);
        Ok(())
    }
}
