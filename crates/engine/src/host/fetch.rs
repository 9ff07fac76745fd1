//! From the host's queue through the controller's processor and the link to the flow.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::{Op, Request, SECTOR_BYTES};
use ninescope_workload::Arrival;

use super::HostCommand;
use super::command::command_link;
use crate::device::{Device, Flow};
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::transaction::QueueClass;

impl<K: Kind> Device<K> {
    /// Takes in every command that has arrived and has room.
    #[inline]
    pub(crate) fn fetch_commands(&mut self) -> Result<(), SimulationError> {
        loop {
            if self.host.waiting > 0 {
                self.begin_lanes()?;
            }
            let Some(lane) = self.host.ready_lane(self.now) else { return Ok(()) };
            self.fetch(lane)?;
        }
    }

    /// Begins every lane whose time has come.
    fn begin_lanes(&mut self) -> Result<(), SimulationError> {
        let now = self.now;
        while let Some(lane) = self.host.beginning_lane(now) {
            self.host.begin_lane(lane, now)?;
            self.meter.lane_began(lane, now);
        }
        Ok(())
    }

    /// Sets the wake-up for the next arrival, when everything of an instant is done: a command that completed
    /// last may have made room.
    #[inline]
    pub(crate) fn await_arrival(&mut self) {
        if !self.host.waits_for_time {
            return;
        }
        // Never in the past: what has arrived was taken in before.
        let arrival = self.resources.arrival();
        let wake = self.host.next_wake(self.now);
        debug_assert!(wake.is_none_or(|at| at > self.now), "time goes on");
        if self.queue.wake_time(arrival) != wake.unwrap_or(Ns::NEVER) {
            match wake {
                Some(at) => self.queue.schedule(arrival, at),
                None => self.queue.cancel(arrival),
            }
        }
    }

    /// Time has come for something. Arrivals and lanes that begin are handled before time moves on, as every
    /// fetch is.
    pub(crate) fn arrival_woke(&mut self) -> Result<(), SimulationError> {
        if self.host.warmup_until.is_some_and(|until| until <= self.now) {
            self.host.warmup_until = None;
            self.host.warmup_requests = 0;
            self.begin_measuring();
            observe!(self, Event::MeasuringBegan);
        }
        Ok(())
    }

    fn fetch(&mut self, lane: usize) -> Result<(), SimulationError> {
        let now = self.now;
        let Some(request) = self.host.lanes[lane].next else { return Ok(()) };
        let id = self.host.submitted;
        self.check_address(id, request.end())?;
        let submitted = if self.host.lanes[lane].arrival == Arrival::Open { request.submitted } else { now };
        if submitted < now {
            self.meter.queue_holders.slot_taken(now);
        }
        self.host.taken_in(lane, request.op, now);
        self.host.advance(lane)?;
        let index = self.commands.insert(HostCommand {
            id,
            lba: request.lba.0,
            sectors: request.sectors,
            op: request.op,
            lane: lane as u16,
            hint: request.hint,
            submitted,
            mark: now,
            host_queue: now - submitted,
            ..HostCommand::default()
        });
        observe!(
            self,
            Event::Fetched { slot: index, id, lane: lane as u16, request: Request { submitted, ..request } }
        );
        if request.op != Op::Flush {
            // Translated when the processor is through: by then the line is there.
            self.ftl.prefetch(self.unit_of(request.lba.0));
        }
        if self.command_cost() == Ns::ZERO {
            return self.command_processed(index);
        }
        let stage = &mut self.processor;
        let begins = stage.free_at.max(now);
        stage.free_at = begins + self.host.command_cost;
        stage.busy += self.host.command_cost;
        let first = stage.queue.is_empty();
        stage.queue.push_back(&mut self.commands, index, command_link);
        let passes = self.processor.free_at;
        self.commands[index].processing = passes - now;
        self.commands[index].mark = passes;
        if first {
            self.queue.schedule(self.resources.processor(), passes);
        }
        Ok(())
    }

    fn command_cost(&self) -> Ns {
        self.host.command_cost
    }

    fn check_address(&self, index: u64, end: u64) -> Result<(), SimulationError> {
        let sectors = self.host_sectors;
        if end <= sectors {
            return Ok(());
        }
        Err(SimulationError::BeyondDrive { index, end, sectors, bytes: sectors * SECTOR_BYTES })
    }

    /// The processor is through with the first command of its queue.
    pub(crate) fn processor_woke(&mut self) -> Result<(), SimulationError> {
        let stage = &mut self.processor;
        let Some(index) = stage.queue.pop_front(&mut self.commands, command_link) else { return Ok(()) };
        if !stage.queue.is_empty() {
            let next = self.commands[stage.queue.head()].mark;
            self.queue.schedule(self.resources.processor(), next);
        }
        self.command_processed(index)
    }

    fn command_processed(&mut self, index: u32) -> Result<(), SimulationError> {
        match self.commands[index].op {
            Op::Read => match self.flow {
                Flow::Flash => self.start_read(index),
                Flow::Scm => self.start_on_scm(index, QueueClass::HostRead),
                Flow::Tier => self.start_tiered_read(index),
            },
            Op::Trim => match self.flow {
                Flow::Flash => self.start_trim(index),
                Flow::Scm => self.trim_on_scm(index),
                Flow::Tier => self.start_tiered_trim(index),
            },
            Op::Flush => self.start_flush(index),
            Op::Write => self.enter_link_in(index),
        }
    }

    /// The data of a write is in the controller.
    #[inline]
    fn write_data_arrived(&mut self, index: u32) -> Result<(), SimulationError> {
        match self.flow {
            Flow::Flash => self.start_write(index),
            Flow::Scm => self.start_on_scm(index, QueueClass::HostProgram),
            Flow::Tier => self.start_tiered_write(index),
        }
    }

    /// Write data crosses the link, commands in their order.
    fn enter_link_in(&mut self, index: u32) -> Result<(), SimulationError> {
        let now = self.now;
        let time = self.link_out.rate().burst(u64::from(self.commands[index].sectors) * SECTOR_BYTES);
        let stage = &mut self.link_in;
        let arrives = stage.free_at.max(now) + time;
        stage.free_at = arrives;
        stage.busy += time;
        observe!(self, Event::LinkIn { slot: index, from: arrives - time, until: arrives });
        self.commands[index].link_in = arrives - now;
        self.commands[index].mark = arrives;
        if arrives == now {
            return self.write_data_arrived(index);
        }
        let stage = &mut self.link_in;
        let first = stage.queue.is_empty();
        stage.queue.push_back(&mut self.commands, index, command_link);
        if first {
            self.queue.schedule(self.resources.link_in(), arrives);
        }
        Ok(())
    }

    /// The data of the first command of the link's queue has arrived.
    pub(crate) fn link_in_woke(&mut self) -> Result<(), SimulationError> {
        let stage = &mut self.link_in;
        let Some(index) = stage.queue.pop_front(&mut self.commands, command_link) else { return Ok(()) };
        if !stage.queue.is_empty() {
            let next = self.commands[stage.queue.head()].mark;
            self.queue.schedule(self.resources.link_in(), next);
        }
        self.write_data_arrived(index)
    }
}
