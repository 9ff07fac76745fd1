//! Page reads that did not decode: read again, fetched from the backing store, or given up.

use ninescope_kernel::Ns;
use ninescope_model::{Lpa, Ppa, SECTOR_BYTES, Source};

use super::decode::ones;
use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::backing_store::Fetch;
use crate::reliability::timetable::Appointment;
use crate::reliability::{Harm, NandCode};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// The decoder says that a page access has units which it cannot make good.
    pub(super) fn read_failed(&mut self, index: u32) -> Result<(), SimulationError> {
        let Transaction { class, attempts, .. } = self.transactions.slab[index];
        if attempts == 0 && class == QueueClass::HostRead {
            self.transactions.tracks[index as usize].mark = self.now;
        }
        let part = self.reliable();
        let edc = part.sensed[index as usize].code == NandCode::Edc;
        if edc && part.backing_store.is_some() {
            return self.fetch_failed_units(index);
        }
        if self.will_be_read_again(index) {
            self.read_again(index);
            return Ok(());
        }
        self.give_up(index)
    }

    /// Queues a page access once more, behind what waits on its die. It still counts as a reader of its group.
    fn read_again(&mut self, index: u32) {
        let transaction = &mut self.transactions.slab[index];
        transaction.attempts += 1;
        transaction.tracked = false;
        let (attempts, ppa) = (transaction.attempts, transaction.ppa());
        let counters = &mut self.reliable().counters;
        counters.retries += 1;
        counters.retried_reads += u64::from(attempts == 1);
        let group = self.geometry.group_and_offset(ppa).0;
        self.ftl.read_again(group);
        self.requeue(self.geometry.die_of_pool(self.geometry.pool_and_block(group).0), index);
    }

    /// Fetches the units of an access that did not decode: what the host or a move waits for comes from there, what the
    /// scrubber found is written anew.
    fn fetch_failed_units(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let source = self.transactions.slab[index].source;
        let failed = self.reliable().sensed[index as usize].decoded.failed;
        let mut there = now;
        for number in ones(failed) {
            let (lpa, from) = self.unit_of_access(index, number);
            let wanted = source != Source::Scrub;
            if !wanted && (lpa == Lpa::NONE || !self.ftl.resides(lpa, from) || self.is_healing(lpa)) {
                continue;
            }
            let by = if wanted { Fetch::Wanted } else { Fetch::Ahead };
            let at = self.reliable().backing_store.as_mut().map_or(now, |store| store.fetch(now, by));
            there = there.max(at);
            self.count_fetch(source, from.place);
            observe!(self, Event::UnitFetched { lpa, from: from.place, wanted });
            if !wanted {
                self.reliable().healing.set(lpa.index());
                self.note(at, Appointment::Prefetched { lpa, from });
            }
        }
        if source == Source::Scrub {
            return self.page_arrived(index);
        }
        self.note(there, Appointment::Refetched { transaction: index });
        Ok(())
    }

    /// Counts a fetch by who caused it, and its corrupt copy if it is met for the first time.
    fn count_fetch(&mut self, source: Source, place: Ppa) {
        let counters = &mut self.reliable().counters;
        *match source {
            Source::Scrub => &mut counters.prefetched,
            Source::GarbageCollection => &mut counters.refetched_for_moves,
            _ => &mut counters.refetched,
        } += 1;
        self.count_corruption_met(source, place);
    }

    /// Counts a unit whose read failed, if it is corrupt and met for the first time.
    fn count_corruption_met(&mut self, source: Source, place: Ppa) {
        let part = self.reliable();
        let first = part.meet_corruption(place);
        let counters = &mut part.counters;
        *match source {
            Source::Scrub => &mut counters.corruptions_met_by_scrub,
            Source::GarbageCollection => &mut counters.corruptions_met_by_moves,
            _ => &mut counters.corruptions_met_by_host,
        } += u64::from(first);
    }

    /// The units that were lost have come from the backing store.
    pub(super) fn read_refetched(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let transaction = self.transactions.slab[index];
        let Transaction { source, sectors, class, .. } = transaction;
        let failed = std::mem::take(&mut self.reliable().sensed[index as usize].decoded.failed);
        if class == QueueClass::HostRead {
            let track = &mut self.transactions.tracks[index as usize];
            track.coding.refetch = now - track.mark;
        }
        if source != Source::Host {
            return self.page_arrived(index);
        }
        for number in ones(failed) {
            let (lpa, from) = self.unit_of_access(index, number);
            if !self.is_healing(lpa) {
                self.reliable().healing.set(lpa.index());
                self.heal(lpa, from)?;
            }
        }
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        self.queue_link_out(LinkJob { ready: now, bytes, command: transaction.command(), transaction: index });
        Ok(())
    }

    /// Nothing brings the data of an access back: the host is told, and what the drive read for itself is lost.
    fn give_up(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let transaction = self.transactions.slab[index];
        let Transaction { source, attempts, class, .. } = transaction;
        self.reliable().counters.failed_reads += 1;
        observe!(self, Event::ReadGivenUp { transaction: index, source });
        let failed = self.reliable().sensed[index as usize].decoded.failed;
        if self.reliable().corruption.is_some() {
            for number in ones(failed) {
                let place = self.unit_of_access(index, number).1.place;
                self.count_corruption_met(source, place);
            }
        }
        if class == QueueClass::HostRead {
            let track = &mut self.transactions.tracks[index as usize];
            track.coding.retry = if attempts == 0 { Ns::ZERO } else { now - track.mark };
        }
        if source != Source::Host {
            return self.page_arrived(index);
        }
        for number in ones(failed) {
            let lpa = self.unit_of_access(index, number).0;
            self.report(transaction.command(), lpa)?;
        }
        if let Some(migration) = transaction.brings_up().get() {
            self.tiered().migrations[migration].harm_in_flash = Some(Harm::Lost);
            self.migration_data_arrived(migration)?;
        }
        // An error has no data.
        self.queue_link_out(LinkJob { ready: now, bytes: 0, command: transaction.command(), transaction: index });
        Ok(())
    }

    /// What a migration read is in the controller: it may be no good. Of what a bank read that is known by now.
    #[inline(never)]
    pub(crate) fn migration_read_arrived(&mut self, transaction: u32) {
        let migration = self.transactions.slab[transaction].migration();
        if let Some(harm) = self.harm_of(transaction, 0) {
            self.tiered().migrations[migration].harm_in_flash = Some(harm);
        }
    }

    /// What a move did to its unit.
    #[inline(never)]
    pub(crate) fn move_harms(&mut self, transaction: u32, number: u32, lpa: Lpa) -> Result<(), SimulationError> {
        match self.harm_of(transaction, number) {
            Some(harm) => self.harm(lpa, harm),
            None => Ok(()),
        }
    }

    /// A move got a place: counts what its unit was and is under.
    #[inline(never)]
    pub(crate) fn count_move(&mut self, from: Ppa, to: Ppa) {
        let codes = (self.nand_code_of(from), self.nand_code_of(to));
        let counters = &mut self.reliable().counters;
        match codes {
            (NandCode::Edc, NandCode::Edc) => counters.edc_units_moved += 1,
            (NandCode::Ecc, NandCode::Edc) => counters.units_moved_to_edc += 1,
            (_, NandCode::Ecc) => counters.ecc_units_moved += 1,
        }
    }
}
