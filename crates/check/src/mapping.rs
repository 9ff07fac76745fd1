//! A map that lies in flash: which entries are in memory, by a naive account of when each was used last, which are not as
//! they lie on the media, and which pages of the map commands wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use ninescope_engine::mapping::{CacheChange, MapCounters, Mapping};
use ninescope_engine::{Access, View};
use ninescope_kernel::{BitTable, Ns};
use ninescope_media::nand::{FlashCommand, PlaneReads};
use ninescope_model::{DieId, Lpa, Ppa, Source, Stream};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What is known of a command.
#[derive(Clone, Debug, Default)]
struct Command {
    /// Units that it looked up.
    looked_up: BTreeSet<u32>,
    /// Pages of the map that it waits for.
    missing: BTreeSet<u32>,
    /// When it began to wait, and how long it did [ns].
    since: Ns,
    waited: Ns,
}

/// The checker's own account.
#[derive(Debug)]
pub struct MapBook {
    entries: u32,
    units: u32,
    holds_pages: bool,
    /// Entries or pages that are in memory from the start, until the first is looked up.
    warm: Option<usize>,
    /// What is in memory, by its first unit: when it was used last.
    used: BTreeMap<u32, u64>,
    /// The same by that.
    by_use: BTreeMap<u64, u32>,
    /// The same of what is in the host's memory.
    host_used: BTreeMap<u32, u64>,
    host_by_use: BTreeMap<u64, u32>,
    clock: u64,
    /// Units whose entries are not as they lie on the media.
    stale: BitTable,
    /// Those of them that were so at the start and did not change since.
    stale_at_start: BitTable,
    /// Pages that are read beside writes, and those that stay in the controller for good.
    beside: BTreeSet<u32>,
    kept: BTreeSet<u32>,
    /// Where programs wait for the map: units that were written while their page of it was read, by place, and that page.
    held: Option<BTreeMap<Ppa, u32>>,
    /// The same: units that were looked up for such a write and have no place yet.
    beside_of_unit: BTreeSet<u32>,
    /// Pages that are found again for commands.
    lost: BTreeSet<u32>,
    commands: Vec<Command>,
    /// Reads of pages of the map that wait, by die and plane, where they go first; and how many went before others.
    first: Option<BTreeMap<(DieId, u32), u32>>,
    ahead: u64,
    /// By page, where what is fetched of the host's memory takes the link: when it was asked for, and how many units of it.
    asked: BTreeMap<u32, (Ns, RangeInclusive<u64>)>,
    /// The same: when it has crossed.
    crossing: BTreeMap<u32, Ns>,
    counted: MapCounters,
}

/// What the view says of the map.
fn mapping<'a>(view: &View<'a>) -> Option<&'a Mapping> {
    view.mapping
}

/// What a read waits for: its die, or its plane where each reads by itself.
fn waits_for(view: &View<'_>, ppa: Ppa) -> (DieId, u32) {
    let geometry = view.ftl.geometry();
    let (die, place) = (geometry.die_of(ppa), geometry.locate(ppa));
    match view.nand.timing().plane_reads {
        PlaneReads::Together => (die, 0),
        PlaneReads::Independently => {
            let pool = geometry.pool_and_block(place.group).0;
            (die, geometry.first_plane_of_pool(pool) + place.plane_in_group)
        }
    }
}

impl MapBook {
    /// Of a drive whose map lies in flash: as it is on the media, and nothing of it in memory before it is told.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let mapping = mapping(view)?;
        let units = view.ftl.logical_units();
        let entries = view.ftl.translation_entries();
        let is_held = |unit: &u32| view.ftl.translate(Lpa(*unit)) != Ppa::UNMAPPED;
        let is_stale = |unit: &u32| mapping.was_changed_at_start(view.ftl, *unit);
        let mut stale = BitTable::new(units as usize);
        (0..units).filter(is_stale).for_each(|unit| stale.set(unit as usize));
        let warm = mapping.is_warm().then(|| {
            let item = |unit: u32| if mapping.holds_pages() { unit / entries } else { unit };
            let held: BTreeSet<u32> = (0..units).filter(|unit| is_held(unit) && !is_stale(unit)).map(item).collect();
            held.len().min((mapping.bytes().1 / u64::from(mapping.item_bytes(entries, entries))) as usize)
        });
        Some(Self {
            entries,
            warm,
            units,
            holds_pages: mapping.holds_pages(),
            used: BTreeMap::new(),
            by_use: BTreeMap::new(),
            host_used: BTreeMap::new(),
            host_by_use: BTreeMap::new(),
            clock: 0,
            stale_at_start: stale.clone(),
            stale,
            beside: BTreeSet::new(),
            kept: BTreeSet::new(),
            beside_of_unit: BTreeSet::new(),
            held: mapping.programs_wait().then(BTreeMap::new),
            lost: BTreeSet::new(),
            commands: Vec::new(),
            first: mapping.reads_first().then(BTreeMap::new),
            ahead: 0,
            asked: BTreeMap::new(),
            crossing: BTreeMap::new(),
            counted: MapCounters::default(),
        })
    }

    fn item(&self, unit: u32) -> u32 {
        if self.holds_pages { unit - unit % self.entries } else { unit }
    }

    fn units_of_item(&self, first: u32) -> Range<u32> {
        first..if self.holds_pages { (first + self.entries).min(self.units) } else { first + 1 }
    }

    fn command(&mut self, slot: u32) -> &mut Command {
        if self.commands.len() <= slot as usize {
            self.commands.resize(slot as usize + 1, Command::default());
        }
        &mut self.commands[slot as usize]
    }

    fn use_now(&mut self, item: u32) {
        self.clock += 1;
        if let Some(before) = self.used.insert(item, self.clock) {
            self.by_use.remove(&before);
        }
        self.by_use.insert(self.clock, item);
    }

    fn use_in_host(&mut self, item: u32) {
        self.clock += 1;
        if let Some(before) = self.host_used.insert(item, self.clock) {
            self.host_by_use.remove(&before);
        }
        self.host_by_use.insert(self.clock, item);
    }

    // ---- dies --------------------------------------------------------------------------------------

    /// A read of a page of the map joined the queue of its die.
    pub fn read_queued(&mut self, view: &View<'_>, ppa: Ppa, marks: &mut Marks) {
        if let Some(waiting) = &mut self.first {
            *waiting.entry(waits_for(view, ppa)).or_default() += 1;
        }
        let ahead = view.mapping.map_or(0, |mapping| mapping.counters().reads_ahead);
        if std::mem::replace(&mut self.ahead, ahead) < ahead {
            marks.hit(Mark::MapReadAhead);
        }
    }

    /// A read that commands wait for leaves its die's queue, with others beside it.
    pub fn read_dispatched(&mut self, view: &View<'_>, command: &FlashCommand, accesses: &[Access]) -> Checked {
        let place = accesses.first().map_or((command.die, 0), |access| waits_for(view, access.ppa));
        let Some(waiting) = self.first.as_mut().and_then(|first| first.get_mut(&place)) else { return Ok(()) };
        let of_map = accesses.iter().filter(|access| access.source == Source::Mapping).count() as u32;
        require!(
            of_map > 0 || *waiting == 0,
            MapFirst,
            view.now,
            "die {} reads page {} while {waiting} reads of the map wait",
            command.die,
            command.first_page()
        );
        *waiting = waiting.saturating_sub(of_map);
        Ok(())
    }

    /// One of them goes to no die, because what it reads lay on one that failed.
    pub fn read_missing(&mut self, view: &View<'_>, access: &Access) {
        if let (Source::Mapping, Some(first)) = (access.source, &mut self.first)
            && let Some(waiting) = first.get_mut(&waits_for(view, access.ppa))
        {
            *waiting = waiting.saturating_sub(1);
        }
    }

    // ---- commands ----------------------------------------------------------------------------------

    pub fn fetched(&mut self, slot: u32) {
        *self.command(slot) = Command::default();
    }

    /// A command looked an entry up, which was there or not; it `goes_on` all the same, or waits then.
    pub fn looked_up(
        &mut self,
        view: &View<'_>,
        slot: u32,
        lpa: Lpa,
        (hit, goes_on): (bool, bool),
        marks: &mut Marks,
    ) -> Checked {
        let item = self.item(lpa.0);
        if let Some(warm) = self.warm.take() {
            marks.hit(Mark::MapIsWarm);
            let (now, there) = (view.now, self.used.len());
            require!(
                there == warm,
                MapCache,
                now,
                "the run begins with {there} items of the map in memory, {warm} fit"
            );
        }
        let is_there = self.used.contains_key(&item);
        require!(
            is_there == hit,
            MapCache,
            view.now,
            "the entry of unit {lpa} is said to be {}in memory, it is {}there",
            if hit { "" } else { "not " },
            if is_there { "" } else { "not " }
        );
        if let Some((bytes, most)) = mapping(view).map(Mapping::bytes) {
            require!(bytes <= most, MapCache, view.now, "entries in memory take {bytes} B of {most} B");
        }
        let page = lpa.0 / self.entries;
        if hit {
            self.counted.hits += 1;
            self.use_now(item);
        } else {
            self.counted.misses += 1;
            marks.hit(Mark::EntryMissing);
            let others = self.commands.iter().zip(0..).any(|(other, at)| at != slot && other.missing.contains(&page));
            if others {
                marks.hit(Mark::SharedMapPage);
            }
        }
        if goes_on {
            marks.hit(Mark::WriteBesideMap);
            self.beside.insert(page);
            if self.held.is_some() {
                self.beside_of_unit.insert(lpa.0);
            }
        }
        let now = view.now;
        let command = self.command(slot);
        command.looked_up.insert(lpa.0);
        if !hit && !goes_on {
            if command.missing.is_empty() {
                command.since = now;
            }
            command.missing.insert(page);
            if command.missing.len() == 2 {
                marks.hit(Mark::SeveralMapPages);
            }
        }
        Ok(())
    }

    /// A command reads or writes a unit.
    pub fn uses(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        let command = self.command(slot);
        require!(
            command.looked_up.contains(&lpa.0) && command.missing.is_empty(),
            MapCache,
            view.now,
            "the command of slot {slot} uses unit {lpa}, and waits for the pages {:?} of the map",
            command.missing
        );
        Ok(())
    }

    /// A unit got its place, where it may have to wait for the map.
    pub fn placed(&mut self, lpa: Lpa, place: Ppa) {
        let page = lpa.0 / self.entries;
        if let Some(held) = &mut self.held {
            if self.beside_of_unit.remove(&lpa.0) {
                held.insert(place, page);
            } else {
                held.remove(&place);
            }
        }
    }

    /// Pages leave their queue to be programmed: those of them that do not wait for the map.
    pub fn programs_dispatched(&mut self, view: &View<'_>, accesses: &[Access]) -> Checked {
        let Some(held) = &self.held else { return Ok(()) };
        for access in accesses {
            let page = access.ppa..Ppa(access.ppa.0 + view.ftl.geometry().units_per_page());
            let waiting = held.range(page).next();
            require!(
                waiting.is_none(),
                MapPrograms,
                view.now,
                "a program of {} sets out, and of it waits for its page of the map: {waiting:?}",
                access.ppa
            );
        }
        Ok(())
    }

    /// What commands want of a page is asked for in the host's memory: all of that is there, or in the drive's by now.
    pub fn page_asked(&mut self, view: &View<'_>, page: u32, marks: &mut Marks) -> Checked {
        marks.hit(Mark::EntryInHostMemory);
        let mut wanted = BTreeSet::new();
        for command in self.commands.iter().filter(|command| command.missing.contains(&page)) {
            let units = command.looked_up.range(page * self.entries..(page + 1) * self.entries);
            let absent = |unit: &u32| {
                let item = self.item(*unit);
                !self.used.contains_key(&item) && !self.host_used.contains_key(&item)
            };
            let lacks = units.clone().copied().find(absent);
            wanted.extend(units.copied().filter(|unit| !self.used.contains_key(&self.item(*unit))));
            require!(
                lacks.is_none(),
                MapCache,
                view.now,
                "page {page} of the map is asked of the host's memory, which does not hold the entry of unit {lacks:?}"
            );
        }
        if view.mapping.and_then(Mapping::access_before_link).is_some() {
            // A write that goes on may want its own entry, which it has brought into memory already.
            let (least, beside) = (wanted.len() as u64, u64::from(self.beside.contains(&page)));
            if least + beside > 0 {
                self.asked.insert(page, (view.now, least..=least + beside));
            }
        }
        Ok(())
    }

    /// What was asked for comes to the link.
    pub fn page_crosses(&mut self, view: &View<'_>, page: u32, bytes: u32, until: Ns) -> Checked {
        let page_bytes = u64::from(view.ftl.geometry().unit_bytes);
        let access = view.mapping.and_then(Mapping::access_before_link);
        let due = self.asked.remove(&page).zip(access).filter(|((at, _), access)| *at + *access == view.now);
        let fits = due.as_ref().is_some_and(|((_, units), _)| {
            let (bytes, entry) = (u64::from(bytes), 8);
            // Of a page as many runs as it has, each of an entry, which are not counted here.
            if self.holds_pages {
                bytes > 0 && bytes <= page_bytes.max(u64::from(self.entries) * entry)
            } else {
                bytes % entry == 0 && units.contains(&(bytes / entry))
            }
        });
        require!(
            fits,
            MapLink,
            view.now,
            "{bytes} B of page {page} of the map come to the link, and due are {due:?} (asked at, units, access)"
        );
        self.crossing.insert(page, until);
        Ok(())
    }

    pub fn page_arrived(&mut self, view: &View<'_>, page: u32) -> Checked {
        if let Some(held) = &mut self.held {
            held.retain(|_, awaited| *awaited != page);
            self.beside_of_unit.retain(|unit| unit / self.entries != page);
        }
        let crossed = self.crossing.remove(&page);
        require!(
            crossed.is_none_or(|until| until == view.now),
            MapLink,
            view.now,
            "page {page} of the map is there, and it crosses the link until {crossed:?}"
        );
        require!(
            self.asked.remove(&page).is_none_or(|(_, units)| *units.start() == 0),
            MapLink,
            view.now,
            "page {page} of the map is there, and it did not cross the link"
        );
        let mut awaited = self.beside.remove(&page);
        for command in self.commands.iter_mut().filter(|command| command.missing.contains(&page)) {
            awaited = true;
            command.missing.remove(&page);
            if command.missing.is_empty() {
                command.waited += view.now - command.since;
            }
        }
        require!(awaited, MapCache, view.now, "page {page} of the map is there, and nobody waits for it");
        let will = mapping(view).is_some_and(|mapping| !mapping.is_written() || mapping.is_to_be_written(page));
        require!(
            !self.lost.remove(&page) || will,
            MapLost,
            view.now,
            "page {page} of the map could not be read, and is not to be written anew"
        );
        Ok(())
    }

    /// A page that was read could not be corrected.
    pub fn page_lost(&mut self, page: u32, for_commands: bool, marks: &mut Marks) {
        marks.hit(Mark::MapPageLost);
        self.counted.pages_rebuilt += 1;
        if for_commands {
            self.lost.insert(page);
        }
    }

    /// How long the command of a slot waited for the map.
    pub fn completed(&self, view: &View<'_>, slot: u32, told: u64) -> Checked {
        let waited = self.commands.get(slot as usize).map_or(0, |command| command.waited.0);
        require!(
            waited == told,
            MapCache,
            view.now,
            "the command of slot {slot} waited {waited} ns for the map, {told} ns are told"
        );
        Ok(())
    }

    // ---- memory ------------------------------------------------------------------------------------

    pub fn changed(&mut self, view: &View<'_>, change: CacheChange, marks: &mut Marks) -> Checked {
        match change {
            CacheChange::Came(lpa) => self.use_now(self.item(lpa.0)),
            CacheChange::PageKept(page) => self.page_kept(view, page, marks)?,
            CacheChange::CameToHost(lpa) => self.use_in_host(self.item(lpa.0)),
            CacheChange::LeftHost(lpa) => {
                let oldest = self.host_by_use.pop_first();
                require!(
                    oldest.is_some_and(|(_, item)| item == lpa.0),
                    MapCache,
                    view.now,
                    "the entry of unit {lpa} leaves the host's memory, the one used longest ago there is {oldest:?}"
                );
                self.host_used.remove(&lpa.0);
            }
            CacheChange::Left { first, dirty } => {
                let oldest = self.by_use.pop_first();
                require!(
                    oldest.is_some_and(|(_, item)| item == first.0),
                    MapCache,
                    view.now,
                    "the entry of unit {first} leaves memory, the one used longest ago is {oldest:?}"
                );
                self.used.remove(&first.0);
                let units = self.units_of_item(first.0);
                let stale = self.stale.next_set_before(units.start as usize, units.end as usize);
                require!(
                    dirty == stale.is_some(),
                    MapWritten,
                    view.now,
                    "the entry of unit {first} leaves memory {}, changed is {stale:?}",
                    if dirty { "dirty" } else { "clean" }
                );
                self.counted.evictions += 1;
                if dirty {
                    self.counted.dirty_evictions += 1;
                    marks.hit(Mark::EntryLeavesDirty);
                    self.leaves_memory(view, first)?;
                }
            }
        }
        Ok(())
    }

    /// An entry that changed is not in memory: what the controller keeps of its page has the change, or it is to be written.
    fn leaves_memory(&mut self, view: &View<'_>, lpa: Lpa) -> Checked {
        let page = lpa.0 / self.entries;
        if self.kept.contains(&page) {
            self.is_as_it_is_now(page);
            return Ok(());
        }
        self.is_to_be_written(view, lpa)
    }

    fn is_as_it_is_now(&mut self, page: u32) {
        let end = ((page + 1) * self.entries).min(self.units);
        self.stale.clear_range((page * self.entries) as usize, end as usize);
    }

    fn page_kept(&mut self, view: &View<'_>, page: u32, marks: &mut Marks) -> Checked {
        marks.hit(Mark::MapPageKept);
        let is_written = mapping(view).is_none_or(Mapping::is_written);
        require!(
            !is_written,
            MapWritten,
            view.now,
            "page {page} of the map is kept in the controller, and not written"
        );
        self.kept.insert(page);
        self.is_as_it_is_now(page);
        Ok(())
    }

    fn is_to_be_written(&self, view: &View<'_>, lpa: Lpa) -> Checked {
        let page = lpa.0 / self.entries;
        let will = mapping(view).is_some_and(|mapping| mapping.is_to_be_written(page));
        require!(
            will,
            MapWritten,
            view.now,
            "the entry of unit {lpa} changed, and is neither in memory nor to be written"
        );
        Ok(())
    }

    /// A unit lies elsewhere. Returns whether its entry is not in memory.
    pub fn moved(&mut self, lpa: Lpa) -> bool {
        let is_outside = lpa.0 < self.units && !self.used.contains_key(&self.item(lpa.0));
        if lpa.0 < self.units {
            self.stale.set(lpa.index());
            self.stale_at_start.clear(lpa.index());
            if is_outside {
                self.counted.changes_outside += 1;
                let page = lpa.0 / self.entries;
                if self.kept.contains(&page) {
                    self.is_as_it_is_now(page);
                }
            }
        }
        is_outside
    }

    pub fn page_written(&mut self, view: &View<'_>, page: u32, new: Ppa) -> Checked {
        self.is_as_it_is_now(page);
        self.lost.remove(&page);
        self.counted.pages_written += 1;
        require!(
            view.ftl.stream_of(new) == Stream::APART,
            MapWritten,
            view.now,
            "page {page} of the map goes to {new}, which is not kept apart"
        );
        Ok(())
    }

    // ---- walks -------------------------------------------------------------------------------------

    /// Everything that changed is in memory or will be written, and memory holds what it is said to take.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        let stale = std::iter::successors(self.stale.next_set(0), |&unit| self.stale.next_set(unit + 1));
        for unit in stale.filter(|&unit| !self.stale_at_start.get(unit)).map(|unit| unit as u32) {
            if !self.used.contains_key(&self.item(unit)) {
                self.is_to_be_written(view, Lpa(unit))?;
            }
        }
        // What is there from the start is told right behind it.
        let Some(mapping) = mapping(view).filter(|_| self.warm.is_none()) else { return Ok(()) };
        let take = self.used.keys().map(|&first| {
            let units = self.units_of_item(first);
            let runs = units.clone().filter(|&unit| unit == first || begins_run(view, unit)).count() as u32;
            u64::from(mapping.item_bytes(units.len() as u32, runs))
        });
        let (seen, said) = (take.sum::<u64>(), mapping.bytes().0);
        require!(seen == said, MapCache, view.now, "entries in memory are said to take {said} B, they take {seen} B");
        Ok(())
    }

    pub fn measuring_began(&mut self) {
        self.counted = MapCounters::default();
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let Some(told) = mapping(view).map(Mapping::counters) else { return Ok(()) };
        let seen = MapCounters {
            pages_fetched: told.pages_fetched,
            pages_fetched_from_controller: told.pages_fetched_from_controller,
            pages_fetched_from_host: told.pages_fetched_from_host,
            pages_read_to_update: told.pages_read_to_update,
            reads_ahead: told.reads_ahead,
            bytes_over_link: told.bytes_over_link,
            ..self.counted
        };
        require!(*told == seen, Ledger, view.now, "counters of the map are {told:?}, {seen:?} were seen");
        let elsewhere = told.pages_fetched_from_controller + told.pages_fetched_from_host;
        let reads = told.pages_fetched - elsewhere + told.pages_read_to_update;
        let queued = view.counters.map_page_reads;
        require!(
            reads == queued,
            Ledger,
            view.now,
            "{reads} pages of the map are counted as read, {queued} were queued"
        );
        Ok(())
    }

    pub fn finished(&self, view: &View<'_>) -> Checked {
        let waiting = self.commands.iter().position(|command| !command.missing.is_empty());
        require!(waiting.is_none(), Leftover, view.now, "the command of slot {waiting:?} still waits for the map");
        Ok(())
    }
}

/// Whether a unit does not lie behind the one before it, nor are both nowhere.
fn begins_run(view: &View<'_>, unit: u32) -> bool {
    let (before, here) = (view.ftl.translate(Lpa(unit - 1)), view.ftl.translate(Lpa(unit)));
    match (before, here) {
        (Ppa::UNMAPPED, Ppa::UNMAPPED) => false,
        (Ppa::UNMAPPED, _) | (_, Ppa::UNMAPPED) => true,
        (Ppa(before), Ppa(here)) => here != before + 1,
    }
}
