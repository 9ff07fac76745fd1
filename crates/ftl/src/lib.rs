//! The flash translation layer as a state machine without time.
//!
//! It maps logical to physical units, hands out the units of write frontiers, and says what garbage
//! collection must move and erase next. Two drivers call it: the engine turns the answers into
//! transactions and reports their ends; [`InstantDriver`] does at once what is asked. This crate must
//! not know time: it counts operations, and ages are counted in host writes or closed groups.

mod block;
pub mod block_map;
mod breakdown;
mod config;
mod counters;
mod filling_order;
mod ftl;
mod homes;
mod instant;
mod minima;
mod partition;
pub mod policies;
mod pool;
mod reclaim_units;
mod zones;

pub use block::{BlockRecord, GroupState};
pub use breakdown::{BreakdownConfig, Broken};
pub use config::{FtlConfig, FtlError, SlcCacheConfig, WhenSlcFull};
pub use counters::FtlCounters;
pub use ftl::{BadBlocks, CollectionRules, Ftl, GcStep, Padded, Placed, ResetGroup, Residence, Rewritten};
pub use instant::InstantDriver;
pub use partition::{Partition, Partitions, give_map};
pub use reclaim_units::{HandleCounts, PlacementCounts, ReclaimUnits, UnitCounts};
pub use zones::{Zone, ZoneConfig, ZoneCounts, ZoneError, ZoneLayout, ZoneState, Zones, ZrwaConfig, ZrwaCounts};
