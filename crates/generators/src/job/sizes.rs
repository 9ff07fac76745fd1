//! Sizes of requests that differ, by direction after commas: as fio's `bssplit` writes them, "4k/10:64k/50:32k/40", or
//! as its `bsrange` does, "4k-16k".

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ninescope_kernel::RandomStream;
use ninescope_model::units::Bytes;
use ninescope_model::{Op, REQUEST_SECTORS_MAX, SECTOR_BYTES};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;

/// As many sizes as fio takes.
const SIZES_MAX: usize = 64;
/// Directions in fio's order: reads, writes, trims.
const DIRECTIONS: usize = 3;

/// How often each size is drawn, by direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeSplit {
    /// Of reads, writes and trims: sizes with their share [percent], in sum 100.
    directions: [Vec<(Bytes, u8)>; DIRECTIONS],
}

impl SizeSplit {
    /// Every size that can come, of the directions in `ops`.
    pub(super) fn sizes(&self, ops: &[Op]) -> impl Iterator<Item = Bytes> {
        ops.iter().flat_map(|&op| self.of(op)).filter(|(_, share)| *share > 0).map(|(size, _)| *size)
    }

    fn of(&self, op: Op) -> &[(Bytes, u8)] {
        &self.directions[(op as usize).min(DIRECTIONS - 1)]
    }

    /// The mean size of a direction [B].
    pub(super) fn mean(&self, op: Op) -> f64 {
        self.of(op).iter().map(|(size, share)| size.0 as f64 * f64::from(*share) / 100.0).sum()
    }

    /// The next size [sectors].
    #[inline]
    pub(super) fn draw(&self, op: Op, stream: &mut RandomStream) -> u32 {
        let mut left = stream.below(100);
        let list = self.of(op);
        for (size, share) in list {
            if left < u64::from(*share) {
                return (size.0 / SECTOR_BYTES) as u32;
            }
            left -= u64::from(*share);
        }
        // Not reached: the shares sum to 100.
        list.last().map_or(1, |(size, _)| (size.0 / SECTOR_BYTES) as u32)
    }
}

impl FromStr for SizeSplit {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let refused = |problem: String| JobError::new("bssplit", format!("`{text}`: {problem}"));
        let mut lists = text.split(',').map(|list| direction(list).map_err(refused)).collect::<Result<Vec<_>, _>>()?;
        if lists.len() > DIRECTIONS {
            return Err(refused("there are three directions: reads, writes, trims".to_owned()));
        }
        // As in fio, a direction that is left out is like the one before it.
        while lists.len() < DIRECTIONS {
            lists.extend(lists.last().cloned());
        }
        let directions = lists.try_into().map_err(|_| refused("no sizes".to_owned()))?;
        Ok(Self { directions })
    }
}

/// One direction's list. Shares that are left out divide what the others leave.
fn direction(text: &str) -> Result<Vec<(Bytes, u8)>, String> {
    let mut list: Vec<(Bytes, Option<u8>)> = Vec::new();
    for entry in text.split(':') {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        let size: Bytes = size.trim().parse().map_err(|error| format!("{error}"))?;
        if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) || size.0 > u64::from(REQUEST_SECTORS_MAX) * SECTOR_BYTES
        {
            return Err(format!("{size} is not a multiple of 512 bytes up to 1GiB"));
        }
        let share = match share.trim() {
            "" => None,
            number => Some(number.parse().map_err(|_| format!("`{number}` is not a percentage"))?),
        };
        list.push((size, share));
    }
    if list.len() > SIZES_MAX {
        return Err(format!("more than {SIZES_MAX} sizes"));
    }
    let given: u32 = list.iter().filter_map(|(_, share)| share.map(u32::from)).sum();
    let open = list.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if given > 100 || (open == 0 && given != 100) {
        return Err(format!("the shares sum to {given} % and not to 100 %"));
    }
    let mut rest = 100 - given;
    let mut open_left = open;
    Ok(list
        .into_iter()
        .map(|(size, share)| {
            let share = share.unwrap_or_else(|| {
                let part = rest / open_left;
                rest -= part;
                open_left -= 1;
                part as u8
            });
            (size, share)
        })
        .collect())
}

impl fmt::Display for SizeSplit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, list) in self.directions.iter().enumerate() {
            for (position, (size, share)) in list.iter().enumerate() {
                let separator = match (index, position) {
                    (0, 0) => "",
                    (_, 0) => ",",
                    _ => ":",
                };
                write!(formatter, "{separator}{}/{share}", size.0)?;
            }
        }
        Ok(())
    }
}

impl JsonSchema for SizeSplit {
    fn schema_name() -> Cow<'static, str> {
        "SizeSplit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Sizes and shares are numbers here; that units are known and shares sum to 100 is the parser's.
        let entry = r"\s*[0-9][^:/,]*(/\s*[0-9]{0,3}\s*)?";
        let list = format!("{entry}(:{entry})*");
        json_schema!({
            "description": "Sizes with their share in percent, \"4k/60:64k/40\"; one list for each direction after \
                            commas. Shares left out divide the rest.",
            "type": "string",
            "pattern": format!("^{list}(,{list}){{0,2}}$"),
        })
    }
}

impl Serialize for SizeSplit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SizeSplit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Sizes that are drawn alike: the multiples of the least up to the largest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// Of reads, writes and trims: the least size, and how many multiples of it there are.
    directions: [(Bytes, u64); DIRECTIONS],
}

impl SizeRange {
    fn of(&self, op: Op) -> (Bytes, u64) {
        self.directions[(op as usize).min(DIRECTIONS - 1)]
    }

    /// The least and the largest size of the directions in `ops`.
    pub(super) fn extremes(&self, ops: &[Op]) -> (Bytes, Bytes) {
        let least = ops.iter().map(|&op| self.of(op).0.0).min().unwrap_or_default();
        let most = ops.iter().map(|&op| self.of(op).0.0 * self.of(op).1).max().unwrap_or_default();
        (Bytes(least), Bytes(most))
    }

    /// The mean size of a direction [B].
    pub(super) fn mean(&self, op: Op) -> f64 {
        let (least, multiples) = self.of(op);
        least.0 as f64 * (multiples + 1) as f64 / 2.0
    }

    /// The size of all requests of the directions in `ops`, where they have one.
    pub fn only_size(&self, ops: &[Op]) -> Option<Bytes> {
        let (least, most) = self.extremes(ops);
        (least == most).then_some(least)
    }

    /// The next size [sectors].
    #[inline]
    pub(super) fn draw(&self, op: Op, stream: &mut RandomStream) -> u32 {
        let (least, multiples) = self.of(op);
        (least.0 / SECTOR_BYTES * (1 + stream.below(multiples))) as u32
    }
}

impl FromStr for SizeRange {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let refused = |problem: String| JobError::new("bsrange", format!("`{text}`: {problem}"));
        let mut ranges = text.split(',').map(|part| range(part).map_err(refused)).collect::<Result<Vec<_>, _>>()?;
        if ranges.len() > DIRECTIONS {
            return Err(refused("there are three directions: reads, writes, trims".to_owned()));
        }
        // As in fio, a direction that is left out is like the one before it.
        while ranges.len() < DIRECTIONS {
            ranges.extend(ranges.last().copied());
        }
        let directions = ranges.try_into().map_err(|_| refused("no sizes".to_owned()))?;
        Ok(Self { directions })
    }
}

/// One direction's least size and the number of its multiples.
fn range(text: &str) -> Result<(Bytes, u64), String> {
    let (least, most) = text.split_once('-').ok_or_else(|| format!("`{text}` is not a range such as 4k-16k"))?;
    let size = |text: &str| -> Result<Bytes, String> { text.trim().parse().map_err(|error| format!("{error}")) };
    let (least, most) = (size(least)?, size(most)?);
    if least.0 == 0 || !least.0.is_multiple_of(SECTOR_BYTES) || most.0 > u64::from(REQUEST_SECTORS_MAX) * SECTOR_BYTES {
        return Err(format!("sizes are multiples of 512 bytes up to 1GiB, unlike {least}-{most}"));
    }
    // fio would give what is left over beyond the last multiple a share of its own.
    if most < least || !most.0.is_multiple_of(least.0) {
        return Err(format!("{most} is not a multiple of {least}"));
    }
    Ok((least, most.0 / least.0))
}

impl fmt::Display for SizeRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (least, multiples)) in self.directions.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(formatter, "{separator}{}-{}", least.0, least.0 * multiples)?;
        }
        Ok(())
    }
}

impl JsonSchema for SizeRange {
    fn schema_name() -> Cow<'static, str> {
        "SizeRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Sizes are numbers here; that units are known and one is a multiple of the other is the parser's.
        let range = r"\s*[0-9][^-,]*-\s*[0-9][^-,]*";
        json_schema!({
            "description": "All multiples of the least size alike, up to the largest, \"4k-16k\"; one range for each \
                            direction after commas.",
            "type": "string",
            "pattern": format!("^{range}(,{range}){{0,2}}$"),
        })
    }
}

impl Serialize for SizeRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SizeRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
