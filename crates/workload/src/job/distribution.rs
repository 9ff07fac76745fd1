//! The law of random addresses, as fio writes it: "uniform" or "zipf:1.2".

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;

/// Zipf exponents beyond this put everything on one block and strain the generator's arithmetic.
const THETA_MAX: f64 = 10.0;

/// How often each block of a random job is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AddressDistribution {
    /// All blocks alike.
    #[default]
    Uniform,
    /// Block of rank k with weight `1 / k^theta`; hot blocks are spread over the region.
    Zipf(f64),
}

impl FromStr for AddressDistribution {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let refused = || {
            let problem = format!(
                "`{text}` is no distribution; write \"uniform\" or \"zipf:<theta>\" with theta from 0 to {THETA_MAX}"
            );
            JobError::new("random_distribution", problem)
        };
        match text.split_once(':') {
            // fio calls the uniform law "random".
            None if text == "uniform" || text == "random" => Ok(Self::Uniform),
            Some(("zipf", theta)) => {
                let zipf = Self::Zipf(theta.trim().parse().map_err(|_| refused())?);
                if zipf.is_valid() { Ok(zipf) } else { Err(refused()) }
            }
            _ => Err(refused()),
        }
    }
}

impl AddressDistribution {
    /// Whether the parameters lie in their range.
    pub(super) fn is_valid(self) -> bool {
        match self {
            Self::Uniform => true,
            Self::Zipf(theta) => (0.0..=THETA_MAX).contains(&theta),
        }
    }
}

impl fmt::Display for AddressDistribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => formatter.write_str("uniform"),
            Self::Zipf(theta) => write!(formatter, "zipf:{theta}"),
        }
    }
}

impl Serialize for AddressDistribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AddressDistribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
