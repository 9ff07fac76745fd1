//! Host writes and TRIMs: read-modify-write of units written in part, placing, stalls.

use ninescope_ftl::{Placed, Residence};
use ninescope_kernel::{NONE, Ns};
use ninescope_model::{Cause, Lpa, Ppa, SECTOR_BYTES, Source, Stream};

use crate::config::WriteCompletion;
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::meter::Parts;
use crate::probe::{Event, MergedWith, observe};
use crate::reliability::Harm;
use crate::transaction::{Transaction, UnitRecord};

/// Units of one command that are to be placed in order. At most three per command: its whole units and a
/// partly written one at each end.
#[derive(Clone, Copy, Debug)]
pub struct WriteEntry {
    /// On whose behalf: the host's, or a migration's.
    pub source: Source,
    /// The command, or the migration.
    pub command: u32,
    /// The next unit to place.
    pub next: u32,
    /// The unit after the last one.
    pub end: u32,
    /// For a unit written in part: where the content it was merged with lay ([`Residence::NONE`] for no
    /// content). `None` for whole units.
    pub merged_with: Option<Residence>,
    /// What it was merged with is no good: the unit is lost, or wrong.
    pub damage: Option<Harm>,
    /// Another copy of what is written exists.
    pub clean: bool,
    /// Its turn had come before, and the rest of its unit had to be read again.
    pub had_turn: bool,
    /// Some of its units have their places: without a write buffer nobody else comes into its page.
    pub begun: bool,
    /// For a unit written in part whose rest was read: where its time went until then, among the
    /// [`merges`](crate::transaction::TransactionStore::merges); `NONE` for others.
    pub merge: u32,
    /// Time spent stalled for want of a free page [ns].
    pub allocation_stall: Ns,
    /// Time spent stalled behind a full write buffer [ns].
    pub buffer_stall: Ns,
    /// Since when it is stalled, and why.
    pub stalled: (Ns, Cause),
}

/// What came of placing an entry.
pub(crate) enum Placing {
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

impl<K: Kind> Device<K> {
    /// The data of a write command is in the controller.
    pub(crate) fn start_write(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = &mut self.commands[index];
        command.mark = self.now;
        let (begin, end) = (command.lba, command.lba + u64::from(command.sectors));
        let per_unit = u64::from(self.geometry.sectors_per_unit());
        // Whole units in the middle, at most one partly written at each end.
        let (first, last) = (self.unit_of(begin).0, self.unit_of(end - 1).0);
        let head_partial = begin % per_unit != 0 || end < (u64::from(first) + 1) * per_unit;
        let tail_partial = last != first && end % per_unit != 0;
        let whole = first + u32::from(head_partial)..last + 1 - u32::from(tail_partial);
        let units = if self.completes_at_program() { last - first + 1 } else { 0 };
        // The read of the rest of a unit is a part too: its command may still move data when the unit is programmed or read
        // again, and the reads of both ends may wait for each other.
        self.commands[index].several_parts = units > 1 || head_partial || tail_partial;
        let entries = u32::from(head_partial) + u32::from(tail_partial) + u32::from(!whole.is_empty());
        self.commands[index].pending = units.max(entries);
        let partial = [(head_partial, first), (tail_partial, last)];
        for (_, unit) in partial.into_iter().filter(|(is_partial, _)| *is_partial) {
            self.write_in_part(index, unit)?;
        }
        if !whole.is_empty() {
            self.place_or_stall(self.entry(index, whole.start, whole.end))?;
        }
        Ok(())
    }

    fn completes_at_program(&self) -> bool {
        self.write_completion == WriteCompletion::Program
    }

    pub(super) fn entry(&self, command: u32, next: u32, end: u32) -> WriteEntry {
        self.entry_of(Source::Host, command, next, end)
    }

    pub(super) fn entry_of(&self, source: Source, command: u32, next: u32, end: u32) -> WriteEntry {
        WriteEntry {
            source,
            command,
            next,
            end,
            merged_with: None,
            damage: None,
            clean: self.ftl.knows_clean() && self.writes_clean(source, command),
            had_turn: false,
            begun: false,
            merge: NONE,
            allocation_stall: Ns::ZERO,
            buffer_stall: Ns::ZERO,
            stalled: (self.now, Cause::BufferStall),
        }
    }

    /// Forgets the whole units of a range; parts of units at its ends are ignored, as devices may.
    pub(crate) fn start_trim(&mut self, index: u32) -> Result<(), SimulationError> {
        let command = self.commands[index];
        let per_unit = u64::from(self.geometry.sectors_per_unit());
        let (begin, end) = (command.lba, command.lba + u64::from(command.sectors));
        let whole = begin.div_ceil(per_unit)..end / per_unit;
        let covered = whole.end.saturating_sub(whole.start) * per_unit;
        self.counters.trim_sectors_ignored += u64::from(command.sectors) - covered;
        for unit in whole {
            let lpa = Lpa(unit as u32);
            let old = self.ftl.trim(lpa);
            if old != Ppa::UNMAPPED {
                self.touch_gc_of(old);
            }
            observe!(self, Event::UnitTrimmed { slot: index, lpa, old });
            self.overtake_flush_reads(lpa);
            if self.reliability.is_some() {
                self.repair(lpa)?;
            }
        }
        self.complete(index, Parts::default(), NONE)
    }

    // ---- units written in part -------------------------------------------------------------------

    /// Reads the rest of a unit, unless the controller has it or there is none.
    pub(super) fn write_in_part(&mut self, index: u32, unit: u32) -> Result<(), SimulationError> {
        let ppa = self.ftl.translate(Lpa(unit));
        let on_media = ppa != Ppa::UNMAPPED && !self.ftl.is_in_flight(ppa);
        if on_media {
            return self.queue_read_modify_write(index, unit, ppa, None);
        }
        if ppa == Ppa::UNMAPPED {
            self.counters.read_modify_write_unmapped += 1;
        } else {
            self.counters.read_modify_write_forwarded += 1;
        }
        let merged_with = Some(self.ftl.residence(ppa));
        self.place_or_stall(WriteEntry { merged_with, ..self.entry(index, unit, unit + 1) })
    }

    /// Reads the rest of a unit; `before` says where its time went up to its turn, if that had come.
    fn queue_read_modify_write(
        &mut self,
        command: u32,
        unit: u32,
        ppa: Ppa,
        before: Option<Parts>,
    ) -> Result<(), SimulationError> {
        self.counters.read_modify_write_reads += 1;
        let merge = self.transactions.merges.insert(before.unwrap_or_default());
        let record = self.transactions.units.insert(UnitRecord {
            lpa: Lpa(unit),
            parent: command,
            taken_from: self.ftl.residence(ppa),
            merge,
            had_turn: before.is_some(),
            ..UnitRecord::default()
        });
        self.queue_read(Transaction::merge_read(ppa, record))
    }

    /// The rest of a unit is there.
    pub(crate) fn read_modify_write_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let index = self.transactions.slab[transaction].records();
        let record = self.transactions.units[index];
        self.transactions.units.remove(index);
        let damage = self.harm_of(transaction, 0);
        let track = &self.transactions.tracks[transaction as usize];
        let parts = &mut self.transactions.merges[record.merge];
        track.add_waits(parts, self.reliability.is_some());
        parts.add(Cause::ReadModifyWrite, track.command_array + track.transfer);
        self.transactions.slab.remove(transaction);
        let entry = self.entry(record.parent, record.lpa.0, record.lpa.0 + 1);
        let UnitRecord { taken_from, merge, had_turn, .. } = record;
        self.place_or_stall(WriteEntry { merged_with: Some(taken_from), damage, merge, had_turn, ..entry })
    }

    /// Whether a unit lies elsewhere than when its content was read for merging: another write changed it, or
    /// garbage collection moved it, which places alone do not tell apart. A newer content that the controller
    /// holds (or none) is merged at once; one that is on the media must be read.
    #[inline]
    fn must_read_again(&self, entry: &WriteEntry) -> bool {
        let Some(merged_with) = entry.merged_with else { return false };
        let current = self.ftl.translate(Lpa(entry.next));
        self.ftl.residence(current) != merged_with && current != Ppa::UNMAPPED && !self.ftl.is_in_flight(current)
    }

    /// Whether a unit written in part is merged with what was read for it, not with something newer, or with nothing.
    fn is_merged_with_what_was_read(&self, entry: &WriteEntry) -> bool {
        entry.merged_with.is_some_and(|read| self.ftl.resides(Lpa(entry.next), read))
    }

    /// What a unit written in part is merged with when it is placed now.
    fn content_merged_with(&self, entry: &WriteEntry) -> MergedWith {
        let Some(read) = entry.merged_with else { return MergedWith::Nothing };
        let current = self.ftl.translate(Lpa(entry.next));
        if current == Ppa::UNMAPPED {
            MergedWith::Zeros
        } else if self.ftl.is_in_flight(current) {
            MergedWith::Controller(current)
        } else {
            MergedWith::Read(read.place)
        }
    }

    /// Sectors of the host in each unit of an entry.
    fn sectors_of_each(&self, entry: &WriteEntry) -> u64 {
        let per_unit = u64::from(self.geometry.sectors_per_unit());
        if entry.merged_with.is_none() {
            return per_unit;
        }
        let command = &self.commands[entry.command];
        let first = u64::from(entry.next) * per_unit;
        (command.lba + u64::from(command.sectors)).min(first + per_unit) - command.lba.max(first)
    }

    // ---- placing -----------------------------------------------------------------------------------

    /// Places the units of an entry, behind those that wait already. One whose turn had come keeps it.
    pub(super) fn place_or_stall(&mut self, mut entry: WriteEntry) -> Result<(), SimulationError> {
        let before_it = if entry.had_turn { self.with_turn() } else { self.stalled.len() };
        if before_it == 0 {
            match self.place(&mut entry)? {
                Placing::Done => return self.entry_placed(&entry),
                Placing::ReadsAgain | Placing::GoesAbove | Placing::NotWanted => return Ok(()),
                Placing::Waits => {}
            }
        }
        let cause = if self.ftl.has_space_anywhere(entry.clean) { Cause::BufferStall } else { Cause::AllocationStall };
        entry.stalled = (self.now, cause);
        if self.stalled.is_empty() {
            self.stalls.begin(self.now);
        }
        self.stalled.insert(before_it, entry);
        if entry.source == Source::Host {
            let stalls = &mut self.counters;
            *(if cause == Cause::BufferStall { &mut stalls.buffer_stalls } else { &mut stalls.allocation_stalls }) += 1;
            observe!(self, Event::WriteStalled { slot: entry.command, lpa: Lpa(entry.next), cause });
        }
        self.touch_gc_of_full_pools();
        Ok(())
    }

    /// How many that wait had their turn before, or have it in a page that is theirs alone: they are first in the line.
    fn with_turn(&self) -> usize {
        let alone = self.completes_at_program();
        self.stalled.iter().take_while(|entry| entry.had_turn || alone && entry.begun).count()
    }

    /// While writes wait, every pool that cannot take them reconsiders: it may not have been asked since the
    /// last write that made a unit of it invalid.
    fn touch_gc_of_full_pools(&mut self) {
        for pool in self.ftl.pools_without_space() {
            self.gc_touched.set(pool.index());
        }
    }

    /// Tries the writes that wait, in order.
    pub(crate) fn retry_stalled_writes(&mut self) -> Result<(), SimulationError> {
        while let Some(mut entry) = self.stalled.front().copied() {
            let (since, cause) = entry.stalled;
            let waited = self.now - since;
            match cause {
                Cause::AllocationStall => entry.allocation_stall += waited,
                _ => entry.buffer_stall += waited,
            }
            entry.stalled.0 = self.now;
            match self.place(&mut entry)? {
                Placing::Waits => {
                    if let Some(front) = self.stalled.front_mut() {
                        *front = entry;
                    }
                    self.touch_gc_of_full_pools();
                    return Ok(());
                }
                Placing::ReadsAgain | Placing::GoesAbove | Placing::NotWanted => drop(self.stalled.pop_front()),
                Placing::Done => {
                    self.stalled.pop_front();
                    self.entry_placed(&entry)?;
                }
            }
        }
        self.stalls.end(self.now);
        Ok(())
    }

    /// Places as many units as can be.
    fn place(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        match entry.source {
            Source::Migration => return self.place_migrated(entry),
            Source::Scrub => return self.place_healed(entry),
            _ => {}
        }
        if self.page_is_above(entry.next) {
            self.transactions.take_merge(entry.merge);
            self.redirect_write(entry.command, entry.next)?;
            return Ok(Placing::GoesAbove);
        }
        if self.must_read_again(entry) {
            self.counters.read_modify_write_repeated += 1;
            let before = self.parts_before_placing(entry);
            self.queue_read_modify_write(entry.command, entry.next, self.ftl.translate(Lpa(entry.next)), Some(before))?;
            return Ok(Placing::ReadsAgain);
        }
        if entry.damage.is_some() && !self.is_merged_with_what_was_read(entry) {
            entry.damage = None;
        }
        let chained = self.completes_at_program();
        let merged_with = if K::ACTIVE { self.content_merged_with(entry) } else { MergedWith::Nothing };
        let sectors = self.sectors_of_each(entry);
        // Another part of the command may yet read the rest of a unit, and wait for the program of what is written here.
        let may_wait_for_it = !chained && self.commands[entry.command].pending > 1;
        while entry.next < entry.end {
            let lpa = Lpa(entry.next);
            let clean = entry.clean && self.may_stay_clean(entry);
            let Some(placed) = self.ftl.write_as(lpa, clean) else { return Ok(Placing::Waits) };
            let stall_cause = entry.stalled.1;
            let record =
                UnitRecord { lpa, parent: entry.command, merge: entry.merge, stall_cause, ..UnitRecord::default() };
            let Placed { old, new, .. } = placed;
            observe!(self, Event::UnitWritten { slot: entry.command, lpa, old, new, merged_with });
            self.counters.host_sectors_placed += sectors;
            self.overtake_flush_reads(lpa);
            if self.reliability.is_some() {
                self.host_unit_written(entry, lpa)?;
            }
            if may_wait_for_it {
                self.unit_written_last(&placed, entry.command);
            }
            self.host_unit_placed(&placed, chained.then_some(record));
            entry.next += 1;
            entry.begun = true;
        }
        Ok(Placing::Done)
    }

    /// Places a page that goes down. It occupies a page of flash by itself, which is sent to its die at once: its slot
    /// is free when it is programmed.
    #[inline(never)]
    fn place_migrated(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        if self.eviction_is_void(entry.command) {
            self.eviction_ended(entry.command)?;
            return Ok(Placing::NotWanted);
        }
        if self.must_read_again(entry) {
            self.read_rest_again(entry.command)?;
            return Ok(Placing::ReadsAgain);
        }
        let merged_with = if K::ACTIVE { self.content_merged_with(entry) } else { MergedWith::Nothing };
        let lpa = Lpa(entry.next);
        let of_flash = self.is_merged_with_what_was_read(entry);
        let Some(placed) = self.ftl.take_down(lpa) else { return Ok(Placing::Waits) };
        if self.reliability.is_some() {
            self.eviction_takes_effect(entry.command, of_flash)?;
        }
        let record = UnitRecord { lpa, parent: entry.command, source: Source::Migration, ..UnitRecord::default() };
        let Placed { old, new, pool, .. } = placed;
        observe!(self, Event::EvictionPlaced { migration: entry.command, lpa, old, new, merged_with });
        self.host_unit_placed(&placed, Some(record));
        self.pad_and_send(pool, Stream::HOST)?;
        Ok(Placing::Done)
    }

    /// All units of an entry are placed: a buffered write is done with them; without a write buffer their
    /// pages go out now, full or not.
    fn entry_placed(&mut self, entry: &WriteEntry) -> Result<(), SimulationError> {
        if entry.source != Source::Host {
            return Ok(());
        }
        if self.completes_at_program() {
            return self.send_partial_pages();
        }
        let parts = self.parts_before_placing(entry);
        self.finish_part(entry.command, parts, NONE)
    }

    /// Where the time of an entry went until it is placed, or its unit is read again. What was kept of it is taken out.
    fn parts_before_placing(&mut self, entry: &WriteEntry) -> Parts {
        let mut parts = self.transactions.take_merge(entry.merge);
        parts.add(Cause::AllocationStall, entry.allocation_stall);
        parts.add(Cause::BufferStall, entry.buffer_stall);
        parts
    }

    /// One part of a write is done; the last one completes the command and gives it its parts.
    pub(crate) fn finish_part(&mut self, command: u32, parts: Parts, transaction: u32) -> Result<(), SimulationError> {
        let pending = &mut self.commands[command].pending;
        *pending -= 1;
        if *pending == 0 { self.complete(command, parts, transaction) } else { Ok(()) }
    }

    /// A unit of a command that completes at program end is on the media.
    pub(crate) fn host_unit_programmed(
        &mut self,
        record: &UnitRecord,
        transaction: u32,
    ) -> Result<(), SimulationError> {
        if record.parent == NONE {
            return Ok(());
        }
        if record.source == Source::Migration {
            return self.eviction_ended(record.parent);
        }
        let coding = if self.reliability.is_some() {
            self.transactions.tracks[transaction as usize].coding.time
        } else {
            Ns::ZERO
        };
        let mut parts = self.transactions.take_merge(record.merge);
        let command = &self.commands[record.parent];
        let queued = self.transactions.slab[transaction].queued;
        let track = &self.transactions.tracks[transaction as usize];
        // Between the command's data and the queueing of its page lie the read of the rest of its unit, and stalls.
        parts.add(record.stall_cause, queued - command.mark - Ns(parts.total()));
        track.add_waits(&mut parts, false);
        parts.add(Cause::Transfer, track.transfer);
        parts.add(Cause::Encode, coding);
        parts.add(Cause::CommandArray, self.now - track.mark - track.transfer - coding);
        self.finish_part(record.parent, parts, transaction)
    }
}

const _: () = assert!(SECTOR_BYTES == 512);
