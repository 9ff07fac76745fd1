//! The engine's policies: one folder per trait, one file per policy, one registry line each.
//!
//! A policy may own state and changes only that. What it knows is in the view that it is asked with.

pub mod back_pressure;
pub mod channel_arbitration;
pub mod host_arbitration;
pub mod mapping;
pub mod read_retry;
pub mod refresh;
pub mod scrub;
pub mod suspend;
pub mod transaction_scheduler;
pub mod trim;
pub mod write_throttle;
