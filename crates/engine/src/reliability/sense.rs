//! What a page access brings: drawn when it is sensed, because its group may be erased before its data has left the die.

use ninescope_ecc::RberLevel;
use ninescope_ftl::{Ftl, Residence};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::Nand;
use ninescope_model::{BlockGroup, Lpa, Ppa, Source};

use super::code::{Asked, Decoded};
use super::{HarmedUnit, NandCode, Reliability, Sensed};
use crate::policies::read_retry::{Attempt, Undecoded};
use crate::transaction::{Harm, Transaction, TransactionStore, UnitRecord};

/// The flash in which pages are sensed, and who asked for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub now: Ns,
    pub ftl: &'a Ftl,
    pub nand: &'a Nand,
    pub transactions: &'a TransactionStore,
}

/// What will be done about a page that is in the register of its die, for which its group must stay as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// Nothing that its group is needed for.
    Nothing,
    /// It is read again.
    ReadAgain,
    /// The rest of its parity stripe is read.
    Rebuilt,
}

impl Reliability {
    /// The code of the group of a place: clean data kept apart has a code of its own, where the drive has one.
    pub(crate) fn code_of(&self, ftl: &Ftl, ppa: Ppa) -> NandCode {
        let has_edc = self.nand[NandCode::Edc as usize].is_some();
        if has_edc && ftl.stream_of(ppa).is_apart() { NandCode::Edc } else { NandCode::Ecc }
    }

    /// A page is in its die's register: draws what its decoder will find. The group is there still, and is not erased
    /// before this is done.
    pub(crate) fn sense(&mut self, ground: Ground<'_>, index: u32) -> Afterwards {
        let transaction = ground.transactions.slab[index];
        let code = self.code_of(ground.ftl, transaction.ppa());
        let decoded = if transaction.attempts > 0 {
            self.draw_attempt(ground, index, transaction.attempts - 1)
        } else {
            self.draw_page(ground, &transaction, code)
        };
        // What it holds matters only where something is wrong with it, and looking costs a cache miss.
        let harmed = decoded.failed | decoded.undetected;
        let of_units = !ground.ftl.geometry().is_parity(transaction.ppa());
        let is_known = harmed != 0 && of_units;
        let from = if is_known { ground.ftl.residence(transaction.ppa()) } else { Residence::NONE };
        *self.sensed_mut(index) = Sensed { decoded, code, from, ..Sensed::default() };
        if is_known && transaction.source != Source::GarbageCollection {
            self.note_harmed_units(ground.ftl, index, transaction.ppa(), harmed);
        }
        if self.will_be_read_again(&transaction, index) {
            return Afterwards::ReadAgain;
        }
        if self.nand[code as usize].is_some() {
            let life = self.wear_and_retention(ground, transaction.ppa());
            self.reads_by_age.count(life, transaction.attempts, decoded.failed == 0);
        }
        if self.will_be_rebuilt(&transaction, index) { Afterwards::Rebuilt } else { Afterwards::Nothing }
    }

    /// The same of a page that lay on a die that failed: nothing is drawn.
    pub(super) fn nothing_was_sensed(&mut self, ground: Ground<'_>, index: u32, decoded: Decoded) {
        let transaction = ground.transactions.slab[index];
        let code = self.code_of(ground.ftl, transaction.ppa());
        let of_units = !ground.ftl.geometry().is_parity(transaction.ppa()) && transaction.source != Source::Rebuild;
        let from = if of_units { ground.ftl.residence(transaction.ppa()) } else { Residence::NONE };
        *self.sensed_mut(index) = Sensed { decoded, code, from, missing: true, ..Sensed::default() };
        if of_units && transaction.source != Source::GarbageCollection {
            self.note_harmed_units(ground.ftl, index, transaction.ppa(), decoded.failed);
        }
    }

    /// Whether an access was of what lay on a die that failed.
    pub(crate) fn was_missing(&self, index: u32) -> bool {
        self.sensed(index).missing
    }

    /// Notes what the units hold of which the decoder will find something, while it is known for sure.
    fn note_harmed_units(&mut self, ftl: &Ftl, index: u32, first: Ppa, harmed: u32) {
        self.harmed_units.retain(|unit| unit.transaction != index);
        for number in ones(harmed) {
            let lpa = ftl.content(Ppa(first.0 + number));
            self.harmed_units.push(HarmedUnit { transaction: index, number, lpa });
        }
    }

    /// What a transaction brought; there are as many as there ever were transactions at a time.
    fn sensed_mut(&mut self, index: u32) -> &mut Sensed {
        if self.sensed.len() <= index as usize {
            self.sensed.resize(index as usize + 1, Sensed::default());
        }
        &mut self.sensed[index as usize]
    }

    /// What a transaction brought into the register of its die.
    pub(super) fn sensed(&self, index: u32) -> Sensed {
        self.sensed.get(index as usize).copied().unwrap_or_default()
    }

    fn draw_page(&mut self, ground: Ground<'_>, transaction: &Transaction, code: NandCode) -> Decoded {
        let level = self.levels_of(ground, transaction.ppa())[code as usize];
        let asked = sectors_asked(ground.ftl, transaction);
        let Some(of_code) = &mut self.nand[code as usize] else { return Decoded::default() };
        // What is injected is of units of data.
        let may_be_corrupt = self.corruption.is_some() && !ground.ftl.geometry().is_parity(transaction.ppa());
        if may_be_corrupt || of_code.spans_units() {
            return self.draw_units(ground, transaction, (code, asked), level);
        }
        of_code.draw(level, u32::from(transaction.units), 0, asked)
    }

    /// The same unit by unit: for codewords of several units, all of which are read, and for units that are corrupt.
    fn draw_units(
        &mut self,
        ground: Ground<'_>,
        transaction: &Transaction,
        (code, sectors): (NandCode, Asked),
        level: Option<RberLevel>,
    ) -> Decoded {
        let may_be_corrupt = !ground.ftl.geometry().is_parity(transaction.ppa());
        let asked = units_asked(ground.ftl, ground.transactions, transaction);
        let first = ground.ftl.geometry().first_unit_of_page(transaction.ppa()).0;
        let Some(code) = &mut self.nand[code as usize] else { return Decoded::default() };
        let read = code.whole_codewords(asked);
        let places = || ones(read).map(|unit| Ppa(first + unit)).enumerate();
        let injected = self.corruption.as_ref().map_or(0, |corruption| {
            let is_corrupt = |place| may_be_corrupt && corruption.is_corrupt(place);
            places().fold(0, |mask, (number, place)| mask | u32::from(is_corrupt(place)) << number)
        });
        let injected = code.injected_in(injected, read.count_ones(), sectors);
        let decoded = code.draw(level, read.count_ones(), injected, sectors);
        let corrected = injected & !(decoded.failed | decoded.undetected);
        for (_, place) in places().filter(|(number, _)| corrected >> number & 1 == 1) {
            self.counters.corruptions_corrected += u64::from(self.meet_corruption(place));
        }
        let (failed, undetected) = (of_asked(decoded.failed, read, asked), of_asked(decoded.undetected, read, asked));
        Decoded { failed, undetected, ..decoded }
    }

    /// The die of a page copied it, and nothing corrected it: what is read there has the errors of the page that was copied, as it is
    /// now, and those of its own.
    pub(crate) fn copied(&mut self, ground: Ground<'_>, from: Ppa, to: Ppa) {
        let geometry = ground.ftl.geometry();
        let Some(own) = self.rber_of_page(ground, geometry.group_and_offset(from).0, from) else { return };
        let page = |ppa: Ppa| (ppa.0 / geometry.units_per_page()) as usize;
        if self.copied.is_empty() {
            self.copied = vec![0.0; (geometry.units() / geometry.units_per_page()) as usize];
        }
        self.copied[page(to)] = own + self.copied[page(from)];
    }

    /// The raw bit error rate of what a page took along when it was copied.
    fn rber_copied(&self, ground: Ground<'_>, ppa: Ppa) -> f64 {
        self.copied.get((ppa.0 / ground.ftl.geometry().units_per_page()) as usize).copied().unwrap_or(0.0)
    }

    /// The raw bit error rate of a group as it is now.
    pub(super) fn rber_of(&self, ground: Ground<'_>, group: BlockGroup) -> Option<f64> {
        let health = self.health.as_ref()?;
        let record = ground.ftl.group(group);
        let cycles = self.initial_cycles.saturating_add(record.erase_count);
        // What too many suspensions add is known to the model, or to the limit that they exceeded.
        let suspended = ground.nand.added_rber(health.suspensions(group));
        Some(health.rber(group, self.ages.retention(group, ground.now), record.reads_since_erase, cycles) + suspended)
    }

    /// The P/E cycles of a place's group, and how old its oldest data is at the temperature at which ages are told.
    fn wear_and_retention(&self, ground: Ground<'_>, ppa: Ppa) -> (u32, Ns) {
        let group = group_of(ground.ftl, ppa);
        let cycles = self.initial_cycles.saturating_add(ground.ftl.group(group).erase_count);
        (cycles, self.ages.retention(group, ground.now))
    }

    /// The same of a page of it.
    fn rber_of_page(&self, ground: Ground<'_>, group: BlockGroup, ppa: Ppa) -> Option<f64> {
        let factor = self.variation.as_ref().map_or(1.0, |variation| variation.factor(ground, ppa));
        Some(self.rber_of(ground, group)? * factor)
    }

    /// The raw bit error rate of a place's group, and of what its page took along, as a level of each code; none where bits do not
    /// fail by themselves.
    fn levels_of(&mut self, ground: Ground<'_>, ppa: Ppa) -> [Option<RberLevel>; 2] {
        let now = ground.now;
        let copied = if self.copied.is_empty() { 0.0 } else { self.rber_copied(ground, ppa) };
        if copied > 0.0
            && let Some(own) = self.rber_of_page(ground, ground.ftl.geometry().group_and_offset(ppa).0, ppa)
        {
            return self.as_levels(own + copied);
        }
        let Some(health) = &mut self.health else { return [None; 2] };
        if let Some(levels) = health.always() {
            return levels;
        }
        let group = group_of(ground.ftl, ppa);
        let reads = ground.ftl.group(group).reads_since_erase;
        if let Some(variation) = &self.variation {
            let kept = health.kept_rber(group, now, reads);
            let factor = variation.factor(ground, ppa);
            return kept
                .or_else(|| self.ask_model(ground, group))
                .map_or([None; 2], |rber| self.as_levels(rber * factor));
        }
        if let Some(levels) = health.levels(group, now, reads) {
            return levels;
        }
        self.ask_model(ground, group).map_or([None; 2], |rber| self.as_levels(rber))
    }

    /// The raw bit error rate by which the errors of a page were drawn just now; none of one that took errors along when it was copied,
    /// and where all rates are the same.
    pub(crate) fn rate_drawn(&self, ground: Ground<'_>, ppa: Ppa) -> Option<f64> {
        let health = self.health.as_ref().filter(|health| health.always().is_none())?;
        if self.rber_copied(ground, ppa) > 0.0 {
            return None;
        }
        let group = group_of(ground.ftl, ppa);
        let rber = health.kept_rber(group, ground.now, ground.ftl.group(group).reads_since_erase)?;
        Some(rber * self.variation.as_ref().map_or(1.0, |variation| variation.factor(ground, ppa)))
    }

    /// Asks the model for the raw bit error rate of a group, and keeps the answer.
    fn ask_model(&mut self, ground: Ground<'_>, group: BlockGroup) -> Option<f64> {
        let rber = self.rber_of(ground, group)?;
        let (levels, until) = (self.as_levels(rber), self.ages.grows_until(group, ground.now));
        let reads = ground.ftl.group(group).reads_since_erase;
        self.health.as_mut()?.keep(group, until, reads, (rber, levels));
        Some(rber)
    }

    /// A raw bit error rate as a level of each code.
    fn as_levels(&self, rber: f64) -> [Option<RberLevel>; 2] {
        [0, 1].map(|code: usize| self.nand[code].as_ref().and_then(|code| code.level(rber)))
    }

    /// What a unit of a page access holds of which the decoder finds something.
    pub(crate) fn unit_of_access(&self, transactions: &TransactionStore, index: u32, number: u32) -> (Lpa, Residence) {
        let transaction = transactions.slab[index];
        if transaction.source == Source::Rebuild {
            return (Lpa::NONE, Residence { place: Ppa(transaction.ppa().0 + number), ..Residence::NONE });
        }
        if transaction.source == Source::GarbageCollection {
            let record = record_of_unit(transactions, transaction.records(), number).unwrap_or_default();
            return (record.lpa, record.taken_from);
        }
        let from = self.sensed(index).from;
        // Neighbours in a page need not be neighbours to the host.
        let is_it = |unit: &&HarmedUnit| (unit.transaction, unit.number) == (index, number);
        let lpa = self.harmed_units.iter().find(is_it).map_or(Lpa::NONE, |unit| unit.lpa);
        (lpa, Residence { place: Ppa(from.place.0 + number), ..from })
    }

    /// What reading a page again brings. Its worst codeword decides for all that did not decode.
    fn draw_attempt(&mut self, ground: Ground<'_>, index: u32, attempt: u8) -> Decoded {
        let transaction = ground.transactions.slab[index];
        let asked = sectors_asked(ground.ftl, &transaction);
        let Sensed { decoded, code, .. } = self.sensed[index as usize];
        let (cycles, retention) = self.wear_and_retention(ground, transaction.ppa());
        let (Some(retry), Some(code)) = (&self.retry, &mut self.nand[code as usize]) else { return decoded };
        let correctable = code.scheme().correctable();
        let page = Undecoded { errors: decoded.worst, correctable, cycles, retention };
        code.counters.codewords += u64::from(decoded.codewords);
        code.counters.corrupted_codewords += u64::from(decoded.corrupted);
        match retry.attempt(u32::from(attempt), &page, &mut self.retry_stream) {
            Attempt::Decoded => {
                code.counters.corrected_bits += u64::from(decoded.worst.min(correctable));
                let corrected = code.injected_in(decoded.failed, transaction.units.into(), asked);
                if !ground.ftl.geometry().is_parity(transaction.ppa()) {
                    self.count_corrected(ground.transactions, index, corrected);
                }
                Decoded { failed: 0, ..decoded }
            }
            Attempt::Failed(worst) => {
                code.counters.failed_codewords += 1;
                Decoded { worst, ..decoded }
            }
        }
    }

    /// Counts the corrupt units among those of an access that are good by now.
    fn count_corrected(&mut self, transactions: &TransactionStore, index: u32, units: u32) {
        if self.corruption.is_none() {
            return;
        }
        for number in ones(units) {
            let place = self.unit_of_access(transactions, index, number).1.place;
            self.counters.corruptions_corrected += u64::from(self.meet_corruption(place));
        }
    }

    /// Whether an access whose data was drawn will be read again.
    pub(crate) fn will_be_read_again(&self, transaction: &Transaction, index: u32) -> bool {
        let Some(Sensed { decoded, code, missing, .. }) = self.sensed.get(index as usize) else { return false };
        let attempts = u32::from(transaction.attempts);
        let may = self.retry.as_ref().is_some_and(|retry| attempts < retry.attempts());
        // What the detecting code refuses is fetched, not read again.
        decoded.failed != 0 && may && *code == NandCode::Ecc && !*missing
    }

    /// What a page access of the drive's own did to the unit number `number` of it.
    pub(crate) fn harm_of(&self, transaction: u32, number: u32) -> Option<Harm> {
        let decoded = self.sensed.get(transaction as usize)?.decoded;
        if decoded.failed >> number & 1 == 1 {
            return Some(Harm::Lost);
        }
        (decoded.undetected >> number & 1 == 1).then_some(Harm::Wrong)
    }

    // ---- storage-class memory ----------------------------------------------------------------------

    /// A bank takes up a read of the host: it is known now which page it reads.
    pub(crate) fn sectors_are_of(&mut self, index: u32, page: Lpa) {
        self.sensed_mut(index).page = page;
    }

    /// The page of which a bank read sectors for the host. What it did to them is told when they are decoded, not later.
    pub(super) fn take_page_of_sectors(&mut self, index: u32) -> Lpa {
        std::mem::take(self.sensed_mut(index)).page
    }
}

/// The group of a unit or of a page of parity.
fn group_of(ftl: &Ftl, ppa: Ppa) -> BlockGroup {
    let geometry = ftl.geometry();
    if geometry.is_parity(ppa) { geometry.locate(ppa).group } else { geometry.group_and_offset(ppa).0 }
}

/// Which sectors of its units a page access asks for: each codeword is decoded by itself, so that others need not be.
fn sectors_asked(ftl: &Ftl, transaction: &Transaction) -> Asked {
    let Transaction { asked_of_first, sectors, units, .. } = *transaction;
    if asked_of_first == 0 {
        return Asked::ALL;
    }
    let per_unit = ftl.geometry().sectors_per_unit();
    let mask = |sectors: u32| ((1_u64 << sectors) - 1) as u32;
    let first = if asked_of_first == mask(per_unit) { u32::MAX } else { asked_of_first };
    if units == 1 {
        return Asked { first, last: u32::MAX };
    }
    let of_last = u32::from(sectors) - asked_of_first.count_ones() - (u32::from(units) - 2) * per_unit;
    Asked { first, last: if of_last == per_unit { u32::MAX } else { mask(of_last) } }
}

/// Which units of its page an access asks for, a bit each; those of a move ascend.
pub(super) fn units_asked(ftl: &Ftl, transactions: &TransactionStore, transaction: &Transaction) -> u32 {
    let first = ftl.geometry().first_unit_of_page(transaction.ppa()).0;
    if transaction.source != Source::GarbageCollection {
        return (((1_u64 << transaction.units) - 1) << (transaction.ppa().0 - first)) as u32;
    }
    let (mut asked, mut record) = (0, transaction.records());
    while record != NONE {
        let UnitRecord { taken_from, next, .. } = transactions.units[record];
        asked |= 1 << (taken_from.place.0 - first);
        record = next;
    }
    asked
}

fn record_of_unit(transactions: &TransactionStore, head: u32, number: u32) -> Option<UnitRecord> {
    let mut index = head;
    for _ in 0..number {
        index = if index == NONE { NONE } else { transactions.units[index].next };
    }
    (index != NONE).then(|| transactions.units[index])
}

/// The bits of a mask that are set, by their numbers.
pub(crate) fn ones(mask: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |bit| mask >> bit & 1 == 1)
}

/// Of a mask of the units `read`, in their order, the part of those that were `asked` for, in theirs.
fn of_asked(mask: u32, read: u32, asked: u32) -> u32 {
    let asked_of_read = ones(read).enumerate().filter(|(_, unit)| asked >> unit & 1 == 1);
    asked_of_read.enumerate().fold(0, |found, (number, (of_read, _))| found | (mask >> of_read & 1) << number)
}
