//! Synthetic jobs: requests drawn from a description in fio's words.
//!
//! `config` holds the description and what can be wrong with it, `distribution` the law of random
//! addresses, `sizes` how request sizes are drawn, `scramble` the fixed permutation that spreads hot addresses, `order` those of
//! random maps, `synthetic` the workload.

mod config;
mod distribution;
mod order;
mod scramble;
mod sizes;
mod synthetic;

pub use config::{AccessPattern, EachPass, Grid, JobConfig, JobError, JobRegion, RateProcess};
pub use distribution::{AddressDistribution, Zone};
pub use sizes::{SizeRange, SizeSplit};
pub use synthetic::SyntheticJob;
