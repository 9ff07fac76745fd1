//! The law of random addresses, as fio writes it: "uniform", "zipf:1.2", "pareto:0.2", "zoned:60/10:40/90",
//! `zoned_abs:60/1g:40/9g`; and "hotcold:90/10", zones that are spread over the region.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ninescope_model::units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;

/// Zipf exponents beyond this put everything on one block and strain the generator's arithmetic.
const THETA_MAX: f64 = 10.0;
/// As many zones as fio takes.
const ZONES_MAX: usize = 256;

/// A part of the region with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Share of the accesses [percent].
    pub accesses: u8,
    /// Share of the region [percent].
    pub blocks: u8,
}

/// A part of so many bytes with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Share of the accesses [percent].
    pub accesses: u8,
    /// Its length [bytes].
    pub bytes: Bytes,
}

/// How often each block of a random job is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AddressDistribution {
    /// All blocks alike.
    #[default]
    Uniform,
    /// Block of rank k with weight `1 / k^theta`; hot blocks are spread over the region.
    Zipf(f64),
    /// All but the share `h` of the accesses go to the share `h` of the blocks, and so on inside both (fio's pareto:
    /// 0.2 is 80 % to 20 %). Hot blocks are spread over the region.
    Pareto(f64),
    /// Zones one after another from the region's beginning; inside a zone all blocks are alike.
    Zoned(Vec<Zone>),
    /// The same with lengths in bytes; what is left of the region behind them is not accessed.
    ZonedAbs(Vec<Extent>),
    /// A hot zone and the rest, spread over the region.
    HotCold(Zone),
}

impl FromStr for AddressDistribution {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let refused = |problem: &str| JobError::new("random_distribution", format!("`{text}` {problem}"));
        let number = |value: &str, problem: &str| value.trim().parse::<f64>().map_err(|_| refused(problem));
        let law = match text.split_once(':') {
            // fio calls the uniform law "random".
            None if text == "uniform" || text == "random" => return Ok(Self::Uniform),
            Some(("zipf", theta)) => Self::Zipf(number(theta, "is zipf:<theta> without a number")?),
            Some(("pareto", share)) => Self::Pareto(number(share, "is pareto:<h> without a number")?),
            Some(("zoned", zones)) => {
                if zones.contains(',') {
                    return Err(refused("gives each direction zones of its own; only one list for all is supported"));
                }
                Self::Zoned(zones.split(':').map(zone).collect::<Option<_>>().ok_or_else(|| refused(ZONES))?)
            }
            Some(("zoned_abs", zones)) => {
                let zones = zones.split(':').map(extent).collect::<Result<_, _>>();
                Self::ZonedAbs(zones.map_err(|problem| refused(&problem))?)
            }
            Some(("hotcold", hot)) => Self::HotCold(zone(hot).ok_or_else(|| refused(HOT))?),
            _ => {
                return Err(refused(
                    "is no distribution; write \"uniform\", \"zipf:<theta>\", \"pareto:<h>\", \
                     \"zoned:<% of accesses>/<% of region>:...\", \"zoned_abs:<% of accesses>/<size>:...\" or \"hotcold:<% of accesses>/<% of region>\"",
                ));
            }
        };
        law.problem().map_or(Ok(law.clone()), |problem| Err(refused(&problem)))
    }
}

const ZONES: &str =
    "must list zones in whole percents, as <% of accesses>/<% of region>, such as zoned:60/10:30/20:10/70";
const EXTENTS: &str = "must list zones as <% of accesses>/<size>, in whole percents, such as zoned_abs:60/1GiB:40/9GiB";
const HOT: &str = "must be whole percents, as <% of accesses>/<% of region>, such as hotcold:90/10";

fn zone(text: &str) -> Option<Zone> {
    let (accesses, blocks) = text.split_once('/')?;
    Some(Zone { accesses: accesses.trim().parse().ok()?, blocks: blocks.trim().parse().ok()? })
}

fn extent(text: &str) -> Result<Extent, String> {
    let (accesses, bytes) = text.split_once('/').ok_or(EXTENTS)?;
    let accesses = accesses.trim().parse().map_err(|_| EXTENTS)?;
    let bytes = bytes.trim().parse().map_err(|error| format!("{EXTENTS}: {error}"))?;
    Ok(Extent { accesses, bytes })
}

impl AddressDistribution {
    /// What is wrong with the parameters.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Uniform => None,
            Self::Zipf(theta) if (0.0..=THETA_MAX).contains(theta) => None,
            Self::Zipf(_) => Some(format!("lies outside the range of theta, 0 to {THETA_MAX}")),
            // At 1/2 all blocks are alike; towards 1 one block takes everything.
            Self::Pareto(share) if (0.01..=0.99).contains(share) => None,
            Self::Pareto(_) => Some("lies outside the range of h, 0.01 to 0.99".to_owned()),
            Self::Zoned(zones) => zones_problem(zones),
            Self::ZonedAbs(zones) => extents_problem(zones),
            Self::HotCold(hot) => match hot.with_the_rest() {
                Some(zones) => zones_problem(&zones),
                None => Some("is more than 100 %".to_owned()),
            },
        }
    }

    /// How long the zones are together, where their lengths are given [B].
    pub(super) fn zones_bytes(&self) -> Option<Bytes> {
        let Self::ZonedAbs(zones) = self else { return None };
        Some(Bytes(zones.iter().fold(0, |sum: u64, zone| sum.saturating_add(zone.bytes.0))))
    }
}

impl Zone {
    /// This zone and what it leaves over; none where it is more than everything.
    pub(super) fn with_the_rest(self) -> Option<[Self; 2]> {
        let rest = Self { accesses: 100_u8.checked_sub(self.accesses)?, blocks: 100_u8.checked_sub(self.blocks)? };
        Some([self, rest])
    }
}

fn zones_problem(zones: &[Zone]) -> Option<String> {
    let sum = |share: fn(&Zone) -> u8| zones.iter().map(|zone| u32::from(share(zone))).sum::<u32>();
    if zones.len() > ZONES_MAX {
        return Some(format!("has more than {ZONES_MAX} zones"));
    }
    if sum(|zone| zone.accesses) != 100 || sum(|zone| zone.blocks) != 100 {
        return Some("must share out 100 % of the accesses and 100 % of the region".to_owned());
    }
    let stranded = zones.iter().any(|zone| zone.blocks == 0 && zone.accesses > 0);
    stranded.then(|| "sends accesses to a zone without blocks".to_owned())
}

fn extents_problem(zones: &[Extent]) -> Option<String> {
    let shares: u32 = zones.iter().map(|zone| u32::from(zone.accesses)).sum();
    if zones.len() > ZONES_MAX {
        return Some(format!("has more than {ZONES_MAX} zones"));
    }
    if shares != 100 {
        return Some("must share out 100 % of the accesses".to_owned());
    }
    let stranded = zones.iter().any(|zone| zone.bytes.0 == 0 && zone.accesses > 0);
    stranded.then(|| "sends accesses to a zone without blocks".to_owned())
}

impl fmt::Display for AddressDistribution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => formatter.write_str("uniform"),
            Self::Zipf(theta) => write!(formatter, "zipf:{theta}"),
            Self::Pareto(share) => write!(formatter, "pareto:{share}"),
            Self::Zoned(zones) => {
                formatter.write_str("zoned")?;
                zones.iter().try_for_each(|zone| write!(formatter, ":{}/{}", zone.accesses, zone.blocks))
            }
            Self::ZonedAbs(zones) => {
                formatter.write_str("zoned_abs")?;
                zones.iter().try_for_each(|zone| write!(formatter, ":{}/{}", zone.accesses, zone.bytes))
            }
            Self::HotCold(hot) => write!(formatter, "hotcold:{}/{}", hot.accesses, hot.blocks),
        }
    }
}

impl JsonSchema for AddressDistribution {
    fn schema_name() -> Cow<'static, str> {
        "AddressDistribution".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let law = |pattern: &str, description: &str| json_schema!({ "type": "string", "pattern": pattern, "description": description });
        let number = r"\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*";
        let zone = r"\s*\+?[0-9]+\s*/\s*\+?[0-9]+\s*";
        // That units are known is the parser's.
        let extent = r"\s*\+?[0-9]+\s*/\s*[0-9][^:/]*";
        json_schema!({ "anyOf": [
            { "enum": ["uniform", "random"], "description": "All blocks alike." },
            law(&format!("^zipf:{number}$"), "zipf:THETA: block of rank k with weight 1 / k^THETA."),
            law(&format!("^pareto:{number}$"), "pareto:H: all but H of the accesses to H of the blocks, and so on."),
            law(&format!("^zoned:{zone}(:{zone})*$"), "zoned:60/10:40/90: % of accesses / % of region, zone by zone."),
            law(&format!("^zoned_abs:{extent}(:{extent})*$"), "zoned_abs:60/1GiB:40/9GiB: % of accesses / size, zone by zone."),
            law(&format!("^hotcold:{zone}$"), "hotcold:90/10: a hot zone and the rest, spread over the region."),
        ] })
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
