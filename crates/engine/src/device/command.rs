//! A command from the host's queue to its completion: what each owner in its way is told.

use ninescope_kernel::{NONE, Ns};
use ninescope_model::{CacheHint, Op};

use super::kind::Kind;
use super::{Device, Flow};
use crate::error::SimulationError;
use crate::firmware::Decision;
use crate::host::HostCommand;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::transaction::QueueClass;

impl<K: Kind> Device<K> {
    // ---- in ----------------------------------------------------------------------------------------

    /// Takes in every command that has arrived and has room.
    #[inline]
    pub(super) fn fetch_commands(&mut self) -> Result<(), SimulationError> {
        loop {
            self.host.begin_lanes(&mut self.run)?;
            let Some(lane) = self.host.ready_lane(self.run.now) else { return Ok(()) };
            self.fetch(lane)?;
        }
    }

    /// Takes in the next command of a lane, or of its queue.
    fn fetch(&mut self, lane: usize) -> Result<(), SimulationError> {
        let Some((index, mut request)) = self.host.fetch(&mut self.run, lane)? else { return Ok(()) };
        if self.flow == Flow::Tier {
            self.tiered().host_comes();
            if request.op == Op::Write && self.tiered().acknowledges_at_program() {
                request.fua = true;
                self.host.asks_for_media(index);
            }
        }
        self.trims_wait();
        let HostCommand { id, lane, .. } = *self.host.command(index);
        self.run.counters.fua_writes += u64::from(request.fua);
        if K::ACTIVE {
            let (queue, mut whole) = (self.host.queue_of(index), self.host.request_of(index));
            whole.fua |= request.fua;
            observe!(self, Event::Fetched { slot: index, id, lane, queue, request, whole });
        }
        if self.run.power.is_some() {
            self.command_finds_power()?;
        }
        // The one that is read ahead is translated some events later: by then the line is there.
        if let Some(next) = self.host.next_address(lane as usize) {
            self.flash.ftl().prefetch(self.flash.unit_of(next));
        }
        if self.host.has_protocol() && self.host.comes_later(&mut self.run, index) {
            return Ok(());
        }
        self.enter_processor(index)
    }

    #[inline]
    pub(super) fn enter_processor(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.host.enter_processor(&mut self.run, index) { self.command_processed(index) } else { Ok(()) }
    }

    pub(super) fn processor_woke(&mut self) -> Result<(), SimulationError> {
        let Some(index) = self.host.processor_woke(&mut self.run) else { return Ok(()) };
        self.command_processed(index)
    }

    fn command_processed(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.run.firmware.is_some() && self.run.decides_later(Decision::Command, index, 1) {
            return Ok(());
        }
        self.take_up_command(index)
    }

    /// What a command asks for is known.
    #[inline]
    pub(super) fn take_up_command(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.whole_erase.is_some() && self.is_aborted(index)? {
            return Ok(());
        }
        match self.host.command(index).op {
            Op::Read => match self.flow {
                Flow::Flash => self.start_read(index),
                Flow::FlashByMemory => self.look_up_in_dram(index),
                Flow::Scm => self.start_on_scm(index, QueueClass::HostRead),
                Flow::Tier if self.waits_for_memory => self.tiered_read_looks_up(index),
                Flow::Tier => self.start_tiered_read(index),
                Flow::Zoned => self.zoned_read_comes(index),
            },
            Op::Trim if self.erases_drive(index) => self.start_whole_erase(index),
            Op::Trim => match self.flow {
                Flow::Flash => self.start_trim(index),
                Flow::FlashByMemory => self.trim_looks_up(index),
                Flow::Scm => self.trim_on_scm(index),
                Flow::Tier => self.start_tiered_trim(index),
                Flow::Zoned => self.zone_is_managed(index),
            },
            Op::Flush => self.start_flush(index),
            Op::Write => {
                if self.flow == Flow::Zoned {
                    self.zoned_writes.0 += 1;
                }
                self.enter_link_in(index)
            }
        }
    }

    fn enter_link_in(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.host.has_protocol() && self.host.data_come_later(&mut self.run, index) {
            return Ok(());
        }
        let (from, until) = self.host.enter_link_in(&mut self.run, index);
        observe!(self, Event::LinkIn { slot: index, from, until });
        if until == self.run.now { self.write_data_arrived(index) } else { Ok(()) }
    }

    pub(super) fn link_in_woke(&mut self) -> Result<(), SimulationError> {
        let Some(index) = self.host.link_in_woke(&mut self.run) else { return Ok(()) };
        if self.host.has_protocol() { self.came_over_link(index) } else { self.write_data_arrived(index) }
    }

    /// The data of a write is in the controller.
    #[inline]
    pub(super) fn write_data_arrived(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.whole_erase.is_some() && self.is_aborted(index)? {
            return Ok(());
        }
        match self.flow {
            Flow::Flash => self.start_write(index),
            Flow::FlashByMemory => self.write_comes_into_dram(index),
            Flow::Scm => self.start_on_scm(index, QueueClass::HostProgram),
            Flow::Tier if self.waits_for_memory => self.tiered_write_comes_into_dram(index),
            Flow::Tier => self.start_tiered_write(index),
            Flow::Zoned => self.zoned_write_comes(index),
        }
    }

    /// Time has come for something. Arrivals and lanes that begin are handled before time moves on, as every
    /// fetch is.
    pub(super) fn arrival_woke(&mut self) -> Result<(), SimulationError> {
        if self.host.warmup_time_ends(self.run.now) {
            self.begin_measuring();
            observe!(self, Event::MeasuringBegan);
        }
        Ok(())
    }

    // ---- out ---------------------------------------------------------------------------------------

    /// A transfer towards the host has ended: one part of a read is done.
    pub(super) fn link_out_woke(&mut self) -> Result<(), SimulationError> {
        let Some((job, began)) = self.host.link_out_woke(&mut self.run) else { return Ok(()) };
        if !job.is_read() {
            return match job.message() {
                Some(message) => self.message_crossed(message, &job, began),
                None => self.write_data_crossed(&job, began),
            };
        }
        observe!(self, Event::LinkOut { slot: job.command, from: began });
        let last = self.host.part_ends(job.command);
        if self.run.transactions.tenants.is_some() {
            self.host.moved_by_tenant(&mut self.run, &job, began, last);
        }
        if last {
            let mut parts = Parts::default();
            job.add_parts(&self.run, &mut parts);
            self.complete(job.command, &mut parts, job.transaction)?;
        }
        if job.transaction != NONE {
            self.run.transactions.slab.remove(job.transaction);
        }
        Ok(())
    }

    /// One part of a command is done; the last one completes the command and gives it its parts.
    pub(super) fn finish_part(
        &mut self,
        command: u32,
        parts: &mut Parts,
        transaction: u32,
    ) -> Result<(), SimulationError> {
        if self.cuts_through() && self.host.command(command).pending == 1 {
            self.ends_without_answer(command);
        }
        self.end_part(command, parts, transaction)
    }

    /// The same of one that may be what DRAM was asked for.
    pub(super) fn end_part(
        &mut self,
        command: u32,
        parts: &mut Parts,
        transaction: u32,
    ) -> Result<(), SimulationError> {
        if self.host.part_ends(command) {
            return self.complete(command, parts, transaction);
        }
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.drop_carried();
        }
        Ok(())
    }

    /// Completes a command. `parts` are those of its critical chain since the command left the front
    /// stages. `transaction` is its page access, `NONE` where it has none.
    pub(super) fn complete(&mut self, index: u32, parts: &mut Parts, transaction: u32) -> Result<(), SimulationError> {
        let now = self.run.now;
        let command = *self.host.command(index);
        if self.waits_for_memory {
            self.add_waits_for_memory(index, parts, transaction);
        }
        if self.host.has_protocol() {
            return self.complete_by_protocol(index, *parts, transaction);
        }
        self.host.close_parts(&command, parts);
        let latency = command.latency(&mut self.run, parts)?;
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.completes(index, transaction, now);
            if self.waits_for_memory {
                self.waited_for_memory_behind(index, transaction);
            }
        }
        self.command_over(index, &command)?;
        let awaited = self.host.leaves(now, index, &command);
        self.request_ended((&command, &command), (latency, awaited), parts, (index, transaction))
    }

    /// Nothing is done for a command any more.
    #[inline]
    pub(super) fn command_over(&mut self, index: u32, command: &HostCommand) -> Result<(), SimulationError> {
        if command.remark.hint() == CacheHint::FlushRead && self.flash.has_flush_reads() {
            self.flush_read_completes(index, command)?;
        }
        self.run.transactions.command_ended(index);
        self.over_before_erase(command.id);
        Ok(())
    }

    pub(super) fn tell_completed(
        &mut self,
        command: &HostCommand,
        parts: &Parts,
        (slot, transaction): (u32, u32),
        last: bool,
    ) -> Result<(), SimulationError> {
        let (id, request) = (command.id, command.request());
        let behind = self.run.transactions.tenants.as_ref().map_or(&[][..], |tenants| tenants.last());
        observe!(self, Event::Completed { slot, id, request, parts, behind, transaction, last });
        Ok(())
    }

    /// A request is over, with the last of its commands: both as commands, which are one where each request is a command.
    #[inline]
    pub(super) fn request_ended(
        &mut self,
        (command, last): (&HostCommand, &HostCommand),
        (latency, awaited): (Ns, bool),
        parts: &Parts,
        place: (u32, u32),
    ) -> Result<(), SimulationError> {
        let now = self.run.now;
        if self.flow == Flow::Tier {
            self.host_may_begin_to_rest();
        }
        self.trims_may_begin();
        if self.host.is_over(now) {
            self.note_host_end();
        }
        self.command_completed(command);
        if !self.host.is_measured() {
            self.run.meter.completed_before(command.lane, command.bytes());
            self.tell_completed(last, parts, place, true)?;
            if self.host.ends_warmup() {
                self.begin_measuring();
                observe!(self, Event::MeasuringBegan);
            }
            return Ok(());
        }
        if self.run.meter.series.is_over(now) {
            let written = self.written();
            self.run.meter.series.note_written(written);
        }
        if self.host.record(&mut self.run, command, latency, parts) {
            self.note_busy();
        }
        if awaited {
            self.host.made_room(&mut self.run, command.op, parts);
        }
        if let Some(part) = &self.tier {
            self.run.meter.series.note_tier(part.sample());
        }
        self.tell_completed(last, parts, place, true)?;
        self.host.log(command, latency);
        Ok(())
    }

    /// A flush read is about to complete: what it read and has not changed since is clean.
    #[inline(never)]
    fn flush_read_completes(&mut self, index: u32, command: &HostCommand) -> Result<(), SimulationError> {
        while let Some((lpa, clean)) = self.flash.flush_read_ends(index, command.reported) {
            if clean {
                observe!(self, Event::UnitFlushed { slot: index, lpa });
            }
        }
        Ok(())
    }
}
