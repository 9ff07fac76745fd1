//! What a run will do, worked out from its request: the drive, the workload, how the drive is prepared and
//! where the run ends. Everything a user can get wrong is found here, before anything is simulated.

use std::ops::Range;
use std::path::Path;

use ninescope_engine::{Device, Kind, LaneConfig, RunLimits};
use ninescope_generators::HostCacheConfig;
use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use ninescope_model::{Arrival, Request, SECTOR_BYTES, Workload, WorkloadError};
use ninescope_traces::{AddressMap, TraceOptions, TraceReader, TraceSummary, TraceVolume};

use crate::assembly::{Assembly, Unfit, fit_drive, over_provisioning_note, suspend_note};
use crate::config::LoadedJobs;
use crate::error::Error;
use crate::jobs::{Jobs, disjoint};
use crate::own_writes::{OwnWrites, WearIn};
use crate::prepare::{Overwriting, PrefillMode, Preparation};
use crate::preparing::Preparing;
use crate::request::{AddressPolicy, RunRequest, VolumePlacement, Warmup, WorkloadSource};
use crate::result::WorkloadReport;
use crate::snapshot::{PreparedDrive, Shape, SnapshotPlace};

/// Times of a trace that stand for so many requests each are pointed out.
const SIMULTANEOUS_MIN: u64 = 2;

/// A run that has not begun.
pub struct Plan {
    pub(crate) assembly: Assembly,
    pub(crate) seed: u64,
    pub(crate) prefill: PrefillMode,
    pub(crate) limits: RunLimits,
    pub(crate) report: WorkloadReport,
    pub(crate) total_requests: Option<u64>,
    pub(crate) preparation: Preparation,
    /// Where the prepared drive may be.
    pub(crate) snapshot_place: Option<SnapshotPlace>,
    pub(crate) lanes: Vec<LaneConfig>,
    /// What the lanes are called, where there are several.
    pub(crate) job_names: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// What the result calls the drive.
    pub(crate) drive_name: String,
    /// How the run was asked for, for the result.
    pub(crate) run: serde_json::Value,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Plan")
            .field("seed", &self.seed)
            .field("drive", &self.drive_name)
            .finish_non_exhaustive()
    }
}

/// Requests of a list.
struct Listed {
    requests: std::vec::IntoIter<Request>,
    arrival: Arrival,
}

impl Workload for Listed {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.requests.next())
    }
}

impl Plan {
    /// Reads and checks everything a request names.
    ///
    /// # Errors
    /// [`Error::Input`] that names file, line or key.
    pub fn new(request: &RunRequest) -> Result<Self, Error> {
        request.snapshot_place()?;
        let source = request.workload.clone().unwrap_or_default();
        let named = [source.trace.is_some(), source.job_file.is_some(), source.job.is_some(), source.preset.is_some()];
        if named.iter().filter(|&&is_named| is_named).count() != 1 {
            return Err(Error::Input("workload: give exactly one of a trace, a job file, a job and a preset".into()));
        }
        let host_cache = source.load_host_cache()?;
        if let Some(file) = source.load_job_file()? {
            return Self::of_job_file(request, &source, file);
        }
        match source.load_jobs()? {
            Some(loaded) => Self::of_jobs(request, &source, loaded),
            None => Self::of_trace(request, &source, host_cache),
        }
    }

    /// A run of listed requests, in the order of their times, on the drive of `request`. Its workload is ignored;
    /// a footprint prefill writes every unit that the list reads.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn of_requests(
        request: &RunRequest,
        requests: Vec<Request>,
        arrival: Arrival,
        queue_depth: u32,
    ) -> Result<Self, Error> {
        request.snapshot_place()?;
        let drive = request.load_drive()?;
        let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
        let sectors = u64::from(assembly.geometry.sectors_per_unit());
        let units = |request: &Request| {
            (request.lba.0 / sectors) as u32..(request.end().div_ceil(sectors) as u32).min(assembly.ftl.logical_units)
        };
        let ranges =
            disjoint(requests.iter().filter(|request| request.op == ninescope_model::Op::Read).map(units).collect());
        let (preparation, note) =
            preparation(request, || ranges, &assembly, || Ok(WearIn::Uniform("a list of requests is no workload")))?;
        let total = requests.len() as u64;
        let duration = request.duration.map(|duration| Ns(duration.0));
        let limits = limits(request, Some(total), request.requests, duration, queue_depth)?;
        let report = WorkloadReport::of_list(total);
        let workload = Box::new(Listed { requests: requests.into_iter(), arrival });
        let lanes = vec![LaneConfig::new(workload, queue_depth)];
        Ok(Self::assembled(
            request,
            assembly,
            limits,
            report,
            Some(total),
            preparation,
            lanes,
            note.into_iter().collect(),
        ))
    }

    fn of_trace(
        request: &RunRequest,
        source: &WorkloadSource,
        host_cache: Option<HostCacheConfig>,
    ) -> Result<Self, Error> {
        let path = source.trace.clone().unwrap_or_default();
        let mut drive = request.load_drive()?;
        let mut source = source.clone();
        let mut options = TraceOptions {
            format: source.trace_format()?,
            strict: source.strict,
            time_scale: source.time_scale.unwrap_or(1.0),
            loop_count: source.loop_count.unwrap_or(1),
            closed_loop: source.closed_loop,
            trims: source.trims,
            volume: source.volume.clone(),
            ..TraceOptions::default()
        };
        options.validate()?;
        let mut notes = Vec::new();
        if options.closed_loop && source.time_scale.is_some_and(|scale| scale.to_bits() != 1_f64.to_bits()) {
            notes.push("time_scale is ignored: a closed loop leaves the times of the trace out".to_owned());
        }
        let mut summary = placed_summary(&path, &source, &mut options, &mut notes)?;
        if request.sizes_drive() {
            // Behind a cache the addresses are those of a disk.
            let reach = host_cache.as_ref().map_or(summary.max_address, |cache| cache.size.map_or(0, |size| size.0));
            match fit_drive(&mut drive, reach) {
                Err(Unfit::TooFar(why)) if host_cache.is_none() && source.addresses.is_none() => {
                    notes.push(format!("{why}: replayed as with --addresses compact"));
                    source.addresses = Some(AddressPolicy::Compact);
                    summary = compacted_summary(&path, &mut options, summary, &mut notes)?;
                    fit_drive(&mut drive, summary.max_address)
                }
                fitted => fitted,
            }
            .map_err(|unfit| unfit.into_error(|message| too_far(&path, &source, &message)))?;
            notes.push(format!(
                "default drive, sized to the trace: {} blocks per plane",
                drive.config.blocks_per_plane()
            ));
        }
        let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
        if let Some(host_cache) = host_cache {
            return Self::of_cached_trace(request, &source, options, &summary, host_cache, assembly, notes);
        }
        let summary = folded_summary(&path, &source, &mut options, summary, assembly.logical_bytes(), &mut notes)?;
        let unit_bytes = u64::from(assembly.geometry.unit_bytes);
        let footprint = || {
            let pages = summary.read_pages.ranges();
            let bytes =
                pages.map(|pages| pages.start * ninescope_model::PAGE_BYTES..pages.end * ninescope_model::PAGE_BYTES);
            // A page may reach beyond an odd end of the drive.
            bytes
                .map(|bytes| {
                    (bytes.start / unit_bytes) as u32
                        ..(bytes.end.div_ceil(unit_bytes) as u32).min(assembly.ftl.logical_units)
                })
                .collect()
        };
        let own = || OwnWrites::of_trace(&path, &options, &assembly);
        let (preparation, note) = preparation(request, footprint, &assembly, own)?;
        notes.extend(note);
        let total = summary.requests * u64::from(options.loop_count);
        let depth = source.iodepth.unwrap_or(u32::MAX);
        let duration = request.duration.map(|duration| Ns(duration.0));
        let limits = limits(request, Some(total), request.requests, duration, depth)?;
        let report = WorkloadReport::of_trace(&path, &source, &summary)?;
        let lanes = vec![LaneConfig::new(Box::new(TraceReader::open(&path, options)?), depth)];
        Ok(Self::assembled(request, assembly, limits, report, Some(total), preparation, lanes, notes))
    }

    fn of_jobs(request: &RunRequest, source: &WorkloadSource, mut loaded: LoadedJobs) -> Result<Self, Error> {
        let mut notes = vec!["synthetic workload".to_owned()];
        notes.append(&mut loaded.notes);
        let mut jobs = Jobs::new(loaded)?;
        jobs.limit(request, source.iodepth);
        let mut drive = request.load_drive()?;
        if request.sizes_drive() {
            fit_drive(&mut drive, jobs.end())
                .map_err(|unfit| unfit.into_error(|message| jobs.beyond_any_drive(message)))?;
            let blocks = drive.config.blocks_per_plane();
            notes.push(format!("default drive: {blocks} blocks per plane"));
        }
        let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
        let regions = jobs.laid_out(&assembly)?;
        let units = jobs.units(&regions, u64::from(assembly.geometry.sectors_per_unit()));
        let own = || OwnWrites::of_jobs(&jobs, &assembly, request.seed);
        let (preparation, note) = preparation(request, || units, &assembly, own)?;
        notes.extend(note);
        let report = WorkloadReport::of_jobs(source, jobs.list(), jobs.options())?;
        let known = jobs.requests(&regions);
        let names: Vec<String> = jobs.list().iter().map(|job| job.name.clone()).collect();
        // A job alone was given its limit itself.
        let most = request.requests.filter(|_| names.len() > 1);
        let duration = request.duration.map(|duration| Ns(duration.0));
        let ramp = jobs.ramp_time()?;
        let mut limits = limits(request, known, most, duration, u32::MAX)?;
        let is_warmed = request.warmup.is_some_and(|warmup| !warmup.is_nothing());
        if is_warmed && ramp.is_some() {
            notes.push("the run's warm-up takes the place of ramp_time".to_owned());
        } else {
            limits.warmup_time = ramp;
        }
        let lanes = jobs.lanes(&assembly, request.seed)?;
        let plan = Self::assembled(request, assembly, limits, report, known, preparation, lanes, notes);
        Ok(Self { job_names: if names.len() > 1 { names } else { Vec::new() }, ..plan })
    }

    #[allow(clippy::too_many_arguments)] // the parts that all kinds of workload have made
    pub(crate) fn assembled(
        request: &RunRequest,
        assembly: Assembly,
        limits: RunLimits,
        report: WorkloadReport,
        total_requests: Option<u64>,
        preparation: Preparation,
        lanes: Vec<LaneConfig>,
        mut notes: Vec<String>,
    ) -> Self {
        notes.extend(assembly.spare_note());
        notes.extend(prefill_note(request, &assembly));
        notes.extend(over_provisioning_note(&assembly.config));
        notes.extend(suspend_note(&assembly.config));
        let bounded = match (total_requests, limits.requests) {
            (Some(total), Some(limit)) => Some(total.min(limit)),
            (total, limit) => total.or(limit),
        };
        Self {
            assembly,
            seed: request.seed,
            prefill: request.prefill,
            limits,
            report,
            total_requests: bounded,
            preparation,
            snapshot_place: request.snapshot_place().unwrap_or_default(),
            lanes,
            job_names: Vec::new(),
            notes,
            drive_name: request.drive_name(),
            run: request.run_settings(),
        }
    }

    /// What is to be said about the run before it begins.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Requests of the run, where they are known before it.
    pub fn requests(&self) -> Option<u64> {
        self.total_requests
    }

    /// What the tables of the drive take [B]: nearly all the memory of a run.
    pub fn table_bytes(&self) -> u64 {
        self.assembly.table_bytes
    }

    /// Host sectors of the drive [512 B].
    pub fn logical_sectors(&self) -> u64 {
        self.assembly.logical_sectors()
    }

    /// Host sectors of a mapping unit [512 B].
    pub fn sectors_per_unit(&self) -> u64 {
        u64::from(self.assembly.geometry.sectors_per_unit())
    }

    /// What it is prepared as: a workload that does not wear it in leaves that to uniform writes.
    fn prepared_as(&self) -> PrefillMode {
        let uniform = self.prefill == PrefillMode::Steady && self.preparation.recipe().by_workload.is_none();
        if uniform { PrefillMode::SteadyUniform } else { self.prefill }
    }

    /// What the prepared drive depends on.
    pub fn shape(&self) -> Shape {
        Shape::new(self.prepared_as(), self.preparation.recipe(), self.assembly.ftl.clone())
    }

    /// Prepares the drive. The plan can no longer prepare another then.
    ///
    /// # Errors
    /// [`Error::Internal`] when a checked configuration cannot be prepared.
    pub fn prepare(&mut self) -> Result<PreparedDrive, Error> {
        let mut preparing = Preparing::of_plan(self)?;
        loop {
            if let Some(drive) = preparing.step()? {
                return Ok(drive);
            }
        }
    }

    /// Puts the device together around a prepared drive, of any kind, with its probe.
    ///
    /// # Errors
    /// [`Error::Internal`] when a checked drive cannot be built.
    pub fn device_of<K: Kind>(self, drive: PreparedDrive, probe: K::Probe) -> Result<Device<K>, Error> {
        self.assembly.device(&self.limits, drive.ftl, self.lanes, probe)
    }

    /// Prepares the drive and puts the device together.
    ///
    /// # Errors
    /// [`Error::Internal`] when a checked configuration cannot be prepared.
    pub fn into_device<K: Kind>(mut self, probe: K::Probe) -> Result<Device<K>, Error> {
        let drive = self.prepare()?;
        self.device_of(drive, probe)
    }
}

/// Reads the trace, and once more where several volumes have to be put in place. A compacted trace needs no
/// more of the drive than it touches, so that its map is made here too.
fn placed_summary(
    path: &Path,
    source: &WorkloadSource,
    options: &mut TraceOptions,
    notes: &mut Vec<String>,
) -> Result<TraceSummary, Error> {
    let wrong = |message: String| Error::Input(format!("{}: {message}", path.display()));
    let placement = source.volume_placement()?;
    let mut summary = TraceSummary::scan(path, options)?;
    options.format = Some(summary.format);
    // It names what the file holds, wherever that is put.
    let hash = summary.hash.clone();
    let chosen =
        summary.volumes.iter().filter(|volume| source.volume.is_empty() || source.volume.contains(&volume.name));
    let several = chosen.count() > 1;
    let map = match placement {
        VolumePlacement::InOrder if several => Some(AddressMap::in_order(&summary.volumes).ok_or_else(|| {
            wrong(
                "the volumes one after the other are larger than any drive; --volumes merge gives all \
                 the same addresses, --volume NAME replays some of them"
                    .to_owned(),
            )
        })?),
        VolumePlacement::Map(bases) => {
            Some(AddressMap::at(&summary.volumes, &bases).map_err(|message| wrong(format!("volumes: {message}")))?)
        }
        VolumePlacement::InOrder | VolumePlacement::Merge => None,
    };
    if let Some(map) = map {
        options.map = map;
        summary = TraceSummary::scan(path, options)?;
        notes.push(bases_note(&summary));
    } else if several {
        notes.push(format!("the trace's {} volumes are merged into one address space", summary.volumes.len()));
    }
    if source.addresses == Some(AddressPolicy::Compact) {
        summary = compacted_summary(path, options, summary, notes)?;
    }
    if !options.closed_loop {
        notes.extend(simultaneous_note(&summary));
    }
    summary.hash = hash;
    Ok(summary)
}

/// What is to be said of a trace whose times tell little of when requests arrived: more than one for each of them.
fn simultaneous_note(summary: &TraceSummary) -> Option<String> {
    let TraceSummary { requests, distinct_times, time_resolution_ns, .. } = *summary;
    if requests < SIMULTANEOUS_MIN * distinct_times || requests < 2 {
        return None;
    }
    if distinct_times == 1 {
        return Some("all requests of the trace have the same time; --closed-loop replays them one by one".to_owned());
    }
    Some(format!(
        "the trace's {requests} requests have {distinct_times} different times, multiples of {}: those of one time arrive \
         at once and wait for each other, which says more of the clock than of the drive; --closed-loop leaves times out",
        Duration(time_resolution_ns)
    ))
}

/// The summary of a trace whose touched pages lie next to each other.
fn compacted_summary(
    path: &Path,
    options: &mut TraceOptions,
    summary: TraceSummary,
    notes: &mut Vec<String>,
) -> Result<TraceSummary, Error> {
    let TraceSummary { hash, touched_pages, max_address, .. } = summary;
    options.map = options.map.clone().compacted(touched_pages.into());
    let summary = TraceSummary { hash, ..TraceSummary::scan(path, options)? };
    notes.push(format!(
        "addresses compacted: what is touched lies in the first {:.3} GiB instead of {:.3} GiB",
        gibibytes(summary.max_address),
        gibibytes(max_address)
    ));
    Ok(summary)
}

/// A trace that no drive is large enough for, with the options that make it smaller.
fn too_far(path: &Path, source: &WorkloadSource, problem: &str) -> Error {
    let smaller = match source.addresses {
        Some(AddressPolicy::Compact) => "",
        _ => "--addresses compact puts what is touched together; ",
    };
    let advice = "--set ftl.mapping_unit=16KiB makes a larger drive and smaller tables, --volume NAME replays some of \
                  its volumes";
    Error::Input(format!("{}: {problem}; {smaller}{advice}", path.display()))
}

/// What the result says about where volumes begin.
fn bases_note(summary: &TraceSummary) -> String {
    const SHOWN: usize = 8;
    let place = |volume: &TraceVolume| format!("{} from {} MiB on", volume.name, volume.base >> 20);
    let mut places: Vec<_> = summary.volumes.iter().take(SHOWN).map(place).collect();
    if summary.volumes.len() > SHOWN {
        places.push(format!("{} more", summary.volumes.len() - SHOWN));
    }
    format!("volumes: {}", places.join(", "))
}

/// The summary of a trace that fits on a drive of `drive_bytes`.
fn folded_summary(
    path: &Path,
    source: &WorkloadSource,
    options: &mut TraceOptions,
    summary: TraceSummary,
    drive_bytes: u64,
    notes: &mut Vec<String>,
) -> Result<TraceSummary, Error> {
    if summary.max_address <= drive_bytes {
        return Ok(summary);
    }
    if source.addresses == Some(AddressPolicy::Wrap) {
        options.map = options.map.clone().wrapped(drive_bytes / SECTOR_BYTES);
        let (reach, room) = (gibibytes(summary.max_address), gibibytes(drive_bytes));
        notes.push(format!("addresses wrapped: the trace reaches {reach:.2} GiB, the drive has {room:.2} GiB"));
        let hash = summary.hash;
        return Ok(TraceSummary { hash, ..TraceSummary::scan(path, options)? });
    }
    let advice = match source.addresses {
        Some(AddressPolicy::Compact) => "",
        _ => ", or --addresses wrap or compact",
    };
    Err(Error::Input(format!(
        "{}: the trace reaches address {} B ({:.2} GiB), beyond the drive's {} B ({:.2} GiB); use a larger drive \
         (geometry.blocks_per_plane, or the capacity of its memory), no --drive to have one sized to the trace{advice}",
        path.display(),
        summary.max_address,
        gibibytes(summary.max_address),
        drive_bytes,
        gibibytes(drive_bytes),
    )))
}

/// What is to be said where a drive was to be prepared and there is nothing to prepare.
fn prefill_note(request: &RunRequest, assembly: &Assembly) -> Option<String> {
    let asked = !matches!(request.prefill, PrefillMode::None | PrefillMode::Footprint);
    (asked && assembly.timing.is_none()).then(|| "memory that is overwritten in place needs no prefill".to_owned())
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// How the drive is prepared, and what is to be said of it. `own` are the writes that wear it in where they do.
pub(crate) fn preparation(
    request: &RunRequest,
    footprint: impl FnOnce() -> Vec<Range<u32>>,
    assembly: &Assembly,
    own: impl FnOnce() -> Result<WearIn, Error>,
) -> Result<(Preparation, Option<String>), Error> {
    let geometry = &assembly.geometry;
    let overwritten = 0..assembly.ftl.logical_units;
    let round = geometry.units_per_group() * geometry.pools();
    let made =
        |fill, overwriting| Preparation::new(fill, overwriting, round, request.seed).in_order(request.prefill_order);
    // What is overwritten in place needs no preparing: every sector is there.
    let mode = if geometry.pools() == 0 { PrefillMode::None } else { request.prefill };
    let whole = || vec![overwritten.clone()];
    Ok(match mode {
        PrefillMode::None => (made(Vec::new(), Overwriting::None), None),
        PrefillMode::Footprint => (made(footprint(), Overwriting::None), None),
        PrefillMode::Full => (made(whole(), Overwriting::None), None),
        PrefillMode::Raw => {
            let rest = u64::from(geometry.units()).saturating_sub(overwritten.len() as u64);
            (made(whole(), Overwriting::Units(overwritten.clone(), rest)), None)
        }
        PrefillMode::SteadyUniform => (made(whole(), Overwriting::UntilSteady(overwritten.clone())), None),
        PrefillMode::Steady => match own_of_flash(assembly, own)? {
            WearIn::Own(own) => {
                let note = own.note().map(str::to_owned);
                (made(whole(), Overwriting::ByWorkload(overwritten.clone(), own)), note)
            }
            WearIn::Uniform(reason) => {
                let note = format!("{reason}: the drive was worn in by uniform random writes (steady-uniform)");
                (made(whole(), Overwriting::UntilSteady(overwritten.clone())), Some(note))
            }
        },
    })
}

/// The writes that wear flash in; those of a drive with a tier are not known before its run.
fn own_of_flash(assembly: &Assembly, own: impl FnOnce() -> Result<WearIn, Error>) -> Result<WearIn, Error> {
    let reason = "which writes reach flash only the tier's run shows";
    if assembly.scm.media.is_empty() { own() } else { Ok(WearIn::Uniform(reason)) }
}

/// Where the run ends and what of it is not measured. The requests in all are unknown where time alone ends them.
pub(crate) fn limits(
    request: &RunRequest,
    total: Option<u64>,
    requests: Option<u64>,
    duration: Option<Ns>,
    closed_queue_depth: u32,
) -> Result<RunLimits, Error> {
    let total = total.into_iter().chain(requests).min();
    let warmup_requests = warmup_requests(request.warmup, total)?;
    Ok(RunLimits { requests, duration, warmup_requests, warmup_time: None, closed_queue_depth })
}

fn warmup_requests(warmup: Option<Warmup>, total: Option<u64>) -> Result<u64, Error> {
    let refused = |problem: String| Err(Error::Input(format!("warmup: {problem}")));
    let of_share = |share: f64| match total {
        _ if !(0.0..1.0).contains(&share) => refused(format!("{share} is neither a whole number nor a share below 1")),
        Some(total) => Ok((total as f64 * share) as u64),
        None if share > 0.0 => refused(format!(
            "{share} is a share of requests whose number is not known, as time alone ends the workload; give a number \
             of requests, or the job a ramp_time"
        )),
        None => Ok(0),
    };
    let requests = match warmup {
        None => 0,
        Some(Warmup::Requests(requests)) => requests,
        Some(Warmup::Share(share)) => of_share(share)?,
    };
    match total {
        Some(total) if requests > 0 && total > 0 && requests >= total => {
            refused(format!("{requests} requests are not fewer than the {total} of the workload"))
        }
        _ => Ok(requests),
    }
}
