//! What a log on zones says of itself. The engine carries it from the workload to the result unread.

use serde::Serialize;

/// What a log-structured store on zones did so far. Everything but zones is counted in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ZoneLogStatistics {
    /// Blocks of the store.
    pub blocks: u64,
    /// Blocks of a zone.
    pub blocks_per_zone: u64,
    /// Blocks that the host read.
    pub read_blocks: u64,
    /// Blocks that it wrote.
    pub written_blocks: u64,
    /// Of these, those that were written in part, so that the rest was read.
    pub merged_blocks: u64,
    /// Of those that it wrote, blocks that were overwritten in the random write area of their zone.
    pub overwritten_blocks: u64,
    /// Blocks that the cleaner moved.
    pub moved_blocks: u64,
    /// Zones that it reset.
    pub cleaned_zones: u64,
}

impl ZoneLogStatistics {
    /// Blocks written to the drive for each that the host wrote, those among them that random write areas absorb; `None` where it
    /// wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        let all = (self.written_blocks + self.moved_blocks) as f64;
        (self.written_blocks > 0).then(|| all / self.written_blocks as f64)
    }
}
