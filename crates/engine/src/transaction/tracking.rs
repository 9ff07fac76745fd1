//! Where the time of a transaction goes: what happens to it is told by verbs, and what came of it is asked for.
//!
//! Whoever works on a transaction says when it was queued, sent, sensed, left and decoded; how that adds up is known here alone.

use ninescope_kernel::{NONE, Ns, ResourceId};
use ninescope_model::{Cause, Occupancy};

use super::store::TransactionStore;
use super::track::Coding;
use crate::meter::{DieLedger, LastingShare, Parts};

/// What happens to a transaction.
impl TransactionStore {
    /// It joins a queue. Returns whether it has to wait there: then [`Self::begin_wait`] is told what held the die until now.
    #[inline]
    pub fn queued(&mut self, index: u32, now: Ns, waits: bool) -> bool {
        let track = &mut self.tracks[index as usize];
        (track.mark, track.snapshot_taken) = (now, waits);
        waits
    }

    /// A program leaves a write buffer: the command whose unit came last into its page.
    #[inline]
    pub fn filled_by(&mut self, index: u32, command: LastingShare) {
        self.tracks[index as usize].filled_by = command;
    }

    /// Its data are there: it has waited for them under a name of its own.
    pub fn data_are_there(&mut self, index: u32, now: Ns) {
        self.tracks[index as usize].mark = now;
    }

    /// It is on the channel from now on, which it has waited for, with data that take `transfer` and were encoded for `encode`.
    #[inline]
    pub fn sent(&mut self, index: u32, now: Ns, transfer: Ns, encode: Ns) {
        let track = &mut self.tracks[index as usize];
        track.channel = now - track.mark;
        track.transfer = transfer;
        track.coding.time = encode;
        track.mark = now;
    }

    /// What it reads is in the register.
    #[inline]
    pub fn sensed(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        track.command_array = now - track.mark;
        track.mark = now;
    }

    /// From now on it moves to the register from which it leaves, for so long. Until now it has waited as for its channel.
    pub fn moves(&mut self, index: u32, now: Ns, time: Ns) {
        let track = &mut self.tracks[index as usize];
        track.channel += now - track.mark;
        track.command_array += time;
        track.mark = now + time;
    }

    /// Its data have the channel from `begins` on, for `transfer`; of the wait until then so much was behind `own` data.
    #[inline]
    pub fn leaves(&mut self, index: u32, begins: Ns, transfer: Ns, own: Ns) {
        let track = &mut self.tracks[index as usize];
        track.channel += begins - track.mark - own;
        track.own_parts += own;
        track.transfer = transfer;
    }

    /// It reads what lay on a die that failed, and goes to no die: it waits for none.
    pub fn goes_to_no_die(&mut self, index: u32, now: Ns) {
        self.queued(index, now, false);
        self.join_share(index, NONE, [ResourceId(0); 2]);
        self.end_wait(index, ResourceId(0), now, &DieLedger::default());
        self.was_not_read(index, now);
    }

    /// What it reads is not there: nothing was read of it.
    pub fn was_not_read(&mut self, index: u32, now: Ns) {
        self.sent(index, now, Ns::ZERO, Ns::ZERO);
        self.sensed(index, now);
        self.leaves(index, now, Ns::ZERO, Ns::ZERO);
        self.decoded(index, Coding::default());
    }

    /// Sectors that were in its way were copied elsewhere.
    pub fn made_way_for(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        track.die_wait[Occupancy::WearLeveling as usize] += (now - track.mark).0;
        track.mark = now;
    }

    /// Its data were decoded for the first time.
    #[inline]
    pub fn decoded(&mut self, index: u32, coding: Coding) {
        self.tracks[index as usize].coding = coding;
    }

    /// The first decode has failed.
    pub fn decode_failed(&mut self, index: u32, now: Ns) {
        self.tracks[index as usize].mark = now;
    }

    /// What was done about that took until then.
    pub fn retried(&mut self, index: u32, until: Ns) {
        let track = &mut self.tracks[index as usize];
        track.coding.retry = until - track.mark;
    }

    /// Nothing was done about it.
    pub fn not_retried(&mut self, index: u32) {
        self.tracks[index as usize].coding.retry = Ns::ZERO;
    }

    /// The rest of its stripe is read from now on.
    pub fn rebuild_begins(&mut self, index: u32, now: Ns) {
        self.tracks[index as usize].mark = now;
    }

    /// That has ended, well or not.
    pub fn rebuild_ends(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        track.coding.degraded = now - track.mark;
    }

    /// What was lost has been fetched.
    pub fn refetched(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        track.coding.refetch = now - track.mark;
    }
}

/// What came of it.
impl TransactionStore {
    /// The share that it joined when it was queued, `NONE` for none; that of somebody before where it joined none and is not
    /// tracked.
    #[inline]
    pub fn joined_share(&self, index: u32) -> u32 {
        self.tracks[index as usize].share
    }

    /// Whether what it waited for is known now: it has a snapshot, or has not waited.
    pub fn wait_is_known(&self, index: u32, now: Ns) -> bool {
        let track = &self.tracks[index as usize];
        track.snapshot_taken || track.mark == now
    }

    /// Adds what it waited for, and what decoding added, to the parts of its command.
    #[inline]
    pub fn add_waits(&self, index: u32, parts: &mut Parts) {
        let coded = self.coded;
        self.tracks[index as usize].add_waits(parts, coded);
    }

    /// The same with what reading it took.
    #[inline]
    pub fn add_read(&self, index: u32, parts: &mut Parts) {
        self.add_waits(index, parts);
        let track = &self.tracks[index as usize];
        parts.add(Cause::CommandArray, track.command_array);
        parts.add(Cause::Transfer, track.transfer);
    }

    /// The same of a rest that completes a unit, whose read has a name of its own; into the parts kept at `merge`.
    pub fn add_read_of_rest(&mut self, index: u32, merge: u32) {
        let (track, coded) = (&self.tracks[index as usize], self.coded);
        let parts = &mut self.merges[merge];
        track.add_waits(parts, coded);
        parts.add(Cause::ReadModifyWrite, track.command_array + track.transfer);
        if let Some(tenants) = &mut self.tenants {
            tenants.add_read_of_rest(index, merge);
        }
    }

    /// The same of what is written and is on the media now: no decoder had a part in it.
    pub fn add_write(&self, index: u32, now: Ns, parts: &mut Parts) {
        let (track, encode) = (&self.tracks[index as usize], self.encode_time(index));
        track.add_waits(parts, false);
        parts.add(Cause::Transfer, track.transfer);
        parts.add(Cause::Encode, encode);
        parts.add(Cause::CommandArray, now - track.mark - track.transfer - encode);
    }
}
