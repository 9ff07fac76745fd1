//! The tier of a drive with two media: what decides, what is under way, and who waits.
//!
//! Knows nothing of banks, dies and commands but their numbers: it is told when an access is taken up and when its data is
//! there, and says what is to move.

mod drain;
mod held;
mod line;
mod migration;
mod rest;
mod tenants;
mod through;

use std::ops::Range;

use ninescope_ftl::Residence;
use ninescope_kernel::{BitTable, NONE, Ns, Slab};
use ninescope_tier::{Eviction, OnRead, PlacementConfig, Slot, SlotState, Tier, WriteBack, WriteTo};

use crate::meter::TierSample;
use crate::policies::back_pressure::BackPressureConfig;
use crate::transaction::Harm;
use drain::Drain;
pub use held::HeldWrite;
use held::HeldWrites;
use line::SlotLine;
pub use line::SlotWaiter;
pub use migration::{Migration, MigrationKind, Occasion};
use rest::Rest;
pub use tenants::TenantPages;
use tenants::TierTenant;
use through::Through;

/// What lies below the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lower {
    /// Flash, behind the FTL: a page is a mapping unit.
    #[default]
    Flash,
    /// Storage-type memory: a page is a slot of the second medium.
    Scm,
}

/// How the tier of a drive is built.
#[derive(Clone, Debug)]
pub struct TierConfig {
    /// Where data is placed: one of the placements with two media.
    pub placement: PlacementConfig,
    /// What lies below.
    pub lower: Lower,
    /// Pages on their way down at a time, and as many on their way up.
    pub migrations_in_flight: u32,
    /// Slots of each part that somebody has for himself; none: all share all.
    pub parts: Vec<u32>,
    /// By tenant: his part.
    pub part_of_tenant: Vec<u32>,
    /// When writes are taken in.
    pub back_pressure: BackPressureConfig,
    /// Planes of flash, or banks, below.
    pub planes_below: u32,
    /// The upper medium loses what it holds without power, as DRAM does: a FLUSH takes it down.
    pub volatile: bool,
    /// Every write completes when what it wrote is on the media, as if it asked for that.
    pub acknowledges_at_program: bool,
}

/// The tier and everything that moves through it.
#[derive(Debug)]
pub struct TierPart {
    tier: Tier,
    lower: Lower,
    migrations: Slab<Migration>,
    /// By part: who waits for a slot.
    lines: Vec<SlotLine>,
    /// By part: writes that are held back before they get a slot; none where none are.
    held: Vec<HeldWrites>,
    back_pressure: BackPressureConfig,
    planes_below: u32,
    /// The part that is asked first for the next slot to be emptied: the one behind the last.
    turn: usize,
    /// By tenant: his part, and what he found there.
    tenants: Vec<TierTenant>,
    /// Evictions under way.
    evictions: u32,
    /// Pages on their way up.
    fills: u32,
    /// By page: it is on its way up.
    filling: BitTable,
    in_flight_max: u32,
    /// What each FLUSH waits for, where the upper medium is volatile.
    drain: Option<Drain>,
    /// Writes that wait for what they wrote there to be below.
    through: Option<Through>,
    /// What goes down when the host rests, where something does.
    rest: Option<Rest>,
    /// Every write asks to be on the media.
    acknowledges_at_program: bool,
    /// A slot became free, or a migration ended.
    touched: bool,
    /// When what was used lately is forgotten next.
    forgets_at: Ns,
}

impl TierPart {
    /// An empty upper medium of `slots` above `pages` pages. `depth` commands are inside the drive at most. `None`
    /// where the placement knows one medium only.
    pub fn new(config: &TierConfig, slots: u32, pages: u32, sectors_per_page: u32, depth: u32) -> Option<Self> {
        let parts = if config.parts.is_empty() { std::slice::from_ref(&slots) } else { &config.parts };
        let tier = Tier::divided(&config.placement, parts, pages, sectors_per_page)?;
        let in_flight_max = config.migrations_in_flight.max(1);
        let flush_at_rest = tier.rules().flush_at_rest;
        let forgets_at = tier.rules().classes.forgotten_every.map_or(Ns::ZERO, |every| Ns(every.0));
        Some(Self {
            tier,
            lower: config.lower,
            migrations: Slab::with_capacity(2 * in_flight_max as usize),
            lines: parts.iter().map(|_| SlotLine::new((depth + in_flight_max) * 2, pages)).collect(),
            held: {
                let policy = || config.back_pressure.chosen().build(config.planes_below);
                parts.iter().filter_map(|_| Some(HeldWrites::new(policy()?, depth * 2))).collect()
            },
            back_pressure: config.back_pressure.clone(),
            planes_below: config.planes_below,
            turn: 0,
            tenants: Vec::new(),
            evictions: 0,
            fills: 0,
            filling: BitTable::new(pages as usize),
            in_flight_max,
            drain: config.volatile.then(|| Drain::new(slots, depth)),
            through: config.volatile.then(|| Through::new(slots, depth)),
            rest: flush_at_rest.map(|after| Rest::new(Ns(after.0), slots)),
            acknowledges_at_program: config.acknowledges_at_program,
            touched: false,
            forgets_at,
        })
    }

    // ---- what was seen ---------------------------------------------------------------------------

    /// What decides.
    pub fn tier(&self) -> &Tier {
        &self.tier
    }

    /// What lies below the slots.
    pub fn lower(&self) -> Lower {
        self.lower
    }

    /// A migration under way.
    pub fn migration(&self, index: u32) -> &Migration {
        &self.migrations[index]
    }

    /// Evictions under way at most, and as many pages on their way up.
    pub fn in_flight_max(&self) -> u32 {
        self.in_flight_max
    }

    /// Host writes that wait for a slot, and pages that do so on their way up.
    pub fn waiting(&self) -> usize {
        let held: usize = self.held.iter().map(HeldWrites::len).sum();
        held + self.lines.iter().map(SlotLine::len).sum::<usize>()
    }

    /// The same with migrations under way.
    pub(crate) fn under_way(&self) -> u32 {
        self.waiting() as u32 + self.migrations.len()
    }

    /// Counts from now on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self) {
        self.tier.clear_counters();
        self.forget_tenants();
    }

    /// What the series of a run keeps of it.
    pub(crate) fn sample(&self) -> TierSample {
        let (residency, counters) = (self.tier.residency(), self.tier.counters());
        TierSample {
            slots_used: u64::from(residency.slots() - residency.free_slots()),
            page_accesses: counters.page_accesses,
            page_hits: counters.page_hits,
            evictions: counters.evicted_dirty + counters.evicted_clean,
            fills: counters.copied_up + counters.moved_up,
        }
    }

    /// Whether every write completes when what it wrote is on the media.
    pub fn acknowledges_at_program(&self) -> bool {
        self.acknowledges_at_program
    }

    /// When writes are taken in.
    pub fn back_pressure(&self) -> &BackPressureConfig {
        &self.back_pressure
    }

    /// Planes of flash, or banks, below.
    pub fn planes_below(&self) -> u32 {
        self.planes_below
    }

    // ---- requests of the host --------------------------------------------------------------------

    /// All sectors of a page, a bit each.
    #[inline]
    pub(crate) fn whole(&self) -> u32 {
        self.tier.whole()
    }

    /// The slot of a page.
    #[inline]
    pub(crate) fn slot_of(&self, page: u32) -> Option<u32> {
        self.tier.residency().slot_of(page)
    }

    /// Sectors of a page that are above.
    pub(crate) fn above(&self, page: u32) -> u32 {
        self.slot_of(page).map_or(0, |slot| self.tier.slot(slot).valid)
    }

    /// Where sectors of a page go that a tenant writes with a request of `sectors`.
    pub(crate) fn write(&mut self, tenant: u16, page: u32, mask: u32, sectors: u32) -> WriteTo {
        self.count_access(tenant, self.slot_of(page).is_some());
        self.tier.write(page, mask, sectors)
    }

    /// A write that goes to flash has its place there. Returns the slot that its page left for it, if it had one.
    pub(crate) fn placed_below(&mut self, page: u32) -> Option<u32> {
        self.tier.placed_below(page);
        self.slot_of(page).filter(|_| !self.tier.rules().write_around)?;
        self.tier.counters_mut().replaced_above += 1;
        self.forget(page)
    }

    /// Whether a page has a slot that it leaves when it is written.
    #[inline]
    pub(crate) fn is_in_the_way(&self, page: u32) -> bool {
        self.tier.rules().write_around && self.slot_of(page).is_some()
    }

    /// A page that is written leaves its slot. Returns that, if nothing is under way to it.
    pub(crate) fn makes_way(&mut self, page: u32) -> Option<u32> {
        self.tier.counters_mut().replaced_above += 1;
        self.forget(page)
    }

    /// Whether a write that was to go to flash goes above when its turn comes.
    pub(crate) fn goes_above_by_now(&self, page: u32, sectors: u32) -> bool {
        self.tier.goes_above_by_now(page, sectors)
    }

    /// A write has set out at this time.
    pub(crate) fn time_passes(&mut self, now: Ns) {
        let Some(every) = self.tier.rules().classes.forgotten_every else { return };
        if now > self.forgets_at {
            self.tier.forget_recent();
            self.forgets_at = now + Ns(every.0);
        }
    }

    /// Whether they would go to flash at once.
    pub(crate) fn would_write_below(&mut self, page: u32, mask: u32, sectors: u32) -> bool {
        self.tier.would_write(page, mask, sectors) == WriteTo::Lower
    }

    /// Which of the sectors of a page that a tenant reads are in its slot, in which, and what a read of the others brings
    /// with it.
    pub(crate) fn read(&mut self, tenant: u16, page: u32, mask: u32, sectors: u32) -> (u32, Option<u32>, OnRead) {
        let slot = self.slot_of(page);
        let above = slot.map_or(0, |slot| self.tier.slot(slot).valid & mask);
        self.count_access(tenant, above == mask);
        let on_read = self.tier.read(page, mask, above, sectors);
        (above, slot.filter(|_| above != 0), on_read)
    }

    /// Whether a page that is about to get a slot for sectors that the host writes is to be completed from below.
    pub(crate) fn completes_on_write(&self, mask: u32) -> bool {
        mask != self.whole() && self.tier.rules().fetch_on_write
    }

    /// A page is brought up ahead of a read.
    pub(crate) fn count_fetched_ahead(&mut self) {
        self.tier.counters_mut().fetched_ahead += 1;
    }

    /// A page is completed from below.
    pub(crate) fn count_fetch_on_write(&mut self) {
        self.tier.counters_mut().fetched_on_write += 1;
    }

    /// A write that was to go below goes to the slot of its page.
    pub(crate) fn count_redirect(&mut self) {
        self.tier.counters_mut().writes_redirected += 1;
    }

    /// Whether a request waits for the migrations that it causes; or, of these, for what they read alone.
    pub(crate) fn has_requests_wait(&self) -> bool {
        self.tier.rules().waits()
    }

    /// A page is forgotten, which had a slot.
    pub(crate) fn forget(&mut self, page: u32) -> Option<u32> {
        if let (Some(drain), Some(slot)) = (&mut self.drain, self.tier.residency().slot_of(page)) {
            drain.forgotten(slot);
            self.touched = true;
            if let Some(through) = &mut self.through {
                through.forgotten(slot);
            }
        }
        let slot = self.tier.residency_mut().forget(page)?;
        self.touched = true;
        Some(slot)
    }

    // ---- FLUSH of a volatile medium -----------------------------------------------------------------

    /// Whether what is above is lost without power.
    #[inline]
    pub fn is_volatile(&self) -> bool {
        self.drain.is_some()
    }

    /// A FLUSH comes, which takes down what is dirty above.
    pub(crate) fn flush_comes(&mut self, command: u32) {
        let Some(drain) = &mut self.drain else { return };
        if drain.comes(command) {
            drain.begin(self.tier.residency());
            self.touched = true;
        }
    }

    /// The next FLUSH for which all is below. The one behind it begins.
    pub(crate) fn next_drained_flush(&mut self) -> Option<u32> {
        let drain = self.drain.as_mut()?;
        let command = drain.ends()?;
        if drain.goes_on() {
            drain.begin(self.tier.residency());
            self.touched = true;
        }
        Some(command)
    }

    // ---- writes that go through a volatile medium ----------------------------------------------------

    /// A bank takes up a write that is to be on the media, and had waited `for_slot`. In memory that keeps what it holds, it is
    /// there with that.
    pub(crate) fn goes_through(&mut self, slot: u32, command: u32, for_slot: Ns) {
        let Some(through) = &mut self.through else { return };
        through.taken_up(slot, command, for_slot);
        self.tier.counters_mut().written_through += 1;
        self.touched = true;
    }

    /// A slot has what a write wrote. Returns whether it waits for that to be below.
    pub(crate) fn awaits_copy(&mut self, slot: u32, command: u32) -> bool {
        self.through.as_mut().is_some_and(|through| through.written(slot, command))
    }

    /// The next write whose page is below, and how long it had waited for a slot.
    pub(crate) fn next_written_through(&mut self) -> Option<(u32, Ns)> {
        self.through.as_mut()?.next_done()
    }

    // ---- a host that rests ---------------------------------------------------------------------------

    /// Nothing is inside any more. Returns when the host is taken to rest, where that matters.
    pub(crate) fn nothing_is_inside(&mut self, now: Ns) -> Option<Ns> {
        self.rest.as_mut().map(|rest| rest.may_begin(now))
    }

    /// The host comes with something.
    pub(crate) fn host_comes(&mut self) {
        if let Some(rest) = &mut self.rest {
            rest.ends();
        }
    }

    /// The host may have begun to rest. Returns when it may, if it has not and something may yet come of it.
    pub(crate) fn host_may_rest(&mut self, now: Ns) -> Option<Ns> {
        match self.rest.as_mut()?.begins(now, self.tier.residency()) {
            Ok(()) => {
                self.touched = true;
                None
            }
            Err(later) => later,
        }
    }

    /// The pages behind a read that are to be brought up ahead of those that come: those that are not above.
    pub(crate) fn worth_fetching(&mut self, lba: u64, sectors: u32) -> Range<u32> {
        self.tier.worth_fetching(lba, sectors)
    }

    // ---- accesses of slots -----------------------------------------------------------------------

    /// A read of the host is queued on a slot.
    pub(crate) fn reader_queued(&mut self, slot: u32) {
        self.tier.residency_mut().reader_queued(slot);
    }

    /// A write of a request of so many sectors is queued on a slot.
    pub(crate) fn writer_queued(&mut self, slot: u32, request_sectors: u32) {
        let sequential = self.tier.is_sequential(request_sectors);
        let residency = self.tier.residency_mut();
        residency.touch_written(slot, sequential);
        residency.writer_queued(slot);
    }

    /// A bank takes up a read of the host.
    pub(crate) fn read_taken_up(&mut self, slot: u32) {
        self.touched |= self.tier.residency_mut().reader_left(slot);
    }

    /// A bank takes up a write of the host. Returns the page, and whether all of it is dirty now.
    pub(crate) fn write_taken_up(&mut self, slot: u32, sectors: u32) -> (u32, bool) {
        let whole = self.tier.whole();
        // Eviction may have waited for it.
        self.touched |= self.tier.is_starved();
        let residency = self.tier.residency_mut();
        residency.writer_left(slot);
        let page = residency.slot(slot).page;
        (page, residency.written(slot, sectors, whole))
    }

    // ---- slots for those who wait ----------------------------------------------------------------

    /// Whether slots may have to be emptied or given away before time moves on; they are now.
    pub(crate) fn take_up(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    /// The slot of a page, a free one of a part if it has none yet; and whether it had none.
    pub(crate) fn slot_for(&mut self, page: u32, part: usize) -> Option<(u32, bool)> {
        let residency = self.tier.residency_mut();
        if let Some(slot) = residency.slot_of(page) {
            return Some((slot, false));
        }
        let slot = residency.take(page, part)?;
        self.lines.iter_mut().for_each(|line| line.has_slot(page));
        Some((slot, true))
    }

    /// A write of the host waits for a slot of a part.
    pub(crate) fn write_waits(&mut self, part: usize, command: u32, page: u32, sectors: u32) {
        self.tier.counters_mut().slot_waits += 1;
        self.lines[part].join(page, SlotWaiter::Write { command, page, sectors });
    }

    /// A page on its way up waits for a slot of a part.
    pub(crate) fn fill_waits(&mut self, part: usize, page: u32, migration: u32) {
        self.lines[part].join(page, SlotWaiter::Fill(migration));
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.lines.len()
    }

    /// The first that waits for a slot of a part, and for which page.
    pub(crate) fn first_waiter(&self, part: usize) -> Option<(SlotWaiter, u32)> {
        let waiter = self.lines[part].first()?;
        let page = match waiter {
            SlotWaiter::Write { page, .. } => page,
            SlotWaiter::Fill(migration) => self.migrations[migration].page,
        };
        Some((waiter, page))
    }

    /// It waits no more.
    pub(crate) fn first_waiter_leaves(&mut self, part: usize) {
        self.lines[part].first_leaves();
    }

    /// The next slot to be emptied, as far as the policy wants or those who wait need.
    pub(crate) fn next_eviction(&mut self) -> Option<(Eviction, Occasion)> {
        if self.evictions >= self.in_flight_max {
            return None;
        }
        if let Some(drain) = &mut self.drain
            && let Some(slot) = drain.next(self.tier.residency())
        {
            return Some((self.tier.copy_down(slot), Occasion::Need));
        }
        if let Some(through) = &mut self.through
            && let Some(slot) = through.next(self.tier.residency())
        {
            return Some((self.tier.copy_down(slot), Occasion::Need));
        }
        if let Some(eviction) = self.next_in_turn() {
            return Some((eviction, Occasion::Need));
        }
        let slot = self.rest.as_mut()?.next(self.tier.residency())?;
        self.tier.counters_mut().evicted_at_rest += 1;
        Some((self.tier.copy_down(slot), Occasion::Rest))
    }

    /// The same of parts, each of which has its turn: a tenant that fills his own does not keep others from emptying theirs.
    fn next_in_turn(&mut self) -> Option<Eviction> {
        for _ in 0..self.lines.len() {
            let part = self.turn;
            self.turn = if part + 1 == self.lines.len() { 0 } else { part + 1 };
            let eviction = self.tier.next_eviction(part, self.lines[part].needed());
            if eviction.is_some() {
                return eviction;
            }
        }
        None
    }

    // ---- pages that go down ----------------------------------------------------------------------

    /// The sectors of a dirty slot that go down: all that it holds where whole pages go, else those written in it.
    fn goes_down(&self, slot: &Slot) -> u32 {
        let whole_pages = self.lower == Lower::Flash || self.tier.rules().write_back == WriteBack::WholePages;
        if whole_pages { slot.valid } else { slot.dirty }
    }

    /// Begins to empty a slot, for which `command` waits. Returns the migration, the sectors that are read of the slot, and
    /// whether what completes them is read beside it.
    pub(crate) fn begin_eviction(&mut self, slot: u32, occasion: Occasion, command: u32) -> (u32, u32, bool) {
        let record = *self.tier.slot(slot);
        let mask = self.goes_down(&record);
        let merges = self.lower == Lower::Flash && record.valid != self.tier.whole();
        let rest_is_due = merges && self.tier.rules().waits_for_reads();
        self.evictions += 1;
        let migration = self.migrations.insert(Migration {
            kind: MigrationKind::Evict,
            occasion,
            page: record.page,
            slot,
            forgotten: record.forgotten,
            reads: 1,
            merges,
            rest_is_due,
            command,
            ..Migration::default()
        });
        (migration, mask, merges && !rest_is_due)
    }

    /// The sectors that an eviction has taken up, or will as its slot is.
    pub(crate) fn carried(&self, migration: u32) -> u32 {
        let Migration { slot, sectors, .. } = self.migrations[migration];
        if sectors == 0 { self.tier.slot(slot).valid } else { sectors }
    }

    /// Whether the page was trimmed since its eviction began: nothing of it goes down.
    pub(crate) fn is_void(&self, migration: u32) -> bool {
        let Migration { slot, forgotten, .. } = self.migrations[migration];
        self.tier.slot(slot).forgotten != forgotten
    }

    /// What completes an eviction lies there; with `is_read` it is read.
    pub(crate) fn completes_from(&mut self, migration: u32, taken_from: Residence, is_read: bool) {
        let record = &mut self.migrations[migration];
        (record.taken_from, record.harm_in_flash) = (taken_from, None);
        record.reads += u8::from(is_read);
        self.tier.counters_mut().evictions_merged += u64::from(is_read);
    }

    /// The bank reads the slot now: what it holds goes down, and what is written from now on does not. Returns which sectors
    /// it reads.
    pub(crate) fn eviction_taken_up(&mut self, migration: u32) -> u32 {
        let slot = self.migrations[migration].slot;
        self.tier.residency_mut().read_to_leave(slot);
        if let Some(through) = &mut self.through {
            through.copy_read(slot);
        }
        let sectors = self.goes_down(self.tier.slot(slot));
        self.migrations[migration].sectors = sectors;
        sectors
    }

    /// Whether anybody sees what an eviction carries: nobody does where all of it was written anew above.
    pub(crate) fn is_seen_below(&self, migration: u32) -> bool {
        let Migration { slot, sectors, .. } = self.migrations[migration];
        let carried = if self.lower == Lower::Flash { self.tier.whole() } else { sectors };
        carried & !self.tier.slot(slot).stays_dirty() != 0
    }

    /// The page is on the lower medium: its slot is free, unless it was written meanwhile. Returns whether it is, and whether
    /// all of it was.
    pub(crate) fn eviction_ended(&mut self, migration: u32) -> (bool, bool) {
        let (slot, void) = (self.migrations[migration].slot, self.is_void(migration));
        self.evictions -= 1;
        let gone = self.tier.left(slot);
        if let Some(drain) = &mut self.drain {
            let behind = !gone && self.tier.slot(slot).dirty != 0;
            drain.left(slot, behind, void);
        }
        if let Some(through) = &mut self.through {
            through.left(slot);
        }
        let written_anew = !gone && self.tier.slot(slot).dirty == self.tier.whole();
        debug_assert!(gone == (self.tier.slot(slot).state != SlotState::Resident), "gone or resident");
        (gone, written_anew)
    }

    // ---- pages that go up ------------------------------------------------------------------------

    /// Whether what a read of the host brings up is no more to be read, so that nobody waits for it.
    pub(crate) fn is_read(&self, reads: u8) -> bool {
        reads == 0 && self.tier.rules().waits_for_reads()
    }

    /// Whether a page may be brought up. It is on its way then.
    pub(crate) fn may_fill(&mut self, page: u32) -> bool {
        if self.filling.get(page as usize) {
            return false;
        }
        if self.fills >= self.in_flight_max {
            self.tier.counters_mut().fills_skipped += 1;
            return false;
        }
        self.filling.set(page as usize);
        self.fills += 1;
        true
    }

    /// Begins to bring such a page up.
    pub(crate) fn begin_fill(&mut self, record: Migration) -> u32 {
        self.migrations.insert(record)
    }

    /// A page that goes up has its slot. Returns the sectors that it lacks there: what the host is about to write need not
    /// be read below.
    pub(crate) fn fill_got_slot(&mut self, migration: u32, slot: u32) -> u32 {
        let lacking = self.tier.whole() & !self.tier.slot(slot).valid & !self.migrations[migration].sectors;
        let forgotten = self.tier.slot(slot).forgotten;
        self.tier.residency_mut().writer_queued(slot);
        let record = &mut self.migrations[migration];
        (record.slot, record.forgotten) = (slot, forgotten);
        lacking
    }

    /// Which of some sectors a page on its way up still lacks in its slot.
    pub(crate) fn sectors_to_fill(&self, migration: u32, sectors: u32) -> u32 {
        self.tier.residency().sectors_to_fill(self.migrations[migration].slot, sectors)
    }

    /// Whether what was read of a page is still what is below, as far as the page was not forgotten since.
    pub(crate) fn is_current(&self, migration: u32) -> bool {
        let Migration { slot, forgotten, .. } = self.migrations[migration];
        self.tier.slot(slot).forgotten == forgotten
    }

    /// What goes up is not wanted, because it is not current.
    pub(crate) fn count_dropped_fill(&mut self) {
        self.tier.counters_mut().fills_dropped += 1;
    }

    /// A bank writes sectors of a page that goes up. Returns whether the lower medium is to forget the page.
    pub(crate) fn fill_taken_up(&mut self, migration: u32, sectors: u32) -> bool {
        let Migration { slot, kind, .. } = self.migrations[migration];
        let (moves, whole) = (kind == MigrationKind::MoveUp, self.tier.whole());
        let residency = self.tier.residency_mut();
        residency.filled(slot, sectors, moves);
        let all_dirty = residency.slot(slot).stays_dirty() == whole;
        let counters = self.tier.counters_mut();
        counters.copied_up += u64::from(!moves);
        counters.moved_up += u64::from(moves);
        moves && all_dirty
    }

    /// The page is above, or nothing of it was wanted any more.
    pub(crate) fn fill_ended(&mut self, migration: u32) {
        let Migration { page, slot, .. } = self.migrations[migration];
        self.fills -= 1;
        self.filling.clear(page as usize);
        self.tier.residency_mut().writer_left(slot);
    }

    /// A slot that holds nothing is given back. Returns whether it is.
    pub(crate) fn drop_if_empty(&mut self, slot: u32) -> bool {
        self.tier.residency_mut().drop_if_empty(slot)
    }

    // ---- both ways -------------------------------------------------------------------------------

    /// Something that a migration read is in the controller. Returns whether what completes an eviction is to be read now.
    pub(crate) fn read_arrived(&mut self, migration: u32) -> bool {
        let record = &mut self.migrations[migration];
        record.reads -= 1;
        record.reads == 0 && std::mem::take(&mut record.rest_is_due) && !self.is_void(migration)
    }

    /// Whether all that a migration reads is there.
    pub(crate) fn has_read_all(&self, migration: u32) -> bool {
        self.migrations[migration].reads == 0
    }

    /// The command that waits no longer, if it waited for what a migration reads alone; `NONE` for none.
    pub(crate) fn wait_for_reads_ends(&mut self, migration: u32) -> u32 {
        let reads_alone = self.tier.rules().waits_for_reads();
        let command = &mut self.migrations[migration].command;
        if reads_alone { std::mem::replace(command, NONE) } else { NONE }
    }

    /// A migration is over. Returns what it was.
    pub(crate) fn end(&mut self, migration: u32) -> Migration {
        let record = self.migrations[migration];
        self.migrations.remove(migration);
        self.touched = true;
        record
    }

    /// All of a page is dirty above: what flash held of it is forgotten.
    pub(crate) fn count_superseded(&mut self) {
        self.tier.counters_mut().superseded_below += 1;
    }

    /// What a migration read from flash is no good.
    pub(crate) fn harm_in_flash(&mut self, migration: u32, harm: Harm) {
        self.migrations[migration].harm_in_flash = Some(harm);
    }

    /// What a bank read for a migration is no good.
    pub(crate) fn harm_in_slot(&mut self, migration: u32, harm: Harm) {
        self.migrations[migration].harm_in_slot = Some(harm);
    }

    /// The page of a migration, and what is wrong with what it carries; `of_flash` says that what it read from flash is in it.
    pub(crate) fn harms_of(&self, migration: u32, of_flash: bool) -> (u32, [Option<Harm>; 2]) {
        let Migration { page, harm_in_flash, harm_in_slot, .. } = self.migrations[migration];
        (page, [harm_in_flash.filter(|_| of_flash), harm_in_slot])
    }
}
