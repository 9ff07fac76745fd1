//! Host requests on drives with two media.

use ninescope_kernel::NONE;
use ninescope_model::{Lpa, Op, SECTOR_BYTES, SlotId};
use ninescope_tier::{OnRead, WriteTo};

use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::meter::Parts;
use crate::probe::{Event, ReadFrom, observe};
use crate::tier::{Lower, SlotWaiter};
use crate::transaction::{BringsUp, QueueClass, Transaction};

/// The pages of a request with the sectors of each, one bit per sector.
fn pages_of(lba: u64, sectors: u32, per_page: u32) -> impl Iterator<Item = (u32, u32)> {
    let (shift, end) = (per_page.trailing_zeros(), lba + u64::from(sectors));
    (lba >> shift..=(end - 1) >> shift).map(move |page| {
        let first = page << shift;
        let (from, to) = (lba.max(first) - first, end.min(first + u64::from(per_page)) - first);
        (page as u32, (((1_u64 << (to - from)) - 1) << from) as u32)
    })
}

impl<K: Kind> Device<K> {
    #[inline]
    fn sectors_per_page(&self) -> u32 {
        self.scm.layout().medium(0).sectors_per_slot
    }

    // ---- writes ----------------------------------------------------------------------------------

    /// The data of a write is in the controller: each of its pages goes where the tier says.
    #[inline(never)]
    pub(crate) fn start_tiered_write(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let command = &mut self.commands[index];
        command.mark = now;
        let (lba, sectors) = (command.lba, command.sectors);
        let (per_page, whole) = (self.sectors_per_page(), self.tiered().tier.whole());
        let pages = || pages_of(lba, sectors, per_page);
        let parts = pages().count() as u32;
        // The read that completes a page in flash is a part as well.
        let several = parts > 1 || pages().any(|(_, mask)| mask != whole);
        let command = &mut self.commands[index];
        (command.pending, command.several_parts) = (parts, several);
        for (page, mask) in pages() {
            match self.tiered().tier.write(page, mask, sectors) {
                WriteTo::Upper => self.write_above(index, page, mask)?,
                WriteTo::Lower => self.write_below(index, page, mask)?,
            }
        }
        Ok(())
    }

    /// Writes sectors of a page to its slot, for which the page may have to wait.
    pub(crate) fn write_above(&mut self, index: u32, page: u32, mask: u32) -> Result<(), SimulationError> {
        observe!(self, Event::PageWritten { slot: index, page, sectors: mask });
        let had_slot = self.tiered().tier.residency().slot_of(page).is_some();
        if let Some(slot) = self.slot_for(page)? {
            self.queue_upper_write(index, slot, mask);
        } else {
            let part = self.tiered();
            part.tier.counters_mut().slot_waits += 1;
            part.wait_for_slot(page, SlotWaiter::Write { command: index, page, sectors: mask });
        }
        let part = self.tiered();
        if !had_slot && mask != part.tier.whole() && part.tier.rules().fetch_on_write {
            self.fetch_rest(page, mask, index)?;
        }
        self.pump_tier(index)
    }

    /// Queues a write of the host on the slot of its page.
    pub(super) fn queue_upper_write(&mut self, command: u32, slot: u32, mask: u32) {
        let request_sectors = self.commands[command].sectors;
        let tier = &mut self.tiered().tier;
        let sequential = tier.is_sequential(request_sectors);
        let residency = tier.residency_mut();
        residency.touch_written(slot, sequential);
        residency.writer_queued(slot);
        self.enqueue_on_bank(Transaction::on_slot(SlotId(slot), mask, QueueClass::HostProgram, command));
    }

    /// Writes sectors of a page to flash.
    fn write_below(&mut self, index: u32, page: u32, mask: u32) -> Result<(), SimulationError> {
        if mask == self.tiered().tier.whole() {
            return self.place_or_stall(self.entry(index, page, page + 1));
        }
        self.write_in_part(index, page)
    }

    /// Whether a page has a slot.
    #[inline]
    pub(crate) fn page_is_above(&self, page: u32) -> bool {
        self.tier.as_ref().is_some_and(|part| part.tier.residency().slot_of(page).is_some())
    }

    /// A write that was to go below finds its page above when its turn comes: it is written there.
    pub(crate) fn redirect_write(&mut self, command: u32, page: u32) -> Result<(), SimulationError> {
        let (lba, sectors) = (self.commands[command].lba, self.commands[command].sectors);
        let mut pages = pages_of(lba, sectors, self.sectors_per_page());
        let Some((_, mask)) = pages.find(|(of_request, _)| *of_request == page) else { return Ok(()) };
        self.tiered().tier.counters_mut().writes_redirected += 1;
        self.write_above(command, page, mask)
    }

    // ---- reads -----------------------------------------------------------------------------------

    /// A read is answered from the slots of its pages, from below, or from both.
    #[inline(never)]
    pub(crate) fn start_tiered_read(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let command = &mut self.commands[index];
        command.mark = now;
        let (lba, sectors) = (command.lba, command.sectors);
        // One part stays open until all are queued.
        command.pending = 1;
        command.several_parts = sectors > 1;
        let mut answered = 0;
        for (page, mask) in pages_of(lba, sectors, self.sectors_per_page()) {
            let part = self.tiered();
            let slot = part.tier.residency().slot_of(page);
            let above = slot.map_or(0, |slot| part.tier.slot(slot).valid & mask);
            let on_read = part.tier.read(page, mask, above, sectors);
            observe!(self, Event::PageRead { slot: index, page, above, below: mask & !above });
            if self.reliability.is_some() {
                self.tell_damage(index, Lpa(page))?;
            }
            if let Some(slot) = slot.filter(|_| above != 0) {
                self.tiered().tier.residency_mut().reader_queued(slot);
                self.commands[index].pending += 1;
                self.enqueue_on_bank(Transaction::on_slot(SlotId(slot), above, QueueClass::HostRead, index));
            }
            if above != mask {
                answered += self.read_below(index, page, mask & !above, on_read)?;
            }
        }
        if answered > 0 {
            self.commands[index].pending += 1;
            let bytes = u64::from(answered) * SECTOR_BYTES;
            self.queue_link_out(LinkJob { ready: now, bytes, command: index, transaction: NONE });
        }
        self.commands[index].pending -= 1;
        debug_assert!(self.commands[index].pending > 0, "a read has parts");
        self.pump_tier(index)
    }

    /// Reads sectors of a page from below. Returns how many the controller can answer by itself.
    fn read_below(&mut self, index: u32, page: u32, mask: u32, on_read: OnRead) -> Result<u32, SimulationError> {
        if self.tiered().lower == Lower::Scm {
            self.commands[index].pending += 1;
            let slot = self.lower_slot(page);
            self.enqueue_on_bank(Transaction::on_slot(slot, mask, QueueClass::HostRead, index));
            self.bring_up(page, on_read, index)?;
            return Ok(0);
        }
        let lpa = Lpa(page);
        let from = self.find_content(lpa);
        observe!(self, Event::UnitRead { slot: index, lpa, from });
        let sectors = mask.count_ones();
        let ReadFrom::Media(ppa) = from else {
            self.bring_up_held(lpa, from, on_read, index)?;
            return Ok(sectors);
        };
        let fill = self.bring_up_read(lpa, ppa, on_read, index)?;
        let brings_up = fill.map_or(BringsUp::NONE, BringsUp::migration);
        self.commands[index].pending += 1;
        self.counters.host_page_reads += 1;
        self.queue_read(Transaction::host_read_of_unit(index, ppa, mask, brings_up))?;
        Ok(0)
    }

    // ---- TRIM ------------------------------------------------------------------------------------

    /// Forgets the whole pages of a range, above and below. Memory that is overwritten in place gains nothing from it:
    /// where there is no flash, TRIMs are counted and ignored.
    pub(crate) fn start_tiered_trim(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = self.commands[index];
        if self.tiered().lower == Lower::Scm {
            self.scm.counters[0].trim_sectors_ignored += u64::from(command.sectors);
            return self.complete(index, Parts::default(), NONE);
        }
        debug_assert_eq!(command.op, Op::Trim, "a TRIM");
        let whole = self.tiered().tier.whole();
        for (page, mask) in pages_of(command.lba, command.sectors, self.sectors_per_page()) {
            if mask != whole {
                continue;
            }
            if let Some(slot) = self.tiered().tier.residency_mut().forget(page) {
                self.tier_touched = true;
                observe!(self, Event::PageLeft { page, slot: SlotId(slot) });
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
