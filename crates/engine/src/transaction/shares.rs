//! Waits behind other parts of the same command: who has shares of what, and when dies, banks and channels work for them.
//!
//! A command that may have several parts keeps a share in each die or bank that has one of them
//! ([`OwnParts`]). What the share grew by while a part waited is the part's wait behind its own command; the rest is behind
//! others.

use ninescope_kernel::{NONE, Ns, ResourceId};

use super::QueueClass;
use super::store::{CommandShares, TransactionStore};
use crate::meter::{DieLedger, LastingShare};

impl TransactionStore {
    /// A command may have several parts; `splitting` says that it is split into all of them in one go.
    #[inline]
    pub fn has_several_parts(&mut self, command: u32, splitting: bool) {
        let slot = command as usize;
        if self.commands.len() <= slot {
            self.commands.resize(slot + 1, CommandShares::default());
        }
        (self.commands[slot].several_parts, self.commands[slot].splitting) = (true, splitting);
    }

    /// A command completed: its shares are no more.
    #[inline]
    pub fn command_ended(&mut self, command: u32) {
        let Some(shares) = self.commands.get_mut(command as usize).filter(|shares| shares.several_parts) else {
            return;
        };
        let first = std::mem::take(shares).first;
        self.shares.release(first);
    }

    /// Whether nobody holds shares.
    pub fn has_no_shares(&self) -> bool {
        self.shares.is_empty()
    }

    /// Gives a transaction that is queued on a die or bank its share of it, if its command (`NONE` for none) has several
    /// parts.
    #[inline]
    pub fn join_share(&mut self, index: u32, command: u32, resources: [ResourceId; 2]) {
        let shares = self.commands.get(command as usize).is_some_and(|shares| shares.several_parts);
        let share = if shares { self.share_of_command(command, resources) } else { NONE };
        self.tracks[index as usize].share = share;
    }

    /// The share of a command that has several parts, in a die or bank on its channel.
    #[inline(never)]
    fn share_of_command(&mut self, command: u32, resources: [ResourceId; 2]) -> u32 {
        let CommandShares { splitting, first, .. } = &mut self.commands[command as usize];
        self.shares.join(command, first, resources, *splitting)
    }

    /// The same by a name that outlives the command.
    pub fn lasting_share(&mut self, command: u32, resources: [ResourceId; 2]) -> LastingShare {
        let share = self.share_of_command(command, resources);
        self.shares.lasting(share)
    }

    /// The share that a transaction works for, `NONE` for none.
    #[inline]
    pub fn share_of(&self, index: u32) -> u32 {
        let transaction = &self.slab[index];
        let track = &self.tracks[index as usize];
        match transaction.class {
            _ if transaction.tracked => track.share,
            QueueClass::HostRead => track.share,
            // Out of a write buffer, which the command may have left long ago.
            QueueClass::HostProgram => self.shares.of_lasting(track.filled_by),
            // The track is that of somebody before.
            _ => NONE,
        }
    }

    // ---- what a die or bank does -------------------------------------------------------------------

    /// A die or bank begins with a transaction, or takes it up again.
    pub fn open_share(&mut self, index: u32, ledger: &DieLedger) {
        let share = self.share_of(index);
        if share != NONE {
            self.shares.open(share, ledger);
            self.own_opened(share);
        }
    }

    /// It is through with it but for data that leave `until` then, or is stopped.
    pub fn close_share(&mut self, index: u32, now: Ns, until: Ns, ledger: &DieLedger) {
        let share = self.share_of(index);
        if share != NONE {
            let before = self.shares.closed(share);
            self.shares.close(share, now, until, ledger);
            if let Some(tenants) = &mut self.tenants {
                tenants.ledgers.own_closed(share, self.shares.closed(share).since(before));
            }
        }
    }

    /// A die works for a transaction, which keeps another die or plane on its channel from working: there that counts for the
    /// command as well. Returns its share of that, if it has any.
    pub fn open_share_beside(&mut self, index: u32, beside: ResourceId, ledger: &DieLedger) -> LastingShare {
        let share = self.share_of(index);
        if share == NONE {
            return LastingShare::NONE;
        }
        let (command, channel) = self.shares.command_and_channel(share);
        if command == NONE {
            return LastingShare::NONE;
        }
        // It was split long ago: what is not the latest there may be all the same.
        let first = &mut self.commands[command as usize].first;
        let beside = self.shares.join(command, first, [beside, channel], false);
        self.shares.open(beside, ledger);
        self.own_opened(beside);
        self.shares.lasting(beside)
    }

    /// It does so no more, or changes.
    pub fn close_share_beside(&mut self, share: LastingShare, now: Ns, ledger: &DieLedger) {
        let share = self.shares.of_lasting(share);
        if share != NONE {
            let before = self.shares.closed(share);
            self.shares.close(share, now, now, ledger);
            if let Some(tenants) = &mut self.tenants {
                tenants.ledgers.own_closed(share, self.shares.closed(share).since(before));
            }
        }
    }

    /// It has the channel `until` then, in the name of a die, a bank, or what stands beside one.
    pub fn channel_taken(&mut self, index: u32, by: ResourceId, now: Ns, until: Ns) {
        let share = self.share_of(index);
        if share == NONE {
            return;
        }
        self.own_channel_taken(share, by);
        let channel = self.shares.channel_of(share);
        let before = self.shares.closed(channel);
        self.shares.channel_taken(share, now, until);
        if let Some(tenants) = &mut self.tenants {
            tenants.ledgers.own_closed(channel, self.shares.closed(channel).since(before));
        }
    }

    // ---- waits -------------------------------------------------------------------------------------

    /// A wait for a die begins: the ledger of others is kept, that is the die's without what it did for the transaction's
    /// own command.
    pub fn begin_wait(&mut self, index: u32, die: ResourceId, now: Ns, ledger: &DieLedger) {
        if self.tenants.is_some() {
            self.begin_wait_by_tenant(index, die, now, ledger);
        }
        let track = &mut self.tracks[index as usize];
        (track.snapshot_taken, track.die_wait) = (true, *ledger);
        if track.share != NONE {
            let held = self.shares.held(track.share, now, ledger);
            held.take_out_of(&mut track.die_wait);
            track.own_parts = held.total();
        }
    }

    /// The wait ends: it is what the ledger of others and that of the own command grew by.
    #[inline]
    pub fn end_wait(&mut self, index: u32, die: ResourceId, now: Ns, ledger: &DieLedger) {
        if self.tenants.is_some() {
            self.end_wait_by_tenant(index, die, now, ledger);
        }
        let track = &mut self.tracks[index as usize];
        track.mark = now;
        if !track.snapshot_taken {
            (track.die_wait, track.own_parts) = (DieLedger::default(), Ns::ZERO);
            return;
        }
        let mut of_others = *ledger;
        if track.share == NONE {
            track.own_parts = Ns::ZERO;
        } else {
            let held = self.shares.held(track.share, now, ledger);
            held.take_out_of(&mut of_others);
            track.own_parts = held.total() - track.own_parts;
        }
        track.die_wait.iter_mut().zip(of_others).for_each(|(wait, held)| *wait = held - *wait);
    }

    /// The wait for a channel begins.
    pub fn begin_channel_wait(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        if track.share != NONE {
            track.channel_of_own = self.shares.channel_held(track.share, now);
        }
    }

    /// The wait for a channel ends: what it did for the own command meanwhile is taken out of the wait.
    pub fn end_channel_wait(&mut self, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        if track.share != NONE {
            let behind_own = self.shares.channel_held(track.share, now) - track.channel_of_own;
            track.channel = track.channel - behind_own;
            track.own_parts += behind_own;
        }
    }

    /// The command that waits for the program of a page: the first that wrote into it, where there are several. A write that stalls leaves
    /// what it wrote in an open page, which one whose turn had come before may fill; to that the program is another's.
    pub fn parent_of_program(&self, first_record: u32) -> u32 {
        self.units[first_record].parent
    }
}
