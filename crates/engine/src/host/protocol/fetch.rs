//! The drive fetches commands out of the queues: it reads entries of one queue over the link, and has them a round trip later. So
//! many such fetches are under way at a time.

use std::collections::VecDeque;

use ninescope_kernel::{Ns, WakeQueue};

use super::Protocol;
use crate::config::Fetch;
use crate::host::Host;
use crate::run::Run;

/// The fetches that are under way.
#[derive(Debug)]
pub(super) struct Fetching {
    pub config: Fetch,
    /// In the order in which they began, which is that in which they end.
    under_way: VecDeque<Fetched>,
    /// Room for the commands of those to come.
    spare: Vec<Vec<u32>>,
}

/// Commands that a fetch brings.
#[derive(Debug, Default)]
pub struct Fetched {
    pub queue: u32,
    pub began: Ns,
    pub commands: Vec<u32>,
}

impl Fetching {
    pub fn new(config: Fetch) -> Self {
        Self { config, under_way: VecDeque::new(), spare: Vec::new() }
    }

    /// The queue of a fetch that has just begun and takes in another entry.
    pub fn takes_more_of(&self, now: Ns) -> Option<usize> {
        let last = self.under_way.back()?;
        let takes_more = last.began == now && last.commands.len() < self.config.entries as usize;
        takes_more.then_some(last.queue as usize)
    }

    /// Whether another one may begin.
    pub fn may_begin(&self) -> bool {
        self.under_way.len() < self.config.in_flight as usize
    }

    /// A command comes with the fetch that has just begun, or with one that begins now. Returns whether that is the only one.
    fn brings(&mut self, queue: u32, command: u32, now: Ns) -> bool {
        let joins = self.takes_more_of(now) == Some(queue as usize);
        if !joins {
            let commands = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.config.entries as usize));
            self.under_way.push_back(Fetched { queue, began: now, commands });
        }
        if let Some(last) = self.under_way.back_mut() {
            last.commands.push(command);
        }
        !joins && self.under_way.len() == 1
    }
}

impl Host {
    fn fetching(&mut self) -> Option<&mut Fetching> {
        self.front.protocol.as_mut()?.fetching.as_mut()
    }

    /// Whether commands are fetched before they enter the processor.
    pub(in crate::host) fn fetches(&self) -> bool {
        let fetched = |protocol: &Protocol| protocol.fetching.is_some() || protocol.messages.is_some();
        self.front.protocol.as_deref().is_some_and(fetched)
    }

    /// How long each command is fetched.
    pub fn fetch_time(&self) -> Ns {
        let fetching = self.front.protocol.as_ref().and_then(|protocol| protocol.fetching.as_ref());
        fetching.map_or(Ns::ZERO, |fetching| fetching.config.time)
    }

    /// A command that was taken in comes later: it is asked for over the link, or fetched for a time.
    pub fn comes_later<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        self.asks_for_entry(run, command) || self.is_fetched_later(run, command)
    }

    /// A command that was taken in is fetched, alone or with those before it. Returns whether it is.
    fn is_fetched_later<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        let (queue, begins) = (self.queue_of(command), self.front.when_awake(run.now));
        let Some(fetching) = self.fetching() else { return false };
        if fetching.brings(queue, command, run.now) {
            run.queue.schedule(run.resources.fetch(), begins + fetching.config.time);
        }
        if run.transactions.tenants.is_some() {
            self.taken_in_by_tenant(run, command);
        }
        true
    }

    /// The entries of a fetch are in the controller, of the one that began first; none where all are under way still.
    pub fn fetch_ends<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<Fetched> {
        let awake_at = self.front.awake_at.unwrap_or_default();
        let fetching = self.fetching()?;
        let ends = fetching.under_way.front()?.began.max(awake_at) + fetching.config.time;
        if ends > run.now {
            run.queue.schedule(run.resources.fetch(), ends);
            return None;
        }
        fetching.under_way.pop_front()
    }

    /// Room for those of another fetch.
    pub fn fetch_is_over(&mut self, mut fetched: Fetched) {
        fetched.commands.clear();
        if let Some(fetching) = self.fetching() {
            fetching.spare.push(fetched.commands);
        }
    }
}
