//! Commands on a drive with a protocol between requests and commands: they complete as parts of requests, and the host may be
//! told of several at once.

use ninescope_kernel::Ns;
use ninescope_model::Cause;

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::host::{Fetched, Gathered, HostCommand, LinkJob, LinkMessage};
use crate::meter::Parts;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// Completes a command, or gathers it for an interrupt.
    #[inline(never)]
    pub(super) fn complete_by_protocol(
        &mut self,
        index: u32,
        mut parts: Parts,
        transaction: u32,
    ) -> Result<(), SimulationError> {
        let command = *self.host.command(index);
        self.host.close_parts(&command, &mut parts);
        parts.add(Cause::Fetch, self.host.fetch_time());
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.completes(index, transaction, self.run.now);
            if self.waits_for_memory {
                self.waited_for_memory_behind(index, transaction);
            }
        }
        if self.host.tells_later() {
            return self.command_done(index, &command, &parts, transaction);
        }
        let latency = command.latency(&mut self.run, &parts)?;
        self.part_completed(index, &command, &parts, (latency, transaction))
    }

    /// Nothing is left to do for a command, of which the host is told later.
    fn command_done(
        &mut self,
        slot: u32,
        command: &HostCommand,
        parts: &Parts,
        transaction: u32,
    ) -> Result<(), SimulationError> {
        let tenants = self.run.transactions.tenants.as_mut();
        let behind = tenants.map(|tenants| tenants.lend_last()).unwrap_or_default();
        let (at, queue) = (self.run.now, self.host.queue_of(slot));
        self.host.leaves_place();
        observe!(
            self,
            Event::Gathered { slot, id: command.id, queue, op: command.op, parts, behind: &behind, transaction }
        );
        let gathered = Gathered { slot, at, transaction, parts: *parts };
        let enough = if self.host.sends_messages() {
            self.host.sends_completion(&mut self.run, &gathered, &behind);
            false
        } else {
            self.host.gather(&mut self.run, &gathered, &behind)
        };
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.give_last_back(behind);
        }
        if self.host.is_awaited(at) {
            self.host.made_room(&mut self.run, command.op, parts);
        }
        if enough { self.interrupt(queue) } else { Ok(()) }
    }

    /// Fetches brought commands.
    pub(super) fn fetch_woke(&mut self) -> Result<(), SimulationError> {
        while let Some(fetched) = self.host.fetch_ends(&mut self.run) {
            self.commands_came(fetched)?;
        }
        Ok(())
    }

    fn commands_came(&mut self, fetched: Fetched) -> Result<(), SimulationError> {
        let (queue, from, commands) = (fetched.queue, fetched.began, fetched.commands.len() as u32);
        self.run.counters.fetches += 1;
        self.run.counters.fetched_commands += u64::from(commands);
        observe!(self, Event::EntriesFetched { queue, from, commands });
        for &command in &fetched.commands {
            self.enter_processor(command)?;
        }
        self.host.fetch_is_over(fetched);
        Ok(())
    }

    /// What is no data has crossed the link towards the host, since `began`.
    #[inline(never)]
    pub(super) fn message_crossed(
        &mut self,
        message: LinkMessage,
        job: &LinkJob,
        began: Ns,
    ) -> Result<(), SimulationError> {
        let (slot, now) = (job.command, self.run.now);
        self.run.counters.link_messages += 1 + u64::from(message == LinkMessage::EntryRequest);
        observe!(self, Event::MessageCrosses { slot, message, from: began, until: now });
        if message == LinkMessage::Completion {
            return self.completion_crossed(job, began);
        }
        if self.run.transactions.tenants.is_some() {
            self.host.moved_by_tenant(&mut self.run, job, began, true);
        }
        let (from, until) = self.host.request_crossed(&mut self.run, slot);
        if message == LinkMessage::EntryRequest {
            observe!(self, Event::MessageCrosses { slot, message: LinkMessage::Entry, from, until });
        } else {
            observe!(self, Event::LinkIn { slot, from, until });
        }
        if until == now { self.came_over_link(slot) } else { Ok(()) }
    }

    /// What was asked for a command is in the controller.
    pub(super) fn came_over_link(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.host.entry_came(index) { self.enter_processor(index) } else { self.write_data_arrived(index) }
    }

    /// The completion of a command is in the host's memory: it is told, or will be with others.
    fn completion_crossed(&mut self, job: &LinkJob, began: Ns) -> Result<(), SimulationError> {
        let (slot, now) = (job.command, self.run.now);
        let tenants = self.run.transactions.tenants.as_mut();
        let mut behind = tenants.map(|tenants| tenants.lend_last()).unwrap_or_default();
        let done = self.host.completion_crossed(&mut self.run, job, began, &mut behind);
        let mut over = false;
        if let (Some(done), true) = (done, self.host.gathers()) {
            let mut parts = done.parts;
            parts.add(Cause::Link, now - done.at);
            over = self.host.gather(&mut self.run, &Gathered { at: now, parts, ..done }, &behind);
        }
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.give_last_back(behind);
        }
        if self.host.gathers() {
            return if over { self.interrupt(self.host.queue_of(slot)) } else { Ok(()) };
        }
        let Some(Gathered { at, transaction, mut parts, .. }) = done else { return Ok(()) };
        parts.add(Cause::Link, now - at);
        let command = *self.host.command(slot);
        let latency = command.latency(&mut self.run, &parts)?;
        self.part_completed(slot, &command, &parts, (latency, transaction))
    }

    /// The link that is one for both directions has moved the data of a write.
    #[inline(never)]
    pub(super) fn write_data_crossed(&mut self, job: &LinkJob, began: Ns) -> Result<(), SimulationError> {
        let (slot, until) = (job.command, self.run.now);
        observe!(self, Event::LinkIn { slot, from: began, until });
        self.host.write_data_crossed(&mut self.run, job, began);
        self.write_data_arrived(slot)
    }

    /// Time has come for an interrupt; others of this instant follow.
    pub(super) fn interrupt_woke(&mut self) -> Result<(), SimulationError> {
        match self.host.due_interrupt(self.run.now) {
            Some(queue) => self.interrupt(queue),
            None => Ok(()),
        }
    }

    /// The host is told of what a queue has gathered.
    fn interrupt(&mut self, queue: u32) -> Result<(), SimulationError> {
        let batch = self.host.raise_interrupt(queue);
        let completions = batch.commands().len() as u32;
        self.run.counters.interrupts += 1;
        self.run.counters.gathered_completions += u64::from(completions);
        observe!(self, Event::Interrupted { queue, completions });
        for (number, &Gathered { slot, at, transaction, mut parts }) in batch.commands().iter().enumerate() {
            parts.add(Cause::Interrupt, self.run.now - at);
            if let Some(tenants) = &mut self.run.transactions.tenants {
                tenants.tell_of(batch.behind(number));
            }
            let command = *self.host.command(slot);
            let latency = command.latency(&mut self.run, &parts)?;
            self.part_completed(slot, &command, &parts, (latency, transaction))?;
        }
        self.host.interrupt_is_over(&mut self.run, batch);
        Ok(())
    }

    /// A command that may be a part of a request completed; with the last one its request does.
    fn part_completed(
        &mut self,
        index: u32,
        command: &HostCommand,
        parts: &Parts,
        (latency, transaction): (Ns, u32),
    ) -> Result<(), SimulationError> {
        self.command_over(index, command)?;
        let (awaited, whole) = self.host.part_leaves(self.run.now, index, command);
        if let Some(whole) = whole {
            return self.request_ended((&whole, command), (latency, awaited), parts, (index, transaction));
        }
        if awaited {
            self.host.made_room(&mut self.run, command.op, parts);
        }
        self.tell_completed(command, parts, (index, transaction), false)
    }
}
