//! Pages: whole pages of the map are in memory, those used last. What is read for one unit serves its neighbours, and a page
//! that leaves changed is written without being read.

use super::{CachedBy, ENTRY_BYTES, MapPolicy};

cached_map!(Pages);

impl MapPolicy for Pages {
    fn cached_by(&self) -> CachedBy {
        CachedBy::Page
    }

    /// As on the media.
    fn item_bytes(&self, entries: u32, _runs: u32) -> u32 {
        entries * ENTRY_BYTES
    }
}
