//! The host's side of the device: commands in, over processor and link, completions out.
//!
//! Knows nothing of what is done for a command but how many parts it waits for.

mod command;
mod completion;
mod lane;
mod limit;
mod link;
mod link_message;
mod protocol;
mod served;
mod stages;
mod tenants;

use ninescope_ftl::ZoneError;
use ninescope_kernel::{Ns, Slab};
use ninescope_model::{Arrival, HostCacheStatistics, Op, Turns, ZoneLogStatistics};

use crate::config::{EngineConfig, ProtocolConfig, RunLimits};
use crate::error::SimulationError;
use crate::policies::host_arbitration::HostArbitration;

pub use command::HostCommand;
use lane::Lane;
pub use lane::{LaneConfig, Think};
pub use limit::Limit;
pub use link::LinkJob;
use link::LinkOut;
pub use link_message::LinkMessage;
use protocol::Protocol;
pub use protocol::{Fetched, Gathered};
use served::Moved;
use stages::SerialStage;

/// A completed request, for the request log.
#[derive(Clone, Copy, Debug)]
pub struct RequestLogEntry {
    /// Which request, from 0 in the order of submission.
    pub id: u64,
    /// When the host submitted it.
    pub submitted: Ns,
    /// Submission to completion [ns].
    pub latency: Ns,
    /// Of this, the wait in the host's queue [ns].
    pub host_queue: Ns,
    /// First sector [512 B].
    pub lba: u64,
    /// Sectors.
    pub sectors: u32,
    /// Operation.
    pub op: Op,
    /// The lane it came from.
    pub lane: u16,
}

/// The host's side of one drive.
#[derive(Debug)]
pub struct Host {
    front: HostFront,
    commands: Slab<HostCommand>,
    processor: SerialStage,
    link_in: SerialStage,
    link_out: LinkOut,
    /// What it moved last, where there are several lanes.
    moved: Moved,
    /// Sectors that the host can address [512 B].
    sectors: u64,
    /// When its last command completed so far.
    latest_completion: Ns,
    log: Option<Vec<RequestLogEntry>>,
}

impl Host {
    /// A host that has not begun.
    pub fn new(lanes: Vec<LaneConfig>, config: &EngineConfig, limits: &RunLimits, sectors: u64) -> Self {
        let depth = config.queue_depth as usize;
        Self {
            front: HostFront::new(lanes, config, limits),
            commands: Slab::with_capacity(depth),
            processor: SerialStage::default(),
            link_in: SerialStage::default(),
            link_out: LinkOut::new(config.link_rate, depth),
            moved: Moved::default(),
            sectors,
            latest_completion: Ns::ZERO,
            log: config.log_requests.then(Vec::new),
        }
    }

    /// The map is of units of so many sectors. Before anything runs.
    pub fn set_sectors_per_unit(&mut self, sectors: u32) {
        self.front.sectors_per_unit = sectors.max(1);
    }

    /// So many sectors can be addressed. Before anything runs.
    pub fn set_sectors(&mut self, sectors: u64) {
        self.sectors = sectors;
    }

    // ---- commands inside ---------------------------------------------------------------------------

    /// A command inside.
    #[inline]
    pub fn command(&self, index: u32) -> &HostCommand {
        &self.commands[index]
    }

    /// A write is to be on the media when it completes, whatever the host asked for.
    pub fn asks_for_media(&mut self, index: u32) {
        self.commands[index].fua = true;
    }

    /// A zone does not take a command: it answers with that.
    pub fn refuse(&mut self, index: u32, error: ZoneError) {
        self.commands[index].refused = Some(error);
    }

    /// A command is aborted, because the drive is erased.
    pub fn abort(&mut self, index: u32) {
        self.commands[index].aborted = true;
    }

    /// Commands inside that were taken in before the one of that number: all others inside came after it.
    pub fn inside_before(&self, id: u64) -> u32 {
        let next = self.front.protocol.as_ref().map_or(self.front.submitted, |protocol| protocol.taken_in());
        self.commands.len() - (next - id) as u32
    }

    /// A write goes there: the drive says where.
    pub fn goes_to(&mut self, index: u32, lba: u64) {
        self.commands[index].lba = lba;
    }

    /// A command is of all that: the zone that it resets.
    pub fn covers(&mut self, index: u32, lba: u64, sectors: u32) {
        (self.commands[index].lba, self.commands[index].sectors) = (lba, sectors);
    }

    /// The parts of a command set out now.
    #[inline]
    pub fn sets_out(&mut self, index: u32, now: Ns) -> HostCommand {
        let command = &mut self.commands[index];
        command.mark = now;
        *command
    }

    /// A command waits for so many parts.
    #[inline]
    pub fn has_parts(&mut self, index: u32, parts: u32) {
        self.commands[index].pending = parts;
    }

    /// It waits for one more.
    #[inline]
    pub fn has_another_part(&mut self, index: u32) {
        self.commands[index].pending += 1;
    }

    /// A part of a command is done. Returns whether it was the last one.
    #[inline]
    pub fn part_ends(&mut self, index: u32) -> bool {
        let pending = &mut self.commands[index].pending;
        *pending -= 1;
        *pending == 0
    }

    /// A command answers with an error: something of what it reads is lost.
    pub fn report(&mut self, index: u32) {
        self.commands[index].reported = true;
    }

    /// Something of what a command returns is wrong, and nobody knows.
    pub fn pass_wrong(&mut self, index: u32) {
        self.commands[index].wrong = true;
    }

    /// The most commands inside.
    pub fn depth(&self) -> u32 {
        self.front.depth()
    }

    /// Commands inside.
    pub fn inside(&self) -> u32 {
        self.commands.len()
    }

    // ---- the run -----------------------------------------------------------------------------------

    /// Returns whether this was the beginning of the run.
    pub fn start(&mut self) -> bool {
        self.front.start()
    }

    /// The most commands that each lane has inside the device.
    pub fn lane_depths(&self) -> Vec<u32> {
        self.front.lane_depths()
    }

    /// What lies between requests and commands.
    pub fn protocol(&self) -> ProtocolConfig {
        self.front.protocol.as_ref().map(|protocol| *protocol.config()).unwrap_or_default()
    }

    /// Commands of each queue of a lane that the drive has at a time, where that lane says anything of them.
    pub fn lane_queue_commands(&self) -> Vec<Option<u32>> {
        let none = || vec![None; self.front.lanes.len()];
        self.front.protocol.as_ref().map_or_else(none, |protocol| protocol.of_lanes().to_vec())
    }

    /// What is taken in of each lane at most.
    pub fn lane_limits(&self) -> Vec<Option<Limit>> {
        self.front.lanes.iter().map(Lane::limit).collect()
    }

    /// Whether something is to be done at `now`: a lane begins, or a command enters the device.
    #[inline]
    pub fn has_work(&self, now: Ns) -> bool {
        self.front.has_work(now)
    }

    /// Whether the passing of time alone can let something begin, or what the drive does when it has nothing to do.
    #[inline]
    pub fn waits_for_time(&self) -> bool {
        self.front.waits_for_time
    }

    /// The drive does something when it has nothing to do. Before anything runs.
    pub fn drive_may_rest(&mut self) {
        self.front.waits_for_time = true;
    }

    /// The drive takes nothing up before then: it was in a state of less power.
    pub fn wakes_at(&mut self, at: Ns) {
        self.front.awake_at = Some(at);
        self.processor.not_before(at);
    }

    /// How long a command waited for that.
    pub fn waking_time(&self, command: &HostCommand) -> Ns {
        let taken_in = command.submitted + command.host_queue;
        // Another time it was in a state when none was inside.
        self.front.awake_at.map_or(Ns::ZERO, |at| at.saturating_since(taken_in))
    }

    /// Whether nothing is inside and nothing more comes.
    #[inline]
    pub fn is_over(&self, now: Ns) -> bool {
        self.commands.is_empty() && self.front.is_over(now)
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// Commands completed so far.
    pub fn completed(&self) -> u64 {
        self.front.completed
    }

    /// When the last of them completed.
    pub fn latest_completion(&self) -> Ns {
        self.latest_completion
    }

    /// What the cache did that the requests came through, where there is one.
    pub fn host_cache(&self) -> Option<&HostCacheStatistics> {
        self.front.host_cache()
    }

    /// What the log on zones did that the requests went to, where there is one.
    pub fn zone_log(&self) -> Option<&ZoneLogStatistics> {
        self.front.lanes.iter().find_map(Lane::zone_log)
    }

    /// One entry per measured request, if they were to be logged.
    pub fn request_log(&self) -> &[RequestLogEntry] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Counts from `now` on: end of warm-up.
    pub fn begin_measuring(&mut self, now: Ns) {
        for stage in [&mut self.processor, &mut self.link_in] {
            stage.begin_measuring(now);
        }
        self.link_out.begin_measuring(now);
        if let Some(log) = &mut self.log {
            log.clear();
        }
    }

    /// How long processor, link towards the device and link towards the host were busy since measuring began.
    pub fn busy_until(&self, now: Ns) -> [Ns; 3] {
        // One of the two has moved what is written, whether the link is one for both directions or not.
        let (inbound, outbound) = self.link_out.busy_until(now);
        [self.processor.busy_until(now), self.link_in.busy_until(now) + inbound, outbound]
    }
}

/// The workloads and how far they are.
struct HostFront {
    lanes: Vec<Lane>,
    /// The lane that is asked first for the next command: the one after the last that was served.
    turn: usize,
    /// Who else says whose command is next; none: lanes take turns.
    arbitration: Option<Box<dyn HostArbitration>>,
    /// What lies between requests and commands; none: each request is a command.
    protocol: Option<Box<Protocol>>,
    /// Lanes that have not begun.
    waiting: usize,
    /// Whether the passing of time alone can let something begin.
    waits_for_time: bool,
    started: bool,
    /// When the drive was last out of a state of less power, or is; none if it was in none.
    awake_at: Option<Ns>,
    /// Commands inside the device.
    inside: u32,
    depth: u32,
    submitted: u64,
    /// Commands completed.
    completed: u64,
    requests_max: u64,
    duration: Ns,
    /// Completions that are not measured; all of them before `warmup_until`.
    warmup_requests: u64,
    warmup_until: Option<Ns>,
    /// Controller time per command [ns].
    command_cost: Ns,
    /// Controller time for each unit of a TRIM, beside that [ns].
    trim_entry_time: Ns,
    /// Sectors of such a unit.
    sectors_per_unit: u32,
}

impl std::fmt::Debug for HostFront {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HostFront")
            .field("lanes", &self.lanes.len())
            .field("inside", &self.inside)
            .field("completed", &self.completed)
            .finish_non_exhaustive()
    }
}

impl HostFront {
    /// A host that has not begun.
    pub fn new(lanes: Vec<LaneConfig>, config: &EngineConfig, limits: &RunLimits) -> Self {
        let queue_depth = config.queue_depth.max(1);
        let of_queues = |lane: &LaneConfig| vec![lane.turns; lane.queues.max(1) as usize];
        let turns: Vec<Turns> = lanes.iter().flat_map(of_queues).collect();
        // A lane alone is always the next.
        let arbitration = if turns.len() > 1 { config.arbitration.chosen().build(&turns) } else { None };
        let protocol = Protocol::new(&config.protocol, &lanes);
        // What arrives and the host was not told of may be more than the device has places for.
        let open_depth = if protocol.is_some() { u32::MAX } else { queue_depth };
        // And what its queues hold, too.
        let has_queues = protocol.as_ref().is_some_and(|protocol| protocol.has_queues());
        let closed_depth = if has_queues { u32::MAX } else { queue_depth };
        let lanes: Vec<Lane> = lanes.into_iter().map(|lane| Lane::new(lane, closed_depth, open_depth)).collect();
        let wanted = lanes.iter().fold(0, |sum: u32, lane| sum.saturating_add(lane.depth));
        Self {
            turn: 0,
            arbitration,
            waiting: lanes.len(),
            waits_for_time: limits.warmup_time.is_some() || lanes.iter().any(Lane::waits_for_time),
            lanes,
            started: false,
            awake_at: None,
            inside: 0,
            // A request may be several commands.
            depth: if protocol.is_some() { queue_depth } else { queue_depth.min(wanted) },
            protocol,
            submitted: 0,
            completed: 0,
            requests_max: limits.requests.unwrap_or(u64::MAX),
            duration: limits.duration.unwrap_or(Ns::NEVER),
            warmup_requests: limits.warmup_time.map_or(limits.warmup_requests, |_| u64::MAX),
            warmup_until: limits.warmup_time,
            command_cost: config.command_cost,
            trim_entry_time: config.trim.chosen().entry_time(),
            sectors_per_unit: 1,
        }
    }

    /// What the cache did that the requests came through, where there is one.
    pub fn host_cache(&self) -> Option<&HostCacheStatistics> {
        self.lanes.iter().find_map(Lane::host_cache)
    }

    /// Returns whether this was the beginning of the run.
    pub fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    /// The most commands that each lane has inside the device.
    pub fn lane_depths(&self) -> Vec<u32> {
        self.lanes.iter().map(|lane| lane.depth).collect()
    }

    /// The lane whose command enters the device at `now`, or its queue where there is a protocol: each has its turn.
    #[inline]
    fn ready_lane(&self, now: Ns) -> Option<usize> {
        if self.inside >= self.depth {
            return None;
        }
        if let Some(protocol) = &self.protocol {
            return self.ready_queue(protocol, now);
        }
        if let [lane] = &self.lanes[..] {
            return lane.is_ready(now).then_some(0);
        }
        self.ready_in_turn(now)
    }

    fn ready_in_turn(&self, now: Ns) -> Option<usize> {
        match &self.arbitration {
            Some(policy) => policy.next(&|lane| self.lanes[lane].is_ready(now)),
            None => self.first_from_turn(now),
        }
    }

    /// The first lane that is ready from the turn on.
    fn first_from_turn(&self, now: Ns) -> Option<usize> {
        let (before, from_turn) = self.lanes.split_at(self.turn);
        let ready = |lane: &Lane| lane.is_ready(now);
        let later = || before.iter().position(ready);
        from_turn.iter().position(ready).map(|index| index + self.turn).or_else(later)
    }

    /// The first lane that has not begun and may at `now`.
    fn beginning_lane(&self, now: Ns) -> Option<usize> {
        let over = |stage: u32| self.lanes.iter().all(|lane| lane.stage >= stage || lane.is_over(now));
        self.lanes.iter().position(|lane| !lane.begun && lane.begins <= now && over(lane.stage))
    }

    /// Whether something is to be done at `now`: a lane begins, or a command enters the device.
    #[inline]
    pub fn has_work(&self, now: Ns) -> bool {
        match &self.protocol {
            None => self.ready_lane(now).is_some() || (self.waiting > 0 && self.beginning_lane(now).is_some()),
            Some(protocol) => self.protocol_has_work(protocol, now),
        }
    }

    #[inline(never)]
    fn protocol_has_work(&self, protocol: &Protocol, now: Ns) -> bool {
        self.ready_lane(now).is_some()
            || (self.waiting > 0 && self.beginning_lane(now).is_some())
            || self.submitting_lane(protocol, now).is_some()
    }

    /// Now, or when the drive is awake.
    fn when_awake(&self, now: Ns) -> Ns {
        self.awake_at.map_or(now, |at| at.max(now))
    }

    /// Whether the requests of a lane arrive by themselves.
    #[inline]
    pub fn is_open(&self, lane: u16) -> bool {
        self.lanes[lane as usize].arrival == Arrival::Open
    }

    /// Whether a request waits for a slot since before `now`.
    #[inline]
    pub fn is_awaited(&self, now: Ns) -> bool {
        self.waits_for_time && self.lanes.iter().any(|lane| lane.next_waits(now))
    }

    /// The most commands inside the device.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether nothing is inside and nothing more comes: of a lane that has not begun, because the run's requests are
    /// submitted or its time is over by then.
    pub fn is_over(&self, now: Ns) -> bool {
        let will_begin = |lane: &Lane| self.waiting > 0 && now.max(lane.begins) < self.duration;
        let comes = |lane: &Lane| if lane.begun { !lane.is_over(now) } else { will_begin(lane) };
        self.inside == 0 && !self.lanes.iter().any(comes)
    }

    /// Begins a lane.
    fn begin_lane(&mut self, lane: usize, now: Ns) -> Result<(), SimulationError> {
        self.waiting -= 1;
        self.lanes[lane].begin(now, self.duration);
        self.advance(lane)
    }

    /// Reads the next request of a lane ahead; none of any lane beyond the limit of the run.
    #[inline]
    fn advance(&mut self, lane: usize) -> Result<(), SimulationError> {
        if self.submitted < self.requests_max {
            return self.lanes[lane].advance();
        }
        self.lanes.iter_mut().for_each(|lane| lane.next = None);
        self.waiting = 0;
        Ok(())
    }

    /// A lane's command is about to be taken in where a policy says so. Returns whether that is out of turn.
    #[inline(never)]
    fn chosen(&mut self, lane: usize, now: Ns) -> bool {
        let out_of_turn = self.first_from_turn(now) != Some(lane);
        if let Some(policy) = &mut self.arbitration {
            policy.taken(lane);
        }
        out_of_turn
    }

    /// Counts the command of a lane that is taken in, and gives the turn to the next lane.
    #[inline]
    fn taken_in(&mut self, lane: usize, op: Op, now: Ns) {
        self.submitted += 1;
        self.inside += 1;
        self.lanes[lane].taken_in(op, now);
        self.turn = if lane + 1 == self.lanes.len() { 0 } else { lane + 1 };
    }

    /// Counts a command of a lane that completed.
    #[inline]
    fn completed(&mut self, lane: u16, op: Op, now: Ns) {
        self.inside -= 1;
        self.request_completed(lane, op, now);
    }

    #[inline]
    fn request_completed(&mut self, lane: u16, op: Op, now: Ns) {
        self.lanes[lane as usize].completed(op, now);
        self.completed += 1;
    }

    /// When time alone lets something begin: a request arrives that has room, a lane begins or has rested, or measuring
    /// begins.
    fn next_wake(&self, now: Ns) -> Option<Ns> {
        let has_room = self.inside < self.depth;
        let later = |&wake: &Ns| self.protocol.is_none() || wake > now;
        let of_lane = |lane: &Lane| {
            if lane.begun {
                return lane.next_arrival().filter(|_| has_room).or_else(|| lane.rest_ends(now));
            }
            Some(lane.begins).filter(|&begins| self.waiting > 0 && begins > now && begins < self.duration)
        };
        self.lanes.iter().filter_map(of_lane).filter(later).chain(self.warmup_until).min()
    }
}
