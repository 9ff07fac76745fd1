//! What garbage collection moves: placed, dropped, ended.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa, Source};

use super::Checker;
use crate::marks::Mark;
use crate::reliability::reads::Taker;
use crate::rule::{Checked, require};

impl Checker {
    pub(super) fn move_placed(&mut self, view: &View<'_>, record: u32, lpa: Lpa, (from, to): (Ppa, Ppa)) -> Checked {
        self.ledger.move_units += 1;
        self.move_was_decided(view)?;
        self.groups.move_placed(view, to)?;
        self.lies_in_its_partition(view, lpa, to)?;
        self.space.move_unit(view, to);
        if let Some(book) = &mut self.trims
            && book.moved(lpa)
        {
            self.marks.hit(Mark::MovedTrimmed);
        }
        self.coded_move_placed(view, record, lpa, (from, to))?;
        if let Some(book) = &mut self.streams {
            book.moved(view, lpa, (from, to), &mut self.marks)?;
        }
        if let Some(book) = &mut self.placement {
            book.moved(view, lpa, to, &mut self.marks)?;
        }
        match &mut self.oracle {
            Some(oracle) => oracle.move_placed(view, record, lpa, to),
            None => Ok(()),
        }
    }

    pub(super) fn move_dropped(&mut self, view: &View<'_>, record: u32, lpa: Lpa) -> Checked {
        self.ledger.moves_dropped_after_read += 1;
        self.move_was_decided(view)?;
        if let Some(oracle) = &mut self.oracle {
            oracle.move_dropped(record, lpa);
        }
        match &mut self.codes {
            Some(codes) => codes.reads.taken(view, Taker::Move(record)).map(drop),
            None => Ok(()),
        }
    }

    pub(super) fn move_ended(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa, to: Ppa, current: bool) -> Checked {
        if current {
            self.unit_moved(view, lpa, Source::GarbageCollection);
            self.ledger.moves_completed += 1;
            // What the place holds was compared when the move was placed, or is by the walk at the end.
            let mapped = view.ftl.translate(lpa);
            require!(mapped == to, Mapping, view.now, "unit {lpa} moved to {to}, the map says {mapped}");
        } else {
            self.ledger.moves_dropped_after_program += 1;
            // The same place may hold newer content by now: its group was erased and filled again meanwhile.
            let lies_there = view.ftl.translate(lpa) == from;
            let needed = lies_there && self.oracle.as_ref().is_some_and(|oracle| oracle.hold_the_same(from, to));
            require!(!needed, LostData, view.now, "the move of unit {lpa} from {from} is dropped, it lies there");
        }
        self.groups.move_ended(view, from, to, current)?;
        if let Some(codes) = self.codes.as_mut().filter(|_| current) {
            codes.left(from);
        }
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            if current {
                units.changed(view, lpa, from, to)?;
            }
            oracle.move_over(lpa);
        }
        Ok(())
    }
}
