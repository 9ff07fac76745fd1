//! Whom requests waited for that waited for a map in flash: whose pages of it were to be written, and what the reads of those that
//! they wanted waited for.
//!
//! The device keeps sums of pages times time, and looks at rows of waits. Here each page is kept with the times between which it was to
//! be written, and what a read waited for is what [`crate::blame`] saw of it.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::View;
use ninescope_engine::meter::{REMEMBERED, SPLIT, Waits};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Lpa};

use crate::cache_holders::share_out;
use crate::rule::{Checked, require};

/// A command inside.
#[derive(Clone, Debug, Default)]
struct Inside {
    tenant: u16,
    came: Ns,
    /// Pages that it waits for, and since when.
    missing: BTreeSet<u32>,
    since: Ns,
    /// By holder, whom it waited for [ns]; none where that is more than the device remembers.
    behind: Option<Vec<u64>>,
}

/// For whom pages of the map are read and written.
#[derive(Debug)]
pub struct MapHolders {
    tenants: usize,
    entries: u32,
    /// By page: who changed it last.
    changed_by: BTreeMap<u32, u16>,
    /// Pages that are to be written: for whom, and since when.
    writes: BTreeMap<u32, (u16, Ns)>,
    /// Those that were, with both times.
    written: Vec<(u16, Ns, Ns)>,
    /// Pages that commands wait for, and who wanted them first.
    asked_by: BTreeMap<u32, u16>,
    /// Since when they are on their way.
    on_the_way: BTreeMap<u32, Ns>,
    inside: BTreeMap<u32, Inside>,
}

impl MapHolders {
    /// Of a drive whose map lies in flash and that several tenants share.
    pub fn started(view: &View<'_>, tenants: usize) -> Option<Self> {
        (tenants > 1 && view.mapping.is_some()).then(|| Self {
            tenants,
            entries: view.ftl.translation_entries(),
            changed_by: BTreeMap::new(),
            writes: BTreeMap::new(),
            written: Vec::new(),
            asked_by: BTreeMap::new(),
            on_the_way: BTreeMap::new(),
            inside: BTreeMap::new(),
        })
    }

    fn drive(&self) -> u16 {
        self.tenants as u16
    }

    pub fn fetched(&mut self, now: Ns, slot: u32, tenant: u16) {
        let behind = Some(vec![0; self.tenants + 1]);
        self.inside.insert(slot, Inside { tenant, came: now, behind, ..Inside::default() });
    }

    // ---- reads -------------------------------------------------------------------------------------

    /// A command looked for an entry that is not in memory.
    pub fn missed(&mut self, now: Ns, slot: u32, lpa: Lpa, goes_on: bool) {
        let page = lpa.0 / self.entries;
        let inside = self.inside.entry(slot).or_default();
        self.asked_by.entry(page).or_insert(inside.tenant);
        if !goes_on {
            inside.missing.insert(page);
            inside.since = now;
        }
    }

    /// A page begins to come that commands wait for.
    pub fn comes(&mut self, now: Ns, page: u32) {
        self.on_the_way.insert(page, now);
    }

    /// For whom a page is read: for commands, or to be written.
    pub fn reader_of(&self, page: u32, for_commands: bool) -> u16 {
        let asked = || self.asked_by.get(&page).copied();
        let written = || self.writes.get(&page).map(|&(holder, _)| holder);
        if for_commands { asked() } else { written() }.unwrap_or(self.drive())
    }

    /// It is there, for which its read waited so long by holder; nothing where it was not read.
    pub fn arrived(&mut self, now: Ns, page: u32, read: &[u64]) {
        self.asked_by.remove(&page);
        let since_when = self.on_the_way.remove(&page).unwrap_or(now);
        let is_ready = |inside: &mut Inside| inside.missing.remove(&page) && inside.missing.is_empty();
        let ready: Vec<u32> =
            self.inside.iter_mut().filter_map(|(&slot, inside)| is_ready(inside).then_some(slot)).collect();
        for slot in ready {
            let (tenant, since) = self.inside.get(&slot).map_or((0, now), |inside| (inside.tenant, inside.since));
            let for_writes = self.shares((since, since_when.max(since)), tenant);
            let (all, of_this) = ((now - since_when).0, (now - since.max(since_when)).0);
            let mut behind = for_writes;
            for (sum, wait) in behind.iter_mut().flatten().zip(read).filter(|_| all > 0) {
                *sum += (u128::from(*wait) * u128::from(of_this) / u128::from(all)) as u64;
            }
            if let Some(inside) = self.inside.get_mut(&slot) {
                let sums = inside.behind.take().zip(behind);
                inside.behind =
                    sums.map(|(sums, waits)| sums.iter().zip(waits).map(|(sum, wait)| sum + wait).collect());
            }
        }
    }

    // ---- writes ------------------------------------------------------------------------------------

    /// Something of a page changes by what a tenant writes.
    pub fn changed(&mut self, lpa: Lpa, tenant: u16) {
        self.changed_by.insert(lpa.0 / self.entries, tenant);
    }

    /// An entry that changed is not in memory: its page is to be written, or where nothing is to be kept for good.
    pub fn leaves_memory(&mut self, now: Ns, lpa: Lpa) {
        self.is_to_be_written(now, lpa.0 / self.entries);
    }

    /// A page is to be written.
    pub fn is_to_be_written(&mut self, now: Ns, page: u32) {
        let holder = self.changed_by.get(&page).copied().unwrap_or(self.drive());
        self.writes.entry(page).or_insert((holder, now));
    }

    /// A page got a place. Returns for whom it is written.
    pub fn page_written(&mut self, now: Ns, page: u32) -> u16 {
        let (holder, since) = self.writes.remove(&page).unwrap_or((self.drive(), now));
        self.written.push((holder, since, now));
        if self.written.len().is_multiple_of(1_024) {
            let oldest = self.inside.values().map(|inside| inside.came).min().unwrap_or(Ns::NEVER);
            self.written.retain(|&(_, _, until)| until >= oldest);
        }
        holder
    }

    /// By holder, the share of a wait in that time that pages which were to be written have.
    fn shares(&self, (from, until): (Ns, Ns), own: u16) -> Option<Vec<u64>> {
        let open = self.writes.values().map(|&(holder, since)| (holder, since, Ns::NEVER));
        let (mut held, mut changes) = (vec![0_u128; self.tenants + 1], 0);
        for (holder, since, over) in self.written.iter().copied().chain(open) {
            held[holder as usize] += u128::from(over.min(until).saturating_since(since.max(from)).0);
            changes += usize::from(since >= from) + usize::from(over >= from);
        }
        let is_remembered = (changes + 2) * held.len() <= REMEMBERED;
        is_remembered.then(|| share_out(&held, until - from, own))
    }

    /// A command completes: behind whom it is said to have waited for the map.
    pub fn completed(&mut self, now: Ns, slot: u32, behind: &[Waits]) -> Checked {
        let Some(Inside { behind: Some(expected), .. }) = self.inside.remove(&slot) else { return Ok(()) };
        let at = SPLIT.iter().position(|cause| *cause == Cause::MappingRead).unwrap_or_default();
        let said: Vec<u64> = behind.iter().map(|waits| waits[at]).collect();
        require!(
            said == expected,
            Tenants,
            now,
            "the command of slot {slot} waited for the map behind the tenants for {said:?} ns, by whose pages were read and written for {expected:?} ns"
        );
        Ok(())
    }
}
