//! Scheduling: what waits on each die or bank, which of it goes next, and who has the channel; the policies that choose.
//!
//! Dies and banks are [stations](Stations) alike: a queue per class, a ledger of its time, a place in its channel's queue.
//! Knows nothing of planes and slots, and of the phases of a command no more than their names: what a station works on, and
//! when it goes on, is its owner's.

mod bus;
mod station;
mod stations;

pub use station::Phase;
pub use stations::Stations;
