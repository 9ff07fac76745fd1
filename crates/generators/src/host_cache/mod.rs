//! A write-back cache of the host on the drive, in front of a disk, after flashcache: requests to the disk go in,
//! what the drive is asked comes out.
//!
//! The cache answers a read hit from the drive, fills it with what the disk brings on a miss, takes every write
//! and writes dirty blocks back later. It is a small simulation of its own, whose events (a disk read ends, a block
//! is clean, a look for fallow blocks) are merged with the requests in the order of time. Not modelled are
//! flashcache's own metadata on the drive and its detection of sequential requests.

mod config;
mod fallow;
mod sets;
mod stage;

pub use config::{HostCacheConfig, HostCacheLayout, InitialContent, Replacement};
pub use stage::HostCache;
