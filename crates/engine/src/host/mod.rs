//! The host's side of the device: commands in, completions out.

mod command;
mod completion;
mod fetch;
mod link;

use ninescope_kernel::{Fifo, Ns};
use ninescope_model::{Op, Request};
use ninescope_workload::{Arrival, HostCacheStatistics, Workload};

use crate::config::{EngineConfig, RunLimits};
use crate::error::SimulationError;

pub use command::HostCommand;
pub use link::{LinkJob, LinkOut};

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
}

/// The workload and how far it is.
pub struct HostFront {
    workload: Box<dyn Workload>,
    arrival: Arrival,
    /// The next request, read ahead.
    next: Option<Request>,
    started: bool,
    /// Commands inside the device.
    pub inside: u32,
    depth: u32,
    submitted: u64,
    /// Commands completed.
    pub completed: u64,
    requests_max: u64,
    duration: Ns,
    warmup_requests: u64,
    /// Controller time per command [ns].
    pub command_cost: Ns,
}

impl std::fmt::Debug for HostFront {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HostFront")
            .field("inside", &self.inside)
            .field("completed", &self.completed)
            .finish_non_exhaustive()
    }
}

impl HostFront {
    /// A host that has not begun.
    pub fn new(workload: Box<dyn Workload>, config: &EngineConfig, limits: &RunLimits) -> Self {
        let arrival = workload.arrival();
        let depth = match arrival {
            Arrival::Open => config.queue_depth,
            Arrival::Closed => config.queue_depth.min(limits.closed_queue_depth.max(1)),
        };
        Self {
            workload,
            arrival,
            next: None,
            started: false,
            inside: 0,
            depth: depth.max(1),
            submitted: 0,
            completed: 0,
            requests_max: limits.requests.unwrap_or(u64::MAX),
            duration: limits.duration.unwrap_or(Ns::NEVER),
            warmup_requests: limits.warmup_requests,
            command_cost: config.command_cost,
        }
    }

    /// What the cache did that the requests came through, where there is one.
    pub fn host_cache(&self) -> Option<&HostCacheStatistics> {
        self.workload.host_cache()
    }

    /// Reads the first request, once. Returns whether this was the beginning of the run.
    pub fn start(&mut self) -> Result<bool, SimulationError> {
        let begins = !self.started;
        if begins {
            self.started = true;
            self.advance()?;
        }
        Ok(begins)
    }

    /// Reads the next request ahead; none beyond the limits of the run.
    #[inline]
    fn advance(&mut self) -> Result<(), SimulationError> {
        self.next = if self.submitted < self.requests_max { self.workload.next_request()? } else { None };
        Ok(())
    }

    /// Whether a command enters the device at `now`.
    #[inline]
    pub fn can_fetch(&self, now: Ns) -> bool {
        self.inside < self.depth
            && now < self.duration
            && self.next.is_some_and(|request| self.has_arrived(&request, now))
    }

    #[inline]
    fn has_arrived(&self, request: &Request, now: Ns) -> bool {
        self.arrival == Arrival::Closed || request.submitted <= now
    }
}

/// A stage that commands pass one after another: the processor, the link towards the device.
#[derive(Debug, Default)]
pub struct SerialStage {
    /// Commands in the stage, in order.
    pub queue: Fifo,
    /// When the last of them has passed.
    pub free_at: Ns,
    /// Time in use since the counters were cleared [ns].
    pub busy: Ns,
}
