//! Garbage collection in time: page reads, moves, programs, erases of each pool.

use ninescope_ftl::{GcStep, Residence};
use ninescope_kernel::NONE;
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::transaction::{Transaction, UnitChain, UnitRecord};

/// What a pool's garbage collection has under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct GcJob {
    /// Page reads queued or running, their data not yet placed.
    reads: u32,
    /// Page programs queued or running.
    programs: u32,
    /// A victim waits for moves that wait in an open page: fill it from the next victim.
    fill: bool,
}

impl GcJob {
    /// A page of moves went to its die.
    pub fn program_queued(&mut self) {
        self.programs += 1;
        self.fill = false;
    }
}

impl<K: Kind> Device<K> {
    /// Lets the pool of a unit that became invalid reconsider: it may be worth collecting now.
    #[inline]
    pub(crate) fn touch_gc_of(&mut self, ppa: Ppa) {
        let group = self.geometry.group_and_offset(ppa).0;
        self.gc_touched.set(self.geometry.pool_and_block(group).0.index());
    }

    /// Carries out what the FTL wants done in a pool, as far as the bound on pages in flight allows.
    pub(crate) fn pump_gc(&mut self, pool_index: u32) -> Result<(), SimulationError> {
        let pool = Pool(pool_index);
        loop {
            let job = self.gc_jobs[pool.index()];
            // What fills an open page is moved page by page, so that no more is moved than the page takes.
            if job.reads + job.programs >= self.gc_pages_max || (job.fill && job.reads > 0) {
                return Ok(());
            }
            match self.ftl.gc_next(pool, job.fill) {
                GcStep::MovePage { first, mask } => {
                    self.queue_gc_read(pool, first, mask)?;
                }
                GcStep::Erase(group) => self.queue_erase(group),
                GcStep::Nothing => return self.gc_found_nothing(pool, job),
                GcStep::Wait if job.reads + job.programs > 0 => return Ok(()),
                GcStep::Wait if self.ftl.refresh_waits(pool) => return self.send_open_moves(pool),
                // Nothing is under way: what the victim waits for lies in an open page. It may lie there until
                // somebody waits for the victim: filling the page moves units that nothing is gained by.
                GcStep::Wait if !self.ftl.gc_is_urgent(pool) => return Ok(()),
                // Host writes wait although there is space. An open page of clean moves would have to be padded, and padding
                // could take more than the victims give, time and again.
                GcStep::Wait if self.ftl.knows_clean() && !self.ftl.lacks_space(pool) => {
                    return self.gc_found_nothing(pool, job);
                }
                // An open page of clean moves is not filled, as what is moved to fill a page goes with dirty data.
                GcStep::Wait if self.ftl.knows_clean() && self.pad_and_send(pool, Stream::GC_CLEAN)? => return Ok(()),
                GcStep::Wait if !job.fill => self.gc_jobs[pool.index()].fill = true,
                GcStep::Wait => {
                    // No victim is left to fill it from.
                    self.gc_jobs[pool.index()].fill = false;
                    return self.send_open_moves(pool);
                }
            }
        }
    }

    /// Where nothing is under way either, host writes that the trigger has wait for garbage collection go on.
    fn gc_found_nothing(&mut self, pool: Pool, job: GcJob) -> Result<(), SimulationError> {
        if job.reads + job.programs == 0 && self.ftl.gc_rests(pool) {
            self.retry_stalled = !self.stalled.is_empty();
            observe!(self, Event::HostReleased { pool });
        }
        Ok(())
    }

    /// Pads the open pages of moves and sends them to their die.
    fn send_open_moves(&mut self, pool: Pool) -> Result<(), SimulationError> {
        self.pad_and_send(pool, Stream::GC)?;
        if self.ftl.knows_clean() {
            self.pad_and_send(pool, Stream::GC_CLEAN)?;
        }
        Ok(())
    }

    /// One read for all units that are moved from a page.
    fn queue_gc_read(&mut self, pool: Pool, first: Ppa, mut mask: u32) -> Result<(), SimulationError> {
        let units = mask.count_ones() as u8;
        let ppa = Ppa(first.0 + mask.trailing_zeros());
        let mut chain = UnitChain::default();
        while mask != 0 {
            let from = Ppa(first.0 + mask.trailing_zeros());
            mask &= mask - 1;
            let (lpa, taken_from) = (self.ftl.content(from), self.ftl.residence(from));
            let index = self.transactions.units.insert(UnitRecord { lpa, taken_from, ..UnitRecord::default() });
            chain.push(&mut self.transactions.units, index);
        }
        self.counters.gc_page_reads += 1;
        self.gc_jobs[pool.index()].reads += 1;
        self.queue_read(Transaction::move_read(ppa, units, chain.head))
    }

    /// The units of a page are in the controller: those that are still current get their new place.
    pub(crate) fn gc_page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let access = self.transactions.slab[transaction];
        let (ppa, records) = (access.ppa(), access.records());
        self.transactions.slab.remove(transaction);
        let group = self.geometry.group_and_offset(ppa).0;
        let pool = self.geometry.pool_and_block(group).0;
        self.gc_jobs[pool.index()].reads -= 1;
        let (mut unit, mut number) = (records, 0);
        while unit != NONE {
            let record = self.transactions.units[unit];
            if self.ftl.move_is_current(record.lpa, record.taken_from) {
                if self.reliability.is_some() {
                    self.move_harms(transaction, number, record.lpa)?;
                }
                self.place_move(pool, unit, record)?;
            } else {
                self.transactions.units.remove(unit);
                observe!(self, Event::MoveDropped { record: unit, lpa: record.lpa, from: record.taken_from.place });
            }
            unit = record.next;
            number += 1;
        }
        self.gc_touched.set(pool.index());
        Ok(())
    }

    fn place_move(&mut self, pool: Pool, unit: u32, record: UnitRecord) -> Result<(), SimulationError> {
        let placed = self
            .ftl
            .place_move(pool, record.lpa, record.taken_from.place)
            .ok_or(SimulationError::Ftl(ninescope_ftl::FtlError::Full(pool)))?;
        let UnitRecord { lpa, taken_from: Residence { place: from, .. }, .. } = record;
        observe!(self, Event::MovePlaced { record: unit, lpa, from, to: placed.new });
        if self.reliability.is_some() {
            self.count_move(from, placed.new);
        }
        let stripe = &mut self.stripes[Self::stripe_index(pool, placed.stream)];
        stripe.open.push(&mut self.transactions.units, unit);
        if placed.page_complete {
            self.page_filled(pool, placed.stream, (placed.new, placed.new), placed.stripe_complete);
        }
        Ok(())
    }

    /// A page of moves is on the media: the map changes where it still points at the source.
    pub(crate) fn finish_moves(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let access = self.transactions.slab[transaction];
        let (ppa, records) = (access.ppa(), access.records());
        let group = self.geometry.group_and_offset(ppa).0;
        let pool = self.geometry.pool_and_block(group).0;
        let (mut unit, mut to) = (records, ppa);
        while unit != NONE {
            let record = self.transactions.units[unit];
            self.transactions.units.remove(unit);
            let current = self.ftl.moved(record.lpa, record.taken_from, to);
            observe!(self, Event::MoveEnded { lpa: record.lpa, from: record.taken_from.place, to, current });
            to.0 += 1;
            unit = record.next;
        }
        self.gc_jobs[pool.index()].programs -= 1;
        self.gc_touched.set(pool.index());
        Ok(())
    }

    // ---- erases ------------------------------------------------------------------------------------

    /// Queues the erase of a group as soon as no read is queued on it.
    fn queue_erase(&mut self, group: BlockGroup) {
        if self.ftl.group(group).readers > 0 {
            self.counters.erases_delayed_by_readers += 1;
            self.erases_waiting.push(group.0);
            return;
        }
        let pool = self.geometry.pool_and_block(group).0;
        let ppa = self.geometry.first_unit(group);
        self.enqueue(self.geometry.die_of_pool(pool), Transaction::erase(ppa));
    }

    /// The last read queued on a group ended: an erase that waited for it can go.
    #[inline]
    pub(crate) fn last_reader_left(&mut self, group: BlockGroup) {
        if self.erases_waiting.is_empty() {
            return;
        }
        if let Some(position) = self.erases_waiting.iter().position(|&waiting| waiting == group.0) {
            self.erases_waiting.swap_remove(position);
            self.queue_erase(group);
        }
    }

    /// The erase of a group ended: it is free.
    pub(crate) fn group_erased(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let group = self.geometry.group_and_offset(self.transactions.slab[transaction].ppa()).0;
        self.transactions.slab.remove(transaction);
        self.ftl.erased(group);
        self.counters.group_erases += 1;
        let pool = self.geometry.pool_and_block(group).0;
        self.gc_touched.set(pool.index());
        self.retry_stalled = !self.stalled.is_empty();
        observe!(self, Event::Erased { group });
        Ok(())
    }
}
