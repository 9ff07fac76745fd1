//! Whose command is next, and how it is taken in.

use ninescope_kernel::Ns;
use ninescope_model::{Arrival, Request};

use super::fetch::Fetching;
use super::parts::Part;
use super::{Protocol, Queue};
use crate::error::SimulationError;
use crate::host::{Host, HostCommand, HostFront};
use crate::run::Run;

impl HostFront {
    fn queue_is_ready(&self, protocol: &Protocol, queue: usize, now: Ns) -> bool {
        let lane = protocol.lane_of(queue);
        let Queue { commands, most, .. } = protocol.queues[queue];
        commands < protocol.config.filled_entries().min(most)
            && (protocol.has_rest(lane) || self.lanes[lane].is_ready(now))
    }

    /// Whether a lane that waits for its completions submits a request, whether or not the device has room: its queues have.
    fn submits_ahead(&self, protocol: &Protocol, lane: usize, now: Ns) -> bool {
        // What is limited is submitted when the drive takes it in, which is when its limit is used up.
        let ahead = self.lanes[lane].arrival == Arrival::Closed && !self.lanes[lane].is_limited();
        ahead && protocol.has_entry(lane) && self.lanes[lane].is_ready(now)
    }

    /// The first lane that submits a request before the device takes it in.
    #[inline(never)]
    pub(in crate::host) fn submitting_lane(&self, protocol: &Protocol, now: Ns) -> Option<usize> {
        let ahead = protocol.has_queues();
        (0..self.lanes.len()).find(|&lane| ahead && self.submits_ahead(protocol, lane, now))
    }

    /// The queue whose command enters the device, which has room: each has its turn, or as the policy says.
    #[inline(never)]
    pub(in crate::host) fn ready_queue(&self, protocol: &Protocol, now: Ns) -> Option<usize> {
        if let Some(fetching) = &protocol.fetching {
            return self.goes_on_with(protocol, fetching, now).or_else(|| self.begins_fetch(protocol, fetching, now));
        }
        self.next_queue(protocol, now).filter(|&queue| self.goes_beside(protocol, protocol.lane_of(queue)))
    }

    /// The queue of which a fetch begins.
    fn begins_fetch(&self, protocol: &Protocol, fetching: &Fetching, now: Ns) -> Option<usize> {
        if fetching.may_begin() { self.next_queue(protocol, now) } else { None }
    }

    /// The queue of a fetch that has begun, where that takes in another entry: with weights it must be that one's turn.
    fn goes_on_with(&self, protocol: &Protocol, fetching: &Fetching, now: Ns) -> Option<usize> {
        let queue = fetching.takes_more_of(now)?;
        let may = || match &self.arbitration {
            Some(_) => self.next_queue(protocol, now) == Some(queue),
            None => self.queue_is_ready(protocol, queue, now),
        };
        may().then_some(queue)
    }

    fn next_queue(&self, protocol: &Protocol, now: Ns) -> Option<usize> {
        // There may be thousands of queues of a lane.
        if !(0..self.lanes.len()).any(|lane| protocol.has_rest(lane) || self.lanes[lane].is_ready(now)) {
            return None;
        }
        match &self.arbitration {
            Some(policy) => policy.next(&|queue| self.queue_is_ready(protocol, queue, now)),
            None => self.first_queue_from_turn(protocol, now),
        }
    }

    fn first_queue_from_turn(&self, protocol: &Protocol, now: Ns) -> Option<usize> {
        let (turn, queues) = (protocol.turn, protocol.queues.len());
        (turn..queues).chain(0..turn).find(|&queue| self.queue_is_ready(protocol, queue, now))
    }

    /// The command of a queue is about to be taken in. Returns whether that is out of turn, where a policy says whose is next.
    fn queue_chosen(&mut self, queue: usize, now: Ns) -> Option<bool> {
        let protocol = self.protocol.as_deref()?;
        self.arbitration.as_ref()?;
        let out_of_turn = self.first_queue_from_turn(protocol, now) != Some(queue);
        if let Some(policy) = &mut self.arbitration {
            policy.taken(queue);
        }
        Some(out_of_turn)
    }
}

impl Host {
    /// Takes in the next command of a queue. Returns where it is, and what it asks for.
    #[inline(never)]
    pub(in crate::host) fn fetch_part<Q>(
        &mut self,
        run: &mut Run<Q>,
        queue: usize,
    ) -> Result<Option<(u32, Request)>, SimulationError> {
        let now = run.now;
        if let Some(out_of_turn) = self.front.queue_chosen(queue, now) {
            let lane = self.front.protocol.as_ref().map_or(0, |protocol| protocol.lane_of(queue));
            run.meter.chosen(lane, out_of_turn);
        }
        let Some(protocol) = &mut self.front.protocol else { return Ok(None) };
        protocol.turn = if queue + 1 == protocol.queues.len() { 0 } else { queue + 1 };
        let lane = protocol.lane_of(queue);
        if !protocol.has_rest(lane) {
            self.begin_request(run, lane)?;
        }
        let Some(protocol) = &mut self.front.protocol else { return Ok(None) };
        let Some((_, part)) = protocol.next_part(lane) else { return Ok(None) };
        let room_since = protocol.queues[queue].room_since;
        protocol.held_by_queue = room_since.saturating_since(part.request.submitted);
        run.counters.full_queue_waits += u64::from(room_since == now && part.request.submitted < now);
        if part.waited_since.max(room_since) < now {
            run.meter.queue_holders.slot_taken(now);
        }
        self.front.inside += 1;
        protocol.alone = protocol.is_alone(&part.request);
        run.counters.non_queued_commands += u64::from(protocol.alone);
        run.counters.queued_trims += u64::from(self.front.inside > 1 && protocol.is_queued_trim(&part.request));
        count_parts(run, &part);
        let Request { submitted, lba, sectors, op, remark, fua, stream } = part.request;
        let index = self.commands.insert(HostCommand {
            id: protocol.commands,
            lba: lba.0,
            sectors,
            op,
            lane: lane as u16,
            remark,
            fua,
            stream,
            submitted,
            mark: now,
            host_queue: now - submitted,
            ..HostCommand::default()
        });
        protocol.part_taken_in(queue, index, &part);
        // Commands of which the host is not told yet keep their numbers, and others have their places.
        run.transactions.room_for_command(index);
        Ok(Some((index, part.request)))
    }

    /// Lanes that wait for their completions submit what their queues have entries for.
    #[inline(never)]
    pub(in crate::host) fn submit_ahead<Q>(&mut self, run: &mut Run<Q>) -> Result<(), SimulationError> {
        loop {
            let Some(protocol) = &self.front.protocol else { return Ok(()) };
            let Some(lane) = self.front.submitting_lane(protocol, run.now) else { return Ok(()) };
            self.begin_request(run, lane)?;
        }
    }

    /// The host begins with the request of a lane that is read ahead.
    fn begin_request<Q>(&mut self, run: &mut Run<Q>, lane: usize) -> Result<(), SimulationError> {
        let Some((id, request, waited_since)) = self.next_of_lane(run, lane)? else { return Ok(()) };
        self.front.submitted += 1;
        self.front.lanes[lane].taken_in(request.op, run.now);
        self.front.advance(lane)?;
        if let Some(protocol) = &mut self.front.protocol {
            protocol.begins(lane, id, request, waited_since);
        }
        Ok(())
    }

    /// Whether a request waits for a place since before now.
    pub fn is_awaited(&self, now: Ns) -> bool {
        self.front.is_awaited(now) || self.front.protocol.as_ref().is_some_and(|protocol| protocol.has_rests())
    }

    /// A command leaves the device, or the host is told that it has. Returns whether a request waits for its place since before now, and its own request, as one
    /// command, where all of that has completed.
    #[inline(never)]
    pub fn part_leaves(&mut self, now: Ns, index: u32, command: &HostCommand) -> (bool, Option<HostCommand>) {
        self.commands.remove(index);
        let awaited = self.is_awaited(now) && !self.tells_later();
        let whole = self.front.protocol.as_mut().and_then(|protocol| protocol.part_completed(now, index, command));
        if !self.tells_later() {
            self.front.inside -= 1;
        }
        if let Some(whole) = &whole {
            self.front.request_completed(whole.lane, whole.op, now);
        }
        self.latest_completion = now;
        (awaited, whole)
    }
}

fn count_parts<Q>(run: &mut Run<Q>, part: &Part) {
    run.counters.split_requests += u64::from(part.of_several && part.first);
    run.counters.split_commands += u64::from(part.of_several);
}
