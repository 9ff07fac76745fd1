//! What garbage collection moves: placed, dropped, ended.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa, Source};

use super::Checker;
use crate::marks::Mark;
use crate::reliability::reads::Taker;
use crate::rule::{Checked, require};

impl Checker {
    pub(super) fn move_placed(&mut self, view: &View<'_>, record: u32, lpa: Lpa, (from, to): (Ppa, Ppa)) -> Checked {
        self.move_was_decided(view)?;
        self.coded_move_placed(view, record, lpa, (from, to))?;
        self.move_has_a_place(view, lpa, (from, to))?;
        match &mut self.oracle {
            Some(oracle) => oracle.move_placed(view, record, lpa, to),
            None => Ok(()),
        }
    }

    /// The die of a page is to copy it: that is a reader of its group until the copy is there.
    pub(super) fn copyback_began(&mut self, view: &View<'_>, from: Ppa) -> Checked {
        match &mut self.copybacks {
            Some(book) => book.began(view, from)?,
            None => require!(false, Copyback, view.now, "page {from} is copied on a drive whose dies copy nothing"),
        }
        if let Some(codes) = &mut self.codes {
            codes.read_queued(view, from, Source::GarbageCollection)?;
        }
        self.groups.read_queued(view, from)
    }

    /// A unit of such a page got a place. It holds what was there, good or not.
    pub(super) fn move_copied(&mut self, view: &View<'_>, lpa: Lpa, (from, to): (Ppa, Ppa)) -> Checked {
        if let Some(book) = &mut self.copybacks {
            book.placed(view, from, to)?;
        }
        if let Some(clean) = &self.clean {
            clean.moved(view, lpa, to)?;
        }
        if let Some(codes) = &mut self.codes {
            codes.unit_changes_group(view, (from, to));
        }
        self.move_has_a_place(view, lpa, (from, to))?;
        match &mut self.oracle {
            Some(oracle) => oracle.move_copied(view, lpa, (from, to)),
            None => Ok(()),
        }
    }

    fn move_has_a_place(&mut self, view: &View<'_>, lpa: Lpa, (from, to): (Ppa, Ppa)) -> Checked {
        self.ledger.move_units += 1;
        self.groups.move_placed(view, to)?;
        self.lies_in_its_partition(view, lpa, to)?;
        self.space.move_unit(view, to);
        if let Some(book) = &mut self.trims
            && book.moved(lpa)
        {
            self.marks.hit(Mark::MovedTrimmed);
        }
        if let Some(book) = &mut self.block_map {
            book.moved(view, lpa, to, &mut self.marks)?;
        }
        if let Some(book) = &mut self.slc_cache {
            book.moved(view, (from, to), &mut self.marks)?;
        }
        if let Some(book) = &mut self.streams {
            book.moved(view, lpa, (from, to), &mut self.marks)?;
        }
        if let Some(book) = &mut self.placement {
            book.moved(view, lpa, to, &mut self.marks)?;
        }
        Ok(())
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
