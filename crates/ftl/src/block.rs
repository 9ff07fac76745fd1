//! The record of one block group: the only owner of its wear and its filling state.

/// What a block group is used for at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum GroupState {
    /// Erased and on its pool's free list.
    #[default]
    Free,
    /// A write frontier.
    Open,
    /// Filled; may become a victim once everything in it is programmed.
    Closed,
    /// A victim whose valid units are being moved out.
    Collecting,
    /// A victim of which every valid unit was handed out to be moved; some moves have not ended.
    Draining,
    /// Holds nothing valid; an erase was asked for.
    Erasing,
    /// In the table of bad blocks: never written again.
    Retired,
}

/// State of one block group, 32 bytes. How many of its units are valid is kept apart in a dense table,
/// because victim selection scans that and invalidation touches nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockRecord {
    /// Units handed out since the last erase.
    pub write_pointer: u32,
    /// Units whose program has ended since the last erase; a unit at or beyond it is in flight.
    pub programmed: u32,
    /// Program/erase cycles so far.
    pub erase_count: u32,
    /// Page reads since the last erase.
    pub reads_since_erase: u32,
    /// Destination units of garbage-collection moves that have not ended. While there are any, the
    /// group is no victim.
    pub pending: u32,
    /// Reads queued or running on the group. It is erased only at zero.
    pub readers: u32,
    /// When it was filled [groups closed so far in the drive, modulo 2^32].
    pub closed_sequence: u32,
    /// What it is used for.
    pub state: GroupState,
    /// The stream that fills it.
    pub stream: u8,
    /// It is a victim so that its data is written anew.
    pub refreshed: bool,
    /// A program of it failed: it is filled no more, emptied and retired.
    pub failed: bool,
}

const _: () = assert!(size_of::<BlockRecord>() == 32, "two block records share a cache line");
