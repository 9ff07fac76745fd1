//! What is in memory of a map that lies in flash: single entries or whole pages of it, those used last.
//!
//! Knows which is used when and what it takes, not what became of it since it was last written.

use std::ops::Range;

use ninescope_ftl::Ftl;
use ninescope_kernel::{BitTable, FastDiv, IdTable, Links, NONE, RecencyList, Slab};
use ninescope_model::{Lpa, Ppa};

use crate::policies::mapping::{CachedBy, MapPolicy};

/// An entry or a page of the map in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Item {
    number: u32,
    /// What it takes [B].
    bytes: u32,
}

/// The cache.
#[derive(Debug)]
pub(super) struct MapCache {
    policy: Box<dyn MapPolicy>,
    /// Units that a page of the map tells of, and that an item does.
    page: FastDiv,
    item: FastDiv,
    /// Units of the host.
    units: u32,
    /// By item.
    slot_of: IdTable<u32>,
    items: Slab<Item>,
    links: Vec<Links>,
    order: RecencyList,
    bytes: u64,
    bytes_max: u64,
    /// By unit of a cached page: it does not follow the one before it on the media. Empty where runs are not counted.
    breaks: BitTable,
}

impl MapCache {
    /// An empty cache of so many bytes, of a map of so many units, of which a page tells of `entries`.
    pub fn new(policy: Box<dyn MapPolicy>, bytes_max: u64, units: u32, entries: u32) -> Self {
        let item = FastDiv::new(if policy.cached_by() == CachedBy::Page { entries } else { 1 });
        let items = units.div_ceil(item.divisor());
        let least = u64::from(policy.item_bytes(entries, 1).max(1));
        let most = (bytes_max / least).saturating_add(1).min(u64::from(items)) as usize;
        Self {
            page: FastDiv::new(entries),
            item,
            units,
            slot_of: IdTable::new(items as usize),
            items: Slab::with_capacity(most),
            links: vec![Links::default(); most],
            order: RecencyList::default(),
            bytes: 0,
            bytes_max,
            breaks: BitTable::new(if policy.counts_runs() { units as usize } else { 0 }),
            policy,
        }
    }

    /// The page of the map that tells of a unit.
    #[inline]
    pub fn page_of(&self, unit: u32) -> u32 {
        self.page.quotient(unit)
    }

    /// The units that a page of the map tells of.
    pub fn units_of_page(&self, page: u32) -> Range<u32> {
        page * self.page.divisor()..((page + 1) * self.page.divisor()).min(self.units)
    }

    /// What it takes [B].
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most that it may take [B].
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// What an item takes [B].
    pub fn item_bytes(&self, entries: u32, runs: u32) -> u32 {
        self.policy.item_bytes(entries, runs)
    }

    /// Whether whole pages of the map are cached.
    pub fn holds_pages(&self) -> bool {
        self.item.divisor() == self.page.divisor()
    }

    /// Whether a unit's entry is in memory.
    #[inline]
    pub fn holds(&self, unit: u32) -> bool {
        self.slot_of.get((self.item.quotient(unit)) as usize) != NONE
    }

    /// What the item takes that tells of a unit; 0 where it is not in memory [B].
    pub fn bytes_held(&self, unit: u32) -> u32 {
        let slot = self.slot_of.get((self.item.quotient(unit)) as usize);
        if slot == NONE { 0 } else { self.items[slot].bytes }
    }

    /// Looks the entry of a unit up, which is used by that. Returns whether it is in memory.
    #[inline]
    pub fn look_up(&mut self, unit: u32) -> bool {
        let slot = self.slot_of.get((self.item.quotient(unit)) as usize);
        if slot != NONE {
            self.order.touch(&mut self.links, slot);
        }
        slot != NONE
    }

    /// The entry of a unit, or the page that tells of it, is in memory from now on.
    pub fn insert(&mut self, ftl: &Ftl, unit: u32) {
        if self.look_up(unit) {
            return;
        }
        let number = self.item.quotient(unit);
        let bytes = self.bytes_of(ftl, number);
        let slot = self.items.insert(Item { number, bytes });
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, Links::default());
        }
        self.slot_of.put(number as usize, slot);
        self.order.push_newest(&mut self.links, slot);
        self.bytes += u64::from(bytes);
    }

    /// What was used longest ago leaves, if the cache is too full. Returns the units that it told of.
    pub fn evict(&mut self) -> Option<Range<u32>> {
        if self.bytes <= self.bytes_max {
            return None;
        }
        let slot = self.order.oldest()?;
        let Item { number, bytes } = self.items[slot];
        self.order.remove(&mut self.links, slot);
        self.items.remove(slot);
        self.slot_of.put(number as usize, NONE);
        self.bytes -= u64::from(bytes);
        Some(self.units_of_item(number))
    }

    /// Whether a unit that lies elsewhere from now on has its entry in memory, where that takes as much as before.
    #[inline]
    pub fn keeps(&self, unit: u32) -> bool {
        self.breaks.is_empty() && self.holds(unit)
    }

    /// A unit lies elsewhere from now on. Returns whether its entry is in memory.
    #[inline]
    pub fn changed(&mut self, ftl: &Ftl, unit: u32) -> bool {
        let slot = self.slot_of.get((self.item.quotient(unit)) as usize);
        if slot != NONE && !self.breaks.is_empty() {
            self.run_changed(ftl, slot, unit);
        }
        slot != NONE
    }

    fn units_of_item(&self, number: u32) -> Range<u32> {
        number * self.item.divisor()..((number + 1) * self.item.divisor()).min(self.units)
    }

    // ---- runs --------------------------------------------------------------------------------------

    /// What an item takes that comes into memory.
    fn bytes_of(&mut self, ftl: &Ftl, number: u32) -> u32 {
        let units = self.units_of_item(number);
        let mut runs = 0;
        if !self.breaks.is_empty() {
            for unit in units.clone() {
                let breaks = unit == units.start || is_break(ftl, unit);
                self.breaks.put(unit as usize, breaks);
                runs += u32::from(breaks);
            }
        }
        self.policy.item_bytes(units.len() as u32, runs)
    }

    /// A unit of a page in memory lies elsewhere: it may follow another one than before, and so may the one behind it.
    fn run_changed(&mut self, ftl: &Ftl, slot: u32, unit: u32) {
        let Item { number, bytes } = self.items[slot];
        let units = self.units_of_item(number);
        for unit in unit..(unit + 2).min(units.end) {
            self.breaks.put(unit as usize, unit == units.start || is_break(ftl, unit));
        }
        let runs = self.breaks.count_range(units.start as usize, units.end as usize);
        let now = self.policy.item_bytes(units.len() as u32, runs);
        self.items[slot].bytes = now;
        self.bytes = self.bytes + u64::from(now) - u64::from(bytes);
    }
}

/// Whether a unit begins a run: it does not lie behind the one before it, nor are both nowhere.
fn is_break(ftl: &Ftl, unit: u32) -> bool {
    let (before, here) = (ftl.translate(Lpa(unit - 1)), ftl.translate(Lpa(unit)));
    if before == Ppa::UNMAPPED || here == Ppa::UNMAPPED { before != here } else { here.0 != before.0 + 1 }
}
