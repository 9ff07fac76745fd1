//! A command completes: its parts are closed, counted and checked.

use ninescope_kernel::Ns;
use ninescope_model::{CacheHint, Cause, DriveErase, Op, Request, SECTOR_BYTES, ZoneCommand};

use super::{Host, HostCommand, RequestLogEntry};
use crate::error::SimulationError;
use crate::meter::Parts;
use crate::run::Run;

impl HostCommand {
    /// Adds the parts of the front stages: host queue, processor, link towards the device.
    #[inline]
    fn add_front_parts(&self, parts: &mut Parts) {
        parts.add(Cause::HostQueue, self.host_queue);
        parts.add(Cause::CommandProcessing, self.processing);
        parts.add(Cause::Link, self.link_in);
    }

    /// The latency of a command whose parts are all there.
    ///
    /// # Errors
    /// Where they do not sum to that.
    #[inline]
    pub fn latency<Q>(&self, run: &mut Run<Q>, parts: &Parts) -> Result<Ns, SimulationError> {
        let (at, id, latency) = (run.now, self.id, run.now - self.submitted);
        if parts.total() != latency.0 {
            return Err(SimulationError::Attribution { at, id, parts: parts.total(), latency: latency.0 });
        }
        run.digest.word(at.0);
        run.digest.word(id << 8 | self.op as u64);
        Ok(latency)
    }

    /// Whether it was answered with an error and nothing was done for it. A read of which something is lost was done.
    pub fn has_failed(&self) -> bool {
        self.refused.is_some() || self.aborted || (self.reported && self.op != Op::Read)
    }

    /// Bytes of the host that it read, wrote or trimmed.
    pub fn bytes(&self) -> u64 {
        match self.op {
            _ if self.has_failed() || self.remark.erase() != DriveErase::None => 0,
            // What manages a zone moves nothing.
            Op::Trim if self.remark.zone() != ZoneCommand::None => 0,
            Op::Read | Op::Write | Op::Trim => u64::from(self.sectors) * SECTOR_BYTES,
            Op::Flush => 0,
        }
    }
}

impl Host {
    /// Closes the parts of a command with those of the front stages.
    #[inline]
    pub fn close_parts(&self, command: &HostCommand, parts: &mut Parts) {
        command.add_front_parts(parts);
        if self.front.awake_at.is_some() {
            self.add_waking(command, parts);
        }
    }

    /// Adds how long it waited until the drive was awake: in front of the processor, or before it was fetched.
    #[inline(never)]
    fn add_waking(&self, command: &HostCommand, parts: &mut Parts) {
        let waking = self.waking_time(command);
        parts.add(Cause::Waking, waking);
        if !self.fetches() {
            parts.take(Cause::CommandProcessing, waking);
        }
    }

    /// What the host asked for with a command that is inside, which may be a part of it.
    pub fn request_of(&self, index: u32) -> Request {
        let whole = self.front.protocol.as_ref().map(|protocol| protocol.request_of(index));
        whole.unwrap_or_else(|| self.commands[index].request())
    }

    /// Whether a request may be something else than one command.
    #[inline]
    pub fn has_protocol(&self) -> bool {
        self.front.protocol.is_some()
    }

    /// A command leaves the device. Returns whether a request waits for its place since before now.
    #[inline]
    pub fn leaves(&mut self, now: Ns, index: u32, command: &HostCommand) -> bool {
        self.commands.remove(index);
        let awaited = self.front.is_awaited(now);
        self.front.completed(command.lane, command.op, now);
        self.latest_completion = now;
        awaited
    }

    /// Whether the completion of the command that left last is measured.
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.front.completed > self.front.warmup_requests
    }

    /// Whether it was the last one that is not.
    #[inline]
    pub fn ends_warmup(&self) -> bool {
        self.front.completed == self.front.warmup_requests
    }

    /// Whether measuring begins now, because its time has come.
    pub fn warmup_time_ends(&mut self, now: Ns) -> bool {
        let ends = self.front.warmup_until.is_some_and(|until| until <= now);
        if ends {
            self.front.warmup_until = None;
            self.front.warmup_requests = 0;
        }
        ends
    }

    /// Takes a completed command into what is measured. Returns whether resources are to be asked how busy they were.
    #[inline]
    pub fn record<Q>(&self, run: &mut Run<Q>, command: &HostCommand, latency: Ns, parts: &Parts) -> bool {
        let (now, bytes) = (run.now, command.bytes());
        run.meter.record(command.op, now, latency, command.host_queue, bytes, parts);
        if let Some(tenants) = &run.transactions.tenants {
            let (who, times) = ((command.lane, command.op), (latency, command.host_queue));
            run.meter.record_of_lane(who, now, times, bytes, (parts, tenants.last()));
        }
        if bytes == 0 && command.has_failed() {
            run.meter.record_failed(command.lane, command.op);
        }
        let hint = command.remark.hint();
        if hint != CacheHint::None {
            let moved = if command.op == Op::Trim { 0 } else { bytes };
            run.meter.record_hint(hint, latency, moved);
        }
        if !self.front.is_open(command.lane) {
            return false;
        }
        run.meter.backlogs[command.lane as usize].record(command.submitted, latency);
        run.meter.busy.is_due()
    }

    /// A command that left made room for a request that had waited.
    #[inline]
    pub fn made_room<Q>(&self, run: &mut Run<Q>, op: Op, parts: &Parts) {
        run.meter.queue_holders.slot_left(run.now, self.front.depth(), op, parts);
    }

    /// Logs a completed command, if they are to be logged.
    #[inline]
    pub fn log(&mut self, command: &HostCommand, latency: Ns) {
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
    }
}
