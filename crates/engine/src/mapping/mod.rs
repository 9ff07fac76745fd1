//! A map that lies in flash: what of it is in memory, which commands wait for more, and which of its pages are to be written
//! anew.
//!
//! Knows nothing of dies, nor of how long they take: it says which page is to be read or written, and is told when it was. What the map says is
//! known to the translation layer all along; here is when the drive may know it.

mod cache;
mod host_memory;

use std::collections::VecDeque;
use std::ops::Range;

use ninescope_ftl::Ftl;
use ninescope_kernel::{BitTable, Chance, NONE, Ns, Slab};
use ninescope_model::units::Bytes;
use ninescope_model::{Geometry, Lpa, Ppa};
use serde::Serialize;

use crate::policies::mapping::{MapConfig, MapRules};

use cache::MapCache;
use host_memory::{Asked, HostMemory};

/// Entries of a page of the map, which takes one mapping unit, and pages of a map of so many units.
pub fn map_pages(rules: &MapRules, geometry: &Geometry, units: u32) -> (u32, u32) {
    let entries = (u64::from(geometry.unit_bytes) / rules.entry_size.0.max(1)).max(1) as u32;
    (entries, units.div_ceil(entries))
}

/// What was counted of a cached map since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MapCounters {
    /// Units of commands whose entry was in memory.
    pub hits: u64,
    /// Units of commands whose entry was not.
    pub misses: u64,
    /// Pages of the map that commands waited for; of several that waited for one at a time it counts once.
    pub pages_fetched: u64,
    /// Of these, pages that were never written or were still in the controller.
    pub pages_fetched_from_controller: u64,
    /// Of these, pages of which the host's memory held what was wanted.
    pub pages_fetched_from_host: u64,
    /// Entries or pages that left memory.
    pub evictions: u64,
    /// Of these, those that were not as they lay on the media.
    pub dirty_evictions: u64,
    /// Changes of entries that were not in memory, most of them moves of garbage collection.
    pub changes_outside: u64,
    /// Pages of the map that were written anew.
    pub pages_written: u64,
    /// Pages that were read to be written anew, because not all of them was in memory.
    pub pages_read_to_update: u64,
    /// Pages that were read, could not be corrected, and were found again from what lies beside data.
    pub pages_rebuilt: u64,
    /// Reads of pages that went before other reads that had waited for their die.
    pub reads_ahead: u64,
    /// Bytes that crossed the link from the host's memory.
    pub bytes_over_link: u64,
}

/// Whether the entry of a unit had changed before the run, where that is so likely.
fn is_changed_at_start(ftl: &Ftl, chance: Chance, unit: u32) -> bool {
    ftl.translate(Lpa(unit)) != Ppa::UNMAPPED && chance.falls_on(u64::from(unit))
}

/// What became of what is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheChange {
    /// The entry of a unit is in memory, or the page that tells of it.
    Came(Lpa),
    /// An entry or a page whose first unit is this one is in memory no more. It was not as it lies on the media if `dirty`.
    Left {
        /// The unit.
        first: Lpa,
        /// Whether it was not.
        dirty: bool,
    },
    /// What left the drive is in the host's memory: it is used last there.
    CameToHost(Lpa),
    /// It is not any more.
    LeftHost(Lpa),
    /// Something of a page left memory changed, and nothing is written: the page stays in the controller as it is now.
    PageKept(u32),
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapStep {
    /// Commands wait for a page, which comes from there.
    Fetch {
        /// The page.
        page: u32,
        /// Where from.
        from: FetchFrom,
    },
    /// A page is to be written anew; with `read` it is read first, because what did not change of it is not in the controller.
    Update {
        /// The page.
        page: u32,
        /// Whether it is.
        read: bool,
    },
}

/// Where what commands want of a page of the map comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchFrom {
    /// It is in the controller.
    Controller,
    /// It is in the host's memory, and in the controller at a time.
    Host(Ns),
    /// It has to be read.
    Media,
}

/// A command that waits for a page of the map.
#[derive(Clone, Copy, Debug, Default)]
struct Waiter {
    command: u32,
    /// The units it asks for.
    first: u32,
    end: u32,
    /// The one before it that waits for the page.
    before: u32,
}

/// How long a command waits for the map.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// Pages that are not there yet.
    pages: u32,
    since: Ns,
    /// In all [ns].
    time: Ns,
}

/// A map that lies in flash.
#[allow(clippy::struct_excessive_bools)] // what the description says, each by itself
#[derive(Debug)]
pub struct Mapping {
    cache: MapCache,
    host: Option<HostMemory>,
    /// By unit: its entry is not as it lies on the media.
    stale: BitTable,
    /// By page: the last command that began to wait for it.
    waiting: Vec<u32>,
    waiters: Slab<Waiter>,
    /// Pages to be read for commands, in order.
    fetches: VecDeque<u32>,
    /// By page: it is to be written anew, and was not yet. It is written as the map is then.
    is_to_be_written: BitTable,
    /// By page: it left memory whole, and is in the controller until it is written; for good where nothing is written.
    is_held: BitTable,
    /// Those that are to be written of which nothing was done yet, in order.
    update_line: VecDeque<u32>,
    updates_under_way: u32,
    updates_max: u32,
    /// What a read for commands moves of a page; 0: all of it [B].
    fetch_bytes: u32,
    /// Writes wait for what is not in memory.
    writes_wait: bool,
    /// Where programs wait: pages of the map that are read beside what is written.
    awaited_by_programs: Option<BitTable>,
    /// A die reads pages of the map before what else commands wait for.
    reads_first: bool,
    /// Memory was full when the run began.
    is_warm: bool,
    /// How likely an entry of what the drive held had changed before the run.
    changed_at_start: Chance,
    /// What leaves changed is written.
    is_written: bool,
    /// Finding a page again that cannot be read.
    rebuild_time: Ns,
    /// By place of a command in the device.
    waits: Vec<Wait>,
    /// The same: units that it has looked up, where it may have to look up more of them later.
    looked_up: Vec<Vec<u32>>,
    /// Commands for which everything is there.
    ready: VecDeque<u32>,
    /// What came into memory and left it and was not told yet; kept where somebody is told.
    changes: Option<VecDeque<CacheChange>>,
    /// Pages that are to be written anew and that nobody was told of yet; the same.
    updates_wanted: Option<VecDeque<u32>>,
    counters: MapCounters,
}

impl Mapping {
    /// Of a map of the units of `ftl` nothing is in memory, or what fits where it is warm, for so many commands at a time; `None` where
    /// all of it is. With `tells` it is kept what comes into memory and leaves it until it was asked for.
    pub fn new(config: &MapConfig, ftl: &Ftl, commands: u32, tells: bool) -> Option<Self> {
        let rules = config.chosen().rules()?;
        let pages = ftl.translation_units() as usize;
        let (units, entries) = (ftl.logical_units(), ftl.translation_entries());
        let cache = |rules: MapRules, size: Bytes| MapCache::new(rules.policy, size.0, units, entries);
        // Where nothing is written there is nothing to wait for.
        let updates_max = if rules.written { rules.updates_in_flight.max(1) } else { u32::MAX };
        let (access, size) = (rules.host_access, rules.size);
        let (writes_wait, programs_wait) = (rules.writes_wait, rules.programs_wait);
        let (is_written, rebuild_time) = (rules.written, rules.rebuild_time);
        let reads_first = rules.reads_first;
        let fetch_bytes = rules.fetch_size.map_or(0, |size| size.0 as u32);
        let mut stale = BitTable::new(units as usize);
        let (is_warm, changed_at_start) = (rules.warm, Chance::of(rules.changed_at_start));
        if changed_at_start != Chance::NEVER {
            let is_changed = |unit: &u32| is_changed_at_start(ftl, changed_at_start, *unit);
            (0..units).filter(is_changed).for_each(|unit| stale.set(unit as usize));
        }
        let of_host = rules.host_memory.zip(config.chosen().rules());
        let host = of_host.map(|(size, rules)| {
            let takes_link = rules.host_link;
            HostMemory::new(cache(rules, size), access, takes_link, commands)
        });
        let mut made = Self {
            cache: cache(rules, size),
            host,
            stale,
            waiting: vec![NONE; pages],
            waiters: Slab::with_capacity(commands as usize * 2),
            fetches: VecDeque::with_capacity(commands as usize * 2),
            is_to_be_written: BitTable::new(pages),
            is_held: BitTable::new(pages),
            update_line: VecDeque::with_capacity(pages),
            updates_under_way: 0,
            updates_max,
            fetch_bytes,
            writes_wait,
            awaited_by_programs: programs_wait.then(|| BitTable::new(pages)),
            reads_first,
            is_warm,
            changed_at_start,
            is_written,
            rebuild_time,
            waits: vec![Wait::default(); commands as usize],
            looked_up: Vec::new(),
            ready: VecDeque::with_capacity(commands as usize),
            changes: tells.then(VecDeque::new),
            updates_wanted: None,
            counters: MapCounters::default(),
        };
        if is_warm {
            made.warms(ftl);
        }
        Some(made)
    }

    /// Fills memory with entries of what the drive holds that are as on the media, or with pages that have such, as much as fits for
    /// certain and spread evenly.
    fn warms(&mut self, ftl: &Ftl) {
        let is_held = |unit: &u32| ftl.translate(Lpa(*unit)) != Ppa::UNMAPPED && !self.stale.get(*unit as usize);
        let pages = (0..self.waiting.len() as u32).map(|page| self.cache.units_of_page(page));
        let held: Vec<u32> = if self.cache.holds_pages() {
            pages.filter_map(|mut units| units.find(is_held)).collect()
        } else {
            (0..ftl.logical_units()).filter(is_held).collect()
        };
        let entries = ftl.translation_entries();
        let fit = (self.cache.bytes_max() / u64::from(self.cache.item_bytes(entries, entries).max(1))) as usize;
        let items = fit.min(held.len());
        for item in 0..items {
            self.comes(ftl, held[item * held.len() / items]);
        }
    }

    // ---- commands ----------------------------------------------------------------------------------

    /// Looks the entry of a unit up for a command. Returns whether it is in memory.
    #[inline]
    pub fn look_up(&mut self, unit: u32) -> bool {
        let hit = self.cache.look_up(unit);
        *(if hit { &mut self.counters.hits } else { &mut self.counters.misses }) += 1;
        hit
    }

    /// The same, where it is; where it is not nothing is counted, and it is to be looked up.
    #[inline]
    pub fn looks_up_at_once(&mut self, unit: u32) -> bool {
        let hit = self.cache.look_up(unit);
        self.counters.hits += u64::from(hit);
        hit
    }

    /// A command is about to look a unit up. Returns whether it has done so before.
    pub fn looks_up_again(&mut self, command: u32, unit: u32) -> bool {
        if self.looked_up.len() <= command as usize {
            // As in `await_page`.
            self.looked_up.resize_with(command as usize + 1, Vec::new);
        }
        let units = &mut self.looked_up[command as usize];
        let again = units.contains(&unit);
        if !again {
            units.push(unit);
        }
        again
    }

    /// The page of the map that tells of a unit.
    pub fn page_of(&self, unit: Lpa) -> u32 {
        self.cache.page_of(unit.0)
    }

    /// A command waits for the entries of these units, which lie in one page of the map. Returns whether nobody waits for that yet.
    pub fn await_page(&mut self, command: u32, units: Range<u32>, now: Ns) -> bool {
        let page = self.cache.page_of(units.start);
        let last = &mut self.waiting[page as usize];
        let is_first = *last == NONE;
        if is_first {
            self.fetches.push_back(page);
        }
        *last = self.waiters.insert(Waiter { command, first: units.start, end: units.end, before: *last });
        if self.waits.len() <= command as usize {
            // One is inside under a number beyond the places there are while the host is not told of others.
            self.waits.resize(command as usize + 1, Wait::default());
        }
        let wait = &mut self.waits[command as usize];
        (wait.pages, wait.since) = (wait.pages + 1, now);
        is_first
    }

    /// The entry of a unit that is written is in memory from now on, because it is known where the unit will lie. Beside
    /// that its page is read, which tells where it lies now; returns whether nobody waits for that yet.
    pub fn write_goes_on(&mut self, ftl: &Ftl, unit: u32) -> bool {
        let page = self.cache.page_of(unit);
        if let Some(awaited) = &mut self.awaited_by_programs {
            awaited.set(page as usize);
        }
        let is_first = self.waiting[page as usize] == NONE;
        if is_first {
            self.fetches.push_back(page);
            self.waiting[page as usize] =
                self.waiters.insert(Waiter { command: NONE, first: unit, end: unit + 1, before: NONE });
        }
        self.comes(ftl, unit);
        is_first
    }

    /// Whether commands that write wait for what is not in memory.
    #[inline]
    pub fn writes_wait(&self) -> bool {
        self.writes_wait
    }

    /// Whether what is written is looked up as it gets its place, and its program waits for what is not in memory.
    #[inline]
    pub fn programs_wait(&self) -> bool {
        self.awaited_by_programs.is_some()
    }

    /// Whether a die reads pages of the map before what else commands wait for.
    pub fn reads_first(&self) -> bool {
        self.reads_first
    }

    /// Whether memory was full when the run began.
    pub fn is_warm(&self) -> bool {
        self.is_warm
    }

    /// Whether the entry of a unit was not as it lay on the media when the run began, which is the same for everyone who asks then.
    pub fn was_changed_at_start(&self, ftl: &Ftl, unit: u32) -> bool {
        is_changed_at_start(ftl, self.changed_at_start, unit)
    }

    /// A read of a page of the map went before others that had waited for its die.
    pub fn went_ahead(&mut self) {
        self.counters.reads_ahead += 1;
    }

    fn comes(&mut self, ftl: &Ftl, unit: u32) {
        self.cache.insert(ftl, unit);
        self.note(CacheChange::Came(Lpa(unit)));
        self.make_room(ftl);
    }

    /// A page of the map that commands wait for is in the controller: what they ask for is in memory from now on.
    pub fn arrived(&mut self, ftl: &Ftl, page: u32, now: Ns) {
        if let Some(awaited) = &mut self.awaited_by_programs {
            awaited.clear(page as usize);
        }
        let mut next = self.first_that_waits(page);
        while next != NONE {
            let Waiter { command, first, end, before: behind } = self.waiters[next];
            self.waiters.remove(next);
            next = behind;
            if command == NONE {
                continue;
            }
            let units = if self.cache.holds_pages() { first..first + 1 } else { first..end };
            for unit in units {
                self.comes(ftl, unit);
            }
            let wait = &mut self.waits[command as usize];
            wait.pages -= 1;
            if wait.pages == 0 {
                wait.time += now - wait.since;
                self.ready.push_back(command);
            }
        }
    }

    /// Turns the chain of those that wait for a page around, and takes it out.
    fn first_that_waits(&mut self, page: u32) -> u32 {
        let (mut at, mut behind) = (std::mem::replace(&mut self.waiting[page as usize], NONE), NONE);
        while at != NONE {
            let before = std::mem::replace(&mut self.waiters[at].before, behind);
            (behind, at) = (at, before);
        }
        behind
    }

    /// A command that waited and for which everything is there, and since when it did.
    pub fn next_ready(&mut self) -> Option<(u32, Ns)> {
        let command = self.ready.pop_front()?;
        Some((command, self.waits[command as usize].since))
    }

    /// How long a command that ends has waited for the map.
    #[inline]
    pub fn take_wait(&mut self, command: u32) -> Ns {
        if let Some(looked_up) = self.looked_up.get_mut(command as usize) {
            looked_up.clear();
        }
        self.waits.get_mut(command as usize).map_or(Ns::ZERO, |wait| std::mem::take(&mut wait.time))
    }

    // ---- changes -----------------------------------------------------------------------------------

    /// A unit lies elsewhere from now on. Where its entry is not in memory the page that tells of it is to be written anew.
    #[inline]
    pub fn changed(&mut self, ftl: &Ftl, unit: Lpa) {
        if ftl.is_translation(unit) {
            // Where pages of the map lie is always in memory.
            return;
        }
        self.stale.set(unit.index());
        // Most often its entry is in memory, and takes as much as before.
        if self.host.is_some() || !self.cache.keeps(unit.0) {
            self.changes_memory(ftl, unit);
        }
    }

    /// What changes of a unit may change what is in memory.
    #[inline(never)]
    fn changes_memory(&mut self, ftl: &Ftl, unit: Lpa) {
        if let Some(host) = &mut self.host {
            host.changed(ftl, unit.0);
        }
        if !self.cache.changed(ftl, unit.0) {
            self.counters.changes_outside += 1;
            self.want_update(self.cache.page_of(unit.0));
        } else if self.cache.bytes() > self.cache.bytes_max() {
            self.make_room(ftl);
        }
        self.make_room_in_host();
    }

    /// What was used longest ago leaves until the rest fits.
    fn make_room(&mut self, ftl: &Ftl) {
        while let Some(units) = self.cache.evict() {
            let first = Lpa(units.start);
            let dirty = self.stale.next_set_before(units.start as usize, units.end as usize).is_some();
            self.counters.evictions += 1;
            if dirty {
                self.counters.dirty_evictions += 1;
            }
            self.note(CacheChange::Left { first, dirty });
            if dirty {
                let page = self.cache.page_of(first.0);
                self.want_update(page);
                if self.is_written && self.cache.holds_pages() {
                    self.is_held.set(page as usize);
                }
            }
            if let Some(host) = &mut self.host {
                host.takes(ftl, first.0);
                self.note(CacheChange::CameToHost(first));
                self.make_room_in_host();
            }
        }
    }

    /// The same of the host's memory.
    fn make_room_in_host(&mut self) {
        while let Some(first) = self.host.as_mut().and_then(HostMemory::evict) {
            self.note(CacheChange::LeftHost(Lpa(first)));
        }
    }

    fn note(&mut self, change: CacheChange) {
        if let Some(changes) = &mut self.changes {
            changes.push_back(change);
        }
    }

    /// What changed since it was last asked, in order, where that is kept.
    pub fn next_change(&mut self) -> Option<CacheChange> {
        self.changes.as_mut()?.pop_front()
    }

    /// Pages that are to be written anew are told from now on.
    pub fn tell_updates(&mut self) {
        self.updates_wanted = Some(VecDeque::new());
    }

    /// The next one, where that is told.
    pub fn next_update_wanted(&mut self) -> Option<u32> {
        self.updates_wanted.as_mut()?.pop_front()
    }

    fn joins_updates(&mut self, page: u32) {
        self.update_line.push_back(page);
        if let Some(wanted) = &mut self.updates_wanted {
            wanted.push_back(page);
        }
    }

    /// A page is to be written as the map is now. Where nothing is written it stays in the controller, and what did not change of
    /// it is read beside, once.
    fn want_update(&mut self, page: u32) {
        if !self.is_written {
            self.is_as_held(page);
            if !self.is_held.get(page as usize) {
                self.is_held.set(page as usize);
                self.joins_updates(page);
                self.note(CacheChange::PageKept(page));
            }
        } else if !self.is_to_be_written.get(page as usize) {
            self.is_to_be_written.set(page as usize);
            self.joins_updates(page);
        }
    }

    // ---- reading and writing -----------------------------------------------------------------------

    /// Whether anything waits to be read or written.
    #[inline]
    pub fn may_have_work(&self) -> bool {
        !self.fetches.is_empty() || !self.update_line.is_empty()
    }

    /// What left memory changed waits to be written: as long as too much of it does, nothing more comes in but what programs
    /// wait for, without which the buffer might stay full and nothing be written. When nothing more comes from the host nothing of
    /// that is written any more, and what is still wanted beside a write is read.
    fn next_fetch(&mut self, host_is_over: bool) -> Option<u32> {
        if host_is_over || self.update_line.len() <= self.updates_max as usize {
            return self.fetches.pop_front();
        }
        let awaited = self.awaited_by_programs.as_ref()?;
        let at = self.fetches.iter().position(|page| awaited.get(*page as usize))?;
        self.fetches.remove(at)
    }

    /// When nothing more comes from the host, what changed stays in memory: garbage collection, which changes the map, and
    /// writes of the map, which make garbage, could go on for ever.
    fn may_update(&self, host_is_over: bool) -> bool {
        !host_is_over && self.updates_under_way < self.updates_max && !self.update_line.is_empty()
    }

    /// What is to be done now.
    pub fn next_step(&mut self, ftl: &Ftl, host_is_over: bool, now: Ns) -> Option<MapStep> {
        if self.may_update(host_is_over) {
            let page = self.update_line.pop_front()?;
            self.updates_under_way += 1;
            let read = !self.is_written || !self.is_in_controller(ftl, page);
            self.counters.pages_read_to_update += u64::from(read);
            return Some(MapStep::Update { page, read });
        }
        if let Some(page) = self.next_fetch(host_is_over) {
            let from = self.fetch_from(ftl, page, now);
            self.counters.pages_fetched += 1;
            self.counters.pages_fetched_from_controller += u64::from(from == FetchFrom::Controller);
            self.counters.pages_fetched_from_host += u64::from(matches!(from, FetchFrom::Host(_)));
            return Some(MapStep::Fetch { page, from });
        }
        None
    }

    fn fetch_from(&mut self, ftl: &Ftl, page: u32, now: Ns) -> FetchFrom {
        if self.is_in_controller(ftl, page) {
            return FetchFrom::Controller;
        }
        let waits_for = |unit: u32| !self.cache.holds(unit);
        let mut next = self.waiting[page as usize];
        let mut host = self.host.as_mut();
        while next != NONE {
            let Waiter { command, first, end, before } = self.waiters[next];
            // What a write has brought in is in memory, and what was there before is not known.
            let is_missing = |unit: u32| command == NONE || waits_for(unit);
            host = host.filter(|host| (first..end).all(|unit| !is_missing(unit) || host.holds(unit)));
            next = before;
        }
        if host.is_none() {
            return FetchFrom::Media;
        }
        let bytes = self.asked_of_host(page);
        self.host.as_mut().map_or(FetchFrom::Media, |host| FetchFrom::Host(host.asked_for(page, bytes, now)))
    }

    /// What crosses the link of what is wanted of a page: each item once that is not in memory. 0 where the link takes no time [B].
    fn asked_of_host(&self, page: u32) -> u32 {
        let Some(host) = self.host.as_ref().filter(|host| host.takes_link()) else { return 0 };
        let last = self.waiting[page as usize];
        let is_asked_for = |waiter: &Waiter, unit: u32| {
            (waiter.first..waiter.end).contains(&unit) && (waiter.command == NONE || !self.cache.holds(unit))
        };
        let (mut bytes, mut at) = (0, last);
        while at != NONE {
            let waiter = &self.waiters[at];
            for unit in (waiter.first..waiter.end).filter(|&unit| is_asked_for(waiter, unit)) {
                let mut behind = last;
                while behind != at && !is_asked_for(&self.waiters[behind], unit) {
                    behind = self.waiters[behind].before;
                }
                bytes += if behind == at { host.bytes_of(unit) } else { 0 };
                if self.cache.holds_pages() {
                    return bytes;
                }
            }
            at = waiter.before;
        }
        bytes
    }

    /// A page of which the host's memory holds what is wanted, and that is in the controller by `now`, or has come to the link by
    /// then.
    pub fn next_from_host(&mut self, now: Ns) -> Option<Asked> {
        self.host.as_mut()?.next(now)
    }

    /// What was asked for crosses the link until then.
    pub fn crosses_link(&mut self, asked: Asked, until: Ns) {
        self.counters.bytes_over_link += u64::from(asked.bytes);
        if let Some(host) = &mut self.host {
            host.crosses(asked.page, until);
        }
    }

    /// A page of which something has crossed the link by now.
    pub fn next_over_link(&mut self, now: Ns) -> Option<u32> {
        self.host.as_mut()?.next_crossed(now)
    }

    /// From asking for something in the host's memory until it comes to the link; none where there is no such memory or the link
    /// takes no time.
    pub fn access_before_link(&self) -> Option<Ns> {
        self.host.as_ref().filter(|host| host.takes_link()).map(HostMemory::access)
    }

    /// When the next one is, or has.
    pub fn next_from_host_at(&self) -> Option<Ns> {
        self.host.as_ref()?.next_at()
    }

    /// Whether all of a page is known without reading it: it was never written, or is in memory or on its way from there to
    /// the media.
    fn is_in_controller(&self, ftl: &Ftl, page: u32) -> bool {
        let in_memory = || self.cache.holds_pages() && self.cache.holds(self.cache.units_of_page(page).start);
        let place = ftl.translate(ftl.translation_unit(page));
        self.is_held.get(page as usize) || in_memory() || place == Ppa::UNMAPPED || ftl.is_in_flight(place)
    }

    /// A page was written as the map is now.
    pub fn written(&mut self, page: u32) {
        self.counters.pages_written += 1;
        self.is_as_held(page);
        self.updates_under_way -= 1;
        self.is_to_be_written.clear(page as usize);
        self.is_held.clear(page as usize);
    }

    /// What did not change of a page that is to be written was read. Returns whether that is all, because nothing is written.
    pub fn read_beside(&mut self) -> bool {
        self.updates_under_way -= u32::from(!self.is_written);
        !self.is_written
    }

    /// What was read of so many pages is no good. Returns how long it takes to find their entries again.
    pub fn lost(&mut self, pages: u32) -> Ns {
        self.counters.pages_rebuilt += u64::from(pages);
        self.rebuild_time
    }

    /// A page that commands wait for was found again. It is whole in the controller and written anew; what is never written is
    /// read once more, to be kept.
    pub fn rebuilt(&mut self, page: u32) {
        if !self.is_written && self.is_held.get(page as usize) {
            // It was kept while it was read.
            return;
        }
        self.want_update(page);
        if self.is_written {
            self.is_held.set(page as usize);
        }
    }

    /// What lies on the media or in the controller of a page is what the map is now.
    fn is_as_held(&mut self, page: u32) {
        let units = self.cache.units_of_page(page);
        self.stale.clear_range(units.start as usize, units.end as usize);
    }

    /// What a read for commands moves of a page; 0: all of it [B].
    pub fn fetch_bytes(&self) -> u32 {
        self.fetch_bytes
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// What was counted since measuring began.
    pub fn counters(&self) -> &MapCounters {
        &self.counters
    }

    /// Counts from now on: end of warm-up.
    pub fn begin_measuring(&mut self) {
        self.counters = MapCounters::default();
    }

    /// What the cache takes, and may take at most [B].
    pub fn bytes(&self) -> (u64, u64) {
        (self.cache.bytes(), self.cache.bytes_max())
    }

    /// Finding a page again that cannot be read.
    pub fn rebuild_time(&self) -> Ns {
        self.rebuild_time
    }

    /// Whether what leaves changed is written.
    pub fn is_written(&self) -> bool {
        self.is_written
    }

    /// Whether a page is to be written anew and was not yet, or would be if anything were.
    pub fn is_to_be_written(&self, page: u32) -> bool {
        let would_be = || !self.is_written && self.is_held.get(page as usize);
        self.is_to_be_written.get(page as usize) || would_be()
    }

    /// Whether whole pages of the map are cached, not single entries.
    pub fn holds_pages(&self) -> bool {
        self.cache.holds_pages()
    }

    /// What an item of the cache takes that tells of so many units in so many runs [B].
    pub fn item_bytes(&self, entries: u32, runs: u32) -> u32 {
        self.cache.item_bytes(entries, runs)
    }

    /// Commands that wait for the map, and pages that are being written anew.
    pub fn under_way(&self) -> usize {
        self.waiters.len() as usize + self.updates_under_way as usize
    }
}
