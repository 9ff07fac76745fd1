//! Programs: pages of a frontier go to their die when their stripe is full, or earlier where something
//! sends them out.
//!
//! Where the pages of a wordline are programmed in one go, what goes out at a time is a wordline in all planes of the frontier
//! (`wordlines`): then `filled` grows page by page, and nothing goes out in parts.

use std::collections::VecDeque;

use ninescope_ftl::{Ftl, Padded, Placed};
use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_model::{BlockGroup, DieId, Geometry, Pool, Ppa, Source, Stream};

use super::Flash;
use crate::config::EngineConfig;
use crate::meter::LastingShare;
use crate::run::Run;
use crate::transaction::{FlushEpoch, Transaction, UnitChain, UnitRecord};

/// Nobody has written into a page.
pub(super) const NOBODY: u16 = u16::MAX;

/// Filled pages of the host that may wait for their program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Of one die, or of one set of dies with parity.
    pub of_die: u32,
    /// Of all dies together.
    pub of_all: u32,
}

/// Pages on their way to their dies, and how many may wait there.
#[derive(Debug)]
pub(super) struct Programs {
    /// By pool and stream.
    stripes: Vec<OpenStripe>,
    /// How many streams a pool has.
    streams: usize,
    /// By die, or set of dies with parity: pages of the host filled and not yet programmed.
    buffered: Vec<u32>,
    /// The same of all dies.
    buffered_of_all: u32,
    limits: BufferLimits,
    deadlines: VecDeque<PageDeadline>,
    timeout: Option<Ns>,
}

impl Programs {
    /// Nothing on its way but what a prepared drive left in its frontiers.
    pub fn new(config: &EngineConfig, ftl: &Ftl) -> Self {
        let geometry = ftl.geometry();
        let minimum = match ftl.zones() {
            None => EngineConfig::buffered_pages_min(geometry),
            Some(zones) => EngineConfig::zoned_pages_min(geometry, zones.limits().1),
        };
        let of_all_minimum = EngineConfig::shared_buffered_pages_min(geometry, minimum);
        let of_pool = Stream::of_kinds(ftl.frontier_kinds());
        let streams = (0..geometry.pools()).flat_map(|pool| of_pool.clone().map(move |stream| (Pool(pool), stream)));
        Self {
            streams: of_pool.clone().count(),
            stripes: streams
                .map(|(pool, stream)| OpenStripe::after(geometry, ftl.last_allocated(pool, stream)))
                .collect(),
            buffered: vec![0; geometry.die_sets() as usize],
            buffered_of_all: 0,
            limits: BufferLimits {
                of_die: (config.buffered_pages * geometry.stripe_dies()).max(minimum),
                of_all: config.shared_buffered_pages.map_or(u32::MAX, |pages| pages.max(of_all_minimum)),
            },
            deadlines: VecDeque::with_capacity(geometry.pools() as usize * 4),
            timeout: config.page_timeout,
        }
    }

    /// How many frontiers there are.
    pub(super) fn frontiers(&self) -> usize {
        self.stripes.len()
    }

    /// How many stripes may be open.
    pub fn stripes_of(ftl: &Ftl) -> usize {
        ftl.geometry().pools() as usize * Stream::of_kinds(ftl.frontier_kinds()).count()
    }

    /// No frontier is open any more.
    fn forget_frontiers(&mut self) {
        self.stripes.iter_mut().for_each(|stripe| stripe.first_page = 0);
    }

    #[inline]
    pub(super) fn number(&self, pool: Pool, stream: Stream) -> usize {
        pool.index() * self.streams + stream.index()
    }

    #[inline]
    pub(super) fn stripe(&self, pool: Pool, stream: Stream) -> &OpenStripe {
        &self.stripes[self.number(pool, stream)]
    }

    #[inline]
    pub(super) fn stripe_mut(&mut self, pool: Pool, stream: Stream) -> &mut OpenStripe {
        let number = self.number(pool, stream);
        &mut self.stripes[number]
    }
}

/// Pages of a frontier's stripe that are not yet with their die.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenStripe {
    /// The first plane whose page was not sent.
    pub(super) first_page: u32,
    /// Unit records of the open page.
    open: UnitChain,
    /// The chains of filled pages, by plane.
    pub(super) filled: [UnitChain; 4],
    /// The unit written last by one of those commands that are told of the programs of what they wrote, and its share of the die.
    writer: (Ppa, LastingShare),
    /// By plane: the share of such a command in the program of a filled page, into which it wrote last.
    filled_by: [LastingShare; 4],
    /// Who wrote into the open page first, and by plane into filled ones.
    begun_by: FirstWriter,
    filled_by_first: [FirstWriter; 4],
}

/// Who wrote into a page first: for whom its program counts, [`NOBODY`] where there is one tenant alone, and the part of the write
/// buffer that it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstWriter {
    pub(super) holder: u16,
    pub(super) part: u16,
}

impl FirstWriter {
    pub(super) const NONE: Self = Self { holder: NOBODY, part: 0 };
}

impl OpenStripe {
    /// The stripe of a frontier whose pages up to `last` are with the media: what a prepared drive left.
    pub fn after(geometry: &Geometry, last: Option<Ppa>) -> Self {
        let first_page = last.map_or(0, |last| (geometry.locate(last).plane_in_group + 1) % geometry.frontier_planes);
        let nobody = LastingShare::NONE;
        let writer = (Ppa::UNMAPPED, nobody);
        Self {
            first_page,
            open: UnitChain::default(),
            filled: [UnitChain::default(); 4],
            writer,
            filled_by: [nobody; 4],
            begun_by: FirstWriter::NONE,
            filled_by_first: [FirstWriter::NONE; 4],
        }
    }
}

/// A page that is padded and programmed if it is still partly filled at a time; or a wordline, where that is programmed in one go.
#[derive(Clone, Copy, Debug)]
struct PageDeadline {
    /// The time.
    at: Ns,
    /// The pool of the page.
    pool: Pool,
    /// The stream that fills it.
    stream: Stream,
    /// The page's group, and how often it had been erased: what is filled after another erase has a time of its own.
    group: BlockGroup,
    erases: u32,
    /// Offset of the unit after the page.
    page_end: u32,
    /// Units of the page.
    units: u32,
}

impl PageDeadline {
    /// Whether its page is still partly filled.
    fn is_of_open_page(&self, ftl: &Ftl, geometry: &Geometry) -> bool {
        ftl.last_allocated(self.pool, self.stream).is_some_and(|last| {
            let (group, offset) = geometry.group_and_offset(last);
            group == self.group && offset + 1 < self.page_end && offset + self.units >= self.page_end
        }) && ftl.group(self.group).erase_count == self.erases
    }
}

impl Flash {
    /// All that the flash holds is given up, nothing being under way. Returns the groups that are to be erased.
    pub fn give_all_up(&mut self) -> Vec<BlockGroup> {
        self.programs.forget_frontiers();
        self.ftl.give_all_up()
    }

    /// What is partly filled is padded when it is so old.
    pub fn page_timeout(&self) -> Option<Ns> {
        self.programs.timeout
    }

    /// How many filled pages of the host may wait.
    pub fn buffer_limits(&self) -> BufferLimits {
        self.programs.limits
    }

    /// The streams that take what the host writes.
    pub fn host_streams(&self) -> impl Iterator<Item = Stream> + use<> {
        let kinds = match self.ftl.zones() {
            None if self.ftl.translation_units() > 0 => 1,
            None => self.ftl.kinds(),
            // Nobody pads what lies before the write pointer of a zone.
            Some(_) => 0,
        };
        (0..kinds).map(Stream::of_writes)
    }

    /// Follows a unit that the host wrote into its page.
    // Called for host writes and for pages that come down from a tier, as `Ftl::write` is.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn host_unit_placed<Q: WakeQueue>(&mut self, run: &mut Run<Q>, placed: &Placed, record: Option<UnitRecord>) {
        if let Some(record) = record {
            let index = run.transactions.units.insert(record);
            let stripe = self.programs.stripe_mut(placed.pool, placed.stream);
            stripe.open.push(&mut run.transactions.units, index);
        }
        if placed.opened {
            self.collection.touch(placed.pool);
        }
        if placed.page_complete {
            self.page_filled(run, placed.pool, placed.stream, (placed.new, placed.new), placed.stripe_complete);
        }
        if let Some(timeout) = self.programs.timeout {
            self.set_page_deadline(run, placed, timeout);
        }
    }

    /// So many sectors of a unit that was placed are new, and go to its page.
    #[cold]
    pub fn page_gets(&mut self, placed: &Placed, sectors: u16) {
        let stripe = self.programs.number(placed.pool, placed.stream);
        if let Some(part) = &mut self.sectors {
            part.page_gets(stripe, sectors);
        }
    }

    /// Follows a page of the map into the page of the media that it fills.
    pub fn map_page_placed<Q: WakeQueue>(&mut self, run: &mut Run<Q>, placed: &Placed, page: u32) {
        if run.transactions.tenants.is_some() {
            self.map_page_placed_for(run, placed, page);
        }
        if placed.opened {
            self.collection.touch(placed.pool);
        }
        if placed.page_complete {
            self.page_filled(run, placed.pool, placed.stream, (placed.new, placed.new), placed.stripe_complete);
        }
    }

    /// A page of a frontier is full; `last` is its last unit, and `written` the last one that is no padding. With `send` it goes
    /// to the die at once, together with the filled pages of its stripe before it.
    pub fn page_filled<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        pool: Pool,
        stream: Stream,
        (written, last): (Ppa, Ppa),
        send: bool,
    ) {
        let place = self.geometry.locate(last);
        let goes_on = self.goes_on_with_wordline(place.group, place.page);
        let stripe = self.programs.stripe_mut(pool, stream);
        let open = std::mem::take(&mut stripe.open);
        stripe.filled[place.plane_in_group as usize].append(&mut run.transactions.units, open);
        if !stream.is_of_moves() {
            // Taken out: in a later life the place may be written by somebody else.
            let (last_written, writer) = std::mem::replace(&mut stripe.writer, (Ppa::UNMAPPED, LastingShare::NONE));
            stripe.filled_by[place.plane_in_group as usize] =
                if last_written == written { writer } else { LastingShare::NONE };
            let mut first = std::mem::replace(&mut stripe.begun_by, FirstWriter::NONE);
            if goes_on {
                // What a plane has of a wordline is one program, which is for who wrote into it first.
                first = stripe.filled_by_first[place.plane_in_group as usize];
            }
            stripe.filled_by_first[place.plane_in_group as usize] = first;
            if run.transactions.tenants.is_some() {
                Self::page_buffered_for(run, first.holder);
                self.page_enters_part(first.part);
            }
            self.buffer_page(pool);
            if let Some(sectors) = &mut self.sectors {
                sectors.page_filled(self.programs.number(pool, stream), place.plane_in_group);
            }
        }
        if send {
            self.send_pages(run, pool, stream, last, place.plane_in_group);
        }
        if self.ftl.block_map().is_some() {
            // A merge may go on with the page behind it, or a log block be full.
            self.collection.touch(pool);
        }
    }

    pub(super) fn send_pages<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        pool: Pool,
        stream: Stream,
        last: Ppa,
        last_plane: u32,
    ) {
        let units_per_page = self.geometry.units_per_page();
        let pages = self.pages_of_program(last);
        let first_unit_of_last =
            self.geometry.first_unit_of_page(last).0 - (pages - 1) * self.geometry.units_per_stripe();
        let stripe = *self.programs.stripe(pool, stream);
        for plane in stripe.first_page..=last_plane {
            let ppa = Ppa(first_unit_of_last - (last_plane - plane) * units_per_page);
            let (records, units) = (stripe.filled[plane as usize].head, (units_per_page * pages) as u8);
            if stream.is_of_moves() {
                self.collection.program_queued(pool);
                self.enqueue(run, Transaction::move_program(ppa, units, records));
            } else {
                let source = match records {
                    NONE if stream == Stream::APART && self.ftl.translation_units() > 0 => Source::Mapping,
                    NONE => Source::Host,
                    records => run.transactions.units[records].source,
                };
                // A FLUSH is about what the host wrote.
                let epoch = if source == Source::Mapping { FlushEpoch(0) } else { self.flushes.program_queued() };
                let number = self.programs.number(pool, stream);
                let sectors = self.sectors.as_mut().map_or(0, |sectors| sectors.take_page(number, plane));
                let mut program = Transaction::host_program(ppa, units, records, epoch, source);
                program.sectors = sectors;
                let index = self.enqueue_program(run, number, program);
                run.transactions.filled_by(index, stripe.filled_by[plane as usize]);
                if run.transactions.tenants.is_some() {
                    self.program_counts_for(run, index, stripe.filled_by_first[plane as usize]);
                }
            }
        }
        self.programs.stripe_mut(pool, stream).filled = [UnitChain::default(); 4];
        if pages > 1 {
            // What a plane has of a wordline may be nothing but padding, which is nobody's.
            let stripe = self.programs.stripe_mut(pool, stream);
            (stripe.filled_by, stripe.filled_by_first) = ([LastingShare::NONE; 4], [FirstWriter::NONE; 4]);
        }
        let next_page = (last_plane + 1) % self.geometry.frontier_planes;
        self.programs.stripe_mut(pool, stream).first_page = next_page;
        if next_page == 0 && self.geometry.parity.is_some() {
            self.row_sent(run, stream, last);
        }
    }

    /// Pads the open page of a stream, or its wordline, if it is partly filled. It is filled then, and to be sent.
    pub fn pad<Q>(&mut self, run: &mut Run<Q>, pool: Pool, stream: Stream) -> Option<Padded> {
        let padded = self.ftl.pad(pool, stream)?;
        if self.pages_of_program(padded.last) > 1 {
            self.wordline_is_padded(run, stream, &padded);
            return Some(padded);
        }
        run.counters.padded_pages += u64::from(!stream.is_of_moves());
        run.counters.gc_padded_pages += u64::from(stream.is_of_moves());
        Some(padded)
    }

    /// No page of a stream is open: sends filled pages that wait for the rest of their stripe. Returns whether there were any.
    pub fn send_filled<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, stream: Stream) -> bool {
        let Some(last) = self.ftl.last_allocated(pool, stream) else { return false };
        let place = self.geometry.locate(last);
        let stripe = self.programs.stripe(pool, stream);
        let waiting = stripe.first_page != 0 || self.geometry.frontier_planes > place.plane_in_group + 1;
        if !waiting || place.plane_in_group < stripe.first_page {
            return false;
        }
        self.send_pages(run, pool, stream, last, place.plane_in_group);
        true
    }

    /// Whether somebody waits for the program of a page of a stream that is not with its die: the open one, or one that waits for
    /// the rest of its stripe.
    pub fn has_awaited_pages(&self, pool: Pool, stream: Stream) -> bool {
        let stripe = self.programs.stripe(pool, stream);
        let filled = || stripe.filled[stripe.first_page as usize..].iter().any(|chain| chain.head != NONE);
        stripe.open.head != NONE || filled()
    }

    /// A move follows its unit into the page that it fills.
    pub fn move_placed<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, record: u32, placed: &Placed) {
        let stripe = self.programs.stripe_mut(pool, placed.stream);
        stripe.open.push(&mut run.transactions.units, record);
        if placed.page_complete {
            self.page_filled(run, pool, placed.stream, (placed.new, placed.new), placed.stripe_complete);
        }
    }

    /// A command that buffers its writes, and may still read the rest of a unit, wrote a unit: the program of the page is its
    /// own unless somebody writes into the page after it.
    #[inline(never)]
    pub fn written_last<Q>(&mut self, run: &mut Run<Q>, placed: &Placed, command: u32) {
        let die = self.geometry.die_of(placed.new);
        let share = run.transactions.lasting_share(command, self.die_and_channel(die));
        self.programs.stripe_mut(placed.pool, placed.stream).writer = (placed.new, share);
    }

    /// A unit goes into a page: the first one says for whom its program counts.
    pub(super) fn begin_page_for(&mut self, placed: &Placed, first: FirstWriter) {
        let stripe = self.programs.stripe_mut(placed.pool, placed.stream);
        if stripe.begun_by.holder == NOBODY {
            stripe.begun_by = first;
        }
    }

    // ---- write buffer ------------------------------------------------------------------------------

    fn buffer_page(&mut self, pool: Pool) {
        let set = self.geometry.set_of_pool(pool);
        let (buffered, limits) = (&mut self.programs.buffered[set as usize], self.programs.limits);
        *buffered += 1;
        if *buffered == limits.of_die {
            self.set_room(set, false);
        }
        self.programs.buffered_of_all += 1;
        if self.programs.buffered_of_all == limits.of_all {
            self.close_shared_buffer();
        }
    }

    /// A page of the host is programmed: another one may wait for its program.
    pub fn unbuffer_page(&mut self, die: DieId) {
        let set = self.geometry.set_of_die(die);
        let (buffered, limits) = (&mut self.programs.buffered[set as usize], self.programs.limits);
        *buffered -= 1;
        let die_has_room_again = *buffered + 1 == limits.of_die;
        self.programs.buffered_of_all -= 1;
        if self.programs.buffered_of_all + 1 == limits.of_all {
            self.open_shared_buffer();
        } else if die_has_room_again && self.programs.buffered_of_all < limits.of_all {
            self.set_room(set, true);
            self.line.may_go_on();
        }
    }

    /// No die takes a page of the host: one that is stuck holds up the others.
    #[cold]
    fn close_shared_buffer(&mut self) {
        for set in 0..self.geometry.die_sets() {
            self.set_room(set, false);
        }
    }

    /// Dies take pages of the host again, but for those that hold their own most.
    #[cold]
    fn open_shared_buffer(&mut self) {
        for set in 0..self.geometry.die_sets() {
            self.set_room(set, self.programs.buffered[set as usize] < self.programs.limits.of_die);
        }
        self.line.may_go_on();
    }

    fn set_room(&mut self, set: u32, room: bool) {
        let pools_per_die = self.geometry.pools_per_die();
        for pool in set * pools_per_die..(set + 1) * pools_per_die {
            self.ftl.set_room(Pool(pool), room);
        }
    }

    // ---- zones -------------------------------------------------------------------------------------

    /// Filled pages of a block that wait for the rest of their stripe are forgotten, so many of them.
    pub(super) fn forget_stripe<Q>(&mut self, run: &mut Run<Q>, pool: Pool, stream: Stream, pages: u32) {
        let number = self.programs.number(pool, stream);
        let stripe = std::mem::replace(&mut self.programs.stripes[number], OpenStripe::after(&self.geometry, None));
        debug_assert!(stripe.open.head == NONE, "nobody waits for the programs of a zone");
        for plane in 0..pages as usize {
            if run.transactions.tenants.is_some() {
                Self::page_forgotten_for(run, stripe.filled_by_first[plane].holder);
                self.page_leaves_part(stripe.filled_by_first[plane].part);
            }
            self.unbuffer_page(self.geometry.die_of_pool(pool));
        }
    }

    // ---- ends --------------------------------------------------------------------------------------

    /// A page was programmed. Returns its group where it is the first one of that.
    pub fn page_programmed<Q>(&mut self, run: &Run<Q>, index: u32) -> Option<BlockGroup> {
        let ppa = run.transactions.slab[index].ppa();
        if self.geometry.spans_dies() {
            return self.page_of_set_programmed(ppa);
        }
        let (group, offset) = self.geometry.group_and_offset(ppa);
        let programmed = self.end_of_program(group, offset)?;
        self.ftl.programmed(group, programmed);
        if programmed == self.ftl.capacity_of(group) || self.ftl.block_map().is_some() {
            // It may be the victim that garbage collection had been waiting for, or the page before the next one of a merge.
            self.touch_gc_of(ppa);
        }
        (offset == 0).then_some(group)
    }

    // ---- page timeout ------------------------------------------------------------------------------

    fn set_page_deadline<Q: WakeQueue>(&mut self, run: &mut Run<Q>, placed: &Placed, timeout: Ns) {
        let (group, offset) = self.geometry.group_and_offset(placed.new);
        let units = self.units_padded_together(group);
        // The first unit of a page starts its clock, unless it is the only one.
        if offset % units != 0 || units == 1 {
            return;
        }
        let deadline = PageDeadline {
            at: run.now + timeout,
            pool: placed.pool,
            stream: placed.stream,
            group,
            erases: self.ftl.group(group).erase_count,
            page_end: offset + units,
            units,
        };
        if self.programs.deadlines.is_empty() {
            run.queue.schedule(run.resources.page_timer(), deadline.at);
        }
        if self.programs.deadlines.len() == self.programs.deadlines.capacity() {
            // Most pages are full before their time: only the open one of each pool needs its deadline.
            let (ftl, geometry) = (&self.ftl, &self.geometry);
            self.programs.deadlines.retain(|deadline| deadline.is_of_open_page(ftl, geometry));
        }
        self.programs.deadlines.push_back(deadline);
    }

    /// The next page whose time has come and that is still partly filled. Sets the wake-up for the next deadline if none is.
    pub fn next_overdue_page<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<(Pool, Stream)> {
        while let Some(deadline) = self.programs.deadlines.front().copied() {
            if deadline.at > run.now {
                run.queue.schedule(run.resources.page_timer(), deadline.at);
                break;
            }
            self.programs.deadlines.pop_front();
            if deadline.is_of_open_page(&self.ftl, &self.geometry) {
                return Some((deadline.pool, deadline.stream));
            }
        }
        None
    }
}
