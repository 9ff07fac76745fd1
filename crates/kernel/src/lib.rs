//! The kernel: what any deterministic discrete-event program needs, and nothing about storage.
//!
//! Simulated time, typed ids, the wake-up queue, slabs, intrusive FIFOs, named random streams, exact
//! division by run-time constants, the run digest and the words in which state is saved live here. This crate must not know what a page,
//! a die or a request is.

mod bit_table;
mod digest;
mod fast_div;
mod fifo;
mod id;
mod prefetch;
mod random;
mod random_order;
mod recency;
mod slab;
mod snapshot;
mod table;
mod time;
mod touched;
pub mod wake_queue;

pub use bit_table::BitTable;
pub use digest::RunDigest;
pub use fast_div::FastDiv;
pub use fifo::{Fifo, NONE};
pub use prefetch::prefetch;
pub use random::{Chance, RandomStream, Zipf, mixed};
pub use random_order::RandomOrder;
pub use recency::{Links, RecencyList};
pub use slab::Slab;
pub use snapshot::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
pub use table::{IdTable, zeroed};
pub use time::{Ns, Rate};
pub use touched::Touched;
pub use wake_queue::{IndexedHeap, ResourceId, TournamentTree, WakeQueue};
