//! What zones answer, and what a reset forgets.

use ninescope_engine::{Dropped, View};
use ninescope_ftl::ZoneError;
use ninescope_model::{Lpa, Op, Ppa, ZoneCommand};

use super::Checker;
use crate::rule::{Checked, Rule};
use crate::units::agrees;

impl Checker {
    pub(super) fn zone_answered(
        &mut self,
        view: &View<'_>,
        slot: u32,
        what: (ZoneCommand, Lpa, u32),
        answer: Result<Lpa, ZoneError>,
    ) -> Checked {
        let request = self.requests.get(view, slot)?.request;
        self.decided_about(view, slot)?;
        let Some(book) = &mut self.zones else { return Ok(()) };
        let into_area = book.answered(view, (slot, &request), what, answer, &mut self.marks)?;
        self.requests.zone_answered(view, slot, what.0, answer);
        let (first, units) = (what.1.0, if into_area { what.2 } else { 0 });
        for lpa in (first..first + units).map(Lpa) {
            self.requests.unit_done(view, slot, lpa, Op::Write)?;
            if let Some(oracle) = &mut self.oracle {
                oracle.written_into_area(slot, self.requests.get(view, slot)?, lpa);
            }
        }
        Ok(())
    }

    /// A unit that was committed got its place.
    pub(super) fn unit_committed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (lpa, new): (Lpa, Ppa),
        is_written: bool,
    ) -> Checked {
        let tenant = self.requests.get(view, slot)?.lane;
        self.decided_about(view, slot)?;
        let Some(book) = &mut self.zones else {
            return Err(Rule::Zones.violated(view.now, format!("unit {lpa} is committed on a drive without zones")));
        };
        let is_finished = book.committed(view, lpa, new, is_written, &mut self.marks)?;
        if let Some(blame) = &mut self.blame {
            blame.unit_written(view, slot, lpa, new);
        }
        self.space.committed(view, new, tenant, is_finished)?;
        if !is_written {
            self.ledger.padding_units += 1;
            return self.groups.hole(view, new);
        }
        self.ledger.host_units += 1;
        agrees(view, lpa, new)?;
        self.groups.written(view, Ppa::UNMAPPED, new)?;
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            units.changed(view, lpa, Ppa::UNMAPPED, new)?;
            oracle.committed(view, lpa, new)?;
        }
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
