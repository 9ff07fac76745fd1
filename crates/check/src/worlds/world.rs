//! A world as a value and as a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ninescope::{CheckLevel, DriveSource, Plan, PrefillMode, PrefillOrder, RunRequest};
use ninescope_engine::Limit;
use ninescope_ftl::Partition;
use ninescope_kernel::Ns;
use ninescope_model::{Arrival, CacheHint, DriveErase, Lba, Op, Request, ZoneCommand};
use serde::{Deserialize, Serialize};

/// How requests arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// At their times.
    #[default]
    Open,
    /// As many at a time as the queue depth says.
    Closed,
}

/// Everything a run depends on. As a file it is TOML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The seed it was made from, and that of its run.
    pub seed: u64,
    /// What it is kept for: the invariant it once broke, or the mark it hits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// How requests arrive.
    pub arrival: ArrivalKind,
    /// Commands in flight of a closed arrival [count].
    pub queue_depth: u32,
    /// Completions that are not counted [count].
    #[serde(default)]
    pub warmup: u64,
    /// How much of it is taken in per second, or of its first tenant, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<WorldLimit>,
    /// What the drive holds at the start.
    pub prefill: PrefillMode,
    /// In which order that was written.
    #[serde(default, skip_serializing_if = "PrefillOrder::is_ascending")]
    pub prefill_order: PrefillOrder,
    /// The requests: `"time operation first-sector sectors"`, time in ns; a cache's hint may follow, and `fua`.
    pub requests: Vec<Line>,
    /// Planes that some addresses have for themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
    /// The complete drive.
    pub drive: toml::Table,
}

/// A limit of a world's requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldLimit {
    /// Requests per second [1/s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Bytes per second [B/s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// So much time's worth of either is saved up [ns].
    pub burst: u64,
}

/// One request as a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line(pub Request);

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { submitted, lba, sectors, op, remark, fua, stream } = self.0;
        let (hint, zone) = (remark.hint(), remark.zone());
        write!(formatter, "{} {} {} {sectors}", submitted.0, op.name(), lba.0)?;
        if hint != CacheHint::None {
            write!(formatter, " {}", hint.name())?;
        }
        if stream != 0 {
            write!(formatter, " stream={stream}")?;
        }
        if zone != ZoneCommand::None {
            write!(formatter, " zone={}", zone.name())?;
        }
        if !remark.erase().is_none() {
            write!(formatter, " erase={}", remark.erase().name())?;
        }
        if fua { formatter.write_str(" fua") } else { Ok(()) }
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.to_string()
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not `time operation first-sector sectors`");
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let fua = words.last() == Some(&"fua");
        words.truncate(words.len() - usize::from(fua));
        let of_drive = words.last().and_then(|word| word.strip_prefix("erase="));
        let named = |name| DriveErase::ALL.into_iter().find(|known| known.name() == name).ok_or_else(wrong);
        let erase = of_drive.map_or(Ok(DriveErase::None), named)?;
        words.truncate(words.len() - usize::from(of_drive.is_some()));
        let of_zone = words.last().and_then(|word| word.strip_prefix("zone="));
        let known = |name| ZoneCommand::ALL.into_iter().find(|known| known.name() == name).ok_or_else(wrong);
        let zone = of_zone.map_or(Ok(ZoneCommand::None), known)?;
        words.truncate(words.len() - usize::from(of_zone.is_some()));
        let named = words.last().and_then(|word| word.strip_prefix("stream="));
        let stream = named.map_or(Ok(0), |number| number.parse().map_err(|_| wrong()))?;
        words.truncate(words.len() - usize::from(named.is_some()));
        let (words, hint) = match words[..] {
            [ref words @ .., hint] if words.len() == 4 => (words.to_vec(), hint),
            _ => (words, CacheHint::None.name()),
        };
        let [time, op, lba, sectors] = words[..] else { return Err(wrong()) };
        let hint = CacheHint::ALL.into_iter().find(|known| known.name() == hint).ok_or_else(wrong)?;
        let op = Op::ALL.into_iter().find(|known| known.name() == op).ok_or_else(wrong)?;
        let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
        let sectors = u32::try_from(number(sectors)?).map_err(|_| wrong())?;
        if (sectors == 0) != (op == Op::Flush) || fua && op != Op::Write {
            return Err(wrong());
        }
        // Nobody has two of them.
        let remark = match (zone, erase) {
            (ZoneCommand::None, DriveErase::None) => hint.into(),
            (ZoneCommand::None, erase) => erase.into(),
            (zone, _) => zone.into(),
        };
        Ok(Self(Request { submitted: Ns(number(time)?), lba: Lba(number(lba)?), sectors, op, remark, fua, stream }))
    }
}

impl TryFrom<String> for Line {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Why a file is no world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldError(pub String);

impl fmt::Display for WorldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WorldError {}

impl World {
    /// Reads a world.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, WorldError> {
        let wrong = |error: &dyn fmt::Display| WorldError(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        toml::from_str(&text).map_err(|error| wrong(&error))
    }

    /// Writes a world, whole or not at all.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn write(&self, path: &Path) -> Result<(), WorldError> {
        let wrong = |error: &dyn fmt::Display| WorldError(format!("{}: {error}", path.display()));
        let text = toml::to_string(self).map_err(|error| wrong(&error))?;
        let unfinished = path.with_extension("toml.part");
        std::fs::write(&unfinished, text).map_err(|error| wrong(&error))?;
        std::fs::rename(&unfinished, path).map_err(|error| wrong(&error))
    }

    /// Its run, not begun.
    ///
    /// # Errors
    /// [`ninescope::Error::Input`] when the drive is refused.
    pub fn plan(&self) -> Result<Plan, ninescope::Error> {
        self.plan_of_tenants(1)
    }

    /// The same with its requests dealt in turn to so many tenants.
    ///
    /// # Errors
    /// As above.
    pub fn plan_of_tenants(&self, tenants: usize) -> Result<Plan, ninescope::Error> {
        let arrival = match self.arrival {
            ArrivalKind::Open => Arrival::Open,
            ArrivalKind::Closed => Arrival::Closed,
        };
        let requests: Vec<Request> = self.requests.iter().map(|line| line.0).collect();
        let partitions = self.partitions.clone();
        let limit = self.limit.map(|WorldLimit { iops, bytes_per_second, burst }| Limit {
            iops,
            bytes_per_second,
            burst: Ns(burst),
        });
        Plan::of_dealt_requests(&self.request(), &requests, (arrival, self.queue_depth), (tenants, limit), partitions)
    }

    fn request(&self) -> RunRequest {
        RunRequest {
            drive: Some(DriveSource::Toml(self.drive.to_string())),
            seed: self.seed,
            warmup: (self.warmup > 0).then_some(ninescope::Warmup::Requests(self.warmup)),
            prefill: self.prefill,
            prefill_order: self.prefill_order,
            check: CheckLevel::Full,
            ..RunRequest::default()
        }
    }
}
