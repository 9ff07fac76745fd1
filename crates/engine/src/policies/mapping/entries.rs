//! Entries: what was used last is in memory entry by entry; a miss reads the page of the map that holds the entry, and an entry
//! that leaves changed has its page written anew, with all changed entries of that page (Gupta et al., "DFTL: a flash
//! translation layer employing demand-based selective caching of page-level address mappings", ASPLOS 2009, sections 3.2 and
//! 3.4; its segmented LRU is a plain one here).

use super::{CachedBy, ENTRY_BYTES, MapPolicy};

cached_map!(Entries);

impl MapPolicy for Entries {
    fn cached_by(&self) -> CachedBy {
        CachedBy::Entry
    }

    /// Which unit it is of, and where that lies.
    fn item_bytes(&self, _entries: u32, _runs: u32) -> u32 {
        2 * ENTRY_BYTES
    }
}
