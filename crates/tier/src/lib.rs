//! Which of two media holds what: storage-class memory above flash, or above slower storage-class memory.
//!
//! The upper medium is divided into slots, each of which holds one logical page with a mask of its valid and of its
//! dirty sectors ([`Residency`]). A [`DataPlacement`] policy says where writes go, what reads bring up, and which slot is
//! emptied. The tier is a state machine without time: the engine carries out what is decided here and reports when it
//! is done. This crate must not know how long anything takes, nor how the lower medium maps its pages.

pub mod policies;
mod recent;
mod residency;
mod streams;
mod tier;

pub use policies::{Access, DataPlacement, EvictionConfig, OnRead, PlacementConfig, Rules, WriteBack, WriteTo};
pub use recent::RecentPages;
pub use residency::{Residency, Slot, SlotState};
pub use streams::ReadStreams;
pub use tier::{ClassCounters, Eviction, Tier, TierCounters};
