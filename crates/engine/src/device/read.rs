//! Host reads: split by unit, translated, merged where units lie side by side in one page.

use ninescope_kernel::NONE;
use ninescope_model::{CacheHint, Lpa, SECTOR_BYTES};

use super::Device;
use super::kind::Kind;
use super::write::sectors_of_unit;
use crate::error::SimulationError;
use crate::flash::ReadFrom;
use crate::host::{HostCommand, LinkJob};
use crate::probe::{Event, observe};
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    /// Turns a read command into page reads. What the controller can answer by itself (units still on
    /// their way to the media, units never written) goes straight to the link.
    pub(super) fn start_read(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = *self.host.command(index);
        let end = command.lba + u64::from(command.sectors);
        let sectors_per_unit = u64::from(self.flash.geometry().sectors_per_unit());
        let mut access = Transaction::host_read(index);
        let (mut answered_sectors, mut held_sectors) = (0, 0);
        let mut pending = 0;
        let mut sector = command.lba;
        while sector < end {
            let lpa = self.flash.unit_of(sector);
            let unit_end = (u64::from(lpa.0) + 1) * sectors_per_unit;
            let sectors = (end.min(unit_end) - sector) as u16;
            let first_of_unit = sector + sectors_per_unit - unit_end;
            sector += u64::from(sectors);
            if sector < end {
                // Where each of them is scheduled by itself, they are not queued in one go.
                self.run.transactions.has_several_parts(index, self.run.firmware.is_none());
            }
            let asked = || sectors_of_unit(&command, lpa.0, sectors_per_unit as u32);
            let from = self.flash.find_content(&mut self.run.counters, lpa, asked);
            observe!(self, Event::UnitRead { slot: index, lpa, from });
            if command.remark.hint() == CacheHint::FlushRead && self.flash.ftl().knows_clean() {
                self.note_flush_read(index, &command, lpa, from);
            }
            self.host_unit_read(index, lpa, from)?;
            let ReadFrom::Media(ppa) = from else {
                answered_sectors += u32::from(sectors);
                if matches!(from, ReadFrom::Controller(_)) {
                    held_sectors += u32::from(sectors);
                }
                continue;
            };
            if self.flash.counts_sectors() {
                let mask = self.sectors_of_unit(index, lpa.0);
                self.flash.sectors_read(lpa, mask);
            }
            if access.units > 0 && self.flash.continues_page(access.ppa(), access.units, ppa) {
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
        self.host.has_parts(index, pending);
        if answered_sectors > 0 {
            self.answer(index, answered_sectors, held_sectors);
        }
        Ok(())
    }

    /// The controller answers so many sectors of a read by itself, of which it holds some.
    #[inline]
    pub(super) fn answer(&mut self, index: u32, sectors: u32, held: u32) {
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        if held > 0 && self.dram.is_some() && self.answer_leaves_dram(index, bytes, held) {
            return;
        }
        let job = LinkJob { ready: self.run.now, bytes, command: index, transaction: NONE };
        self.host.send(&mut self.run, job);
    }

    /// A host read that flushes has found out where a unit is.
    #[inline(never)]
    fn note_flush_read(&mut self, index: u32, command: &HostCommand, lpa: Lpa, from: ReadFrom) {
        let per_unit = u64::from(self.flash.geometry().sectors_per_unit());
        let first = u64::from(lpa.0) * per_unit;
        let whole = command.lba <= first && command.lba + u64::from(command.sectors) >= first + per_unit;
        if whole && from != ReadFrom::Nowhere {
            self.flash.note_flush_read(index, lpa);
        }
    }

    #[inline]
    fn queue_host_read(&mut self, access: &Transaction) -> Result<(), SimulationError> {
        if access.units > 0 {
            self.run.counters.host_page_reads += 1;
            self.queue_read(*access)?;
        }
        Ok(())
    }

    /// Queues a page read on its die; its group is not erased before it ends.
    #[inline]
    pub(super) fn queue_read(&mut self, read: Transaction) -> Result<u32, SimulationError> {
        let group = self.flash.read_queued(read.ppa());
        self.group_read(group)?;
        observe!(self, Event::ReadQueued { ppa: read.ppa(), source: read.source, class: read.class });
        if self.flash.is_missing(read.ppa()) {
            return self.read_missing(read);
        }
        Ok(self.flash.enqueue_in(&mut self.run, group, read))
    }
}
