//! Programs that fail: what they were to write is written elsewhere. A drive that has no more blocks for that answers writes with
//! an error.

use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BlockGroup, Cause, DieId, Lpa, Pool, Source};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::flash::WriteEntry;
use crate::probe::{Event, observe};
use crate::transaction::UnitRecord;

impl<K: Kind> Device<K> {
    /// Draws which programs of a command failed. Returns the planes whose pages are to be programmed again: those, and what lies
    /// behind them in the stripe of their group.
    #[inline(never)]
    pub(super) fn draw_failures(&mut self, command: &FlashCommand) -> Result<u8, SimulationError> {
        let mut again = 0;
        let mut groups = [None; 4];
        for plane in command.addressed_planes() {
            let ppa = self.run.transactions.slab[command.transaction[plane]].ppa();
            let group = self.flash.group_of(ppa);
            let failed = self.flash.program_failed(ppa);
            if failed {
                observe!(self, Event::ProgramFailed { ppa });
                groups[plane] = Some(group);
            }
            if groups.contains(&Some(group)) {
                again |= 1 << plane;
            }
        }
        Ok(again)
    }

    /// Pages of a command that ended, in these planes, are programmed again, with all that waits to be programmed behind them.
    #[cold]
    pub(super) fn program_again(
        &mut self,
        die: DieId,
        command: &FlashCommand,
        planes: u8,
    ) -> Result<(), SimulationError> {
        let of_plane = |plane: usize| command.transaction[plane];
        let mut left = planes;
        while left != 0 {
            let first = self.run.transactions.slab[of_plane(left.trailing_zeros() as usize)];
            let group = self.flash.group_of(first.ppa());
            let stream = self.flash.ftl().stream_of(first.ppa());
            let pool = self.flash.pool_of(first.ppa());
            let mut pages = Vec::new();
            for plane in command.addressed_planes() {
                let ppa = self.run.transactions.slab[of_plane(plane)].ppa();
                if left >> plane & 1 == 1 && self.flash.group_of(ppa) == group {
                    self.flash.page_used_up(ppa);
                    pages.push((of_plane(plane), true));
                    left &= !(1 << plane);
                }
            }
            // What lies in its open page goes to the die, from where it is taken with the rest.
            if self.flash.ftl().frontier(pool, stream) == Some(group) {
                self.pad_and_send(pool, stream)?;
            }
            let queued = self.flash.take_queued_programs(&mut self.run, group, first.class);
            pages.extend(queued.into_iter().map(|index| (index, false)));
            self.flash.group_failed(group);
            self.pages_go_elsewhere(die, group, &pages)?;
        }
        self.tell_read_only()
    }

    fn pages_go_elsewhere(
        &mut self,
        die: DieId,
        group: BlockGroup,
        pages: &[(u32, bool)],
    ) -> Result<(), SimulationError> {
        let first = self.run.transactions.slab[pages[0].0].ppa();
        let (pool, stream) = (self.flash.pool_of(first), self.flash.ftl().stream_of(first));
        // They come behind what the next group of the stream holds.
        if self.flash.ftl().frontier(pool, stream).is_some() {
            self.pad_and_send(pool, stream)?;
        }
        let mut all = true;
        for &(index, programmed) in pages {
            let from = self.run.transactions.slab[index].ppa();
            let moves = if stream.is_of_moves() { self.run.transactions.records_of(index) } else { 0 };
            // What comes behind a page that stays where it is stays as well.
            let place = if all { self.flash.program_again(&mut self.run, index, stream, programmed) } else { None };
            if let Some(rewritten) = place {
                let to = rewritten.to;
                observe!(self, Event::PageRewritten { from, to, programmed, moves });
            } else {
                all = false;
                self.keep_page(die, index, programmed, moves)?;
            }
        }
        if all {
            self.flash.empty_failed(group);
            observe!(self, Event::GroupFailed { group });
        }
        Ok(())
    }

    /// A page has no place any more: who waits for it is answered with an error.
    fn keep_page(&mut self, die: DieId, index: u32, programmed: bool, moves: u32) -> Result<(), SimulationError> {
        let access = self.run.transactions.slab[index];
        let ppa = access.ppa();
        self.flash.keep_page(&mut self.run, ppa, moves);
        observe!(self, Event::PageKept { ppa, programmed, moves });
        let mut unit = access.records();
        if self.flash.ftl().stream_of(ppa).is_of_moves() {
            while unit != NONE {
                let record = self.run.transactions.units[unit];
                self.run.transactions.units.remove(unit);
                let (lpa, from) = (record.lpa, record.taken_from.place);
                observe!(self, Event::MoveGivenUp { record: unit, lpa, from });
                unit = record.next;
            }
            self.flash.move_program_ended(self.flash.pool_of(ppa));
        } else {
            self.flash.unbuffer_page(die);
            if self.run.transactions.tenants.is_some() {
                self.flash.unbuffered_for(&mut self.run, index);
            }
            for flush in self.flash.waiting_flushes() {
                self.refuse(flush)?;
            }
            let begun = self.run.queued_first(index);
            while unit != NONE {
                let record = self.run.transactions.units[unit];
                self.run.transactions.units.remove(unit);
                self.host_unit_kept(&record, begun)?;
                unit = record.next;
            }
            if access.source != Source::Mapping {
                self.flush_program_ended(access.flush_epoch())?;
            }
        }
        self.run.transactions.drop_failing(index);
        self.run.transactions.slab.remove(index);
        Ok(())
    }

    /// A unit of a command that waits for its program, queued first at `begun`, stays in the controller.
    fn host_unit_kept(&mut self, record: &UnitRecord, begun: Ns) -> Result<(), SimulationError> {
        if record.parent == NONE {
            return Ok(());
        }
        self.refuse(record.parent)?;
        let mut parts = self.run.transactions.take_merge(record.merge);
        let stalled = begun - self.host.command(record.parent).mark - Ns(parts.total());
        parts.add(record.stall_cause, stalled);
        self.unit_stalled(record, (begun - stalled, begun));
        parts.add(Cause::ProgramFailure, self.run.now - begun);
        self.finish_part(record.parent, &mut parts, NONE)
    }

    // ---- a drive that takes no more writes ---------------------------------------------------------

    /// Tells the probe, and those who wait, that the drive takes no more writes, the first time that it is so.
    pub(super) fn tell_read_only(&mut self) -> Result<(), SimulationError> {
        if let Some(pool) = self.flash.newly_read_only() {
            observe!(self, Event::ReadOnlyBegan { pool });
        }
        Ok(())
    }

    /// A command answers with an error.
    pub(super) fn refuse(&mut self, slot: u32) -> Result<(), SimulationError> {
        if !self.host.command(slot).reported {
            self.host.report(slot);
            self.run.counters.refused_commands += 1;
            observe!(self, Event::CommandRefused { slot });
        }
        Ok(())
    }

    /// Units of an entry will never be placed.
    #[cold]
    pub(super) fn entry_refused(&mut self, entry: &WriteEntry) -> Result<(), SimulationError> {
        if entry.source != Source::Host {
            return self.heal_refused(entry);
        }
        self.refuse(entry.command)?;
        observe!(self, Event::UnitRefused { slot: entry.command, lpa: Lpa(entry.next) });
        let mut parts = self.parts_before_placing(entry);
        if entry.at_program {
            // Each unit is a part: those that have their places end with their programs.
            if self.flash.completes_at_program() {
                self.send_partial_pages()?;
            } else {
                self.send_awaited_pages()?;
            }
            for _ in entry.next + 1..entry.end {
                self.host.part_ends(entry.command);
            }
        }
        self.finish_part(entry.command, &mut parts, NONE)
    }

    // ---- garbage collection ------------------------------------------------------------------------

    /// A group of which a program failed is empty and retired.
    pub(super) fn group_retired(&mut self, group: BlockGroup) -> Result<(), SimulationError> {
        observe!(self, Event::GroupRetired { group });
        self.tell_read_only()
    }

    /// A unit that is moved finds no place: it stays where it is, and the drive takes no more writes.
    #[cold]
    pub(super) fn move_finds_no_place(
        &mut self,
        pool: Pool,
        unit: u32,
        record: &UnitRecord,
    ) -> Result<(), SimulationError> {
        if !self.flash.blocks_break() {
            return Err(SimulationError::Ftl(ninescope_ftl::FtlError::Full(pool)));
        }
        self.flash.give_move_up(pool, record);
        self.run.transactions.units.remove(unit);
        observe!(self, Event::MoveGivenUp { record: unit, lpa: record.lpa, from: record.taken_from.place });
        self.tell_read_only()
    }
}
