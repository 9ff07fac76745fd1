//! Runs: whole pages of the map are in memory, compressed to the runs of units that lie side by side, so that a page of data
//! written in order takes little (Jiang et al., "S-FTL: an efficient address translation for flash memory by exploiting spatial
//! locality", MSST 2011). A run is of units that follow each other on the media: it ends where a page goes on on another die.

use super::{CachedBy, ENTRY_BYTES, MapPolicy};

cached_map!(Runs);

impl MapPolicy for Runs {
    fn cached_by(&self) -> CachedBy {
        CachedBy::Page
    }

    /// Where each run begins, and where that lies.
    fn item_bytes(&self, _entries: u32, runs: u32) -> u32 {
        runs * 2 * ENTRY_BYTES
    }

    fn counts_runs(&self) -> bool {
        true
    }
}
