//! Garbage collection in time: page reads, moves, programs, erases of each pool.

use ninescope_ftl::{Broken, Ftl, GcStep, Padded, Placed};
use ninescope_kernel::{BitTable, Ns, Touched, WakeQueue};
use ninescope_model::{BlockGroup, DieId, Pool, Ppa, Stream};

use super::Flash;
use crate::firmware::Decision;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{QueueClass, Transaction, UnitChain, UnitRecord};

/// What a pool's garbage collection has under way.
#[derive(Clone, Copy, Debug, Default)]
struct GcJob {
    /// Page reads queued or running, their data not yet placed.
    reads: u32,
    /// Page programs queued or running.
    programs: u32,
    /// A victim waits for moves that wait in an open page: fill it from the next victim.
    fill: bool,
}

/// What the garbage collection of all pools has under way.
#[derive(Debug)]
pub(super) struct Collection {
    jobs: Vec<GcJob>,
    /// Pools in which it may go on before time moves on.
    touched: Touched,
    /// Groups whose erase waits for reads.
    erases_waiting: Vec<u32>,
    /// Pages that a pool may have under way.
    pages_max: u32,
    /// What the trigger wants to know of time, where it does.
    timing: Option<Box<Timing>>,
    /// Blocks of one bit in a cell are folded when their die has rested for so long.
    fold_after: Option<Ns>,
    /// By pool: the firmware chooses what is emptied next, where that takes time.
    choosing: Option<BitTable>,
}

/// When dies rest, and how long collection has been put off.
#[derive(Debug)]
struct Timing {
    /// A die rests when it has had nothing to do for so long.
    rest: Ns,
    /// Collection is put off for so long at most; `None` where it is not.
    postponed: Option<Ns>,
    /// By die: it rests.
    resting: BitTable,
    /// By pool: when collection is put off no more, `NEVER` where none is.
    due: Vec<Ns>,
}

impl Collection {
    /// Nothing under way in the pools of a translation layer, each of which may have so many pages under way.
    pub fn new(ftl: &mut Ftl, pages_max: u32, fold_after: Option<Ns>) -> Self {
        let (pools, dies) = (ftl.geometry().pools() as usize, ftl.geometry().dies() as usize);
        let timed = |rest, postponed| {
            Box::new(Timing { rest, postponed, resting: BitTable::new(dies), due: vec![Ns::NEVER; pools] })
        };
        let timing = match ftl.trigger_timing() {
            Some(timing) => {
                // From here on there is time.
                (0..pools).for_each(|pool| ftl.set_overdue(Pool(pool as u32), false));
                Some(timed(Ns(timing.rest.0), timing.postponed.map(|postponed| Ns(postponed.0))))
            }
            None => fold_after.map(|rest| timed(rest, None)),
        };
        Self {
            jobs: vec![GcJob::default(); pools],
            touched: Touched::new(pools),
            erases_waiting: Vec::with_capacity(pools),
            pages_max: pages_max.max(1),
            timing,
            fold_after,
            choosing: None,
        }
    }

    /// It may go on in a pool.
    #[inline]
    pub fn touch(&mut self, pool: Pool) {
        self.touched.touch(pool.0);
    }

    /// A page of moves went to its die.
    pub fn program_queued(&mut self, pool: Pool) {
        let job = &mut self.jobs[pool.index()];
        job.programs += 1;
        job.fill = false;
    }

    /// Whether the trigger wants to know how long dies have had nothing to do.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.timing.is_some()
    }

    /// Groups whose erase waits for reads.
    pub fn erases_waiting(&self) -> &[u32] {
        &self.erases_waiting
    }
}

/// What is to be done next for a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionStep {
    /// Read the units of a page, those of the mask behind the first one.
    Read {
        /// The first unit of the page.
        first: Ppa,
        /// Which of its units are moved, a bit each.
        mask: u32,
    },
    /// Have the die copy a whole page.
    Copy {
        /// The first unit of the page.
        first: Ppa,
    },
    /// Erase a group.
    Erase(BlockGroup),
    /// Go on: a page that a merge left empty went to its die.
    Padded {
        /// Its last unit.
        last: Ppa,
    },
    /// Go on: a group of which a program failed is empty and retired.
    Retired(BlockGroup),
    /// Nothing. `released`: host writes that the trigger has wait for garbage collection go on.
    Rest {
        /// Whether they do.
        released: bool,
    },
    /// Send the open pages of moves to their die.
    SendOpenMoves,
    /// The victim waits for moves in an open page, which is to be filled from the next one. An open page of clean moves is
    /// not: what is moved to fill a page goes with dirty data, so that it is sent `clean_first`.
    FillOpenMoves {
        /// Whether there may be one.
        clean_first: bool,
    },
}

impl Flash {
    /// Lets the pool of a unit that became invalid reconsider: it may be worth collecting now.
    #[inline]
    pub fn touch_gc_of(&mut self, ppa: Ppa) {
        self.collection.touch(self.pool_of(ppa));
    }

    /// Whether units that are moved are still to get their places, which padding must leave them.
    pub fn moves_have_no_place(&self, pool: Pool) -> bool {
        self.collection.jobs[pool.index()].reads > 0
    }

    /// Garbage collection of a pool may go on before time moves on.
    pub fn touch_collection(&mut self, pool: Pool) {
        self.collection.touch(pool);
    }

    /// Whether garbage collection may go on anywhere before time moves on.
    #[inline]
    pub fn collection_may_go_on(&self) -> bool {
        self.collection.touched.has_some()
    }

    /// The next pool in which garbage collection may go on before time moves on.
    #[inline]
    pub fn next_touched_pool(&mut self) -> Option<Pool> {
        self.collection.touched.take_next().map(Pool)
    }

    /// What the FTL wants done in a pool, as far as the bound on pages in flight allows; `None` while what is under way is to
    /// end first.
    pub fn next_step<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool) -> Option<CollectionStep> {
        if self.collection.is_timed() {
            self.put_off(run, pool);
        }
        let job = self.collection.jobs[pool.index()];
        let under_way = job.reads + job.programs;
        // What fills an open page is moved page by page, so that no more is moved than the page takes.
        if under_way >= self.collection.pages_max || (job.fill && job.reads > 0) {
            return None;
        }
        let step = self.ftl.gc_next(pool, job.fill);
        if matches!(step, GcStep::Wait | GcStep::Nothing) && self.ftl.awaits_choice(pool) {
            self.ask_for_choice(run, pool);
            return None;
        }
        if self.collection.is_timed() && matches!(step, GcStep::Wait | GcStep::Nothing) {
            // What was handed out completely may be enough: the next need is put off anew.
            self.put_off(run, pool);
        }
        Some(match step {
            GcStep::MovePage { first, mask } if self.is_copied_back(run, pool, first, mask) => {
                CollectionStep::Copy { first }
            }
            GcStep::MovePage { first, mask } => CollectionStep::Read { first, mask },
            GcStep::Erase(group) => CollectionStep::Erase(group),
            GcStep::Retired(group) => CollectionStep::Retired(group),
            GcStep::Padded(padded) => self.merge_padded(run, pool, padded),
            GcStep::Nothing => self.found_nothing(pool, under_way),
            GcStep::Wait if under_way > 0 => return None,
            GcStep::Wait if self.ftl.refresh_waits(pool) => CollectionStep::SendOpenMoves,
            // Nothing is under way: what the victim waits for lies in an open page. It may lie there until
            // somebody waits for the victim: filling the page moves units that nothing is gained by.
            GcStep::Wait if !self.ftl.gc_is_urgent(pool) => return None,
            // No other kind may fill the page, and what it takes to pad it the victim has given.
            GcStep::Wait if self.ftl.isolates() => CollectionStep::SendOpenMoves,
            // Host writes wait although there is space. An open page of clean moves would have to be padded, and padding
            // could take more than the victims give, time and again.
            GcStep::Wait if self.ftl.keeps_apart() && !self.ftl.lacks_space(pool) => {
                self.found_nothing(pool, under_way)
            }
            GcStep::Wait => CollectionStep::FillOpenMoves { clean_first: self.ftl.keeps_apart() },
        })
    }

    // ---- choices that take time --------------------------------------------------------------------

    /// Which group is emptied next takes a core of the firmware.
    pub fn choices_take_time(&mut self) {
        self.ftl.choices_take_time();
        self.collection.choosing = Some(BitTable::new(self.geometry.pools() as usize));
    }

    #[cold]
    fn ask_for_choice<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool) {
        let Some(choosing) = &mut self.collection.choosing else { return };
        if !choosing.get(pool.index()) {
            choosing.set(pool.index());
            run.decides_later(Decision::Victim, pool.0, 1);
        }
    }

    /// The time of a choice is over.
    pub fn may_choose(&mut self, pool: Pool) {
        if let Some(choosing) = &mut self.collection.choosing {
            choosing.clear(pool.index());
        }
        self.ftl.may_choose(pool);
        self.collection.touch(pool);
    }

    // ---- what triggers want to know of time --------------------------------------------------------

    /// Whether collection is put off is decided now.
    #[inline]
    pub(super) fn is_put_off<Q>(&mut self, run: &mut Run<Q>, pool: Pool) {
        if self.collection.is_timed() {
            self.put_off(run, pool);
        }
    }

    /// Collection that is needed is put off from now on, or has been for long enough.
    #[cold]
    fn put_off<Q>(&mut self, run: &mut Run<Q>, pool: Pool) {
        let Some(timing) = self.collection.timing.as_mut() else { return };
        let Some(postponed) = timing.postponed else { return };
        let due = &mut timing.due[pool.index()];
        let overdue = if !self.ftl.gc_is_put_off(pool) {
            *due = Ns::NEVER;
            false
        } else if *due == Ns::NEVER {
            *due = run.now + postponed;
            postponed == Ns::ZERO
        } else {
            *due <= run.now
        };
        run.counters.overdue_collections += u64::from(overdue && !self.ftl.is_overdue(pool));
        self.ftl.set_overdue(pool, overdue);
    }

    /// A die decides what it does next: where its collection has been put off for long enough, it may go on.
    #[inline]
    pub fn touch_overdue<Q>(&mut self, run: &Run<Q>, die: DieId) {
        let Some(timing) = &self.collection.timing else { return };
        for pool in self.geometry.pools_of_die(die).map(Pool) {
            if timing.due[pool.index()] <= run.now && !self.ftl.is_overdue(pool) {
                self.collection.touched.touch(pool.0);
            }
        }
    }

    /// Blocks of one bit in a cell are folded when their die has rested for so long, where that is asked for.
    pub fn slc_fold_after(&self) -> Option<Ns> {
        self.collection.fold_after
    }

    /// Dies that have nothing to do from the beginning rest, too.
    pub fn dies_may_rest(&mut self) {
        if self.collection.is_timed() {
            (0..self.geometry.dies()).for_each(|die| self.dies.touch(die));
            // What is wanted from the beginning is put off from the beginning.
            (0..self.geometry.pools()).for_each(|pool| self.collection.touched.touch(pool));
        }
    }

    /// For how long a die has to have nothing to do until it rests; `None` where nothing comes of that, or it does.
    #[inline]
    pub fn rest_after(&self, die: DieId) -> Option<Ns> {
        let timing = self.collection.timing.as_ref()?;
        (!timing.resting.get(die.index())).then_some(timing.rest)
    }

    /// A die has nothing to do: it rests when that is so for so long.
    pub fn may_rest<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId, after: Ns) {
        let wake = self.dies.resource(die.0);
        if run.queue.wake_time(wake) == Ns::NEVER {
            run.queue.schedule(wake, run.now + after);
        }
    }

    /// The host asks for nothing any more, and nothing is collected for it: no die waits until it has rested for long enough, or the
    /// run would last so long.
    #[cold]
    pub fn no_die_rests_any_more<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        if !self.collection.is_timed() {
            return;
        }
        for die in (0..self.geometry.dies()).map(DieId) {
            if self.dies[die.0].phase() == Phase::Free {
                run.queue.cancel(self.dies.resource(die.0));
            }
        }
    }

    /// A die rests: its pools reconsider.
    pub fn rest_begins<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        let Some(timing) = &mut self.collection.timing else { return };
        timing.resting.set(die.index());
        run.counters.die_rests += 1;
        // A pool rests when all of its dies do.
        let set = self.geometry.set_of_die(die);
        if !self.geometry.dies_of_set(set).all(|die| timing.resting.get(die.index())) {
            return;
        }
        for pool in self.geometry.pools_of_die(die).map(Pool) {
            self.ftl.set_resting(pool, true);
            self.ftl.set_slc_drain(pool, true);
            self.collection.touched.touch(pool.0);
        }
    }

    /// Something is queued on a die: it will not rest as it was to, and where that is the host's, it rests no more.
    #[cold]
    pub(super) fn rest_ends<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId, class: QueueClass) {
        if self.dies[die.0].phase() == Phase::Free {
            run.queue.cancel(self.dies.resource(die.0));
        }
        let Some(timing) = &mut self.collection.timing else { return };
        if matches!(class, QueueClass::HostRead | QueueClass::HostProgram) && timing.resting.get(die.index()) {
            timing.resting.clear(die.index());
            for pool in self.geometry.pools_of_die(die).map(Pool) {
                self.ftl.set_resting(pool, false);
                self.ftl.set_slc_drain(pool, false);
            }
        }
    }

    /// Where nothing is under way either, host writes that the trigger has wait for garbage collection go on.
    fn found_nothing(&mut self, pool: Pool, under_way: u32) -> CollectionStep {
        let released = under_way == 0 && self.ftl.gc_rests(pool);
        if released || self.ftl.merge_lets_host_go_on(pool) {
            self.line.may_go_on();
        }
        CollectionStep::Rest { released }
    }

    /// A page that a merge leaves empty goes to its die.
    #[cold]
    fn merge_padded<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, padded: Padded) -> CollectionStep {
        let Padded { last, stripe_complete, .. } = padded;
        run.counters.gc_padded_pages += 1;
        self.page_filled(run, pool, Stream::GC, (last, last), stripe_complete);
        CollectionStep::Padded { last }
    }

    /// The open page of moves is filled from the next victim; returns whether there may be one.
    pub fn fill_from_next_victim(&mut self, pool: Pool) -> bool {
        let fill = &mut self.collection.jobs[pool.index()].fill;
        *fill = !*fill;
        *fill
    }

    /// Whether the open page of moves is to be filled from whatever victim.
    #[inline]
    pub fn fills_open_moves(&self, pool: Pool) -> bool {
        self.collection.jobs[pool.index()].fill
    }

    /// One read for all units that are moved from a page.
    pub fn begin_move<Q>(&mut self, run: &mut Run<Q>, pool: Pool, first: Ppa, mut mask: u32) -> Transaction {
        let units = mask.count_ones() as u8;
        let ppa = Ppa(first.0 + mask.trailing_zeros());
        let mut chain = UnitChain::default();
        let kind = self.ftl.kind_of_moves_from(self.group_of(first)) as u8;
        while mask != 0 {
            let from = Ppa(first.0 + mask.trailing_zeros());
            mask &= mask - 1;
            let (lpa, taken_from) = (self.ftl.content(from), self.ftl.residence(from));
            let index = run.transactions.units.insert(UnitRecord { lpa, taken_from, kind, ..UnitRecord::default() });
            chain.push(&mut run.transactions.units, index);
        }
        run.counters.gc_page_reads += 1;
        self.collection.jobs[pool.index()].reads += 1;
        Transaction::move_read(ppa, units, chain.head)
    }

    /// The units of a page that is moved are in the controller, each to be asked about.
    pub fn move_arrived(&mut self, pool: Pool) {
        self.collection.jobs[pool.index()].reads -= 1;
        self.collection.touch(pool);
    }

    /// Whether a unit that was read is still to be moved.
    pub fn move_is_current(&mut self, record: &UnitRecord) -> bool {
        self.ftl.move_is_current(record.lpa, record.taken_from, record.kind.into())
    }

    /// Gives a unit that is moved its new place; `None` where its pool is full.
    pub fn place_move(&mut self, pool: Pool, record: &UnitRecord) -> Option<Placed> {
        self.ftl.place_move(pool, record.lpa, record.taken_from.place)
    }

    /// A move is on the media: the map changes where it still points at the source. Returns whether it did.
    pub fn moved(&mut self, record: &UnitRecord, to: Ppa) -> bool {
        let current = self.ftl.moved(record.lpa, record.taken_from, to);
        if current {
            self.line_follows(record.lpa, record.taken_from, self.ftl.residence(to));
        }
        current
    }

    /// A page of moves is on the media.
    pub fn move_program_ended(&mut self, pool: Pool) {
        self.collection.jobs[pool.index()].programs -= 1;
        self.collection.touch(pool);
    }

    // ---- erases ------------------------------------------------------------------------------------

    /// Queues the erase of a group as soon as no read is queued on it.
    pub fn queue_erase<Q: WakeQueue>(&mut self, run: &mut Run<Q>, group: BlockGroup) {
        if self.ftl.group(group).readers > 0 {
            run.counters.erases_delayed_by_readers += 1;
            self.collection.erases_waiting.push(group.0);
            return;
        }
        if self.geometry.spans_dies() {
            return self.queue_erases(run, group);
        }
        self.enqueue(run, Transaction::erase(self.geometry.first_unit(group)));
    }

    /// The last read queued on a group ended: an erase that waited for it can go.
    #[inline]
    pub(super) fn last_reader_left<Q: WakeQueue>(&mut self, run: &mut Run<Q>, group: BlockGroup) {
        let waiting = &mut self.collection.erases_waiting;
        if waiting.is_empty() {
            return;
        }
        if let Some(position) = waiting.iter().position(|&waiting| waiting == group.0) {
            waiting.swap_remove(position);
            self.queue_erase(run, group);
        }
    }

    /// The erase of a group ended: it is free, or retired for what broke.
    pub fn erased<Q>(&mut self, run: &mut Run<Q>, group: BlockGroup) -> Option<Broken> {
        self.forget_copybacks(group);
        let broken = self.ftl.erase_ended(group);
        run.counters.group_erases += 1;
        self.collection.touch(self.geometry.pool_and_block(group).0);
        self.line.may_go_on();
        broken
    }
}
