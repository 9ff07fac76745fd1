//! The description of a log on zones, and how it lies on a drive.

use ninescope_model::SECTOR_BYTES;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JobError;

/// Which zone is cleaned next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CleaningOrder {
    /// The one that holds the fewest blocks that count.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
}

/// A log-structured store on the zones of a drive, to which the requests go; on a drive without zones, on segments of its addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZoneLogConfig {
    /// What the store holds [bytes].
    #[schemars(transform = above_zero)]
    pub size: Bytes,
    /// What it maps as a whole [bytes].
    #[schemars(transform = above_zero)]
    pub block: Bytes,
    /// On a drive without zones: what the log writes in order, and trims as a whole before it writes there again [bytes].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub segment: Option<Bytes>,
    /// Logs side by side, each into an open zone of its own: a request goes to the one of its `stream` [count].
    #[schemars(range(min = 1, max = 16))]
    pub logs: u32,
    /// Writes go where the drive says (Zone Append); `false`: to the write pointer.
    pub append: bool,
    /// Its zones have a random write area: what lies in that of its log is overwritten there. Writes go to their places then, and not
    /// where the drive says (`append = false`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub zrwa: bool,
    /// Which zone is cleaned next.
    pub cleaning: CleaningOrder,
    /// Zones that are kept free for the cleaner [count].
    #[schemars(range(min = 1))]
    pub free_zones: u32,
    /// It holds all of its blocks when the run begins, in the order of their addresses; `false`: none.
    pub full: bool,
}

impl Default for ZoneLogConfig {
    fn default() -> Self {
        Self {
            size: Bytes(0),
            block: Bytes(4096),
            segment: None,
            logs: 1,
            append: true,
            zrwa: false,
            cleaning: CleaningOrder::Greedy,
            free_zones: 2,
            full: true,
        }
    }
}

/// The zones of a drive, as far as a store has to know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneSpace {
    /// How many there are.
    pub zones: u32,
    /// From one to the next [512 B].
    pub size: u64,
    /// What each takes [512 B].
    pub capacity: u64,
    /// What the drive writes as a whole [512 B].
    pub unit: u64,
    /// The most that may be open.
    pub open: u32,
    /// Those that cannot be written.
    pub bad: Vec<u32>,
    /// The random write areas that zones may have.
    pub zrwa: Option<ZrwaSpace>,
    /// They are the host's alone, segments of its addresses: the drive is told by trims what of them does not count any more, and by
    /// streams which log writes.
    pub is_of_host: bool,
}

impl ZoneSpace {
    /// Segments of a drive without zones, which the host sees so much of and writes in units of so much [512 B].
    ///
    /// # Errors
    /// Names the key that is missing, or has no meaning on such a drive.
    pub fn of_segments(config: &ZoneLogConfig, sectors: u64, unit: u64) -> Result<Self, JobError> {
        let refused = |problem: String| Err(JobError::new("zone_log.segment", problem));
        let Some(segment) = config.segment else {
            return refused(
                "is absent, and the drive has no zones ([zns]): it says what the log trims as a whole".into(),
            );
        };
        let size = segment.0 / SECTOR_BYTES;
        if size == 0 || !segment.0.is_multiple_of(unit * SECTOR_BYTES) || size > u64::from(u32::MAX) {
            return refused(format!("{segment} is no multiple of {} up to 2 TiB", Bytes(unit * SECTOR_BYTES)));
        }
        if sectors / size > u64::from(u32::MAX) {
            return refused(format!("{segment} divides the drive into more segments than 2^32"));
        }
        let zones = (sectors / size) as u32;
        Ok(Self {
            zones,
            size,
            capacity: size,
            unit,
            open: LOGS_MAX + 1,
            bad: Vec::new(),
            zrwa: None,
            is_of_host: true,
        })
    }
}

/// The random write areas of a drive, as far as a store has to know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZrwaSpace {
    /// What each spans [512 B].
    pub size: u64,
    /// The write pointer moves by multiples of this [512 B].
    pub granularity: u64,
    /// How many zones may have one.
    pub zones: u32,
}

/// The most blocks of a store: their numbers have 32 bits.
const BLOCKS_MAX: u64 = u32::MAX as u64;
/// The most logs side by side.
const LOGS_MAX: u32 = 16;

impl ZoneLogConfig {
    /// Checks every key for a drive with these zones. Returns blocks of the store and of a zone.
    ///
    /// # Errors
    /// Names the first key that has no meaning, or none on such a drive.
    pub fn validate(&self, space: &ZoneSpace) -> Result<(u32, u32), JobError> {
        let unit = space.unit * SECTOR_BYTES;
        let block = self.block.0;
        let refused = |key: &'static str, problem: String| Err(JobError::new(key, problem));
        if block == 0 || !block.is_multiple_of(unit) || !(space.capacity * SECTOR_BYTES).is_multiple_of(block) {
            let capacity = Bytes(space.capacity * SECTOR_BYTES);
            let problem = format!("{} is no multiple of {} that divides a zone of {capacity}", self.block, Bytes(unit));
            return refused("zone_log.block", problem);
        }
        if self.size.0 == 0 || !self.size.0.is_multiple_of(block) {
            return refused("zone_log.size", format!("{} is no multiple of {}, a block", self.size, self.block));
        }
        if !(1..=LOGS_MAX).contains(&self.logs) {
            return refused("zone_log.logs", format!("{} is not from 1 to {LOGS_MAX}", self.logs));
        }
        if self.free_zones == 0 {
            return refused("zone_log.free_zones", "0 leave the cleaner nothing to move to; write at least 1".into());
        }
        // One of each log, and that of the cleaner.
        if self.logs + 1 > space.open {
            let problem = format!("{} and the cleaner's, and the drive may have {} open zones", self.logs, space.open);
            return refused("zone_log.logs", problem);
        }
        if self.segment.is_some() && !space.is_of_host {
            return refused(
                "zone_log.segment",
                "is given, and the drive has zones ([zns]) that the log lies on".into(),
            );
        }
        self.validate_zrwa(space)?;
        let per_zone = space.capacity * SECTOR_BYTES / block;
        let blocks = self.size.0 / block;
        let good = u64::from(space.zones) - space.bad.len() as u64;
        let spare = u64::from(self.logs) + 2 + u64::from(self.free_zones);
        let most = good.saturating_sub(spare) * per_zone;
        if blocks > most || good * per_zone > BLOCKS_MAX {
            let problem = format!(
                "{} is more than {}: {spare} of {good} zones are those of the logs and of the cleaner",
                self.size,
                Bytes(most * block)
            );
            return refused("zone_log.size", problem);
        }
        Ok((blocks as u32, per_zone as u32))
    }

    fn validate_zrwa(&self, space: &ZoneSpace) -> Result<(), JobError> {
        let refused = |problem: String| Err(JobError::new("zone_log.zrwa", problem));
        match space.zrwa {
            _ if !self.zrwa => Ok(()),
            None => refused("is asked for, and zones of the drive have no random write areas (zns.zrwa_size)".into()),
            Some(_) if self.append => {
                refused("goes with append = false: the host says where in an area it writes".into())
            }
            Some(areas) if areas.zones < self.logs => {
                refused(format!("is asked for by {} logs, and {} zones may have one", self.logs, areas.zones))
            }
            Some(areas) if areas.size * SECTOR_BYTES < self.block.0 => {
                refused(format!("is of {}, less than {}, a block", Bytes(areas.size * SECTOR_BYTES), self.block))
            }
            Some(_) => Ok(()),
        }
    }
}
