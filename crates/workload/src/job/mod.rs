//! Synthetic jobs: requests drawn from a description in fio's words.
//!
//! `config` holds the description and what can be wrong with it, `distribution` the law of random
//! addresses, `scramble` the fixed permutation that spreads hot addresses, `synthetic` the workload.

mod config;
mod distribution;
mod scramble;
mod synthetic;

pub use config::{AccessPattern, JobConfig, JobError, JobRegion, RateProcess};
pub use distribution::AddressDistribution;
pub use synthetic::SyntheticJob;
