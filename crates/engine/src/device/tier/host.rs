//! Host requests on drives with two media.

use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Op, SlotId};
use ninescope_tier::{OnRead, WriteTo};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::flash::ReadFrom;
use crate::host::HostCommand;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::tier::{HeldWrite, Lower};
use crate::transaction::{BringsUp, QueueClass, Transaction};

/// The pages of a request with the sectors of each, one bit per sector.
pub(in crate::device) fn pages_of(lba: u64, sectors: u32, per_page: u32) -> impl Iterator<Item = (u32, u32)> {
    let (shift, end) = (per_page.trailing_zeros(), lba + u64::from(sectors));
    (lba >> shift..=(end - 1) >> shift).map(move |page| {
        let first = page << shift;
        let (from, to) = (lba.max(first) - first, end.min(first + u64::from(per_page)) - first);
        (page as u32, (((1_u64 << (to - from)) - 1) << from) as u32)
    })
}

impl<K: Kind> Device<K> {
    #[inline]
    pub(in crate::device) fn sectors_per_page(&self) -> u32 {
        self.scm.layout().medium(0).sectors_per_slot
    }

    // ---- writes ----------------------------------------------------------------------------------

    /// The data of a write is in the controller: each of its pages goes where the tier says.
    #[inline(never)]
    pub(in crate::device) fn start_tiered_write(&mut self, index: u32) -> Result<(), SimulationError> {
        let HostCommand { lba, sectors, lane, .. } = self.host.sets_out(index, self.run.now);
        let (per_page, whole) = (self.sectors_per_page(), self.tiered().whole());
        let pages = || pages_of(lba, sectors, per_page);
        let parts = pages().count() as u32;
        // The read that completes a page in flash is a part as well.
        let several = parts > 1 || pages().any(|(_, mask)| mask != whole);
        self.host.has_parts(index, parts);
        if several {
            self.run.transactions.has_several_parts(index, false);
        }
        let cut_through = self.cuts_through();
        if cut_through {
            self.cut_through_sets_out(index);
        }
        for (page, mask) in pages() {
            match self.tiered().write(lane, page, mask, sectors) {
                WriteTo::Upper => self.write_above(index, page, mask)?,
                WriteTo::Lower => self.write_below(index, page, mask)?,
            }
        }
        if cut_through {
            self.cut_through_has_set_out(index);
        }
        let now = self.run.now;
        self.tiered().time_passes(now);
        Ok(())
    }

    /// Writes sectors of a page to its slot, for which the page may have to wait, if the write is not held back before.
    pub(in crate::device) fn write_above(&mut self, index: u32, page: u32, mask: u32) -> Result<(), SimulationError> {
        let (part, now) = (self.part_of(index), self.run.now);
        if self.tiered().holds_back(part, now, HeldWrite { command: index, page, sectors: mask }) {
            observe!(self, Event::WriteHeld { slot: index, page });
        } else {
            self.enter_above(index, page, mask)?;
        }
        self.pump_tier(index)
    }

    /// The same of one that is not.
    pub(super) fn enter_above(&mut self, index: u32, page: u32, mask: u32) -> Result<(), SimulationError> {
        observe!(self, Event::PageWritten { slot: index, page, sectors: mask });
        let had_slot = self.tiered().slot_of(page).is_some();
        let (part, tenant) = (self.part_of(index), self.host.command(index).lane);
        match self.slot_for(page, (part, tenant))? {
            Some(slot) => self.queue_upper_write(index, slot, mask),
            None => self.tiered().write_waits(part, index, page, mask),
        }
        if !had_slot && self.tiered().completes_on_write(mask) {
            self.fetch_rest(page, mask, index)?;
        }
        Ok(())
    }

    /// Queues a write of the host on the slot of its page.
    pub(super) fn queue_upper_write(&mut self, command: u32, slot: u32, mask: u32) {
        let request_sectors = self.host.command(command).sectors;
        self.tiered().writer_queued(slot, request_sectors);
        let access = Transaction::on_slot(SlotId(slot), mask, QueueClass::HostProgram, command);
        self.scm.enqueue(&mut self.run, access);
    }

    /// Writes sectors of a page to flash.
    fn write_below(&mut self, index: u32, page: u32, mask: u32) -> Result<(), SimulationError> {
        if mask == self.tiered().whole() {
            return self.place_or_stall(self.entry(index, page, page + 1));
        }
        self.write_in_part(index, page)
    }

    /// Whether a page has a slot.
    #[inline]
    pub(in crate::device) fn page_is_above(&self, page: u32) -> bool {
        self.tier.as_ref().is_some_and(|part| part.slot_of(page).is_some())
    }

    /// A write that was to go below finds its page above when its turn comes: it is written there.
    pub(in crate::device) fn redirect_write(&mut self, command: u32, page: u32) -> Result<(), SimulationError> {
        let (lba, sectors) = (self.host.command(command).lba, self.host.command(command).sectors);
        let mut pages = pages_of(lba, sectors, self.sectors_per_page());
        let Some((_, mask)) = pages.find(|(of_request, _)| *of_request == page) else { return Ok(()) };
        self.tiered().count_redirect();
        self.write_above(command, page, mask)
    }

    /// What is above of a page, which is below as well, is of no use any more: the page is about to be written below.
    #[cold]
    pub(in crate::device) fn page_makes_way(&mut self, page: u32) -> Result<(), SimulationError> {
        if let Some(slot) = self.tiered().makes_way(page) {
            self.page_left_slot(page, SlotId(slot))?;
        }
        observe!(self, Event::PageForgotten { page });
        Ok(())
    }

    // ---- reads -----------------------------------------------------------------------------------

    /// A read is answered from the slots of its pages, from below, or from both.
    #[inline(never)]
    pub(in crate::device) fn start_tiered_read(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let HostCommand { lba, sectors, lane, .. } = self.host.sets_out(index, now);
        // One part stays open until all are queued.
        self.host.has_parts(index, 1);
        if sectors > 1 {
            self.run.transactions.has_several_parts(index, false);
        }
        let (mut answered, mut held) = (0, 0);
        for (page, mask) in pages_of(lba, sectors, self.sectors_per_page()) {
            let (above, slot, on_read) = self.tiered().read(lane, page, mask, sectors);
            observe!(self, Event::PageRead { slot: index, page, above, below: mask & !above });
            self.tell_damage(index, Lpa(page))?;
            if let Some(slot) = slot {
                self.tiered().reader_queued(slot);
                self.host.has_another_part(index);
                let access = Transaction::on_slot(SlotId(slot), above, QueueClass::HostRead, index);
                self.scm.enqueue(&mut self.run, access);
            }
            if above != mask {
                let (of_page, of_buffer) = self.read_below(index, page, mask & !above, on_read)?;
                (answered, held) = (answered + of_page, held + of_buffer);
            }
        }
        if answered > 0 {
            self.host.has_another_part(index);
            self.answer(index, answered, held);
        }
        let answered_at_once = self.host.part_ends(index);
        debug_assert!(!answered_at_once, "a read has parts");
        if self.host.has_protocol() {
            self.host.send_whole(&mut self.run, index);
        }
        self.read_ahead(index, lba, sectors)?;
        self.pump_tier(index)
    }

    /// Reads sectors of a page from below. Returns how many the controller can answer by itself, and how many of them it holds.
    fn read_below(&mut self, index: u32, page: u32, mask: u32, on_read: OnRead) -> Result<(u32, u32), SimulationError> {
        if self.tiered().lower() == Lower::Scm {
            self.host.has_another_part(index);
            let slot = self.lower_slot(page);
            self.scm.enqueue(&mut self.run, Transaction::on_slot(slot, mask, QueueClass::HostRead, index));
            self.bring_up(page, on_read, index)?;
            return Ok((0, 0));
        }
        let lpa = Lpa(page);
        let from = self.flash.find_content(&mut self.run.counters, lpa, || mask);
        observe!(self, Event::UnitRead { slot: index, lpa, from });
        let sectors = mask.count_ones();
        let ReadFrom::Media(ppa) = from else {
            self.bring_up_held(lpa, from, on_read, index)?;
            let is_held = matches!(from, ReadFrom::Controller(_));
            return Ok((sectors, if is_held { sectors } else { 0 }));
        };
        self.flash.sectors_read(lpa, mask);
        let fill = self.bring_up_read(lpa, ppa, on_read, index)?;
        let brings_up = fill.map_or(BringsUp::NONE, BringsUp::migration);
        self.host.has_another_part(index);
        self.run.counters.host_page_reads += 1;
        self.queue_read(Transaction::host_read_of_unit(index, ppa, mask, brings_up))?;
        Ok((0, 0))
    }

    // ---- TRIM ------------------------------------------------------------------------------------

    /// Forgets the whole pages of a range, above and below. Memory that is overwritten in place gains nothing from it:
    /// where there is no flash, TRIMs are counted and ignored.
    pub(in crate::device) fn start_tiered_trim(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = *self.host.command(index);
        if self.tiered().lower() == Lower::Scm {
            self.scm.ignore_trim(command.sectors);
            return self.complete(index, &mut Parts::default(), NONE);
        }
        debug_assert_eq!(command.op, Op::Trim, "a TRIM");
        let whole = self.tiered().whole();
        for (page, mask) in pages_of(command.lba, command.sectors, self.sectors_per_page()) {
            if mask != whole {
                continue;
            }
            if let Some(slot) = self.tiered().forget(page) {
                self.page_left_slot(page, SlotId(slot))?;
            }
        }
        self.start_trim(index)
    }
}

#[cfg(test)]
mod tests {
    use super::pages_of;

    #[test]
    fn a_request_is_split_at_pages() {
        assert_eq!(pages_of(30, 6, 32).collect::<Vec<_>>(), [(0, 0b11 << 30), (1, 0b1111)]);
        assert_eq!(pages_of(32, 32, 32).collect::<Vec<_>>(), [(1, u32::MAX)]);
        assert_eq!(pages_of(63, 34, 32).collect::<Vec<_>>(), [(1, 1 << 31), (2, u32::MAX), (3, 1)]);
        assert_eq!(pages_of(9, 2, 8).collect::<Vec<_>>(), [(1, 0b110)]);
    }
}
