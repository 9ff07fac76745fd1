//! What lies between the requests of the host and the commands that the drive takes in, where the description of the drive says
//! that anything does: a largest command, queues with so many entries, the time of a fetch, completions that are gathered; one
//! link for both directions and commands that have the drive for themselves, on SATA.
//!
//! A drive without any of it has no [`Protocol`], and each request is a command. Knows nothing of what is done for a command.

mod fetch;
mod intake;
mod interrupts;
mod messages;
mod parts;
mod sata;
mod whole_reads;

use std::collections::VecDeque;

use ninescope_kernel::{Ns, Slab};

use super::lane::LaneConfig;
use crate::config::{LinkCarries, LinkReads, ProtocolConfig};
pub use fetch::Fetched;
use fetch::Fetching;
pub use interrupts::Gathered;
use interrupts::Interrupts;
use messages::Messages;
use parts::{OpenRequest, Rest};
use whole_reads::WholeReads;

/// A queue of commands that the host has for a job, to which the drive gives turns.
#[derive(Clone, Copy, Debug)]
struct Queue {
    lane: u16,
    /// Its commands that were taken in and that the host was not told of.
    commands: u32,
    /// So many of them the drive has at most, whatever entries there are [count].
    most: u32,
    /// When the drive last had as many, and then one fewer.
    room_since: Ns,
}

/// Something of each command inside, by its place.
#[derive(Debug, Default)]
struct ByCommand<T>(Vec<T>);

impl<T: Default> ByCommand<T> {
    fn of(&mut self, command: u32) -> &mut T {
        let places = self.0.len().max(command as usize + 1);
        self.0.resize_with(places, T::default);
        &mut self.0[command as usize]
    }
}

/// What a command inside belongs to.
#[derive(Clone, Copy, Debug, Default)]
struct OfCommand {
    request: u32,
    queue: u32,
}

/// How far the host is with its requests, and whose queue is next.
#[derive(Debug)]
pub(super) struct Protocol {
    config: ProtocolConfig,
    /// By lane: commands of each of its queues that the drive has, where it says anything of them.
    of_lanes: Vec<Option<u32>>,
    queues: Vec<Queue>,
    /// The queue that is asked first: the one after the last that was served.
    turn: usize,
    /// Requests some of whose commands are not taken in or have not completed.
    requests: Slab<OpenRequest>,
    /// By lane: what is still to be taken in of the requests that were begun, in their order.
    rests: Vec<VecDeque<Rest>>,
    /// By lane: commands of requests that were begun of which the host was not told.
    lane_commands: Vec<u64>,
    /// By lane: how many of them it may have.
    lane_entries: Vec<u64>,
    /// By command inside.
    of_command: Vec<OfCommand>,
    /// The fetches that are under way, where they take time.
    fetching: Option<Fetching>,
    /// Completions that are gathered, where they are.
    interrupts: Option<Interrupts>,
    /// What crosses the link for each command, where that is more than data.
    messages: Option<Messages>,
    /// Data of reads that wait for the rest, where they do.
    whole_reads: Option<WholeReads>,
    /// The command taken in last has the drive for itself.
    alone: bool,
    /// How long the drive had as many commands of its queue as it may, while that one waited.
    held_by_queue: Ns,
    /// Commands taken in so far.
    commands: u64,
}

impl Protocol {
    /// That of a host of these lanes; `None` where each request is a command, taken in at once and told of at once.
    pub fn new(config: &ProtocolConfig, lanes: &[LaneConfig]) -> Option<Box<Self>> {
        let is_plain = |lane: &LaneConfig| lane.queues <= 1 && lane.commands_per_queue.is_none();
        if *config == ProtocolConfig::default() && lanes.iter().all(is_plain) {
            return None;
        }
        let of_lane = |(lane, of_lane): (u16, &LaneConfig)| {
            let most = of_lane.commands_per_queue.or(config.commands_per_queue).unwrap_or(u32::MAX).max(1);
            vec![Queue { lane, commands: 0, most, room_since: Ns::ZERO }; of_lane.queues.max(1) as usize]
        };
        let queues: Vec<Queue> = (0..).zip(lanes).flat_map(of_lane).collect();
        let entries = u64::from(config.filled_entries());
        Some(Box::new(Self {
            config: *config,
            of_lanes: lanes.iter().map(|lane| lane.commands_per_queue).collect(),
            interrupts: config.interrupts.map(|config| Interrupts::new(config, queues.len())),
            queues,
            turn: 0,
            requests: Slab::with_capacity(lanes.len()),
            rests: vec![VecDeque::new(); lanes.len()],
            lane_commands: vec![0; lanes.len()],
            lane_entries: lanes.iter().map(|lane| u64::from(lane.queues.max(1)) * entries).collect(),
            fetching: config.fetch.map(Fetching::new),
            messages: (config.link_carries == LinkCarries::Commands).then(Messages::default),
            whole_reads: (config.link_reads == LinkReads::Whole).then(WholeReads::default),
            of_command: Vec::new(),
            alone: false,
            held_by_queue: Ns::ZERO,
            commands: 0,
        }))
    }

    /// Commands taken in so far, which is the number of the next one.
    pub fn taken_in(&self) -> u64 {
        self.commands
    }

    /// What there is.
    pub fn config(&self) -> &ProtocolConfig {
        &self.config
    }

    /// By lane: commands of each of its queues that the drive has at a time, where it says anything of them.
    pub fn of_lanes(&self) -> &[Option<u32>] {
        &self.of_lanes
    }

    /// Whether requests wait in queues that are modelled: a job that waits for completions submits before the device has room.
    pub fn has_queues(&self) -> bool {
        self.config.has_queues() || self.of_lanes.iter().any(Option::is_some)
    }

    /// How long the drive had as many commands of the queue of the command taken in last as it may, while that waited.
    pub fn held_by_queue(&self) -> Ns {
        self.held_by_queue
    }

    fn lane_of(&self, queue: usize) -> usize {
        self.queues[queue].lane as usize
    }
}
