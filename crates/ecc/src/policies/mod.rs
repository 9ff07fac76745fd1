//! The choices of this room: which code, and how long its codec takes. One folder per registry, one file per policy,
//! one registry line each.

pub mod ecc_scheme;
pub mod latency;

pub use ecc_scheme::EccSchemeConfig;
pub use latency::LatencyConfig;
