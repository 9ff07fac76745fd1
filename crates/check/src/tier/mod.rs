//! Drives of two media: which slot holds which page and which of its sectors, by the events alone.
//!
//! Masks change when a bank takes up an access, as contents do. So the account needs no locks: each event is applied,
//! and compared with what the device says right after. [`migrations`] follows the pages on their way between the
//! media, [`compare`] walks over everything.

mod compare;
mod migrations;
mod pressure;

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::{Lower, SimulationError, TierPart, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::scm::ScmCommandKind as Kind;
use ninescope_model::{Lpa, Op, Ppa, SlotId, Source};
use ninescope_tier::WriteBack;
use ninescope_tier::policies::MigrationMode;

use crate::marks::{Mark, Marks};
use crate::requests::{Inside, Requests, mask_of};
use crate::rule::{Checked, Rule, require};
use compare::Counts;
use migrations::Migration;
use pressure::Intake;

/// What a slot is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing.
    #[default]
    Free,
    /// It holds a page.
    Resident,
    /// Its page is being copied down by the migration of this number.
    Leaving(u32),
    /// Its page is not looked for here, but reads of it are queued.
    Draining,
}

/// The checker's own record of a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u32,
    state: State,
    valid: u32,
    dirty: u32,
    /// Written since its copy was read that goes down.
    rewritten: u32,
}

const FREE: Slot = Slot { page: NONE, state: State::Free, valid: 0, dirty: 0, rewritten: 0 };

/// A read of the host that is queued on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AwaitedRead {
    command: u32,
    sectors: u32,
    page: u32,
}

/// What the access of a slot that a bank took up is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// The host reads sectors of a page, above or below.
    HostRead(u32),
    /// The host writes sectors of a page.
    HostWrite(u32),
    /// A page is read to go down.
    EvictionRead,
    /// It is written to the slot of its page below.
    EvictionWrite,
    /// A page is read below to go up.
    FillRead,
    /// It is written to its slot.
    FillWrite,
}

/// By part: its first slot.
fn first_slots(part: &TierPart) -> Vec<u32> {
    let residency = part.tier().residency();
    let sizes = (0..residency.parts()).map(|part| residency.slots_of(part));
    sizes.scan(0, |next, size| Some(std::mem::replace(next, *next + size))).collect()
}

/// The account of a drive with two media.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // independent facts of the drive
pub struct TierBook {
    lower: Lower,
    write_back: WriteBack,
    fetch_on_write: bool,
    migration: MigrationMode,
    /// The first slot below, where that is storage-class memory.
    first_below: u32,
    sectors: u32,
    whole: u32,
    slots: Vec<Slot>,
    /// By page.
    slot_of: Vec<u32>,
    /// By slot of both media.
    awaited: Vec<Vec<AwaitedRead>>,
    migrations: Vec<Option<Migration>>,
    evictions: u32,
    fills: u32,
    /// Pages that left their slots with the last events, with the dirty sectors they had: evictions of clean pages, or
    /// a TRIM.
    just_left: Vec<(u32, u32)>,
    /// A page was written to flash whose slot it covers.
    replaced: Option<u32>,
    /// What was written lately is forgotten from time to time.
    forgets_recent: bool,
    /// Writes go around the upper medium.
    write_around: bool,
    /// When they did [ns].
    left_at: Ns,
    /// The unit below of this page was forgotten: what makes all sectors dirty is told next.
    superseded: Option<u32>,
    /// What is above is lost without power.
    volatile: bool,
    /// What a read is about to look for in flash: command, page, sectors.
    looked_for_below: Option<(u32, u32, u32)>,
    /// The rest of this page is to be brought up, as it is written in part: the next migration does.
    fetched_next: Option<u32>,
    /// The page that a read asked for last.
    last_read: u32,
    /// Since when no command has been inside [ns].
    nothing_inside_since: Option<Ns>,
    /// It is told what is in page registers.
    knows_units: bool,
    /// By part that somebody has for himself: its first slot; one alone where all share all.
    parts: Vec<u32>,
    /// By page: the parts of those that asked for it; kept where there are several.
    asked_by: BTreeMap<u32, BTreeSet<usize>>,
    /// By part: writes that are held back, and taken in.
    intakes: Vec<Intake>,
    /// The part of who read last.
    last_reader: usize,
    counts: Counts,
}

impl TierBook {
    /// The account of a drive whose upper medium is empty; none for a drive of one medium.
    ///
    /// It may be told what is in page registers (`knows_units`).
    pub fn started(view: &View<'_>, knows_units: bool) -> Option<Self> {
        let part = view.tier?;
        let layout = view.scm.layout();
        let (upper, below) = (layout.medium(0), layout.medium(1));
        let pages = if part.lower() == Lower::Scm { below.slots } else { view.ftl.logical_units() };
        Some(Self {
            lower: part.lower(),
            write_back: part.tier().rules().write_back,
            fetch_on_write: part.tier().rules().fetch_on_write,
            migration: part.tier().rules().migration,
            first_below: layout.first_slot(1),
            sectors: upper.sectors_per_slot,
            whole: (u64::MAX >> (64 - upper.sectors_per_slot)) as u32,
            slots: vec![FREE; upper.slots as usize],
            slot_of: vec![NONE; pages as usize],
            awaited: vec![Vec::new(); layout.slots() as usize],
            migrations: Vec::new(),
            evictions: 0,
            fills: 0,
            just_left: Vec::new(),
            replaced: None,
            write_around: part.tier().rules().write_around,
            forgets_recent: part.tier().rules().classes.forgotten_every.is_some(),
            left_at: Ns::ZERO,
            superseded: None,
            volatile: part.is_volatile(),
            looked_for_below: None,
            fetched_next: None,
            last_read: 0,
            nothing_inside_since: Some(Ns::ZERO),
            knows_units,
            parts: first_slots(part),
            asked_by: BTreeMap::new(),
            intakes: first_slots(part).iter().map(|_| Intake::default()).collect(),
            last_reader: 0,
            counts: Counts::default(),
        })
    }

    /// The part that a slot lies in.
    fn part_of(&self, slot: SlotId) -> usize {
        self.parts.iter().rposition(|&first| first <= slot.0).unwrap_or_default()
    }

    /// A tenant asks for a page.
    fn asks(&mut self, view: &View<'_>, tenant: u16, page: u32) -> usize {
        let part = view.tier.map_or(0, |part| part.part_of(tenant));
        if self.parts.len() > 1 {
            self.asked_by.entry(page).or_default().insert(part);
        }
        part
    }

    /// A page gets a slot of the part of somebody who asked for it, or for whom it was to be fetched ahead.
    fn is_of_who_asked(&self, view: &View<'_>, page: u32, slot: SlotId) -> Checked {
        if self.parts.len() == 1 {
            return Ok(());
        }
        let part = self.part_of(slot);
        let asked = self.asked_by.get(&page).is_some_and(|parts| parts.contains(&part));
        require!(
            asked,
            SlotPart,
            view.now,
            "page {page} gets slot {slot} of part {part}, it was asked for by {:?}",
            self.asked_by.get(&page)
        );
        Ok(())
    }

    fn slot(&mut self, slot: SlotId) -> &mut Slot {
        &mut self.slots[slot.index()]
    }

    /// The slot of a page.
    fn slot_of(&self, page: u32) -> Option<SlotId> {
        let slot = self.slot_of[page as usize];
        (slot != NONE).then_some(SlotId(slot))
    }

    /// Sectors of a page that are valid above, and its slot.
    pub fn above(&self, page: u32) -> Option<(SlotId, u32)> {
        self.slot_of(page).map(|slot| (slot, self.slots[slot.index()].valid))
    }

    /// Sectors of a page that are valid above and not dirty, and its slot.
    pub fn clean(&self, page: u32) -> Option<(SlotId, u32)> {
        let slot = self.slot_of(page)?;
        let Slot { valid, dirty, .. } = self.slots[slot.index()];
        Some((slot, valid & !dirty))
    }

    /// The slots above with something dirty, if that would be lost without power: with their pages and dirty sectors.
    pub fn to_be_lost(&self) -> Vec<(SlotId, u32, u32)> {
        let slots = (0..self.first_below).filter(|_| self.volatile).map(SlotId);
        let dirty = slots.map(|slot| (slot, self.slots[slot.index()])).filter(|(_, record)| record.dirty != 0);
        dirty.map(|(slot, record)| (slot, record.page, record.dirty)).collect()
    }

    /// Whether what is above is lost without power.
    pub fn forgets(&self) -> bool {
        self.volatile
    }

    /// Whether all of these sectors of a page were written anew since they were read to go down: the copy that goes down is
    /// not seen.
    pub fn is_rewritten(&self, page: u32, sectors: u32) -> bool {
        let stays = self.slot_of(page).map_or(0, |slot| self.stays_dirty(&self.slots[slot.index()]));
        sectors & self.whole & !stays == 0
    }

    /// Pages there are.
    pub fn pages(&self) -> u32 {
        self.slot_of.len() as u32
    }

    // ---- between events --------------------------------------------------------------------------

    /// Whether pages that left their slots did so before now: what happens now has nothing to do with it.
    pub fn left_before(&self, now: Ns) -> bool {
        !self.just_left.is_empty() && self.left_at < now
    }

    /// An event of another kind than those that belong together begins: what the last ones left open is decided.
    pub fn settle(&mut self, now: Ns) -> Checked {
        for (page, dirty) in self.just_left.drain(..) {
            require!(
                dirty == 0,
                LostData,
                now,
                "page {page} leaves its slot, whose sectors {dirty:#x} are nowhere else"
            );
            self.counts.evicted_clean += 1;
        }
        let page = self.replaced.take();
        require!(page.is_none(), SlotPartition, now, "page {page:?} was written to flash and has not left its slot");
        if let Some((command, page, sectors)) = self.looked_for_below.take() {
            let what =
                format!("the command of slot {command} does not look below for sectors {sectors:#x} of page {page}");
            return Err(Rule::LostData.violated(now, what));
        }
        Ok(())
    }

    /// What a write is to bring up is brought up at once.
    pub fn settle_fetch(&mut self, now: Ns) -> Checked {
        let page = self.fetched_next.take();
        require!(page.is_none(), MigrationOrder, now, "the rest of page {page:?}, written in part, is not brought up");
        Ok(())
    }

    /// Dirty sectors of a slot that will be dirty when the copy on its way down is below.
    fn stays_dirty(&self, slot: &Slot) -> u32 {
        match slot.state {
            State::Leaving(index)
                if self.migrations[index as usize].is_some_and(|record| record.slot_read && !record.void) =>
            {
                slot.dirty & slot.rewritten
            }
            _ => slot.dirty,
        }
    }

    /// What follows the forgetting of a unit below: all sectors of its page are dirty above.
    pub fn settle_superseded(&mut self, now: Ns) -> Checked {
        let Some(page) = self.superseded.take() else { return Ok(()) };
        let dirty = self.slot_of(page).map_or(0, |slot| self.stays_dirty(&self.slots[slot.index()]));
        require!(
            dirty == self.whole,
            BelowForgotten,
            now,
            "the unit of page {page} is forgotten below, where sectors {:#x} of it are needed",
            self.whole & !dirty
        );
        Ok(())
    }

    // ---- slots -----------------------------------------------------------------------------------

    /// A page got a slot.
    pub fn taken(&mut self, view: &View<'_>, page: u32, slot: SlotId) -> Checked {
        let before = self.slot_of(page);
        let readers = self.awaited[slot.index()].len();
        let record = self.slot(slot);
        require!(
            record.state == State::Free && before.is_none() && readers == 0,
            SlotPartition,
            view.now,
            "page {page}, which has {before:?}, gets slot {slot}, which is {record:?} with {readers} reads queued"
        );
        *record = Slot { page, state: State::Resident, ..FREE };
        self.slot_of[page as usize] = slot.0;
        self.slot_changed(view, slot);
        self.is_of_who_asked(view, page, slot)
    }

    /// A page is not looked for in its slot any more. Returns the sectors that are to be found below from now on.
    pub fn left(&mut self, view: &View<'_>, page: u32, slot: SlotId) -> Result<u32, SimulationError> {
        let record = *self.slot(slot);
        if self.slot_of(page) != Some(slot) || record.page != page {
            let what = format!("page {page} leaves slot {slot}, which is {record:?}");
            return Err(Rule::SlotPartition.violated(view.now, what));
        }
        let mut below = record.valid & !record.dirty;
        match record.state {
            State::Leaving(migration) => {
                self.left_by_eviction(view, migration, &record)?;
                below = record.valid;
            }
            _ if self.replaced == Some(page) => {
                self.replaced = None;
                below = 0;
            }
            // A page of which nothing was written is given back by the fill that took its slot.
            _ if record.valid != 0 => {
                self.just_left.push((page, record.dirty));
                self.left_at = view.now;
            }
            _ => {}
        }
        let drains = !self.awaited[slot.index()].is_empty();
        *self.slot(slot) = if drains { Slot { page, state: State::Draining, ..FREE } } else { FREE };
        self.slot_of[page as usize] = NONE;
        self.slot_changed(view, slot);
        Ok(below)
    }

    /// What the device says of a slot right after an access of it.
    fn agrees(&self, view: &View<'_>, slot: SlotId) -> Checked {
        let (own, said) = (&self.slots[slot.index()], view.tier.map(|part| *part.tier().slot(slot.0)));
        let masks = said.map(|said| (said.valid, said.dirty));
        require!(
            masks == Some((own.valid, own.dirty)),
            SlotMasks,
            view.now,
            "slot {slot} of page {}: valid and dirty are said to be {masks:x?}, they are {:x?}",
            own.page,
            (own.valid, own.dirty)
        );
        require!(
            own.dirty & !own.valid == 0,
            SlotMasks,
            view.now,
            "slot {slot}: sectors {:#x} are dirty and not valid",
            own.dirty & !own.valid
        );
        Ok(())
    }

    // ---- reads of the host -----------------------------------------------------------------------

    /// A read found out where the sectors of a page are.
    pub fn page_read(
        &mut self,
        view: &View<'_>,
        requests: &Requests,
        command: u32,
        (page, above, below): (u32, u32, u32),
        marks: &mut Marks,
    ) -> Checked {
        let Inside { request, lane, .. } = *requests.get(view, command)?;
        self.last_read = page;
        self.last_reader = self.asks(view, lane, page);
        let asked = mask_of(&request, Lpa(page), self.sectors);
        let valid = self.above(page).map_or(0, |(_, valid)| valid);
        require!(
            request.op == Op::Read && above == asked & valid && below == asked & !valid && asked != 0,
            SlotMasks,
            view.now,
            "{request:?} reads sectors {above:#x} of page {page} above and {below:#x} below, {valid:#x} are valid above"
        );
        if above != 0 && below != 0 {
            marks.hit(Mark::ReadOfBothMedia);
        }
        self.counts.read_upper += u64::from(above.count_ones());
        self.counts.read_lower += u64::from(below.count_ones());
        if let Some(slot) = self.slot_of(page).filter(|_| above != 0) {
            self.awaited[slot.index()].push(AwaitedRead { command, sectors: above, page });
        }
        if below != 0 && self.lower == Lower::Scm {
            let slot = (self.first_below + page) as usize;
            self.awaited[slot].push(AwaitedRead { command, sectors: below, page });
        } else if below != 0 {
            self.looked_for_below = Some((command, page, below));
        }
        Ok(())
    }

    /// A read looks for a page in flash. Returns the sectors it wants from there.
    pub fn looked_below(&mut self, view: &View<'_>, command: u32, lpa: Lpa) -> Result<u32, SimulationError> {
        match self.looked_for_below.take() {
            Some((of, page, sectors)) if (of, page) == (command, lpa.0) => Ok(sectors),
            other => {
                let what = format!("the command of slot {command} reads page {lpa} in flash, it was to read {other:?}");
                Err(Rule::MisdirectedData.violated(view.now, what))
            }
        }
    }

    // ---- writes of the host ----------------------------------------------------------------------

    /// The host is about to write sectors of a page to its slot, or to wait for one.
    pub fn page_written(
        &mut self,
        view: &View<'_>,
        requests: &Requests,
        command: u32,
        (page, sectors): (u32, u32),
    ) -> Checked {
        let Inside { request, lane, .. } = *requests.get(view, command)?;
        let around = self.write_around;
        require!(!around, SlotPartition, view.now, "page {page} is written above, around which writes go");
        self.asks(view, lane, page);
        self.write_taken_in(view, lane, (command, page))?;
        let asked = mask_of(&request, Lpa(page), self.sectors);
        require!(
            request.op == Op::Write && sectors == asked && asked != 0,
            SlotMasks,
            view.now,
            "{request:?} is to write sectors {sectors:#x} of page {page}"
        );
        let is_below = self.lower == Lower::Scm || view.ftl.translate(Lpa(page)) != Ppa::UNMAPPED;
        let wanted = self.fetch_on_write && sectors != self.whole && self.slot_of(page).is_none() && is_below;
        let most = view.tier.map_or(0, TierPart::in_flight_max);
        if wanted && self.fills < most && !self.is_coming_up(page) {
            self.fetched_next = Some(page);
        }
        Ok(())
    }

    /// The host writes sectors of a page to flash: it has no slot, or is about to leave one of which nothing else is wanted.
    pub fn written_below(&mut self, view: &View<'_>, page: u32, sectors: u32) -> Checked {
        let Some(slot) = self.slot_of(page) else { return Ok(()) };
        let record = *self.slot(slot);
        if self.write_around && record.valid == 0 {
            return Ok(());
        }
        let covered = record.state == State::Resident && record.valid & !sectors == 0;
        require!(
            self.forgets_recent && covered,
            SlotPartition,
            view.now,
            "sectors {sectors:#x} of page {page} are written to flash while it is looked for in {slot:?}, {record:?}"
        );
        self.replaced = Some(page);
        self.counts.replaced_above += 1;
        Ok(())
    }

    /// A page of which all is below is about to be written there: what its slot holds of it is forgotten.
    pub fn makes_way(&mut self, view: &View<'_>, page: u32) -> Checked {
        let dirty = self.just_left.iter().find(|(left, _)| *left == page).map_or(0, |(_, dirty)| *dirty);
        let above = self.slot_of(page).map_or(0, |slot| self.slot(slot).dirty);
        require!(
            self.write_around && dirty | above == 0,
            LostData,
            view.now,
            "page {page} makes way, of which sectors {:#x} are nowhere else",
            dirty | above
        );
        self.counts.replaced_above += 1;
        self.forgotten(view, page, |_| {})
    }

    /// A page was trimmed: what its slot holds of it is forgotten.
    pub fn trimmed(&mut self, view: &View<'_>, page: u32, marks: &mut Marks) -> Checked {
        self.forgotten(view, page, |goes_down| {
            marks.hit(if goes_down { Mark::TrimWhileLeaving } else { Mark::TrimWhileFilled });
        })
    }

    /// The same; what is under way for it is void, of which it is told whether it goes down.
    fn forgotten(&mut self, view: &View<'_>, page: u32, mut under_way: impl FnMut(bool)) -> Checked {
        if let Some(position) = self.just_left.iter().position(|(left, _)| *left == page) {
            self.just_left.swap_remove(position);
        }
        for migration in self.migrations.iter_mut().flatten().filter(|migration| migration.page == page) {
            migration.void = true;
            under_way(migration.goes_down());
        }
        let Some(slot) = self.slot_of(page) else { return Ok(()) };
        let record = self.slot(slot);
        (record.valid, record.dirty, record.rewritten) = (0, 0, 0);
        self.agrees(view, slot)
    }

    /// The unit of a page is forgotten below.
    pub fn superseded(&mut self, now: Ns, page: u32) -> Checked {
        let volatile = self.volatile;
        require!(
            !volatile,
            BelowForgotten,
            now,
            "the unit of page {page} is forgotten for what a loss of power takes away"
        );
        let other = self.superseded.replace(page);
        require!(other.is_none(), BelowForgotten, now, "the units of pages {other:?} and {page} are forgotten at once");
        self.counts.superseded_below += 1;
        Ok(())
    }

    // ---- banks -----------------------------------------------------------------------------------

    /// A bank took up an access of a slot. Says what for.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        requests: &mut Requests,
        (kind, source, owner): (Kind, Source, u32),
        (slot, sectors): (SlotId, u32),
        marks: &mut Marks,
    ) -> Result<SlotUse, SimulationError> {
        let is_above = slot.0 < self.first_below;
        let slot_use = match (source, kind, is_above) {
            (Source::Migration, ..) => self.migration_dispatched(view, (kind, owner), (slot, sectors), marks)?,
            (_, Kind::Read, _) => self.host_reads(view, owner, slot, sectors, marks)?,
            (_, _, true) => self.host_writes(view, requests, owner, (slot, sectors), marks)?,
            _ => {
                let what = format!("the command of slot {owner} writes sectors {sectors:#x} of slot {slot} below");
                return Err(Rule::MisdirectedData.violated(view.now, what));
            }
        };
        self.settle_superseded(view.now)?;
        if is_above && !matches!(self.slots[slot.index()].state, State::Free | State::Draining) {
            self.agrees(view, slot)?;
        }
        Ok(slot_use)
    }

    fn host_reads(
        &mut self,
        view: &View<'_>,
        command: u32,
        slot: SlotId,
        sectors: u32,
        marks: &mut Marks,
    ) -> Result<SlotUse, SimulationError> {
        let awaited = &mut self.awaited[slot.index()];
        let Some(position) = awaited.iter().position(|read| (read.command, read.sectors) == (command, sectors)) else {
            let what = format!(
                "the command of slot {command} reads sectors {sectors:#x} of slot {slot}, which it did not ask for"
            );
            return Err(Rule::MisdirectedData.violated(view.now, what));
        };
        let AwaitedRead { page, .. } = awaited.swap_remove(position);
        let last = awaited.is_empty();
        if slot.0 < self.first_below && self.slots[slot.index()].state == State::Draining {
            marks.hit(Mark::ReadOfDrainingSlot);
            if last {
                *self.slot(slot) = FREE;
            }
        }
        Ok(SlotUse::HostRead(page))
    }

    fn host_writes(
        &mut self,
        view: &View<'_>,
        requests: &mut Requests,
        command: u32,
        (slot, sectors): (SlotId, u32),
        marks: &mut Marks,
    ) -> Result<SlotUse, SimulationError> {
        let record = *self.slot(slot);
        let held = matches!(record.state, State::Resident | State::Leaving(_));
        if !held {
            let what = format!("the command of slot {command} writes slot {slot}, which is {record:?}");
            return Err(Rule::SlotPartition.violated(view.now, what));
        }
        requests.unit_done(view, command, Lpa(record.page), Op::Write)?;
        let request = requests.get(view, command)?.request;
        self.counts.written_through += u64::from(request.fua && self.volatile);
        let asked = mask_of(&request, Lpa(record.page), self.sectors);
        if asked != sectors {
            let what = format!("sectors {sectors:#x} of page {} are written for {asked:#x}", record.page);
            return Err(Rule::MisdirectedData.violated(view.now, what));
        }
        if let State::Leaving(migration) = record.state
            && self.migrations[migration as usize].is_some_and(|migration| migration.slot_read)
        {
            marks.hit(Mark::WriteWhileLeaving);
        }
        let record = self.slot(slot);
        record.valid |= sectors;
        record.dirty |= sectors;
        record.rewritten |= sectors;
        Ok(SlotUse::HostWrite(record.page))
    }

    // ---- measuring -------------------------------------------------------------------------------

    pub fn measuring_began(&mut self) {
        self.counts = Counts::default();
    }

    /// A page read of flash is queued for a migration: of the two that ask for them, evictions are counted.
    pub fn read_queued(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        let page = view.ftl.content(ppa).0;
        let leaves = self.slot_of(page).is_some_and(|slot| matches!(self.slots[slot.index()].state, State::Leaving(_)));
        self.counts.evictions_merged += u64::from(leaves);
        self.rest_queued(view, page, leaves)
    }
}
