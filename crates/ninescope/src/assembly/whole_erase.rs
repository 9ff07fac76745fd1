//! What keeps a drive from being erased as a whole, by a format or a sanitize.

use ninescope_ftl::BreakdownConfig;
use ninescope_tier::PlacementConfig;

use super::Assembly;
use crate::config::DriveConfig;

impl Assembly {
    /// What of the drive does not go with that; `None` where it may be erased.
    pub fn not_erased_with(&self) -> Option<&'static str> {
        let DriveConfig {
            ftl,
            tier,
            dram,
            scm,
            firmware,
            zns,
            namespaces,
            scrub,
            refresh,
            backing_store,
            geometry,
            nand,
            ..
        } = &self.config;
        let breaks = self.ftl.breakdown.as_ref().is_some_and(BreakdownConfig::breaks_in_use);
        let others = [
            ("storage-class memory alone", geometry.is_none()),
            ("storage-class memory ([scm])", scm.is_some()),
            ("a cache (tier.placement)", tier.placement != PlacementConfig::default()),
            ("DRAM ([dram])", dram.is_some()),
            ("cores of the firmware ([firmware])", firmware.is_some()),
            ("zones ([zns])", zns.is_some()),
            ("namespaces", !namespaces.is_empty()),
            ("[scrub]", scrub.is_some()),
            ("[refresh]", refresh.is_some()),
            ("[backing_store]", backing_store.is_some()),
            ("blocks that break (nand.wear_out, nand.program_failures, nand.erase_failures)", breaks),
            ("blocks of one bit in a cell (ftl.slc_cache)", ftl.slc_cache.is_some()),
            ("parity (ftl.parity)", ftl.parity.is_some()),
            ("dies that fail (nand.die_failures)", nand.as_ref().is_some_and(|nand| !nand.die_failures.is_empty())),
            ("super-blocks (ftl.superblock)", ftl.superblock.is_some_and(|superblock| superblock.dies > 1)),
            ("placement handles (ftl.streams)", ftl.streams.name() == "fdp"),
            ("clean data that is kept apart (ftl.streams)", ftl.streams.knows_clean()),
            ("a map of blocks (ftl.map)", ftl.map.chosen().by_blocks().is_some()),
            ("a map in flash (ftl.map)", ftl.map.chosen().rules().is_some()),
        ];
        others.into_iter().find(|(_, given)| *given).map(|(what, _)| what)
    }
}
