//! Page accesses that no decoder makes good and that have parity over dies: the rest of their stripe is read from its dies, and
//! what was found again is written anew.

use ninescope_ftl::Residence;
use ninescope_model::{Lpa, Ppa, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};
use crate::reliability::{Rebuilt, ones};
use crate::transaction::{Harm, QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Reads the rest of the stripe of an access, as many units of each page as the access lacks, from the first to the last.
    pub(super) fn read_rest_of_stripe(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let Transaction { source, class, .. } = self.run.transactions.slab[index];
        self.reading_again_ends(index);
        if class == QueueClass::HostRead {
            self.run.transactions.rebuild_begins(index, now);
        }
        let (own, first, units) = self.units_to_rebuild(index);
        let pages: Vec<Ppa> = self.flash.ftl().rest_of_stripe(own).collect();
        self.reliable().begin_rebuild((index, source), pages.len() as u32);
        observe!(self, Event::ReadDegraded { transaction: index, source, pages: pages.len() as u32 });
        for page in &pages {
            let read = Transaction::stripe_read(Ppa(page.0 + first), units, class, (index, source));
            let group = self.flash.stripe_read_queued(read.ppa());
            self.group_read(group)?;
            observe!(self, Event::ReadQueued { ppa: read.ppa(), source: read.source, class });
            if self.flash.is_missing(read.ppa()) {
                self.read_missing(read)?;
            } else {
                self.flash.enqueue_in_set(&mut self.run, read);
            }
        }
        // They hold its group from now on; what is to be written again holds it until it is.
        if source != Source::Rebuild {
            self.flash.read_ended(&mut self.run, index);
        }
        if pages.is_empty() { self.stripe_is_there(index) } else { Ok(()) }
    }

    /// A unit that an access lacks, where the first one of those lies in its page, and how many there are from that to the last.
    fn units_to_rebuild(&mut self, index: u32) -> (Ppa, u32, u8) {
        let failed = self.reliable().failed_units(index);
        let (first, last) = (failed.trailing_zeros(), failed.ilog2());
        let [own, end] = [first, last].map(|number| self.unit_of_access(index, number).1.place);
        let within = own.0 - self.flash.geometry().first_unit_of_page(own).0;
        (own, within, (end.0 - own.0 + 1) as u8)
    }

    /// A page of a stripe is decoded, or given up.
    pub(in crate::device) fn stripe_page_arrived(&mut self, read: u32) -> Result<(), SimulationError> {
        let transaction = self.run.transactions.slab[read];
        let ppa = transaction.ppa();
        let first = ppa.0 - self.flash.geometry().first_unit_of_page(ppa).0;
        let is_last = self.reliable().stripe_page_read(read, transaction.rebuilt(), first);
        self.run.transactions.slab.remove(read);
        if is_last { self.stripe_is_there(transaction.rebuilt()) } else { Ok(()) }
    }

    /// All of the stripe of an access is in the controller.
    fn stripe_is_there(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let read = self.run.transactions.slab[index];
        let failed: Vec<(u32, Lpa, Residence)> = ones(self.reliable().failed_units(index))
            .map(|number| {
                let (lpa, from) = self.unit_of_access(index, number);
                (number, lpa, from)
            })
            .collect();
        let among = |units: u32| failed.iter().filter(move |(number, ..)| units >> number & 1 == 1);
        let units_per_page = self.flash.geometry().units_per_page();
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Rebuilt { found, lost, wrong } = part.end_rebuild(&self.run.transactions, index, units_per_page);
        observe!(self, Event::ReadRebuilt { transaction: index, source: read.source, lost, wrong });
        if read.class == QueueClass::HostRead {
            self.run.transactions.rebuild_ends(index, now);
        }
        for (_, _, from) in among(found).filter(|_| read.source != Source::Rebuild) {
            self.reliable().meet_failed_unit(read.source, from.place);
        }
        if matches!(read.source, Source::Host | Source::Scrub) && !self.reliable().was_missing(index) {
            for &(_, lpa, from) in among(found & !wrong) {
                self.heal_rebuilt(lpa, from)?;
            }
        }
        if lost != 0 {
            return self.give_up(index);
        }
        if read.source != Source::Host {
            return self.own_read_ends(index);
        }
        for &(_, lpa, _) in among(wrong) {
            self.pass_wrong(read.command(), lpa)?;
        }
        if let Some(migration) = read.brings_up().get() {
            if wrong != 0 {
                self.tiered().harm_in_flash(migration, Harm::Wrong);
            }
            self.migration_data_arrived(migration)?;
        }
        self.send_page(index, now);
        Ok(())
    }
}
