//! Pages go to their dies before they are full where something sends them out, and what waits for their programs is told.

use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Cause, DieId, Pool, Source, Stream};

use super::kind::Kind;
use super::{Device, Flow};
use crate::error::SimulationError;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::tier::TierPart;
use crate::transaction::{FlushEpoch, UnitRecord};

impl<K: Kind> Device<K> {
    /// Pads the open page of a stream, if it is partly filled, and sends it and the filled pages before it
    /// in its stripe. Returns whether anything was sent.
    pub(super) fn pad_and_send(&mut self, pool: Pool, stream: Stream) -> Result<bool, SimulationError> {
        let Some(padded) = self.flash.pad(&mut self.run, pool, stream) else {
            return Ok(self.flash.send_filled(&mut self.run, pool, stream));
        };
        observe!(self, Event::Padded { last: padded.last });
        self.flash.send_padded(&mut self.run, pool, stream, &padded);
        Ok(true)
    }

    /// Pads and sends every open page the host wrote into.
    pub(super) fn send_partial_pages(&mut self) -> Result<(), SimulationError> {
        for pool in (0..self.flash.geometry().pools()).map(Pool) {
            for stream in self.flash.host_streams() {
                self.pad_and_send(pool, stream)?;
            }
        }
        Ok(())
    }

    /// The same of those alone that hold something a write waits for.
    #[inline(never)]
    pub(super) fn send_awaited_pages(&mut self) -> Result<(), SimulationError> {
        for pool in (0..self.flash.geometry().pools()).map(Pool) {
            for stream in self.flash.host_streams() {
                if self.flash.has_awaited_pages(pool, stream) {
                    self.pad_and_send(pool, stream)?;
                }
            }
        }
        Ok(())
    }

    /// The oldest deadline of a partly filled page has come.
    pub(super) fn page_timer_woke(&mut self) -> Result<(), SimulationError> {
        while let Some((pool, stream)) = self.flash.next_overdue_page(&mut self.run) {
            if self.pad_and_send(pool, stream)? {
                self.run.counters.page_timeouts += 1;
            }
        }
        Ok(())
    }

    // ---- ends --------------------------------------------------------------------------------------

    /// The array phase of a program command ended.
    pub(super) fn pages_programmed(&mut self, die: DieId, command: &FlashCommand) -> Result<(), SimulationError> {
        let of_host = self.run.count_programs(command, self.flash.nand().pages_of(command));
        if command.copies {
            self.copybacks_ended(command);
        }
        let failed = if self.flash.blocks_break() { self.draw_failures(command)? } else { 0 };
        for plane in command.addressed_planes() {
            if failed >> plane & 1 == 1 {
                continue;
            }
            let index = command.transaction[plane];
            let transaction = self.run.transactions.slab[index];
            if transaction.source == Source::Rebuild {
                self.page_rebuilt(index)?;
                continue;
            }
            if let Some(group) = self.flash.page_programmed(&self.run, index) {
                self.group_begun(group);
            }
            if transaction.source == Source::Parity {
                self.run.transactions.slab.remove(index);
                continue;
            }
            if of_host {
                self.flash.unbuffer_pages(&mut self.run, die, index);
                self.finish_host_units(index)?;
                if transaction.source != Source::Mapping {
                    self.flush_program_ended(transaction.flush_epoch())?;
                }
            } else {
                self.finish_moves(index)?;
            }
            if self.flash.blocks_break() {
                self.run.transactions.drop_failing(index);
            }
            self.run.transactions.slab.remove(index);
            if self.flow == Flow::Zoned {
                self.zone_page_programmed(transaction.ppa());
            }
        }
        if failed == 0 { Ok(()) } else { self.program_again(die, command, failed) }
    }

    fn finish_host_units(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let mut unit = self.run.transactions.slab[transaction].records();
        while unit != NONE {
            let record = self.run.transactions.units[unit];
            self.run.transactions.units.remove(unit);
            self.host_unit_programmed(&record, transaction)?;
            unit = record.next;
        }
        Ok(())
    }

    /// A unit of a command that completes at program end is on the media.
    fn host_unit_programmed(&mut self, record: &UnitRecord, transaction: u32) -> Result<(), SimulationError> {
        if record.parent == NONE {
            return Ok(());
        }
        if record.source == Source::Migration {
            return self.eviction_ended(record.parent);
        }
        let mut parts = self.run.transactions.take_merge(record.merge);
        // Between the command's data and the queueing of its page lie the read of the rest of its unit, and stalls.
        let set_out = self.host.command(record.parent).mark;
        let failing = self.run.transactions.failing(transaction);
        let until = self.run.queued_first(transaction);
        let stalled = until - set_out - Ns(parts.total());
        parts.add(record.stall_cause, stalled);
        self.unit_stalled(record, (until - stalled, until));
        parts.add(Cause::ProgramFailure, failing);
        self.run.transactions.add_write(transaction, self.run.now, &mut parts);
        self.finish_part(record.parent, &mut parts, transaction)
    }

    /// A unit of a command of a tenant waited in that time for its place: behind whom.
    pub(super) fn unit_stalled(&mut self, record: &UnitRecord, span: (Ns, Ns)) {
        let partition = self.flash.partition_of(record.lpa);
        let Some(tenants) = &mut self.run.transactions.tenants else { return };
        let time = span.1 - span.0;
        if record.stall_cause == Cause::BufferStall {
            tenants.stalled(record.parent, span, time);
        } else {
            tenants.waited_for_space(record.parent, partition, span, time);
        }
    }

    // ---- FLUSH -------------------------------------------------------------------------------------

    /// Pads and sends every open page the host wrote into, and waits for their programs.
    pub(super) fn start_flush(&mut self, index: u32) -> Result<(), SimulationError> {
        self.host.sets_out(index, self.run.now);
        if self.flow == Flow::Zoned {
            // What zones took is safe in the controller, and nobody pads what lies before a write pointer.
            return self.complete(index, &mut Parts::default(), NONE);
        }
        if self.flash.blocks_break() && self.flash.keeps_pages() {
            self.refuse(index)?;
        }
        self.send_partial_pages()?;
        if self.tier.as_ref().is_some_and(TierPart::is_volatile) {
            self.tiered().flush_comes(index);
            return self.complete_drained_flushes();
        }
        self.flash.close_epoch(index);
        self.complete_flushes()
    }

    /// What was dirty in a volatile medium above is below: programs that others wait for are left.
    pub(super) fn complete_drained_flushes(&mut self) -> Result<(), SimulationError> {
        while let Some(command) = self.tiered().next_drained_flush() {
            if let Some(tenants) = &mut self.run.transactions.tenants {
                tenants.drained(command, self.run.now);
            }
            self.flash.close_epoch(command);
            self.complete_flushes()?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn flush_program_ended(&mut self, epoch: FlushEpoch) -> Result<(), SimulationError> {
        if self.flash.flush_program_ended(epoch) { self.complete_flushes() } else { Ok(()) }
    }

    fn complete_flushes(&mut self) -> Result<(), SimulationError> {
        while let Some(command) = self.flash.next_finished_flush() {
            let mut parts = Parts::default();
            let came = self.host.command(command).mark;
            parts.add(Cause::ProgramWait, self.run.now - came);
            if let Some(tenants) = &mut self.run.transactions.tenants {
                tenants.flushed(command, (came, self.run.now));
            }
            self.complete(command, &mut parts, NONE)?;
        }
        Ok(())
    }
}
