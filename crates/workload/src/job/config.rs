//! A job's description, in fio's words.

use ninescope_model::SECTOR_BYTES;
use ninescope_model::units::{Bytes, Duration};
use serde::{Deserialize, Serialize};

use ninescope_model::Op;

use super::{AddressDistribution, SizeSplit};
use crate::{REQUEST_SECTORS_MAX, TIME_MAX};

/// A key of a job that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct JobError {
    /// The key in the job file.
    pub key: &'static str,
    /// What is wrong with its value.
    pub problem: String,
}

impl JobError {
    /// A problem with a key.
    pub fn new(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key, problem: problem.into() }
    }
}

/// What a job does, and in which order of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessPattern {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential reads and writes, each from a position of its own, as in fio.
    #[serde(alias = "readwrite")]
    Rw,
    /// Random reads and writes.
    RandRw,
}

impl AccessPattern {
    /// What a job does.
    pub fn ops(self) -> &'static [Op] {
        match self {
            Self::Read | Self::RandRead => &[Op::Read],
            Self::Write | Self::RandWrite => &[Op::Write],
            Self::Trim | Self::RandTrim => &[Op::Trim],
            Self::Rw | Self::RandRw => &[Op::Read, Op::Write],
        }
    }

    /// Whether addresses are drawn at random.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw)
    }
}

/// How requests of a job with `rate_iops` arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// At equal distances.
    #[default]
    #[serde(alias = "fixed")]
    Linear,
    /// As a Poisson process: exponential gaps.
    Poisson,
}

/// A synthetic job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobConfig {
    /// The job's name. Jobs of different names draw different random numbers.
    pub name: String,
    /// What to do.
    #[serde(alias = "readwrite")]
    pub rw: AccessPattern,
    /// Size of each request [bytes], a multiple of 512.
    #[serde(alias = "blocksize")]
    pub bs: Bytes,
    /// Sizes that are drawn, "4k/60:64k/40"; they take the place of `bs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bssplit: Option<SizeSplit>,
    /// Chance that a request of a mixed job is a read [percent].
    pub rwmixread: u8,
    /// Requests outstanding at a time, kept by the engine.
    pub iodepth: u32,
    /// The law of random addresses.
    pub random_distribution: AddressDistribution,
    /// Chance that a request of a random job has a random address; the others follow the one before them [percent].
    #[serde(skip_serializing_if = "is_always")]
    pub percentage_random: u8,
    /// Where the job's region begins [bytes].
    pub offset: Bytes,
    /// The region's length [bytes]; absent: to the end of the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// How many requests, flushes not counted. Absent, and `duration` too: as many as the region has blocks.
    #[serde(alias = "number_ios", skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// How long the job runs in simulated time, kept by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// Arrivals per second of an open-loop job; absent: closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<f64>,
    /// How the arrivals of an open-loop job are spread.
    pub rate_process: RateProcess,
    /// What random addresses are multiples of, from the region's beginning [bytes]; absent: `bs`.
    #[serde(alias = "ba", skip_serializing_if = "Option::is_none")]
    pub blockalign: Option<Bytes>,
    /// A flush follows each time this many writes were made.
    #[serde(alias = "fsync", skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
}

impl Default for JobConfig {
    fn default() -> Self {
        Self {
            name: "job".to_owned(),
            rw: AccessPattern::Read,
            bs: Bytes(4096),
            bssplit: None,
            rwmixread: 50,
            iodepth: 1,
            random_distribution: AddressDistribution::Uniform,
            percentage_random: 100,
            offset: Bytes(0),
            size: None,
            requests: None,
            duration: None,
            rate_iops: None,
            rate_process: RateProcess::Linear,
            blockalign: None,
            flush_every: None,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn is_always(percent: &u8) -> bool {
    *percent == 100
}

/// The part of a drive a job works on, as a grid of places a request can begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRegion {
    /// First sector.
    pub first_sector: u64,
    /// Its length [sectors].
    pub sectors: u64,
    /// Sectors of each request, of the largest where they differ.
    pub request_sectors: u32,
    /// From one place to the next [sectors].
    pub stride_sectors: u64,
    /// Places; at least one.
    pub places: u64,
}

impl JobRegion {
    /// The first sector behind everything the job can touch, where requests differ in size or have one.
    pub fn end_sector(&self, sizes_differ: bool) -> u64 {
        let last_place = self.first_sector + (self.places - 1) * self.stride_sectors;
        if sizes_differ { self.first_sector + self.sectors } else { last_place + u64::from(self.request_sectors) }
    }
}

impl JobConfig {
    /// The smallest and the largest request.
    fn sizes(&self) -> (Bytes, Bytes) {
        let Some(split) = &self.bssplit else { return (self.bs, self.bs) };
        let sizes = || split.sizes(self.rw.ops());
        (sizes().min().unwrap_or(self.bs), sizes().max().unwrap_or(self.bs))
    }

    /// The mean request of a direction [B].
    pub fn mean_bytes(&self, op: Op) -> f64 {
        self.bssplit.as_ref().map_or(self.bs.0 as f64, |split| split.mean(op))
    }

    /// Checks every key and lays the job out on a drive of `drive_bytes`.
    ///
    /// # Errors
    /// Names the first key that has no meaning, or none on such a drive.
    pub fn validate(&self, drive_bytes: u64) -> Result<JobRegion, JobError> {
        self.validate_numbers()?;
        self.validate_rate()?;
        let (least, most) = self.sizes();
        let too_large = || JobError::new("bs", format!("{most} is too large, at most 1GiB is one request"));
        let request_sectors = u32::try_from(sectors("bs", most)?).map_err(|_| too_large())?;
        let stride = self.blockalign.filter(|_| self.rw.is_random()).unwrap_or(least);
        let stride_sectors = sectors("blockalign", stride)?;
        if !self.offset.0.is_multiple_of(SECTOR_BYTES) {
            return Err(JobError::new("offset", format!("{} is not a multiple of 512 bytes", self.offset)));
        }
        let region_bytes = self.region_bytes(drive_bytes)?;
        if region_bytes < most.0 {
            let key = if self.size.is_some() { "size" } else { "bs" };
            let problem = format!("a region of {} does not hold a request of {most}", Bytes(region_bytes));
            return Err(JobError::new(key, problem));
        }
        if request_sectors > REQUEST_SECTORS_MAX {
            return Err(too_large());
        }
        let places = (region_bytes - most.0) / (stride_sectors * SECTOR_BYTES) + 1;
        let first_sector = self.offset.0 / SECTOR_BYTES;
        Ok(JobRegion { first_sector, sectors: region_bytes / SECTOR_BYTES, request_sectors, stride_sectors, places })
    }

    /// How many requests cover the region once.
    pub(super) fn requests_of_one_pass(&self, region: &JobRegion) -> u64 {
        let Some(split) = &self.bssplit else { return region.places };
        let ops = self.rw.ops();
        let reads = if ops.len() == 1 { 1.0 } else { f64::from(self.rwmixread) / 100.0 };
        let mean = split.mean(ops[0]) * reads + split.mean(ops[ops.len() - 1]) * (1.0 - reads);
        ((region.sectors * SECTOR_BYTES) as f64 / mean).max(1.0) as u64
    }

    /// The region's length, which must lie on the drive.
    fn region_bytes(&self, drive_bytes: u64) -> Result<u64, JobError> {
        let available = drive_bytes.checked_sub(self.offset.0).filter(|&bytes| bytes > 0).ok_or_else(|| {
            let problem = format!("{} lies beyond the drive of {}", self.offset, Bytes(drive_bytes));
            JobError::new("offset", problem)
        })?;
        match self.size {
            None => Ok(available),
            Some(Bytes(bytes)) if bytes <= available => Ok(bytes),
            Some(size) => {
                let problem =
                    format!("{size} is more than the {} from the offset to the drive's end", Bytes(available));
                Err(JobError::new("size", problem))
            }
        }
    }

    fn validate_numbers(&self) -> Result<(), JobError> {
        if self.rwmixread > 100 {
            let problem = format!("{} is not a percentage (0 to 100)", self.rwmixread);
            return Err(JobError::new("rwmixread", problem));
        }
        if self.iodepth == 0 {
            return Err(JobError::new("iodepth", "0 requests outstanding do no work; write at least 1"));
        }
        if self.requests == Some(0) {
            return Err(JobError::new("requests", "0 is not a number of requests; write at least 1"));
        }
        if self.flush_every == Some(0) {
            return Err(JobError::new("flush_every", "0 is not a number of writes; leave it out for no flushes"));
        }
        if self.percentage_random > 100 {
            let problem = format!("{} is not a percentage (0 to 100)", self.percentage_random);
            return Err(JobError::new("percentage_random", problem));
        }
        if let Some(problem) = self.random_distribution.problem() {
            let problem = format!("`{}` {problem}", self.random_distribution);
            return Err(JobError::new("random_distribution", problem));
        }
        Ok(())
    }

    fn validate_rate(&self) -> Result<(), JobError> {
        // From one request in a quarter of an hour to one each nanosecond, the clock's tick.
        if self.duration.is_some_and(|duration| duration.0 > TIME_MAX.0) {
            return Err(JobError::new("duration", "is longer than 73 years, the most that can be simulated"));
        }
        match (self.rate_iops, self.requests) {
            (Some(rate), _) if !(1e-3..=1e9).contains(&rate) => {
                Err(JobError::new("rate_iops", format!("{rate} is not a rate from 0.001 to 1e9 per second")))
            }
            (Some(rate), Some(requests)) if requests as f64 / rate > TIME_MAX.0 as f64 / 1e9 => {
                let problem = format!("{requests} requests at {rate} per second take more than 73 years");
                Err(JobError::new("requests", problem))
            }
            _ => Ok(()),
        }
    }
}

/// A positive size in sectors.
fn sectors(key: &'static str, bytes: Bytes) -> Result<u64, JobError> {
    if bytes.0 == 0 || !bytes.0.is_multiple_of(SECTOR_BYTES) {
        return Err(JobError::new(key, format!("{bytes} is not a positive multiple of 512 bytes")));
    }
    Ok(bytes.0 / SECTOR_BYTES)
}
