//! The wear of flash in a measured window.

use ninescope_ftl::Ftl;
use ninescope_model::BlockGroup;

use super::distribution::Distribution;
use super::medium::{LifeBy, WearUnit, Worn};
use crate::config::NandConfig;

/// Units that have no place in blocks of one bit in a cell: a cycle of such a block is one of all its pages.
fn left_out(ftl: &Ftl) -> u64 {
    let whole = u64::from(ftl.geometry().pages_per_block);
    let Some(rules) = ftl.slc_rules() else { return 0 };
    let written = ftl.counters().slc_units;
    written * whole / u64::from(rules.pages) - written
}

/// What the window did to the blocks. A block lives by the mean: it is what garbage collection and the choice of free
/// blocks come to in the long run, and what warranties count; a short window erases few blocks more than once. Where each block
/// bears a number of its own that says how much can be written.
pub fn worn(ftl: &Ftl, config: &NandConfig, bytes_borne: Option<f64>) -> Worn {
    let geometry = ftl.geometry();
    // Blocks of a group wear together; a group stands for all of its blocks.
    let erased_most = (0..geometry.groups()).map(|group| ftl.group(BlockGroup(group)).erase_count).max();
    Worn {
        unit: WearUnit::Block,
        life_by: if bytes_borne.is_some() { LifeBy::ReadOnly } else { LifeBy::Mean },
        units: u64::from(geometry.groups()) * u64::from(geometry.frontier_planes * geometry.stripe_dies()),
        raw_bytes: geometry.media_bytes(),
        rated: config.endurance_cycles,
        rated_key: "nand.endurance_cycles",
        bytes_borne,
        bytes_written: (ftl.counters().programmed_units() + left_out(ftl)) * u64::from(geometry.unit_bytes),
        wear: Distribution::of(&ftl.erases_since_cleared()),
        worn_max: u64::from(config.initial_cycles.unwrap_or(0)) + u64::from(erased_most.unwrap_or(0)),
    }
}
