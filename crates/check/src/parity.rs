//! Block groups on several dies: which die holds what of a stripe, from the commands alone, and that each whole stripe gets its parity
//! once, where there is any.
//!
//! Which dies these have to be, [`die_sets`](crate::die_sets) works out anew.

use std::collections::BTreeMap;

use ninescope_engine::{Access, View};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BlockGroup, DieId, Source};

use crate::blocks::group_of_block;
use crate::die_sets::{data_dies, parity_die, units_of_stripe};
use crate::groups::Groups;
use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What is known of a drive whose block groups lie on several dies.
#[derive(Debug)]
pub struct ParityBook {
    /// Dies on which pages of a stripe were programmed, by group, page and plane.
    seen: BTreeMap<(BlockGroup, u32, u32), Vec<DieId>>,
    /// By group: pages of parity programmed since its erase.
    parity_pages: Vec<u32>,
    /// By group: dies whose erase began.
    erases: Vec<u32>,
    /// Pages of parity since measuring began, and whole stripes when it did.
    pages: u64,
    stripes_before: u64,
}

impl ParityBook {
    /// Takes over what preparing left; none where each group lies on one die.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let geometry = view.ftl.geometry();
        geometry.parity.map(|_| ()).or(geometry.superblock.map(|_| ()))?;
        let of_group = |group| {
            let stripes = view.ftl.group(group).write_pointer / units_of_stripe(geometry);
            stripes * geometry.frontier_planes
        };
        let groups = (0..geometry.groups()).map(BlockGroup);
        Some(Self {
            seen: BTreeMap::new(),
            parity_pages: groups.map(of_group).collect(),
            erases: vec![0; geometry.groups() as usize],
            pages: 0,
            stripes_before: 0,
        })
    }

    /// A die takes up a command.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        accesses: &[Access],
        (groups, marks): (&Groups, &mut Marks),
    ) -> Checked {
        if command.kind != CommandKind::Program {
            return Ok(());
        }
        let geometry = view.ftl.geometry();
        for (plane, access) in command.addressed_planes().zip(accesses) {
            if access.source == Source::Rebuild {
                // It has been programmed once; what is written again is another book's.
                continue;
            }
            let group = group_of_block(geometry, command.die, plane, command.block[plane]);
            let in_group = plane as u32 % geometry.frontier_planes;
            let is_parity = parity_die(geometry, group) == Some(command.die);
            require!(
                is_parity == (access.source == Source::Parity),
                Parity,
                view.now,
                "die {} programs page {} of group {group} for {:?}, it holds {}",
                command.die,
                command.page[plane],
                access.source,
                if is_parity { "parity" } else { "data" }
            );
            let others = self.seen.entry((group, command.page[plane], in_group)).or_default();
            require!(
                !others.contains(&command.die),
                Parity,
                view.now,
                "die {} has a page already of the stripe of page {} of group {group}",
                command.die,
                command.page[plane]
            );
            others.push(command.die);
            if is_parity {
                marks.hit(Mark::ParityProgrammed);
                self.parity_dispatched(view, (group, command.page[plane]), groups)?;
            } else {
                Self::is_in_its_place(view, (command.die, command.page[plane]), group, access)?;
            }
        }
        Ok(())
    }

    /// A page of data goes to the die and the page that its unit says.
    fn is_in_its_place(view: &View<'_>, (on, page): (DieId, u32), group: BlockGroup, access: &Access) -> Checked {
        let geometry = view.ftl.geometry();
        let in_group = (access.ppa.0 - geometry.first_unit(group).0) / geometry.units_per_page();
        let dies = data_dies(geometry, group);
        let stripe = in_group / (dies.len() as u32 * geometry.frontier_planes);
        let die = dies[(in_group / geometry.frontier_planes) as usize % dies.len()];
        require!(
            die == on && stripe == page,
            Parity,
            view.now,
            "unit {} of group {group} goes to page {} of die {}, it is of page {stripe} of die {die}",
            access.ppa,
            page,
            on
        );
        Ok(())
    }

    /// Parity comes behind all data of its stripe.
    fn parity_dispatched(&mut self, view: &View<'_>, (group, page): (BlockGroup, u32), groups: &Groups) -> Checked {
        let geometry = view.ftl.geometry();
        let handed_out = groups.get(group).write_pointer;
        require!(
            handed_out >= (page + 1) * units_of_stripe(geometry),
            Parity,
            view.now,
            "the parity of page {} of group {group} is programmed, of which {handed_out} units are handed out",
            page
        );
        self.parity_pages[group.index()] += 1;
        self.pages += 1;
        Ok(())
    }

    /// A die begins to erase its blocks of groups.
    pub fn erase_issued(&mut self, view: &View<'_>, command: &FlashCommand) {
        let geometry = view.ftl.geometry();
        for plane in command.addressed_planes().filter(|plane| (*plane as u32).is_multiple_of(geometry.frontier_planes))
        {
            let group = group_of_block(geometry, command.die, plane, command.block[plane]);
            self.erases[group.index()] += 1;
        }
    }

    /// A group is free: all of its dies have erased their blocks, and its stripes are gone.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup, marks: &mut Marks) -> Checked {
        let geometry = view.ftl.geometry();
        let dies = data_dies(geometry, group).len() as u32 + u32::from(geometry.parity.is_some());
        let erases = std::mem::take(&mut self.erases[group.index()]);
        require!(
            erases == dies,
            Parity,
            view.now,
            "group {group} is free, and {erases} of its {dies} dies have erased"
        );
        if geometry.superblock.is_some() {
            marks.hit(Mark::SuperblockErased);
        }
        self.parity_pages[group.index()] = 0;
        self.seen.retain(|(of, ..), _| *of != group);
        Ok(())
    }

    pub fn measuring_began(&mut self, stripes: u64) {
        (self.pages, self.stripes_before) = (0, stripes);
    }

    /// At the end each whole stripe has its parity, and what is counted of it is what was seen.
    pub fn finished(&self, view: &View<'_>, groups: &Groups) -> Checked {
        let geometry = view.ftl.geometry();
        for group in (0..geometry.groups()).map(BlockGroup) {
            let stripes = groups.get(group).write_pointer / units_of_stripe(geometry);
            let (has, wants) = (self.parity_pages[group.index()], stripes * geometry.frontier_planes);
            require!(
                has == wants,
                Parity,
                view.now,
                "group {group} has {has} pages of parity, and {stripes} whole stripes in {} planes",
                geometry.frontier_planes
            );
        }
        let units = (groups.whole_stripes - self.stripes_before) * u64::from(geometry.units_per_stripe());
        let (counted, programmed) = (view.ftl.counters().parity_units, view.counters.parity_page_programs);
        require!(
            counted == units,
            Ledger,
            view.now,
            "ftl.parity_units is {counted}, of {units} the stripes became whole"
        );
        // Some that were begun before measuring end after it, and none is left at the end.
        require!(
            programmed >= self.pages,
            Ledger,
            view.now,
            "engine.parity_page_programs is {programmed}, {} were seen to begin",
            self.pages
        );
        Ok(())
    }
}
