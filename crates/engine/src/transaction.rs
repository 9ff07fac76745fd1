//! A transaction: one page access (or one group erase) on its way through a die, or one access of a slot through a bank
//! of SCM, and the unit records that hang on it.

use ninescope_ftl::Residence;
use ninescope_kernel::{Fifo, NONE, Ns, Slab};
use ninescope_model::{Cause, Lpa, Occupancy, Ppa, SlotId, Source};

use crate::meter::{DieLedger, LastingShare, Parts};

/// The queues of a die, by what is waiting in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum QueueClass {
    /// Reads a host command waits for (its own, or the read half of a partial write).
    #[default]
    HostRead,
    /// Programs of what the host wrote.
    HostProgram,
    /// Reads of what the drive moves by itself: garbage collection, migration between tiers.
    MoveRead,
    /// Programs of what it moves.
    MoveProgram,
    /// Erases.
    Erase,
    /// Reads that nothing waits for: those of the scrubber. A die takes them when nothing else is queued on it, whatever
    /// its scheduler.
    IdleRead,
}

/// Number of queue classes.
pub const CLASSES: usize = 6;

impl QueueClass {
    /// All classes, in index order.
    pub const ALL: [Self; CLASSES] =
        [Self::HostRead, Self::HostProgram, Self::MoveRead, Self::MoveProgram, Self::Erase, Self::IdleRead];

    /// What a die or bank is occupied with while it works on this class for a source.
    pub fn occupancy(self, source: Source) -> Occupancy {
        match self {
            _ if source == Source::Migration => Occupancy::Migration,
            _ if source == Source::Scrub => Occupancy::Scrub,
            Self::HostRead => Occupancy::HostRead,
            Self::HostProgram => Occupancy::HostProgram,
            Self::MoveRead => Occupancy::GcRead,
            Self::IdleRead => Occupancy::Scrub,
            Self::MoveProgram => Occupancy::GcProgram,
            Self::Erase => Occupancy::Erase,
        }
    }
}

/// One page access, one group erase, or one access of a slot of SCM, 40 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transaction {
    /// When it was queued on its die.
    pub queued: Ns,
    /// Link of the queue it is on.
    pub next: u32,
    /// The first unit of the access; on SCM its slot, see [`Transaction::slot`].
    pub ppa: Ppa,
    /// A host read's command, or the head of the chain of unit records.
    pub owner: u32,
    /// A host program's flush epoch; on SCM its sectors, see [`Transaction::sector_mask`].
    pub epoch: u32,
    /// Of a host read of flash, the sectors that it asks for of its first unit, one bit each; 0 where it takes whole units.
    pub asked_of_first: u32,
    /// Host sectors a read delivers (at most 32 units of 32 sectors), or sectors of an access of SCM.
    pub sectors: u16,
    /// Units the channel moves.
    pub units: u8,
    /// The queue it goes through.
    pub class: QueueClass,
    /// On whose behalf it runs.
    pub source: Source,
    /// Whether its waits are attributed: a host command waits for it.
    pub tracked: bool,
    /// How often it was queued to be read again, because it did not decode.
    pub attempts: u8,
}

impl Transaction {
    /// An access to the sectors `mask` of a slot of SCM, for a host command.
    #[inline]
    pub fn on_slot(slot: SlotId, mask: u32, class: QueueClass, command: u32) -> Self {
        Self {
            ppa: Ppa(slot.0),
            epoch: mask,
            owner: command,
            sectors: mask.count_ones() as u16,
            class,
            tracked: true,
            ..Self::default()
        }
    }

    /// The slot of an access of SCM.
    #[inline]
    pub fn slot(&self) -> SlotId {
        SlotId(self.ppa.0)
    }

    /// Which sectors of its slot an access of SCM touches, one bit each.
    #[inline]
    pub fn sector_mask(&self) -> u32 {
        self.epoch
    }
}

const _: () = assert!(size_of::<Transaction>() <= 40, "a transaction stays within a cache line");

/// A unit that a program carries or a garbage-collection read fetches.
#[derive(Clone, Copy, Debug)]
pub struct UnitRecord {
    /// What the unit holds.
    pub lpa: Lpa,
    /// The command that waits for it, or the migration that it ends; `NONE` for none.
    pub parent: u32,
    /// On whose behalf it is written.
    pub source: Source,
    /// Where its content was taken from.
    pub taken_from: Residence,
    /// The next record of the chain.
    pub next: u32,
    /// Of a unit written in part whose rest was read: where its time went until then, among the
    /// [`merges`](TransactionStore::merges); `NONE` for others.
    pub merge: u32,
    /// Of such a unit: its turn to be placed had come, and it is read again.
    pub had_turn: bool,
    /// Why it waited for its place, if it did.
    pub stall_cause: Cause,
}

impl Default for UnitRecord {
    fn default() -> Self {
        Self {
            lpa: Lpa::NONE,
            parent: NONE,
            source: Source::Host,
            taken_from: Residence::NONE,
            next: NONE,
            merge: NONE,
            had_turn: false,
            stall_cause: Cause::BufferStall,
        }
    }
}

/// Where the time of a tracked transaction went.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// Until issue: the die's ledger when it was queued, without what the die did for the command itself. From issue on: the
    /// wait behind others, split by what held the die.
    pub die_wait: DieLedger,
    /// Whether `die_wait` holds the ledger (it had to wait).
    pub snapshot_taken: bool,
    /// Time up to which everything is accounted for.
    pub mark: Ns,
    /// What its command has of the die, among the shares of [`OwnParts`](crate::meter::OwnParts); `NONE` where the command
    /// has one part alone.
    pub share: u32,
    /// Of a program out of a write buffer: the same of the command whose unit came last into its page.
    pub filled_by: LastingShare,
    /// Until issue: what the die had done for the command when this was queued. From issue on: waiting for the die and the
    /// channel while they worked for other parts of the command [ns].
    pub own_parts: Ns,
    /// What the channel had done for the command when this began to wait for it [ns].
    pub channel_of_own: Ns,
    /// Waiting for the channel while it worked for others [ns].
    pub channel: Ns,
    /// Command and address cycles and the array operation [ns].
    pub command_array: Ns,
    /// Data transfer [ns].
    pub transfer: Ns,
    /// What codes added; of no meaning on a drive without any.
    pub coding: Coding,
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

impl Track {
    /// Adds what the transaction waited for, and what decoding added, to the parts of its command.
    pub fn add_waits(&self, parts: &mut Parts, coded: bool) {
        parts.add_die_wait(&self.die_wait);
        parts.add(Cause::OwnParts, self.own_parts);
        parts.add(Cause::Channel, self.channel);
        if coded {
            let Coding { wait, time, retry, refetch } = self.coding;
            parts.add(Cause::DecoderWait, wait);
            parts.add(Cause::Decode, time);
            parts.add(Cause::Retry, retry);
            parts.add(Cause::Refetch, refetch);
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
}

/// All transactions with their tracks and unit records.
#[derive(Debug)]
pub struct TransactionStore {
    /// The transactions.
    pub slab: Slab<Transaction>,
    /// `tracks[t]` belongs to transaction `t`.
    pub tracks: Vec<Track>,
    /// The unit records.
    pub units: Slab<UnitRecord>,
    /// Of units written in part whose rest is or was read: where their time went up to the end of that read.
    pub merges: Slab<Parts>,
}

impl TransactionStore {
    /// A store that does not allocate below `transactions`, `units` and `merges` records.
    pub fn with_capacity(transactions: usize, units: usize, merges: usize) -> Self {
        Self {
            slab: Slab::with_capacity(transactions),
            tracks: Vec::with_capacity(transactions),
            units: Slab::with_capacity(units),
            merges: Slab::with_capacity(merges),
        }
    }

    /// Stores a transaction.
    #[inline]
    pub fn insert(&mut self, transaction: Transaction) -> u32 {
        let index = self.slab.insert(transaction);
        if self.tracks.len() < self.slab.slot_count() {
            self.tracks.push(Track::default());
        }
        index
    }

    /// Takes out where the time of a unit written in part went; nowhere for one whose rest was not read.
    #[inline]
    pub fn take_merge(&mut self, merge: u32) -> Parts {
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

/// A chain of unit records under construction.
#[derive(Clone, Copy, Debug)]
pub struct UnitChain {
    /// First record.
    pub head: u32,
    tail: u32,
}

impl Default for UnitChain {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl UnitChain {
    /// Appends record `index`.
    #[inline]
    pub fn push(&mut self, units: &mut Slab<UnitRecord>, index: u32) {
        units[index].next = NONE;
        if self.tail == NONE {
            self.head = index;
        } else {
            units[self.tail].next = index;
        }
        self.tail = index;
    }
}
