//! Types of pages that follow from when they were touched: of a page the same from its program, or from when it is read
//! first, until its block is erased.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::DieId;

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// Die, plane, block and page.
type Place = (DieId, usize, u32, u32);

/// The types that pages were given.
#[derive(Debug, Default)]
pub struct PageTypesBook {
    /// Whether the commands of this drive say their type; not known before the first one.
    are_told: Option<bool>,
    of_pages: BTreeMap<Place, u8>,
}

impl PageTypesBook {
    /// A command goes to its die.
    #[inline]
    pub fn issued(&mut self, view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Checked {
        if command.kind == CommandKind::Erase {
            if self.are_told == Some(true) {
                self.erased(view, command);
            }
            return Ok(());
        }
        if view.nand.timing().slc.is_some() {
            // Of such a drive another book knows them.
            return Ok(());
        }
        let is_told = command.page_type.is_some();
        let are_told = *self.are_told.get_or_insert(is_told);
        require!(
            is_told == are_told && (!is_told || view.nand.timing().any_page),
            PageType,
            view.now,
            "die {}: a {:?} says the type {:?} of its pages, of a drive whose commands do: {are_told}",
            command.die,
            command.kind,
            command.page_type
        );
        match command.page_type {
            Some(page_type) => self.is_that_given(view, command, page_type, marks),
            None => Ok(()),
        }
    }

    #[cold]
    fn is_that_given(&mut self, view: &View<'_>, command: &FlashCommand, page_type: u8, marks: &mut Marks) -> Checked {
        for plane in command.addressed_planes() {
            let page = command.page[plane];
            let place = (command.die, plane, command.block[plane], page);
            let given = if command.kind == CommandKind::Program {
                self.of_pages.insert(place, page_type);
                page_type
            } else {
                *self.of_pages.entry(place).or_insert(page_type)
            };
            require!(
                given == page_type && usize::from(page_type) < view.nand.timing().read.len(),
                PageType,
                view.now,
                "die {}, plane {plane}: page {page} of block {} is read as one of type {page_type}, and is of type {given}",
                command.die,
                command.block[plane]
            );
            if usize::from(page_type) != view.nand.page_type(page) {
                marks.hit(Mark::TypeByTurn);
            }
        }
        Ok(())
    }

    #[cold]
    fn erased(&mut self, view: &View<'_>, command: &FlashCommand) {
        for plane in command.addressed_planes() {
            for page in 0..view.ftl.geometry().pages_per_block {
                self.of_pages.remove(&(command.die, plane, command.block[plane], page));
            }
        }
    }
}
