//! Closed forms against which the simulator's results are tested.
//!
//! Everything here comes from theory, not from the simulator: the crate depends on no other crate of
//! the workspace and is used by tests only. Each function names its source, its units and the limit in
//! which it holds. The unit tests compare the formulas with values computed independently (a
//! high-precision program for the waiting times, a brute-force flash translation layer for the write
//! amplification).

#![allow(
    clippy::disallowed_methods,
    reason = "the platform's exp and ln are fine here: nothing in this crate reaches a simulation"
)]

pub mod caches;
pub mod endurance;
pub mod heat;
pub mod little;
pub mod peak_bandwidth;
pub mod queueing;
mod roots;
pub mod scm;
pub mod write_amplification;
