//! The words every room shares: addresses, geometry, requests and where they come from, causes. No behaviour.
//!
//! This crate must not know how anything is done: no timing, no policy, no state machine.

#[doc(hidden)]
pub mod added;
mod address;
mod cause;
mod geometry;
mod host_cache;
#[doc(hidden)]
pub mod named_keys;
#[doc(hidden)]
pub mod registry;
mod request;
pub mod schema;
mod scm_geometry;
mod spelling;
mod turns;
pub mod units;
mod workload;
mod zone_log;

pub use address::{
    BankId, BlockGroup, ChannelId, DieId, Lba, Lpa, PAGE_BYTES, Pool, Ppa, SECTOR_BYTES, SlotId, Stream,
};
pub use cause::{CAUSES, Cause, OCCUPANCIES, Occupancy};
pub use geometry::{Geometry, GeometryError, PLANES_MAX, Parity, ParityOver, PhysicalUnit, Superblock};
pub use host_cache::HostCacheStatistics;
#[doc(hidden)]
pub use registry::{optional_string_or_table, string_or_table};
pub use request::{CacheHint, DriveErase, Op, Remark, Request, Source, ZoneCommand};
pub use scm_geometry::{SECTORS_PER_SLOT_MAX, ScmGeometry, ScmLayout};
pub use spelling::suggestion;
pub use turns::{QUEUES_MAX, Turns, UrgencyClass, WEIGHT_MAX};
pub use workload::{Arrival, LANES_MAX, REQUEST_SECTORS_MAX, TIME_MAX, Workload, WorkloadError};
pub use zone_log::ZoneLogStatistics;
