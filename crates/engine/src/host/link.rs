//! The link towards the host: read data leaves in the order in which it became ready.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ninescope_kernel::{NONE, Ns, Rate};
use ninescope_model::Cause;

use super::link_message::LinkMessage;
use crate::meter::Parts;
use crate::run::Run;

/// In the place of a transaction: the data of a write, where one link is for both directions.
const INBOUND: u32 = NONE - 1;
/// The same of what the drive sends beside data.
const ENTRY_REQUEST: u32 = NONE - 2;
const DATA_REQUEST: u32 = NONE - 3;
const COMPLETION: u32 = NONE - 4;

/// Read data for the host: one page access, or what the controller answers by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkJob {
    /// When the data is in the controller.
    pub ready: Ns,
    /// Bytes to move.
    pub bytes: u64,
    /// The command that asked.
    pub command: u32,
    /// The transaction that read it, `NONE` for forwarded and unmapped units.
    pub transaction: u32,
}

impl LinkJob {
    /// The data of a write, on a link for both directions.
    pub fn inbound(ready: Ns, bytes: u64, command: u32) -> Self {
        Self { ready, bytes, command, transaction: INBOUND }
    }

    /// Whether it is that.
    #[inline]
    pub fn is_inbound(&self) -> bool {
        self.transaction == INBOUND
    }

    /// What the drive sends to the host for a command beside data.
    pub(super) fn of_message(ready: Ns, message: LinkMessage, command: u32) -> Self {
        let transaction = match message {
            LinkMessage::EntryRequest | LinkMessage::Entry => ENTRY_REQUEST,
            LinkMessage::DataRequest => DATA_REQUEST,
            LinkMessage::Completion => COMPLETION,
        };
        Self { ready, bytes: message.bytes(), command, transaction }
    }

    /// What it is if not the data of a read.
    #[inline]
    pub fn message(&self) -> Option<LinkMessage> {
        match self.transaction {
            ENTRY_REQUEST => Some(LinkMessage::EntryRequest),
            DATA_REQUEST => Some(LinkMessage::DataRequest),
            COMPLETION => Some(LinkMessage::Completion),
            _ => None,
        }
    }

    /// Whether it is the data of a read.
    #[inline]
    pub fn is_read(&self) -> bool {
        self.transaction == NONE || self.transaction < COMPLETION
    }

    /// Where the time of a part of a read went that has just arrived: the last one to finish is the critical one, whose waits
    /// the request inherits.
    #[inline]
    pub fn add_parts<Q>(&self, run: &Run<Q>, parts: &mut Parts) {
        parts.add(Cause::Link, run.now - self.ready);
        if self.transaction != NONE {
            run.transactions.add_read(self.transaction, parts);
        }
    }
}

/// A job with its place in the order: ready time, then the order of queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    order: u64,
    job: LinkJob,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.job.ready, self.order).cmp(&(other.job.ready, other.order))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The link. Data may be announced before it is ready (a transfer is a time stamp): the next transfer is
/// decided when it begins, so that what becomes ready first goes first whatever the order of announcing.
#[derive(Debug)]
pub struct LinkOut {
    rate: Rate,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// The next transfer and when it begins; final once that time has come.
    next: Option<(Waiting, Ns)>,
    queued: u64,
    /// When the last decided transfer ends.
    free_at: Ns,
    busy: Ns,
    /// Of this, with the data of writes.
    inbound: Ns,
    measured_since: Ns,
}

impl LinkOut {
    /// An idle link.
    pub fn new(rate: Rate, depth: usize) -> Self {
        let waiting = BinaryHeap::with_capacity(depth * 4);
        Self {
            rate,
            waiting,
            next: None,
            queued: 0,
            free_at: Ns::ZERO,
            busy: Ns::ZERO,
            inbound: Ns::ZERO,
            measured_since: Ns::ZERO,
        }
    }

    /// Its rate, in each direction.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// When the data that wait longest became ready, or will.
    pub(super) fn oldest_ready(&self) -> Option<Ns> {
        let next = self.next.map(|(waiting, _)| waiting.job.ready);
        next.into_iter().chain(self.waiting.peek().map(|Reverse(waiting)| waiting.job.ready)).min()
    }

    /// Counts busy time from `now` on.
    pub fn begin_measuring(&mut self, now: Ns) {
        (self.busy, self.inbound) = (Ns::ZERO, Ns::ZERO);
        self.measured_since = now;
    }

    /// Busy time until `now`, the part of the present transfer included: with the data of writes, and towards the host.
    pub fn busy_until(&self, now: Ns) -> (Ns, Ns) {
        let present = |(_, begins): (Waiting, Ns)| now.saturating_since(begins.max(self.measured_since));
        let (inbound, outbound) = (self.inbound, self.busy - self.inbound);
        match self.next {
            Some(next) if next.0.job.is_inbound() => (inbound + present(next), outbound),
            Some(next) => (inbound, outbound + present(next)),
            None => (inbound, outbound),
        }
    }

    /// What it moved last, from `began` until now, was the data of a write.
    pub(super) fn was_inbound(&mut self, began: Ns, now: Ns) {
        self.inbound += now - began.max(self.measured_since);
    }

    /// Adds a job; returns when the wake-up must be, if it changed.
    #[inline]
    pub(super) fn push(&mut self, now: Ns, job: LinkJob) -> Option<Ns> {
        let arriving = Waiting { order: self.queued, job };
        self.queued += 1;
        match self.next {
            Some((next, begins)) if begins <= now || next < arriving => {
                self.waiting.push(Reverse(arriving));
                return None;
            }
            Some((next, _)) => self.waiting.push(Reverse(next)),
            None => {}
        }
        Some(self.decide(arriving))
    }

    /// The same of what goes behind the transfer that ends now, before all that waits.
    pub(super) fn push_behind(&mut self, now: Ns, job: LinkJob) -> Option<Ns> {
        if self.free_at != now || self.next.is_some_and(|(_, begins)| begins < now) {
            return self.push(now, job);
        }
        if let Some((next, _)) = self.next.take() {
            self.waiting.push(Reverse(next));
        }
        let behind = Waiting { order: self.queued, job };
        self.queued += 1;
        Some(self.decide(behind))
    }

    /// Makes `waiting` the next transfer; returns when it ends.
    #[inline]
    fn decide(&mut self, waiting: Waiting) -> Ns {
        let begins = self.free_at.max(waiting.job.ready);
        self.next = Some((waiting, begins));
        begins + self.rate.burst(waiting.job.bytes)
    }

    /// The transfer that was decided has ended: returns its job, when it began, and when the next one ends.
    #[inline]
    pub(super) fn finish(&mut self, now: Ns) -> Option<(LinkJob, Ns, Option<Ns>)> {
        let (finished, begins) = self.next.take()?;
        self.busy += now - begins.max(self.measured_since);
        self.free_at = now;
        let wake = self.waiting.pop().map(|Reverse(waiting)| self.decide(waiting));
        Some((finished.job, begins, wake))
    }
}
