//! Where the time went: latency histograms, attribution by latency bucket, die ledgers, time series.
//!
//! Metering must not change what the device does: it only receives.

mod attribution;
mod backlog;
mod behind;
mod blocks;
mod busy;
mod cache_holders;
mod histogram;
mod ledger;
mod map_holders;
mod own_parts;
mod series;
mod shared_places;
mod suspensions;
mod tenants;
mod utilization;

use ninescope_kernel::Ns;
use ninescope_model::{CacheHint, Cause, Op};

pub use attribution::{Attribution, Band, BandRange, Parts};
pub use backlog::{Backlog, Overload, QueueHolders, Undecided};
pub(crate) use behind::{BUFFER, DRAM, ERASE, FREE_PAGE, LINK, MAP, MIGRATION, PROCESSOR, PROGRAM, QUEUE};
pub use behind::{BehindBand, BehindByLatency, BehindSum, SPLIT, SPLIT_WHOLE, Waits, is_split_whole};
pub use blocks::{Blocks, bootstrap};
pub use busy::BusyMoments;
pub use cache_holders::CacheHolders;
pub use histogram::{Histogram, Moments};
pub use ledger::{DieLedger, OccupancyLedger, Spells};
pub use map_holders::MapHolders;
pub use own_parts::{Held, LastingShare, OwnParts};
pub use series::{Sample, Series, TierSample, Written};
pub use shared_places::{REMEMBERED, SharedPlaces};
pub use suspensions::SuspensionLedger;
pub(crate) use tenants::{MOVES, PROGRAMS, SPACE, STALL};
pub use tenants::{MediaWaits, TenantLedgers};
pub use utilization::{Utilization, busy_of_unit};

/// Everything measured about one kind of command.
#[derive(Debug, Default)]
pub struct OpMeter {
    /// Submission to completion.
    pub latency: Histogram,
    /// The same by block of the run.
    pub blocks: Blocks,
    /// Fetch to completion: without the wait in the host's queue.
    pub device_latency: Histogram,
    /// Submission to fetch: the wait in the host's queue.
    pub host_queue: Moments,
    /// Causes by latency bucket.
    pub attribution: Attribution,
    /// Commands some of whose latency was a wait behind an erase.
    pub behind_erase: u64,
    /// Bytes of the host that were read, written or trimmed [B].
    pub bytes: u64,
    /// Commands that were answered with an error, and nothing was done for them.
    pub failed: u64,
}

/// What is measured of one kind of command of one lane.
#[derive(Debug, Default)]
pub struct LaneOpMeter {
    /// Submission to completion.
    pub latency: Histogram,
    /// Fetch to completion.
    pub device_latency: Histogram,
    /// Submission to fetch.
    pub host_queue: Moments,
    /// Bytes of the host that were read, written or trimmed [B].
    pub bytes: u64,
    /// Commands that were answered with an error, and nothing was done for them.
    pub failed: u64,
    /// Whom they waited for.
    pub behind: BehindByLatency,
}

impl OpMeter {
    /// Commands that did what they asked for [count].
    pub fn done(&self) -> u64 {
        self.latency.count() - self.failed
    }
}

impl LaneOpMeter {
    /// Commands that did what they asked for [count].
    pub fn done(&self) -> u64 {
        self.latency.count() - self.failed
    }
}

/// What is measured about requests with one hint of a cache in front of the drive.
#[derive(Debug, Default)]
pub struct HintMeter {
    /// Submission to completion.
    pub latency: Histogram,
    /// Host bytes moved [B].
    pub bytes: u64,
}

/// What is measured of one of several lanes.
#[derive(Debug, Default)]
pub struct LaneMeter {
    /// By operation, in the order of [`Op::ALL`].
    pub ops: [LaneOpMeter; 4],
    /// When the lane began; nothing before it has.
    pub began: Option<Ns>,
    /// When the lane and measuring had begun; nothing before the lane has.
    pub since: Option<Ns>,
    /// Its latest completion.
    pub latest: Ns,
    /// What it had completed when measuring began.
    pub before: Unmeasured,
    /// Its commands that a policy chose, and those of them whose turn it was not.
    pub chosen: Chosen,
}

/// Commands that were taken in by a policy that does more than let lanes take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Commands.
    pub taken_in: u64,
    /// Those before one of another lane that was ready, too, and whose turn it was.
    pub out_of_turn: u64,
}

/// What completed before measuring began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmeasured {
    /// Commands.
    pub requests: u64,
    /// Bytes of the host that they read, wrote or trimmed [B].
    pub bytes: u64,
}

impl Unmeasured {
    fn completed(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }
}

impl LaneMeter {
    /// What it completed since measuring began.
    pub fn completed(&self) -> u64 {
        self.ops.iter().map(|op| op.latency.count()).sum()
    }

    /// The bytes of that.
    pub fn bytes(&self) -> u64 {
        self.ops.iter().map(|op| op.bytes).sum()
    }

    /// The time from its beginning to its latest completion.
    pub fn elapsed(&self) -> Ns {
        self.since.map_or(Ns::ZERO, |since| self.latest.saturating_since(since))
    }
}

/// Everything measured in a run.
#[derive(Debug)]
pub struct Meter {
    /// By operation, in the order of [`Op::ALL`].
    pub ops: [OpMeter; 4],
    /// By hint, in the order of [`CacheHint::ALL`]; the first one stays empty.
    pub hints: [HintMeter; CacheHint::ALL.len()],
    /// Throughput over time.
    pub series: Series,
    /// Suspensions of erases.
    pub suspensions: SuspensionLedger,
    /// When measuring began (end of warm-up).
    pub since: Ns,
    /// Sum of latencies over all requests [ns], for Little's law.
    pub latency_sum: u128,
    /// By lane; empty where there is one alone.
    pub lanes: Vec<LaneMeter>,
    /// How completions keep up with arrivals, by lane; empty for lanes that wait for their completions.
    pub backlogs: Vec<Backlog>,
    /// How busy resources were over the course of the run; empty where all lanes wait for their completions.
    pub busy: BusyMoments,
    /// What held the slots of the drive's queue while requests waited for one.
    pub queue_holders: QueueHolders,
    /// What had completed when measuring began.
    pub before: Unmeasured,
    /// By lane up to the last one with a limit: what that held back. Empty where no lane has one.
    pub limited: Vec<Limited>,
}

/// Commands of a lane that were taken in under its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limited {
    /// Commands.
    pub taken_in: u64,
    /// Those of them that the limit held back.
    pub held: u64,
    /// How long it did, of commands that were submitted before [ns].
    pub wait: Ns,
}

impl Meter {
    /// An empty meter of `lanes` lanes that measures from `since` on.
    pub fn new(since: Ns, lanes: usize) -> Self {
        Self {
            ops: Default::default(),
            hints: Default::default(),
            series: Series::new(since),
            suspensions: SuspensionLedger::default(),
            since,
            latency_sum: 0,
            lanes: (0..lanes).filter(|_| lanes > 1).map(|_| LaneMeter::default()).collect(),
            backlogs: (0..lanes).map(|_| Backlog::default()).collect(),
            busy: BusyMoments::default(),
            queue_holders: QueueHolders::default(),
            before: Unmeasured::default(),
            limited: Vec::new(),
        }
    }

    /// Forgets what it measured and measures from `since` on.
    pub fn begin(&mut self, since: Ns) {
        let (begun, before) = (std::mem::take(&mut self.lanes), self.before);
        *self = Self { before, ..Self::new(since, self.backlogs.len()) };
        for (lane, LaneMeter { began, before, .. }) in self.lanes.iter_mut().zip(begun) {
            *lane = LaneMeter { began, since: began.map(|_| since), before, ..LaneMeter::default() };
        }
    }

    /// A lane begins.
    pub fn lane_began(&mut self, lane: usize, now: Ns) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            (lane.began, lane.since) = (Some(now), Some(now));
        }
    }

    /// A command of a lane was taken in, whose limit held it back for so long.
    pub fn passed_limit(&mut self, lane: usize, wait: Ns, held: bool) {
        self.limited.resize(self.limited.len().max(lane + 1), Limited::default());
        let limited = &mut self.limited[lane];
        limited.taken_in += 1;
        limited.held += u64::from(held);
        limited.wait += wait;
    }

    /// A policy chose the command of a lane to be taken in next.
    pub fn chosen(&mut self, lane: usize, out_of_turn: bool) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.chosen.taken_in += 1;
            lane.chosen.out_of_turn += u64::from(out_of_turn);
        }
    }

    /// A command completed before measuring begins.
    #[inline]
    pub fn completed_before(&mut self, lane: u16, bytes: u64) {
        self.before.completed(bytes);
        if let Some(lane) = self.lanes.get_mut(lane as usize) {
            lane.before.completed(bytes);
        }
    }

    /// Takes one completed command in where there are several lanes; `behind` is whom it waited for.
    #[inline]
    pub fn record_of_lane(
        &mut self,
        (lane, op): (u16, Op),
        now: Ns,
        (latency, host_queue): (Ns, Ns),
        bytes: u64,
        (parts, behind): (&Parts, &[Waits]),
    ) {
        let Some(lane) = self.lanes.get_mut(lane as usize) else { return };
        let meter = &mut lane.ops[op as usize];
        let bucket = meter.latency.record(latency.0);
        meter.device_latency.record(latency.0 - host_queue.0);
        meter.host_queue.record(host_queue.0);
        meter.bytes += bytes;
        meter.behind.record(bucket, parts, behind);
        lane.latest = now;
    }

    /// Takes one completed command in.
    #[inline]
    pub fn record(&mut self, op: Op, now: Ns, latency: Ns, host_queue: Ns, bytes: u64, parts: &Parts) {
        let meter = &mut self.ops[op as usize];
        let bucket = meter.latency.record(latency.0);
        meter.blocks.recorded(&meter.latency);
        meter.device_latency.record(latency.0 - host_queue.0);
        meter.host_queue.record(host_queue.0);
        meter.attribution.record(bucket, parts);
        meter.behind_erase += u64::from(parts.of(Cause::DieErase) > 0);
        meter.bytes += bytes;
        self.latency_sum += u128::from(latency.0);
        self.series.record(op, now, latency, bytes);
    }

    /// A command that was taken in was answered with an error, and nothing was done for it.
    #[cold]
    pub fn record_failed(&mut self, lane: u16, op: Op) {
        self.ops[op as usize].failed += 1;
        if let Some(lane) = self.lanes.get_mut(lane as usize) {
            lane.ops[op as usize].failed += 1;
        }
    }

    /// Takes the hint of a completed command in.
    #[inline]
    pub fn record_hint(&mut self, hint: CacheHint, latency: Ns, bytes: u64) {
        let meter = &mut self.hints[hint as usize];
        meter.latency.record(latency.0);
        meter.bytes += bytes;
    }
}
