//! Failing bits and what is done about them, by the events alone: decoders, page accesses on their way through them,
//! corrupt units, what is lost or wrong and who is told so, passes of the scrubber, refresh.
//!
//! What a unit holds is the account of [`crate::oracle`], which is told here which copies are no good.

pub mod clean;
mod corruption;
pub mod damage;
pub mod decoders;
mod heals;
mod rates;
pub mod reads;
mod refresh;
mod scrub;
mod stripes;

use std::collections::BTreeMap;

use ninescope_engine::reliability::{Harm, NandCode, Reliability, ReliabilityCounters};
use ninescope_engine::{Access, Event, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, BlockGroup, Lpa, Ppa, SECTOR_BYTES, SlotId, Source};

use crate::blocks::group_of_block;
use crate::rule::{Checked, Rule, require};
use crate::wordlines::pages_of;
use corruption::Corruption;
use damage::Damage;
use decoders::{Decoders, Decoding, moves_whole_codewords};
use heals::Heals;
use reads::{Fetched, PageReads, Taker};
use refresh::Refresh;
use scrub::Scrub;

/// The code that guards a place of flash.
pub fn code_of(view: &View<'_>, place: Ppa) -> NandCode {
    let has_edc = view.reliability.is_some_and(|part| part.nand_code(NandCode::Edc).is_some());
    if has_edc && view.ftl.stream_of(place).is_apart() { NandCode::Edc } else { NandCode::Ecc }
}

/// The drive's reliability, of a checker that has a book of it.
pub fn reliability<'a>(view: &View<'a>) -> &'a Reliability {
    view.reliability.expect("a drive with a book of reliability")
}

/// Sectors that a bank read, until they are decoded.
#[derive(Clone, Copy, Debug)]
struct SectorRead {
    slot: SlotId,
    source: Source,
    command: u32,
    mask: u32,
    page: Lpa,
}

/// Events since measuring began, by the names of the counters they must equal.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Accesses repeated, and attempts: surely, and perhaps (they failed the moment measuring began, or their die failed).
    retried: [u64; 2],
    retries: [u64; 2],
    failed_reads: u64,
    units_read: [u64; 2],
    /// To the correcting code, under the detecting one, from the first to the second.
    moved: [u64; 3],
    /// For the host or a merge, for moves, for the scrubber.
    fetched: [u64; 3],
    heals_dropped: u64,
    /// Accesses whose stripe was read, the pages of those, and units found by them.
    rebuilt: [u64; 3],
}

/// The account of a drive with codes, or whose data is refreshed.
#[derive(Debug)]
pub struct ReliabilityBook {
    pub reads: PageReads,
    pub damage: Damage,
    corruption: Corruption,
    scrub: Scrub,
    refresh: Refresh,
    /// By code of flash.
    nand: [Option<Decoders>; 2],
    /// By medium of SCM.
    scm: [Option<Decoders>; 2],
    sectors: Vec<SectorRead>,
    heals: Heals,
    /// By slot of a host command: parts of a read that may cross the link, from when on [ns], and how many have begun to.
    parts: Vec<(Vec<Ns>, usize)>,
    /// By slot of a host command and place: the sectors that it asks for there.
    asked: BTreeMap<(u32, Ppa), u32>,
    counts: Counts,
    measured_since: Option<Ns>,
    /// It is known which units page accesses bring.
    knows_units: bool,
    /// Units that are followed by `damage`.
    units: u32,
    has_flash: bool,
}

impl ReliabilityBook {
    /// None for a drive that has nothing of it. It may know the units of page accesses (`knows_units`).
    pub fn started(view: &View<'_>, knows_units: bool) -> Option<Self> {
        let part = view.reliability?;
        let (geometry, layout) = (view.ftl.geometry(), view.scm.layout());
        let of_nand =
            |code| part.nand_code(code).map(|code| Decoders::of(code, geometry.channels, geometry.unit_bytes));
        let of_scm = |medium: usize| {
            let code = part.scm_code(medium)?;
            Some(Decoders::of(code, layout.medium(medium).channels, SECTOR_BYTES as u32))
        };
        let has_flash = view.ftl.logical_units() > 0;
        let mut refresh = Refresh::default();
        refresh.started(view);
        let mut heals = Heals::default();
        heals.started(
            part.backing_store().map_or(0, ninescope_engine::reliability::backing_store::BackingStore::parallel),
        );
        Some(Self {
            reads: PageReads::default(),
            damage: Damage::new(knows_units),
            corruption: Corruption::new(knows_units),
            scrub: Scrub::default(),
            refresh,
            nand: [of_nand(NandCode::Ecc), of_nand(NandCode::Edc)],
            scm: [of_scm(0), of_scm(1)],
            sectors: Vec::new(),
            heals,
            parts: Vec::new(),
            asked: BTreeMap::new(),
            counts: Counts::default(),
            measured_since: None,
            knows_units,
            units: if has_flash || view.tier.is_none() { view.ftl.logical_units() } else { layout.medium(1).slots },
            has_flash,
        })
    }

    // ---- before each event -------------------------------------------------------------------------

    /// What the last events left open is decided: harm is told with the device's next word, and before time goes on
    /// something is done about what did not decode.
    pub fn settle(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let said = match *event {
            Event::UnitLost { lpa } => Some((lpa, Harm::Lost)),
            Event::UnitMadeWrong { lpa } => Some((lpa, Harm::Wrong)),
            _ => None,
        };
        self.damage.spoke(view.now, said)?;
        Corruption::time_passes(view)?;
        self.reads.time_passes(view, &mut self.heals)
    }

    // ---- flash -------------------------------------------------------------------------------------

    /// A command leaves its queue.
    pub fn dispatched(&mut self, view: &View<'_>, command: &FlashCommand, accesses: &[Access]) -> Checked {
        if command.kind != CommandKind::Read {
            return Ok(());
        }
        let Some((failed, attempt)) = self.reads.dispatched(view, command, accesses, &self.heals)? else {
            return Ok(());
        };
        for access in accesses {
            self.refresh.repeated(view, access.ppa);
        }
        self.count_retry((failed, attempt), false);
        Ok(())
    }

    /// An access that had failed is read again: that was counted the moment it failed, or only `perhaps`.
    fn count_retry(&mut self, (failed, attempt): (Ns, u32), perhaps: bool) {
        let which = match self.measured_since {
            Some(since) if failed < since => return,
            Some(since) if failed == since => 1,
            _ => usize::from(perhaps),
        };
        self.counts.retries[which] += 1;
        self.counts.retried[which] += u64::from(attempt == 1);
    }

    /// The channel was granted to a command: the array begins when its data are encoded.
    pub fn issued(&mut self, view: &View<'_>, command: &FlashCommand, (sent, begins): (Ns, Ns)) -> Checked {
        let geometry = view.ftl.geometry();
        let mut time = Ns::ZERO;
        if command.kind == CommandKind::Program && !command.copies {
            for plane in command.addressed_planes() {
                let group = group_of_block(geometry, command.die, plane, command.block[plane]);
                let which = code_of(view, geometry.first_unit(group));
                if let (Some(own), Some(code)) = (&mut self.nand[which as usize], reliability(view).nand_code(which)) {
                    let pages = pages_of(view, command);
                    for _ in 0..pages {
                        time += own.encode(code, geometry.units_per_page());
                    }
                    let units: Vec<u32> = (0..geometry.units_per_page()).collect();
                    moves_whole_codewords(view.now, (own, code), &units, command.bytes[plane] / pages)?;
                }
            }
        }
        encoded(view.now, begins, sent, time)
    }

    /// The array phase of a command ended.
    pub fn ended(&mut self, view: &View<'_>, command: &FlashCommand) -> Checked {
        let geometry = view.ftl.geometry();
        match command.kind {
            CommandKind::Read => self.reads.sensed(view, command, |ppa| self.refresh.since(view, ppa))?,
            CommandKind::Program => {
                for plane in command.addressed_planes().filter(|&plane| command.page[plane] == 0) {
                    let group = group_of_block(geometry, command.die, plane, command.block[plane]);
                    self.refresh.programmed(view, group);
                }
            }
            CommandKind::Erase => {}
        }
        Ok(())
    }

    /// A unit is in its page register, for somebody.
    pub fn unit_sensed(&mut self, view: &View<'_>, place: Ppa, lpa: Lpa, taker: Taker) {
        self.reads.unit_sensed(view, place, (lpa, u32::MAX), taker, &self.corruption);
    }

    /// The same for a read of the host, which may ask for some of its sectors; what it brings up it takes whole.
    pub fn host_unit_sensed(&mut self, view: &View<'_>, place: Ppa, lpa: Lpa, slot: u32, goes_up: bool) {
        let asked = self.asked.get(&(slot, place)).copied().filter(|_| !goes_up);
        self.reads.unit_sensed(view, place, (lpa, asked.unwrap_or(u32::MAX)), Taker::Host(slot), &self.corruption);
    }

    /// A read of the host asks for sectors of a unit of flash.
    pub fn asks_for(&mut self, slot: u32, place: Ppa, sectors: u32) {
        self.asked.insert((slot, place), sectors);
    }

    /// The scrubber's page is in its register.
    pub fn scrub_sensed(&mut self, view: &View<'_>, first: Ppa) -> Checked {
        for place in (first.0..first.0 + view.ftl.geometry().units_per_page()).map(Ppa) {
            self.unit_sensed(view, place, view.ftl.content(place), Taker::Scrub);
        }
        Scrub::sensed(view, first)
    }

    /// A page read is queued.
    pub fn read_queued(&mut self, view: &View<'_>, ppa: Ppa, source: Source) -> Checked {
        self.refresh.read(view, ppa)?;
        if source == Source::Scrub { self.scrub.queued(view, ppa) } else { Ok(()) }
    }

    pub fn data_out(&mut self, view: &View<'_>, command: &FlashCommand, (until, held): (Ns, Ns)) -> Checked {
        for plane in command.addressed_planes() {
            let Some((which, units)) = self.reads.units_of(command.transaction[plane]) else { continue };
            if let (Some(own), Some(code)) = (&self.nand[which as usize], reliability(view).nand_code(which)) {
                moves_whole_codewords(view.now, (own, code), &units, command.bytes[plane])?;
            }
        }
        for slot in self.reads.data_out(view, command, until, held)? {
            self.part_is_ready(slot.0, slot.1);
        }
        Ok(())
    }

    /// A page access went through a decoder.
    pub fn page_decoded(&mut self, view: &View<'_>, transaction: u32, decoding: &Decoding) -> Checked {
        let decoded = self.reads.decoded(view, transaction, decoding)?;
        let part = reliability(view);
        let (Some(own), Some(code)) = (&mut self.nand[decoding.code as usize], part.nand_code(decoding.code)) else {
            let what = format!("access {transaction} goes through a decoder that is not there: {decoding:?}");
            return Err(Rule::PageDecoded.violated(view.now, what));
        };
        let more = match (part.retry(), decoding.attempt.checked_sub(1)) {
            (Some(retry), Some(attempt)) => retry.more_decoding(attempt),
            _ => Ns::ZERO,
        };
        let geometry = view.ftl.geometry();
        let channel = geometry.channel_of_die(geometry.die_of(decoded.ppa)).0;
        let places: Vec<(u32, u32)> = decoded.units.iter().map(|unit| (unit.place.0, unit.sectors)).collect();
        own.take(view, code, channel, decoding, (&places, more, decoded.measured))?;
        self.corruption.decoded(view, decoding, decoded.sensed, &decoded.units)?;
        if decoded.repeats {
            self.refresh.repeats(view, decoded.ppa);
        }
        match decoding.source {
            Source::Host => {
                for unit in decoded.units.iter().filter(|unit| unit.undetected) {
                    self.damage.owes(decoded.slot, unit.lpa, Harm::Wrong);
                }
                if decoding.failed == 0 {
                    self.part_is_ready(decoded.slot, decoding.until);
                }
            }
            Source::Scrub if !decoded.repeats && !decoded.is_rebuilt => self.scrub.arrives(decoding.until),
            _ => {}
        }
        Ok(())
    }

    /// An access is given up: the host must be told, and so must who moves what was lost.
    pub fn given_up(&mut self, view: &View<'_>, transaction: u32, source: Source) -> Checked {
        self.counts.failed_reads += u64::from(source != Source::Rebuild);
        let asked_by = self.reads.asked_by(transaction, source);
        let settled = self.reads.given_up(view, transaction, source)?;
        for &place in &settled.places {
            self.corruption.failed(view, place, asked_by);
        }
        if source == Source::Host {
            for lpa in settled.lost {
                self.damage.owes(settled.slot, lpa, Harm::Lost);
            }
            self.part_is_ready(settled.slot, view.now);
        }
        Ok(())
    }

    /// A unit is fetched. Returns on whose behalf.
    pub fn unit_fetched(
        &mut self,
        view: &View<'_>,
        lpa: Lpa,
        from: Ppa,
        wanted: bool,
    ) -> Result<Taker, SimulationError> {
        let there = self.heals.fetch(view, wanted);
        let Fetched { taker, ready, units } = self.reads.fetched(view, (lpa, from), wanted, there)?;
        let (source, kind) = match taker {
            Taker::Move(_) => (Source::GarbageCollection, 1),
            Taker::Scrub => (Source::Scrub, 2),
            _ => (Source::Host, 0),
        };
        self.counts.fetched[kind] += 1;
        self.corruption.failed(view, from, source);
        if let (Taker::Host(slot), Some(ready)) = (taker, ready) {
            self.part_is_ready(slot, ready);
        }
        if taker == Taker::Scrub {
            self.heals.will_heal(view, lpa, from, there);
        }
        for (lpa, from) in units {
            self.heals.will_heal(view, lpa, from, ready.unwrap_or(there));
        }
        Ok(taker)
    }

    /// What was fetched of a unit got a place, instead of its copy at another.
    pub fn healed(&mut self, view: &View<'_>, lpa: Lpa, old: Ppa) -> Checked {
        if self.knows_units { self.heals.dealt_with(view, lpa, old, true) } else { Ok(()) }
    }

    /// What was fetched of a unit is not wanted any more.
    pub fn heal_dropped(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa) -> Checked {
        self.counts.heals_dropped += 1;
        if self.knows_units { self.heals.dealt_with(view, lpa, from, false) } else { Ok(()) }
    }

    /// It was drawn which units become corrupt over time.
    pub fn corruption_drawn(&mut self, view: &View<'_>) -> Checked {
        self.corruption.drawn(view)
    }

    pub fn corrupted(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        self.corruption.corrupted(view, ppa)
    }

    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        self.corruption.erased(view, group);
        self.refresh.erased(group);
    }

    /// What lay at a place does so no more.
    pub fn left(&mut self, place: Ppa) {
        self.reads.left(place);
    }

    // ---- what is moved, merged and read --------------------------------------------------------------

    /// A unit that the host reads is on the media.
    pub fn unit_read(&mut self, view: &View<'_>, place: Ppa) {
        // Units of pages that have a tier above are counted nowhere.
        if view.tier.is_none() {
            self.counts.units_read[code_of(view, place) as usize] += 1;
        }
    }

    /// A move is placed. Returns what is wrong with it.
    pub fn move_placed(
        &mut self,
        view: &View<'_>,
        record: u32,
        (from, to): (Ppa, Ppa),
    ) -> Result<Option<Harm>, SimulationError> {
        self.unit_changes_group(view, (from, to));
        self.used(view, Taker::Move(record), false)
    }

    /// A unit is moved from one place to another, under the code of either.
    pub fn unit_changes_group(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa)) {
        let kind = match (code_of(view, from), code_of(view, to)) {
            (_, NandCode::Ecc) => 0,
            (NandCode::Edc, NandCode::Edc) => 1,
            (NandCode::Ecc, NandCode::Edc) => 2,
        };
        self.counts.moved[kind] += 1;
    }

    /// The drive uses what it read. Harm was told by now, unless nobody sees it.
    pub fn used(&mut self, view: &View<'_>, taker: Taker, hidden: bool) -> Result<Option<Harm>, SimulationError> {
        let Some(outcome) = self.reads.taken(view, taker)? else { return Ok(None) };
        if outcome.harm.is_some() && !outcome.told && !hidden {
            let what = format!("unit {} is used for {taker:?} as if it were good: {outcome:?}", outcome.lpa);
            return Err(Rule::Damage.violated(view.now, what));
        }
        Ok(outcome.harm)
    }

    /// A unit that the host writes in part is merged with what was read. Harm is told next.
    pub fn merged(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Result<Option<Harm>, SimulationError> {
        let Some(outcome) = self.reads.taken(view, Taker::Merge(slot, lpa))? else { return Ok(None) };
        if let Some(harm) = outcome.harm {
            self.damage.is_due(lpa, harm);
        }
        Ok(outcome.harm)
    }

    /// What a read brought of a page of the map is no good, and is found again.
    pub fn map_page_lost(&mut self, view: &View<'_>, lpa: Lpa) -> Checked {
        let time = view.mapping.map_or(Ns::ZERO, ninescope_engine::mapping::Mapping::rebuild_time);
        if self.knows_units { self.reads.map_page_lost(view, lpa, view.now + time) } else { Ok(()) }
    }

    /// A unit is lost or wrong.
    pub fn harmed(&mut self, view: &View<'_>, lpa: Lpa, harm: Harm) -> Checked {
        let reason = self.reads.harm_told(view.now, lpa, harm);
        self.damage.harmed(view, lpa, harm, reason)
    }

    // ---- parts of a read -----------------------------------------------------------------------------

    /// A command entered the device.
    pub fn fetched(&mut self, slot: u32) {
        if self.parts.len() <= slot as usize {
            self.parts.resize_with(slot as usize + 1, Default::default);
        }
        self.reads.forget_merges(slot);
        let mut behind = self.asked.split_off(&(slot, Ppa(0)));
        self.asked.append(&mut behind.split_off(&(slot + 1, Ppa(0))));
        let (ready, begun) = &mut self.parts[slot as usize];
        ready.clear();
        *begun = 0;
    }

    /// A part of a read may cross the link from then on.
    pub fn part_is_ready(&mut self, slot: u32, at: Ns) {
        self.parts[slot as usize].0.push(at);
    }

    /// The controller answers units of a read by itself, all of them at once.
    pub fn answered(&mut self, slot: u32, now: Ns) {
        let ready = &mut self.parts[slot as usize].0;
        if ready.is_empty() {
            ready.push(now);
        }
    }

    /// Data of a read crossed the link: a part that was good by then.
    pub fn link_out(&mut self, view: &View<'_>, slot: u32, from: Ns) -> Checked {
        let (ready, begun) = &mut self.parts[slot as usize];
        *begun += 1;
        let could = ready.iter().filter(|&&at| at <= from).count();
        require!(
            could >= *begun,
            PageDecoded,
            view.now,
            "part {begun} of the read of slot {slot} crossed the link from {from}, {could} were decoded by then"
        );
        Ok(())
    }

    pub fn completes(&mut self, view: &View<'_>, slot: u32) -> Result<[bool; 2], SimulationError> {
        self.reads.host_completes(view, slot)?;
        self.damage.completes(view, slot)
    }

    // ---- storage-class memory ------------------------------------------------------------------------

    /// A bank takes up an access of sectors of a page.
    pub fn slot_dispatched(
        &mut self,
        view: &View<'_>,
        (kind, source, command): (ScmCommandKind, Source, u32),
        (slot, mask): (SlotId, u32),
        page: Lpa,
    ) {
        let medium = view.scm.layout().medium_of_slot(slot);
        if kind == ScmCommandKind::Read && self.scm[medium].is_some() {
            self.sectors.push(SectorRead { slot, source, command, mask, page });
        }
    }

    /// A bank's command was sent: the array begins when its sectors are encoded.
    pub fn bank_issued(&mut self, view: &View<'_>, command: &ScmCommand, (sent, begins): (Ns, Ns)) -> Checked {
        let medium = view.scm.layout().medium_of_bank(command.bank);
        let mut time = Ns::ZERO;
        if command.kind == ScmCommandKind::Write
            && let (Some(own), Some(code)) = (&mut self.scm[medium], reliability(view).scm_code(medium))
        {
            time = own.encode(code, command.sectors);
        }
        encoded(view.now, begins, sent, time)
    }

    /// Sectors left their bank: where no code guards them they are good then.
    pub fn bank_data_out(&mut self, view: &View<'_>, bank: BankId, (source, command): (Source, u32), until: Ns) {
        let medium = view.scm.layout().medium_of_bank(bank);
        if self.scm[medium].is_none() && source != Source::Migration {
            self.part_is_ready(command, until);
        }
    }

    /// Sectors went through a decoder. Returns the sectors of their slot that are no good.
    pub fn sectors_decoded(
        &mut self,
        view: &View<'_>,
        slot: SlotId,
        command: u32,
        decoding: &Decoding,
    ) -> Result<u32, SimulationError> {
        let is_it = |read: &SectorRead| (read.slot, read.source, read.command) == (slot, decoding.source, command);
        let layout = view.scm.layout();
        let medium = layout.medium_of_slot(slot);
        let code = reliability(view).scm_code(medium);
        let (Some(position), Some(own), Some(code)) =
            (self.sectors.iter().position(is_it), &mut self.scm[medium], code)
        else {
            let what = format!("sectors of slot {slot} go through a decoder that nobody read: {decoding:?}");
            return Err(Rule::PageDecoded.violated(view.now, what));
        };
        let read = self.sectors.swap_remove(position);
        let first_channel = if medium == 0 { 0 } else { layout.medium(0).channels };
        let channel = layout.channel_of_bank(layout.bank_of_slot(slot)).0 - first_channel;
        let sectors: Vec<_> = (0..read.mask.count_ones()).map(|sector| (sector, u32::MAX)).collect();
        own.take(view, code, channel, decoding, (&sectors, Ns::ZERO, true))?;
        let harm = match (decoding.failed, decoding.undetected) {
            (0, 0) => None,
            (0, _) => Some(Harm::Wrong),
            _ => Some(Harm::Lost),
        };
        self.counts.failed_reads += u64::from(harm == Some(Harm::Lost));
        match (decoding.source, harm) {
            (Source::Migration, harm) => self.reads.sectors_brought(command, read.page, decoding.until, harm),
            (_, Some(harm)) => self.damage.owes(command, read.page, harm),
            _ => {}
        }
        if decoding.source != Source::Migration {
            self.part_is_ready(command, decoding.until);
        }
        let accessed = (0..32).filter(|sector| read.mask >> sector & 1 == 1).enumerate();
        let bad = accessed.filter(|(number, _)| (decoding.failed | decoding.undetected) >> number & 1 == 1);
        Ok(bad.fold(0, |mask, (_, sector)| mask | 1 << sector))
    }

    // ---- scrubbing and refresh -----------------------------------------------------------------------

    pub fn maintenance(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        match *event {
            Event::ScrubPassBegan => self.scrub.pass_began(view),
            Event::ScrubPassEnded => self.scrub.pass_ended(view),
            Event::ErrorsDrawn { ppa, rber } => rates::drawn(view, ppa, self.refresh.since(view, ppa), rber),
            Event::RefreshAsked { group, reason } => self.refresh.asked(view, group, reason),
            _ => Ok(()),
        }
    }

    // ---- time ----------------------------------------------------------------------------------------

    pub fn measuring_began(&mut self, now: Ns) {
        self.counts = Counts::default();
        self.measured_since = Some(now);
        self.reads.measuring_began();
        self.damage.measuring_began();
        self.scrub.measuring_began();
        self.refresh.measuring_began();
        self.nand.iter_mut().chain(&mut self.scm).flatten().for_each(Decoders::measuring_began);
    }

    pub fn sweep(&self, view: &View<'_>) -> Checked {
        self.damage.sweep(view, self.units)
    }

    pub fn finished(&self, view: &View<'_>) -> Checked {
        let now = view.now;
        self.reads.finished(view, &self.heals)?;
        self.reads.ages.finished(view)?;
        require!(self.sectors.is_empty(), Leftover, now, "sectors were never decoded: {:?}", self.sectors);
        if self.knows_units {
            self.heals.finished(view)?;
        }
        self.sweep(view)?;
        self.refresh.finished(view)?;
        let part = reliability(view);
        for (name, own, code) in [
            ("nand.ecc", &self.nand[0], part.nand_code(NandCode::Ecc)),
            ("nand.edc", &self.nand[1], part.nand_code(NandCode::Edc)),
            ("scm", &self.scm[0], part.scm_code(0)),
            ("storage_scm", &self.scm[1], part.scm_code(1)),
        ] {
            if let (Some(own), Some(code)) = (own, code) {
                own.compare(view, name, &code.counters)?;
            }
        }
        if self.has_flash {
            self.corruption.finished(view, part.counters())?;
        }
        self.compare(now, part.counters())
    }

    fn compare(&self, now: Ns, said: &ReliabilityCounters) -> Checked {
        let Counts { failed_reads, units_read, moved, fetched, heals_dropped, rebuilt, .. } = self.counts;
        for (name, counted, [sure, perhaps]) in
            [("retried_reads", said.retried_reads, self.counts.retried), ("retries", said.retries, self.counts.retries)]
        {
            let possible = sure..=sure + perhaps;
            require!(
                possible.contains(&counted),
                Ledger,
                now,
                "reliability.{name} is {counted}, seen were {possible:?}"
            );
        }
        for (name, counted, seen) in [
            ("failed_reads", said.failed_reads, failed_reads),
            ("degraded_reads", said.degraded_reads, rebuilt[0]),
            ("stripe_page_reads", said.stripe_page_reads, rebuilt[1]),
            ("units_rebuilt", said.units_rebuilt, rebuilt[2]),
            ("units_lost", said.units_lost, self.damage.units_lost),
            ("units_wrong", said.units_wrong, self.damage.units_wrong),
            ("reads_reported", said.reads_reported, self.damage.reads_reported),
            ("reads_wrong", said.reads_wrong, self.damage.reads_wrong),
            ("ecc_units_read", said.ecc_units_read, units_read[0]),
            ("edc_units_read", said.edc_units_read, units_read[1]),
            ("ecc_units_moved", said.ecc_units_moved, moved[0]),
            ("edc_units_moved", said.edc_units_moved, moved[1]),
            ("units_moved_to_edc", said.units_moved_to_edc, moved[2]),
            ("refetched", said.refetched, fetched[0]),
            ("refetched_for_moves", said.refetched_for_moves, fetched[1]),
            ("prefetched", said.prefetched, fetched[2]),
            ("heals_dropped", said.heals_dropped, heals_dropped),
            ("scrub_page_reads", said.scrub_page_reads, self.scrub.page_reads),
            ("scrub_passes", said.scrub_passes, self.scrub.passes),
            ("refreshes_by_reads", said.refreshes_by_reads, self.refresh.by_reads),
            ("refreshes_by_age", said.refreshes_by_age, self.refresh.by_age),
            ("refreshes_by_rate", said.refreshes_by_rate, self.refresh.by_rate),
        ] {
            require!(counted == seen, Ledger, now, "reliability.{name} is {counted}, {seen} were seen");
        }
        Ok(())
    }
}

/// The array begins when what is written is encoded.
fn encoded(now: Ns, begins: Ns, sent: Ns, time: Ns) -> Checked {
    require!(
        begins == sent + time,
        EncodeTime,
        now,
        "the array works from {begins} on, its data were there at {sent} and take {time} to encode"
    );
    Ok(())
}

impl Decoding {
    /// What an event says of it.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        match *event {
            Event::PageDecoded {
                source,
                code,
                attempt,
                arrived,
                begins,
                until,
                codewords,
                corrupted,
                failed,
                undetected,
                ..
            } => Some(Self { source, code, attempt, arrived, begins, until, codewords, corrupted, failed, undetected }),
            Event::SectorsDecoded {
                source, arrived, begins, until, codewords, corrupted, failed, undetected, ..
            } => Some(Self {
                source,
                code: NandCode::Ecc,
                attempt: 0,
                arrived,
                begins,
                until,
                codewords,
                corrupted,
                failed,
                undetected,
            }),
            _ => None,
        }
    }
}
