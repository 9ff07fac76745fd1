//! Host writes: read-modify-write of units written in part, placing, stalls.

use std::ops::{Range, RangeInclusive};

use ninescope_ftl::policies::Told;
use ninescope_ftl::{Placed, Residence};
use ninescope_kernel::NONE;
use ninescope_model::{CacheHint, Cause, Lpa, Ppa, SECTOR_BYTES, SlotId, Source};

use super::kind::Kind;
use super::{Device, Flow};
use crate::error::SimulationError;
use crate::flash::{MergedWith, ReadFrom, WriteEntry, all_sectors};
use crate::host::HostCommand;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::transaction::{Transaction, UnitChain, UnitRecord, Writer};

/// What came of placing an entry.
pub(super) enum Placing {
    /// All units are placed.
    Done,
    /// No pool takes the next unit now.
    Waits,
    /// The unit's content lies elsewhere than where it was read: it is read again.
    ReadsAgain,
    /// The unit's page has a slot above flash by now: it is written there.
    GoesAbove,
    /// The page that was to go down was trimmed.
    NotWanted,
}

/// Which sectors a command is of, of a unit that has so many.
pub(super) fn sectors_of_unit(command: &HostCommand, unit: u32, per_unit: u32) -> u32 {
    let HostCommand { lba, sectors, .. } = *command;
    let first = u64::from(unit) * u64::from(per_unit);
    let begin = lba.max(first) - first;
    let end = (lba + u64::from(sectors)).min(first + u64::from(per_unit)) - first;
    all_sectors(end as u32) & !all_sectors(begin as u32)
}

impl<K: Kind> Device<K> {
    /// The data of a write command is in the controller.
    pub(super) fn start_write(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = self.host.sets_out(index, self.run.now);
        let (begin, end) = (command.lba, command.lba + u64::from(command.sectors));
        let per_unit = u64::from(self.flash.geometry().sectors_per_unit());
        // Whole units in the middle, at most one partly written at each end.
        let (first, last) = (self.flash.unit_of(begin).0, self.flash.unit_of(end - 1).0);
        let head_partial = begin % per_unit != 0 || end < (u64::from(first) + 1) * per_unit;
        let tail_partial = last != first && end % per_unit != 0;
        let whole = first + u32::from(head_partial)..last + 1 - u32::from(tail_partial);
        let units = if self.ends_at_program(&command) { last - first + 1 } else { 0 };
        // The read of the rest of a unit is a part too: its command may still move data when the unit is programmed or read
        // again, and the reads of both ends may wait for each other.
        let pieces = self.pieces(whole.clone());
        if units > 1 || pieces > 1 || head_partial || tail_partial {
            self.run.transactions.has_several_parts(index, false);
        }
        let entries = u32::from(head_partial) + u32::from(tail_partial) + pieces;
        self.host.has_parts(index, units.max(entries));
        let cut_through = self.cuts_through();
        if cut_through {
            self.cut_through_sets_out(index);
        }
        if head_partial && tail_partial && self.rests_share_page(index, first, last) {
            self.queue_read_modify_write(index, first..=last, None)?;
        } else {
            let partial = [(head_partial, first), (tail_partial, last)];
            for (_, unit) in partial.into_iter().filter(|(is_partial, _)| *is_partial) {
                self.write_in_part(index, unit)?;
            }
        }
        if pieces == 1 {
            self.place_or_stall(self.entry(index, whole.start, whole.end))?;
        } else if pieces > 1 {
            self.place_pieces(index, whole)?;
        }
        if cut_through {
            self.cut_through_has_set_out(index);
        }
        Ok(())
    }

    /// Places whole units that belong to several partitions.
    #[cold]
    fn place_pieces(&mut self, index: u32, whole: Range<u32>) -> Result<(), SimulationError> {
        let mut next = whole.start;
        while next < whole.end {
            let end = self.flash.line_ends_at(next).min(whole.end);
            self.place_or_stall(self.entry(index, next, end))?;
            next = end;
        }
        Ok(())
    }

    /// How many pieces a range of units is placed in: one, but where it goes over the border of a partition.
    #[inline]
    fn pieces(&self, units: Range<u32>) -> u32 {
        if self.flash.lines() == 1 {
            return u32::from(!units.is_empty());
        }
        let (mut next, mut pieces) = (units.start, 0);
        while next < units.end {
            next = self.flash.line_ends_at(next);
            pieces += 1;
        }
        pieces
    }

    /// Units that a host command writes whole.
    pub(super) fn entry(&self, index: u32, next: u32, end: u32) -> WriteEntry {
        let command = self.host.command(index);
        let clean = self.flash.ftl().knows_clean() && command.remark.hint() == CacheHint::CleanWrite;
        let at_program = self.ends_at_program(command);
        let entry = WriteEntry::of_whole_units(Source::Host, index, command.mark, next, end, self.run.now);
        let told = if self.flash.ftl().listens() { told_by(command) } else { Told::default() };
        WriteEntry { clean, at_program, told, part: self.flash.buffer_part_of(command.lane), ..entry }
    }

    /// Whether a write is done when its last unit is programmed: there is no write buffer, or it asks for that.
    #[inline]
    pub(super) fn ends_at_program(&self, command: &HostCommand) -> bool {
        self.flash.completes_at_program() | command.fua
    }

    /// A unit that the drive writes by itself.
    pub(super) fn entry_of(&self, source: Source, number: u32, unit: u32) -> WriteEntry {
        let clean = self.flash.ftl().knows_clean() && source == Source::Scrub;
        let entry = WriteEntry::of_whole_units(source, number, self.run.now, unit, unit + 1, self.run.now);
        WriteEntry { clean, ..entry }
    }

    // ---- units written in part -------------------------------------------------------------------

    /// Which sectors of a unit a command is of.
    pub(super) fn sectors_of_unit(&self, index: u32, unit: u32) -> u32 {
        sectors_of_unit(self.host.command(index), unit, self.flash.geometry().sectors_per_unit())
    }

    /// Whether a command writes all of a unit.
    pub(super) fn writes_whole_unit(&self, index: u32, unit: u32) -> bool {
        self.sectors_of_unit(index, unit) == all_sectors(self.flash.geometry().sectors_per_unit())
    }

    /// Where the rest is of a unit that a command writes in part.
    pub(super) fn rest_of(&self, index: u32, unit: u32) -> (ReadFrom, Residence) {
        let (from, residence) = self.flash.rest_of(Lpa(unit));
        (if self.rest_is_empty(index, unit) { ReadFrom::Nowhere } else { from }, residence)
    }

    /// Whether the host has used nothing of the rest of a unit that a command writes in part, where that is known.
    fn rest_is_empty(&self, index: u32, unit: u32) -> bool {
        self.flash.counts_sectors() && self.flash.sectors_of_rest(Lpa(unit), self.sectors_of_unit(index, unit)) == 0
    }

    /// Whether the rests of two units lie side by side in one page of the media, as they would be read for the host.
    fn rests_share_page(&self, index: u32, first: u32, last: u32) -> bool {
        let rests = (self.rest_of(index, first).0, self.rest_of(index, last).0);
        let (ReadFrom::Media(head), ReadFrom::Media(tail)) = rests else { return false };
        last == first + 1 && self.flash.continues_page(head, 1, tail)
    }

    /// Reads the rest of a unit, unless the controller has it or there is none.
    pub(super) fn write_in_part(&mut self, index: u32, unit: u32) -> Result<(), SimulationError> {
        self.forget_noted(unit..unit + 1)?;
        let (from, residence) = self.rest_of(index, unit);
        if K::ACTIVE && from == ReadFrom::Nowhere && self.flash.ftl().translate(Lpa(unit)) != Ppa::UNMAPPED {
            observe!(self, Event::RestIsEmpty { slot: index, lpa: Lpa(unit) });
        }
        match from {
            ReadFrom::Media(_) => return self.queue_read_modify_write(index, unit..=unit, None),
            ReadFrom::Controller(_) | ReadFrom::Area => self.run.counters.read_modify_write_forwarded += 1,
            ReadFrom::Nowhere => self.run.counters.read_modify_write_unmapped += 1,
        }
        self.place_or_stall(WriteEntry { merged_with: Some(residence), ..self.entry(index, unit, unit + 1) })
    }

    /// Reads the rests of units that lie side by side; `before` says where their time went up to their turn, if that had come.
    fn queue_read_modify_write(
        &mut self,
        command: u32,
        units: RangeInclusive<u32>,
        before: Option<&Parts>,
    ) -> Result<(), SimulationError> {
        self.run.counters.read_modify_write_reads += 1;
        let first = self.flash.ftl().translate(Lpa(*units.start()));
        let (mut records, mut count, mut sectors) = (UnitChain::default(), 0, 0);
        for unit in units {
            if self.flash.counts_sectors() {
                sectors += self.flash.sectors_of_rest(Lpa(unit), self.sectors_of_unit(command, unit)) as u16;
            }
            let taken_from = self.flash.rest_of(Lpa(unit)).1;
            let transactions = &mut self.run.transactions;
            let merge = transactions.keep_merge(before);
            let record = transactions.units.insert(UnitRecord {
                lpa: Lpa(unit),
                parent: command,
                taken_from,
                merge,
                had_turn: before.is_some(),
                ..UnitRecord::default()
            });
            records.push(&mut transactions.units, record);
            count += 1;
        }
        let mut read = Transaction::merge_read(first, count, records.head);
        read.sectors = sectors;
        self.queue_read(read).map(drop)
    }

    /// The rests of units are there.
    pub(super) fn read_modify_write_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let mut next = self.run.transactions.slab[transaction].records();
        // Both are taken before the first is placed, which may take the place of the transaction.
        let mut entries = [None; 2];
        for (number, entry) in (0..).zip(&mut entries) {
            if next != NONE {
                *entry = Some(self.entry_of_rest(transaction, number, next));
                next = self.run.transactions.units[next].next;
            }
        }
        self.run.transactions.slab.remove(transaction);
        entries.into_iter().flatten().try_for_each(|entry| self.place_or_stall(entry))
    }

    /// The unit number `number` whose rest a transaction brought, which frees its record.
    fn entry_of_rest(&mut self, transaction: u32, number: u32, index: u32) -> WriteEntry {
        let UnitRecord { lpa, parent, taken_from, merge, had_turn, .. } = self.run.transactions.units[index];
        self.run.transactions.units.remove(index);
        let damage = self.harm_of(transaction, number);
        self.run.transactions.add_read_of_rest(transaction, merge);
        if self.run.firmware.is_some() {
            let time = self.run.scheduling_time(transaction);
            self.run.transactions.merges[merge].add(Cause::Firmware, time);
        }
        let entry = self.entry(parent, lpa.0, lpa.0 + 1);
        WriteEntry { merged_with: Some(taken_from), damage, merge, had_turn, ..entry }
    }

    /// Sectors of the host in each unit of an entry.
    pub(super) fn sectors_of_each(&self, entry: &WriteEntry) -> u64 {
        match entry.merged_with {
            None => u64::from(self.flash.geometry().sectors_per_unit()),
            Some(_) => u64::from(self.sectors_of_unit(entry.command, entry.end - 1).count_ones()),
        }
    }

    // ---- placing -----------------------------------------------------------------------------------

    /// Places the units of an entry, behind those that wait already. One whose turn had come keeps it.
    pub(super) fn place_or_stall(&mut self, mut entry: WriteEntry) -> Result<(), SimulationError> {
        let (before_it, first) = (self.flash.before_in_line(&entry), entry.next);
        if before_it == 0 {
            match self.place(&mut entry)? {
                Placing::Done => return self.entry_placed(&entry, first),
                Placing::ReadsAgain | Placing::GoesAbove | Placing::NotWanted => return Ok(()),
                Placing::Waits => self.some_placed(&entry, first),
            }
            if self.flash.is_read_only() {
                return self.entry_refused(&entry);
            }
        }
        let cause = self.flash.join_line(&mut self.run, before_it, entry);
        if entry.source == Source::Host {
            observe!(self, Event::WriteStalled { slot: entry.command, lpa: Lpa(entry.next), cause });
        }
        self.flash.touch_gc_of_full_pools();
        Ok(())
    }

    /// Tries the writes that wait, in the order in which they came; behind one that waits on nobody of its line is tried.
    pub(super) fn retry_stalled_writes(&mut self) -> Result<(), SimulationError> {
        self.flash.lines_are_tried();
        while let Some(line) = self.flash.next_line() {
            let Some(mut entry) = self.flash.first_in_line(line, self.run.now) else { break };
            let first = entry.next;
            match self.place(&mut entry)? {
                Placing::Waits => {
                    self.some_placed(&entry, first);
                    if self.flash.is_read_only() {
                        self.flash.first_leaves_line(line);
                        self.entry_refused(&entry)?;
                    } else {
                        self.flash.keep_first_in_line(line, entry);
                        self.flash.touch_gc_of_full_pools();
                    }
                }
                Placing::ReadsAgain | Placing::GoesAbove | Placing::NotWanted => self.flash.first_leaves_line(line),
                Placing::Done => {
                    self.flash.first_leaves_line(line);
                    self.entry_placed(&entry, first)?;
                }
            }
        }
        self.flash.line_ends(self.run.now);
        Ok(())
    }

    /// Places as many units as can be.
    fn place(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        match entry.source {
            Source::Migration => return self.place_migrated(entry),
            Source::Scrub => return self.place_healed(entry),
            Source::Mapping => return self.place_map_page(entry),
            _ if self.flow == Flow::Zoned => return self.place_in_zone(entry),
            _ => {}
        }
        if self.goes_above_by_now(entry) {
            self.run.transactions.drop_merge(entry.merge);
            self.redirect_write(entry.command, entry.next)?;
            return Ok(Placing::GoesAbove);
        }
        self.forget_noted(entry.next..entry.end)?;
        let lies_elsewhere = self.flash.must_read_again(entry);
        if lies_elsewhere && self.rest_is_empty(entry.command, entry.next) {
            observe!(self, Event::RestIsEmpty { slot: entry.command, lpa: Lpa(entry.next) });
        } else if lies_elsewhere {
            self.run.counters.read_modify_write_repeated += 1;
            let before = self.parts_before_placing(entry);
            self.queue_read_modify_write(entry.command, entry.next..=entry.next, Some(&before))?;
            return Ok(Placing::ReadsAgain);
        }
        if entry.damage.is_some() && !self.flash.is_merged_with_what_was_read(entry) {
            entry.damage = None;
        }
        let (chained, bounded) = (entry.at_program, self.flash.has_buffer_parts());
        let merged_with = if K::ACTIVE { self.flash.content_merged_with(entry) } else { MergedWith::Nothing };
        let sectors = self.sectors_of_each(entry);
        // Another part of the command may yet read the rest of a unit, and wait for the program of what is written here.
        let may_wait_for_it = !chained && self.host.command(entry.command).pending > 1;
        while entry.next < entry.end {
            let lpa = Lpa(entry.next);
            let clean = entry.clean && self.flash.may_stay_clean(entry);
            if self.flash.holds_back(&mut self.run, lpa.0) {
                return Ok(Placing::Waits);
            }
            if bounded && !self.flash.part_has_room(entry.part) {
                return Ok(Placing::Waits);
            }
            if self.tier.as_ref().is_some_and(|part| part.is_in_the_way(lpa.0)) {
                self.page_makes_way(lpa.0)?;
            }
            let Some(placed) = self.flash.write_as(self.run.now, lpa, clean, entry.told) else {
                return Ok(Placing::Waits);
            };
            self.flash.unit_was_let_in(&mut self.run, lpa, &placed);
            let stall_cause = entry.stall_cause();
            let record =
                UnitRecord { lpa, parent: entry.command, merge: entry.merge, stall_cause, ..UnitRecord::default() };
            let Placed { old, new, .. } = placed;
            self.look_up_as_placed(entry)?;
            observe!(self, Event::UnitWritten { slot: entry.command, lpa, old, new, merged_with });
            self.run.counters.host_sectors_placed += sectors;
            if self.flash.counts_sectors() {
                let mask = self.sectors_of_unit(entry.command, lpa.0);
                self.flash.sectors_written(lpa, mask, old);
                self.flash.page_gets(&placed, mask.count_ones() as u16);
            }
            self.flash.overtake_flush_reads(lpa);
            self.host_unit_written(entry, lpa)?;
            if let Some(slot) = self.tier.as_mut().and_then(|part| part.placed_below(lpa.0)) {
                self.page_left_slot(lpa.0, SlotId(slot))?;
            }
            if may_wait_for_it {
                self.flash.written_last(&mut self.run, &placed, entry.command);
            }
            if self.run.transactions.tenants.is_some() {
                self.flash.written_by(&mut self.run, &placed, entry.command);
            }
            self.flash.host_unit_placed(&mut self.run, &placed, chained.then_some(record));
            self.unit_is_written(lpa, Writer::Command(entry.command))?;
            entry.next += 1;
            entry.begun = true;
        }
        Ok(Placing::Done)
    }

    /// Whether a page is to be written above, where it was to go to flash.
    fn goes_above_by_now(&self, entry: &WriteEntry) -> bool {
        self.tier
            .as_ref()
            .is_some_and(|part| part.goes_above_by_now(entry.next, self.sectors_of_unit(entry.command, entry.next)))
    }

    /// Places a page that goes down. It occupies a page of flash by itself, which is sent to its die at once: its slot
    /// is free when it is programmed.
    #[inline(never)]
    fn place_migrated(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        if self.eviction_is_void(entry.command) {
            self.eviction_ended(entry.command)?;
            return Ok(Placing::NotWanted);
        }
        if self.flash.must_read_again(entry) {
            self.read_rest_again(entry.command)?;
            return Ok(Placing::ReadsAgain);
        }
        let merged_with = if K::ACTIVE { self.flash.content_merged_with(entry) } else { MergedWith::Nothing };
        let lpa = Lpa(entry.next);
        let of_flash = self.flash.is_merged_with_what_was_read(entry);
        let Some(placed) = self.flash.take_down(self.run.now, lpa) else { return Ok(Placing::Waits) };
        if self.flash.counts_sectors() {
            let mask = self.tiered().migration(entry.command).sectors;
            self.flash.sectors_written(lpa, mask, placed.old);
            self.flash.page_gets(&placed, mask.count_ones() as u16);
        }
        self.eviction_takes_effect(entry.command, of_flash)?;
        let record = UnitRecord { lpa, parent: entry.command, source: Source::Migration, ..UnitRecord::default() };
        let Placed { old, new, pool, stream, .. } = placed;
        observe!(self, Event::EvictionPlaced { migration: entry.command, lpa, old, new, merged_with });
        self.unit_is_written(lpa, Writer::Migration(entry.command))?;
        if self.run.transactions.tenants.is_some() {
            self.flash.taken_down_by(&mut self.run, &placed, entry.command);
        }
        self.flash.host_unit_placed(&mut self.run, &placed, Some(record));
        self.pad_and_send(pool, stream)?;
        Ok(Placing::Done)
    }

    /// Units of an entry from `first` on are placed, others of it wait.
    fn some_placed(&mut self, entry: &WriteEntry, first: u32) {
        if entry.next > first && self.cuts_through() {
            self.some_come_in(entry, entry.next - first);
        }
    }

    /// All units of an entry are placed, the last of them from `first` on: a buffered write is done with them, or when they are in
    /// DRAM. Where the write waits for their program, their pages go out now, full or not; without a write buffer there are no
    /// others.
    fn entry_placed(&mut self, entry: &WriteEntry, first: u32) -> Result<(), SimulationError> {
        if entry.source != Source::Host {
            return Ok(());
        }
        if entry.at_program {
            return if self.flash.completes_at_program() {
                self.send_partial_pages()
            } else {
                self.send_awaited_pages()
            };
        }
        if self.cuts_through() {
            self.the_last_come_in(entry, entry.next - first);
            return Ok(());
        }
        let mut parts = self.parts_before_placing(entry);
        self.finish_part(entry.command, &mut parts, NONE)
    }

    /// Where the time of an entry went until it is placed, or its unit is read again. What was kept of it is taken out.
    pub(super) fn parts_before_placing(&mut self, entry: &WriteEntry) -> Parts {
        let mut parts = self.run.transactions.take_merge(entry.merge);
        entry.add_stalls(&mut parts);
        if let Some(tenants) = &mut self.run.transactions.tenants {
            let (all, in_buffer) = entry.stalled();
            let span = (self.run.now - all, self.run.now);
            tenants.stalled(entry.command, span, in_buffer);
            let partition = self.flash.partition_of(Lpa(entry.next));
            tenants.waited_for_space(entry.command, partition, span, all - in_buffer);
        }
        parts
    }
}

const _: () = assert!(SECTOR_BYTES == 512);

/// What a command says of what it writes.
fn told_by(command: &HostCommand) -> Told {
    Told { stream: command.stream, sectors: command.sectors }
}
