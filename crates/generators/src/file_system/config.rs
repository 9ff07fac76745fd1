//! The description of a file-system workload: a personality of filebench and what it runs on.

use ninescope_model::TIME_MAX;
use ninescope_model::schema::above_zero;
use ninescope_model::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BLOCK_BYTES;
use crate::JobError;

/// The most files that there can be.
const FILES_MAX: u32 = 1 << 26;

/// Whose flow of operations it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Personality {
    /// Create and write a file, append to one, read one, delete one.
    FileServer,
    /// Read ten files, append to a log.
    WebServer,
    /// Delete a mail, write and sync one, read one and sync what is appended to it, read one.
    VarMail,
    /// Random reads, as many random synchronous writes in bursts, writes of a log.
    Oltp,
}

/// A personality of filebench on a file system with a page cache. What is absent is as in filebench's own
/// workload of that name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSystemConfig {
    /// The workload's name. Workloads of different names draw different random numbers.
    #[serde(default = "default_name")]
    pub name: String,
    /// Whose flow of operations it is.
    pub personality: Personality,
    /// Files that there can be (`nfiles`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = FILES_MAX))]
    pub files: Option<u32>,
    /// Mean size of a file (`filesize`) [bytes].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub mean_file_size: Option<Bytes>,
    /// Shape of the gamma law of sizes (`filesizegamma`); 0: all files are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub gamma: Option<f64>,
    /// Share of the files that exist at the beginning (`prealloc`) [percent].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub preallocated: Option<u8>,
    /// The longest read and write, or that of a random access (`iosize`) [bytes].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub io_size: Option<Bytes>,
    /// The longest append (`meanappendsize`: `appendfilerand` draws evenly up to it) [bytes].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub append_size: Option<Bytes>,
    /// A log that has grown this large begins anew, as if it were rotated [bytes].
    #[serde(default = "default_log_size")]
    #[schemars(transform = above_zero)]
    pub log_size: Bytes,
    /// The file system's size [bytes].
    #[schemars(transform = above_zero)]
    pub disk_size: Bytes,
    /// Its journal, which each fsync writes a record to [bytes]; 0: none.
    #[serde(default = "default_journal_size")]
    pub journal_size: Bytes,
    /// The operating system's page cache, LRU [bytes].
    #[schemars(transform = above_zero)]
    pub page_cache: Bytes,
    /// Share of the page cache that may be dirty before the oldest pages are written [percent].
    #[serde(default = "default_dirty_background")]
    #[schemars(range(min = 1, max = 90))]
    pub dirty_background: u8,
    /// How long a page may be dirty before it is written.
    #[serde(default = "default_dirty_expire")]
    pub dirty_expire: Duration,
    /// Whether blocks of deleted files are discarded.
    #[serde(default)]
    pub discard: bool,
    /// Whether the files that exist at the beginning, and the log, are in the page cache, as far as it holds them:
    /// filebench makes them itself, just before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
    /// Operations on files per second, as a Poisson process; absent: a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub rate_ops: Option<f64>,
    /// The clock of a closed loop, which has none: operations per second.
    #[serde(default = "default_nominal_ops")]
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub nominal_ops: f64,
    /// Requests outstanding at a time in a closed loop.
    #[serde(default = "default_iodepth")]
    #[schemars(range(min = 1))]
    pub iodepth: u32,
    /// How many requests the drive is asked for, unless the run says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests: Option<u64>,
    /// How long the workload runs in simulated time, unless the run says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub duration: Option<Duration>,
}

fn default_name() -> String {
    "file system".to_owned()
}

fn default_log_size() -> Bytes {
    Bytes(16 << 20)
}

fn default_journal_size() -> Bytes {
    Bytes(32 << 20)
}

fn default_dirty_background() -> u8 {
    10 // vm.dirty_background_ratio of Linux
}

fn default_dirty_expire() -> Duration {
    Duration(30_000_000_000) // vm.dirty_expire_centisecs of Linux
}

fn default_nominal_ops() -> f64 {
    1000.0
}

fn default_iodepth() -> u32 {
    16
}

/// The figures of a personality, with those of the description in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Files that there can be, and those that exist at the beginning.
    pub files: u32,
    pub existing: u32,
    /// Law of their sizes [B].
    pub mean_bytes: u64,
    pub gamma: f64,
    pub io_bytes: u64,
    pub append_bytes: u64,
}

impl FileSystemConfig {
    /// Every figure, the absent ones as in filebench's workload (version 1.4.9, `workloads/NAME.f`).
    pub fn figures(&self) -> Figures {
        const KIB: u64 = 1 << 10;
        let (files, mean, gamma, existing, io, append) = match self.personality {
            Personality::FileServer => (10_000, 128 * KIB, 1.5, 80, 1024 * KIB, 16 * KIB),
            Personality::WebServer => (1_000, 16 * KIB, 1.5, 100, 1024 * KIB, 16 * KIB),
            Personality::VarMail => (1_000, 16 * KIB, 1.5, 80, 1024 * KIB, 16 * KIB),
            Personality::Oltp => (10, 10_240 * KIB, 0.0, 100, 2 * KIB, 16 * KIB),
        };
        let files = self.files.unwrap_or(files);
        let share = u64::from(self.preallocated.unwrap_or(existing));
        Figures {
            files,
            existing: (u64::from(files) * share / 100) as u32,
            mean_bytes: self.mean_file_size.map_or(mean, |size| size.0),
            gamma: self.gamma.unwrap_or(gamma),
            io_bytes: self.io_size.map_or(io, |size| size.0),
            append_bytes: self.append_size.map_or(append, |size| size.0),
        }
    }

    /// Checks every key.
    ///
    /// # Errors
    /// Names the first one that has no meaning.
    pub fn validate(&self) -> Result<(), JobError> {
        let wrong = |key: &'static str, problem: &str| Err(JobError::new(key, problem));
        let figures = self.figures();
        if figures.files == 0 || figures.files > FILES_MAX {
            return wrong("file_system.files", "is not a number of files from 1 to 2^26");
        }
        if figures.existing == 0 || self.preallocated.is_some_and(|share| share > 100) {
            return wrong("file_system.preallocated", "is not a percentage (to 100) that makes at least one file");
        }
        if figures.gamma != 0.0 && !(1.0..=1000.0).contains(&figures.gamma) {
            return wrong("file_system.gamma", "is neither 0 nor a shape from 1 to 1000");
        }
        for (key, bytes) in [
            ("file_system.mean_file_size", figures.mean_bytes),
            ("file_system.io_size", figures.io_bytes),
            ("file_system.append_size", figures.append_bytes),
            ("file_system.log_size", self.log_size.0),
            ("file_system.page_cache", self.page_cache.0),
        ] {
            if bytes == 0 || bytes > 1 << 40 {
                return wrong(key, "is not a size from 1 B to 1 TiB");
            }
        }
        if figures.io_bytes > 1 << 30 {
            return wrong("file_system.io_size", "is too large, at most 1 GiB is one request");
        }
        if self.page_cache.0 < 64 * BLOCK_BYTES {
            return wrong("file_system.page_cache", "is less than 64 pages of 4 KiB, too few to work with");
        }
        if !(1..=90).contains(&self.dirty_background) {
            return wrong("file_system.dirty_background", "is not a percentage from 1 to 90");
        }
        if self.iodepth == 0 {
            return wrong("file_system.iodepth", "0 requests outstanding do no work; write at least 1");
        }
        for (key, rate) in
            [("file_system.rate_ops", self.rate_ops), ("file_system.nominal_ops", Some(self.nominal_ops))]
        {
            if rate.is_some_and(|rate| !(1e-3..=1e9).contains(&rate)) {
                return wrong(key, "is not a rate from 0.001 to 1e9 per second");
            }
        }
        if self.dirty_expire.0 > TIME_MAX.0 {
            return wrong("file_system.dirty_expire", "is longer than 73 years");
        }
        if self.duration.is_some_and(|duration| duration.0 == 0 || duration.0 > TIME_MAX.0) {
            return wrong("file_system.duration", "is no time, or longer than 73 years");
        }
        if self.requests == Some(0) {
            return wrong("file_system.requests", "0 is not a number of requests; write at least 1");
        }
        self.validate_space(&figures)
    }

    /// The files, the log and the journal, with half as much again for what appends add.
    fn validate_space(&self, figures: &Figures) -> Result<(), JobError> {
        if self.disk_size.0 / BLOCK_BYTES >= u64::from(u32::MAX) {
            return Err(JobError::new("file_system.disk_size", "is not below 16 TiB (2^32 blocks of 4 KiB)"));
        }
        let per_file = u128::from(figures.mean_bytes.next_multiple_of(BLOCK_BYTES) + figures.append_bytes);
        let files = per_file * u128::from(figures.files) * 3 / 2;
        let needed = files + u128::from(self.log_size.0) + u128::from(self.journal_size.0);
        if needed > u128::from(self.disk_size.0) {
            let problem = format!(
                "{} does not hold the files (about {}), the log and the journal",
                self.disk_size,
                Bytes(u64::try_from(files).unwrap_or(u64::MAX))
            );
            return Err(JobError::new("file_system.disk_size", problem));
        }
        Ok(())
    }
}
