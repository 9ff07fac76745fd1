//! A host cache's description: flashcache's parameters with its defaults.

use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{SECTOR_BYTES, TIME_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JobError;

/// Ways of a set have numbers of 16 bits, and one of them means "none".
const WAYS_MAX: u32 = 65_535;
/// More would no longer be a limit.
const CLEAN_IOS_MAX: u32 = 65_535;

/// Which clean block of a set makes room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// The one that came first.
    #[default]
    Fifo,
    /// The one that was not read or written for longest.
    Lru,
}

/// What a cache holds when the run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InitialContent {
    /// Nothing.
    #[default]
    Empty,
    /// The first blocks of the disk, as many as it has room for, all clean.
    Full,
}

/// A write-back cache on the drive, in front of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostCacheConfig {
    /// Room for cached blocks, from the drive's first byte on [bytes]; absent: as many whole sets as the drive holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub size: Option<Bytes>,
    /// A cached block [bytes].
    #[schemars(transform = above_zero)]
    pub block: Bytes,
    /// Blocks of a set.
    #[schemars(range(min = 1, max = WAYS_MAX))]
    pub ways: u32,
    /// Which clean block of a set makes room.
    pub replacement: Replacement,
    /// What it holds when the run begins.
    pub initial: InitialContent,
    /// Share of a set that may be dirty before blocks are written back [percent].
    #[schemars(range(max = 100))]
    pub dirty_threshold: u8,
    /// A dirty block that was not read or written for one to two times this long is written back; 0: none is.
    pub fallow_delay: Duration,
    /// Blocks of a set that are written back at a time.
    #[schemars(range(min = 1, max = CLEAN_IOS_MAX))]
    pub clean_ios_set: u32,
    /// Blocks that are written back at a time.
    #[schemars(range(min = 1, max = CLEAN_IOS_MAX))]
    pub clean_ios_total: u32,
    /// From a read miss to the write of what the disk brought.
    pub disk_read_latency: Duration,
    /// From the flush read of a block to its being clean.
    pub disk_write_latency: Duration,
    /// Whether the drive is told which blocks the cache let go.
    pub trim: bool,
    /// Whether flushes of the host reach the drive.
    pub flush: bool,
    /// The clock of a closed loop, which has none: requests to the cache per second.
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub nominal_iops: f64,
}

impl Default for HostCacheConfig {
    fn default() -> Self {
        const MS: u64 = 1_000_000;
        Self {
            size: None,
            block: Bytes(4096),
            ways: 512,
            replacement: Replacement::Fifo,
            initial: InitialContent::Empty,
            dirty_threshold: 20,
            fallow_delay: Duration(900_000 * MS),
            clean_ios_set: 2,
            clean_ios_total: 4,
            disk_read_latency: Duration(8 * MS),
            disk_write_latency: Duration(8 * MS),
            trim: false,
            flush: false,
            nominal_iops: 1000.0,
        }
    }
}

/// A cache laid out on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCacheLayout {
    /// Sets.
    pub sets: u32,
    /// Blocks of a set.
    pub ways: u32,
    /// Sectors of a block.
    pub block_sectors: u64,
    /// Dirty blocks of a set above which blocks are written back.
    pub dirty_max: u32,
}

impl HostCacheLayout {
    /// Blocks of the cache.
    pub fn blocks(&self) -> u32 {
        self.sets * self.ways
    }

    /// Bytes of the drive that it uses, from the first on.
    pub fn bytes(&self) -> u64 {
        u64::from(self.blocks()) * self.block_sectors * SECTOR_BYTES
    }
}

impl HostCacheConfig {
    /// Checks every key and lays the cache out on a drive of `drive_bytes`.
    ///
    /// # Errors
    /// Names the first key that has no meaning, or none on such a drive.
    pub fn validate(&self, drive_bytes: u64) -> Result<HostCacheLayout, JobError> {
        let block = self.block.0;
        if block == 0 || !block.is_multiple_of(SECTOR_BYTES) || block > 1 << 30 {
            let problem = format!("{} is not a multiple of 512 bytes from 512 B to 1 GiB", self.block);
            return Err(JobError::new("host_cache.block", problem));
        }
        if !(1..=WAYS_MAX).contains(&self.ways) {
            return Err(JobError::new("host_cache.ways", format!("{} is not from 1 to {WAYS_MAX}", self.ways)));
        }
        self.validate_cleaning()?;
        let set_bytes = block * u64::from(self.ways);
        let size = self.size_on(drive_bytes, set_bytes)?;
        let sets = size / set_bytes;
        if size / block > u64::from(u32::MAX) {
            let problem = format!("{} are more than 2^32 - 1 blocks of {}", Bytes(size), self.block);
            return Err(JobError::new("host_cache.size", problem));
        }
        Ok(HostCacheLayout {
            sets: sets as u32,
            ways: self.ways,
            block_sectors: block / SECTOR_BYTES,
            dirty_max: self.ways * u32::from(self.dirty_threshold) / 100,
        })
    }

    fn size_on(&self, drive_bytes: u64, set_bytes: u64) -> Result<u64, JobError> {
        let set = format!("a set of {} blocks of {} ({})", self.ways, self.block, Bytes(set_bytes));
        let Some(Bytes(size)) = self.size else {
            let size = drive_bytes / set_bytes * set_bytes;
            let problem = || format!("the drive of {} does not hold {set}", Bytes(drive_bytes));
            return if size > 0 { Ok(size) } else { Err(JobError::new("host_cache.ways", problem())) };
        };
        if size == 0 {
            return Err(JobError::new("host_cache.size", "0 is no room for a block; leave it out for the whole drive"));
        }
        if size > drive_bytes {
            let problem = format!("{} is more than the drive of {} holds", Bytes(size), Bytes(drive_bytes).told());
            return Err(JobError::new("host_cache.size", problem));
        }
        if !size.is_multiple_of(set_bytes) {
            let problem = format!("{} is not a multiple of {set}", Bytes(size));
            return Err(JobError::new("host_cache.size", problem));
        }
        Ok(size)
    }

    fn validate_cleaning(&self) -> Result<(), JobError> {
        if self.dirty_threshold > 100 {
            let problem = format!("{} is not a percentage (0 to 100)", self.dirty_threshold);
            return Err(JobError::new("host_cache.dirty_threshold", problem));
        }
        for (key, limit) in
            [("host_cache.clean_ios_set", self.clean_ios_set), ("host_cache.clean_ios_total", self.clean_ios_total)]
        {
            if !(1..=CLEAN_IOS_MAX).contains(&limit) {
                return Err(JobError::new(key, format!("{limit} is not from 1 to {CLEAN_IOS_MAX}")));
            }
        }
        for (key, time) in [
            ("host_cache.fallow_delay", self.fallow_delay),
            ("host_cache.disk_read_latency", self.disk_read_latency),
            ("host_cache.disk_write_latency", self.disk_write_latency),
        ] {
            if time.0 > TIME_MAX.0 {
                return Err(JobError::new(key, "is longer than 73 years, the most that can be simulated"));
            }
        }
        if !(1e-3..=1e9).contains(&self.nominal_iops) {
            let problem = format!("{} is not a rate from 0.001 to 1e9 per second", self.nominal_iops);
            return Err(JobError::new("host_cache.nominal_iops", problem));
        }
        Ok(())
    }
}
