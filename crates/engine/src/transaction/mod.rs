//! A transaction: one page access (or one group erase) on its way through a die, or one access of a slot through a bank
//! of SCM, the unit records that hang on it, and where its time goes.
//!
//! Knows nothing of who works on it.

mod shares;
mod store;
mod tenants;
mod track;
mod tracking;
mod waits;

use ninescope_ftl::Residence;
use ninescope_kernel::{NONE, Ns, Slab};
use ninescope_model::{Cause, Lpa, Occupancy, Ppa, SlotId, Source};

pub use store::TransactionStore;
pub use track::Coding;
pub use waits::{TenantWaits, Writer};

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

    /// Whether its accesses are reads.
    #[inline]
    pub fn is_read(self) -> bool {
        matches!(self, Self::HostRead | Self::MoveRead | Self::IdleRead)
    }

    /// What a die or bank is occupied with while it works on this class for a source.
    pub fn occupancy(self, source: Source) -> Occupancy {
        match self {
            _ if source == Source::Migration => Occupancy::Migration,
            _ if source == Source::Scrub => Occupancy::Scrub,
            _ if source == Source::Mapping => Occupancy::Mapping,
            _ if source == Source::Parity => Occupancy::Parity,
            _ if source == Source::Rebuild => Occupancy::Rebuild,
            Self::HostRead => Occupancy::HostRead,
            Self::HostProgram => Occupancy::HostProgram,
            Self::MoveRead => Occupancy::GcRead,
            Self::IdleRead => Occupancy::Scrub,
            Self::MoveProgram => Occupancy::GcProgram,
            Self::Erase => Occupancy::Erase,
        }
    }
}

/// The number of a period that a FLUSH ends, in which host programs are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushEpoch(pub u32);

/// The migration that takes up what a host read of flash brings, if one does. Kept as its number plus one, so that nothing
/// but zeros is no migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BringsUp(u32);

impl BringsUp {
    /// No migration.
    pub const NONE: Self = Self(0);

    /// That migration.
    #[inline]
    pub fn migration(migration: u32) -> Self {
        Self(migration + 1)
    }

    /// Which migration it is.
    #[inline]
    pub fn get(self) -> Option<u32> {
        self.0.checked_sub(1)
    }

    /// Whether there is one.
    #[inline]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
}

/// What is wrong with a unit's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It is lost, and that is known.
    Lost,
    /// It is wrong, and nobody knows.
    Wrong,
}

/// A page that lay on a die that failed, which a rebuild is to write again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageToRebuild {
    /// Which of the dies that fail it is of.
    pub number: usize,
    /// Its first unit.
    pub ppa: Ppa,
}

/// What an access is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Medium {
    #[default]
    Flash,
    Scm,
}

/// One page access, one group erase, or one access of a slot of SCM, 40 bytes.
///
/// Three of its words mean one thing or another by what it is. They are private: a constructor writes each in one meaning, and
/// whoever asks for another one is told in tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transaction {
    /// When it was queued on its die.
    pub queued: Ns,
    /// Link of the queue it is on.
    pub next: u32,
    /// Of flash the first unit, of SCM the slot.
    place: u32,
    /// Whom it is for: a command, a migration, the head of a chain of unit records, or nobody.
    owner: u32,
    /// Of a host program its flush epoch, of a host read of flash what it brings up, of SCM the mask of sectors, of a read of
    /// the map the bytes that it moves, of a read of a stripe whether a rebuild wants it.
    detail: u32,
    /// Of a host read of flash, the sectors that it asks for of its first unit, one bit each; 0 where it takes whole units.
    pub asked_of_first: u32,
    /// Of flash the page within its block, from when it is queued: others that wait ask for it to run beside it.
    pub page: u32,
    /// Host sectors a read delivers (at most 32 units of 32 sectors), or sectors of an access of SCM; where flash goes by sector,
    /// those that a read of rests brings, and those that are new to a page that is programmed.
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
    medium: Medium,
}

// ---- what there is to access -----------------------------------------------------------------------

impl Transaction {
    /// A read of pages for a host command, of no page yet.
    #[inline]
    pub fn host_read(command: u32) -> Self {
        Self { owner: command, tracked: true, class: QueueClass::HostRead, source: Source::Host, ..Self::default() }
    }

    /// The same of the unit at `ppa` alone, of which it asks for some sectors: all of them go up with what it brings up.
    pub fn host_read_of_unit(command: u32, ppa: Ppa, mask: u32, brings_up: BringsUp) -> Self {
        let asked_of_first = if brings_up.is_some() { 0 } else { mask };
        let mut read = Self { detail: brings_up.0, ..Self::host_read(command) };
        read.begin_page(ppa, mask.count_ones() as u16, asked_of_first);
        read
    }

    /// A host read goes on with another page, of which it asks for so many sectors of the unit at `ppa`.
    #[inline]
    pub fn begin_page(&mut self, ppa: Ppa, sectors: u16, asked_of_first: u32) {
        (self.place, self.units, self.sectors, self.asked_of_first) = (ppa.0, 1, sectors, asked_of_first);
    }

    /// A read of the rests of units that the host wrote in part and that lie side by side, the first one at `ppa`.
    pub fn merge_read(ppa: Ppa, units: u8, records: u32) -> Self {
        let (class, source) = (QueueClass::HostRead, Source::ReadModifyWrite);
        Self { place: ppa.0, owner: records, units, class, source, tracked: true, ..Self::default() }
    }

    /// A read of a unit that a migration wants.
    pub fn migration_read(ppa: Ppa, migration: u32) -> Self {
        let (class, source) = (QueueClass::MoveRead, Source::Migration);
        Self { place: ppa.0, owner: migration, units: 1, class, source, ..Self::default() }
    }

    /// A read of units of a page that garbage collection moves, the first one at `ppa`.
    pub fn move_read(ppa: Ppa, units: u8, records: u32) -> Self {
        let (class, source) = (QueueClass::MoveRead, Source::GarbageCollection);
        Self { place: ppa.0, owner: records, units, class, source, ..Self::default() }
    }

    /// A read of a page for the scrubber.
    pub fn scrub_read(ppa: Ppa, units: u8) -> Self {
        let (class, source) = (QueueClass::IdleRead, Source::Scrub);
        Self { place: ppa.0, owner: NONE, units, class, source, ..Self::default() }
    }

    /// A read of the page of the map that lies at `ppa`: for commands that wait for it, or else to be written anew. It `moves`
    /// so many bytes; 0: all of it.
    pub fn map_read(ppa: Ppa, page: u32, is_waited_for: bool, moves: u32) -> Self {
        let class = if is_waited_for { QueueClass::HostRead } else { QueueClass::MoveRead };
        let source = Source::Mapping;
        Self { place: ppa.0, owner: page, detail: moves, units: 1, class, source, ..Self::default() }
    }

    /// A program of a page that the host or a migration wrote, `records` of which are told of its end.
    pub fn host_program(ppa: Ppa, units: u8, records: u32, epoch: FlushEpoch, source: Source) -> Self {
        let (class, tracked) = (QueueClass::HostProgram, records != NONE);
        Self { place: ppa.0, owner: records, detail: epoch.0, units, class, source, tracked, ..Self::default() }
    }

    /// A program of a page of moves.
    pub fn move_program(ppa: Ppa, units: u8, records: u32) -> Self {
        let (class, source) = (QueueClass::MoveProgram, Source::GarbageCollection);
        Self { place: ppa.0, owner: records, units, class, source, ..Self::default() }
    }

    /// A program of a page of parity, of what the host wrote or of moves.
    pub fn parity_program(ppa: Ppa, units: u8, class: QueueClass) -> Self {
        let source = Source::Parity;
        Self { place: ppa.0, owner: NONE, units, class, source, ..Self::default() }
    }

    /// A read of units of a page of a parity stripe, for an access that could not be corrected, or for one of a rebuild.
    pub fn stripe_read(ppa: Ppa, units: u8, class: QueueClass, (rebuilt, of): (u32, Source)) -> Self {
        let (source, detail) = (Source::Parity, u32::from(of == Source::Rebuild));
        Self { place: ppa.0, owner: rebuilt, detail, units, class, source, ..Self::default() }
    }

    /// A read of a page that lay on a die which failed, to be written again. It goes to no die: the rest of its stripe is read.
    pub fn rebuild_read(ppa: Ppa, units: u8) -> Self {
        let (class, source) = (QueueClass::MoveRead, Source::Rebuild);
        Self { place: ppa.0, owner: NONE, units, class, source, ..Self::default() }
    }

    /// A program of such a page on the die that stands for the one that failed.
    pub fn rebuild_program(ppa: Ppa, units: u8) -> Self {
        let (class, source) = (QueueClass::MoveProgram, Source::Rebuild);
        Self { place: ppa.0, owner: NONE, units, class, source, ..Self::default() }
    }

    /// The erase of the group that begins at `ppa`; where it lies on several dies, of its blocks on the die of that.
    pub fn erase(ppa: Ppa) -> Self {
        let (class, source) = (QueueClass::Erase, Source::GarbageCollection);
        Self { place: ppa.0, owner: NONE, class, source, ..Self::default() }
    }

    /// An access to the sectors `mask` of a slot of SCM, for a host command.
    #[inline]
    pub fn on_slot(slot: SlotId, mask: u32, class: QueueClass, command: u32) -> Self {
        Self {
            place: slot.0,
            detail: mask,
            owner: command,
            sectors: mask.count_ones() as u16,
            class,
            tracked: true,
            medium: Medium::Scm,
            ..Self::default()
        }
    }

    /// The same for a migration.
    pub fn migrating(slot: SlotId, mask: u32, class: QueueClass, migration: u32) -> Self {
        Self { source: Source::Migration, ..Self::on_slot(slot, mask, class, migration) }
    }
}

// ---- what it is of, and for whom -------------------------------------------------------------------

impl Transaction {
    /// Whether it is an access of flash.
    #[inline]
    pub fn is_of_flash(&self) -> bool {
        self.medium == Medium::Flash
    }

    /// The first unit of an access of flash.
    #[inline]
    pub fn ppa(&self) -> Ppa {
        debug_assert!(self.medium == Medium::Flash, "an access of flash");
        Ppa(self.place)
    }

    /// The slot of an access of SCM.
    #[inline]
    pub fn slot(&self) -> SlotId {
        debug_assert!(self.medium == Medium::Scm, "an access of SCM");
        SlotId(self.place)
    }

    /// Which sectors of its slot an access of SCM touches, one bit each.
    #[inline]
    pub fn sector_mask(&self) -> u32 {
        debug_assert!(self.medium == Medium::Scm, "an access of SCM");
        self.detail
    }

    /// An access of SCM touches these sectors alone.
    pub fn narrow_to(&mut self, mask: u32) {
        debug_assert!(self.medium == Medium::Scm, "an access of SCM");
        (self.detail, self.sectors) = (mask, mask.count_ones() as u16);
    }

    /// In which flush epoch a host program counts.
    #[inline]
    pub fn flush_epoch(&self) -> FlushEpoch {
        debug_assert!(self.class == QueueClass::HostProgram && self.medium == Medium::Flash, "a program of the host");
        FlushEpoch(self.detail)
    }

    /// The migration that takes up what a host read of flash brings.
    #[inline]
    pub fn brings_up(&self) -> BringsUp {
        debug_assert!(
            self.class == QueueClass::HostRead && self.medium == Medium::Flash,
            "a read of flash for the host"
        );
        BringsUp(self.detail)
    }

    /// The host command that a read of flash, or an access of SCM, is for.
    #[inline]
    pub fn command(&self) -> u32 {
        debug_assert!(
            self.source == Source::Host && (self.class == QueueClass::HostRead || self.medium == Medium::Scm),
            "an access for a host command"
        );
        self.owner
    }

    /// The migration that a read of flash, or an access of SCM, is for.
    #[inline]
    pub fn migration(&self) -> u32 {
        debug_assert!(
            self.source == Source::Migration && (self.class == QueueClass::MoveRead || self.medium == Medium::Scm),
            "an access for a migration"
        );
        self.owner
    }

    /// Who asked for an access of SCM: the migration or the host command, as its source says.
    #[inline]
    pub fn asker(&self) -> u32 {
        debug_assert!(self.medium == Medium::Scm, "an access of SCM");
        self.owner
    }

    /// The page of the map that a read is of.
    #[inline]
    pub fn map_page(&self) -> u32 {
        debug_assert!(self.source == Source::Mapping, "a read of the map");
        self.owner
    }

    /// The access that a read of a page of a parity stripe is for.
    #[inline]
    pub fn rebuilt(&self) -> u32 {
        debug_assert!(
            self.source == Source::Parity && !matches!(self.class, QueueClass::HostProgram | QueueClass::MoveProgram),
            "a read of a stripe"
        );
        self.owner
    }

    /// What a die is occupied with while it works on it.
    #[inline]
    pub fn occupancy(&self) -> Occupancy {
        if self.source == Source::Parity && self.detail != 0 {
            return Occupancy::Rebuild;
        }
        self.class.occupancy(self.source)
    }

    /// The bytes of so large units that a read of flash moves.
    #[inline]
    pub fn read_bytes(&self, unit_bytes: u32) -> u32 {
        let whole = u32::from(self.units) * unit_bytes;
        if self.source == Source::Mapping && self.detail != 0 { self.detail } else { whole }
    }

    /// Pages of so many units that a program is of: several where those of a wordline are programmed in one go.
    #[inline]
    pub fn pages(&self, units_per_page: u32) -> u32 {
        (u32::from(self.units) / units_per_page).max(1)
    }

    /// Whether commands wait for a page of the map that is read.
    pub fn is_waited_for(&self) -> bool {
        debug_assert!(self.source == Source::Mapping, "a read of the map");
        self.class == QueueClass::HostRead
    }

    /// The head of the chain of unit records that a program carries, or that a read for garbage collection or for a merge
    /// fetches; `NONE` for none.
    #[inline]
    pub fn records(&self) -> u32 {
        debug_assert!(
            matches!(self.class, QueueClass::HostProgram | QueueClass::MoveProgram)
                || matches!(self.source, Source::GarbageCollection | Source::ReadModifyWrite),
            "an access with unit records"
        );
        self.owner
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
    /// Of a unit that is moved: the kind of what its group held when it was read, where that is of any consequence.
    pub kind: u8,
    /// Of a unit that is moved: its die copies its page as it is.
    pub is_copied: bool,
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
            kind: 0,
            is_copied: false,
        }
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

    /// Appends another chain.
    #[inline]
    pub fn append(&mut self, units: &mut Slab<UnitRecord>, other: Self) {
        if self.tail == NONE {
            *self = other;
        } else if other.tail != NONE {
            units[self.tail].next = other.head;
            self.tail = other.tail;
        }
    }
}
