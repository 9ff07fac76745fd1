//! Random worlds: from one seed a tiny drive, its policies and options, and a workload made to collide. Each
//! runs under the full checker; one that fails is shrunk and kept as a file that is replayed for ever.
//!
//! ```text
//! generate: seed -> World        run: World -> counts of everything, or a failure by name
//! shrink: World x condition -> the smallest World found that still meets it
//! hunt: many seeds on many cores -> a table of what was met and where
//! ```

mod block_maps;
mod breakage;
mod codes;
mod copybacks;
mod dice;
mod die_failures;
mod drives;
mod forwarding;
mod generate;
mod hunt;
mod keys;
mod marks;
mod namespaces;
mod parity;
mod partitions;
mod policies;
mod power;
mod run;
mod scm;
mod shrink;
mod slc_cache;
mod superblocks;
mod world;
mod zones;

pub use generate::generate;
pub use hunt::{Hunt, HuntReport, Sighting};
pub use marks::{known_marks, situations};
pub use policies::decides_otherwise;
pub use run::{Failure, Outcome, run, trace};
pub use shrink::shrink;
pub use world::{ArrivalKind, World, WorldError};
