//! The instant driver: every answer of the FTL is carried out at once.
//!
//! For preparing drives, for write-amplification experiments and for policy tests. There is no time,
//! no buffer and no concurrency; a unit counts as programmed when its group is full.

use std::ops::Range;

use ninescope_model::{BlockGroup, Lpa, Pool, Ppa, Stream};

use crate::config::FtlError;
use crate::ftl::{Ftl, GcStep, Placed};
use crate::policies::Told;

/// Drives an [`Ftl`] without time.
#[derive(Debug)]
pub struct InstantDriver<'a> {
    ftl: &'a mut Ftl,
    /// Whether another copy exists of what is written.
    clean: bool,
    /// Pools that began a group for a request.
    opened: Vec<Pool>,
}

impl<'a> InstantDriver<'a> {
    /// A driver of `ftl`, on which nothing may be outstanding.
    pub fn new(ftl: &'a mut Ftl) -> Self {
        Self { ftl, clean: false, opened: Vec::new() }
    }

    /// The same for data of which another copy exists.
    pub fn of_clean_data(ftl: &'a mut Ftl) -> Self {
        Self { ftl, clean: true, opened: Vec::new() }
    }

    /// The FTL it drives.
    pub fn ftl(&self) -> &Ftl {
        self.ftl
    }

    /// Writes one unit, collecting garbage as needed.
    ///
    /// # Errors
    /// [`FtlError::Full`] when no pool can take it and nothing can be reclaimed.
    #[inline]
    pub fn write(&mut self, lpa: Lpa) -> Result<Placed, FtlError> {
        self.write_told(lpa, Told::default())
    }

    /// The same of a unit of which the host told something.
    ///
    /// # Errors
    /// As [`InstantDriver::write`].
    #[inline]
    pub fn write_told(&mut self, lpa: Lpa, told: Told) -> Result<Placed, FtlError> {
        let placed = self.place(lpa, told)?;
        if placed.opened || self.ftl.block_map().is_some() {
            self.collect(placed.pool);
        }
        Ok(placed)
    }

    /// Writes units in order into a drive that holds nothing, and leaves what [`InstantDriver::write`] of each would, a group
    /// at a time. Returns how many: fewer where pools do not take them in turn any more, none where they never do.
    pub fn fill(&mut self, units: Range<u32>) -> u32 {
        let mut filled = 0;
        if !self.ftl.begin_filling(Lpa(units.start)) {
            return filled;
        }
        loop {
            let round = self.ftl.next_filling(units.end - units.start - filled, self.clean);
            if round == 0 {
                return filled;
            }
            for pool in self.ftl.pools_of_filling(round) {
                self.ftl.open_for_filling(pool, self.clean);
                self.collect(pool);
            }
            for group in self.ftl.fill_opened(round, self.clean) {
                self.ftl.programmed(group, self.ftl.geometry().units_per_group());
            }
            filled += round;
        }
    }

    /// Writes the units of a request, of which the host `told` something. Garbage is collected when all of them have a place, as
    /// on a drive whose buffer takes a request at once: what the request overwrites is garbage by then.
    ///
    /// # Errors
    /// As [`InstantDriver::write`].
    pub fn write_request(&mut self, units: Range<u32>, told: Told) -> Result<(), FtlError> {
        for unit in units {
            let placed = self.place(Lpa(unit), told)?;
            let collects = placed.opened || self.ftl.block_map().is_some();
            if collects && !self.opened.contains(&placed.pool) {
                self.opened.push(placed.pool);
            }
        }
        while let Some(pool) = self.opened.pop() {
            self.collect(pool);
        }
        Ok(())
    }

    /// Gives a unit its place, and collects where there is none.
    #[inline]
    fn place(&mut self, lpa: Lpa, told: Told) -> Result<Placed, FtlError> {
        let clean = self.clean;
        if self.ftl.zones().is_some() {
            return self.place_by(|ftl| ftl.write_in_zone(lpa));
        }
        self.place_by(|ftl| ftl.write_as(lpa, clean, told))
    }

    /// The same of what `write` writes.
    #[inline]
    fn place_by(&mut self, write: impl Fn(&mut Ftl) -> Option<Placed>) -> Result<Placed, FtlError> {
        let placed = match write(self.ftl) {
            Some(placed) => placed,
            None => self.write_after_collecting(write)?,
        };
        if placed.closed || self.ftl.block_map().is_some() {
            self.close(placed.new);
        }
        Ok(placed)
    }

    /// Forgets one unit.
    pub fn trim(&mut self, lpa: Lpa) {
        self.ftl.trim(lpa);
    }

    /// Writes every page of the map that holds an entry, or the `whole` map, in order: what is mapped now is on the media then.
    ///
    /// # Errors
    /// As [`InstantDriver::write`].
    pub fn write_map(&mut self, whole: bool) -> Result<(), FtlError> {
        let entries_of_page = self.ftl.translation_entries();
        for page in 0..self.ftl.translation_units() {
            let entries = page * entries_of_page..((page + 1) * entries_of_page).min(self.ftl.logical_units());
            if whole || entries.into_iter().any(|unit| self.ftl.translate(Lpa(unit)) != Ppa::UNMAPPED) {
                let placed = self.place_by(|ftl| ftl.write_translation(page))?;
                if placed.opened {
                    self.collect(placed.pool);
                }
            }
        }
        Ok(())
    }

    /// Makes the drive quiet: open pages are padded and everything allocated is programmed.
    pub fn settle(&mut self) {
        self.ftl.begin_translation_turn();
        for pool in (0..self.ftl.geometry().pools()).map(Pool) {
            for stream in Stream::of_kinds(self.ftl.kinds()) {
                self.ftl.pad(pool, stream);
            }
        }
        for group in (0..self.ftl.geometry().groups()).map(BlockGroup) {
            self.ftl.programmed(group, self.ftl.group(group).write_pointer);
        }
        self.ftl.prepare_zones();
    }

    #[cold]
    fn write_after_collecting(&mut self, write: impl Fn(&mut Ftl) -> Option<Placed>) -> Result<Placed, FtlError> {
        for pool in 0..self.ftl.geometry().pools() {
            self.collect(Pool(pool));
        }
        write(self.ftl).ok_or_else(|| self.ftl.read_only_pool().map_or(FtlError::Full(Pool(0)), FtlError::ReadOnly))
    }

    fn close(&mut self, last: Ppa) {
        let (group, offset) = self.ftl.geometry().group_and_offset(last);
        self.ftl.programmed(group, offset + 1);
    }

    fn collect(&mut self, pool: Pool) {
        loop {
            match self.ftl.gc_next(pool, false) {
                GcStep::MovePage { first, mask } => self.move_page(pool, first, mask),
                GcStep::Padded(padded) => self.close(padded.last),
                GcStep::Erase(group) => drop(self.ftl.erase_ended(group)),
                GcStep::Retired(_) => {}
                GcStep::Wait | GcStep::Nothing => {
                    self.ftl.gc_rests(pool);
                    return;
                }
            }
        }
    }

    fn move_page(&mut self, pool: Pool, first: Ppa, mut mask: u32) {
        while mask != 0 {
            let from = Ppa(first.0 + mask.trailing_zeros());
            mask &= mask - 1;
            let lpa = self.ftl.content(from);
            // The reserve holds one group, and a victim is at most one group.
            let Some(placed) = self.ftl.place_move(pool, lpa, from) else {
                debug_assert!(false, "the reserve always takes one victim");
                return;
            };
            if placed.closed || self.ftl.block_map().is_some() {
                self.close(placed.new);
            }
            self.ftl.moved(lpa, self.ftl.residence(from), placed.new);
        }
    }
}
