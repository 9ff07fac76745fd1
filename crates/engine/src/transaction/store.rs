//! All transactions of a run in their slots.

use ninescope_kernel::{Fifo, NONE, Ns, Slab};

use super::track::{Coding, Track};
use super::waits::TenantWaits;
use super::{QueueClass, Transaction, UnitRecord};
use crate::meter::{OwnParts, Parts};

/// The shares of a command inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandShares {
    /// It may have more than one part, so that parts can wait for each other.
    pub several_parts: bool,
    /// It is split in one go.
    pub splitting: bool,
    /// The first of its shares, `NONE` for none.
    pub first: u32,
}

impl Default for CommandShares {
    fn default() -> Self {
        Self { several_parts: false, splitting: false, first: NONE }
    }
}

/// All transactions with their tracks and unit records.
#[derive(Debug)]
pub struct TransactionStore {
    /// The transactions.
    pub slab: Slab<Transaction>,
    /// `tracks[t]` belongs to transaction `t`.
    pub(super) tracks: Vec<Track>,
    /// The unit records.
    pub units: Slab<UnitRecord>,
    /// Of units written in part whose rest is or was read: where their time went up to the end of that read.
    pub merges: Slab<Parts>,
    /// What dies, banks and channels did for commands of several parts.
    pub(super) shares: OwnParts,
    /// By command inside: its shares.
    pub(super) commands: Vec<CommandShares>,
    /// Codes add to the time of transactions: `coding` of a track means something.
    pub coded: bool,
    /// Whom they waited for, where several tenants share the drive.
    pub tenants: Option<Box<TenantWaits>>,
    /// By transaction: how long programs of its page had failed before it was queued [ns]. Empty where none did.
    failing: Vec<Ns>,
}

impl TransactionStore {
    /// A store for `depth` commands at a time, on so many resources, that does not allocate below `transactions` and `units`
    /// records.
    pub fn with_capacity(transactions: usize, units: usize, depth: usize, resources: usize) -> Self {
        Self {
            slab: Slab::with_capacity(transactions),
            tracks: Vec::with_capacity(transactions),
            units: Slab::with_capacity(units),
            merges: Slab::with_capacity(depth * 2),
            shares: OwnParts::new(resources, depth * 8),
            commands: vec![CommandShares::default(); depth.max(1)],
            coded: false,
            tenants: None,
            failing: Vec::new(),
        }
    }

    /// A command is inside under this number, which may be beyond those that there is room for.
    pub fn room_for_command(&mut self, command: u32) {
        if self.commands.len() <= command as usize {
            self.commands.resize(command as usize + 1, CommandShares::default());
        }
    }

    /// The data of a transaction pass no decoder.
    #[inline]
    pub fn was_not_coded(&mut self, index: u32) {
        if self.coded {
            self.tracks[index as usize].coding = Coding::default();
        }
    }

    /// What encoding added to a program or write [ns].
    #[inline]
    pub fn encode_time(&self, index: u32) -> Ns {
        if self.coded { self.tracks[index as usize].coding.time } else { Ns::ZERO }
    }

    /// Stores a transaction that is queued now.
    #[inline]
    pub fn insert(&mut self, now: Ns, transaction: Transaction) -> u32 {
        let index = self.slab.insert(Transaction { queued: now, next: NONE, ..transaction });
        if self.tracks.len() < self.slab.slot_count() {
            self.tracks.push(Track::default());
        }
        index
    }

    /// Keeps where the time of a unit written in part went until the rest of it is read; `before`, what was taken out last,
    /// of one that is read again.
    pub fn keep_merge(&mut self, before: Option<&Parts>) -> u32 {
        let merge = self.merges.insert(before.copied().unwrap_or_default());
        if let Some(tenants) = &mut self.tenants {
            tenants.merge_begins(merge, before.is_some());
        }
        merge
    }

    /// How long programs of a page had failed before this one was queued [ns].
    pub fn failing(&self, index: u32) -> Ns {
        self.failing.get(index as usize).copied().unwrap_or(Ns::ZERO)
    }

    /// A program is the next try of another one, for which so much time has gone.
    pub fn program_follows(&mut self, index: u32, before: u32, failing: Ns) {
        let room = index.max(before) as usize + 1;
        if self.failing.len() < room {
            self.failing.resize(room, Ns::ZERO);
        }
        self.failing[before as usize] = Ns::ZERO;
        self.failing[index as usize] = failing;
        self.tracks[index as usize].filled_by = self.tracks[before as usize].filled_by;
        if let Some(tenants) = &mut self.tenants
            && self.slab[index].class == QueueClass::HostProgram
        {
            let holder = tenants.of_access(before);
            tenants.counts_for(index, holder);
        }
    }

    /// A program is over.
    pub fn drop_failing(&mut self, index: u32) {
        if let Some(failing) = self.failing.get_mut(index as usize) {
            *failing = Ns::ZERO;
        }
    }

    /// How many unit records a program carries.
    pub fn records_of(&self, index: u32) -> u32 {
        let (mut count, mut unit) = (0, self.slab[index].records());
        while unit != NONE {
            (count, unit) = (count + 1, self.units[unit].next);
        }
        count
    }

    /// Forgets it.
    pub fn drop_merge(&mut self, merge: u32) {
        if merge != NONE {
            self.merges.remove(merge);
        }
    }

    /// Takes out where the time of a unit written in part went; nowhere for one whose rest was not read.
    #[inline]
    pub fn take_merge(&mut self, merge: u32) -> Parts {
        if let Some(tenants) = &mut self.tenants {
            tenants.take_merge(merge);
        }
        if merge == NONE {
            return Parts::default();
        }
        self.merges.remove(merge);
        self.merges[merge]
    }

    /// The link of a transaction, for FIFOs.
    #[inline]
    pub fn link(slab: &mut Slab<Transaction>, index: u32) -> &mut u32 {
        &mut slab[index].next
    }

    /// Appends to a queue.
    #[inline]
    pub fn push(&mut self, fifo: &mut Fifo, index: u32) {
        fifo.push_back(&mut self.slab, index, Self::link);
    }
}
