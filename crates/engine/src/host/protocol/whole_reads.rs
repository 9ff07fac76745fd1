//! Reads whose data cross the link when all of them are in the controller.

use ninescope_kernel::WakeQueue;

use super::ByCommand;
use crate::host::{Host, LinkJob};
use crate::run::Run;

/// Data of reads that wait for the rest of theirs.
pub(super) type WholeReads = ByCommand<Read>;

/// A read.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Data that wait.
    there: Vec<LinkJob>,
    /// Parts of the command that are something else than data.
    without_data: u32,
}

impl Host {
    fn whole_reads(&mut self) -> Option<&mut WholeReads> {
        self.front.protocol.as_mut()?.whole_reads.as_mut()
    }

    /// Data of a read wait for the rest of it, if they have to. Returns whether they do, or went with it.
    #[inline(never)]
    pub(in crate::host) fn waits_for_rest<Q: WakeQueue>(&mut self, run: &mut Run<Q>, job: &LinkJob) -> bool {
        let Some(reads) = self.whole_reads().filter(|_| job.is_read()) else { return false };
        reads.of(job.command).there.push(*job);
        self.send_whole(run, job.command);
        true
    }

    /// Of the parts that a command waits for, so many more are no data.
    #[inline]
    pub fn waits_without_data(&mut self, command: u32, more: i32) {
        if let Some(reads) = self.whole_reads() {
            let without_data = &mut reads.of(command).without_data;
            *without_data = without_data.wrapping_add_signed(more);
        }
    }

    /// Sends the data of a read if all are there: one after the other from when the last one is, which goes last.
    pub fn send_whole<Q: WakeQueue>(&mut self, run: &mut Run<Q>, command: u32) {
        let pending = self.commands[command].pending as usize;
        let Some(reads) = self.whole_reads() else { return };
        let read = reads.of(command);
        if read.there.is_empty() || read.there.len() + (read.without_data as usize) < pending {
            return;
        }
        let mut parts = std::mem::take(&mut read.there);
        run.counters.whole_reads += u64::from(parts.len() > 1);
        parts.sort_by_key(|part| part.ready);
        let all_there = parts.last().map_or(run.now, |last| last.ready);
        for part in parts.drain(..) {
            self.push_to_link(run, LinkJob { ready: all_there, ..part });
        }
        if let Some(reads) = self.whole_reads() {
            reads.of(command).there = parts;
        }
    }
}
