//! The wear of storage-class memory in a measured window.

use ninescope_engine::ScmPart;
use ninescope_model::SECTOR_BYTES;

use super::distribution::Distribution;
use super::medium::{LifeBy, WearUnit, Worn};
use crate::config::ScmConfig;

/// What the window did to the sectors, copies of wear levelling included. Memory lives by its most worn sector: nothing
/// but its own levelling moves a hot sector, and that is in the window. `rated_key` is the key of the medium's rating.
pub fn worn(scm: &ScmPart, medium: usize, config: &ScmConfig, rated_key: &'static str) -> Worn {
    let sectors = scm.layout().medium(medium).raw_sectors();
    let written: u64 = scm.writes_measured(medium).map(u64::from).sum();
    Worn {
        unit: WearUnit::Sector,
        life_by: LifeBy::MostWorn,
        units: sectors,
        raw_bytes: sectors * SECTOR_BYTES,
        rated: config.endurance_writes,
        rated_key,
        bytes_borne: None,
        bytes_written: written * SECTOR_BYTES,
        wear: Distribution::of(&scm.writes_measured(medium)),
        worn_max: scm.wear_of_medium(medium).max().unwrap_or_default().into(),
    }
}
