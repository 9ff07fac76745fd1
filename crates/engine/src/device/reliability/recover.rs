//! Page reads that did not decode: read again, fetched from the backing store, or given up.

use ninescope_ftl::Residence;
use ninescope_model::{Lpa, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::probe::{Event, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Remedy, ones};
use crate::transaction::{Harm, QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// The decoder says that a page access has units which it cannot make good.
    pub(super) fn read_failed(&mut self, index: u32) -> Result<(), SimulationError> {
        let transaction = self.run.transactions.slab[index];
        if transaction.attempts == 0 && transaction.class == QueueClass::HostRead {
            self.run.transactions.decode_failed(index, self.run.now);
        }
        if self.flash.is_missing(transaction.ppa()) && self.reliable().will_be_read_again(&transaction, index) {
            return self.page_is_missing(index, true);
        }
        match self.reliable().remedy(&transaction, index) {
            Remedy::Fetch => self.fetch_failed_units(index),
            Remedy::ReadAgain => {
                self.flash.read_again(&mut self.run, index);
                Ok(())
            }
            Remedy::Rebuild => self.read_rest_of_stripe(index),
            Remedy::None => {
                self.reading_again_ends(index);
                self.give_up(index)
            }
        }
    }

    /// What a unit of a page access holds of which the decoder finds something.
    pub(super) fn unit_of_access(&mut self, index: u32, number: u32) -> (Lpa, Residence) {
        let part = self.reliability.as_ref().expect("a drive with codes");
        part.unit_of_access(&self.run.transactions, index, number)
    }

    /// Fetches the units of an access that did not decode: what the host or a move waits for comes from there, what the
    /// scrubber found is written anew.
    fn fetch_failed_units(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let source = self.run.transactions.slab[index].source;
        let failed = self.reliable().failed_units(index);
        let mut there = now;
        for number in ones(failed) {
            let (lpa, from) = self.unit_of_access(index, number);
            let wanted = source != Source::Scrub;
            let is_there = |device: &Self| lpa != Lpa::NONE && device.flash.ftl().resides(lpa, from);
            if !wanted && (!is_there(self) || self.reliable().is_healing(lpa)) {
                continue;
            }
            let at = self.reliable().fetch(now, source, from.place);
            there = there.max(at);
            observe!(self, Event::UnitFetched { lpa, from: from.place, wanted });
            if !wanted {
                self.reliable().begin_healing(lpa);
                self.note(at, Appointment::Prefetched { lpa, from });
            }
        }
        if source == Source::Scrub {
            return self.page_arrived(index);
        }
        self.note(there, Appointment::Refetched { transaction: index });
        Ok(())
    }

    /// The units that were lost have come from the backing store.
    pub(super) fn read_refetched(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let Transaction { source, class, .. } = self.run.transactions.slab[index];
        let failed = self.reliable().take_failed_units(index);
        if class == QueueClass::HostRead {
            self.run.transactions.refetched(index, now);
        }
        if source != Source::Host {
            return self.page_arrived(index);
        }
        for number in ones(failed) {
            let (lpa, from) = self.unit_of_access(index, number);
            if !self.reliable().is_healing(lpa) {
                self.reliable().begin_healing(lpa);
                self.heal(lpa, from)?;
            }
        }
        self.send_page(index, now);
        Ok(())
    }

    /// No decoder makes an access good that was read as often as it may be.
    pub(super) fn reading_again_ends(&mut self, index: u32) {
        let Transaction { attempts, class, .. } = self.run.transactions.slab[index];
        if class == QueueClass::HostRead {
            match attempts {
                0 => self.run.transactions.not_retried(index),
                _ => self.run.transactions.retried(index, self.run.now),
            }
        }
    }

    /// Nothing brings the data of an access back: the host is told, and what the drive read for itself is lost.
    pub(super) fn give_up(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let transaction = self.run.transactions.slab[index];
        let source = transaction.source;
        observe!(self, Event::ReadGivenUp { transaction: index, source });
        let failed = self.reliable().failed_units(index);
        if !self.flash.geometry().is_parity(transaction.ppa()) && source != Source::Rebuild {
            // A page of a stripe is met by whoever lacks another one.
            let is_of_stripe = source == Source::Parity;
            let source = if is_of_stripe { self.run.transactions.slab[transaction.rebuilt()].source } else { source };
            for number in ones(failed) {
                let place = self.unit_of_access(index, number).1.place;
                self.reliable().meet_failed_unit(source, place);
            }
        }
        if source != Source::Host {
            return self.own_read_ends(index);
        }
        let command = transaction.command();
        for number in ones(failed) {
            let lpa = self.unit_of_access(index, number).0;
            self.report(command, lpa)?;
        }
        if let Some(migration) = transaction.brings_up().get() {
            self.tiered().harm_in_flash(migration, Harm::Lost);
            self.migration_data_arrived(migration)?;
        }
        // An error has no data.
        self.no_data_in_dram(index);
        self.host.send(&mut self.run, LinkJob { ready: now, bytes: 0, command, transaction: index });
        Ok(())
    }

    /// What a migration read is in the controller: it may be no good. Of what a bank read that is known by now.
    #[inline]
    pub(in crate::device) fn migration_read_arrived(&mut self, transaction: u32) {
        if let Some(harm) = self.harm_of(transaction, 0) {
            let migration = self.run.transactions.slab[transaction].migration();
            self.tiered().harm_in_flash(migration, harm);
        }
    }
}
