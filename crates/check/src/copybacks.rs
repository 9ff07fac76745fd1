//! Copyback: whole pages that dies copy within their planes, no more often in a row than may be, and over no channel.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BlockGroup, Ppa, Source};

use crate::blocks::group_of_block;
use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The copies of a drive whose dies make some. Pages are named by their first units.
#[derive(Debug)]
pub struct CopybackBook {
    limit: u16,
    /// Copies in a row that made a page, where there were any.
    in_a_row: BTreeMap<u32, u16>,
    /// Of pages that are to be copies: of which.
    under_way: BTreeMap<u32, u32>,
    /// The page whose units have their turn, and how many had it.
    begun: Option<(u32, u32)>,
    /// Pages copied, and pages that were read to be moved although they had been copied as often as may be.
    copied: u64,
    at_limit: u64,
}

impl CopybackBook {
    pub fn started(limit: u16) -> Option<Self> {
        (limit > 0).then(|| Self {
            limit,
            in_a_row: BTreeMap::new(),
            under_way: BTreeMap::new(),
            begun: None,
            copied: 0,
            at_limit: 0,
        })
    }

    /// A page is to be copied by its die: one that has not been so too often.
    pub fn began(&mut self, view: &View<'_>, from: Ppa) -> Checked {
        let row = self.in_a_row.get(&from.0).copied().unwrap_or(0);
        require!(
            row < self.limit && from == view.ftl.geometry().first_unit_of_page(from),
            Copyback,
            view.now,
            "page {from} is copied by its die, which was made by {row} copies in a row, and {} may be",
            self.limit
        );
        self.begun = Some((from.0, 0));
        Ok(())
    }

    /// A unit of that page got its place: the same one in a page of the same plane.
    pub fn placed(&mut self, view: &View<'_>, from: Ppa, to: Ppa) -> Checked {
        let geometry = view.ftl.geometry();
        let plane = |ppa: Ppa| {
            let place = geometry.locate(ppa);
            let pool = geometry.pool_and_block(place.group).0;
            (geometry.die_of(ppa), geometry.first_plane_of_pool(pool) + place.plane_in_group)
        };
        let page = geometry.first_unit_of_page(to);
        let number = self.begun.filter(|&(first, number)| first + number == from.0).map(|(_, number)| number);
        require!(
            number == Some(to.0 - page.0) && plane(from) == plane(to),
            Copyback,
            view.now,
            "unit {from} of plane {:?} is copied to {to} of plane {:?}, of {:?}",
            plane(from),
            plane(to),
            self.begun
        );
        self.begun = number.map(|number| (from.0 - number, number + 1));
        self.under_way.insert(page.0, from.0 - (to.0 - page.0));
        Ok(())
    }

    /// A command was issued that takes its channel until `sent`: a page that is a copy is copied from where it was to be, and is
    /// programmed by two commands without data; no other is.
    pub fn issued(&self, view: &View<'_>, command: &FlashCommand, sent: Ns) -> Checked {
        if command.kind != CommandKind::Program {
            return Ok(());
        }
        let (geometry, said) = (view.ftl.geometry(), view.nand.copied_from(command.die));
        for plane in command.addressed_planes() {
            let from = self.under_way.get(&page_of(view, command, plane).0).map(|&from| geometry.locate(Ppa(from)));
            let is_said = from.is_some_and(|from| {
                let block = geometry.pool_and_block(from.group).1;
                (block, from.page, 0) == (said.block[plane], said.page, command.bytes[plane])
            });
            require!(
                is_said == command.copies && is_said == from.is_some(),
                Copyback,
                view.now,
                "{command:?} copies {said:?} in plane {plane}, which is to be a copy of {from:?}"
            );
        }
        let commands = Ns(view.nand.timing().command_address.0 * 2 * u64::from(command.plane_count()));
        require!(
            !command.copies || sent == view.now + commands,
            Copyback,
            view.now,
            "{command:?} takes its channel until {sent}, and its commands take {commands}"
        );
        Ok(())
    }

    /// A command ended. Returns the pages that it copied.
    pub fn ended(&mut self, view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Vec<Ppa> {
        let mut sources = Vec::new();
        for plane in command.addressed_planes().filter(|_| command.copies) {
            let page = page_of(view, command, plane);
            let Some(from) = self.under_way.remove(&page.0) else { continue };
            let row = self.in_a_row.get(&from).copied().unwrap_or(0) + 1;
            self.in_a_row.insert(page.0, row);
            self.copied += 1;
            marks.hit(if row > 1 { Mark::CopiedAgain } else { Mark::CopiedBack });
            sources.push(Ppa(from));
        }
        sources
    }

    /// A page is read: garbage collection has those that were copied too often go through the controller.
    pub fn read_queued(&mut self, view: &View<'_>, ppa: Ppa, source: Source, marks: &mut Marks) {
        let page = view.ftl.geometry().first_unit_of_page(ppa).0;
        if source == Source::GarbageCollection && self.in_a_row.get(&page).is_some_and(|&row| row >= self.limit) {
            self.at_limit += 1;
            marks.hit(Mark::CopiedTooOften);
        }
    }

    /// A group is erased: what is written there next is no copy, unless it is said to be.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        let geometry = view.ftl.geometry();
        let first = geometry.first_unit(group).0;
        let pages: Vec<u32> =
            self.in_a_row.range(first..first + geometry.units_per_group()).map(|(&page, _)| page).collect();
        for page in pages {
            self.in_a_row.remove(&page);
        }
    }

    pub fn measuring_began(&mut self) {
        (self.copied, self.at_limit) = (0, 0);
    }

    /// Copies are counted, and pages that were not copied because of the limit are among those that had reached it.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (copied, at_limit) = (view.counters.copybacks, view.counters.copybacks_at_limit);
        require!(
            copied == self.copied && at_limit <= self.at_limit,
            Copyback,
            view.now,
            "{copied} copies are counted and {at_limit} pages at the limit, {} and {} were seen",
            self.copied,
            self.at_limit
        );
        Ok(())
    }
}

/// The page that a program writes in a plane.
fn page_of(view: &View<'_>, command: &FlashCommand, plane: usize) -> Ppa {
    let geometry = view.ftl.geometry();
    let group = group_of_block(geometry, command.die, plane, command.block[plane]);
    let row = command.page[plane] * geometry.frontier_planes + plane as u32 % geometry.frontier_planes;
    Ppa(geometry.first_unit(group).0 + row * geometry.units_per_page())
}
