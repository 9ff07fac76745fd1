//! What crosses the link for each command beside data, as NVMe has it: the drive asks for the entry of a queue of the host and gets
//! it, asks for what is written, and sends a completion. Each takes its turn behind what is on the link in its direction.
//!
//! Not there are doorbells, which are shorter than any of these and pass data.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::Op;

use super::{ByCommand, Gathered, Protocol};
use crate::host::{Host, LinkJob, LinkMessage};
use crate::meter::{LINK, Waits};
use crate::run::Run;

/// How far a command is.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    /// Its entry is to come.
    entry: bool,
    /// It is done, and the host is to be told.
    done: Option<Gathered>,
    /// By holder, where several tenants share the drive: whom it waited for until then.
    behind: Vec<Waits>,
}

/// How far all commands inside are.
pub(super) type Messages = ByCommand<Crossing>;

impl Host {
    fn messages(&mut self) -> Option<&mut Messages> {
        self.front.protocol.as_mut()?.messages.as_mut()
    }

    /// Whether more than data crosses the link.
    pub fn sends_messages(&self) -> bool {
        self.front.protocol.as_ref().is_some_and(|protocol| protocol.messages.is_some())
    }

    /// What comes towards the drive for a command next if that is not data.
    pub(in crate::host) fn entry_to_come(&self, command: u32) -> Option<LinkMessage> {
        let awaited = |protocol: &Protocol| Some(protocol.messages.as_ref()?.0.get(command as usize)?.entry);
        let awaited = self.front.protocol.as_deref().and_then(awaited) == Some(true);
        awaited.then_some(LinkMessage::Entry)
    }

    fn sends<Q: WakeQueue>(&mut self, run: &mut Run<Q>, message: LinkMessage, command: u32) {
        let ready = self.front.when_awake(run.now);
        self.commands[command].mark = ready;
        self.push_to_link(run, LinkJob::of_message(ready, message, command));
    }

    /// The drive asks for a command that it takes in. Returns whether it has to.
    pub fn asks_for_entry<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        let Some(messages) = self.messages() else { return false };
        messages.of(command).entry = true;
        if run.transactions.tenants.is_some() {
            self.taken_in_by_tenant(run, command);
        }
        self.sends(run, LinkMessage::EntryRequest, command);
        true
    }

    /// It asks for what a command writes. Returns whether it has to.
    fn asks_for_data<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        let asks = self.sends_messages();
        if asks {
            self.sends(run, LinkMessage::DataRequest, command);
        }
        asks
    }

    /// What a command writes comes later: it is asked for, or waits for the link that is for both directions.
    pub fn data_come_later<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> bool {
        self.asks_for_data(run, command) || self.waits_for_shared_link(run, command)
    }

    /// What was asked for comes, behind all that is on the link. Returns from when until when.
    pub fn request_crossed<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) -> (Ns, Ns) {
        let asked = self.commands[command].mark;
        self.commands[command].link_in += run.now - asked;
        self.enter_link_in(run, command)
    }

    /// What came for a command was its entry. Once.
    pub fn entry_came(&mut self, command: u32) -> bool {
        let Some(messages) = self.messages() else { return false };
        std::mem::take(&mut messages.of(command).entry)
    }

    /// A command is done: the host is told when the completion has crossed the link, that of a read right behind its data.
    pub fn sends_completion<Q: WakeQueue>(&mut self, run: &mut Run<Q>, done: &Gathered, behind: &[Waits]) {
        if let Some(messages) = self.messages() {
            let crossing = messages.of(done.slot);
            crossing.done = Some(*done);
            crossing.behind.clear();
            crossing.behind.extend_from_slice(behind);
        }
        let job = LinkJob::of_message(run.now, LinkMessage::Completion, done.slot);
        if self.commands[done.slot].op != Op::Read {
            return self.push_to_link(run, job);
        }
        if let Some(wake) = self.link_out.push_behind(run.now, job) {
            run.queue.schedule(run.resources.link_out(), wake);
        }
    }

    /// A completion has crossed the link since `began`. Returns the command, and takes whom it waited for into what is lent.
    pub fn completion_crossed<Q>(
        &mut self,
        run: &mut Run<Q>,
        job: &LinkJob,
        began: Ns,
        behind: &mut Vec<Waits>,
    ) -> Option<Gathered> {
        let crossing = self.messages()?.of(job.command);
        let done = crossing.done.take()?;
        behind.clone_from(&crossing.behind);
        if run.transactions.tenants.is_some() {
            self.link_waits(job, began, |holder, time| behind[holder as usize][LINK] += time.0);
            self.link_moved(job, began, run.now);
        }
        Some(done)
    }
}
