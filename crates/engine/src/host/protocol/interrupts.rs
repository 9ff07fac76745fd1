//! Completions that are gathered: the host is told of several with one interrupt, which comes with the last of so many, or so
//! long after the first of them. Each queue has its own.

use std::collections::VecDeque;

use ninescope_kernel::{Ns, WakeQueue};

use super::Protocol;
use crate::config::Coalescing;
use crate::host::Host;
use crate::meter::{Parts, Waits};
use crate::run::Run;

/// A command that completed, of which the host was not told.
#[derive(Clone, Copy, Debug)]
pub struct Gathered {
    /// Where it is.
    pub slot: u32,
    /// When it completed.
    pub at: Ns,
    /// The page access it waited for last.
    pub transaction: u32,
    /// Where its time went until then.
    pub parts: Parts,
}

/// Completions of which the host is told together.
#[derive(Debug, Default)]
pub struct Batch {
    commands: Vec<Gathered>,
    /// By command and holder, where several tenants share the drive: whom it waited for.
    behind: Vec<Waits>,
}

impl Batch {
    /// The commands, in the order in which they completed.
    pub fn commands(&self) -> &[Gathered] {
        &self.commands
    }

    /// Whom one of them waited for; empty where there is one tenant alone.
    pub fn behind(&self, command: usize) -> &[Waits] {
        let holders = self.behind.len() / self.commands.len().max(1);
        &self.behind[command * holders..(command + 1) * holders]
    }
}

/// What a queue has gathered.
#[derive(Debug, Default)]
struct Vector {
    batch: Batch,
    /// Interrupts so far.
    raised: u64,
}

/// A time at which an interrupt is due, unless the queue has had one since.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Ns,
    queue: u32,
    raised: u64,
}

/// What all queues have gathered.
#[derive(Debug)]
pub(super) struct Interrupts {
    config: Coalescing,
    vectors: Vec<Vector>,
    /// In the order in which their first completions came, which is that of their times.
    due: VecDeque<Due>,
    /// Room of a batch that was told.
    spare: Batch,
}

impl Interrupts {
    pub fn new(config: Coalescing, queues: usize) -> Self {
        let vectors = (0..queues).map(|_| Vector::default()).collect();
        Self { config, vectors, due: VecDeque::new(), spare: Batch::default() }
    }

    /// Gathers a command of a queue. Returns whether there are enough of them.
    fn gather(&mut self, queue: u32, command: &Gathered, behind: &[Waits]) -> bool {
        let vector = &mut self.vectors[queue as usize];
        if vector.batch.commands.is_empty() {
            self.due.push_back(Due { at: command.at + self.config.time, queue, raised: vector.raised });
        }
        vector.batch.commands.push(*command);
        vector.batch.behind.extend_from_slice(behind);
        vector.batch.commands.len() as u32 >= self.config.completions
    }

    /// The first time that an interrupt is still due at.
    fn next_due(&mut self) -> Option<Due> {
        while let Some(&due) = self.due.front() {
            if self.vectors[due.queue as usize].raised == due.raised {
                return Some(due);
            }
            self.due.pop_front();
        }
        None
    }

    fn raise(&mut self, queue: u32) -> Batch {
        let vector = &mut self.vectors[queue as usize];
        vector.raised += 1;
        std::mem::replace(&mut vector.batch, std::mem::take(&mut self.spare))
    }
}

impl Host {
    /// Whether the host is told of completions later, because they are gathered or have to cross the link.
    pub fn tells_later(&self) -> bool {
        let later = |protocol: &Protocol| protocol.interrupts.is_some() || protocol.messages.is_some();
        self.front.protocol.as_deref().is_some_and(later)
    }

    /// The queue of a command inside; each lane has one where nothing else is said.
    pub fn queue_of(&self, slot: u32) -> u32 {
        let queue = self.front.protocol.as_ref().map(|protocol| protocol.of_command[slot as usize].queue);
        queue.unwrap_or_else(|| u32::from(self.commands[slot].lane))
    }

    /// A command has completed, and leaves its place to another; the host is told later.
    pub fn leaves_place(&mut self) {
        self.front.inside -= 1;
    }

    /// Whether one interrupt tells of several.
    pub fn gathers(&self) -> bool {
        self.front.protocol.as_ref().is_some_and(|protocol| protocol.interrupts.is_some())
    }

    /// A completion waits for an interrupt. Returns whether that is now.
    pub fn gather<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: &Gathered, behind: &[Waits]) -> bool {
        let queue = self.queue_of(command.slot);
        let Some(interrupts) = self.front.protocol.as_mut().and_then(|protocol| protocol.interrupts.as_mut()) else {
            return false;
        };
        let none_before = interrupts.next_due().is_none();
        let enough = interrupts.gather(queue, command, behind);
        if none_before {
            run.queue.schedule(run.resources.interrupts(), run.now + interrupts.config.time);
        }
        enough
    }

    /// The interrupt of a queue: all completions that it is about.
    pub fn raise_interrupt(&mut self, queue: u32) -> Batch {
        let interrupts = self.front.protocol.as_mut().and_then(|protocol| protocol.interrupts.as_mut());
        interrupts.map(|interrupts| interrupts.raise(queue)).unwrap_or_default()
    }

    /// The host was told. Nothing is waited for where nothing is due.
    pub fn interrupt_is_over<Q: WakeQueue>(&mut self, run: &mut Run<Q>, mut batch: Batch) {
        batch.commands.clear();
        batch.behind.clear();
        if let Some(interrupts) = self.front.protocol.as_mut().and_then(|protocol| protocol.interrupts.as_mut()) {
            interrupts.spare = batch;
            match interrupts.next_due() {
                Some(due) => run.queue.schedule(run.resources.interrupts(), due.at),
                None => run.queue.cancel(run.resources.interrupts()),
            }
        }
    }

    /// The queue whose interrupt is due now.
    pub fn due_interrupt(&mut self, now: Ns) -> Option<u32> {
        let interrupts = self.front.protocol.as_mut()?.interrupts.as_mut()?;
        interrupts.next_due().filter(|due| due.at <= now).map(|due| due.queue)
    }
}
