//! Pages on their way between the media: each is read before it is written, and ends once.

use ninescope_engine::{Lower, MergedWith, MigrationKind, Occasion, SimulationError, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::scm::ScmCommandKind as Kind;
use ninescope_model::{Ppa, SlotId};
use ninescope_tier::WriteBack;
use ninescope_tier::policies::MigrationMode;

use super::{Slot, SlotUse, State, TierBook};
use crate::blocks::Blocks;
use crate::marks::{Mark, Marks};
use crate::rule::{Checked, Rule, require};

/// How far a migration was written to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// Not at all.
    Not,
    /// A bank took it up.
    Begun,
    /// It is on its medium.
    Ended,
}

/// How far flash was read for a migration alone. It may be read again, for which nobody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Not at all.
    Not,
    /// The read is queued.
    Queued,
    /// It was in a page register.
    Sensed,
}

/// The checker's own record of a migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    kind: MigrationKind,
    pub(super) page: u32,
    /// The page was trimmed meanwhile: nothing of it may go on.
    pub(super) void: bool,
    /// The bank read what goes on.
    pub(super) slot_read: bool,
    /// Sectors that it read.
    sectors: u32,
    /// When they are in the controller [ns].
    arrives: Ns,
    /// What of it is read in flash, for it alone.
    rest: Rest,
    /// How far it was written to a slot.
    written: Written,
    /// Where it lies in flash, with the erases of that group.
    placed: Option<(Ppa, u32)>,
    /// The host command that waits for it, `NONE` for none.
    waits: u32,
}

impl Migration {
    /// From the slot to the medium below.
    pub(super) fn goes_down(&self) -> bool {
        self.kind == MigrationKind::Evict
    }
}

impl TierBook {
    /// A migration begins.
    pub fn migration_began(&mut self, view: &View<'_>, index: u32) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let said = *part.migration(index);
        if self.migrations.len() <= index as usize {
            self.migrations.resize(index as usize + 1, None);
        }
        let before = self.migrations[index as usize];
        require!(before.is_none(), MigrationOrder, view.now, "migration {index} begins, it is {before:?}");
        let same_way =
            |other: &&Migration| other.page == said.page && other.goes_down() == (said.kind == MigrationKind::Evict);
        let twice = self.migrations.iter().flatten().find(same_way);
        require!(twice.is_none(), MigrationOrder, view.now, "page {} moves while it does: {twice:?}", said.page);
        let down = said.kind == MigrationKind::Evict;
        if down {
            let slot = SlotId(said.slot);
            let record = self.slot(slot);
            require!(
                record.state == State::Resident && record.page == said.page,
                SlotPartition,
                view.now,
                "page {} is to leave slot {slot}, which is {record:?}",
                said.page
            );
            record.state = State::Leaving(index);
        }
        if !down {
            if self.fetched_next == Some(said.page) && said.kind == MigrationKind::CopyUp {
                self.fetched_next = None;
            }
            // What comes up is caused by a request; what the controller holds is read already.
            let waits = match self.migration {
                _ if said.occasion == Occasion::ReadAhead => false,
                MigrationMode::Background => false,
                MigrationMode::ForegroundReads => said.reads > 0,
                MigrationMode::Foreground => true,
            };
            require!(
                waits == (said.command != NONE),
                MigrationOrder,
                view.now,
                "page {} comes up, and its request is{} to wait for that",
                said.page,
                if waits { "" } else { " not" }
            );
        }
        self.has_its_occasion(view, said.page, said.occasion, down)?;
        if said.occasion == Occasion::ReadAhead && self.parts.len() > 1 {
            self.asked_by.entry(said.page).or_default().insert(self.last_reader);
        }
        let under_way = if down { &mut self.evictions } else { &mut self.fills };
        *under_way += 1;
        require!(
            *under_way <= part.in_flight_max(),
            MigrationOrder,
            view.now,
            "{under_way} migrations of a kind are under way, {} may be",
            part.in_flight_max()
        );
        self.migrations[index as usize] = Some(Migration {
            kind: said.kind,
            page: said.page,
            void: false,
            slot_read: false,
            sectors: 0,
            arrives: Ns::ZERO,
            rest: Rest::Not,
            written: Written::Not,
            placed: None,
            waits: said.command,
        });
        Ok(())
    }

    /// What comes up ahead lies behind what was read last, and not too far; what goes down because the host rests does so when
    /// nothing has been inside for as long as it says.
    fn has_its_occasion(&self, view: &View<'_>, page: u32, occasion: Occasion, down: bool) -> Checked {
        let Some(rules) = view.tier.map(|part| part.tier().rules()) else { return Ok(()) };
        match occasion {
            Occasion::Need => Ok(()),
            Occasion::ReadAhead => {
                let behind = page.checked_sub(self.last_read).is_some_and(|by| by > 0 && by <= rules.read_ahead);
                let what = "and pages are fetched ahead of reads";
                require!(
                    behind && !down,
                    MigrationOrder,
                    view.now,
                    "page {page} moves, {what}, of {} last",
                    self.last_read
                );
                Ok(())
            }
            Occasion::Rest => {
                let rested = self.nothing_inside_since.map(|since| view.now - since);
                let enough = rules.flush_at_rest.is_some_and(|rest| rested.is_some_and(|time| time.0 >= rest.0));
                require!(
                    enough && down,
                    MigrationOrder,
                    view.now,
                    "page {page} goes down as the host rests, which has since {:?}, {:?} is wanted",
                    self.nothing_inside_since,
                    rules.flush_at_rest
                );
                Ok(())
            }
        }
    }

    /// Commands are inside, so many of them.
    pub fn inside(&mut self, now: Ns, commands: u64) {
        self.nothing_inside_since = (commands == 0).then_some(self.nothing_inside_since.unwrap_or(now));
    }

    /// A host command completes: what it waited for has ended, or was read where it waits for no more.
    pub fn host_completes(&mut self, view: &View<'_>, slot: u32) -> Checked {
        let (now, of_flash, knows_units) = (view.now, self.lower == Lower::Flash, self.knows_units);
        for (index, record) in self.migrations.iter_mut().enumerate() {
            let Some(record) = record.as_mut().filter(|record| record.waits == slot) else { continue };
            record.waits = NONE;
            // What comes up from flash is read by the host itself.
            let arrived = record.slot_read && record.arrives <= now || of_flash && !record.goes_down();
            let read = record.void || arrived && (!knows_units || record.rest != Rest::Queued);
            require!(
                read && self.migration == MigrationMode::ForegroundReads,
                MigrationOrder,
                now,
                "the command of slot {slot} completes and was to wait for migration {index}, which is {record:?}"
            );
        }
        Ok(())
    }

    /// Whether a page is on its way up.
    pub(super) fn is_coming_up(&self, page: u32) -> bool {
        self.migrations.iter().flatten().any(|record| record.page == page && !record.goes_down())
    }

    /// A read of flash is queued for a migration of a page: what completes one that `leaves` is read when its slot was, where
    /// requests wait for what is read.
    pub(super) fn rest_queued(&mut self, view: &View<'_>, page: u32, leaves: bool) -> Checked {
        let of_page = |record: &&mut Migration| record.page == page && record.goes_down() == leaves;
        let in_turn = self.migration == MigrationMode::ForegroundReads;
        let Some(record) = self.migrations.iter_mut().flatten().find(of_page) else {
            let what = format!("page {page} is read in flash for a migration that is not under way");
            return Err(Rule::MigrationOrder.violated(view.now, what));
        };
        if record.rest == Rest::Not {
            record.rest = Rest::Queued;
        }
        require!(
            !(leaves && in_turn) || record.slot_read && record.arrives <= view.now,
            MigrationOrder,
            view.now,
            "the rest of page {page} is read in flash before its slot was: {record:?}"
        );
        Ok(())
    }

    /// What a migration reads in flash is in its page register.
    pub fn rest_sensed(&mut self, now: Ns, index: u32) -> Checked {
        let record = self.migration(now, index)?;
        require!(
            record.rest != Rest::Not,
            MigrationOrder,
            now,
            "what migration {index} did not ask for is read: {record:?}"
        );
        record.rest = Rest::Sensed;
        Ok(())
    }

    /// The page of a migration under way.
    pub fn page_of_migration(&self, index: u32) -> u32 {
        self.migrations.get(index as usize).and_then(Option::as_ref).map_or(NONE, |record| record.page)
    }

    fn migration(&mut self, now: Ns, index: u32) -> Result<&mut Migration, SimulationError> {
        let record = self.migrations.get_mut(index as usize).and_then(Option::as_mut);
        record.ok_or_else(|| Rule::MigrationOrder.violated(now, format!("migration {index} is not under way")))
    }

    /// A bank took up an access of a migration.
    pub(super) fn migration_dispatched(
        &mut self,
        view: &View<'_>,
        (kind, index): (Kind, u32),
        (slot, sectors): (SlotId, u32),
        marks: &mut Marks,
    ) -> Result<SlotUse, SimulationError> {
        let (now, first_below, lower) = (view.now, self.first_below, self.lower);
        let record = *self.migration(now, index)?;
        let is_above = slot.0 < first_below;
        let of_page =
            if is_above { self.slot_of(record.page) == Some(slot) } else { slot.0 == first_below + record.page };
        if !of_page {
            let what = format!("migration {index} of page {} accesses slot {slot}", record.page);
            return Err(Rule::SlotPartition.violated(now, what));
        }
        match (record.goes_down(), is_above, kind) {
            (true, true, Kind::Read) => self.read_to_leave(now, index, (slot, sectors), marks),
            (true, false, Kind::Write) if lower == Lower::Scm => {
                self.written_on(now, index, sectors, SlotUse::EvictionWrite)
            }
            (false, false, Kind::Read) => {
                let record = self.migration(now, index)?;
                (record.slot_read, record.sectors) = (true, sectors);
                Ok(SlotUse::FillRead)
            }
            (false, true, Kind::Write) => self.fill(now, index, (slot, sectors)),
            _ => {
                let what = format!("a {kind:?} of slot {slot} for migration {index}, which is {record:?}");
                Err(Rule::MigrationOrder.violated(now, what))
            }
        }
    }

    /// The copy that goes down is read: all that is valid where whole pages go down, else what is dirty.
    fn read_to_leave(
        &mut self,
        now: Ns,
        index: u32,
        (slot, sectors): (SlotId, u32),
        marks: &mut Marks,
    ) -> Result<SlotUse, SimulationError> {
        let whole_pages = self.lower == Lower::Flash || self.write_back == WriteBack::WholePages;
        let record = self.slot(slot);
        let goes = if whole_pages { record.valid } else { record.dirty };
        record.rewritten = 0;
        let state = record.state;
        if state != State::Leaving(index) || goes != sectors {
            let what = format!("sectors {sectors:#x} of slot {slot} go down, {goes:#x} are to; it is {state:?}");
            return Err(Rule::SlotMasks.violated(now, what));
        }
        if sectors != self.whole {
            marks.hit(Mark::EvictionOfPart);
        }
        let record = self.migration(now, index)?;
        (record.slot_read, record.sectors) = (true, sectors);
        Ok(SlotUse::EvictionRead)
    }

    /// What was read is written on the other medium: it is in the controller.
    fn written_on(&mut self, now: Ns, index: u32, sectors: u32, slot_use: SlotUse) -> Result<SlotUse, SimulationError> {
        let of_flash = self.lower == Lower::Flash;
        let record = self.migration(now, index)?;
        // What comes from flash is followed by the oracle.
        let read = (of_flash && slot_use == SlotUse::FillWrite) || (record.slot_read && record.arrives <= now);
        let within = match slot_use {
            SlotUse::EvictionWrite => sectors == record.sectors,
            _ => of_flash || sectors & !record.sectors == 0,
        };
        if !read || !within || record.written != Written::Not {
            let what = format!("sectors {sectors:#x} are written for migration {index}, which is {record:?}");
            return Err(Rule::MigrationOrder.violated(now, what));
        }
        record.written = Written::Begun;
        Ok(slot_use)
    }

    /// Sectors of a page go up: those that the slot lacks.
    fn fill(&mut self, now: Ns, index: u32, (slot, sectors): (SlotId, u32)) -> Result<SlotUse, SimulationError> {
        let slot_use = self.written_on(now, index, sectors, SlotUse::FillWrite)?;
        let Migration { kind, void, .. } = *self.migration(now, index)?;
        let moves = kind == MigrationKind::MoveUp;
        let record = self.slot(slot);
        if record.valid & sectors != 0 || sectors == 0 {
            let what = format!("sectors {sectors:#x} of slot {slot} are filled, {:#x} are valid", record.valid);
            return Err(Rule::SlotMasks.violated(now, what));
        }
        record.valid |= sectors;
        if moves {
            record.dirty |= sectors;
            record.rewritten |= sectors;
        }
        if void && self.lower == Lower::Flash {
            let what = format!("slot {slot} is filled by migration {index}, whose page was trimmed meanwhile");
            return Err(Rule::MigrationOrder.violated(now, what));
        }
        *(if moves { &mut self.counts.moved_up } else { &mut self.counts.copied_up }) += 1;
        Ok(slot_use)
    }

    /// What a bank read for a migration leaves it until then.
    pub fn migration_data_out(&mut self, now: Ns, index: u32, until: Ns) -> Checked {
        let record = self.migration(now, index)?;
        record.arrives = record.arrives.max(until);
        Ok(())
    }

    /// What a bank wrote for a migration is on its medium.
    pub fn migration_write_ended(&mut self, now: Ns, index: u32) -> Checked {
        self.migration(now, index)?.written = Written::Ended;
        Ok(())
    }

    /// A page that goes down got a place in flash. Returns the sectors that came from its slot.
    pub fn eviction_placed(
        &mut self,
        view: &View<'_>,
        index: u32,
        page: u32,
        new: Ppa,
        merged_with: MergedWith,
    ) -> Result<u32, SimulationError> {
        let (now, whole) = (view.now, self.whole);
        let group = view.ftl.geometry().group_and_offset(new).0;
        let erases = view.ftl.group(group).erase_count;
        let record = self.migration(now, index)?;
        let complete = merged_with != MergedWith::Nothing || record.sectors == whole;
        let legal = record.goes_down() && record.page == page && record.slot_read && record.arrives <= now;
        if !legal || !complete || record.void || record.placed.is_some() {
            let what = format!(
                "page {page} is placed at {new}, merged with {merged_with:?}, by migration {index}, which is {record:?}"
            );
            return Err(Rule::MigrationOrder.violated(now, what));
        }
        record.placed = Some((new, erases));
        Ok(record.sectors)
    }

    /// A slot that was copied down is given up: nothing was written since, and the copy is on its medium.
    pub(super) fn left_by_eviction(&mut self, view: &View<'_>, index: u32, slot: &Slot) -> Checked {
        let record = *self.migration(view.now, index)?;
        let stays = if record.void { slot.dirty } else { slot.dirty & slot.rewritten };
        require!(
            stays == 0,
            LostData,
            view.now,
            "page {} leaves its slot, whose sectors {stays:#x} were written since they were read to go down",
            slot.page
        );
        self.counts.evicted_dirty += 1;
        Ok(())
    }

    /// A migration is over.
    pub fn migration_ended(&mut self, view: &View<'_>, index: u32, blocks: &Blocks) -> Checked {
        let record = *self.migration(view.now, index)?;
        self.migrations[index as usize] = None;
        if record.goes_down() {
            self.evictions -= 1;
            self.eviction_ended(view, index, &record, blocks)?;
        } else {
            self.fills -= 1;
            require!(
                record.written != Written::Begun,
                MigrationOrder,
                view.now,
                "migration {index} ends while it is {record:?}"
            );
        }
        self.settle_superseded(view.now)
    }

    fn eviction_ended(&mut self, view: &View<'_>, index: u32, record: &Migration, blocks: &Blocks) -> Checked {
        let on_media = match record.placed {
            Some((place, erases)) => blocks.is_programmed(view, place, erases),
            None => record.written == Written::Ended,
        };
        require!(
            record.void || on_media,
            MigrationOrder,
            view.now,
            "migration {index} ends before its page is on the medium below: {record:?}"
        );
        let Some(slot) = self.slot_of(record.page) else { return Ok(()) };
        let own = self.slot(slot);
        if own.state != State::Leaving(index) {
            return Ok(());
        }
        // It stays: something was written since, or is about to be.
        own.state = State::Resident;
        if !record.void {
            own.dirty &= own.rewritten;
        }
        let writers = view.tier.map_or(0, |part| part.tier().slot(slot.0).writers);
        let reason = own.dirty != 0 || writers != 0;
        require!(reason, SlotMasks, view.now, "slot {slot} stays for no reason: {own:?}");
        self.counts.evictions_kept += 1;
        self.agrees(view, slot)
    }
}
