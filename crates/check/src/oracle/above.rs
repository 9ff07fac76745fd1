//! Versions in slots of storage-class memory, and what goes from one medium to the other.
//!
//! A slot's sector holds the version of whoever wrote it last, in the order in which its bank took the accesses up. A
//! migration carries what it found where it read; what it leaves behind must be what the other medium holds.

use ninescope_engine::{Lower, MergedWith, MigrationKind, View};
use ninescope_kernel::Ns;
use ninescope_model::{Lpa, Ppa, SlotId};

use super::content::{Content, NEVER_WRITTEN, SPOILED, Version};
use super::{Oracle, ReadUnit, Reader, stale_words};
use crate::marks::{Mark, Marks};
use crate::reliability::damage::Damage;
use crate::requests::Inside;
use crate::rule::{Checked, Rule, require};
use crate::tier::TierBook;

/// What a migration has with it.
#[derive(Clone, Copy, Debug)]
struct Carried {
    page: Lpa,
    /// What a bank read, or for a page that goes up from flash its unit.
    content: Content,
    /// The unit of flash that completes a page on its way down, once it was read.
    rest: Content,
    /// Where the unit of a page that goes up is read, [`Ppa::UNMAPPED`] once it was.
    awaits: Ppa,
    /// When the last of it has left its die [ns].
    data_out: Ns,
}

/// The slots of a drive with two media, and what is on its way.
#[derive(Debug)]
pub struct Above {
    lower: Lower,
    first_below: u32,
    /// By slot of all media, sector by sector.
    versions: Vec<Version>,
    carried: Vec<Option<Carried>>,
}

impl Above {
    /// Slots that were never written. None on a drive of one medium.
    pub fn new(view: &View<'_>) -> Option<Self> {
        let layout = view.scm.layout();
        let sectors = layout.medium(0).sectors_per_slot;
        view.tier.map(|part| Self {
            lower: part.lower(),
            first_below: layout.first_slot(1),
            versions: vec![NEVER_WRITTEN; (layout.slots() * sectors) as usize],
            carried: Vec::new(),
        })
    }

    /// The drive has flash.
    pub fn is_above_flash(&self) -> bool {
        self.lower == Lower::Flash
    }
}

fn sectors_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |sector| mask >> sector & 1 == 1)
}

impl Oracle {
    fn slots(&mut self) -> &mut Above {
        self.above.as_mut().expect("a drive with two media has slots")
    }

    fn slot_index(&self, slot: SlotId, sector: usize) -> usize {
        slot.index() * self.sectors as usize + sector
    }

    /// The version of a sector of a slot.
    fn slot_version(&self, slot: SlotId, sector: usize) -> Version {
        self.above.as_ref().map_or(NEVER_WRITTEN, |above| above.versions[self.slot_index(slot, sector)])
    }

    fn set_slot_version(&mut self, slot: SlotId, sector: usize, version: Version) {
        let index = self.slot_index(slot, sector);
        self.slots().versions[index] = version;
    }

    /// The version of a sector of a page that the medium below holds.
    fn version_below(&self, view: &View<'_>, page: Lpa, sector: usize) -> Version {
        if let Some(above) = self.above.as_ref().filter(|above| !above.is_above_flash()) {
            return self.slot_version(SlotId(above.first_below + page.0), sector);
        }
        match view.ftl.translate(page) {
            Ppa::UNMAPPED => self.zeros[page.index()],
            place => self.contents.version(self.contents.at(place), sector),
        }
    }

    /// What a slot holds now, as a content with a reference for the caller.
    fn content_of_slot(&mut self, page: Lpa, slot: SlotId) -> Content {
        let versions: Vec<Version> = (0..self.sectors as usize).map(|sector| self.slot_version(slot, sector)).collect();
        self.contents.create(page, |_, sector| versions[sector])
    }

    // ---- the host --------------------------------------------------------------------------------

    /// The host writes sectors of a page to a slot.
    pub fn wrote_slot(&mut self, command: u32, inside: &Inside, page: u32, (slot, mask): (SlotId, u32)) {
        let (lpa, version) = (Lpa(page), self.command(command).version);
        if !self.follows(lpa) {
            return;
        }
        for sector in sectors_of(mask) {
            self.set_slot_version(slot, sector, version);
        }
        self.history.written(lpa, mask, version, inside.invocation, self.initial(lpa));
    }

    /// The host reads sectors of a page from a slot, of whichever medium.
    pub fn read_slot(&mut self, command: u32, page: u32, (slot, mask): (SlotId, u32)) {
        let lpa = Lpa(page);
        if self.follows(lpa) {
            let content = self.content_of_slot(lpa, slot);
            let read = ReadUnit { lpa, mask, place: Ppa::UNMAPPED, content, zeros: None, arrived: true };
            self.command(command).reads.push(read);
        }
    }

    // ---- FLUSH of a cache that forgets -----------------------------------------------------------

    /// A FLUSH came: what is dirty above is to be below when it completes. Returns whether anything is.
    pub fn flush_came(&mut self, command: u32, book: &TierBook) -> bool {
        let mut dirty = book.to_be_lost();
        dirty.retain(|&(_, page, _)| self.follows(Lpa(page)));
        let sectors =
            dirty.into_iter().flat_map(|(slot, page, mask)| sectors_of(mask).map(move |at| (slot, Lpa(page), at)));
        let held: Vec<_> = sectors.map(|(slot, page, at)| (slot, page, at, self.slot_version(slot, at))).collect();
        let command = self.command(command);
        command.to_be_lost = held;
        !command.to_be_lost.is_empty()
    }

    /// It completes: none of that is above alone.
    pub fn flush_left_nothing(&mut self, view: &View<'_>, command: u32, inside: &Inside, book: &TierBook) -> Checked {
        let owed = std::mem::take(&mut self.command(command).to_be_lost);
        let dirty: std::collections::BTreeMap<_, _> =
            book.to_be_lost().into_iter().map(|(slot, page, mask)| ((slot, Lpa(page)), mask)).collect();
        for (slot, page, sector, version) in owed {
            let is_dirty = dirty.get(&(slot, page)).is_some_and(|mask| mask >> sector & 1 == 1);
            require!(
                !is_dirty || version == SPOILED || self.slot_version(slot, sector) != version,
                FlushDurability,
                view.now,
                "FLUSH {} completes, and sector {sector} of page {page} that was written before it is in slot {slot} alone",
                inside.id
            );
        }
        Ok(())
    }

    /// A write that asked to be on the media completes: none of what it wrote is above alone. Returns whether any of it is or was
    /// above, where it can be lost.
    pub fn is_not_above_alone(
        &mut self,
        view: &View<'_>,
        command: u32,
        inside: &Inside,
        book: &TierBook,
    ) -> Result<bool, ninescope_engine::SimulationError> {
        let version = self.command(command).version;
        let pages = self.units_of(&inside.request);
        for (slot, page, mask) in book.to_be_lost().into_iter().filter(|(_, page, _)| pages.contains(page)) {
            let lpa = Lpa(page);
            let asked = self.mask(lpa, &inside.request) & mask;
            let alone = |at: &usize| self.follows(lpa) && self.slot_version(slot, *at) == version;
            if let Some(sector) = sectors_of(asked).find(alone) {
                let what = format!(
                    "request {} completes, which asked to be on the media, and sector {sector} of page {page} is in slot {slot} alone",
                    inside.id
                );
                return Err(Rule::FuaDurability.violated(view.now, what));
            }
        }
        Ok(book.forgets())
    }

    // ---- migrations ------------------------------------------------------------------------------

    fn carried(&mut self, migration: u32) -> Option<&mut Carried> {
        self.slots().carried.get_mut(migration as usize).and_then(Option::as_mut)
    }

    /// A migration begins. What goes up from flash lies where it lay when it was asked for: nothing is written
    /// there before the place is erased.
    pub fn migration_began(&mut self, view: &View<'_>, migration: u32) {
        let Some(part) = view.tier else { return };
        let record = *part.migration(migration);
        let page = Lpa(record.page);
        if !self.follows(page) {
            return;
        }
        let place = record.taken_from.place;
        let goes_up = record.kind != MigrationKind::Evict && place != Ppa::UNMAPPED;
        let content = if goes_up { self.contents.share(self.contents.at(place)) } else { Content::NONE };
        let awaits = if goes_up && !view.ftl.is_in_flight(place) { place } else { Ppa::UNMAPPED };
        let all = &mut self.slots().carried;
        if all.len() <= migration as usize {
            all.resize(migration as usize + 1, None);
        }
        all[migration as usize] = Some(Carried { page, content, rest: Content::NONE, awaits, data_out: Ns::ZERO });
    }

    /// The unit of flash that a migration asked for is in its die's register.
    pub fn migration_sensed(&mut self, view: &View<'_>, migration: u32, place: Ppa) -> Checked {
        let content = self.contents.at(place);
        let holds = self.contents.lpa(content);
        let Some(carried) = self.carried(migration) else { return Ok(()) };
        let page = carried.page;
        require!(
            holds == page,
            MisdirectedData,
            view.now,
            "migration {migration} reads page {page} at {place}, which holds {holds}"
        );
        if carried.awaits == place {
            carried.awaits = Ppa::UNMAPPED;
        } else {
            let before = std::mem::replace(&mut carried.rest, content);
            self.contents.share(content);
            self.contents.release(before);
        }
        self.sense(view, place, Reader::Migration(migration));
        Ok(())
    }

    /// A page that the host reads is in its die's register, and goes up with a migration as well.
    pub(super) fn migration_sensed_with_host(&mut self, view: &View<'_>, place: Ppa, migration: u32) {
        if self.above.is_none() {
            return;
        }
        let Some(carried) = self.carried(migration).filter(|carried| carried.awaits == place) else { return };
        carried.awaits = Ppa::UNMAPPED;
        self.sense(view, place, Reader::Migration(migration));
    }

    /// The data of a migration leave their die until then.
    pub(super) fn migration_leaves(&mut self, migration: u32, until: Ns) {
        if let Some(carried) = self.carried(migration) {
            carried.data_out = carried.data_out.max(until);
        }
    }

    /// A bank reads a slot for a migration.
    pub fn slot_read_for(&mut self, migration: u32, slot: SlotId) {
        let Some(carried) = self.carried(migration) else { return };
        let page = carried.page;
        let content = self.content_of_slot(page, slot);
        if let Some(carried) = self.carried(migration) {
            let before = std::mem::replace(&mut carried.content, content);
            self.contents.release(before);
        }
    }

    /// What a migration read from flash is no good: the page that goes up, or what completes one that `goes_down`.
    pub fn spoil_migration(&mut self, migration: u32, goes_down: bool) {
        let Some(&mut carried) = self.carried(migration) else { return };
        let content = self.contents.create(carried.page, |_, _| SPOILED);
        let Some(carried) = self.carried(migration) else { return };
        let part = if goes_down { &mut carried.rest } else { &mut carried.content };
        let before = std::mem::replace(part, content);
        self.contents.release(before);
    }

    /// Sectors that a bank read for a migration are no good.
    pub fn spoil_sectors(&mut self, migration: u32, mask: u32) {
        let Some(&mut carried) = self.carried(migration) else { return };
        let held: Vec<Version> =
            (0..self.sectors as usize).map(|sector| self.contents.version(carried.content, sector)).collect();
        let spoiled = |sector: usize| if mask >> sector & 1 == 1 { SPOILED } else { held[sector] };
        let content = self.contents.create(carried.page, |_, sector| spoiled(sector));
        let Some(carried) = self.carried(migration) else { return };
        let before = std::mem::replace(&mut carried.content, content);
        self.contents.release(before);
    }

    /// A page that goes up is written to its slot: it was read, and is what the medium below holds.
    pub fn filled(&mut self, view: &View<'_>, migration: u32, (slot, mask): (SlotId, u32)) -> Checked {
        let Some(&mut carried) = self.carried(migration) else { return Ok(()) };
        require!(
            carried.awaits == Ppa::UNMAPPED && carried.data_out <= view.now,
            MigrationOrder,
            view.now,
            "slot {slot} is filled by migration {migration} before its page has left flash: {carried:?}"
        );
        // A page that moves up may have been forgotten below with this.
        let moves = view.tier.is_some_and(|part| part.migration(migration).kind == MigrationKind::MoveUp);
        let forgotten = moves && view.ftl.translate(carried.page) == Ppa::UNMAPPED;
        for sector in sectors_of(mask) {
            let version = self.contents.version(carried.content, sector);
            self.set_slot_version(slot, sector, version);
            if !forgotten {
                self.same_below(view, carried.page, slot, sector)?;
            }
        }
        Ok(())
    }

    /// A page that goes down is written to the slot of its page below.
    pub fn written_below(&mut self, migration: u32, (slot, mask): (SlotId, u32)) {
        let Some(&mut carried) = self.carried(migration) else { return };
        for sector in sectors_of(mask) {
            let version = self.contents.version(carried.content, sector);
            self.set_slot_version(slot, sector, version);
        }
    }

    /// A page that goes down got a place in flash: sectors `from_slot` are those that its slot held.
    pub fn eviction_placed(
        &mut self,
        view: &View<'_>,
        migration: u32,
        (new, merged_with): (Ppa, MergedWith),
        from_slot: u32,
        marks: &mut Marks,
    ) -> Checked {
        let Some(&mut carried) = self.carried(migration) else { return Ok(()) };
        let page = carried.page;
        let rest = match merged_with {
            MergedWith::Nothing | MergedWith::Zeros => Content::NONE,
            MergedWith::Read(_) if carried.rest != Content::NONE => carried.rest,
            // The controller held it when the eviction began, and has kept it since.
            MergedWith::Read(place) | MergedWith::Controller(place) => self.contents.at(place),
        };
        if let MergedWith::Controller(_) = merged_with {
            marks.hit(Mark::EvictionMergedInController);
        }
        require!(
            carried.data_out <= view.now && (rest == Content::NONE || self.contents.lpa(rest) == page),
            MisdirectedData,
            view.now,
            "page {page} is placed at {new}, merged with {merged_with:?}, which holds {}",
            self.contents.lpa(rest)
        );
        let zeros = self.zeros[page.index()];
        let content = self.contents.create(page, |contents, sector| {
            if from_slot >> sector & 1 == 1 {
                contents.version(carried.content, sector)
            } else if rest == Content::NONE {
                zeros
            } else {
                contents.version(rest, sector)
            }
        });
        self.contents.put(new, content);
        Ok(())
    }

    /// A migration is over.
    pub fn migration_ended(&mut self, migration: u32) {
        let Some(carried) = self.slots().carried.get_mut(migration as usize).and_then(Option::take) else { return };
        self.contents.release(carried.content);
        self.contents.release(carried.rest);
    }

    // ---- walks -----------------------------------------------------------------------------------

    fn same_below(&self, view: &View<'_>, page: Lpa, slot: SlotId, sector: usize) -> Checked {
        let (above, below) = (self.slot_version(slot, sector), self.version_below(view, page, sector));
        require!(
            above == below || above == SPOILED || below == SPOILED,
            CleanCopy,
            view.now,
            "sector {sector} of page {page} holds version {above} in slot {slot} and is clean, below lies version {below}"
        );
        Ok(())
    }

    /// A page leaves its slot: the sectors `mask` of it are to be found below from now on.
    pub fn left(&self, view: &View<'_>, page: u32, (slot, mask): (SlotId, u32)) -> Checked {
        let page = Lpa(page);
        for sector in sectors_of(mask).filter(|_| self.follows(page)) {
            self.same_below(view, page, slot, sector)?;
        }
        Ok(())
    }

    /// What is clean above is what the medium below holds.
    pub fn clean_is_below(&self, view: &View<'_>, book: &TierBook) -> Checked {
        for page in (0..book.pages()).filter(|&page| self.follows(Lpa(page))) {
            let Some((slot, clean)) = book.clean(page) else { continue };
            for sector in sectors_of(clean) {
                self.same_below(view, Lpa(page), slot, sector)?;
            }
        }
        Ok(())
    }

    /// The version of a sector where the next read would look for it.
    pub(super) fn version_found(&self, view: &View<'_>, book: Option<&TierBook>, lpa: Lpa, sector: usize) -> Version {
        if let Some(&content) = self.areas.get(&lpa.0) {
            return self.contents.version(content, sector);
        }
        match book.and_then(|book| book.above(lpa.0)) {
            Some((slot, valid)) if valid >> sector & 1 == 1 => self.slot_version(slot, sector),
            _ => self.version_below(view, lpa, sector),
        }
    }

    /// At the end every sector is read once more, where a read would look for it; but for what is known to be no good.
    pub fn everything_is_found(
        &mut self,
        view: &View<'_>,
        book: Option<&TierBook>,
        damage: Option<&Damage>,
        order: u64,
    ) -> Checked {
        let span = (order + 1, order + 2);
        let good = |lpa: &Lpa| self.follows(*lpa) && damage.is_none_or(|damage| !damage.is_damaged(*lpa));
        for lpa in (0..self.zeros.len() as u32).map(Lpa).filter(good).collect::<Vec<_>>() {
            for sector in 0..self.sectors as usize {
                let version = self.version_found(view, book, lpa, sector);
                if let Err(stale) = self.history.read(lpa, 1 << sector, version, span, self.initial(lpa), u64::MAX) {
                    let read = ReadUnit {
                        lpa,
                        mask: 1 << sector,
                        place: Ppa::UNMAPPED,
                        content: Content::NONE,
                        zeros: None,
                        arrived: true,
                    };
                    let words = stale_words("the walk at the end", &read, version, &stale);
                    return Err(Rule::StaleData.violated(view.now, words));
                }
            }
        }
        Ok(())
    }
}
