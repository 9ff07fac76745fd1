//! What is done about units that are no good: reading again, fetching, writing anew, and the books of what is damaged.

use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;
use ninescope_model::{Lpa, Ppa, Source};

use super::backing_store::Fetch;
use super::code::Decoded;
use super::{NandCode, Reliability};
use crate::transaction::{Harm, Transaction};

/// What becomes of a page access that did not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// What it lacks comes from the backing store.
    Fetch,
    /// It is read again.
    ReadAgain,
    /// It is found again by the rest of its parity stripe.
    Rebuild,
    /// Nothing brings its data back.
    None,
}

/// Whether what a code refuses is fetched from elsewhere.
pub(super) fn is_fetched(part: &Reliability, code: NandCode, source: Source) -> bool {
    // What is read for another page is whatever lies there.
    let of_stripe = matches!(source, Source::Parity | Source::Rebuild);
    code == NandCode::Edc && part.backing_store.is_some() && !of_stripe
}

impl Reliability {
    /// What becomes of a page access that did not decode.
    pub(crate) fn remedy(&mut self, transaction: &Transaction, index: u32) -> Remedy {
        if is_fetched(self, self.sensed(index).code, transaction.source) {
            return Remedy::Fetch;
        }
        if self.will_be_rebuilt(transaction, index) {
            return Remedy::Rebuild;
        }
        if !self.will_be_read_again(transaction, index) {
            self.counters.failed_reads += u64::from(transaction.source != Source::Rebuild);
            return Remedy::None;
        }
        self.counters.retries += 1;
        self.counters.retried_reads += u64::from(transaction.attempts == 0);
        Remedy::ReadAgain
    }

    /// The units of an access that did not decode, a bit each.
    pub(crate) fn failed_units(&self, index: u32) -> u32 {
        self.sensed(index).decoded.failed
    }

    /// The units of an access that are no good, whether or not that was noticed, a bit each.
    pub(crate) fn bad_units(&self, index: u32) -> u32 {
        let Decoded { failed, undetected, .. } = self.sensed(index).decoded;
        failed | undetected
    }

    /// Some units of an access are good from now on.
    pub(crate) fn make_good(&mut self, index: u32, units: u32) {
        let decoded = &mut self.sensed[index as usize].decoded;
        (decoded.failed, decoded.undetected) = (decoded.failed & !units, decoded.undetected & !units);
    }

    /// The units that did not decode; they are good from now on.
    pub(crate) fn take_failed_units(&mut self, index: u32) -> u32 {
        std::mem::take(&mut self.sensed[index as usize].decoded.failed)
    }

    /// Reads a unit from the backing store, whose copy at `place` is no good. Returns when it has come.
    pub(crate) fn fetch(&mut self, now: Ns, source: Source, place: Ppa) -> Ns {
        let by = if source == Source::Scrub { Fetch::Ahead } else { Fetch::Wanted };
        let at = self.backing_store.as_mut().map_or(now, |store| store.fetch(now, by));
        *match source {
            Source::Scrub => &mut self.counters.prefetched,
            Source::GarbageCollection => &mut self.counters.refetched_for_moves,
            _ => &mut self.counters.refetched,
        } += 1;
        self.meet_failed_unit(source, place);
        at
    }

    /// Counts a unit whose read failed, if it is corrupt and met for the first time.
    pub(crate) fn meet_failed_unit(&mut self, source: Source, place: Ppa) {
        let first = self.meet_corruption(place);
        let counters = &mut self.counters;
        *match source {
            Source::Scrub => &mut counters.corruptions_met_by_scrub,
            Source::GarbageCollection => &mut counters.corruptions_met_by_moves,
            _ => &mut counters.corruptions_met_by_host,
        } += u64::from(first);
    }

    // ---- writing anew ------------------------------------------------------------------------------

    /// Whether a unit's content is on its way already.
    pub(crate) fn is_healing(&self, lpa: Lpa) -> bool {
        self.healing.get(lpa.index())
    }

    /// The content of a unit is on its way, to be written.
    pub(crate) fn begin_healing(&mut self, lpa: Lpa) {
        self.healing.set(lpa.index());
    }

    /// It is written, or `dropped` because it is not wanted any more.
    pub(crate) fn end_healing(&mut self, lpa: Lpa, dropped: bool) {
        self.healing.clear(lpa.index());
        self.counters.heals_dropped += u64::from(dropped);
    }

    // ---- what is damaged ---------------------------------------------------------------------------

    /// What is wrong with a unit's content, as far as it was noticed or happened.
    #[inline]
    pub(crate) fn harm_at(&self, lpa: Lpa) -> Option<Harm> {
        if !self.damage.is_any() {
            return None;
        }
        let wrong = self.damage.is_wrong(lpa).then_some(Harm::Wrong);
        if self.damage.is_lost(lpa) { Some(Harm::Lost) } else { wrong }
    }

    /// A unit is written anew, or forgotten. Returns whether anything was wrong with it.
    pub(crate) fn repair(&mut self, lpa: Lpa) -> bool {
        let harmed = self.harm_at(lpa).is_some();
        if harmed {
            self.damage.repair(lpa);
        }
        harmed
    }

    /// A read of the drive's own left a unit lost or wrong.
    pub(crate) fn harm(&mut self, lpa: Lpa, harm: Harm) {
        match harm {
            Harm::Lost => self.counters.units_lost += u64::from(self.damage.lose(lpa)),
            Harm::Wrong => self.counters.units_wrong += u64::from(self.damage.make_wrong(lpa)),
        }
    }

    // ---- what is counted ---------------------------------------------------------------------------

    /// The host reads a unit of flash.
    pub(crate) fn count_unit_read(&mut self, ftl: &Ftl, ppa: Ppa) {
        let edc = self.code_of(ftl, ppa) == NandCode::Edc;
        *(if edc { &mut self.counters.edc_units_read } else { &mut self.counters.ecc_units_read }) += 1;
    }

    /// A read of the host completed that reported an error, or returns something wrong.
    pub(crate) fn count_read(&mut self, reported: bool, wrong: bool) {
        self.counters.reads_reported += u64::from(reported);
        self.counters.reads_wrong += u64::from(wrong && !reported);
    }

    /// A move got a place: counts what its unit was and is under.
    pub(crate) fn count_move(&mut self, ftl: &Ftl, from: Ppa, to: Ppa) {
        let codes = (self.code_of(ftl, from), self.code_of(ftl, to));
        let counters = &mut self.counters;
        match codes {
            (NandCode::Edc, NandCode::Edc) => counters.edc_units_moved += 1,
            (NandCode::Ecc, NandCode::Edc) => counters.units_moved_to_edc += 1,
            (_, NandCode::Ecc) => counters.ecc_units_moved += 1,
        }
    }
}
