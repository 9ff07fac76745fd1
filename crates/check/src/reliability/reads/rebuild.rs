//! Accesses that no decoder makes good and that have parity over dies: the rest of their stripe is read, all of it and no more, and
//! what that comes to is what they lacked.

use ninescope_engine::reliability::NandCode;
use ninescope_engine::{Access, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Lpa, Ppa, Source};

use super::super::heals::Heals;
use super::{PageRead, PageReads, Stage, bits, code_of, reliability};
use crate::blocks::{Blocks, group_of_block};
use crate::rule::{Checked, Rule, require};
use crate::stripes::{StripePage, page_of, rest_of_stripe};

/// The rest of the stripe of an access.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// Pages that were not taken up yet, and how many are not there.
    pub(super) pages: Vec<StripePage>,
    pub(super) pending: usize,
    /// Bits of units, by their place in their page, of which one of those pages is no good.
    pub(super) lost: u32,
    pub(super) wrong: u32,
    /// When the last of them is there [ns].
    pub(super) until: Ns,
    /// All of it has come, and something is lost.
    pub(super) ended: bool,
}

/// What came of an access by its stripe.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    pub slot: u32,
    /// It is good, and whoever asked has it.
    pub ends: bool,
    /// Units found again, with their places, and those of them that are wrong, where that is known.
    pub found: Vec<(Lpa, Ppa)>,
    pub wrong: Vec<Lpa>,
    /// It lay on a die that failed.
    pub missing: bool,
    /// Something of it is lost, or passes as good and is wrong.
    pub harmed: bool,
    /// Its first unit.
    pub ppa: Ppa,
    /// How many were found, whether or not they are known.
    pub count: u64,
}

impl PageReads {
    /// An access is said to be found again by its stripe. Returns its place.
    pub fn will_be_rebuilt(&mut self, view: &View<'_>, transaction: u32) -> Result<Ppa, SimulationError> {
        match self.reads.get_mut(transaction as usize) {
            Some(read) if read.stage == Stage::Sensed && !read.repeats && !read.will_be_rebuilt => {
                read.will_be_rebuilt = true;
                Ok(read.ppa)
            }
            other => {
                let what = format!("access {transaction} is to be found again by its stripe, it is {other:?}");
                Err(Rule::DegradedRead.violated(view.now, what))
            }
        }
    }

    /// An access is of what lay on a die that failed: nothing of it is read, and all of it is lost as far as that die goes. Returns
    /// whether it is found by its stripe and, if it was to be read again, when it had failed and which attempt this would have been.
    pub fn missing(
        &mut self,
        view: &View<'_>,
        (access, units): (&Access, u8),
        heals: &Heals,
    ) -> Result<(bool, Option<(Ns, u32)>), SimulationError> {
        let geometry = view.ftl.geometry();
        let index = access.transaction as usize;
        if self.reads.len() <= index {
            self.reads.resize_with(index + 1, PageRead::default);
        }
        let code = code_of(view, access.ppa);
        let fetched = code == NandCode::Edc
            && reliability(view).backing_store().is_some()
            && !matches!(access.source, Source::Parity | Source::Rebuild);
        let will_be_rebuilt = geometry.parity.is_some() && access.source != Source::Parity && !fetched;
        let read = &self.reads[index];
        if read.stage == Stage::Failed && read.scrubbed_by(view.now, heals) {
            self.settle(access.transaction, view.now, 0);
        }
        let read = &mut self.reads[index];
        // What decoded the first time, and is to be read again, is good.
        let again = read.stage == Stage::Failed && read.repeats && read.ppa == access.ppa;
        if !again && read.stage != Stage::Settled {
            let what = format!("access {index} of {} is of what is missing while it is {read:?}", access.ppa);
            return Err(Rule::FailedDie.violated(view.now, what));
        }
        let all = ((1_u64 << units) - 1) as u32;
        let repeated = again.then_some((read.until, read.attempt + 1));
        let (failed, undetected) = if again { (read.failed, read.undetected) } else { (all, 0) };
        let Access { ppa, source, slot, number, .. } = *access;
        *read = PageRead {
            stage: Stage::Failed,
            ppa,
            source,
            slot,
            code: Some(code),
            sensed: view.now,
            will_be_rebuilt,
            missing: true,
            read_for: number,
            units_per_page: geometry.units_per_page(),
            until: view.now,
            failed,
            undetected,
            epoch: self.epoch,
            ..PageRead::default()
        };
        if source == Source::Host && !again {
            self.of_slot(slot).open += 1;
        }
        // One that is to be read again was taken up before.
        if source == Source::Parity && !again {
            self.stripe_page_is_missing(view, access)?;
        }
        self.just_sensed = vec![access.transaction];
        self.failing.retain(|&failing| failing != access.transaction);
        self.failing.push(access.transaction);
        if source == Source::Scrub && !again {
            self.scrubbed.push(access.transaction);
        }
        Ok((will_be_rebuilt, repeated))
    }

    /// A page of a stripe is not taken up, because it is missing as well.
    fn stripe_page_is_missing(&mut self, view: &View<'_>, access: &Access) -> Checked {
        let page = page_of(view.ftl.geometry(), access.ppa);
        self.page_of_stripe_is(view, page, access.number)
    }

    /// A page of a stripe is taken up: one that is read for an access, once.
    pub(super) fn page_of_stripe_taken_up(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        access: &Access,
    ) -> Checked {
        let geometry = view.ftl.geometry();
        let plane = command.addressed_planes().find(|&plane| command.transaction[plane] == access.transaction);
        let plane = plane.unwrap_or_default();
        let page = StripePage {
            die: command.die,
            group: group_of_block(geometry, command.die, plane, command.block[plane]),
            page: command.page[plane],
            plane: plane as u32 % geometry.frontier_planes,
        };
        self.page_of_stripe_is(view, page, access.number)
    }

    /// A page is read, or is to be, for an access that lacks another one of its stripe: once.
    fn page_of_stripe_is(&mut self, view: &View<'_>, page: StripePage, read_for: u32) -> Checked {
        let read = self.reads.get_mut(read_for as usize).filter(|read| read.stage == Stage::Rebuilding);
        let position = read.as_ref().and_then(|read| read.rest.pages.iter().position(|wanted| *wanted == page));
        let (Some(read), Some(position)) = (read, position) else {
            let what = format!("{page:?} is read for access {read_for}, which does not lack it");
            return Err(Rule::DegradedRead.violated(view.now, what));
        };
        read.rest.pages.swap_remove(position);
        Ok(())
    }

    /// A page of a stripe is there, but for units that are no good.
    pub(super) fn page_of_stripe_settled(&mut self, transaction: u32, ready: Ns, lost: u32) {
        let PageRead { ppa, undetected, read_for, units_per_page, .. } = self.reads[transaction as usize];
        let first = ppa.0 % units_per_page.max(1);
        let Some(read) = self.reads.get_mut(read_for as usize) else { return };
        read.rest.pending = read.rest.pending.saturating_sub(1);
        read.rest.lost |= lost << first;
        read.rest.wrong |= undetected << first;
        read.rest.until = read.rest.until.max(ready);
    }

    /// The rest of the stripe of an access, which is so many pages, is read from now on. Returns its place.
    pub fn degraded(
        &mut self,
        view: &View<'_>,
        (transaction, source): (u32, Source),
        (pages, blocks): (u32, &Blocks),
    ) -> Result<(Ppa, Vec<StripePage>), SimulationError> {
        let now = view.now;
        let is_legal = |read: &&mut PageRead| {
            read.stage == Stage::Failed && read.will_be_rebuilt && read.until == now && read.source == source
        };
        let Some(read) = self.reads.get_mut(transaction as usize).filter(is_legal) else {
            let what = format!("the stripe of access {transaction} is read, which did not fail now");
            return Err(Rule::DegradedRead.violated(now, what));
        };
        let rest = rest_of_stripe(view, blocks, read.ppa);
        require!(
            rest.len() == pages as usize,
            DegradedRead,
            now,
            "{pages} pages are read for access {transaction} at {}, the media hold {rest:?}",
            read.ppa
        );
        read.stage = Stage::Rebuilding;
        read.rest = Rest { pages: rest.clone(), pending: rest.len(), until: now, ..Rest::default() };
        let ppa = read.ppa;
        self.failing.retain(|&failing| failing != transaction);
        Ok((ppa, rest))
    }

    /// All of the stripe of an access is there, by which these units are lost, or wrong.
    pub fn rebuilt(
        &mut self,
        view: &View<'_>,
        (transaction, source): (u32, Source),
        (lost, wrong): (u32, u32),
    ) -> Result<Rebuilt, SimulationError> {
        let now = view.now;
        let is_legal = |read: &&mut PageRead| {
            let Rest { pages, pending, until, .. } = &read.rest;
            read.stage == Stage::Rebuilding
                && pages.is_empty()
                && *pending == 0
                && *until == now
                && read.source == source
        };
        let Some(read) = self.reads.get_mut(transaction as usize).filter(is_legal) else {
            let what = format!("access {transaction} is found again: {:?}", self.reads.get(transaction as usize));
            return Err(Rule::DegradedRead.violated(now, what));
        };
        let per_page = view.ftl.geometry().units_per_page();
        // What a move takes of a page need not lie side by side.
        let place = |number: usize| match read.units.get(number) {
            Some(unit) => Some(unit.place),
            None if read.source == Source::GarbageCollection => None,
            None => Some(Ppa(read.ppa.0 + number as u32)),
        };
        let bits_of = |mask: u32, said: u32| {
            let bit =
                |number: usize| place(number).map_or(said >> number & 1, |place| mask >> (place.0 % per_page) & 1);
            bits(read.failed).fold(0, |all, number| all | bit(number) << number)
        };
        let expected_lost = bits_of(read.rest.lost, lost);
        let expected_wrong = bits_of(read.rest.wrong, wrong) & !expected_lost;
        require!(
            (lost, wrong) == (expected_lost, expected_wrong),
            DegradedRead,
            now,
            "of access {transaction} are lost and wrong {lost:#b} and {wrong:#b}, by its stripe {expected_lost:#b} and \
             {expected_wrong:#b}: {read:?}"
        );
        let found = read.failed & !lost;
        let of = |units: u32| bits(units).filter_map(|number| read.units.get(number)).collect::<Vec<_>>();
        let rebuilt = Rebuilt {
            slot: read.slot,
            ends: lost == 0,
            found: of(found).iter().map(|unit| (unit.lpa, unit.place)).collect(),
            wrong: of(wrong).iter().map(|unit| unit.lpa).collect(),
            missing: read.missing,
            harmed: lost | wrong != 0,
            ppa: read.ppa,
            count: u64::from(found.count_ones()),
        };
        (read.failed, read.undetected, read.until) = (lost, read.undetected | wrong, now);
        if lost == 0 {
            self.settle(transaction, now, 0);
        } else {
            (read.stage, read.rest.ended) = (Stage::Failed, true);
            self.failing.push(transaction);
        }
        Ok(rebuilt)
    }

    /// Who asked for an access: of a page of a stripe, who lacks another one.
    pub fn asked_by(&self, transaction: u32, source: Source) -> Source {
        let read_for = self.reads.get(transaction as usize).map(|read| read.read_for);
        match (source, read_for.and_then(|read_for| self.reads.get(read_for as usize))) {
            (Source::Parity, Some(read)) => read.source,
            _ => source,
        }
    }
}
