//! A command completes: its parts are closed, counted and checked.

use ninescope_kernel::NONE;
use ninescope_model::{CacheHint, Cause, Op, SECTOR_BYTES};

use super::RequestLogEntry;
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::meter::Parts;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// Completes a command. `parts` are those of its critical chain since the command left the front
    /// stages (host queue, processor, link towards the device), which are added here. `transaction` is its page
    /// access, `NONE` where it has none.
    pub(crate) fn complete(&mut self, index: u32, mut parts: Parts, transaction: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let command = self.commands[index];
        parts.add(Cause::HostQueue, command.host_queue);
        parts.add(Cause::CommandProcessing, command.processing);
        parts.add(Cause::Link, command.link_in);
        let latency = now - command.submitted;
        if parts.total() != latency.0 {
            return Err(SimulationError::Attribution {
                at: now,
                id: command.id,
                parts: parts.total(),
                latency: latency.0,
            });
        }
        self.digest.word(now.0);
        self.digest.word(command.id << 8 | command.op as u64);
        if command.hint == CacheHint::FlushRead && !self.flush_reads.is_empty() {
            self.flush_read_completes(index, &command)?;
        }
        if command.shares != NONE {
            self.own_parts.release(command.shares);
        }
        self.commands.remove(index);
        let awaited = self.host.is_awaited(now);
        self.host.completed(command.lane, command.op, now);
        self.note_completion();
        if self.reliability.is_some() {
            self.reliable_command_completed(&command);
        }
        if self.host.completed <= self.host.warmup_requests {
            let (id, request) = (command.id, command.request());
            observe!(self, Event::Completed { slot: index, id, request, parts: &parts, transaction });
            if self.host.completed == self.host.warmup_requests {
                self.begin_measuring();
                observe!(self, Event::MeasuringBegan);
            }
            return Ok(());
        }
        let bytes = match command.op {
            Op::Read | Op::Write | Op::Trim => u64::from(command.sectors) * SECTOR_BYTES,
            Op::Flush => 0,
        };
        if self.meter.series.is_over(now) {
            let written = self.written();
            self.meter.series.note_written(written);
        }
        self.meter.record(command.op, now, latency, command.host_queue, bytes, &parts);
        self.meter.record_of_lane(command.lane, command.op, now, latency, command.host_queue, bytes);
        if self.host.is_open(command.lane) {
            self.meter.backlogs[command.lane as usize].record(command.submitted, latency);
            if self.meter.busy.is_due() {
                self.note_busy();
            }
        }
        if awaited {
            self.meter.queue_holders.slot_left(now, self.host.depth(), command.op, &parts);
        }
        if let Some(part) = &self.tier {
            self.meter.series.note_tier(part.sample());
        }
        if command.hint != CacheHint::None {
            let moved = if command.op == Op::Trim { 0 } else { bytes };
            self.meter.record_hint(command.hint, latency, moved);
        }
        let (id, request) = (command.id, command.request());
        observe!(self, Event::Completed { slot: index, id, request, parts: &parts, transaction });
        if let Some(log) = &mut self.log {
            log.push(RequestLogEntry {
                id: command.id,
                submitted: command.submitted,
                latency,
                host_queue: command.host_queue,
                lba: command.lba,
                sectors: command.sectors,
                op: command.op,
                lane: command.lane,
            });
        }
        Ok(())
    }
}
