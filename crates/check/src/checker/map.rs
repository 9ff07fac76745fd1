//! Events of a map that lies in flash.

use ninescope_engine::mapping::CacheChange;
use ninescope_engine::meter::Parts;
use ninescope_engine::{Event, View};
use ninescope_model::{Cause, Lpa, Ppa, Source};

use super::Checker;
use crate::marks::Mark;
use crate::reliability::reads::Taker;
use crate::rule::{Checked, Rule};
use crate::units::agrees;

impl Checker {
    pub(super) fn map_event(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(book) = &mut self.map else { return Ok(()) };
        match *event {
            Event::EntryLookedUp { slot, lpa, hit, goes_on } => {
                if let Some(holders) = self.map_holders.as_mut().filter(|_| !hit) {
                    holders.missed(view.now, slot, lpa, goes_on);
                }
                book.looked_up(view, slot, lpa, (hit, goes_on), &mut self.marks)
            }
            Event::MapPageFetched { page } => {
                if let Some(blame) = &mut self.blame {
                    blame.map_page_fetched(view.now, page);
                }
                if let Some(holders) = &mut self.map_holders {
                    holders.comes(view.now, page);
                }
                Ok(())
            }
            Event::MapPageRebuilt { page } => {
                if let Some(holders) = &mut self.map_holders {
                    holders.is_to_be_written(view.now, page);
                }
                Ok(())
            }
            Event::MapPageAsked { page } => {
                if let Some(holders) = &mut self.map_holders {
                    holders.comes(view.now, page);
                }
                book.page_asked(view, page, &mut self.marks)
            }
            Event::MapPageCrosses { page, bytes, from, until } => {
                if from > view.now {
                    self.marks.hit(Mark::MapBehindData);
                }
                book.page_crosses(view, page, bytes, until)?;
                self.transfers.map_link_in(view, page, from, until)
            }
            Event::MapPageArrived { page } => {
                book.page_arrived(view, page)?;
                if let (Some(holders), Some(blame)) = (&mut self.map_holders, &mut self.blame) {
                    holders.arrived(view.now, page, &blame.take_map_read(page));
                }
                self.map_page_used(view, page, true)
            }
            Event::MapCacheChanged { change } => {
                if let (Some(holders), CacheChange::Left { first, dirty: true }) = (&mut self.map_holders, change) {
                    holders.leaves_memory(view.now, first);
                }
                book.changed(view, change, &mut self.marks)
            }
            Event::MapPageWritten { page, old, new } => self.map_page_written(view, page, (old, new)),
            Event::MapPageSensed { page, ppa, for_commands } => self.map_page_sensed(view, page, ppa, for_commands),
            Event::MapPageLost { page, for_commands } => {
                book.page_lost(page, for_commands, &mut self.marks);
                match &mut self.codes {
                    Some(codes) => codes.map_page_lost(view, view.ftl.translation_unit(page)),
                    None => {
                        Err(Rule::MapLost.violated(view.now, format!("page {page} of the map, which no code guards")))
                    }
                }
            }
            _ => Ok(()),
        }
    }

    fn map_page_sensed(&mut self, view: &View<'_>, page: u32, place: Ppa, for_commands: bool) -> Checked {
        let lpa = view.ftl.translation_unit(page);
        self.coded_unit_sensed(view, place, lpa, Taker::Map(page, for_commands));
        match &self.oracle {
            Some(oracle) => oracle.map_page_sensed(view, lpa, place),
            None => Ok(()),
        }
    }

    /// Commands know what a page of the map says, or it is written anew: where it was read for that it is decoded and good.
    fn map_page_used(&mut self, view: &View<'_>, page: u32, for_commands: bool) -> Checked {
        match &mut self.codes {
            Some(codes) => codes.reads.map_page_taken(view, page, for_commands),
            None => Ok(()),
        }
    }

    fn map_page_written(&mut self, view: &View<'_>, page: u32, (old, new): (Ppa, Ppa)) -> Checked {
        self.map_page_used(view, page, false)?;
        if let Some(book) = &mut self.map {
            book.page_written(view, page, new)?;
        }
        let holder = self.map_holders.as_mut().map(|holders| holders.page_written(view.now, page));
        if let (Some(blame), Some(holder)) = (&mut self.blame, holder) {
            blame.page_placed(view, new, holder);
        }
        let lpa = view.ftl.translation_unit(page);
        self.ledger.map_units += 1;
        agrees(view, lpa, new)?;
        if let Some(book) = &mut self.partitions {
            book.map_page_written(view, lpa, new)?;
            self.marks.hit(Mark::MapPageApart);
        }
        self.host_unit_placed(view, (old, new), None)?;
        if let (Some(units), Some(oracle)) = (&mut self.units, &mut self.oracle) {
            units.changed(view, lpa, old, new)?;
            oracle.map_page_written(lpa, new);
        }
        Ok(())
    }

    /// A command reads or writes a unit: it knows where that lies.
    pub(super) fn unit_is_mapped(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        self.namespaces.uses(view, slot, lpa)?;
        match &mut self.map {
            Some(book) => book.uses(view, slot, lpa),
            None => Ok(()),
        }
    }

    /// A command of a tenant is about to change where a unit lies.
    pub(super) fn map_is_changed_by(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        if let Some(holders) = &mut self.map_holders {
            holders.changed(lpa, self.requests.get(view, slot)?.lane);
        }
        Ok(())
    }

    /// A unit lies elsewhere, or nowhere.
    pub(super) fn unit_moved(&mut self, view: &View<'_>, lpa: Lpa, by: Source) {
        if let Some(book) = &mut self.map {
            let is_outside = book.moved(lpa);
            if let Some(holders) = self.map_holders.as_mut().filter(|_| is_outside) {
                holders.leaves_memory(view.now, lpa);
            }
            if by == Source::GarbageCollection && view.ftl.is_translation(lpa) {
                self.marks.hit(Mark::MapPageMoved);
            }
        }
    }

    pub(super) fn map_wait_is(&self, view: &View<'_>, slot: u32, parts: &Parts) -> Checked {
        match &self.map {
            Some(book) => book.completed(view, slot, parts.of(Cause::MappingRead)),
            None => Ok(()),
        }
    }
}
