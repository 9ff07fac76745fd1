//! The controller in a drive description, and the schedulers in it.

use ninescope_engine::{
    ChannelArbitrationConfig, Forwarding, HostArbitrationConfig, Interface, LinkCarries, LinkReads, MergeBy,
    SuspendPolicyConfig, TransactionSchedulerConfig, WriteCompletion,
};
use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Controller and host interface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerConfig {
    /// Commands inside the device at a time [count].
    #[schemars(range(min = 1))]
    pub queue_depth: u32,
    /// What the drive is joined to the host by: "nvme", or "sata" with one link for both directions and one queue.
    #[serde(skip_serializing_if = "is_default")]
    pub interface: Interface,
    /// On SATA a TRIM goes into the queue among reads and writes, and does not have the queue drain before it.
    #[serde(skip_serializing_if = "is_default")]
    pub queued_trims: bool,
    /// Rate of the host link, each direction by itself, on SATA of both together [B/s].
    #[schemars(transform = above_zero)]
    pub link_rate: BytesPerSecond,
    /// What crosses that: "data" alone; or "commands", and entries of queues, requests for these and for what is written, and completions as well.
    #[serde(skip_serializing_if = "is_default")]
    pub link_carries: LinkCarries,
    /// When the data of a read cross it: "by-page" as they come, or "whole", when all of them are there.
    #[serde(skip_serializing_if = "is_default")]
    pub link_reads: LinkReads,
    /// Controller time per command [ns].
    pub command_cost: Duration,
    /// Data of a command at most [B], as NVMe's MDTS says it; absent: any. The host makes several commands of a larger read or
    /// write, each of which takes a place of `queue_depth` and the time of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub max_transfer: Option<Bytes>,
    /// Queues of commands that hosts may have [count]; absent: as many as NVMe numbers. A job has one, or its `queues`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: Option<u32>,
    /// Entries of each queue, one of which stays empty [count]: a job has so many commands less one in flight for each of its
    /// queues at most; absent: as many as it likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 65_536))]
    pub queue_entries: Option<u32>,
    /// Commands of each queue that the drive has at a time [count], where the job says nothing else; the others wait in the queue.
    /// Absent: as many as it has room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub commands_per_queue: Option<u32>,
    /// From the doorbell until the controller has read a command out of its queue [ns]; absent: no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub fetch_time: Option<Duration>,
    /// Entries of one queue that are read at once at most [count]; absent: 1. With `fetch_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub fetch_entries: Option<u32>,
    /// Fetches that are under way at a time, of any queues [count]; absent: 1. With `fetch_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub fetches_in_flight: Option<u32>,
    /// Completions of a job that the host is told of with one interrupt [count], as NVMe's aggregation threshold; absent: it is
    /// told of each at once. With `interrupt_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub interrupt_threshold: Option<u32>,
    /// How long the first of them waits at most until the host is told [ns], as NVMe's aggregation time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub interrupt_time: Option<Duration>,
    /// When a host write completes: "buffer" or "program".
    pub write_completion: WriteCompletion,
    /// What the controller gives of a unit that waits for its program: all of it, the sectors that were written, or nothing, where its
    /// page is sensed on its die for the rest.
    pub forwards: Forwarding,
    /// Filled pages of a die that wait for their program [count]; absent: two stripes, or one of each kind of data that `ftl.streams` has, if that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub buffered_pages: Option<u32>,
    /// Filled pages of all dies together that wait for their program [count]: with as many, one die that is stuck holds up
    /// the writes to all; absent: what the dies may have is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub shared_buffered_pages: Option<u32>,
    /// After this long a partly filled page is padded and programmed [ns]; absent: it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub page_timeout: Option<Duration>,
}

/// What is not written of drives that say nothing.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            queue_depth: 1024,
            interface: Interface::Nvme,
            queued_trims: false,
            link_rate: BytesPerSecond(4_000_000_000),
            link_carries: LinkCarries::Data,
            link_reads: LinkReads::ByPage,
            command_cost: Duration(1_000),
            max_transfer: None,
            queues: None,
            queue_entries: None,
            commands_per_queue: None,
            fetch_time: None,
            fetch_entries: None,
            fetches_in_flight: None,
            interrupt_threshold: None,
            interrupt_time: None,
            write_completion: WriteCompletion::default(),
            forwards: Forwarding::default(),
            buffered_pages: None,
            shared_buffered_pages: None,
            page_timeout: None,
        }
    }
}

/// How many waiting accesses are looked at where nothing is said [count].
const MERGE_WINDOW: u32 = 8;

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_merge_window(window: &u32) -> bool {
    *window == MERGE_WINDOW
}

/// Scheduling of the dies, and of what comes from the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerConfig {
    /// Which queue of a die goes next.
    #[serde(deserialize_with = "string_or_table")]
    pub transactions: TransactionSchedulerConfig,
    /// What goes next over a channel: commands, or data.
    #[serde(deserialize_with = "string_or_table")]
    pub channel: ChannelArbitrationConfig,
    /// Whose command is taken in next, where several jobs have one ready.
    #[serde(deserialize_with = "string_or_table")]
    pub arbitration: HostArbitrationConfig,
    /// When a running erase or program is suspended.
    #[serde(deserialize_with = "string_or_table")]
    pub suspend: SuspendPolicyConfig,
    /// Whether commands to several planes of a die are merged.
    pub multi_plane: bool,
    /// How many accesses that wait behind the first one are looked at for that [count].
    #[serde(skip_serializing_if = "is_merge_window")]
    #[schemars(range(min = 1))]
    pub merge_window: u32,
    /// Which accesses go together.
    #[serde(skip_serializing_if = "is_default")]
    pub merge_by: MergeBy,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            transactions: TransactionSchedulerConfig::default(),
            channel: ChannelArbitrationConfig::default(),
            arbitration: HostArbitrationConfig::default(),
            suspend: SuspendPolicyConfig::default(),
            multi_plane: true,
            merge_window: MERGE_WINDOW,
            merge_by: MergeBy::default(),
        }
    }
}
