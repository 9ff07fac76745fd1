//! What a host cache says of itself. The engine carries it from the workload to the result unread.

use serde::Serialize;

/// What a host cache did so far. Everything is counted in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostCacheStatistics {
    /// Room in the cache.
    pub blocks: u64,
    /// Sets of them.
    pub sets: u64,
    /// Blocks that the host read as a whole.
    pub reads: u64,
    /// Of these, found in the cache: host reads of the drive.
    pub read_hits: u64,
    /// Of these, found on their way from the disk: they ask nobody.
    pub joined_reads: u64,
    /// Blocks that the host wrote as a whole.
    pub writes: u64,
    /// Of these, found in the cache.
    pub write_hits: u64,
    /// Of these, found dirty: the older data never reaches the disk.
    pub dirty_rewrites: u64,
    /// Writes of the drive with data that lies nowhere else.
    pub dirty_writes: u64,
    /// Writes of the drive with what the disk brought.
    pub clean_writes: u64,
    /// Disk reads whose data a write made old before it came.
    pub overtaken_reads: u64,
    /// Reads of the drive to write a block back.
    pub flush_reads: u64,
    /// Of these, of blocks that nobody had touched for the fallow delay.
    pub fallow_flush_reads: u64,
    /// Clean blocks that made room.
    pub evictions: u64,
    /// Blocks that the host let go.
    pub discarded: u64,
    /// Reads that went past the cache: of parts of blocks, or where a set has no room.
    pub uncached_reads: u64,
    /// Writes that did.
    pub uncached_writes: u64,
    /// Reads of the disk.
    pub disk_reads: u64,
    /// Writes of the disk.
    pub disk_writes: u64,
    /// Blocks in the cache now.
    pub valid_blocks: u64,
    /// Of these, dirty.
    pub dirty_blocks: u64,
    /// The most that were dirty at a time.
    pub dirty_blocks_max: u64,
}
