//! Blocks that break: what their events mean to the books.

use ninescope_engine::{Event, View};
use ninescope_model::{Lpa, Ppa};

use super::Checker;
use crate::rule::{Checked, Rule};

impl Checker {
    /// An event of a drive whose blocks break.
    #[inline(never)]
    pub(super) fn blocks_break(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(book) = &mut self.bad_blocks else { return Ok(()) };
        book.sees(view, event, &mut self.marks)?;
        match *event {
            Event::UnitWritten { new, .. } | Event::UnitHealed { new, .. } => book.written(view, new),
            Event::Erased { group } => book.erased(view, group),
            Event::PageRewritten { from, to, programmed, moves } => {
                self.page_rewritten(view, (from, to), programmed, moves)
            }
            Event::PageKept { ppa, moves, .. } => {
                self.groups.page_kept(view, ppa, moves);
                self.space.page_kept(view, ppa, matches!(event, Event::PageKept { programmed: false, .. }));
                if let Some(book) = &mut self.firmware {
                    book.page_kept(moves);
                }
                Ok(())
            }
            Event::EraseBroke { group, .. } => {
                self.ledger.erased_groups += 1;
                if let Some(codes) = &mut self.codes {
                    codes.erased(view, group);
                }
                if let Some(book) = &mut self.streams {
                    book.erased();
                }
                if let Some(book) = &mut self.placement {
                    book.retired(group, true);
                }
                self.groups.erased(view.now, group)
            }
            Event::MoveGivenUp { record, lpa, .. } => {
                if let Some(oracle) = &mut self.oracle {
                    oracle.move_dropped(record, lpa);
                }
                self.firmware.as_mut().map_or(Ok(()), |book| book.unit_given_up(view))
            }
            Event::GroupFailed { .. } => {
                if let Some(book) = &mut self.placement {
                    book.group_failed();
                }
                Ok(())
            }
            Event::GroupRetired { group } => {
                if let Some(book) = &mut self.placement {
                    book.retired(group, false);
                }
                Ok(())
            }
            Event::CommandRefused { slot } => {
                self.requests.refused(slot);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn page_rewritten(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa), programmed: bool, moves: u32) -> Checked {
        let units = view.ftl.geometry().units_per_page();
        self.groups.page_rewritten(view, (from, to), programmed, moves)?;
        self.space.page_rewritten(view, (from, to), programmed);
        if let Some(book) = &mut self.placement {
            book.page_rewritten(view, (from, to), programmed);
        }
        if let Some(blame) = &mut self.blame {
            blame.page_rewritten(from, to);
        }
        if let Some(oracle) = &mut self.oracle {
            oracle.page_rewritten(view, from, to);
        }
        for number in 0..units {
            let (old, new) = (Ppa(from.0 + number), Ppa(to.0 + number));
            if !view.ftl.is_valid(new) {
                continue;
            }
            let lpa: Lpa = view.ftl.content(new);
            if let Some(units) = &mut self.units {
                units.changed(view, lpa, old, new)?;
            }
            crate::units::agrees(view, lpa, new)?;
            if view.ftl.is_valid(old) {
                return Err(Rule::Mapping.violated(view.now, format!("unit {lpa} is valid at {old} and at {new}")));
            }
            self.lies_in_its_partition(view, lpa, new)?;
        }
        Ok(())
    }
}
