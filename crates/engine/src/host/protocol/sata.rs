//! What SATA has otherwise: one link for both directions, and commands outside of the one queue that there is (NCQ). Before these
//! the queue drains, and nothing is taken in beside them. Of these are a FLUSH, and a TRIM where the drive has none that is queued.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::{DriveErase, Op, Request, SECTOR_BYTES};

use super::Protocol;
use crate::config::Interface;
use crate::host::{Host, HostFront, LinkJob};
use crate::run::Run;

impl Protocol {
    fn is_sata(&self) -> bool {
        self.config.interface == Interface::Sata
    }

    /// Whether a command has the drive for itself.
    pub(super) fn is_alone(&self, request: &Request) -> bool {
        let is_queued = || self.config.queued_trims && request.remark.erase() == DriveErase::None;
        let alone = match request.op {
            Op::Read | Op::Write => false,
            Op::Trim => !is_queued(),
            Op::Flush => true,
        };
        self.is_sata() && alone
    }

    /// Whether a command that is taken in is a TRIM in the queue.
    pub(super) fn is_queued_trim(&self, request: &Request) -> bool {
        self.is_sata() && request.op == Op::Trim && !self.is_alone(request)
    }
}

impl HostFront {
    /// Whether the next command of a lane may go beside what is inside.
    pub(super) fn goes_beside(&self, protocol: &Protocol, lane: usize) -> bool {
        if self.inside == 0 || !protocol.is_sata() {
            return true;
        }
        let next = protocol.next_request(lane).or(self.lanes[lane].next);
        !protocol.alone && !next.is_some_and(|next| protocol.is_alone(&next))
    }
}

impl Host {
    /// The data of a write wait for the link, if one is for both directions. Returns whether they do.
    pub(super) fn waits_for_shared_link<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) -> bool {
        let half_duplex = self.front.protocol.as_ref().is_some_and(|protocol| protocol.is_sata());
        if half_duplex {
            self.enter_shared_link(run, index);
        }
        half_duplex
    }

    /// The data of a write wait for the link, among those of reads.
    fn enter_shared_link<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) {
        let bytes = u64::from(self.commands[index].sectors) * SECTOR_BYTES;
        self.commands[index].mark = run.now;
        self.send(run, LinkJob::inbound(run.now, bytes, index));
    }

    /// They have crossed it, from `began` until now.
    pub fn write_data_crossed<Q>(&mut self, run: &mut Run<Q>, job: &LinkJob, began: Ns) {
        self.link_out.was_inbound(began, run.now);
        if run.transactions.tenants.is_some() {
            self.moved_by_tenant(run, job, began, true);
        }
        let command = &mut self.commands[job.command];
        command.link_in = run.now - command.mark;
        command.mark = run.now;
    }
}
