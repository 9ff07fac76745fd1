//! From the host's queue through the controller's processor and over the link, and back over it: stages that commands
//! pass one after another. Their time stamps are computed on entry.

use ninescope_kernel::{Fifo, Ns, WakeQueue};
use ninescope_model::{Arrival, Op, Request, SECTOR_BYTES};

use super::command::command_link;
use super::served::{InStage, Stage};
use super::{Host, HostCommand, LinkJob, LinkMessage};
use crate::error::SimulationError;
use crate::run::Run;

/// A stage that commands pass one after another: the processor, the link towards the device.
#[derive(Debug, Default)]
pub(super) struct SerialStage {
    /// Commands in the stage, in order.
    queue: Fifo,
    /// When the last of them has passed.
    free_at: Ns,
    /// Until then it takes nothing up, and is not in use.
    closed_until: Ns,
    /// Time in use since the counters were cleared [ns].
    busy: Ns,
    /// What is in it by tenant, where there are several.
    pub(super) by_tenant: InStage,
}

impl SerialStage {
    /// A command takes it for so long, behind those in it. Returns when it has passed.
    #[inline]
    fn take(&mut self, now: Ns, time: Ns) -> Ns {
        self.free_at = self.free_at.max(now) + time;
        self.busy += time;
        self.free_at
    }

    /// The first command in it.
    pub(super) fn first(&self) -> Option<u32> {
        (!self.queue.is_empty()).then(|| self.queue.head())
    }

    /// Nothing is in it, and nothing passes before then.
    pub(super) fn not_before(&mut self, at: Ns) {
        (self.free_at, self.closed_until) = (self.free_at.max(at), at);
    }

    /// Counts from `now` on: what is left belongs to the measured time.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.busy = self.left(now);
    }

    /// Time in use until `now`.
    pub fn busy_until(&self, now: Ns) -> Ns {
        self.busy.saturating_since(self.left(now))
    }

    /// How long what is in it takes from now on.
    fn left(&self, now: Ns) -> Ns {
        self.free_at.saturating_since(now.max(self.closed_until))
    }
}

impl Host {
    /// Begins every lane whose time has come, and submits what queues have entries for.
    #[inline]
    pub fn begin_lanes<Q>(&mut self, run: &mut Run<Q>) -> Result<(), SimulationError> {
        if self.front.waiting > 0 {
            self.begin_waiting_lanes(run)?;
        }
        if self.front.protocol.is_some() { self.submit_ahead(run) } else { Ok(()) }
    }

    fn begin_waiting_lanes<Q>(&mut self, run: &mut Run<Q>) -> Result<(), SimulationError> {
        let now = run.now;
        while let Some(lane) = self.front.beginning_lane(now) {
            self.front.begin_lane(lane, now)?;
            run.meter.lane_began(lane, now);
        }
        Ok(())
    }

    /// The lane whose command enters the device now, or its queue.
    #[inline]
    pub fn ready_lane(&self, now: Ns) -> Option<usize> {
        self.front.ready_lane(now)
    }

    /// Sets the wake-up for the next arrival, when everything of an instant is done: a command that completed
    /// last may have made room.
    #[inline]
    pub fn await_arrival<Q: WakeQueue>(&self, run: &mut Run<Q>) {
        if !self.front.waits_for_time {
            return;
        }
        // Never in the past: what has arrived was taken in before.
        let arrival = run.resources.arrival();
        let wake = self.front.next_wake(run.now);
        debug_assert!(wake.is_none_or(|at| at > run.now), "time goes on");
        if run.queue.wake_time(arrival) != wake.unwrap_or(Ns::NEVER) {
            match wake {
                Some(at) => run.queue.schedule(arrival, at),
                None => run.queue.cancel(arrival),
            }
        }
    }

    /// Takes in the next command of a lane, or of a queue. Returns where it is, and what the host asked for when.
    ///
    /// # Errors
    /// Where it leaves the drive, or the workload cannot be read on.
    #[inline]
    pub fn fetch<Q>(&mut self, run: &mut Run<Q>, lane: usize) -> Result<Option<(u32, Request)>, SimulationError> {
        if self.front.protocol.is_some() {
            return self.fetch_part(run, lane);
        }
        let now = run.now;
        let Some((id, request, waited_since)) = self.next_of_lane(run, lane)? else { return Ok(None) };
        let submitted = request.submitted;
        if waited_since < now {
            run.meter.queue_holders.slot_taken(now);
        }
        if self.front.arbitration.is_some() {
            let out_of_turn = self.front.chosen(lane, now);
            run.meter.chosen(lane, out_of_turn);
        }
        self.front.taken_in(lane, request.op, now);
        self.front.advance(lane)?;
        let index = self.commands.insert(HostCommand {
            id,
            lba: request.lba.0,
            sectors: request.sectors,
            op: request.op,
            lane: lane as u16,
            remark: request.remark,
            fua: request.fua,
            stream: request.stream,
            submitted,
            mark: now,
            host_queue: now - submitted,
            ..HostCommand::default()
        });
        Ok(Some((index, request)))
    }

    /// The request of a lane that is read ahead, as the host submits it now: its number, and since when it waits for a place
    /// alone.
    #[inline]
    pub(super) fn next_of_lane<Q>(
        &mut self,
        run: &mut Run<Q>,
        lane: usize,
    ) -> Result<Option<(u64, Request, Ns)>, SimulationError> {
        let Some(request) = self.front.lanes[lane].next else { return Ok(None) };
        let id = self.front.submitted;
        self.check_address(id, request.end())?;
        let submitted = if self.front.lanes[lane].arrival == Arrival::Open { request.submitted } else { run.now };
        let mut waited_since = submitted;
        if self.front.lanes[lane].is_limited() {
            waited_since = self.pass_limit(run, lane, submitted, &request);
        }
        Ok(Some((id, Request { submitted, ..request }, waited_since)))
    }

    /// A request is taken in under the limit of its lane. Returns since when it waited for a place alone.
    #[inline(never)]
    fn pass_limit<Q>(&mut self, run: &mut Run<Q>, lane: usize, submitted: Ns, request: &Request) -> Ns {
        let bytes = match request.op {
            Op::Read | Op::Write => u64::from(request.sectors) * SECTOR_BYTES,
            Op::Trim | Op::Flush => 0,
        };
        let (wait, held) = self.front.lanes[lane].passes_limit(run.now, submitted, bytes);
        run.meter.passed_limit(lane, wait, held);
        submitted + wait
    }

    /// Where the request of a lane that is read ahead begins [sectors]; `None` where there is none.
    #[inline]
    pub fn next_address(&self, lane: usize) -> Option<u64> {
        self.front.lanes[lane].next.as_ref().map(|request| request.lba.0)
    }

    fn check_address(&self, index: u64, end: u64) -> Result<(), SimulationError> {
        let sectors = self.sectors;
        if end <= sectors {
            return Ok(());
        }
        Err(SimulationError::BeyondDrive { index, end, sectors, bytes: sectors * SECTOR_BYTES })
    }

    /// A command enters the processor. Returns whether it is through at once.
    #[inline]
    pub fn enter_processor<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) -> bool {
        let cost = self.processor_time(index);
        if run.transactions.tenants.is_some() {
            self.enters_processor_by_tenant(run, index);
        }
        // Behind a TRIM that takes time, what takes none waits, and until the drive is awake.
        if cost == Ns::ZERO
            && self.front.trim_entry_time == Ns::ZERO
            && self.front.awake_at.is_none_or(|at| at < run.now)
        {
            return true;
        }
        let passes = self.processor.take(run.now, cost);
        let command = &mut self.commands[index];
        command.processing = passes - run.now;
        command.mark = passes;
        let first = self.processor.queue.is_empty();
        self.processor.queue.push_back(&mut self.commands, index, command_link);
        if first {
            run.queue.schedule(run.resources.processor(), passes);
        }
        false
    }

    /// How long a command has the processor.
    #[inline]
    pub(super) fn processor_time(&self, index: u32) -> Ns {
        let mut cost = self.front.command_cost;
        if self.front.trim_entry_time > Ns::ZERO {
            cost += self.trim_time(index);
        }
        cost
    }

    /// Time of the controller for the entries of the map that a TRIM changes.
    #[cold]
    fn trim_time(&self, index: u32) -> Ns {
        let HostCommand { op, lba, sectors, .. } = self.commands[index];
        let per_unit = u64::from(self.front.sectors_per_unit);
        let units = ((lba + u64::from(sectors)) / per_unit).saturating_sub(lba.div_ceil(per_unit));
        if op == Op::Trim { Ns(self.front.trim_entry_time.0 * units) } else { Ns::ZERO }
    }

    /// The processor is through with the first command of its queue.
    pub fn processor_woke<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<u32> {
        let stage = &mut self.processor;
        let index = stage.queue.pop_front(&mut self.commands, command_link)?;
        if !stage.queue.is_empty() {
            run.queue.schedule(run.resources.processor(), self.commands[stage.queue.head()].mark);
        }
        if run.transactions.tenants.is_some() {
            self.passed_by_tenant(Stage::Processor, index);
        }
        Some(index)
    }

    /// How long the data of a write take on the link, or the entry of a command that is to come.
    #[inline]
    pub(super) fn link_time(&self, index: u32) -> Ns {
        let data = u64::from(self.commands[index].sectors) * SECTOR_BYTES;
        self.link_out.rate().burst(self.entry_to_come(index).map_or(data, LinkMessage::bytes))
    }

    /// Write data crosses the link, or an entry, commands in their order. Returns from when until when.
    pub fn enter_link_in<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) -> (Ns, Ns) {
        let now = run.now;
        let time = self.link_time(index);
        if run.transactions.tenants.is_some() && time > Ns::ZERO {
            self.enters_by_tenant(run, Stage::LinkIn, index);
        }
        let arrives = self.link_in.take(now, time);
        let command = &mut self.commands[index];
        command.link_in += arrives - now;
        command.mark = arrives;
        if arrives > now {
            let first = self.link_in.queue.is_empty();
            self.link_in.queue.push_back(&mut self.commands, index, command_link);
            if first {
                run.queue.schedule(run.resources.link_in(), arrives);
            }
        }
        (arrives - time, arrives)
    }

    /// What is fetched of the host's memory crosses the link, behind what is on it. Returns from when until when.
    pub fn crosses_link_in(&mut self, now: Ns, bytes: u32) -> (Ns, Ns) {
        let time = self.link_out.rate().burst(u64::from(bytes));
        let arrives = self.link_in.take(now, time);
        (arrives - time, arrives)
    }

    /// What crosses it for the first command of the link's queue has arrived.
    pub fn link_in_woke<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<u32> {
        let stage = &mut self.link_in;
        let index = stage.queue.pop_front(&mut self.commands, command_link)?;
        if !stage.queue.is_empty() {
            run.queue.schedule(run.resources.link_in(), self.commands[stage.queue.head()].mark);
        }
        if run.transactions.tenants.is_some() {
            self.passed_by_tenant(Stage::LinkIn, index);
        }
        Some(index)
    }

    /// Queues data for the host.
    #[inline]
    pub fn send<Q: WakeQueue>(&mut self, run: &mut Run<Q>, job: LinkJob) {
        if self.front.protocol.is_none() || !self.waits_for_rest(run, &job) {
            self.push_to_link(run, job);
        }
    }

    /// The same of what does not wait for anything else.
    #[inline]
    pub(super) fn push_to_link<Q: WakeQueue>(&mut self, run: &mut Run<Q>, job: LinkJob) {
        if let Some(wake) = self.link_out.push(run.now, job) {
            run.queue.schedule(run.resources.link_out(), wake);
        }
    }

    /// A transfer towards the host has ended. Returns it, and when it began.
    #[inline]
    pub fn link_out_woke<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<(LinkJob, Ns)> {
        let (job, began, wake) = self.link_out.finish(run.now)?;
        if let Some(wake) = wake {
            run.queue.schedule(run.resources.link_out(), wake);
        }
        Some((job, began))
    }
}
