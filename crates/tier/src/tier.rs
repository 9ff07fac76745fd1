//! The tier itself: asks the policy, keeps what it knows, says which slots to empty.

use std::ops::Range;

use ninescope_model::SlotId;
use serde::Serialize;

use crate::policies::{Access, DataPlacement, OnRead, PlacementConfig, Rules, WriteTo};
use crate::recent::RecentPages;
use crate::residency::{Residency, Slot, SlotState};
use crate::streams::ReadStreams;

/// Sectors of the host by the class of their access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassCounters {
    /// Read from the upper medium [512 B].
    pub read_upper: u64,
    /// Read from the lower one, never written sectors included [512 B].
    pub read_lower: u64,
    /// Written to the upper medium [512 B].
    pub written_upper: u64,
    /// Written to the lower one [512 B].
    pub written_lower: u64,
}

/// Counts since the last [`Tier::clear_counters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TierCounters {
    /// Accesses of hot pages in random requests.
    pub hot_random: ClassCounters,
    /// Accesses of hot pages in sequential requests.
    pub hot_sequential: ClassCounters,
    /// Accesses of cold pages in random requests.
    pub cold_random: ClassCounters,
    /// Accesses of cold pages in sequential requests.
    pub cold_sequential: ClassCounters,
    /// Pages of host requests that were read or written.
    pub page_accesses: u64,
    /// Those of them that had a slot, for reads with all sectors asked for in it.
    pub page_hits: u64,
    /// Pages copied down because of their dirty sectors, and gone from the upper medium.
    pub evicted_dirty: u64,
    /// Pages dropped, whose sectors are all below too.
    pub evicted_clean: u64,
    /// Pages copied down that were written meanwhile and stayed.
    pub evictions_kept: u64,
    /// Pages copied down that were completed with what lies below.
    pub evictions_merged: u64,
    /// Pages that were copied up.
    pub copied_up: u64,
    /// Pages that moved up: the lower medium forgot them.
    pub moved_up: u64,
    /// Pages written in part that were completed from below.
    pub fetched_on_write: u64,
    /// Pages that were brought up ahead of a read.
    pub fetched_ahead: u64,
    /// Pages that writes put there which complete when the pages are below.
    pub written_through: u64,
    /// Pages that began to go down because the host rested.
    pub evicted_at_rest: u64,
    /// Pages that were to go up, and whose content changed below before they could.
    pub fills_dropped: u64,
    /// Pages that were not brought up, because too many were on their way.
    pub fills_skipped: u64,
    /// Pages that the lower medium forgot, because all of their sectors were dirty above.
    pub superseded_below: u64,
    /// Pages of host requests that waited for a slot.
    pub slot_waits: u64,
    /// Pages of host writes that were held back before they got a slot.
    pub writes_held: u64,
    /// Pages written below that left their slot for it: nothing was known of them any more, or writes go around.
    pub replaced_above: u64,
    /// Writes of the host that were to go below and found their page above when their turn came.
    pub writes_redirected: u64,
}

/// What to do so that slots become free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Nothing: the page is clean, and its slot free or soon to be.
    Dropped {
        /// The slot.
        slot: SlotId,
        /// The page.
        page: u32,
    },
    /// Copy the slot's sectors down and report [`Tier::left`].
    CopyDown(SlotId),
}

/// How far a part of the medium is with emptying its slots.
#[derive(Clone, Copy, Debug, Default)]
struct Emptying {
    /// Free slots below which eviction begins, and from which on it stops.
    begins_below: u32,
    stops_at: u32,
    evicting: bool,
    /// A slot was to be emptied, and all that could be were about to be written.
    starved: bool,
    /// Slots on their way to being free.
    leaving: u32,
}

impl Emptying {
    /// Of so many slots, all of them free.
    fn of(slots: u32, rules: &Rules) -> Self {
        // "Free capacity <= share" begins it, so that it stops when more than the share is free.
        // A share such as 0.29 of 100 slots is 29 of them, though the product of the two lies just below.
        let at_most = |share: f64| (share * f64::from(slots) + 1e-9).floor() as u32;
        let more_than = |share: f64| if share == 0.0 { 0 } else { at_most(share) + 1 };
        Self { begins_below: more_than(rules.evict_free), stops_at: more_than(rules.evict_stop), ..Self::default() }
    }
}

/// The upper medium, what is known of pages, and the policy.
#[derive(Debug)]
pub struct Tier {
    residency: Residency,
    recent: RecentPages,
    policy: Box<dyn DataPlacement>,
    rules: Rules,
    parts: Vec<Emptying>,
    whole: u32,
    /// Reads that go on where others ended, where what is behind them is brought up.
    streams: Option<ReadStreams>,
    counters: TierCounters,
}

impl Tier {
    /// An empty upper medium of `slots` for the `pages` of the lower one, each of `sectors_per_page`. `None` where the
    /// placement knows one medium only.
    pub fn new(config: &PlacementConfig, slots: u32, pages: u32, sectors_per_page: u32) -> Option<Self> {
        Self::divided(config, &[slots], pages, sectors_per_page)
    }

    /// The same in parts of so many slots, each of which is given away and emptied for itself.
    pub fn divided(config: &PlacementConfig, parts: &[u32], pages: u32, sectors_per_page: u32) -> Option<Self> {
        let (policy, rules) = config.chosen().build()?;
        let slots: u32 = parts.iter().sum();
        let entries = (rules.classes.hot_entries * f64::from(slots)).round() as u32;
        Some(Self {
            residency: Residency::divided(parts, pages, &rules.victim),
            parts: parts.iter().map(|&slots| Emptying::of(slots, &rules)).collect(),
            recent: RecentPages::new(entries.min(pages), pages),
            policy,
            whole: (u64::MAX >> (64 - sectors_per_page)) as u32,
            streams: (rules.read_ahead > 0).then(|| ReadStreams::new(rules.read_ahead, pages, sectors_per_page)),
            rules,
            counters: TierCounters::default(),
        })
    }

    /// Slots and pages.
    pub fn residency(&self) -> &Residency {
        &self.residency
    }

    /// The same, to be changed by whoever moves the data.
    pub fn residency_mut(&mut self) -> &mut Residency {
        &mut self.residency
    }

    /// One slot.
    pub fn slot(&self, slot: u32) -> &Slot {
        self.residency.slot(slot)
    }

    /// The mask of all sectors of a page.
    #[inline]
    pub fn whole(&self) -> u32 {
        self.whole
    }

    /// What the policy wants beyond its decisions.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Free slots of a part that eviction keeps, 0 where it waits for need.
    pub fn reserve(&self, part: usize) -> u32 {
        self.parts[part].begins_below
    }

    /// Slots of a part whose pages are on their way down.
    pub fn leaving(&self, part: usize) -> u32 {
        self.parts[part].leaving
    }

    /// What was counted.
    pub fn counters(&self) -> &TierCounters {
        &self.counters
    }

    /// The same, for whoever moves the data.
    pub fn counters_mut(&mut self) -> &mut TierCounters {
        &mut self.counters
    }

    /// Sets all counters to zero.
    pub fn clear_counters(&mut self) {
        self.counters = TierCounters::default();
    }

    // ---- accesses --------------------------------------------------------------------------------

    fn access(&self, page: u32, sectors: u32, request_sectors: u32) -> Access {
        let resident = self.residency.slot_of(page).is_some();
        Access { page, sectors, request_sectors, uses: self.recent.uses(page), resident }
    }

    fn class(&mut self, access: &Access) -> &mut ClassCounters {
        let classes = &self.rules.classes;
        match (classes.is_hot(access), classes.is_random(access)) {
            (true, true) => &mut self.counters.hot_random,
            (true, false) => &mut self.counters.hot_sequential,
            (false, true) => &mut self.counters.cold_random,
            (false, false) => &mut self.counters.cold_sequential,
        }
    }

    /// The host writes `sectors` of a page with a request of `request_sectors`: says where to. A page that has a slot is
    /// written there.
    pub fn write(&mut self, page: u32, sectors: u32, request_sectors: u32) -> WriteTo {
        let access = self.access(page, sectors, request_sectors);
        let to = if self.is_written_in_its_slot(&access) { WriteTo::Upper } else { self.policy.write(&access) };
        // What goes below is used when it gets its place there: until then it may be written again, and is not yet.
        if to == WriteTo::Upper || !self.rules.classes.of_writes {
            self.recent.used(page);
        }
        let count = u64::from(sectors.count_ones());
        match to {
            WriteTo::Upper => self.class(&access).written_upper += count,
            WriteTo::Lower => self.class(&access).written_lower += count,
        }
        self.counters.page_accesses += 1;
        self.counters.page_hits += u64::from(access.resident);
        to
    }

    /// A write that goes below has its place there.
    pub fn placed_below(&mut self, page: u32) {
        if self.rules.classes.of_writes {
            self.recent.used(page);
        }
    }

    /// Whether a page that has a slot is written there, as ever, but for one of which nothing is known any more and that a write
    /// covers: that goes where it would without a slot.
    fn is_written_in_its_slot(&self, access: &Access) -> bool {
        let Some(slot) = self.residency.slot_of(access.page).filter(|_| !self.rules.write_around) else { return false };
        let Slot { valid, writers, state, .. } = *self.residency.slot(slot);
        let covers = valid & !access.sectors == 0 && writers == 0 && state == SlotState::Resident;
        let classes = &self.rules.classes;
        classes.forgotten_every.is_none() || classes.is_hot(access) || !covers
    }

    /// Whether a write that was to go below, and waited, goes above by now: its page was written there or below meanwhile.
    pub fn goes_above_by_now(&self, page: u32, sectors: u32) -> bool {
        self.is_written_in_its_slot(&self.access(page, sectors, 0))
            || !self.rules.write_around
                && self.rules.classes.of_writes
                && self.recent.uses(page) >= self.rules.classes.hot_uses
    }

    /// What was used lately is forgotten.
    pub fn forget_recent(&mut self) {
        self.recent.clear();
    }

    /// Where a write would go now, which is not one yet.
    pub fn would_write(&mut self, page: u32, sectors: u32, request_sectors: u32) -> WriteTo {
        let access = self.access(page, sectors, request_sectors);
        if self.is_written_in_its_slot(&access) { WriteTo::Upper } else { self.policy.write(&access) }
    }

    /// Whether a request is sequential.
    pub fn is_sequential(&self, request_sectors: u32) -> bool {
        let access = Access { page: 0, sectors: 0, request_sectors, uses: 0, resident: false };
        !self.rules.classes.is_random(&access)
    }

    /// The host reads `sectors` of a page, of which the slot has `above`; says what becomes of the page if the lower
    /// medium holds the rest.
    pub fn read(&mut self, page: u32, sectors: u32, above: u32, request_sectors: u32) -> OnRead {
        let access = self.access(page, sectors, request_sectors);
        let misses = sectors & !above;
        let on_read = if misses == 0 { OnRead::Stay } else { self.policy.read(&access) };
        if !self.rules.classes.of_writes {
            self.recent.used(page);
        }
        if let Some(slot) = self.residency.slot_of(page) {
            self.residency.touch(slot);
        }
        let class = self.class(&access);
        class.read_upper += u64::from(above.count_ones());
        class.read_lower += u64::from(misses.count_ones());
        self.counters.page_accesses += 1;
        self.counters.page_hits += u64::from(misses == 0);
        on_read
    }

    /// The host reads with a request: which pages behind it are worth bringing up before they are asked for.
    pub fn worth_fetching(&mut self, lba: u64, sectors: u32) -> Range<u32> {
        self.streams.as_mut().map_or(0..0, |streams| streams.read(lba, sectors))
    }

    // ---- emptying slots --------------------------------------------------------------------------

    /// A page is to be emptied, if slots of a part are too few: those that `waiting` pages need, or those that the policy
    /// keeps free.
    pub fn next_eviction(&mut self, part: usize, waiting: u32) -> Option<Eviction> {
        let state = &mut self.parts[part];
        let coming = self.residency.free_soon_of(part) + state.leaving;
        if coming < state.begins_below {
            state.evicting = true;
        } else if coming >= state.stops_at {
            state.evicting = false;
        }
        state.starved = false;
        if !state.evicting && coming >= waiting {
            return None;
        }
        let victim = self.residency.victim(part);
        state.starved = victim.is_none();
        let slot = victim?;
        let record = *self.residency.slot(slot);
        if record.dirty == 0 {
            self.counters.evicted_clean += 1;
            self.residency.drop_clean(slot);
            return Some(Eviction::Dropped { slot: SlotId(slot), page: record.page });
        }
        Some(self.copy_down(slot))
    }

    /// The dirty sectors of a resident slot go down, whatever the policy wants.
    pub fn copy_down(&mut self, slot: u32) -> Eviction {
        self.residency.begin_leaving(slot);
        self.parts[self.residency.part_of(slot)].leaving += 1;
        Eviction::CopyDown(SlotId(slot))
    }

    /// Whether eviction found no slot that nobody is about to write: it is worth another try when a writer leaves.
    #[inline]
    pub fn is_starved(&self) -> bool {
        self.parts.iter().any(|part| part.starved)
    }

    /// The copy of a slot is below. Returns whether the page is gone.
    pub fn left(&mut self, slot: u32) -> bool {
        self.parts[self.residency.part_of(slot)].leaving -= 1;
        self.residency.left(slot);
        let gone = self.residency.slot(slot).state != SlotState::Resident;
        self.counters.evicted_dirty += u64::from(gone);
        self.counters.evictions_kept += u64::from(!gone);
        gone
    }
}
