//! What lies between the requests of the host and the commands that the drive takes in, where the description of the drive says
//! that anything does: a largest command, completions that are gathered.
//!
//! A drive without any of it has no [`Protocol`], and each request is a command. Knows nothing of what is done for a command.

mod intake;
mod interrupts;
mod parts;

use ninescope_kernel::Slab;

use super::lane::LaneConfig;
use crate::config::ProtocolConfig;
pub use interrupts::Gathered;
use interrupts::Interrupts;
use parts::{OpenRequest, Rest};

/// A queue of commands that the host has for a job, to which the drive gives turns.
#[derive(Clone, Copy, Debug)]
struct Queue {
    lane: u16,
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
    queues: Vec<Queue>,
    /// The queue that is asked first: the one after the last that was served.
    turn: usize,
    /// Requests some of whose commands are not taken in or have not completed.
    requests: Slab<OpenRequest>,
    /// By lane: what is still to be taken in of the request that was begun last.
    rests: Vec<Option<Rest>>,
    /// By command inside.
    of_command: Vec<OfCommand>,
    /// Completions that are gathered, where they are.
    interrupts: Option<Interrupts>,
    /// Commands taken in so far.
    commands: u64,
}

impl Protocol {
    /// That of a host of these lanes; `None` where each request is a command, taken in at once and told of at once.
    pub fn new(config: &ProtocolConfig, lanes: &[LaneConfig]) -> Option<Box<Self>> {
        if *config == ProtocolConfig::default() {
            return None;
        }
        let queues: Vec<Queue> = (0..lanes.len() as u16).map(|lane| Queue { lane }).collect();
        Some(Box::new(Self {
            config: *config,
            interrupts: config.interrupts.map(|config| Interrupts::new(config, queues.len())),
            queues,
            turn: 0,
            requests: Slab::with_capacity(lanes.len()),
            rests: vec![None; lanes.len()],
            of_command: Vec::new(),
            commands: 0,
        }))
    }

    /// What there is.
    pub fn config(&self) -> &ProtocolConfig {
        &self.config
    }

    fn lane_of(&self, queue: usize) -> usize {
        self.queues[queue].lane as usize
    }
}
