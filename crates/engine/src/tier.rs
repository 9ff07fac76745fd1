//! The tier of a drive with two media: what decides, what is under way, and who waits.

use std::collections::VecDeque;

use ninescope_ftl::Residence;
use ninescope_kernel::{BitTable, NONE, Slab};
use ninescope_tier::{PlacementConfig, Slot, Tier, WriteBack};

use crate::meter::TierSample;
use crate::reliability::Harm;

/// What lies below the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lower {
    /// Flash, behind the FTL: a page is a mapping unit.
    #[default]
    Flash,
    /// Storage-type memory: a page is a slot of the second medium.
    Scm,
}

/// What a migration does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MigrationKind {
    /// Copies the dirty sectors of a slot down, so that it becomes free.
    #[default]
    Evict,
    /// Copies the sectors that a slot lacks up; they are clean there.
    CopyUp,
    /// The same, and the lower medium forgets them.
    MoveUp,
}

/// One page on its way from one medium to the other.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// What it does.
    pub kind: MigrationKind,
    /// The page.
    pub page: u32,
    /// Its slot, `NONE` while it waits for one.
    pub slot: u32,
    /// How often the slot's content had been forgotten when it began.
    pub forgotten: u16,
    /// Sectors that go down; of a page that comes up, those that the host writes meanwhile.
    pub sectors: u32,
    /// Reads under way.
    pub reads: u8,
    /// An eviction is completed with what the unit held below.
    pub merges: bool,
    /// That is read when the slot has been, not beside it.
    pub rest_is_due: bool,
    /// Where the unit lay in flash whose content was read, if any was.
    pub taken_from: Residence,
    /// The host command that completes when this has ended, or has read what it carries; `NONE` for none.
    pub command: u32,
    /// What it read from flash is no good.
    pub harm_in_flash: Option<Harm>,
    /// What a bank read for it is no good.
    pub harm_in_slot: Option<Harm>,
}

impl Default for Migration {
    fn default() -> Self {
        Self {
            kind: MigrationKind::Evict,
            page: NONE,
            slot: NONE,
            forgotten: 0,
            sectors: 0,
            reads: 0,
            merges: false,
            rest_is_due: false,
            taken_from: Residence::NONE,
            command: NONE,
            harm_in_flash: None,
            harm_in_slot: None,
        }
    }
}

/// Who waits for a slot.
#[derive(Clone, Copy, Debug)]
pub enum SlotWaiter {
    /// A write of the host to sectors of a page.
    Write {
        /// The command.
        command: u32,
        /// The page.
        page: u32,
        /// Its sectors.
        sectors: u32,
    },
    /// A page that goes up.
    Fill(u32),
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
}

/// The tier and everything that moves through it.
#[derive(Debug)]
pub struct TierPart {
    pub(crate) tier: Tier,
    pub(crate) lower: Lower,
    pub(crate) migrations: Slab<Migration>,
    pub(crate) waiting: VecDeque<SlotWaiter>,
    /// By page: somebody waits for a slot for it. And how many such pages there are.
    awaited: BitTable,
    pages_awaited: u32,
    /// Evictions under way.
    pub(crate) evictions: u32,
    /// Pages on their way up.
    pub(crate) fills: u32,
    /// By page: it is on its way up.
    pub(crate) filling: BitTable,
    pub(crate) in_flight_max: u32,
}

impl TierPart {
    /// The sectors of a dirty slot that go down: all that it holds where whole pages go, else those written in it.
    pub(crate) fn goes_down(&self, slot: &Slot) -> u32 {
        let whole_pages = self.lower == Lower::Flash || self.tier.rules().write_back == WriteBack::WholePages;
        if whole_pages { slot.valid } else { slot.dirty }
    }

    /// An empty upper medium of `slots` above `pages` pages. `depth` commands are inside the drive at most. `None`
    /// where the placement knows one medium only.
    pub fn new(config: &TierConfig, slots: u32, pages: u32, sectors_per_page: u32, depth: u32) -> Option<Self> {
        let tier = Tier::new(&config.placement, slots, pages, sectors_per_page)?;
        let in_flight_max = config.migrations_in_flight.max(1);
        Some(Self {
            tier,
            lower: config.lower,
            migrations: Slab::with_capacity(2 * in_flight_max as usize),
            waiting: VecDeque::with_capacity((depth + in_flight_max) as usize * 2),
            evictions: 0,
            fills: 0,
            awaited: BitTable::new(pages as usize),
            pages_awaited: 0,
            filling: BitTable::new(pages as usize),
            in_flight_max,
        })
    }

    /// What decides.
    pub fn tier(&self) -> &Tier {
        &self.tier
    }

    /// What lies below the slots.
    pub fn lower(&self) -> Lower {
        self.lower
    }

    /// Somebody waits for a slot for a page.
    pub(crate) fn wait_for_slot(&mut self, page: u32, waiter: SlotWaiter) {
        self.waiting.push_back(waiter);
        if !self.awaited.get(page as usize) {
            self.awaited.set(page as usize);
            self.pages_awaited += 1;
        }
    }

    /// A page has a slot: those who wait for it need no other.
    pub(crate) fn slot_taken(&mut self, page: u32) {
        if self.awaited.get(page as usize) {
            self.awaited.clear(page as usize);
            self.pages_awaited -= 1;
        }
    }

    /// Slots that those who wait need: one per page, and one in any case for the first of them, whose page may have had
    /// one and lost it before its turn.
    pub(crate) fn slots_needed(&self) -> u32 {
        self.pages_awaited.max(u32::from(!self.waiting.is_empty()))
    }

    /// A migration under way.
    pub fn migration(&self, index: u32) -> &Migration {
        &self.migrations[index]
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

    /// Evictions under way at most, and as many pages on their way up.
    pub fn in_flight_max(&self) -> u32 {
        self.in_flight_max
    }

    /// Host writes that wait for a slot, and pages that do so on their way up.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
