//! A job's description, in fio's words.

use ninescope_model::schema::{above_zero, other_word, with_aliases};
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{REQUEST_SECTORS_MAX, SECTOR_BYTES, TIME_MAX};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize, Serializer};

use ninescope_model::Op;

use super::{AddressDistribution, SizeRange, SizeSplit};

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
    /// What is wrong with the value of a key.
    pub fn new(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key, problem: problem.into() }
    }
}

/// What a job does, and in which order of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = other_word("rw", "readwrite"))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = other_word("linear", "fixed"))]
pub enum RateProcess {
    /// At equal distances.
    #[default]
    #[serde(alias = "fixed")]
    Linear,
    /// As a Poisson process: exponential gaps.
    Poisson,
}

/// What a job draws in a pass over its region that is not the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EachPass {
    /// Other addresses, sizes and directions than in the passes before it.
    Anew,
    /// The same addresses, sizes and directions in the same order, as fio does unless `randrepeat=0`.
    Same,
}

/// A synthetic job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = other_keys)]
pub struct JobConfig {
    /// The job's name. Jobs of different names draw different random numbers.
    pub name: String,
    /// What to do.
    #[serde(alias = "readwrite")]
    pub rw: AccessPattern,
    /// Size of each request [bytes], a multiple of 512.
    #[serde(alias = "blocksize")]
    #[schemars(transform = above_zero)]
    pub bs: Bytes,
    /// Sizes that are drawn, "4k/60:64k/40"; they take the place of `bs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bssplit: Option<SizeSplit>,
    /// Sizes that are drawn alike from the multiples of the least, "4k-16k"; they take the place of `bs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bsrange: Option<SizeRange>,
    /// Chance that a request of a mixed job is a read [percent].
    #[serde(serialize_with = "whole_where_it_is")]
    #[schemars(range(min = 0, max = 100))]
    pub rwmixread: f64,
    /// Requests outstanding at a time, kept by the engine.
    #[schemars(range(min = 1))]
    pub iodepth: u32,
    /// The law of random addresses.
    pub random_distribution: AddressDistribution,
    /// Chance that a request of a random job has a random address; the others follow the one before them [percent].
    #[serde(skip_serializing_if = "is_always")]
    #[schemars(range(max = 100))]
    pub percentage_random: u8,
    /// Each place of the region comes once before any comes again, in an order that is drawn; `false`: addresses are
    /// drawn anew each time, so that some come twice and others not at all. Only for `uniform` addresses that all jump.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub random_map: bool,
    /// Where the job's region begins [bytes].
    pub offset: Bytes,
    /// Where it begins as a share of the drive, rounded up to a multiple of the smallest request; `offset` is added to it
    /// [percent].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 100))]
    pub offset_percent: Option<f64>,
    /// The region's length [bytes]; absent: to the end of the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub size: Option<Bytes>,
    /// The region's length as a share of the drive, cut off at its end [percent].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub size_percent: Option<f64>,
    /// How many requests, flushes not counted. Absent, and `io_size` and `duration` too: as many as the region has blocks.
    #[serde(alias = "number_ios", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub requests: Option<u64>,
    /// The job ends when its requests come to so many bytes; the one that reaches them is made whole.
    #[serde(alias = "io_limit", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub io_size: Option<Bytes>,
    /// The job ends when its requests have covered its region so many times: by their number, or by their bytes where their sizes
    /// differ. Absent, and `requests`, `io_size` and `duration` too: once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub passes: Option<u64>,
    /// The job works in passes: each begins where the first began, in each direction, and draws `"anew"` or the
    /// `"same"` again. Absent: what is drawn, and where requests follow each other, goes on through the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_pass: Option<EachPass>,
    /// A pass ends when its requests come to so many bytes; absent: to the region's length, in whole requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub pass_size: Option<Bytes>,
    /// How long the job runs in simulated time, kept by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// Time at the job's beginning that is not measured, before its `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_time: Option<Duration>,
    /// The job begins at this time of the run, kept by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startdelay: Option<Duration>,
    /// The job, and those after it, begin when all before it are over, kept by the engine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stonewall: bool,
    /// So many jobs of this kind run at the same time; each draws random numbers of its own.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub numjobs: u32,
    /// From the offset of one of these jobs to that of the next [bytes].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_increment: Option<Bytes>,
    /// Arrivals per second of an open-loop job; absent: closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub rate_iops: Option<f64>,
    /// Writes of a mixed job arrive at a rate of their own, so many per second; `rate_iops` is that of the reads then,
    /// and `rwmixread` says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub write_rate_iops: Option<f64>,
    /// `rate_iops` counts requests of the direction's smallest size: one of twice that takes twice the time, as in fio;
    /// `false`: requests arrive at that rate, whatever their sizes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rate_by_bytes: bool,
    /// After so many requests of a closed loop the job waits for all it has in flight, and then for so long, before it
    /// goes on, kept by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinktime: Option<Duration>,
    /// How many requests complete before each `thinktime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub thinktime_blocks: Option<u64>,
    /// How the arrivals of an open-loop job are spread.
    pub rate_process: RateProcess,
    /// What random addresses are multiples of, from the region's beginning [bytes]; absent: `bs`, or the smallest size of
    /// each direction.
    #[serde(alias = "ba", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub blockalign: Option<Bytes>,
    /// A flush follows each time this many writes were made, but not the job's last request, as in fio.
    #[serde(alias = "fsync", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u64>,
}

/// The other names of keys, which serde knows as aliases; a test compares the two.
fn other_keys(schema: &mut Schema) {
    let aliases = [
        ("rw", "readwrite"),
        ("bs", "blocksize"),
        ("requests", "number_ios"),
        ("io_size", "io_limit"),
        ("blockalign", "ba"),
        ("flush_every", "fsync"),
    ];
    with_aliases(schema, &aliases);
}

impl Default for JobConfig {
    fn default() -> Self {
        Self {
            name: "job".to_owned(),
            rw: AccessPattern::Read,
            bs: Bytes(4096),
            bssplit: None,
            bsrange: None,
            rwmixread: 50.0,
            iodepth: 1,
            random_distribution: AddressDistribution::Uniform,
            percentage_random: 100,
            random_map: false,
            offset: Bytes(0),
            offset_percent: None,
            size: None,
            size_percent: None,
            requests: None,
            io_size: None,
            passes: None,
            each_pass: None,
            pass_size: None,
            duration: None,
            ramp_time: None,
            startdelay: None,
            stonewall: false,
            numjobs: 1,
            offset_increment: None,
            rate_iops: None,
            write_rate_iops: None,
            rate_by_bytes: false,
            thinktime: None,
            thinktime_blocks: None,
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

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn is_one(jobs: &u32) -> bool {
    *jobs == 1
}

/// Writes a whole number as one.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn whole_where_it_is<S: Serializer>(percent: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = *percent as u8;
    if f64::from(whole).to_bits() == percent.to_bits() {
        return serializer.serialize_u8(whole);
    }
    serializer.serialize_f64(*percent)
}

/// The places that requests of a direction can begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// From one place to the next [sectors].
    pub stride_sectors: u64,
    /// Places; at least one.
    pub places: u64,
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
    /// The grid of random writes, where that of the reads beside them is another one.
    pub of_writes: Option<Grid>,
}

impl JobRegion {
    /// The first sector behind everything the job can touch, where requests differ in size or have one.
    pub fn end_sector(&self, sizes_differ: bool) -> u64 {
        let last_place = self.first_sector + (self.places - 1) * self.stride_sectors;
        if sizes_differ { self.first_sector + self.sectors } else { last_place + u64::from(self.request_sectors) }
    }
}

impl JobConfig {
    /// The smallest and the largest request of the directions in `ops`.
    fn sizes(&self, ops: &[Op]) -> (Bytes, Bytes) {
        if let Some(range) = &self.bsrange {
            return range.extremes(ops);
        }
        let Some(split) = &self.bssplit else { return (self.bs, self.bs) };
        let sizes = || split.sizes(ops);
        (sizes().min().unwrap_or(self.bs), sizes().max().unwrap_or(self.bs))
    }

    /// The smallest and the largest request.
    pub fn sizes_of_all(&self) -> (Bytes, Bytes) {
        self.sizes(self.rw.ops())
    }

    /// The smallest request of a direction.
    pub fn least_bytes(&self, op: Op) -> Bytes {
        self.sizes(&[op]).0
    }

    /// The mean request of a direction [B].
    pub fn mean_bytes(&self, op: Op) -> f64 {
        match (&self.bssplit, &self.bsrange) {
            (_, Some(range)) => range.mean(op),
            (Some(split), None) => split.mean(op),
            (None, None) => self.bs.0 as f64,
        }
    }

    /// Whether requests differ in size.
    pub fn sizes_differ(&self) -> bool {
        self.bssplit.is_some() || self.bsrange.is_some()
    }

    /// Whether requests of one direction differ in size.
    pub fn sizes_of_an_op_differ(&self) -> bool {
        self.rw.ops().iter().any(|&op| {
            let (least, most) = self.sizes(&[op]);
            least != most
        })
    }

    /// The share of reads among the requests, where the first kind of operation counts as reads.
    pub fn read_share(&self) -> f64 {
        match (self.rw.ops().len(), self.rate_iops, self.write_rate_iops) {
            (1, _, _) => 1.0,
            (_, Some(reads), Some(writes)) => {
                let (reads, writes) =
                    (reads * self.arrivals_per_rate(Op::Read), writes * self.arrivals_per_rate(Op::Write));
                reads / (reads + writes)
            }
            _ => self.rwmixread / 100.0,
        }
    }

    /// The share of writes among the requests.
    pub fn write_share(&self) -> f64 {
        match self.rw.ops() {
            [Op::Write] => 1.0,
            [_, Op::Write] => 1.0 - self.read_share(),
            _ => 0.0,
        }
    }

    /// Whether it writes at random in passes over its region, each block once in each or each pass like the first: the garbage
    /// that its writes find goes up and down with the pass.
    pub fn writes_in_passes(&self) -> bool {
        let in_passes = self.random_map || self.each_pass == Some(EachPass::Same);
        self.rw.is_random() && self.write_share() > 0.0 && in_passes
    }

    /// How many requests arrive per second, where they arrive at a fixed rate.
    pub fn arrivals_per_second(&self) -> Option<f64> {
        let rate = self.rate_iops.filter(|_| self.rate_process == RateProcess::Linear)?;
        let of_first = rate * self.arrivals_per_rate(self.rw.ops()[0]);
        Some(of_first + self.write_rate_iops.map_or(0.0, |rate| rate * self.arrivals_per_rate(Op::Write)))
    }

    /// How long so many requests take to arrive at a rate of the first direction [s].
    fn seconds_of(&self, requests: u64, rate: f64) -> f64 {
        requests as f64 / (rate * self.arrivals_per_rate(self.rw.ops()[0]))
    }

    /// How many requests of a direction arrive in the mean for each one of its rate.
    fn arrivals_per_rate(&self, op: Op) -> f64 {
        if self.rate_by_bytes { self.least_bytes(op).0 as f64 / self.mean_bytes(op) } else { 1.0 }
    }

    /// The jobs that `numjobs` asks for: one, or copies named `name.0` and so on, as in fio.
    ///
    /// # Errors
    /// Names `numjobs` where it is nothing or more than `most`.
    pub fn copies(&self, most: usize) -> Result<Vec<Self>, JobError> {
        match self.numjobs {
            0 => Err(JobError::new("numjobs", "0 jobs do no work; write at least 1")),
            1 => Ok(vec![self.clone()]),
            jobs if jobs as usize > most => {
                Err(JobError::new("numjobs", format!("{jobs} jobs are more than the {most} that run at the same time")))
            }
            jobs => Ok((0..jobs).map(|index| self.copy(index)).collect()),
        }
    }

    fn copy(&self, index: u32) -> Self {
        let further = self.offset_increment.map_or(0, |bytes| bytes.0.saturating_mul(u64::from(index)));
        Self {
            name: format!("{}.{index}", self.name),
            offset: Bytes(self.offset.0.saturating_add(further)),
            // The first of them waits, and the others begin with it.
            stonewall: self.stonewall && index == 0,
            numjobs: 1,
            offset_increment: None,
            ..self.clone()
        }
    }

    /// Checks every key and lays the job out on a drive of `drive_bytes`.
    ///
    /// # Errors
    /// Names the first key that has no meaning, or none on such a drive.
    pub fn validate(&self, drive_bytes: u64) -> Result<JobRegion, JobError> {
        self.validate_numbers()?;
        self.validate_rate()?;
        self.validate_thinking()?;
        let (least, most) = self.sizes(self.rw.ops());
        let too_large = || JobError::new("bs", format!("{most} is too large, at most 1GiB is one request"));
        let request_sectors = u32::try_from(sectors("bs", most)?).map_err(|_| too_large())?;
        sectors("blockalign", self.blockalign.filter(|_| self.rw.is_random()).unwrap_or(least))?;
        if !self.offset.0.is_multiple_of(SECTOR_BYTES) {
            return Err(JobError::new("offset", format!("{} is not a multiple of 512 bytes", self.offset)));
        }
        let begin = self.begin(drive_bytes);
        let region_bytes = self.region_bytes(drive_bytes, begin, least)?;
        if region_bytes < most.0 {
            let key = match (self.size, self.size_percent) {
                (Some(_), _) => "size",
                (None, Some(_)) => "size_percent",
                (None, None) => "bs",
            };
            let problem = format!("a region of {} does not hold a request of {most}", Bytes(region_bytes));
            return Err(JobError::new(key, problem));
        }
        if request_sectors > REQUEST_SECTORS_MAX {
            return Err(too_large());
        }
        let (Grid { stride_sectors, places }, of_writes) = self.grids(region_bytes)?;
        let first_sector = begin / SECTOR_BYTES;
        let sectors = region_bytes / SECTOR_BYTES;
        Ok(JobRegion { first_sector, sectors, request_sectors, stride_sectors, places, of_writes })
    }

    /// The grid of places, and that of random writes where reads have another one: as in fio, random addresses of a
    /// direction are multiples of its own smallest request.
    fn grids(&self, region_bytes: u64) -> Result<(Grid, Option<Grid>), JobError> {
        let grid = |ops: &[Op]| -> Result<Grid, JobError> {
            let (least, most) = self.sizes(ops);
            let stride = self.blockalign.filter(|_| self.rw.is_random()).unwrap_or(least);
            let stride_sectors = sectors("blockalign", stride)?;
            Ok(Grid { stride_sectors, places: (region_bytes - most.0) / (stride_sectors * SECTOR_BYTES) + 1 })
        };
        match self.rw.ops() {
            [first, second] if self.rw.is_random() => {
                let (first, second) = (grid(&[*first])?, grid(&[*second])?);
                Ok((first, Some(second).filter(|grid| *grid != first)))
            }
            ops => Ok((grid(ops)?, None)),
        }
    }

    /// How long a pass is, where the job works in passes [sectors].
    pub(super) fn pass_sectors(&self, region: &JobRegion) -> Option<u64> {
        self.each_pass?;
        let whole = region.sectors - region.sectors % u64::from(region.request_sectors);
        let of_region = if self.sizes_differ() { region.sectors } else { whole };
        Some(self.pass_size.map_or(of_region, |bytes| bytes.0.div_ceil(SECTOR_BYTES)))
    }

    /// Whether it says itself when it ends.
    pub fn has_an_end(&self) -> bool {
        self.requests.is_some() || self.io_size.is_some() || self.passes.is_some() || self.duration.is_some()
    }

    /// How many requests it makes, flushes not counted, where that is known: not where its duration alone ends it, and by
    /// the mean of their sizes where bytes do.
    pub fn requests_in_all(&self, region: &JobRegion) -> Option<u64> {
        let of_bytes = self.io_size.map(|bytes| libm::ceil(bytes.0 as f64 / self.mean_request()).max(1.0) as u64);
        self.requests_at_most(region).into_iter().chain(of_bytes).min()
    }

    /// How many requests it makes at most; none where bytes or its duration alone end it.
    pub(super) fn requests_at_most(&self, region: &JobRegion) -> Option<u64> {
        // Like fio without a limit: as many as it takes to cover the region once.
        let unlimited = self.io_size.is_none() && self.duration.is_none();
        self.requests.or_else(|| unlimited.then(|| self.requests_of_one_pass(region)))
    }

    /// The same job with the end that its `passes` come to on a drive where it has this region.
    #[must_use]
    pub fn ended_by_passes(mut self, region: &JobRegion) -> Self {
        let Some(passes) = self.passes.take() else { return self };
        if self.sizes_differ() {
            let bytes = (region.sectors * SECTOR_BYTES).saturating_mul(passes);
            self.io_size = Some(Bytes(self.io_size.map_or(bytes, |size| size.0.min(bytes))));
        } else {
            let requests = region.places.saturating_mul(passes);
            self.requests = Some(self.requests.map_or(requests, |number| number.min(requests)));
        }
        self
    }

    /// How many requests cover the region once.
    fn requests_of_one_pass(&self, region: &JobRegion) -> u64 {
        if !self.sizes_differ() {
            return region.places;
        }
        ((region.sectors * SECTOR_BYTES) as f64 / self.mean_request()).max(1.0) as u64
    }

    /// The mean request [B].
    pub fn mean_request(&self) -> f64 {
        let ops = self.rw.ops();
        let reads = self.read_share();
        self.mean_bytes(ops[0]) * reads + self.mean_bytes(ops[ops.len() - 1]) * (1.0 - reads)
    }

    /// The smallest request of all directions, whether there are any of them or not.
    pub fn smallest(&self) -> Bytes {
        [Op::Read, Op::Write, Op::Trim].map(|op| self.least_bytes(op)).into_iter().min().unwrap_or(self.bs)
    }

    /// Where the region begins [B].
    fn begin(&self, drive_bytes: u64) -> u64 {
        let Some(percent) = self.offset_percent else { return self.offset.0 };
        // As in fio: of the whole drive, at the next request.
        let share = (drive_bytes as f64 * percent / 100.0) as u64;
        let begin = share.checked_next_multiple_of(self.smallest().0.max(SECTOR_BYTES)).unwrap_or(u64::MAX);
        begin.saturating_add(self.offset.0)
    }

    /// How large a drive must be for the region, as far as the job says it [B].
    pub fn drive_bytes(&self) -> u64 {
        let Some(Bytes(size)) = self.size else { return 0 };
        let end = self.offset.0.saturating_add(size);
        let behind = 1.0 - self.offset_percent.unwrap_or(0.0) / 100.0;
        if behind < 1.0 { libm::ceil((end.saturating_add(self.smallest().0)) as f64 / behind) as u64 } else { end }
    }

    /// The region's length, which must lie on the drive.
    fn region_bytes(&self, drive_bytes: u64, begin: u64, least: Bytes) -> Result<u64, JobError> {
        let available = drive_bytes.checked_sub(begin).filter(|&bytes| bytes > 0).ok_or_else(|| {
            let problem = format!("{} lies beyond the drive of {}", Bytes(begin), Bytes(drive_bytes));
            JobError::new(if self.offset_percent.is_some() { "offset_percent" } else { "offset" }, problem)
        })?;
        if let Some(percent) = self.size_percent {
            // As in fio: of the whole drive, in whole requests.
            let share = (drive_bytes as f64 * percent / 100.0) as u64;
            let cut = share.min(available);
            return Ok(cut - cut % least.0);
        }
        match self.size {
            None => Ok(available),
            Some(Bytes(bytes)) if bytes <= available => Ok(bytes),
            Some(size) => {
                let problem =
                    format!("{size} is more than the {} from the offset to the drive's end", Bytes(available).told());
                Err(JobError::new("size", problem))
            }
        }
    }

    fn validate_numbers(&self) -> Result<(), JobError> {
        if !(0.0..=100.0).contains(&self.rwmixread) {
            let problem = format!("{} is not a percentage (0 to 100)", self.rwmixread);
            return Err(JobError::new("rwmixread", problem));
        }
        if self.iodepth == 0 {
            return Err(JobError::new("iodepth", "0 requests outstanding do no work; write at least 1"));
        }
        if self.size_percent.is_some_and(|percent| !(percent > 0.0 && percent <= 100.0)) {
            let problem =
                format!("{} is not a share of the drive, above 0 and up to 100", self.size_percent.unwrap_or_default());
            return Err(JobError::new("size_percent", problem));
        }
        if self.offset_percent.is_some_and(|percent| !(0.0..100.0).contains(&percent)) {
            let problem = format!("{} is not a share of the drive below 100", self.offset_percent.unwrap_or_default());
            return Err(JobError::new("offset_percent", problem));
        }
        if self.size_percent.is_some() && self.size.is_some() {
            return Err(JobError::new("size_percent", "`size` says how long the region is already"));
        }
        if self.bsrange.is_some() && self.bssplit.is_some() {
            return Err(JobError::new("bsrange", "`bssplit` says already which sizes there are"));
        }
        if self.offset_increment.is_some() && self.numjobs == 1 {
            return Err(JobError::new("offset_increment", "there is one job of this kind; `numjobs` makes several"));
        }
        if self.requests == Some(0) {
            return Err(JobError::new("requests", "0 is not a number of requests; write at least 1"));
        }
        if self.passes == Some(0) {
            return Err(JobError::new("passes", "0 passes make no request; write at least 1"));
        }
        if self.io_size == Some(Bytes(0)) {
            return Err(JobError::new("io_size", "0 bytes are no request; write at least 512"));
        }
        if self.pass_size == Some(Bytes(0)) {
            return Err(JobError::new("pass_size", "0 bytes are no request; write at least 512"));
        }
        if self.pass_size.is_some() && self.each_pass.is_none() {
            let problem = "says how long a pass is, and no `each_pass` says what a pass draws (anew or same)";
            return Err(JobError::new("pass_size", problem));
        }
        if self.flush_every == Some(0) {
            return Err(JobError::new("flush_every", "0 is not a number of writes; leave it out for no flushes"));
        }
        if self.percentage_random > 100 {
            let problem = format!("{} is not a percentage (0 to 100)", self.percentage_random);
            return Err(JobError::new("percentage_random", problem));
        }
        if self.random_map && !self.can_be_mapped() {
            let problem = "is for random jobs of uniform addresses and requests of one size, all of which jump";
            return Err(JobError::new("random_map", problem));
        }
        if let Some(problem) = self.random_distribution.problem() {
            let problem = format!("`{}` {problem}", self.random_distribution);
            return Err(JobError::new("random_distribution", problem));
        }
        Ok(())
    }

    /// Whether each place can come once before any comes again.
    pub fn can_be_mapped(&self) -> bool {
        let uniform = self.random_distribution == AddressDistribution::Uniform;
        self.rw.is_random() && uniform && self.percentage_random == 100 && !self.sizes_differ()
    }

    fn validate_thinking(&self) -> Result<(), JobError> {
        let refused = |key, problem: &str| Err(JobError::new(key, problem));
        match (self.thinktime, self.thinktime_blocks) {
            (Some(_), _) if self.rate_iops.is_some() => {
                refused("thinktime", "is for closed loops, and `rate_iops` says when requests arrive")
            }
            (Some(time), _) if time.0 > TIME_MAX.0 / 2 => refused("thinktime", "is longer than 36 years"),
            (None, Some(_)) => refused("thinktime_blocks", "says how often there is a `thinktime`, and there is none"),
            (_, Some(0)) => refused("thinktime_blocks", "0 is not a number of requests; write at least 1"),
            _ => Ok(()),
        }
    }

    fn validate_rate(&self) -> Result<(), JobError> {
        // From one request in a quarter of an hour to one each nanosecond, the clock's tick.
        for (key, time) in [("duration", self.duration), ("ramp_time", self.ramp_time), ("startdelay", self.startdelay)]
        {
            if time.is_some_and(|time| time.0 > TIME_MAX.0 / 2) {
                return Err(JobError::new(key, "is longer than 36 years, and no more than 73 can be simulated"));
            }
        }
        if self.write_rate_iops.is_some() && (self.rw.ops().len() == 1 || self.rate_iops.is_none()) {
            let problem = "belongs to a mixed job whose reads have the rate `rate_iops`";
            return Err(JobError::new("write_rate_iops", problem));
        }
        if self.rate_by_bytes && (self.rate_iops.is_none() || self.rate_process != RateProcess::Linear) {
            let problem = "is for jobs with `rate_iops` and the `rate_process` linear";
            return Err(JobError::new("rate_by_bytes", problem));
        }
        if self.rate_by_bytes && self.rw.ops().len() > 1 && self.write_rate_iops.is_none() {
            let problem = "wants a `write_rate_iops` of a mixed job: reads and writes are paced each by themselves";
            return Err(JobError::new("rate_by_bytes", problem));
        }
        match (self.rate_iops, self.requests) {
            _ if self.write_rate_iops.is_some_and(|rate| !(1e-3..=1e9).contains(&rate)) => {
                let rate = self.write_rate_iops.unwrap_or_default();
                Err(JobError::new("write_rate_iops", format!("{rate} is not a rate from 0.001 to 1e9 per second")))
            }
            (Some(rate), _) if !(1e-3..=1e9).contains(&rate) => {
                Err(JobError::new("rate_iops", format!("{rate} is not a rate from 0.001 to 1e9 per second")))
            }
            (Some(rate), Some(requests)) if self.seconds_of(requests, rate) > TIME_MAX.0 as f64 / 1e9 => {
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
        return Err(JobError::new(key, format!("{} bytes are no positive multiple of 512", bytes.0)));
    }
    Ok(bytes.0 / SECTOR_BYTES)
}
