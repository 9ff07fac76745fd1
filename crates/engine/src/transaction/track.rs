//! Where the time of a transaction went, as it is kept.

use ninescope_kernel::{NONE, Ns};
use ninescope_model::Cause;

use crate::meter::{DieLedger, LastingShare, Parts};

/// Where the time of a tracked transaction went.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// Until issue: the die's ledger when it was queued, without what the die did for the command itself. From issue on: the
    /// wait behind others, split by what held the die.
    pub(super) die_wait: DieLedger,
    /// Whether `die_wait` holds the ledger (it had to wait).
    pub(super) snapshot_taken: bool,
    /// Time up to which everything is accounted for.
    pub(super) mark: Ns,
    /// What its command has of the die, among the shares of [`OwnParts`](crate::meter::OwnParts); `NONE` where the command
    /// has one part alone.
    pub(super) share: u32,
    /// Of a program out of a write buffer: the same of the command whose unit came last into its page.
    pub(super) filled_by: LastingShare,
    /// Until issue: what the die had done for the command when this was queued. From issue on: waiting for the die and the
    /// channel while they worked for other parts of the command [ns].
    pub(super) own_parts: Ns,
    /// What the channel had done for the command when this began to wait for it [ns].
    pub(super) channel_of_own: Ns,
    /// Waiting for the channel while it worked for others [ns].
    pub(super) channel: Ns,
    /// Command and address cycles and the array operation [ns].
    pub(super) command_array: Ns,
    /// Data transfer [ns].
    pub(super) transfer: Ns,
    /// What codes added; of no meaning on a drive without any.
    pub(super) coding: Coding,
}

impl Default for Track {
    fn default() -> Self {
        Self {
            die_wait: DieLedger::default(),
            snapshot_taken: false,
            mark: Ns::ZERO,
            share: NONE,
            filled_by: LastingShare::NONE,
            own_parts: Ns::ZERO,
            channel_of_own: Ns::ZERO,
            channel: Ns::ZERO,
            command_array: Ns::ZERO,
            transfer: Ns::ZERO,
            coding: Coding::default(),
        }
    }
}

/// What codes add to a transaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coding {
    /// Waiting for a decoder [ns].
    pub wait: Ns,
    /// Decoding what was read, or encoding what is programmed [ns].
    pub time: Ns,
    /// From the first decode that failed to the last one [ns].
    pub retry: Ns,
    /// Fetching from the backing store [ns].
    pub refetch: Ns,
    /// Reading the rest of a parity stripe [ns].
    pub degraded: Ns,
}

impl Track {
    /// Adds what it waited for, and what decoding added, to the parts of its command.
    pub(super) fn add_waits(&self, parts: &mut Parts, coded: bool) {
        parts.add_die_wait(&self.die_wait);
        parts.add(Cause::OwnParts, self.own_parts);
        parts.add(Cause::Channel, self.channel);
        if coded {
            let Coding { wait, time, retry, refetch, degraded } = self.coding;
            parts.add(Cause::DecoderWait, wait);
            parts.add(Cause::Decode, time);
            parts.add(Cause::Retry, retry);
            parts.add(Cause::Refetch, refetch);
            parts.add(Cause::DegradedRead, degraded);
        }
    }
}
