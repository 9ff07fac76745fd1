//! Profiles: what a trace is like in numbers, without a row of it, and requests drawn from them.
//!
//! A profile stands in for a trace that cannot be shipped. It describes how each request relates to those before
//! it: whether it touches new pages or old ones, continues a run, repeats an earlier request or overlaps it; how
//! long ago, in requests, its first page was last used and how often it had been used by then. Drawing from these
//! laws builds a history of its own in which popularity, rewrite intervals and reuse distances come out as they
//! were, because the same laws made them (`docs/decisions/0015-profiles-of-objects.md` says why this model and not another).
//! Nothing here knows a drive; a profile holds no address and no row of the trace it was made of.

mod arrivals;
mod birth;
mod draw;
mod error;
mod extents;
mod generate;
mod laws;
mod population;
mod reduce;
mod validate;

pub use arrivals::{ArrivalLaw, GapClass};
pub use birth::{Birth, Part};
pub use error::ProfileError;
pub use generate::{GeneratorReport, ProfileWorkload};
pub use laws::{AddressLaw, Continuation, JumpLaw, ObjectLaw, Original, PartLaw, Profile, RunLaw};
pub use reduce::ProfileBuilder;

/// The version of the format that is written and read.
pub const PROFILE_VERSION: u32 = 1;

/// Stretches of equal numbers of requests in which it is known how many objects are new.
pub(crate) const STRETCHES: usize = 16;
