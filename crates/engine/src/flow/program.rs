//! Programs: pages of a frontier go to their die when their stripe is full, or earlier where something
//! sends them out.

use ninescope_ftl::{Ftl, Padded, Placed};
use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BlockGroup, DieId, Geometry, Pool, Ppa, Source, Stream};

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::meter::LastingShare;
use crate::probe::{Event, observe};
use crate::transaction::{QueueClass, Transaction, UnitChain, UnitRecord};

/// Pages of a frontier's stripe that are not yet with their die.
#[derive(Clone, Copy, Debug)]
pub struct OpenStripe {
    /// The first plane whose page was not sent.
    pub first_page: u32,
    /// Unit records of the open page.
    pub open: UnitChain,
    /// Heads of the chains of filled pages, by plane.
    pub filled: [u32; 4],
    /// The unit written last by one of those commands that are told of the programs of what they wrote, and its share of the die.
    pub writer: (Ppa, LastingShare),
    /// By plane: the share of such a command in the program of a filled page, into which it wrote last.
    pub filled_by: [LastingShare; 4],
}

impl OpenStripe {
    /// The stripe of a frontier whose pages up to `last` are with the media: what a prepared drive left.
    pub fn after(geometry: &Geometry, last: Option<Ppa>) -> Self {
        let first_page = last.map_or(0, |last| (geometry.locate(last).plane_in_group + 1) % geometry.frontier_planes);
        let nobody = LastingShare::NONE;
        let writer = (Ppa::UNMAPPED, nobody);
        Self { first_page, open: UnitChain::default(), filled: [NONE; 4], writer, filled_by: [nobody; 4] }
    }
}

/// A page that is padded and programmed if it is still partly filled at a time.
#[derive(Clone, Copy, Debug)]
pub struct PageDeadline {
    /// The time.
    pub at: Ns,
    /// The pool of the page.
    pub pool: Pool,
    /// The stream that fills it.
    pub stream: Stream,
    /// The page's group.
    pub group: BlockGroup,
    /// Offset of the unit after the page.
    pub page_end: u32,
}

impl PageDeadline {
    /// Whether its page is still partly filled.
    fn is_of_open_page(&self, ftl: &Ftl, geometry: &Geometry) -> bool {
        ftl.last_allocated(self.pool, self.stream).is_some_and(|last| {
            let (group, offset) = geometry.group_and_offset(last);
            group == self.group && offset + 1 < self.page_end && offset + geometry.units_per_page() >= self.page_end
        })
    }
}

impl<K: Kind> Device<K> {
    /// Follows a unit that the host wrote into its page.
    // Called for host writes and for pages that come down from a tier, as `Ftl::write` is.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn host_unit_placed(&mut self, placed: &Placed, record: Option<UnitRecord>) {
        if let Some(record) = record {
            let index = self.transactions.units.insert(record);
            let stripe = &mut self.stripes[Self::stripe_index(placed.pool, placed.stream)];
            stripe.open.push(&mut self.transactions.units, index);
        }
        if placed.opened {
            self.gc_touched.set(placed.pool.index());
        }
        if placed.page_complete {
            self.page_filled(placed.pool, placed.stream, (placed.new, placed.new), placed.stripe_complete);
        } else if let Some(timeout) = self.page_timeout {
            self.set_page_deadline(placed, timeout);
        }
    }

    /// A page of a frontier is full; `last` is its last unit, and `written` the last one that is no padding. With `send` it goes
    /// to the die at once, together with the filled pages of its stripe before it.
    pub(crate) fn page_filled(&mut self, pool: Pool, stream: Stream, (written, last): (Ppa, Ppa), send: bool) {
        let place = self.geometry.locate(last);
        let stripe = &mut self.stripes[Self::stripe_index(pool, stream)];
        stripe.filled[place.plane_in_group as usize] = std::mem::take(&mut stripe.open).head;
        if !stream.is_of_moves() {
            let by_writer = stripe.writer.0 == written;
            stripe.filled_by[place.plane_in_group as usize] =
                if by_writer { stripe.writer.1 } else { LastingShare::NONE };
            self.buffer_page(pool);
        }
        if send {
            self.send_pages(pool, stream, last, place.plane_in_group);
        }
    }

    fn send_pages(&mut self, pool: Pool, stream: Stream, last: Ppa, last_plane: u32) {
        let die = self.geometry.die_of_pool(pool);
        let units_per_page = self.geometry.units_per_page();
        let first_unit_of_last = self.geometry.first_unit_of_page(last).0;
        let stripe = self.stripes[Self::stripe_index(pool, stream)];
        for plane in stripe.first_page..=last_plane {
            let ppa = Ppa(first_unit_of_last - (last_plane - plane) * units_per_page);
            let (records, units) = (stripe.filled[plane as usize], units_per_page as u8);
            if stream.is_of_moves() {
                self.gc_jobs[pool.index()].program_queued();
                self.enqueue(die, Transaction::move_program(ppa, units, records));
            } else {
                let epoch = self.flushes.program_queued();
                let source = if records == NONE { Source::Host } else { self.transactions.units[records].source };
                let index = self.enqueue(die, Transaction::host_program(ppa, units, records, epoch, source));
                self.transactions.tracks[index as usize].filled_by = stripe.filled_by[plane as usize];
            }
        }
        let next_page = (last_plane + 1) % self.geometry.frontier_planes;
        self.stripes[Self::stripe_index(pool, stream)].first_page = next_page;
    }

    /// Pads the open page of a stream, if it is partly filled, and sends it and the filled pages before it
    /// in its stripe. Returns whether anything was sent.
    pub(crate) fn pad_and_send(&mut self, pool: Pool, stream: Stream) -> Result<bool, SimulationError> {
        if let Some(Padded { last, written, .. }) = self.ftl.pad(pool, stream) {
            self.counters.padded_pages += u64::from(!stream.is_of_moves());
            self.counters.gc_padded_pages += u64::from(stream.is_of_moves());
            observe!(self, Event::Padded { last });
            self.page_filled(pool, stream, (written, last), true);
            return Ok(true);
        }
        // No page is open, but filled pages may wait for the rest of their stripe.
        let Some(last) = self.ftl.last_allocated(pool, stream) else { return Ok(false) };
        let place = self.geometry.locate(last);
        let stripe = &self.stripes[Self::stripe_index(pool, stream)];
        let waiting = stripe.first_page != 0 || self.geometry.frontier_planes > place.plane_in_group + 1;
        if !waiting || place.plane_in_group < stripe.first_page {
            return Ok(false);
        }
        self.send_pages(pool, stream, last, place.plane_in_group);
        Ok(true)
    }

    /// Without a write buffer no page stays partly filled.
    pub(crate) fn send_partial_pages(&mut self) -> Result<(), SimulationError> {
        for pool in (0..self.geometry.pools()).map(Pool) {
            for stream in Self::host_streams(self.ftl.knows_clean()) {
                self.pad_and_send(pool, *stream)?;
            }
        }
        Ok(())
    }

    // ---- write buffer ------------------------------------------------------------------------------

    fn buffer_page(&mut self, pool: Pool) {
        let die = self.geometry.die_of_pool(pool);
        let unit = &mut self.dies[die.index()];
        unit.buffered_pages += 1;
        if unit.buffered_pages == self.buffered_pages_max {
            self.set_room(die, false);
        }
        self.shared_buffered_pages += 1;
        if self.shared_buffered_pages == self.shared_buffered_pages_max {
            self.close_shared_buffer();
        }
    }

    fn unbuffer_page(&mut self, die: DieId) {
        let unit = &mut self.dies[die.index()];
        unit.buffered_pages -= 1;
        let die_has_room_again = unit.buffered_pages + 1 == self.buffered_pages_max;
        self.shared_buffered_pages -= 1;
        if self.shared_buffered_pages + 1 == self.shared_buffered_pages_max {
            self.open_shared_buffer();
        } else if die_has_room_again && self.shared_buffered_pages < self.shared_buffered_pages_max {
            self.set_room(die, true);
            self.retry_stalled = !self.stalled.is_empty();
        }
    }

    /// No die takes a page of the host: one that is stuck holds up the others.
    #[cold]
    fn close_shared_buffer(&mut self) {
        for die in (0..self.geometry.dies()).map(DieId) {
            self.set_room(die, false);
        }
    }

    /// Dies take pages of the host again, but for those that hold their own most.
    #[cold]
    fn open_shared_buffer(&mut self) {
        for die in (0..self.geometry.dies()).map(DieId) {
            self.set_room(die, self.dies[die.index()].buffered_pages < self.buffered_pages_max);
        }
        self.retry_stalled = !self.stalled.is_empty();
    }

    fn set_room(&mut self, die: DieId, room: bool) {
        let pools_per_die = self.geometry.pools_per_die();
        for pool in die.0 * pools_per_die..(die.0 + 1) * pools_per_die {
            self.ftl.set_room(Pool(pool), room);
        }
    }

    // ---- ends --------------------------------------------------------------------------------------

    /// The array phase of a program command ended.
    pub(crate) fn pages_programmed(&mut self, die: DieId, command: &FlashCommand) -> Result<(), SimulationError> {
        // All pages of a command belong to one class. They are counted before anything completes on them.
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        let of_host = self.transactions.slab[first].class == QueueClass::HostProgram;
        self.count_programs(command, of_host);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let transaction = self.transactions.slab[index];
            let (group, offset) = self.geometry.group_and_offset(transaction.ppa());
            let programmed = offset + self.geometry.units_per_page();
            self.ftl.programmed(group, programmed);
            if offset == 0 && self.reliability.is_some() {
                self.reliable_group_begun(group);
            }
            if programmed == self.geometry.units_per_group() {
                // It may be the victim that garbage collection had been waiting for.
                self.touch_gc_of(transaction.ppa());
            }
            if of_host {
                self.unbuffer_page(die);
                self.finish_host_units(index)?;
                self.flush_program_ended(transaction.flush_epoch())?;
            } else {
                self.finish_moves(index)?;
            }
            self.transactions.slab.remove(index);
        }
        Ok(())
    }

    fn count_programs(&mut self, command: &FlashCommand, of_host: bool) {
        let pages = u64::from(command.plane_count());
        if !of_host {
            self.counters.gc_page_programs += pages;
            return;
        }
        let migrates = |plane: &usize| self.transactions.slab[command.transaction[*plane]].source == Source::Migration;
        let migrated = command.addressed_planes().filter(migrates).count() as u64;
        self.counters.host_page_programs += pages - migrated;
        self.counters.migration_page_programs += migrated;
    }

    fn finish_host_units(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let mut unit = self.transactions.slab[transaction].records();
        while unit != NONE {
            let record = self.transactions.units[unit];
            self.transactions.units.remove(unit);
            self.host_unit_programmed(&record, transaction)?;
            unit = record.next;
        }
        Ok(())
    }

    // ---- page timeout ------------------------------------------------------------------------------

    fn set_page_deadline(&mut self, placed: &Placed, timeout: Ns) {
        let units_per_page = self.geometry.units_per_page();
        let (group, offset) = self.geometry.group_and_offset(placed.new);
        // The first unit of a page starts its clock.
        if offset % units_per_page != 0 {
            return;
        }
        let deadline = PageDeadline {
            at: self.now + timeout,
            pool: placed.pool,
            stream: placed.stream,
            group,
            page_end: offset + units_per_page,
        };
        if self.page_deadlines.is_empty() {
            self.queue.schedule(self.resources.page_timer(), deadline.at);
        }
        if self.page_deadlines.len() == self.page_deadlines.capacity() {
            // Most pages are full before their time: only the open one of each pool needs its deadline.
            let (ftl, geometry) = (&self.ftl, &self.geometry);
            self.page_deadlines.retain(|deadline| deadline.is_of_open_page(ftl, geometry));
        }
        self.page_deadlines.push_back(deadline);
    }

    /// The oldest deadline has come.
    pub(crate) fn page_timer_woke(&mut self) -> Result<(), SimulationError> {
        while let Some(deadline) = self.page_deadlines.front().copied() {
            if deadline.at > self.now {
                self.queue.schedule(self.resources.page_timer(), deadline.at);
                break;
            }
            self.page_deadlines.pop_front();
            let still_open = deadline.is_of_open_page(&self.ftl, &self.geometry);
            if still_open && self.pad_and_send(deadline.pool, deadline.stream)? {
                self.counters.page_timeouts += 1;
            }
        }
        Ok(())
    }
}
