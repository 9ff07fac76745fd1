//! The placements as their pseudo-code says (of CDE, WB, WO-DM, RWB-DM and NV-WB), one request after the other,
//! with the time each takes. Slow and plain: lists that are searched, maps that are scanned.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_tier::PlacementConfig;
use ninescope_tier::policies::placement::rwb_dm::MoveRule;
use ninescope_tier::policies::{MigrationMode, Rules, WriteBack};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Trim,
}

/// An access of memory: what it costs whatever its length, and per sector [ns].
pub type Access = (u64, u64);

/// What lies below.
#[derive(Clone, Copy, Debug)]
pub enum Below {
    /// A page is read and programmed as a whole [ns].
    Flash { read: u64, program: u64 },
    /// Slower memory.
    Memory { read: Access, write: Access },
}

/// What everything takes.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub read: Access,
    pub write: Access,
    pub below: Below,
}

/// A page in a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    valid: u32,
    dirty: u32,
    sequential: bool,
}

/// What reading a page from below leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    Stays,
    Copied,
    Moved,
}

/// A drive between two requests.
pub struct NaiveTier {
    config: PlacementConfig,
    rules: Rules,
    times: Times,
    slots: u32,
    whole: u32,
    held: BTreeMap<u32, Held>,
    /// Pages with a slot, the one used longest ago first.
    order: Vec<u32>,
    /// Pages lately used with how often, the one used longest ago first.
    recent: Vec<(u32, u32)>,
    /// Pages that the lower medium holds; memory holds all.
    below: BTreeSet<u32>,
    pub dropped: u64,
    pub copied_down: u64,
}

/// What leaving costs: a slot is read, perhaps completed from below, and written below.
#[derive(Clone, Copy)]
struct Leaving {
    slot_read: u64,
    merge: u64,
    write: u64,
}

fn cost((once, each): Access, sectors: u32) -> u64 {
    if sectors == 0 { 0 } else { once + each * u64::from(sectors.count_ones()) }
}

impl NaiveTier {
    pub fn new(config: &PlacementConfig, slots: u32, sectors: u32, pages: u32, times: Times) -> Self {
        let (_, rules) = config.chosen().build().expect("two media");
        Self {
            config: config.clone(),
            rules,
            times,
            slots,
            whole: u32::MAX >> (32 - sectors),
            held: BTreeMap::new(),
            order: Vec::new(),
            recent: Vec::new(),
            below: (0..pages).collect(),
            dropped: 0,
            copied_down: 0,
        }
    }

    /// Page, valid and dirty sectors of every slot in use.
    pub fn slots(&self) -> Vec<(u32, u32, u32)> {
        self.held.iter().map(|(&page, held)| (page, held.valid, held.dirty)).collect()
    }

    /// Serves a request within one page; returns its latency [ns].
    pub fn serve(&mut self, kind: Kind, page: u32, mask: u32) -> u64 {
        let uses = self.recent.iter().find(|(recent, _)| *recent == page).map_or(0, |(_, uses)| *uses);
        let hot = uses >= self.rules.classes.hot_uses;
        let random = u64::from(mask.count_ones()) * 512 <= self.rules.classes.random_up_to.0;
        match kind {
            Kind::Trim => self.trim(page),
            Kind::Read => {
                let time = self.read(page, mask, hot, random);
                if !matches!(self.config, PlacementConfig::Rewritten(_)) {
                    self.used(page, uses);
                }
                time
            }
            Kind::Write => {
                let time = self.write(page, mask, hot, random);
                self.used(page, uses);
                time
            }
        }
    }

    /// The table of recent pages has as many entries as the policy says, in multiples of the slots.
    fn used(&mut self, page: u32, uses: u32) {
        self.recent.retain(|(recent, _)| *recent != page);
        self.recent.push((page, uses + 1));
        let entries = (self.rules.classes.hot_entries * f64::from(self.slots)).round() as usize;
        if self.recent.len() > entries {
            self.recent.remove(0);
        }
    }

    fn touch(&mut self, page: u32) {
        self.order.retain(|held| *held != page);
        self.order.push(page);
    }

    fn forget(&mut self, page: u32) {
        self.held.remove(&page);
        self.order.retain(|held| *held != page);
    }

    fn is_above_memory(&self) -> bool {
        matches!(self.times.below, Below::Memory { .. })
    }

    /// Memory that is overwritten in place does not listen.
    fn trim(&mut self, page: u32) -> u64 {
        if !self.is_above_memory() {
            self.forget(page);
            self.below.remove(&page);
        }
        0
    }

    fn free(&self) -> u32 {
        self.slots - self.held.len() as u32
    }

    /// "While free capacity <= share: evict", or where a slot is needed.
    fn has_too_few(&self) -> bool {
        let share = self.rules.evict_free;
        share > 0.0 && f64::from(self.free()) <= share * f64::from(self.slots)
    }

    /// Chooses a victim that is not `but` and removes it; what its leaving costs, `None` for a clean one.
    fn evict(&mut self, but: u32) -> Option<Leaving> {
        let candidates = || self.order.iter().copied().filter(|page| *page != but);
        let sequential = match self.rules.victim.name() {
            "lru" => None,
            "sequential-first" => candidates().find(|page| self.held[page].sequential),
            _ => unreachable!("the accumulator is not run with it"),
        };
        let victim = sequential.or_else(|| candidates().next()).expect("a page to evict");
        let held = self.held[&victim];
        self.forget(victim);
        if held.dirty == 0 {
            self.dropped += 1;
            return None;
        }
        self.copied_down += 1;
        Some(match self.times.below {
            Below::Flash { read, program } => {
                let merges = held.valid != self.whole && self.below.contains(&victim);
                self.below.insert(victim);
                let slot_read = cost(self.times.read, held.valid);
                Leaving { slot_read, merge: if merges { read } else { 0 }, write: program }
            }
            Below::Memory { write, .. } => {
                let goes = if self.rules.write_back == WriteBack::WholePages { held.valid } else { held.dirty };
                Leaving { slot_read: cost(self.times.read, goes), merge: 0, write: cost(write, goes) }
            }
        })
    }

    // ---- writes ----------------------------------------------------------------------------------

    fn write(&mut self, page: u32, mask: u32, hot: bool, random: bool) -> u64 {
        let caches = matches!(self.config, PlacementConfig::Wb(_) | PlacementConfig::NvWb(_));
        let resident = self.held.contains_key(&page);
        if !(caches || hot || random || resident) {
            return self.write_below(page, mask);
        }
        let host = cost(self.times.write, mask);
        let fetches = !resident && mask != self.whole && self.rules.fetch_on_write && self.below.contains(&page);
        let lacking = if fetches { self.whole & !mask } else { 0 };
        let time = if resident {
            host
        } else if self.free() > 0 {
            self.held.insert(page, Held::default());
            self.touch(page);
            let leaving = if self.has_too_few() { self.evict(page) } else { None };
            self.time_to_write(host, lacking, leaving)
        } else {
            let leaving = self.evict(page);
            self.held.insert(page, Held::default());
            self.time_to_wait_and_write(host, lacking, leaving)
        };
        self.note_written(page, mask, lacking, !random);
        time
    }

    /// What bringing up sectors costs below.
    fn fetch(&self, lacking: u32) -> u64 {
        match self.times.below {
            Below::Flash { read, .. } => {
                if lacking == 0 {
                    0
                } else {
                    read
                }
            }
            Below::Memory { read, .. } => cost(read, lacking),
        }
    }

    /// When all that completes an eviction has been read: beside its slot, which is read by `slot`, or when that has
    /// been. What flash reads before ends at `before`.
    fn merged(&self, slot: u64, before: u64, merge: u64) -> u64 {
        match (merge, self.rules.migration) {
            (0, _) => slot,
            (_, MigrationMode::ForegroundReads) => slot.max(before) + merge,
            _ => slot.max(before + merge),
        }
    }

    /// What a request waits for: itself, also until all is `read` that moves because of it, or until all has `ended`.
    fn waits(&self, host: u64, read: u64, ended: u64) -> u64 {
        match self.rules.migration {
            MigrationMode::Background => host,
            MigrationMode::ForegroundReads => host.max(read),
            MigrationMode::Foreground => ended,
        }
    }

    /// Writes to a free slot, and has a page leave so that another one is free.
    fn time_to_write(&self, host: u64, lacking: u32, leaving: Option<Leaving>) -> u64 {
        let (fetch, fill) = (self.fetch(lacking), cost(self.times.write, lacking));
        let Leaving { slot_read, merge, write } = leaving.unwrap_or(Leaving { slot_read: 0, merge: 0, write: 0 });
        // The bank writes for the host. What was fetched by then goes next, else what leaves is read first.
        let filled_first = fetch <= host;
        let left_slot = host + slot_read + if filled_first { fill } else { 0 };
        let filled = fill + if filled_first { host } else { fetch.max(host + slot_read) };
        // Below, what was to be fetched is read first, then the rest of what leaves.
        let left = left_slot.max(fetch + merge) + write;
        let filled = if lacking == 0 { host } else { filled };
        if leaving.is_some() {
            self.waits(host, fetch.max(self.merged(left_slot, fetch, merge)), left.max(filled))
        } else {
            self.waits(host, fetch, filled)
        }
    }

    /// Writes to the slot of a page that has to leave first.
    fn time_to_wait_and_write(&self, host: u64, lacking: u32, leaving: Option<Leaving>) -> u64 {
        let (fetch, fill) = (self.fetch(lacking), cost(self.times.write, lacking));
        match (self.times.below, leaving) {
            // Flash was read while the write waited; memory is read once there is a slot.
            (_, None) => self.waits(host, fetch, host.max(fetch) + fill),
            (Below::Flash { .. }, Some(Leaving { slot_read, merge, write })) => {
                let written = self.merged(slot_read, fetch, merge).max(fetch) + write + host;
                self.waits(written, fetch, written + fill)
            }
            (Below::Memory { .. }, Some(Leaving { slot_read, write, .. })) => {
                let freed = slot_read + write;
                self.waits(freed + host, freed + fetch, freed + host.max(fetch) + fill)
            }
        }
    }

    fn note_written(&mut self, page: u32, mask: u32, clean: u32, sequential: bool) {
        self.touch(page);
        let held = self.held.entry(page).or_default();
        held.valid |= mask | clean;
        held.dirty |= mask;
        held.sequential = sequential;
        if held.dirty == self.whole && !self.is_above_memory() {
            self.below.remove(&page);
        }
    }

    /// A part of a page that flash holds is a read-modify-write.
    fn write_below(&mut self, page: u32, mask: u32) -> u64 {
        let Below::Flash { read, program } = self.times.below else { panic!("memory caches all writes") };
        let merges = mask != self.whole && self.below.contains(&page);
        self.below.insert(page);
        program + if merges { read } else { 0 }
    }

    // ---- reads -----------------------------------------------------------------------------------

    fn goes(&self, hot: bool, random: bool) -> Goes {
        match &self.config {
            PlacementConfig::Wb(wb) if !wb.copy_reads => Goes::Stays,
            PlacementConfig::Wb(_) | PlacementConfig::NvWb(_) => Goes::Copied,
            PlacementConfig::RwbDm(rwb) => {
                let goes = match rwb.moves {
                    MoveRule::HotAndRandom => hot && random,
                    MoveRule::HotOrRandom => hot || random,
                };
                match (goes, rwb.keep_copy) {
                    (false, _) => Goes::Stays,
                    (true, true) => Goes::Copied,
                    (true, false) => Goes::Moved,
                }
            }
            _ => Goes::Stays,
        }
    }

    fn read(&mut self, page: u32, mask: u32, hot: bool, random: bool) -> u64 {
        let held = self.held.get(&page).copied();
        let above = held.map_or(0, |held| held.valid & mask);
        let from_above = cost(self.times.read, above);
        if held.is_some() {
            self.touch(page);
        }
        let missing = mask & !above;
        if missing == 0 || !self.below.contains(&page) {
            return from_above;
        }
        let from_below = match self.times.below {
            Below::Flash { read, .. } => read,
            Below::Memory { read, .. } => cost(read, missing),
        };
        let goes = self.goes(hot, random);
        if goes == Goes::Stays {
            return from_above.max(from_below);
        }
        let lacking = self.whole & !held.map_or(0, |held| held.valid);
        let time = if held.is_some() {
            let there = match self.times.below {
                Below::Flash { .. } => from_below,
                Below::Memory { read, .. } => from_below + cost(read, lacking),
            };
            let host = from_above.max(from_below);
            self.waits(host, there, there.max(from_above) + cost(self.times.write, lacking))
        } else {
            self.time_to_bring_up(page, from_below)
        };
        let held = self.held.entry(page).or_default();
        held.valid = self.whole;
        held.dirty |= if goes == Goes::Moved { lacking } else { 0 };
        if held.dirty == self.whole && !self.is_above_memory() {
            self.below.remove(&page);
        }
        time
    }

    /// Brings up a page that has no slot, with what has to leave for it.
    fn time_to_bring_up(&mut self, page: u32, host: u64) -> u64 {
        let waits_for_slot = self.free() == 0;
        let mut leaving = if waits_for_slot { self.evict(page) } else { None };
        self.held.insert(page, Held::default());
        self.touch(page);
        if !waits_for_slot && self.has_too_few() {
            leaving = self.evict(page);
        }
        let fill = cost(self.times.write, self.whole);
        match (self.times.below, leaving) {
            (Below::Flash { .. }, None) => self.waits(host, host, host + fill),
            (Below::Flash { .. }, Some(Leaving { slot_read, merge, write })) => {
                // The die reads for the host, then for the merge, then programs.
                let left = slot_read.max(host + merge) + write;
                let ended = if waits_for_slot { left + fill } else { left.max(host.max(slot_read) + fill) };
                self.waits(host, self.merged(slot_read, host, merge), ended)
            }
            (Below::Memory { read, .. }, None) => {
                let there = host + cost(read, self.whole);
                self.waits(host, there, there + fill)
            }
            (Below::Memory { read, .. }, Some(Leaving { slot_read, write, .. })) => {
                let page_read = cost(read, self.whole);
                if waits_for_slot || slot_read <= host {
                    // What goes down goes before what is read to come up.
                    let there = slot_read.max(host) + write + page_read;
                    self.waits(host, there, there + fill)
                } else {
                    let read = (host + page_read).max(slot_read);
                    self.waits(host, read, (read + fill).max(read + write))
                }
            }
        }
    }
}
