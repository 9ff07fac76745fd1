//! The words every room shares: addresses, geometry, requests, sources, causes. No behaviour.
//!
//! This crate must not know how anything is done: no timing, no policy, no state machine.

mod address;
mod cause;
mod geometry;
#[doc(hidden)]
pub mod registry;
mod request;
pub mod schema;
mod scm_geometry;
pub mod units;

pub use address::{BankId, BlockGroup, ChannelId, DieId, Lba, Lpa, Pool, Ppa, SECTOR_BYTES, SlotId, Stream};
pub use cause::{CAUSES, Cause, OCCUPANCIES, Occupancy};
pub use geometry::{Geometry, GeometryError, PhysicalUnit};
#[doc(hidden)]
pub use registry::{optional_string_or_table, string_or_table};
pub use request::{CacheHint, Op, Request, Source};
pub use scm_geometry::{SECTORS_PER_SLOT_MAX, ScmGeometry, ScmLayout};
