//! Whom commands waited for in the controller's processor and on the link, where several tenants share the drive.
//!
//! Processor and link towards the device serve in the order of entry: who enters waits for what is left of all that is inside.
//! The link towards the host goes by when data are ready, which may be announced before: what it moved last is remembered for as
//! long as somebody may have waited behind it.

use ninescope_kernel::Ns;

use super::served::{Stage, Transfer};
use super::stages::SerialStage;
use super::{Host, HostCommand, LinkJob};
use crate::run::Run;

impl Host {
    fn stage(&self, stage: Stage) -> &SerialStage {
        match stage {
            Stage::Processor => &self.processor,
            Stage::LinkIn => &self.link_in,
        }
    }

    fn stage_mut(&mut self, stage: Stage) -> &mut SerialStage {
        match stage {
            Stage::Processor => &mut self.processor,
            Stage::LinkIn => &mut self.link_in,
        }
    }

    /// How long a command has a stage.
    fn time_in(&self, stage: Stage, index: u32) -> Ns {
        match stage {
            Stage::Processor => self.processor_time(index),
            Stage::LinkIn => self.link_time(index),
        }
    }

    /// A command was taken in.
    #[inline(never)]
    pub(super) fn taken_in_by_tenant<Q>(&self, run: &mut Run<Q>, index: u32) {
        let HostCommand { lane, host_queue, .. } = self.commands[index];
        if let Some(tenants) = &mut run.transactions.tenants {
            let limited = self.front.lanes[lane as usize].held_by_limit();
            let by_queue = self.front.protocol.as_ref().map_or(Ns::ZERO, |protocol| protocol.held_by_queue());
            tenants.fetched(index, lane, run.now, (host_queue, limited.max(by_queue)));
        }
    }

    /// A command is about to enter the processor, at once or behind its fetch.
    #[inline(never)]
    pub(super) fn enters_processor_by_tenant<Q>(&mut self, run: &mut Run<Q>, index: u32) {
        if !self.fetches() {
            self.taken_in_by_tenant(run, index);
        }
        if self.front.command_cost > Ns::ZERO || self.front.trim_entry_time > Ns::ZERO {
            self.enters_by_tenant(run, Stage::Processor, index);
        }
    }

    /// A command is about to enter a stage, behind all that is in it.
    #[inline(never)]
    pub(super) fn enters_by_tenant<Q>(&mut self, run: &mut Run<Q>, stage: Stage, index: u32) {
        let Some(tenants) = &mut run.transactions.tenants else { return };
        let (lane, time) = (self.commands[index].lane, self.time_in(stage, index));
        let first = self.stage(stage).first().map(|head| {
            let (left, whole) = (self.commands[head].mark.saturating_since(run.now), self.time_in(stage, head));
            // While the drive is not awake it has not begun.
            (self.commands[head].lane, whole.saturating_since(left))
        });
        let tenants_inside = &mut self.stage_mut(stage).by_tenant.inside;
        tenants_inside.resize(tenants.ledgers.holders() - 1, Ns::ZERO);
        for (tenant, &inside) in (0_u16..).zip(&*tenants_inside) {
            let served = first.filter(|&(of, _)| of == tenant).map_or(Ns::ZERO, |(_, served)| served);
            let waits = inside - served;
            let waits = if stage == Stage::Processor { (waits, Ns::ZERO) } else { (Ns::ZERO, waits) };
            tenants.in_front(index, tenant, waits);
        }
        tenants_inside[lane as usize] += time;
    }

    /// A command has passed a stage.
    #[inline(never)]
    pub(super) fn passed_by_tenant(&mut self, stage: Stage, index: u32) {
        let (lane, time) = (self.commands[index].lane, self.time_in(stage, index));
        // One that takes no time, and waited there for the drive to be awake, is nobody's wait: it did not enter.
        if time > Ns::ZERO {
            let inside = &mut self.stage_mut(stage).by_tenant.inside[lane as usize];
            *inside = *inside - time;
        }
    }

    /// The link towards the host has moved the data of a job, from `began` until now; with `last` they are what its command
    /// waited for last.
    #[inline(never)]
    pub fn moved_by_tenant<Q>(&mut self, run: &mut Run<Q>, job: &LinkJob, began: Ns, last: bool) {
        if last {
            self.waited_for_link_by_tenant(run, job, began);
        }
        self.link_moved(job, began, run.now);
    }

    /// The same, by nobody waited for.
    pub(super) fn link_moved(&mut self, job: &LinkJob, began: Ns, now: Ns) {
        let transfer = Transfer { from: began, until: now, tenant: self.commands[job.command].lane };
        let oldest = self.link_out.oldest_ready().unwrap_or(now).min(job.ready);
        let moved = &mut self.moved.0;
        while moved.front().is_some_and(|transfer| transfer.until <= oldest) {
            moved.pop_front();
        }
        moved.push_back(transfer);
    }

    /// From when the data of a job were ready until the link `began` with them, it moved others.
    fn waited_for_link_by_tenant<Q>(&self, run: &mut Run<Q>, job: &LinkJob, began: Ns) {
        let Some(tenants) = &mut run.transactions.tenants else { return };
        self.link_waits(job, began, |tenant, behind| tenants.in_front(job.command, tenant, (Ns::ZERO, behind)));
    }

    /// Tells behind whom that was, and how long.
    pub(super) fn link_waits(&self, job: &LinkJob, began: Ns, mut told: impl FnMut(u16, Ns)) {
        for transfer in self.moved.0.iter().rev().take_while(|transfer| transfer.until > job.ready) {
            told(transfer.tenant, transfer.until.min(began).saturating_since(transfer.from.max(job.ready)));
        }
    }
}
