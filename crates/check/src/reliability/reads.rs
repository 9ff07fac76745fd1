//! Page accesses of a drive with codes on their way from the page register to whoever asked for them.
//!
//! Each is decoded once per sensing. One that fails is read again, fetched from the store behind the drive or given up
//! the moment its decoder says so; nobody gets anything of it before. Units are known where the probe follows data.

mod again;
pub(super) mod ages;
mod rebuild;

use std::collections::BTreeMap;

use ninescope_engine::reliability::{Harm, NandCode};
use ninescope_engine::{Access, SimulationError, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Lpa, Ppa, Source};

use super::corruption::{Copy, Corruption, Told, first_codeword};
use super::decoders::Decoding;
use super::heals::Heals;
use super::rates::Since;
use super::{code_of, reliability};
use crate::rule::{Checked, Rule, require};
use again::senses_as_the_retry_wants;
use ages::{Ages, Life};
use rebuild::Rest;

pub use rebuild::Rebuilt;

/// Who gets a unit that a page access brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taker {
    /// The host command of a slot.
    Host(u32),
    /// What completes a unit that the host command of a slot writes in part.
    Merge(u32, Lpa),
    /// The move of a record.
    Move(u32),
    /// The migration of a number, which reads flash.
    Migration(u32),
    /// The same, which has a bank read sectors.
    Sectors(u32),
    /// The scrubber.
    Scrub,
    /// The access with that number, which is found again by its parity stripe.
    Stripe(u32),
    /// What lay on a die that failed, to be written again.
    Rebuild,
    /// A page of the map in flash, for commands that wait for it or to be written anew.
    Map(u32, bool),
}

/// What became of a unit that was read for the drive itself.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub lpa: Lpa,
    /// From when on it may be used; [`Ns::NEVER`] while that is open.
    pub ready: Ns,
    pub harm: Option<Harm>,
    /// The device said so.
    pub told: bool,
}

#[derive(Clone, Debug)]
struct SensedUnit {
    lpa: Lpa,
    place: Ppa,
    taker: Taker,
    /// Its sectors that are asked for, one bit each.
    sectors: u32,
    /// It was corrupt then, where it is decoded: its place in that life.
    corrupt: Option<Copy>,
    /// Corrupt ones among the other units of its codeword.
    mates: Vec<Copy>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is to be done any more.
    #[default]
    Settled,
    /// Its command was taken up.
    Issued,
    /// It is in the page register, or on its way to the decoder.
    Sensed,
    /// It did not decode.
    Failed,
    /// It did not, and the rest of its stripe is read.
    Rebuilding,
}

/// One page access, by its number.
#[derive(Clone, Debug, Default)]
struct PageRead {
    stage: Stage,
    ppa: Ppa,
    source: Source,
    slot: u32,
    code: Option<NandCode>,
    attempt: u32,
    sensed: Ns,
    units: Vec<SensedUnit>,
    /// The migration that takes the page up as well.
    brings_up: Option<u32>,
    /// Bits of units that are not what they were any more: nothing has to be fetched for them.
    left: u32,
    /// It was said that it will be read again.
    repeats: bool,
    /// It was said that it will be found again by its stripe.
    will_be_rebuilt: bool,
    /// It lay on a die that failed.
    missing: bool,
    /// What is read for that.
    rest: Rest,
    /// Of a page of a stripe: the access that it is read for.
    read_for: u32,
    units_per_page: u32,
    /// When its data reach the controller [ns].
    arrives: Option<Ns>,
    /// What the decoder said, and until when it worked [ns].
    until: Ns,
    failed: u32,
    undetected: u32,
    fetched: u32,
    /// When the last of it has come [ns].
    fetched_until: Ns,
    /// How often measuring had begun when it was sensed.
    epoch: u32,
    /// How old what it read was then, and how worn the block.
    life: Life,
}

/// What is known of an access that was decoded.
#[derive(Clone, Debug)]
pub struct Decoded {
    pub ppa: Ppa,
    pub slot: u32,
    pub units: Vec<Told>,
    /// When it was sensed [ns].
    pub sensed: Ns,
    /// It was sensed since measuring began.
    pub measured: bool,
    /// It will be read again.
    pub repeats: bool,
    /// It will be found again by its stripe.
    pub is_rebuilt: bool,
}

/// What is known of a unit that is fetched.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub taker: Taker,
    /// It is the last one of its access, all of which is there then.
    pub ready: Option<Ns>,
    /// The units of that access, if the host asked for it, with their copies that are no good.
    pub units: Vec<(Lpa, Ppa)>,
}

/// An access that was given up: for whom, and the units that are lost to whoever asked.
#[derive(Clone, Debug)]
pub struct Settled {
    pub slot: u32,
    pub lost: Vec<Lpa>,
    /// Where they lie.
    pub places: Vec<Ppa>,
}

/// Page reads of the host by slot.
#[derive(Clone, Copy, Debug, Default)]
struct HostReads {
    open: u32,
    ready: Ns,
}

/// All page accesses.
#[derive(Debug, Default)]
pub struct PageReads {
    reads: Vec<PageRead>,
    /// Those of the read command that ended last.
    just_sensed: Vec<u32>,
    /// Those of the scrubber that nothing was done about yet.
    scrubbed: Vec<u32>,
    /// Those that did not decode and for which something is to be done at once.
    failing: Vec<u32>,
    outcomes: BTreeMap<Taker, Outcome>,
    host: Vec<HostReads>,
    /// Units that are fetched for host reads, and when they are there [ns].
    arriving: Vec<(Ns, Lpa, Ppa)>,
    epoch: u32,
    /// Those that were sensed for the last time, since measuring began.
    pub ages: Ages,
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| mask >> bit & 1 == 1)
}

impl PageReads {
    // ---- the die -----------------------------------------------------------------------------------

    /// A read command leaves its queue. Returns, if it repeats an access, when that had failed and which attempt it is.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        accesses: &[Access],
        heals: &Heals,
    ) -> Result<Option<(Ns, u32)>, SimulationError> {
        let mut repeated = None;
        for access in accesses {
            let index = access.transaction as usize;
            if self.reads.len() <= index {
                self.reads.resize_with(index + 1, PageRead::default);
            }
            let read = &mut self.reads[index];
            if read.stage == Stage::Failed && read.scrubbed_by(view.now, heals) {
                self.settle(access.transaction, view.now, 0);
            }
            let read = &mut self.reads[index];
            match read.stage {
                Stage::Settled => {
                    let Access { ppa, source, slot, number, .. } = *access;
                    // The lists keep their space.
                    let units = std::mem::take(&mut read.units);
                    let begun = PageRead { stage: Stage::Issued, ppa, source, slot, units, ..PageRead::default() };
                    *read = PageRead { read_for: number, ..begun };
                    if source == Source::Parity {
                        self.page_of_stripe_taken_up(view, command, access)?;
                    }
                    if source == Source::Host {
                        self.of_slot(slot).open += 1;
                    }
                }
                Stage::Failed if read.repeats && read.ppa == access.ppa && read.until <= view.now => {
                    (read.stage, read.attempt, read.repeats, read.arrives) =
                        (Stage::Issued, read.attempt + 1, false, None);
                    repeated = Some((read.until, read.attempt));
                    self.failing.retain(|&failing| failing != access.transaction);
                    senses_as_the_retry_wants(view, command, read.attempt)?;
                }
                _ => {
                    let what = format!("access {index} of {} is taken up while it is {read:?}", access.ppa);
                    return Err(Rule::PageDecoded.violated(view.now, what));
                }
            }
        }
        Ok(repeated)
    }

    fn of_slot(&mut self, slot: u32) -> &mut HostReads {
        if self.host.len() <= slot as usize {
            self.host.resize(slot as usize + 1, HostReads::default());
        }
        &mut self.host[slot as usize]
    }

    /// A read command ended: its pages are in their registers. Since when there is what a page holds is told by `since`.
    pub(super) fn sensed(&mut self, view: &View<'_>, command: &FlashCommand, since: impl Fn(Ppa) -> Since) -> Checked {
        self.just_sensed.clear();
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let Some(read) = self.reads.get_mut(index as usize).filter(|read| read.stage == Stage::Issued) else {
                let what = format!("access {index} ends and was not taken up");
                return Err(Rule::PageDecoded.violated(view.now, what));
            };
            (read.stage, read.sensed) = (Stage::Sensed, view.now);
            read.code = Some(code_of(view, read.ppa));
            read.units.clear();
            (read.left, read.fetched, read.fetched_until, read.epoch) = (0, 0, Ns::ZERO, self.epoch);
            read.units_per_page = view.ftl.geometry().units_per_page();
            read.life = Life::of(view, read.ppa, since(read.ppa));
            self.just_sensed.push(index);
            if read.source == Source::Scrub && read.attempt == 0 {
                self.scrubbed.push(index);
            }
        }
        Ok(())
    }

    /// A unit is in the register of its page, for somebody.
    pub fn unit_sensed(
        &mut self,
        view: &View<'_>,
        place: Ppa,
        (lpa, sectors): (Lpa, u32),
        taker: Taker,
        corruption: &Corruption,
    ) {
        let page = |place| view.ftl.geometry().first_unit_of_page(place);
        let reads = &self.reads;
        let Some(&index) = self.just_sensed.iter().find(|&&index| page(reads[index as usize].ppa) == page(place))
        else {
            return;
        };
        let read = &mut self.reads[index as usize];
        let number = read.units.len();
        let is_there = lpa != Lpa::NONE && view.ftl.translate(lpa) == place;
        read.left |= u32::from(!is_there) << number;
        let mates = corruption.mates(view, place);
        // Wrong bits lie in the first codeword of a unit, which need not be decoded for the others.
        let corrupt = corruption.found(view, place).filter(|_| sectors & first_codeword(view, place) != 0);
        read.units.push(SensedUnit { lpa, place, taker, sectors, corrupt, mates });
        self.expect(taker, lpa);
    }

    /// A page that the host reads goes up as well.
    pub fn brought_up(&mut self, place: Ppa, lpa: Lpa, migration: u32) {
        self.expect(Taker::Migration(migration), lpa);
        let read = self.just_sensed.iter().find(|&&index| self.reads[index as usize].ppa == place);
        if let Some(&index) = read {
            self.reads[index as usize].brings_up = Some(migration);
        }
    }

    fn expect(&mut self, taker: Taker, lpa: Lpa) {
        if !matches!(taker, Taker::Host(_) | Taker::Scrub | Taker::Stripe(_)) {
            self.outcomes.insert(taker, Outcome { lpa, ready: Ns::NEVER, harm: None, told: false });
        }
    }

    /// An access is said to be read again. Returns its place.
    pub fn will_repeat(&mut self, view: &View<'_>, transaction: u32) -> Result<Ppa, SimulationError> {
        match self.reads.get_mut(transaction as usize) {
            Some(read) if read.stage == Stage::Sensed && !read.repeats => {
                read.repeats = true;
                Ok(read.ppa)
            }
            other => {
                let what = format!("access {transaction} is to be read again, it is {other:?}");
                Err(Rule::PageDecoded.violated(view.now, what))
            }
        }
    }

    /// Where the units lie that an access brings, and their code; empty where they are not known.
    pub fn units_of(&self, transaction: u32) -> Option<(NandCode, Vec<u32>)> {
        let read = self.reads.get(transaction as usize)?;
        Some((read.code?, read.units.iter().map(|unit| unit.place.0).collect()))
    }

    /// The data of a read command leave their die, plane by plane, and the die is held until `held`. Returns the parts of
    /// host reads that need no decoder, by slot, and when they are there.
    pub fn data_out(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        until: Ns,
        held: Ns,
    ) -> Result<Vec<(u32, Ns)>, SimulationError> {
        let mut parts = Vec::new();
        let mut left = view.now;
        let mut last = until;
        for plane in command.addressed_planes() {
            left += view.nand.data_time(u64::from(command.bytes[plane]));
            let index = command.transaction[plane];
            let Some(code) = self.reads.get(index as usize).and_then(|read| read.code) else { continue };
            let scheme = reliability(view).nand_code(code).map(|code| *code.scheme());
            let read = &mut self.reads[index as usize];
            // Where decoders are shared it is decoded later.
            let arrived = *read.arrives.get_or_insert(left);
            if arrived != left {
                let what = format!("access {index} leaves its die until {left} and is at its decoder at {arrived}");
                return Err(Rule::PageDecoded.violated(view.now, what));
            }
            if scheme.is_some_and(|scheme| scheme.holds_die()) {
                last = last.max(read.until);
            }
            if scheme.is_none() {
                (read.until, read.failed, read.undetected) = (left, 0, 0);
                if read.source == Source::Host {
                    parts.push((read.slot, left));
                }
                self.settle(index, left, 0);
            }
        }
        if held != last {
            let what = format!("die {} is held until {held}, its data are out or decoded at {last}", command.die);
            return Err(Rule::PageDecoded.violated(view.now, what));
        }
        Ok(parts)
    }

    // ---- the decoder -------------------------------------------------------------------------------

    /// A page went through a decoder.
    pub fn decoded(
        &mut self,
        view: &View<'_>,
        transaction: u32,
        decoding: &Decoding,
    ) -> Result<Decoded, SimulationError> {
        let now = view.now;
        let Some(read) = self.reads.get_mut(transaction as usize) else {
            return Err(Rule::PageDecoded.violated(now, format!("access {transaction} is decoded and was never read")));
        };
        let expected = (Stage::Sensed, Some(decoding.code), decoding.attempt, decoding.source);
        let found = (read.stage, read.code, read.attempt, read.source);
        let shared = reliability(view).nand_code(decoding.code).is_some_and(|code| code.scheme().shared());
        let arrives =
            if shared { read.arrives == Some(now) && decoding.arrived == now } else { read.arrives.is_none() };
        if expected != found || !arrives {
            let what = format!("access {transaction} goes through a decoder as {decoding:?}, it is {read:?}");
            return Err(Rule::PageDecoded.violated(now, what));
        }
        read.arrives = Some(decoding.arrived);
        // What decoded the first time is not looked at again.
        let open = if read.attempt > 0 { read.failed } else { u32::MAX };
        (read.until, read.failed, read.undetected) = (decoding.until, decoding.failed, decoding.undetected);
        let attempts = reliability(view).retry().map_or(0, ninescope_engine::policies::read_retry::ReadRetry::attempts);
        let repeats = read.failed != 0 && decoding.code == NandCode::Ecc && read.attempt < attempts;
        if repeats != read.repeats {
            let what = format!("access {transaction} has {attempts} attempts, and to be read again: {read:?}");
            return Err(Rule::PageDecoded.violated(now, what));
        }
        let fetched = decoding.code == NandCode::Edc && reliability(view).backing_store().is_some();
        let has_parity = view.ftl.geometry().parity.is_some() && read.source != Source::Parity;
        let is_rebuilt = read.failed != 0 && has_parity && !repeats && !fetched;
        if is_rebuilt != read.will_be_rebuilt {
            let what = format!("access {transaction} is to be found again by its stripe, or is not: {read:?}");
            return Err(Rule::DegradedRead.violated(now, what));
        }
        let measured = read.epoch == self.epoch;
        let PageRead { ppa, slot, sensed, .. } = *read;
        if measured && !repeats {
            self.ages.count(read.life, read.attempt, read.failed == 0);
        }
        let decoded = Decoded { ppa, slot, units: told_of(read, open), sensed, measured, repeats, is_rebuilt };
        if read.failed == 0 {
            self.settle(transaction, decoding.until, 0);
        } else {
            read.stage = Stage::Failed;
            self.failing.push(transaction);
        }
        Ok(decoded)
    }

    /// Somebody gets what an access brought from `ready` on, but for the units of `lost`.
    fn settle(&mut self, transaction: u32, ready: Ns, lost: u32) {
        let read = &mut self.reads[transaction as usize];
        read.stage = Stage::Settled;
        let PageRead { source, slot, undetected, brings_up, .. } = *read;
        let takers = read.units.iter().map(|unit| unit.taker).enumerate();
        // Of a page that two want there is one unit.
        for (number, taker) in takers.chain(brings_up.map(|migration| (0, Taker::Migration(migration)))) {
            let harm = match (lost >> number & 1, undetected >> number & 1) {
                (1, _) => Some(Harm::Lost),
                (_, 1) => Some(Harm::Wrong),
                _ => None,
            };
            if let Some(outcome) = self.outcomes.get_mut(&taker) {
                (outcome.ready, outcome.harm) = (ready, harm);
            }
        }
        if source == Source::Parity {
            self.page_of_stripe_settled(transaction, ready, lost);
        }
        if source == Source::Host {
            let host = self.of_slot(slot);
            host.open -= 1;
            host.ready = host.ready.max(ready);
        }
        self.failing.retain(|&failing| failing != transaction);
        if source == Source::Scrub {
            self.scrubbed.retain(|&scrubbed| scrubbed != transaction);
        }
    }

    // ---- what did not decode -----------------------------------------------------------------------

    /// An access is given up.
    pub fn given_up(&mut self, view: &View<'_>, transaction: u32, source: Source) -> Result<Settled, SimulationError> {
        let now = view.now;
        let store = reliability(view).backing_store().is_some();
        let legal = self.reads.get(transaction as usize).filter(|read| {
            let of_stripe = matches!(read.source, Source::Parity | Source::Rebuild);
            let fetches = read.code == Some(NandCode::Edc) && store && !of_stripe;
            let is_over = !read.repeats && !fetches && (!read.will_be_rebuilt || read.rest.ended);
            read.stage == Stage::Failed && is_over && read.until == now && read.source == source
        });
        let Some(read) = legal else {
            let what = format!("access {transaction} is given up, it is {:?}", self.reads.get(transaction as usize));
            return Err(Rule::PageDecoded.violated(now, what));
        };
        let (lost, settled) = (read.failed, settled(read, read.failed));
        self.settle(transaction, now, lost);
        Ok(settled)
    }

    /// A unit is fetched, which is there at a time.
    pub fn fetched(
        &mut self,
        view: &View<'_>,
        (lpa, from): (Lpa, Ppa),
        wanted: bool,
        there: Ns,
    ) -> Result<Fetched, SimulationError> {
        let now = view.now;
        let found = self.failing.iter().find_map(|&index| {
            let read = &self.reads[index as usize];
            let asks =
                read.code == Some(NandCode::Edc) && read.until == now && (read.source != Source::Scrub) == wanted;
            let open = read.failed & !read.fetched & !if wanted { 0 } else { read.left };
            let is_it =
                |&number: &usize| read.units.get(number).is_none_or(|unit| unit.lpa == lpa && unit.place == from);
            asks.then(|| bits(open).find(is_it)).flatten().map(|number| (index, number))
        });
        let Some((index, number)) = found else {
            let what = format!("unit {lpa} is fetched for its copy at {from}, which no access found to be bad");
            return Err(Rule::PageDecoded.violated(now, what));
        };
        let read = &mut self.reads[index as usize];
        read.fetched |= 1 << number;
        let taker = read.units.get(number).map_or_else(|| read.taker(), |unit| unit.taker);
        read.fetched_until = read.fetched_until.max(there);
        let ready = (wanted && read.fetched == read.failed).then_some(read.fetched_until);
        let of = |number| read.units.get(number).map(|unit: &SensedUnit| (unit.lpa, unit.place));
        let all = || bits(read.fetched).filter_map(of).collect();
        let units: Vec<_> = if ready.is_some() && read.source == Source::Host { all() } else { Vec::new() };
        if let Some(ready) = ready {
            self.arriving.extend(units.iter().map(|&(lpa, from)| (ready, lpa, from)));
            self.settle(index, ready, 0);
        }
        Ok(Fetched { taker, ready, units })
    }

    /// Sectors that a bank read for a migration are decoded.
    pub fn sectors_brought(&mut self, migration: u32, page: Lpa, ready: Ns, harm: Option<Harm>) {
        let outcome = Outcome { lpa: page, ready, harm, told: false };
        self.outcomes.insert(Taker::Sectors(migration), outcome);
    }

    /// What lay at a place is not there any more, or not wanted.
    pub fn left(&mut self, place: Ppa) {
        for &index in &self.scrubbed {
            let read = &mut self.reads[index as usize];
            for (number, _) in read.units.iter().enumerate().filter(|(_, unit)| unit.place == place) {
                read.left |= 1 << number;
            }
        }
    }

    /// Time goes on: for what did not decode before, something was done.
    pub fn time_passes(&mut self, view: &View<'_>, heals: &mut Heals) -> Checked {
        self.arriving.retain(|&(ready, lpa, from)| {
            let has_come = ready < view.now;
            if has_come {
                heals.is_spare(lpa, from, ready);
            }
            !has_come
        });
        for position in (0..self.failing.len()).rev() {
            let index = self.failing[position];
            let read = &self.reads[index as usize];
            if read.until >= view.now {
                continue;
            }
            require!(
                read.repeats || read.scrubbed_by(view.now, heals),
                PageDecoded,
                view.now,
                "access {index} did not decode at {}, and nothing is done about it: {read:?}",
                read.until
            );
            if read.repeats {
                self.failing.swap_remove(position);
            } else {
                self.settle(index, read.until, 0);
            }
        }
        Ok(())
    }

    // ---- who asked ---------------------------------------------------------------------------------

    /// A host command completes: its page reads are decoded, fetched or given up.
    pub fn host_completes(&mut self, view: &View<'_>, slot: u32) -> Checked {
        let HostReads { open, ready } = std::mem::take(self.of_slot(slot));
        require!(
            open == 0 && ready <= view.now,
            PageDecoded,
            view.now,
            "the command of slot {slot} completes with {open} page reads not decoded, the others are at {ready}"
        );
        Ok(())
    }

    /// The drive uses a unit that it read for itself. `None` where the controller had it.
    pub fn taken(&mut self, view: &View<'_>, taker: Taker) -> Result<Option<Outcome>, SimulationError> {
        let Some(outcome) = self.outcomes.remove(&taker) else { return Ok(None) };
        if outcome.ready > view.now {
            let what = format!("unit {} is used for {taker:?} before it is decoded: {outcome:?}", outcome.lpa);
            return Err(Rule::PageDecoded.violated(view.now, what));
        }
        Ok(Some(outcome))
    }

    /// What was read for it is not used.
    pub fn dropped(&mut self, taker: Taker) {
        self.outcomes.remove(&taker);
    }

    /// A slot has a new command: what was read for partial writes of the last one and not used is nobody's.
    pub fn forget_merges(&mut self, slot: u32) {
        self.outcomes.retain(|taker, _| !matches!(taker, Taker::Merge(of, _) if *of == slot));
    }

    /// The device says that a read of its own harmed a unit; returns whether there is one that did.
    pub fn harm_told(&mut self, now: Ns, lpa: Lpa, harm: Harm) -> bool {
        let mut told = false;
        // What a merge is harmed by is told when its unit is placed.
        for (_, outcome) in self.outcomes.iter_mut().filter(|(taker, _)| !matches!(taker, Taker::Merge(..))) {
            if outcome.lpa == lpa && outcome.harm == Some(harm) && outcome.ready <= now {
                (outcome.told, told) = (true, true);
            }
        }
        told
    }

    /// A read brought a page of the map that is no good, whose entries are found again by a time: whoever wanted it may use it
    /// then.
    pub fn map_page_lost(&mut self, view: &View<'_>, lpa: Lpa, found: Ns) -> Checked {
        let is_it = |outcome: &&mut Outcome| outcome.lpa == lpa && outcome.harm.is_some() && outcome.ready == view.now;
        let Some(outcome) = self.outcomes.values_mut().find(is_it) else {
            let what = format!("page {lpa} of the map is found again, and no read of it ended now that was no good");
            return Err(Rule::MapLost.violated(view.now, what));
        };
        (outcome.ready, outcome.harm) = (found, None);
        Ok(())
    }

    /// A page of the map is used that may have been read for it.
    pub fn map_page_taken(&mut self, view: &View<'_>, page: u32, for_commands: bool) -> Checked {
        let outcome = self.outcomes.remove(&Taker::Map(page, for_commands));
        let is_good = |outcome: &Outcome| outcome.harm.is_none() && outcome.ready <= view.now;
        require!(
            outcome.as_ref().is_none_or(is_good),
            MapLost,
            view.now,
            "page {page} of the map is used before it is decoded, or is no good: {outcome:?}"
        );
        Ok(())
    }

    pub fn measuring_began(&mut self) {
        self.epoch += 1;
        self.ages = Ages::default();
    }

    pub fn finished(&self, view: &View<'_>, heals: &Heals) -> Checked {
        let is_open = |read: &PageRead| {
            read.stage != Stage::Settled && !(read.stage == Stage::Failed && read.scrubbed_by(view.now, heals))
        };
        let open = self.reads.iter().position(is_open);
        require!(open.is_none(), Leftover, view.now, "access {open:?} was never decoded, or failed and was left alone");
        Ok(())
    }
}

impl PageRead {
    /// The scrubber is through with a page that did not decode: what is bad of it is fetched, or not needed any more.
    fn scrubbed_by(&self, now: Ns, heals: &Heals) -> bool {
        let open = self.failed & !(self.fetched | self.left);
        // Where units are not known, it is believed.
        let heals = |number| self.units.get(number).is_none_or(|unit: &SensedUnit| heals.is_healing(unit.lpa));
        let dealt_with = bits(open).all(heals);
        self.source == Source::Scrub && self.code == Some(NandCode::Edc) && dealt_with && self.until <= now
    }

    /// Who asked for it, where units are not known.
    fn taker(&self) -> Taker {
        match self.source {
            Source::Host => Taker::Host(self.slot),
            Source::ReadModifyWrite => Taker::Merge(self.slot, Lpa::NONE),
            Source::GarbageCollection => Taker::Move(NONE),
            Source::Migration => Taker::Migration(NONE),
            Source::Mapping => Taker::Map(NONE, false),
            Source::Scrub => Taker::Scrub,
            Source::Parity => Taker::Stripe(self.read_for),
            Source::Rebuild => Taker::Rebuild,
        }
    }
}

/// What is known of the units of an access, of which those of `open` were decoded.
fn told_of(read: &PageRead, open: u32) -> Vec<Told> {
    let told = |(number, unit): (usize, &SensedUnit)| Told {
        decoded: open >> number & 1 == 1,
        lpa: unit.lpa,
        place: unit.place,
        sectors: unit.sectors,
        corrupt: unit.corrupt,
        mates: unit.mates.clone(),
        failed: read.failed >> number & 1 == 1,
        undetected: read.undetected >> number & 1 == 1,
    };
    read.units.iter().enumerate().map(told).collect()
}

fn settled(read: &PageRead, lost: u32) -> Settled {
    let units = || bits(lost).filter_map(|number| read.units.get(number));
    Settled {
        slot: read.slot,
        lost: units().map(|unit| unit.lpa).collect(),
        places: units().map(|unit| unit.place).collect(),
    }
}
