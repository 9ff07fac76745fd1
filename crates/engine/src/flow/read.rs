//! Host reads: split by unit, translated, merged where units lie side by side in one page.

use ninescope_kernel::NONE;
use ninescope_model::{CacheHint, Lpa, Ppa, SECTOR_BYTES};

use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, ReadFrom, observe};
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    /// Turns a read command into page reads. What the controller can answer by itself (units still on
    /// their way to the media, units never written) goes straight to the link.
    pub(crate) fn start_read(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = self.commands[index];
        let end = command.lba + u64::from(command.sectors);
        let sectors_per_unit = u64::from(self.geometry.sectors_per_unit());
        let mut access = Transaction::host_read(index);
        let mut answered_sectors = 0;
        let mut pending = 0;
        let mut sector = command.lba;
        while sector < end {
            let lpa = self.unit_of(sector);
            let unit_end = (u64::from(lpa.0) + 1) * sectors_per_unit;
            let sectors = (end.min(unit_end) - sector) as u16;
            let first_of_unit = sector + sectors_per_unit - unit_end;
            sector += u64::from(sectors);
            if sector < end {
                self.commands[index].several_parts = true;
            }
            let from = self.find_content(lpa);
            observe!(self, Event::UnitRead { slot: index, lpa, from });
            if command.hint == CacheHint::FlushRead && self.ftl.knows_clean() {
                self.note_flush_read(index, lpa, from);
            }
            if self.reliability.is_some() {
                self.host_unit_read(index, lpa, from)?;
            }
            let ReadFrom::Media(ppa) = from else {
                answered_sectors += u32::from(sectors);
                continue;
            };
            if access.units > 0 && self.continues_page(&access, ppa) {
                access.units += 1;
                access.sectors += sectors;
                continue;
            }
            pending += u32::from(access.units > 0);
            self.queue_host_read(&access)?;
            access.begin_page(ppa, sectors, (((1_u64 << sectors) - 1) << first_of_unit) as u32);
        }
        pending += u32::from(access.units > 0);
        self.queue_host_read(&access)?;
        pending += u32::from(answered_sectors > 0);
        self.commands[index].pending = pending;
        if answered_sectors > 0 {
            let bytes = u64::from(answered_sectors) * SECTOR_BYTES;
            self.queue_link_out(LinkJob { ready: self.now, bytes, command: index, transaction: NONE });
        }
        Ok(())
    }

    /// Where the content of a unit is.
    #[inline]
    pub(super) fn find_content(&mut self, lpa: Lpa) -> ReadFrom {
        let ppa = self.ftl.translate(lpa);
        if ppa == Ppa::UNMAPPED {
            self.counters.unmapped_units += 1;
            return ReadFrom::Nowhere;
        }
        if self.ftl.is_in_flight(ppa) {
            self.counters.forwarded_units += 1;
            return ReadFrom::Controller(ppa);
        }
        ReadFrom::Media(ppa)
    }

    #[inline]
    fn continues_page(&self, access: &Transaction, ppa: Ppa) -> bool {
        ppa.0 == access.ppa().0 + u32::from(access.units)
            && self.geometry.first_unit_of_page(ppa) == self.geometry.first_unit_of_page(access.ppa())
    }

    #[inline]
    fn queue_host_read(&mut self, access: &Transaction) -> Result<(), SimulationError> {
        if access.units > 0 {
            self.counters.host_page_reads += 1;
            self.queue_read(*access)?;
        }
        Ok(())
    }

    /// Queues a page read on its die; its group is not erased before it ends.
    #[inline]
    pub(crate) fn queue_read(&mut self, transaction: Transaction) -> Result<(), SimulationError> {
        let group = self.geometry.group_and_offset(transaction.ppa()).0;
        self.ftl.read_queued(group);
        let pool = self.geometry.pool_and_block(group).0;
        if self.reliability.is_some() {
            self.reliable_read_queued(group)?;
        }
        observe!(self, Event::ReadQueued { ppa: transaction.ppa(), source: transaction.source });
        self.enqueue(self.geometry.die_of_pool(pool), transaction);
        Ok(())
    }
}
