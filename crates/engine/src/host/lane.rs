//! Lanes: the workloads that run on the drive at the same time, each with its own beginning, depth and end.

use ninescope_kernel::Ns;
use ninescope_model::{Arrival, HostCacheStatistics, Op, Request, Turns, Workload, ZoneLogStatistics};

use super::limit::{Bucket, Limit};
use crate::error::SimulationError;

/// One workload of a run.
pub struct LaneConfig {
    /// Where its requests come from.
    pub workload: Box<dyn Workload>,
    /// Commands that a closed workload keeps in flight; the device's queue depth bounds it.
    pub closed_queue_depth: u32,
    /// It submits nothing when it has run for so long.
    pub duration: Option<Ns>,
    /// It does not begin before this time.
    pub begins: Ns,
    /// It does not begin before everything of lower stages is over.
    pub stage: u32,
    /// It rests now and then; a closed workload only.
    pub think: Option<Think>,
    /// What it says of its turn among others.
    pub turns: Turns,
    /// How much of it is taken in per second at most.
    pub limit: Option<Limit>,
    /// Queues that the drive gives turns to; 0 is as one [count].
    pub queues: u32,
    /// Commands of each of them that the drive has at a time [count]; `None`: as the drive says.
    pub commands_per_queue: Option<u32>,
}

/// The rests of a lane, as fio takes its `thinktime`.
#[derive(Clone, Copy, Debug)]
pub struct Think {
    /// How long each is, from the completion of all it had in flight.
    pub time: Ns,
    /// How many commands complete before each, flushes not counted.
    pub every: u64,
}

impl LaneConfig {
    /// A workload that begins at once and goes on to its end.
    pub fn new(workload: Box<dyn Workload>, closed_queue_depth: u32) -> Self {
        Self {
            workload,
            closed_queue_depth,
            duration: None,
            begins: Ns::ZERO,
            stage: 0,
            think: None,
            turns: Turns::default(),
            limit: None,
            queues: 1,
            commands_per_queue: None,
        }
    }
}

impl std::fmt::Debug for LaneConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LaneConfig")
            .field("closed_queue_depth", &self.closed_queue_depth)
            .field("duration", &self.duration)
            .field("begins", &self.begins)
            .field("stage", &self.stage)
            .field("think", &self.think)
            .field("turns", &self.turns)
            .field("limit", &self.limit)
            .field("queues", &self.queues)
            .finish_non_exhaustive()
    }
}

/// A workload and how far it is.
pub(super) struct Lane {
    workload: Box<dyn Workload>,
    pub arrival: Arrival,
    /// The next request, read ahead; none before the lane has begun.
    pub next: Option<Request>,
    /// Its commands inside the device.
    pub inside: u32,
    pub depth: u32,
    /// Nothing is submitted at or after this time; what an open workload submitted before may still wait for a slot.
    pub ends: Ns,
    /// When it began; until then, when it may.
    pub begins: Ns,
    pub begun: bool,
    pub stage: u32,
    duration: Ns,
    /// Nothing is submitted before this time, because it rests or its limit is reached; `NEVER` while a rest waits for what is
    /// in flight.
    not_before: Ns,
    rests: Option<Rests>,
    limit: Option<Limit>,
    bucket: Option<Bucket>,
    /// From when on its limit lets something in.
    opens: Ns,
    /// How long its limit held what was taken in last.
    held: Ns,
}

/// How far a lane is with its rests.
struct Rests {
    think: Think,
    /// Commands completed, and how many of them when the latest rest became due.
    completed: u64,
    due_at: u64,
    /// It submits nothing before this time; `NEVER` while a rest waits for what is in flight.
    until: Ns,
}

impl Rests {
    fn new(think: Think) -> Self {
        Self { think, completed: 0, due_at: 0, until: Ns::ZERO }
    }

    /// After a command was taken in or completed at `now`, with `inside` in flight. As in fio, what completes while a
    /// rest waits counts for the next one: a lane deeper than `every` keeps one command in flight before long.
    fn note(&mut self, now: Ns, inside: u32) {
        if self.until <= now && self.completed >= self.due_at + self.think.every {
            self.due_at = self.completed;
            self.until = Ns::NEVER;
        }
        if self.until == Ns::NEVER && inside == 0 {
            self.until = now + self.think.time;
        }
    }
}

impl Lane {
    /// A lane that has not begun, which submits so much at most: closed, or open.
    pub fn new(config: LaneConfig, queue_depth: u32, open_depth: u32) -> Self {
        let arrival = config.workload.arrival();
        let depth = match arrival {
            Arrival::Open => open_depth,
            Arrival::Closed => queue_depth.min(config.closed_queue_depth.max(1)),
        };
        Self {
            workload: config.workload,
            arrival,
            next: None,
            inside: 0,
            depth: depth.max(1),
            ends: Ns::ZERO,
            begins: config.begins,
            begun: false,
            stage: config.stage,
            duration: config.duration.unwrap_or(Ns::NEVER),
            not_before: Ns::ZERO,
            rests: config.think.map(Rests::new),
            limit: config.limit,
            bucket: config.limit.as_ref().map(Bucket::new),
            opens: Ns::ZERO,
            held: Ns::ZERO,
        }
    }

    /// What the cache did that its requests came through, where there is one.
    pub fn host_cache(&self) -> Option<&HostCacheStatistics> {
        self.workload.host_cache()
    }

    /// What the log on zones did that the requests went to, where there is one.
    pub fn zone_log(&self) -> Option<&ZoneLogStatistics> {
        self.workload.zone_log()
    }

    /// Begins at `now`: what its workload calls time 0. `latest` is when the whole run submits nothing more.
    pub fn begin(&mut self, now: Ns, latest: Ns) {
        self.begun = true;
        self.begins = now;
        self.ends = Ns(now.0.saturating_add(self.duration.0)).min(latest);
    }

    /// Reads the next request ahead.
    #[inline]
    pub fn advance(&mut self) -> Result<(), SimulationError> {
        self.next = self.workload.next_request()?;
        if let Some(next) = &mut self.next {
            next.submitted += self.begins;
        }
        Ok(())
    }

    /// Whether time alone can let it go on.
    pub fn waits_for_time(&self) -> bool {
        self.arrival == Arrival::Open || self.begins > Ns::ZERO || self.rests.is_some() || self.bucket.is_some()
    }

    /// A command of its was taken in.
    #[inline]
    pub fn taken_in(&mut self, op: Op, now: Ns) {
        self.inside += 1;
        self.note_rest(op, now);
    }

    /// The limit to what is taken in of it.
    pub fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Whether there is one.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.bucket.is_some()
    }

    /// A command of its, which the host submitted then, is about to be taken in under its limit. Returns how long the limit
    /// alone held it back, and whether it did: commands of a closed lane are submitted when they are let in.
    pub fn passes_limit(&mut self, now: Ns, submitted: Ns, bytes: u64) -> (Ns, bool) {
        let wait = self.opens.saturating_since(submitted);
        let held = self.opens > self.begins && (wait > Ns::ZERO || self.opens == now);
        if let Some(bucket) = &mut self.bucket {
            self.opens = bucket.take(now, bytes);
        }
        self.holds_back();
        self.held = wait;
        (wait, held)
    }

    /// How long the limit alone held back what was taken in last.
    pub fn held_by_limit(&self) -> Ns {
        self.held
    }

    fn holds_back(&mut self) {
        self.not_before = self.rests.as_ref().map_or(Ns::ZERO, |rests| rests.until).max(self.opens);
    }

    /// A command of its completed.
    #[inline]
    pub fn completed(&mut self, op: Op, now: Ns) {
        self.inside -= 1;
        if let Some(rests) = &mut self.rests {
            rests.completed += u64::from(op != Op::Flush);
        }
        self.note_rest(op, now);
    }

    #[inline]
    fn note_rest(&mut self, op: Op, now: Ns) {
        let inside = self.inside;
        if let Some(rests) = self.rests.as_mut().filter(|rests| op != Op::Flush || rests.until == Ns::NEVER) {
            rests.note(now, inside);
            self.holds_back();
        }
    }

    /// The end of its rest, or when its limit lets something in, or its own end where that is before: it has something to do, or
    /// is over.
    pub fn rest_ends(&self, now: Ns) -> Option<Ns> {
        let until = self.not_before;
        let rests = until != Ns::NEVER && until > now && self.next.is_some() && now < self.ends;
        rests.then(|| until.min(self.ends))
    }

    /// Whether a command of its enters the device at `now`, if that has room.
    #[inline]
    pub fn is_ready(&self, now: Ns) -> bool {
        // What arrived in time and waits for a slot enters behind the end, too.
        let comes = |next: Request| match self.arrival {
            Arrival::Open => next.submitted <= now && next.submitted < self.ends,
            Arrival::Closed => now < self.ends,
        };
        self.inside < self.depth && self.not_before <= now && self.next.is_some_and(comes)
    }

    /// Whether its next request has arrived and was not taken in.
    #[inline]
    pub fn next_waits(&self, now: Ns) -> bool {
        let waits = |next: Request| next.submitted < self.ends && next.submitted.max(self.not_before) < now;
        self.arrival == Arrival::Open && self.next.is_some_and(waits)
    }

    /// The arrival it waits for, or when its limit lets that in.
    pub fn next_arrival(&self) -> Option<Ns> {
        let waits = self.arrival == Arrival::Open && self.inside < self.depth;
        let arrives = self.next.map(|next| next.submitted).filter(|&submitted| waits && submitted < self.ends);
        arrives.map(|submitted| submitted.max(self.not_before))
    }

    /// Whether it has nothing more to do.
    pub fn is_over(&self, now: Ns) -> bool {
        let submits = |next: Request| match self.arrival {
            Arrival::Open => next.submitted < self.ends,
            Arrival::Closed => now < self.ends,
        };
        self.begun && self.inside == 0 && !self.next.is_some_and(submits)
    }
}
