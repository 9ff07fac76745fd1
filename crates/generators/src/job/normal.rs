//! Sizes of requests that are drawn by a normal law, "8k/2k": mean and standard deviation, by direction after commas.

use std::borrow::Cow;
use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

use ninescope_kernel::RandomStream;
use ninescope_model::units::Bytes;
use ninescope_model::{Op, REQUEST_SECTORS_MAX, SECTOR_BYTES};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;

/// Directions in fio's order: reads, writes, trims.
const DIRECTIONS: usize = 3;
/// No size lies further from the mean [standard deviations]: two draws of a thousand million would.
const CUT: f64 = 6.0;

/// The law of each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeNormal {
    directions: [Law; DIRECTIONS],
}

/// A normal law, rounded to whole sectors, of which there is one at least.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    mean: Bytes,
    deviation: Bytes,
    /// The largest size [sectors].
    most: u32,
    /// What sizes come to in the mean once they are rounded and cut [B].
    mean_drawn: f64,
}

impl SizeNormal {
    fn of(&self, op: Op) -> &Law {
        &self.directions[(op as usize).min(DIRECTIONS - 1)]
    }

    /// The least and the largest size of the directions in `ops`.
    pub(super) fn extremes(&self, ops: &[Op]) -> (Bytes, Bytes) {
        let most = ops.iter().map(|&op| self.of(op).most).max().unwrap_or(1);
        (Bytes(SECTOR_BYTES), Bytes(u64::from(most) * SECTOR_BYTES))
    }

    /// The mean size of a direction [B].
    pub(super) fn mean(&self, op: Op) -> f64 {
        self.of(op).mean_drawn
    }

    /// The next size [sectors].
    #[inline]
    pub(super) fn draw(&self, op: Op, stream: &mut RandomStream) -> u32 {
        let law = self.of(op);
        // By Box and Muller, of whose two draws one is taken, so that a stream has no state beside its own.
        let (radius, angle) = (libm::sqrt(-2.0 * libm::log(1.0 - stream.unit())), TAU * stream.unit());
        let sectors = libm::round(law.mean() + law.deviation() * radius * libm::cos(angle));
        (sectors.max(1.0) as u32).min(law.most)
    }
}

impl Law {
    fn new(mean: Bytes, deviation: Bytes) -> Result<Self, String> {
        let mut law = Self { mean, deviation, most: 0, mean_drawn: 0.0 };
        let most = libm::round(law.mean() + CUT * law.deviation());
        if mean.0 < SECTOR_BYTES {
            return Err(format!("a mean of {mean} is less than a sector of 512 bytes"));
        }
        if most > f64::from(REQUEST_SECTORS_MAX) {
            return Err(format!("{mean} and {CUT} times {deviation} are more than the 1GiB of one request"));
        }
        law.most = most as u32;
        law.mean_drawn = law.sectors_drawn() * SECTOR_BYTES as f64;
        Ok(law)
    }

    /// [sectors]
    fn mean(&self) -> f64 {
        self.mean.0 as f64 / SECTOR_BYTES as f64
    }

    /// [sectors]
    fn deviation(&self) -> f64 {
        self.deviation.0 as f64 / SECTOR_BYTES as f64
    }

    /// The mean of what is drawn [sectors]: the sum over all sizes of the chance that a draw is not below them.
    fn sectors_drawn(&self) -> f64 {
        let (mean, deviation) = (self.mean(), self.deviation());
        if deviation == 0.0 {
            return f64::from(self.most);
        }
        let surely = (mean - CUT * deviation).max(1.0) as u32;
        let at_least = |sectors: u32| {
            let below = (f64::from(sectors) - 0.5 - mean) / deviation;
            libm::erfc(below * std::f64::consts::FRAC_1_SQRT_2) / 2.0
        };
        f64::from(surely) + (surely + 1..=self.most).map(at_least).sum::<f64>()
    }
}

impl FromStr for SizeNormal {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let refused = |problem: String| JobError::new("bsnormal", format!("`{text}`: {problem}"));
        let mut laws = text.split(',').map(|part| law(part).map_err(refused)).collect::<Result<Vec<_>, _>>()?;
        if laws.len() > DIRECTIONS {
            return Err(refused("there are three directions: reads, writes, trims".to_owned()));
        }
        // As with the other sizes, a direction that is left out is like the one before it.
        while laws.len() < DIRECTIONS {
            laws.extend(laws.last().copied());
        }
        let directions = laws.try_into().map_err(|_| refused("no sizes".to_owned()))?;
        Ok(Self { directions })
    }
}

fn law(text: &str) -> Result<Law, String> {
    let wanted = || format!("`{text}` is not a mean and a standard deviation such as 8k/2k");
    let (mean, deviation) = text.split_once('/').ok_or_else(wanted)?;
    let size = |text: &str| -> Result<Bytes, String> { text.trim().parse().map_err(|error| format!("{error}")) };
    Law::new(size(mean)?, size(deviation)?)
}

impl fmt::Display for SizeNormal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, law) in self.directions.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(formatter, "{separator}{}/{}", law.mean.0, law.deviation.0)?;
        }
        Ok(())
    }
}

impl JsonSchema for SizeNormal {
    fn schema_name() -> Cow<'static, str> {
        "SizeNormal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Sizes are numbers here; that units are known is the parser's.
        let law = r"\s*[0-9][^/,]*/\s*[0-9][^/,]*";
        json_schema!({
            "description": "Mean and standard deviation of the sizes, \"8k/2k\"; one law for each direction after commas. \
                            Sizes are rounded to whole sectors, of which there is one at least.",
            "type": "string",
            "pattern": format!("^{law}(,{law}){{0,2}}$"),
        })
    }
}

impl Serialize for SizeNormal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SizeNormal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
