//! A job's description, in fio's words.

use ninescope_model::schema::{above_zero, other_word, with_aliases};
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize, Serializer};

use ninescope_model::{DriveErase, Op, UrgencyClass, ZoneCommand};

use super::{AddressDistribution, SizeNormal, SizeRange, SizeSplit};

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

/// How requests of a job with `rate_iops` or `rate` arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = other_word("linear", "fixed"))]
pub enum RateProcess {
    /// At equal distances; with `rate` each after the time of the bytes before it.
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
#[allow(clippy::struct_excessive_bools)] // each is a key that a job may say by itself
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
    /// Sizes that are drawn by a normal law, "8k/2k" its mean and its standard deviation; they take the place of `bs`. Random
    /// addresses are multiples of a sector, unless `blockalign` says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bsnormal: Option<SizeNormal>,
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
    /// Bytes per second that arrive in an open-loop job, in place of `rate_iops`: linear, each request takes the time of its
    /// bytes; a Poisson process has so many in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub rate: Option<BytesPerSecond>,
    /// Writes of a mixed job arrive at a rate of their own; `rate` is that of the reads then, and `rwmixread` says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub write_rate: Option<BytesPerSecond>,
    /// After so many requests of a closed loop the job waits for all it has in flight, and then for so long, before it
    /// goes on, kept by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinktime: Option<Duration>,
    /// How many requests complete before each `thinktime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub thinktime_blocks: Option<u64>,
    /// Of several jobs, how urgent its requests are, where `scheduler.arbitration` of the drive is weighted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<UrgencyClass>,
    /// How many of its requests are taken in within a round of all jobs then [count]; absent: what its `priority` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub weight: Option<u32>,
    /// The namespace of the drive that it addresses, from 1 on; absent: the first one, or the whole drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub namespace: Option<u32>,
    /// Queues of commands that it has, each of which the drive gives turns to [count]; absent: one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: Option<u32>,
    /// Commands of each of its queues that the drive has at a time [count]; the others wait in the queue. Absent: as the drive
    /// says (`controller.commands_per_queue`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub commands_per_queue: Option<u32>,
    /// So many of its requests are taken in by the drive per second at most [1/s]; what arrives earlier waits in the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub iops_max: Option<f64>,
    /// So many bytes of its reads and writes are taken in per second at most [B/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub bandwidth_max: Option<BytesPerSecond>,
    /// So much time's worth of `iops_max` and `bandwidth_max` is saved up while nothing comes; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_burst: Option<Duration>,
    /// Channels of the drive that its region lies on, and no other's [numbers from 0]; absent: those that no job names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub channels: Option<Vec<u32>>,
    /// In place of `channels`, dies of the drive, counted through all channels [numbers from 0].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub dies: Option<Vec<u32>>,
    /// Of these dies, the planes that its region lies in [numbers from 0]; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub planes: Option<Vec<u32>>,
    /// How much of the memory above another is the job's alone, in whole pages [bytes]; absent: it shares, or has a part of,
    /// what others leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub cache_size: Option<Bytes>,
    /// How many filled pages of the drive's write buffer are the job's alone, out of `controller.shared_buffered_pages` [count];
    /// absent: it shares what others leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub buffer_pages: Option<u32>,
    /// How the arrivals of an open-loop job are spread.
    pub rate_process: RateProcess,
    /// What random addresses are multiples of, from the region's beginning [bytes]; absent: `bs`, or the smallest size of
    /// each direction.
    #[serde(alias = "ba", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub blockalign: Option<Bytes>,
    /// Reads and writes of a sequential mix go on from each other, at one position; each has its own unless told so, as in fio.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared_position: bool,
    /// A flush follows each time this many writes were made, but not the job's last request, as in fio.
    #[serde(alias = "fsync", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u64>,
    /// Share of the writes that complete when their data are on the media (force unit access).
    #[serde(skip_serializing_if = "is_none_at_all")]
    #[schemars(range(min = 0, max = 1))]
    pub fua: f64,
    /// The stream that its writes are named for, where the drive takes streams of the host (`ftl.streams = "hinted"`), or the
    /// placement handle (`"fdp"`); 0 where none is named.
    #[serde(skip_serializing_if = "is_not_named")]
    pub stream: u8,
    /// What it asks of zones, on a drive that has some: that its writes go where the drive says (`"append"`), or, of trims, that the
    /// zone of each is managed.
    #[serde(skip_serializing_if = "ZoneCommand::is_none")]
    pub zone_command: ZoneCommand,
    /// What each of its trims asks of all that the drive holds, wherever it is of: that it is formatted or sanitized.
    #[serde(skip_serializing_if = "DriveErase::is_none")]
    pub erase_drive: DriveErase,
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
            bsnormal: None,
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
            rate: None,
            write_rate: None,
            thinktime: None,
            thinktime_blocks: None,
            priority: None,
            weight: None,
            queues: None,
            commands_per_queue: None,
            namespace: None,
            iops_max: None,
            bandwidth_max: None,
            limit_burst: None,
            channels: None,
            dies: None,
            planes: None,
            cache_size: None,
            buffer_pages: None,
            rate_process: RateProcess::Linear,
            blockalign: None,
            shared_position: false,
            flush_every: None,
            fua: 0.0,
            stream: 0,
            zone_command: ZoneCommand::None,
            erase_drive: DriveErase::None,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn is_always(percent: &u8) -> bool {
    *percent == 100
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn is_none_at_all(share: &f64) -> bool {
    *share == 0.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's calling convention
fn is_not_named(stream: &u8) -> bool {
    *stream == 0
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
