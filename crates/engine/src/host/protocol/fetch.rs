//! The drive fetches commands out of the queues: it reads entries of one queue at a time over the link, and has them a round trip
//! later.

use ninescope_kernel::{Ns, WakeQueue};

use crate::config::Fetch;
use crate::host::Host;
use crate::run::Run;

/// The fetch that is under way.
#[derive(Debug)]
pub(super) struct Fetching {
    pub config: Fetch,
    /// The queue whose entries are fetched.
    pub queue: usize,
    pub began: Ns,
    /// The commands that come; none while nothing is fetched.
    pub commands: Vec<u32>,
}

impl Fetching {
    pub fn new(config: Fetch) -> Self {
        Self { config, queue: 0, began: Ns::ZERO, commands: Vec::with_capacity(config.entries as usize) }
    }

    /// Whether one is under way.
    pub fn is_busy(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Whether it takes in another entry of its queue.
    pub fn takes_more(&self, now: Ns) -> bool {
        self.began == now && self.commands.len() < self.config.entries as usize
    }
}

/// Commands that a fetch brought.
#[derive(Debug, Default)]
pub struct Fetched {
    pub queue: u32,
    pub began: Ns,
    pub commands: Vec<u32>,
}

impl Host {
    fn fetching(&mut self) -> Option<&mut Fetching> {
        self.front.protocol.as_mut()?.fetching.as_mut()
    }

    /// Whether commands are fetched before they enter the processor.
    pub(in crate::host) fn fetches(&self) -> bool {
        self.front.protocol.as_ref().is_some_and(|protocol| protocol.fetching.is_some())
    }

    /// How long each command is fetched.
    pub fn fetch_time(&self) -> Ns {
        let fetching = self.front.protocol.as_ref().and_then(|protocol| protocol.fetching.as_ref());
        fetching.map_or(Ns::ZERO, |fetching| fetching.config.time)
    }

    /// A command that was taken in is fetched, alone or with those before it. Returns whether it is.
    pub fn is_fetched_later<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        let queue = self.queue_of(command) as usize;
        let Some(fetching) = self.fetching() else { return false };
        if !fetching.is_busy() {
            (fetching.queue, fetching.began) = (queue, run.now);
            run.queue.schedule(run.resources.fetch(), run.now + fetching.config.time);
        }
        fetching.commands.push(command);
        if run.transactions.tenants.is_some() {
            self.taken_in_by_tenant(run, command);
        }
        true
    }

    /// The entries that were fetched are in the controller.
    pub fn fetch_ends(&mut self) -> Fetched {
        let Some(fetching) = self.fetching() else { return Fetched::default() };
        let (queue, began) = (fetching.queue as u32, fetching.began);
        Fetched { queue, began, commands: std::mem::take(&mut fetching.commands) }
    }

    /// Room for those of the next fetch, which may have begun.
    pub fn fetch_is_over(&mut self, mut fetched: Fetched) {
        fetched.commands.clear();
        if let Some(fetching) = self.fetching().filter(|fetching| !fetching.is_busy()) {
            fetching.commands = fetched.commands;
        }
    }
}
