//! Synthetic jobs: requests drawn from a description in fio's words.
//!
//! `config` holds the description, `validate` what can be wrong with it, `region` where on a drive it works, `requests` what
//! follows from it of sizes, shares, rates and ends; `distribution` the law of random addresses, `sizes` how request sizes are
//! drawn from lists and ranges, `normal` how by a normal law, `scramble` the fixed permutation that spreads hot addresses, `order` those of random maps, `synthetic` the workload.

mod config;
mod distribution;
mod error;
mod normal;
mod order;
mod region;
mod requests;
mod scramble;
mod sizes;
mod synthetic;
mod validate;

pub use config::{AccessPattern, EachPass, JobConfig, RateProcess};
pub use distribution::{AddressDistribution, Extent, Zone};
pub use error::JobError;
pub use normal::SizeNormal;
pub use region::{Grid, JobRegion};
pub use sizes::{SizeRange, SizeSplit};
pub use synthetic::SyntheticJob;
