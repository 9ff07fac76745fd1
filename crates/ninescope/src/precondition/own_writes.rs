//! What a workload itself does to a drive, without time: its writes and TRIMs, again and again.
//!
//! Jobs go on without end, in turns, and draw other random numbers than in the run, unless their passes are all the
//! same; which addresses are hot is a property of the job. A trace is replayed from its beginning when it is over.

use std::path::{Path, PathBuf};

use ninescope_generators::{EachPass, JobConfig, SyntheticJob};
use ninescope_kernel::{RandomStream, RunDigest};
use ninescope_model::units::Duration;
use ninescope_model::{Arrival, Op, Request, SECTOR_BYTES, TIME_MAX, Workload};
use ninescope_traces::{TraceOptions, TraceReader};

use crate::assembly::Assembly;
use crate::digits;
use crate::error::Error;

/// So many writes of a trace are kept in memory, of a longer one none [count].
const KEPT_MAX: usize = 1 << 22;

/// A write or a TRIM, in mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnWrite {
    /// The first unit.
    pub first: u32,
    /// The unit behind the last one.
    pub end: u32,
    /// Sectors of the host in it; none for a TRIM [512 B].
    pub sectors: u32,
    /// The stream that the host names, 0 for none.
    pub stream: u8,
}

/// What a drive can be worn in with.
pub enum WearIn {
    /// The workload's own writes.
    Own(OwnWrites),
    /// There are none to do it with, for this reason: it is overwritten uniformly.
    Uniform(&'static str),
}

/// The writes of a workload.
pub struct OwnWrites {
    source: Source,
    units: UnitShape,
    /// A hash of what they are: equal for equal writes.
    identity: String,
    /// Units that one replay of a trace writes; a job has no end [count].
    pass_units: Option<u64>,
    note: Option<String>,
}

enum Source {
    Jobs(Vec<Turns>),
    Kept { writes: Vec<OwnWrite>, next: usize },
    Trace { path: PathBuf, options: Box<TraceOptions>, reader: Option<Box<TraceReader>> },
}

/// A job among others.
struct Turns {
    workload: Box<dyn Workload>,
    next: Request,
    /// Requests in a turn: its queue depth, or one where its requests arrive by themselves.
    depth: u32,
    left: u32,
}

/// How sectors become units.
#[derive(Clone, Copy)]
struct UnitShape {
    sectors_per_unit: u64,
    logical_units: u32,
}

impl std::fmt::Debug for OwnWrites {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OwnWrites").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl UnitShape {
    fn of(assembly: &Assembly) -> Self {
        Self {
            sectors_per_unit: u64::from(assembly.geometry.sectors_per_unit()),
            logical_units: assembly.ftl.logical_units,
        }
    }

    /// What a request does to the units; nothing where it reads, flushes, or trims parts alone.
    #[inline]
    fn write(self, request: &Request) -> Option<OwnWrite> {
        let per_unit = self.sectors_per_unit;
        let (begin, end) = (request.lba.0, request.end());
        let (first, end, sectors) = match request.op {
            Op::Write => (begin / per_unit, end.div_ceil(per_unit), request.sectors),
            Op::Trim => (begin.div_ceil(per_unit), end / per_unit, 0),
            Op::Read | Op::Flush => return None,
        };
        // A request may reach beyond an odd end of the drive.
        let (first, end) = (first as u32, end.min(u64::from(self.logical_units)) as u32);
        (first < end).then_some(OwnWrite { first, end, sectors, stream: request.stream })
    }
}

impl OwnWrites {
    /// Of jobs on a drive; `seed` is that of the run.
    ///
    /// # Errors
    /// [`Error::Internal`] where jobs that were checked are refused.
    pub fn of_jobs(jobs: &[JobConfig], assembly: &Assembly, seed: u64) -> Result<WearIn, Error> {
        let kept: Vec<&JobConfig> = jobs.iter().filter(|job| writes(job) || trims(job)).collect();
        if !kept.iter().any(|job| writes(job)) {
            return Ok(WearIn::Uniform("the workload writes nothing"));
        }
        let alone = kept.len() == 1;
        let follow = kept.iter().any(|job| job.stonewall || job.startdelay.is_some());
        let configs: Vec<JobConfig> = kept.into_iter().map(|job| endless(job, alone)).collect();
        let run_seed = seed;
        let seed = RandomStream::new(seed, "prepare", "workload").bits();
        let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
        let turns = |config: &JobConfig| -> Result<Turns, Error> {
            // The passes of the run go on from those that wear the drive in, where all are the same.
            let seed = if repeats(config) { run_seed } else { seed };
            let workload = SyntheticJob::new(config.clone(), assembly.logical_sectors(), seed);
            Turns::new(Box::new(workload.map_err(|error| internal(&error))?), config.iodepth)
        };
        let lanes = configs.iter().map(turns).collect::<Result<Vec<_>, _>>()?;
        let description = serde_json::to_string(&configs).map_err(|error| internal(&error))?;
        Ok(WearIn::Own(Self {
            source: Source::Jobs(lanes),
            units: UnitShape::of(assembly),
            identity: RunDigest::of_text(&format!("{description} with {seed:x}")).to_hex(),
            pass_units: None,
            note: follow.then(|| "jobs that run one after another wear the drive in side by side".to_owned()),
        }))
    }

    /// Of a trace, whose addresses `options` puts on the drive. It is read once.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_trace(path: &Path, options: &TraceOptions, assembly: &Assembly) -> Result<WearIn, Error> {
        let options = TraceOptions { loop_count: 1, ..options.clone() };
        let units = UnitShape::of(assembly);
        let mut reader = TraceReader::open(path, options.clone())?;
        let (mut writes, mut digest, mut count) = (Vec::new(), RunDigest::default(), 0_usize);
        let (mut pass_units, mut host_sectors) = (0_u64, 0_u64);
        while let Some(request) = reader.next_request()? {
            let Some(write) = units.write(&request) else { continue };
            digest.word(u64::from(write.first) << 32 | u64::from(write.end));
            digest.word(u64::from(write.sectors));
            count += 1;
            if write.sectors > 0 {
                pass_units += u64::from(write.end - write.first);
                host_sectors += u64::from(write.sectors);
            }
            if count <= KEPT_MAX {
                writes.push(write);
            }
        }
        if pass_units == 0 {
            return Ok(WearIn::Uniform("the trace writes nothing"));
        }
        let source = if count <= KEPT_MAX {
            Source::Kept { writes, next: 0 }
        } else {
            Source::Trace { path: path.to_owned(), options: Box::new(options), reader: None }
        };
        let share = 100.0 * host_sectors as f64 / assembly.logical_sectors() as f64;
        let note = (share < 100.0).then(|| {
            format!(
                "the host writes {} % of the drive's capacity in the trace, what it writes again counted again: preparing \
                 repeats these writes until the drive is steady",
                digits::nearest(share)
            )
        });
        Ok(WearIn::Own(Self { source, units, identity: digest.to_hex(), pass_units: Some(pass_units), note }))
    }

    /// A hash of what they are.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Units that one replay of a trace writes [count].
    pub fn pass_units(&self) -> Option<u64> {
        self.pass_units
    }

    /// What a reader of the result must know of them.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The next one.
    ///
    /// # Errors
    /// When the trace cannot be read on, or changed since it was read first.
    #[inline]
    pub fn next_write(&mut self) -> Result<OwnWrite, Error> {
        match &mut self.source {
            Source::Jobs(lanes) => loop {
                let request = next_of_jobs(lanes)?;
                if let Some(write) = self.units.write(&request) {
                    return Ok(write);
                }
            },
            Source::Kept { writes, next } => {
                let write = writes[*next];
                *next = if *next + 1 == writes.len() { 0 } else { *next + 1 };
                Ok(write)
            }
            Source::Trace { path, options, reader } => next_of_trace(path, options, reader, self.units),
        }
    }
}

fn writes(job: &JobConfig) -> bool {
    job.rw.ops().contains(&Op::Write) && (job.rw.ops().len() == 1 || job.writes_are_paced() || job.rwmixread < 100.0)
}

fn trims(job: &JobConfig) -> bool {
    job.rw.ops().contains(&Op::Trim) && job.erase_drive.is_none()
}

/// The job without end. Of one that is `alone` nothing is left that only says when and beside which reads it writes.
fn endless(job: &JobConfig, alone: bool) -> JobConfig {
    let endless = JobConfig {
        requests: None,
        io_size: None,
        passes: None,
        duration: Some(Duration(TIME_MAX.0 / 2)),
        ramp_time: None,
        startdelay: None,
        stonewall: false,
        flush_every: None,
        fua: 0.0,
        ..job.clone()
    };
    // Where passes repeat, the reads beside the writes say which blocks are written.
    if !alone || repeats(job) {
        return endless;
    }
    let JobConfig { iodepth, rate_process, .. } = JobConfig::default();
    // Sizes and places of the region are those of reads and writes: the kind of job stays.
    let in_requests = JobConfig { rate_iops: None, write_rate_iops: None, rate_by_bytes: false, ..endless };
    let unpaced = JobConfig { rate: None, write_rate: None, ..in_requests };
    JobConfig { iodepth, rate_process, rwmixread: 0.0, ..unpaced }
}

/// Whether it draws the same again and again.
fn repeats(job: &JobConfig) -> bool {
    job.each_pass == Some(EachPass::Same)
}

impl Turns {
    fn new(mut workload: Box<dyn Workload>, iodepth: u32) -> Result<Self, Error> {
        let depth = if workload.arrival() == Arrival::Closed { iodepth } else { 1 };
        let next = next_request(workload.as_mut())?;
        Ok(Self { workload, next, depth, left: depth })
    }

    fn take(&mut self) -> Result<Request, Error> {
        let next = next_request(self.workload.as_mut())?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

fn next_request(workload: &mut dyn Workload) -> Result<Request, Error> {
    workload.next_request()?.ok_or_else(|| Error::Internal("a job without end has ended".to_owned()))
}

/// Jobs whose requests all arrive by themselves are merged by time. Otherwise they take turns, as many requests each as
/// they keep in flight.
fn next_of_jobs(lanes: &mut [Turns]) -> Result<Request, Error> {
    if let [alone] = lanes {
        return alone.take();
    }
    if lanes.iter().all(|lane| lane.workload.arrival() == Arrival::Open) {
        let earliest = lanes.iter_mut().min_by_key(|lane| lane.next.submitted);
        return earliest.map_or_else(|| Err(Error::Internal("there is no job".to_owned())), Turns::take);
    }
    loop {
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.left > 0) {
            lane.left -= 1;
            return lane.take();
        }
        for lane in &mut *lanes {
            lane.left = lane.depth;
        }
    }
}

#[inline(never)]
fn next_of_trace(
    path: &Path,
    options: &TraceOptions,
    reader: &mut Option<Box<TraceReader>>,
    units: UnitShape,
) -> Result<OwnWrite, Error> {
    let mut opened = false;
    loop {
        let open = match reader {
            Some(open) => open,
            None if opened => return Err(Error::Input(format!("{}: it changed while it was read", path.display()))),
            None => {
                opened = true;
                reader.insert(Box::new(TraceReader::open(path, options.clone())?))
            }
        };
        match open.next_request()? {
            Some(request) => {
                if let Some(write) = units.write(&request) {
                    return Ok(write);
                }
            }
            None => *reader = None,
        }
    }
}

/// Bytes of the host in a write.
impl OwnWrite {
    /// [B].
    pub fn host_bytes(self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// Whether it forgets its units.
    pub fn trims(self) -> bool {
        self.sectors == 0
    }
}
