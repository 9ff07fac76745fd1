//! What the engine is built from. Media, FTL and workload come as finished parts.

use ninescope_kernel::{Chance, Ns, Rate};
use ninescope_model::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policies::channel_arbitration::ChannelArbitrationConfig;
use crate::policies::host_arbitration::HostArbitrationConfig;
use crate::policies::suspend::SuspendPolicyConfig;
use crate::policies::transaction_scheduler::TransactionSchedulerConfig;
use crate::policies::trim::TrimConfig;
use crate::policies::write_throttle::WriteThrottleConfig;

/// When a host write completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteCompletion {
    /// When its units are in power-protected open pages or filled pages waiting for their program.
    #[default]
    Buffer,
    /// When its last unit is programmed. There is no write buffer then: a page goes out, padded, as
    /// soon as the command's units are placed.
    Program,
}

/// What the controller gives of a unit that waits for its program, or is being programmed, to those who ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Forwarding {
    /// All of it: it holds the unit.
    #[default]
    All,
    /// The sectors that were written: for others its page is sensed on its die.
    Written,
    /// Nothing: its page is sensed on its die, also for what a unit written in part is completed with.
    Nothing,
}

/// Which accesses that wait for a die go together in one command, each in a plane of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeBy {
    /// Those at one page of one block, or of any where a part reads so.
    #[default]
    Page,
    /// Those whose pages were written at the same turn of their planes, counted round the pages of a block. What is not written
    /// yet goes by its page.
    Write,
    /// The same, and what is not written yet has its turn when it is read first: a drive that gives it a place then.
    Touch,
}

/// What the drive is joined to the host by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// A link with a rate for each direction, and queues of commands.
    #[default]
    Nvme,
    /// One link for both directions, and one queue, in which FLUSH and TRIM are not: they have the drive for themselves.
    Sata,
}

/// What crosses the link to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkCarries {
    /// What is read and written alone.
    #[default]
    Data,
    /// And what NVMe needs for each command: a request of the drive for the entry, the entry, a request for what is written, the
    /// completion; each in turn with the data of its direction.
    Commands,
}

/// When the data of a read cross the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkReads {
    /// Each page as soon as it is in the controller.
    #[default]
    ByPage,
    /// When all of them are.
    Whole,
}

/// What lies between the requests of the host and the commands that the drive takes in; by default each request is one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolConfig {
    /// What they go over.
    pub interface: Interface,
    /// On SATA a TRIM goes into the queue among reads and writes.
    pub queued_trims: bool,
    /// Data of a command at most [sectors]; `None`: any.
    pub max_transfer: Option<u32>,
    /// Entries of each queue of the host, one of which stays empty [count]; `None`: as many as it likes.
    pub queue_entries: Option<u32>,
    /// Commands of each queue that the drive has at a time, where a job says nothing else [count]; `None`: any.
    pub commands_per_queue: Option<u32>,
    /// The drive reads commands out of the queues; `None`: it has them at once.
    pub fetch: Option<Fetch>,
    /// Completions that the host is told of together; `None`: of each at once.
    pub interrupts: Option<Coalescing>,
    /// What crosses the link beside data.
    pub link_carries: LinkCarries,
    /// When the data of a read cross it.
    pub link_reads: LinkReads,
}

impl ProtocolConfig {
    /// Whether requests wait in queues that are modelled: a job that waits for completions submits before the device has room.
    pub fn has_queues(&self) -> bool {
        self.queue_entries.is_some() || self.commands_per_queue.is_some() || self.fetch.is_some()
    }

    /// Commands of a queue that the host was not told of, at most.
    pub fn filled_entries(&self) -> u32 {
        self.queue_entries.map_or(u32::MAX, |entries| entries - 1)
    }
}

/// How the drive reads commands out of the host's queues, of one queue with each fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// From the doorbell, or from when a fetch may begin, until the controller has them [ns].
    pub time: Ns,
    /// Entries of a fetch at most [count].
    pub entries: u32,
    /// Fetches that are under way at a time [count].
    pub in_flight: u32,
}

/// When the host is told of completions, by one interrupt for several of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// With the last of so many [count].
    pub completions: u32,
    /// Or so long after the first one of them, if that is before [ns].
    pub time: Ns,
}

/// What goes by sector; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectorRules {
    /// A read brings the sectors that were asked for over the channel, and not their whole units.
    pub reads: bool,
    /// A program takes the sectors that were written over the channel, and not the whole page.
    pub programs: bool,
    /// The rest of a unit written in part is read where the host has used sectors of it since the drive was prepared, and not
    /// wherever the unit holds anything.
    pub rests: bool,
    /// By equal pieces of a unit: how likely its first sector was used before, each by itself. Empty: none was.
    pub used_at_start: Vec<Chance>,
}

impl SectorRules {
    /// The sectors of a unit, which has so many, that were used before the drive was prepared, if it was: the same ones for
    /// everyone who asks.
    pub fn used_before(&self, unit: u32, per_unit: u32) -> u32 {
        let pieces = self.used_at_start.len() as u32;
        self.used_at_start.iter().zip(0..pieces).fold(0, |used, (chance, piece)| {
            let is_used = chance.falls_on(u64::from(unit) * u64::from(pieces) + u64::from(piece));
            used | u32::from(is_used) << (piece * (per_unit / pieces))
        })
    }
}

/// Parts of the write buffer that tenants have for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferPartsConfig {
    /// Filled pages of each that wait for their program at most; the first one is for all who have none of their own, and for the
    /// drive [count]. Empty: all share the buffer.
    pub pages: Vec<u32>,
    /// By tenant: his part; of those behind the last one the first.
    pub of_tenant: Vec<u32>,
}

/// The controller and its scheduling.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Commands inside the device at a time [count].
    pub queue_depth: u32,
    /// Controller time per command; commands pass one after another [ns].
    pub command_cost: Ns,
    /// Host link, each direction by itself [B/s].
    pub link_rate: Rate,
    /// When a host write completes.
    pub write_completion: WriteCompletion,
    /// Host pages of one die that are filled and not yet programmed [count]; a write beyond waits.
    pub buffered_pages: u32,
    /// Host pages of all dies together that are filled and not yet programmed [count]; `None`: the sum of the dies' own.
    pub shared_buffered_pages: Option<u32>,
    /// What is given of units that wait for their program.
    pub forwards: Forwarding,
    /// Who has parts of these for himself.
    pub buffer_parts: BufferPartsConfig,
    /// After this long a partly filled page is padded and programmed; `None`: it waits to be filled.
    pub page_timeout: Option<Ns>,
    /// Whether commands to several planes of a die are merged.
    pub multi_plane: bool,
    /// How many accesses that wait behind the first one are looked at for that [count].
    pub merge_window: u32,
    /// Which accesses go together.
    pub merge_by: MergeBy,
    /// What goes by sector, and not by whole units and pages.
    pub sectors: SectorRules,
    /// Pages one pool's garbage collection may have between read and end of program [count].
    pub gc_pages_in_flight: u32,
    /// How often in a row garbage collection has a die copy a page by itself [count]; 0: never.
    pub gc_copybacks: u16,
    /// Blocks of one bit in a cell are folded when their die has had nothing to do for so long; `None` where that is not asked for.
    pub slc_fold_after: Option<Ns>,
    /// How host writes are held back while little is free.
    pub throttle: WriteThrottleConfig,
    /// What a TRIM comes to, and when.
    pub trim: TrimConfig,
    /// Which queue of a die goes next.
    pub scheduler: TransactionSchedulerConfig,
    /// What goes next over a channel.
    pub channel: ChannelArbitrationConfig,
    /// Whose command is taken in next.
    pub arbitration: HostArbitrationConfig,
    /// What lies between requests and commands.
    pub protocol: ProtocolConfig,
    /// When a running erase or program is suspended.
    pub suspend: SuspendPolicyConfig,
    /// Keep a record of each request.
    pub log_requests: bool,
}

impl EngineConfig {
    /// The fewest buffered pages with which every stripe can fill: pages wait for the rest of their stripe
    /// (of their wordline, where that is programmed in one go) in each frontier of a die, all but the last page of it.
    pub fn buffered_pages_min(geometry: &Geometry) -> u32 {
        geometry.pools_per_die() * (geometry.frontier_planes * geometry.pages_per_program - 1) + 1
    }

    /// The same of a drive with zones, of which so many may be active: each may have a stripe that is not full.
    pub fn zoned_pages_min(geometry: &Geometry, active: u32) -> u32 {
        active.saturating_mul(geometry.frontier_planes - 1).saturating_add(1)
    }

    /// The fewest with which every stripe can fill where all dies share the buffer, each of which needs `of_die`.
    pub fn shared_buffered_pages_min(geometry: &Geometry, of_die: u32) -> u32 {
        geometry.die_sets() * (of_die - 1) + 1
    }
}

/// Where a run ends and where measuring begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunLimits {
    /// Submit no more than this many requests.
    pub requests: Option<u64>,
    /// Submit nothing at or after this time.
    pub duration: Option<Ns>,
    /// Completions that are not counted.
    pub warmup_requests: u64,
    /// Counting begins at this time instead.
    pub warmup_time: Option<Ns>,
    /// Commands that a closed workload, where it is the only one, keeps in flight; the device's queue depth bounds it.
    pub closed_queue_depth: u32,
}
