//! Copyback: a page that garbage collection moves within its plane is sensed and programmed by its die, and crosses no channel.
//!
//! Nothing decodes such a page, so that its raw errors go along, and those of the next reading come on top: after so many copybacks in
//! a row it goes through the controller, as all pages do that are put together anew.

use ninescope_ftl::Ftl;
use ninescope_kernel::{NONE, Slab, WakeQueue};
use ninescope_media::nand::{FlashCommand, Nand};
use ninescope_model::{BlockGroup, Geometry, Pool, Ppa, Stream};

use super::Flash;
use crate::run::Run;
use crate::transaction::{Transaction, UnitChain, UnitRecord};

/// How often each page was copied.
#[derive(Debug)]
pub(super) struct Copybacks {
    /// So often in a row [count].
    limit: u16,
    /// By page: copybacks since what it holds last left the controller. What a prepared drive holds has just left it.
    in_a_row: Vec<u16>,
}

impl Copybacks {
    /// None yet; nothing where there are never to be any.
    pub fn new(limit: u16, ftl: &Ftl) -> Option<Box<Self>> {
        let geometry = ftl.geometry();
        let pages = (geometry.units() / geometry.units_per_page()) as usize;
        (limit > 0).then(|| Box::new(Self { limit, in_a_row: vec![0; pages] }))
    }
}

fn page_number(geometry: &Geometry, ppa: Ppa) -> usize {
    (ppa.0 / geometry.units_per_page()) as usize
}

/// The page that a program copies from, in its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    block: u32,
    page: u32,
}

impl Copied {
    /// Whether two programs may run side by side: what they copy has to be read by one command, and data from the channel are no
    /// copies.
    pub fn fit(one: Option<Self>, other: Option<Self>, any_block: bool) -> bool {
        match (one, other) {
            (None, None) => true,
            (Some(one), Some(other)) => one.page == other.page && (any_block || one.block == other.block),
            _ => false,
        }
    }

    /// The program is the part of a command in that plane: nothing of it crosses the channel.
    pub fn join(self, command: &mut FlashCommand, plane: u32, nand: &mut Nand) {
        (command.copies, command.bytes[plane as usize]) = (true, 0);
        nand.copies_from(command.die, plane, (self.block, self.page));
    }
}

/// What a program of moves copies, if it does.
pub(super) fn copied_from(units: &Slab<UnitRecord>, geometry: &Geometry, access: &Transaction) -> Option<Copied> {
    let place = geometry.locate(first_copied(units, access)?);
    Some(Copied { block: geometry.pool_and_block(place.group).1, page: place.page })
}

/// The first unit of that.
fn first_copied(units: &Slab<UnitRecord>, access: &Transaction) -> Option<Ppa> {
    if access.records() == NONE {
        return None;
    }
    let record = &units[access.records()];
    record.is_copied.then_some(record.taken_from.place)
}

impl Flash {
    /// How often in a row dies copy a page by themselves [count]; 0: never.
    pub fn copyback_limit(&self) -> u16 {
        self.copybacks.as_ref().map_or(0, |copybacks| copybacks.limit)
    }

    /// Whether the die copies the page that begins at `first`, of which these units are moved next.
    #[inline]
    pub(super) fn is_copied_back<Q>(&self, run: &mut Run<Q>, pool: Pool, first: Ppa, mask: u32) -> bool {
        self.copybacks.as_ref().is_some_and(|copybacks| {
            let is_whole = mask.count_ones() == self.geometry.units_per_page();
            if !is_whole || !self.ftl.copies_page_as_it_is(pool, first) {
                return false;
            }
            let may_be = copybacks.in_a_row[page_number(&self.geometry, first)] < copybacks.limit;
            run.counters.copybacks_at_limit += u64::from(!may_be);
            may_be
        })
    }

    /// The units of a page that its die is to copy, each to be given its place. Its group is read until the copy is there.
    pub fn begin_copyback<Q>(&mut self, run: &mut Run<Q>, first: Ppa) -> UnitChain {
        let mut chain = UnitChain::default();
        let kind = self.ftl.kind_of_moves_from(self.group_of(first)) as u8;
        for unit in first.0..first.0 + self.geometry.units_per_page() {
            let (lpa, taken_from) = (self.ftl.content(Ppa(unit)), self.ftl.residence(Ppa(unit)));
            let record = UnitRecord { lpa, taken_from, kind, is_copied: true, ..UnitRecord::default() };
            let index = run.transactions.units.insert(record);
            chain.push(&mut run.transactions.units, index);
        }
        chain
    }

    /// The erase of a group waits for who reads it: copies of its pages that wait for the rest of their stripe go to their die.
    #[inline]
    pub fn send_copies_of<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, group: BlockGroup) {
        if self.copybacks.is_some() && self.ftl.group(group).readers > 0 {
            (0..self.ftl.kinds()).for_each(|kind| self.send_filled_moves(run, pool, Stream::of_moves(kind)));
        }
    }

    /// Whole pages of a stripe that is not full go to their die; an open page stays.
    #[cold]
    fn send_filled_moves<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, stream: Stream) {
        let Some(last) = self.ftl.last_allocated(pool, stream) else { return };
        let (group, offset) = self.geometry.group_and_offset(last);
        let units = self.geometry.units_per_page();
        let filled = (offset + 1) / units * units;
        if filled.is_multiple_of(self.geometry.units_per_stripe()) {
            return;
        }
        let last = Ppa(self.geometry.first_unit(group).0 + filled - 1);
        let plane = self.geometry.locate(last).plane_in_group;
        if plane >= self.programs.stripe(pool, stream).first_page {
            self.send_pages(run, pool, stream, last, plane);
        }
    }

    /// The copy of a page is on the media. Returns from where to where it was copied.
    pub fn copyback_ended<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) -> Option<(Ppa, Ppa)> {
        let access = run.transactions.slab[index];
        let (from, to) = (first_copied(&run.transactions.units, &access)?, access.ppa());
        let copybacks = self.copybacks.as_mut()?;
        let before = copybacks.in_a_row[page_number(&self.geometry, from)];
        copybacks.in_a_row[page_number(&self.geometry, to)] = before + 1;
        run.counters.copybacks += 1;
        let group = self.group_of(from);
        if self.ftl.read_ended(group) {
            self.last_reader_left(run, group);
        }
        Some((from, to))
    }

    /// A group is erased: what is written there next comes from the controller, unless it is a copy.
    pub(super) fn forget_copybacks(&mut self, group: BlockGroup) {
        if let Some(copybacks) = &mut self.copybacks {
            let first = page_number(&self.geometry, self.geometry.first_unit(group));
            let pages = (self.geometry.units_per_group() / self.geometry.units_per_page()) as usize;
            copybacks.in_a_row[first..first + pages].fill(0);
        }
    }
}
