//! Addresses and ids of a drive.

use ninescope_kernel::define_id;

/// Bytes of one host sector, the unit of an LBA.
pub const SECTOR_BYTES: u64 = 512;

/// Bytes of a page in which footprints of workloads are counted, whatever the pages of a drive.
pub const PAGE_BYTES: u64 = 4096;

/// Logical block address: index of a 512 B host sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Lba(pub u64);

define_id! {
    /// Logical page address: index of a mapping unit in the host's address space.
    Lpa
}

define_id! {
    /// Physical page address: index of a mapping unit on the media, in the order of filling
    /// (block group, page, plane, unit within the page). See [`crate::Geometry`].
    Ppa
}

define_id! {
    /// Index of a die (= LUN), channel-major: die `d` is on channel `d / dies_per_channel`.
    DieId
}

define_id! {
    /// Index of a channel.
    ChannelId
}

define_id! {
    /// Index of a bank of storage-class memory. See [`crate::ScmGeometry`].
    BankId
}

define_id! {
    /// Index of a slot: the sectors of storage-class memory that are accessed by one transaction.
    SlotId
}

define_id! {
    /// Index of a block group: one block at the same index in each of `frontier_planes` planes of a
    /// die, allocated, programmed, collected and erased as one.
    BlockGroup
}

define_id! {
    /// Index of a pool: the planes of one die that share block groups, and so free blocks, write
    /// frontiers and garbage collection.
    Pool
}

define_id! {
    /// Index of a write stream within a pool. Each stream has its own frontier.
    Stream
}

impl Lpa {
    /// No logical page: the content of an unmapped physical unit.
    pub const NONE: Self = Self(u32::MAX);
}

impl Ppa {
    /// No physical page: where an unmapped logical page points.
    pub const UNMAPPED: Self = Self(u32::MAX);
}

impl Stream {
    /// What the host writes.
    pub const HOST: Self = Self(0);
    /// What garbage collection moves.
    pub const GC: Self = Self(1);
    /// What is written and kept apart: what the host writes of which another copy exists, or pages of the map.
    pub const APART: Self = Self(2);
    /// What garbage collection moves of that kind.
    pub const GC_APART: Self = Self(3);

    /// The most kinds of data that are kept apart.
    pub const KINDS_MAX: u32 = 8;

    /// What is written of a kind of data, from 0.
    #[inline]
    pub fn of_writes(kind: u32) -> Self {
        Self(2 * kind)
    }

    /// What garbage collection moves of a kind.
    #[inline]
    pub fn of_moves(kind: u32) -> Self {
        Self(2 * kind + 1)
    }

    /// The streams of so many kinds, in index order.
    pub fn of_kinds(kinds: u32) -> impl Iterator<Item = Self> + Clone {
        (0..2 * kinds).map(Self)
    }

    /// The kind of data that it takes.
    #[inline]
    pub fn kind(self) -> u32 {
        self.0 / 2
    }

    /// Whether garbage collection fills it.
    #[inline]
    pub fn is_of_moves(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether it takes what is kept apart alone.
    #[inline]
    pub fn is_apart(self) -> bool {
        self.0 >= Self::APART.0
    }
}
