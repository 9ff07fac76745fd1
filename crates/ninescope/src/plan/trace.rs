//! The plan of a trace: its volumes and addresses are put on a drive that is large enough, or made so.

use std::ops::Range;
use std::path::PathBuf;

use ninescope_engine::LaneConfig;
use ninescope_generators::{HostCacheConfig, JobError, ZoneLogConfig};
use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use ninescope_model::{PAGE_BYTES, SECTOR_BYTES, Workload};
use ninescope_traces::{AddressMap, TraceOptions, TraceReader, TraceSummary, TraceVolume};

use super::cached::{BehindCache, UNKNOWN_WRITES, behind_cache};
use super::limits::{cached_limits, limits};
use super::preconditioning::preconditioning;
use super::{OnDrive, Tenants, unheard, zones};
use crate::assembly::{Assembly, Unfit, fit_drive};
use crate::config::{AddressPolicy, LoadedDrive};
use crate::error::Error;
use crate::precondition::OwnWrites;
use crate::request::{RunRequest, VolumePlacement, WorkloadSource};
use crate::result::WorkloadReport;

/// Times of a trace that stand for so many requests each are pointed out.
const SIMULTANEOUS_MIN: u64 = 2;

/// The largest mapping unit of the default drive [B].
const LARGE_UNIT: u64 = 16 << 10;

/// What to leave away so that the drive takes its size from the trace.
fn how_to_be_sized(request: &RunRequest) -> String {
    match (&request.drive, request.set_of_size()) {
        (None, Some(set)) => format!("no --set {set}"),
        _ => "no --drive".to_owned(),
    }
}

/// What takes the requests of a trace and asks the drive for others.
pub(super) enum BeforeDrive {
    /// A cache on the drive, in front of the disk that the trace is of.
    Cache(HostCacheConfig),
    /// A log on the zones of the drive.
    Log(ZoneLogConfig),
}

impl BeforeDrive {
    /// As the workload names it, if it does.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and key.
    pub fn of(source: &WorkloadSource) -> Result<Option<Self>, Error> {
        let log = source.load_zone_log()?.map(Self::Log);
        Ok(source.load_host_cache()?.map(Self::Cache).or(log))
    }

    /// What a drive must hold for it, as far as it says that [B].
    fn drive_bytes(&self) -> u64 {
        match self {
            Self::Cache(cache) => cache.size.map_or(0, |size| size.0),
            Self::Log(log) => log.size.0,
        }
    }
}

/// A trace on its way onto a drive.
pub(super) struct Trace {
    pub path: PathBuf,
    pub source: WorkloadSource,
    /// How it is read; what it is put on the drive with is added as that becomes known.
    pub options: TraceOptions,
    pub notes: Vec<String>,
}

/// The run of a trace, perhaps behind a cache on the drive or through a log on its zones.
pub(super) fn on_drive(
    request: &RunRequest,
    source: WorkloadSource,
    before_drive: Option<BeforeDrive>,
) -> Result<OnDrive, Error> {
    let mut drive = request.load_drive()?;
    let mut trace = Trace::new(source)?;
    let mut summary = trace.placed()?;
    if request.sizes_drive() {
        summary = trace.sized(&mut drive, before_drive.as_ref(), summary)?;
    }
    let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
    if let Some(before_drive) = before_drive {
        return through(request, trace, summary, before_drive, assembly);
    }
    let summary = trace.folded(summary, assembly.first_namespace_bytes(), &how_to_be_sized(request))?;
    let Trace { path, source, options, mut notes } = trace;
    notes.extend(unheard::of_stream(summary.highest_stream, "the trace", &assembly));
    let own = || OwnWrites::of_trace(&path, &options, &assembly);
    let (preconditioning, note) = preconditioning(request, || footprint(&summary, 0, &assembly), &assembly, own)?;
    notes.extend(note);
    let total = summary.requests * u64::from(options.loop_count);
    let depth = source.iodepth.unwrap_or(u32::MAX);
    let duration = request.duration.map(|duration| Ns(duration.0));
    let limits = limits(request, Some(total), request.requests, duration, depth)?;
    let report = WorkloadReport::of_trace(&path, &source, &summary)?;
    let lanes = vec![LaneConfig::new(Box::new(TraceReader::open(&path, options)?), depth)];
    let (total_requests, tenants) = (Some(total), Tenants::default());
    Ok(OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, notes })
}

/// A run of a trace whose requests go to something before the drive, in which the drive's own begin.
fn through(
    request: &RunRequest,
    mut trace: Trace,
    summary: TraceSummary,
    before_drive: BeforeDrive,
    assembly: Assembly,
) -> Result<OnDrive, Error> {
    let summary = match &before_drive {
        BeforeDrive::Cache(_) => summary,
        BeforeDrive::Log(log) => trace.within_log(summary, log)?,
    };
    let Trace { path, source, options, mut notes } = trace;
    let report = WorkloadReport::of_trace(&path, &source, &summary)?;
    let report = match &before_drive {
        BeforeDrive::Cache(cache) => report.behind(cache)?,
        BeforeDrive::Log(log) => report.through(log)?,
    };
    let name = source.host_cache.as_ref().or(source.zone_log.as_ref()).cloned().unwrap_or_default();
    let wrong = |error: JobError| Error::Input(format!("{}: {error}", name.display()));
    let trace: Box<dyn Workload> = Box::new(TraceReader::open(&path, options)?);
    let BehindCache { workload, filled } = match before_drive {
        BeforeDrive::Cache(cache) => behind_cache(cache, &assembly, trace).map_err(wrong)?,
        BeforeDrive::Log(log) => {
            zones::check_prefill(request, log.full, &assembly)?;
            let (log, filled) = zones::in_log(log, &assembly, trace).map_err(wrong)?;
            BehindCache { workload: Box::new(log), filled }
        }
    };
    let (preconditioning, note) = preconditioning(request, || filled, &assembly, || Ok(UNKNOWN_WRITES))?;
    notes.extend(note);
    let depth = source.iodepth.unwrap_or(u32::MAX);
    let limits = cached_limits(request, request.requests, request.duration, depth)?;
    let lanes = vec![LaneConfig::new(workload, depth)];
    let (total_requests, tenants) = (request.requests, Tenants::default());
    Ok(OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, notes })
}

/// The units that a trace reads whose addresses count from `offset` on [B].
pub(super) fn footprint(summary: &TraceSummary, offset: u64, assembly: &Assembly) -> Vec<Range<u32>> {
    let unit_bytes = u64::from(assembly.geometry.unit_bytes);
    let units = |pages: Range<u64>| {
        // A page may reach beyond an odd end of the drive.
        let end = (offset + pages.end * PAGE_BYTES).div_ceil(unit_bytes) as u32;
        ((offset + pages.start * PAGE_BYTES) / unit_bytes) as u32..end.min(assembly.ftl.logical_units)
    };
    summary.read_pages.ranges().map(units).collect()
}

impl Trace {
    pub fn new(source: WorkloadSource) -> Result<Self, Error> {
        let path = source.trace.clone().unwrap_or_default();
        let options = TraceOptions {
            format: source.trace_format()?,
            columns: source.trace_columns()?,
            strict: source.strict,
            time_scale: source.time_scale.unwrap_or(1.0),
            loop_count: source.loop_count.unwrap_or(1),
            closed_loop: source.closed_loop,
            trims: source.trims,
            stream: source.stream.unwrap_or(0),
            volume: source.volume.clone(),
            ..TraceOptions::default()
        };
        options.validate()?;
        let refused = |problem: &str| Err(Error::Input(format!("workload.{problem}")));
        if source.iodepth == Some(0) {
            return refused("iodepth: 0 requests outstanding do no work; write at least 1");
        }
        let mut notes = Vec::new();
        if source.iodepth.is_some() && !options.closed_loop && source.host_cache.is_none() && source.zone_log.is_none()
        {
            notes.push(
                "iodepth says nothing: requests arrive as in the trace; a closed loop keeps so many in flight"
                    .to_owned(),
            );
        }
        if options.closed_loop && source.time_scale.is_some_and(|scale| scale.to_bits() != 1_f64.to_bits()) {
            notes.push("time_scale is ignored: a closed loop leaves the times of the trace out".to_owned());
        }
        Ok(Self { path, source, options, notes })
    }

    /// Reads the trace, and once more where several volumes have to be put in place. A compacted trace needs no
    /// more of the drive than it touches, so that its map is made here too.
    pub fn placed(&mut self) -> Result<TraceSummary, Error> {
        let Self { path, source, options, notes } = self;
        let wrong = |message: String| Error::Input(format!("{}: {message}", path.display()));
        let placement = source.volume_placement()?;
        let mut summary = TraceSummary::scan(path, options)?;
        options.format = Some(summary.format);
        // It names what the file holds, wherever that is put.
        let hash = summary.hash.clone();
        notes.extend(summary.remarks.iter().map(|remark| format!("trace: {remark}")));
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
        if self.source.addresses == Some(AddressPolicy::Compact) {
            summary = self.compacted(summary)?;
        }
        if !self.options.closed_loop {
            self.notes.extend(simultaneous_note(&summary));
        }
        summary.hash = hash;
        Ok(summary)
    }

    /// Makes the default drive large enough; where none is, what the trace touches is put together.
    fn sized(
        &mut self,
        drive: &mut LoadedDrive,
        before_drive: Option<&BeforeDrive>,
        mut summary: TraceSummary,
    ) -> Result<TraceSummary, Error> {
        // Behind a cache the addresses are those of a disk, before a log its own.
        let reach = before_drive.map_or(summary.max_address, BeforeDrive::drive_bytes);
        let fitted = match fit_drive(drive, reach) {
            Err(Unfit::TooFar(why)) if before_drive.is_none() && self.source.addresses.is_none() => {
                self.notes.push(format!("{why}: replayed as with --addresses compact"));
                self.source.addresses = Some(AddressPolicy::Compact);
                summary = self.compacted(summary)?;
                fit_drive(drive, summary.max_address)
            }
            fitted => fitted,
        };
        let ftl = &drive.config.ftl;
        let most = LARGE_UNIT as f64 * f64::from(u32::MAX) / (1.0 + ftl.over_provisioning);
        let larger_units_help = ftl.mapping_unit.0 < LARGE_UNIT && (reach as f64) < most;
        fitted.map_err(|unfit| unfit.into_error(|message| self.too_far(&message, larger_units_help)))?;
        let blocks = drive.config.blocks_per_plane();
        self.notes.push(format!("default drive, sized to the trace: {blocks} blocks per plane"));
        Ok(summary)
    }

    /// The summary of a trace whose touched pages lie next to each other.
    fn compacted(&mut self, summary: TraceSummary) -> Result<TraceSummary, Error> {
        let Self { path, options, notes, .. } = self;
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

    /// The summary of a trace that fits on a drive of `drive_bytes`; `sized` says how there would be one sized to it.
    pub fn folded(&mut self, summary: TraceSummary, drive_bytes: u64, sized: &str) -> Result<TraceSummary, Error> {
        let Self { path, source, options, notes } = self;
        if summary.max_address <= drive_bytes {
            return Ok(summary);
        }
        if source.addresses == Some(AddressPolicy::Wrap) {
            options.map = options.map.clone().wrapped(drive_bytes / SECTOR_BYTES);
            let (reach, room) = (gibibytes(summary.max_address), gibibytes(drive_bytes));
            notes.push(format!(
                "addresses wrapped: the trace reaches {reach:.2} GiB, and there is room for {room:.2} GiB"
            ));
            let hash = summary.hash;
            return Ok(TraceSummary { hash, ..TraceSummary::scan(path, options)? });
        }
        let advice = match source.addresses {
            Some(AddressPolicy::Compact) => "",
            _ => ", or --addresses wrap or compact",
        };
        Err(Error::Input(format!(
            "{}: the trace reaches address {} B ({:.2} GiB), beyond the drive's {} B ({:.2} GiB); use a larger drive \
             (geometry.blocks_per_plane, or the capacity of its memory), {sized} to have one sized to the trace{advice}",
            path.display(),
            summary.max_address,
            gibibytes(summary.max_address),
            drive_bytes,
            gibibytes(drive_bytes),
        )))
    }

    /// The summary of a trace that goes to a log on zones, which holds so much.
    fn within_log(&mut self, summary: TraceSummary, log: &ZoneLogConfig) -> Result<TraceSummary, Error> {
        if log.size.0 == 0 {
            let name = self.source.zone_log.clone().unwrap_or_default();
            return Err(Error::Input(format!("{}: zone_log.size is absent: what the log holds", name.display())));
        }
        if summary.max_address > log.size.0 && self.source.addresses != Some(AddressPolicy::Wrap) {
            let (reach, room) = (gibibytes(summary.max_address), log.size);
            let others = if self.source.addresses.is_some() { "wrap" } else { "wrap or compact" };
            return Err(Error::Input(format!(
                "{}: the trace reaches {reach:.3} GiB, beyond the log's {room} (zone_log.size); take a larger one, \
                 or --addresses {others}",
                self.path.display()
            )));
        }
        let (highest, logs) = (summary.highest_stream, log.logs);
        if highest > 0 && logs == 1 {
            self.notes
                .push("`stream` (the trace) changes nothing of a log on zones that is one (zone_log.logs)".to_owned());
        } else if logs > 0 && u32::from(highest) >= logs {
            let last = logs - 1;
            self.notes
                .push(format!("`stream` of the trace is {highest}, and zone_log.logs has 0 to {last}, which takes it"));
        }
        self.folded(summary, log.size.0, "")
    }

    /// A trace that no drive is large enough for, with the options that make it smaller.
    fn too_far(&self, problem: &str, larger_units_help: bool) -> Error {
        let Self { path, source, .. } = self;
        let smaller = match source.addresses {
            Some(AddressPolicy::Compact) => "",
            _ => "--addresses compact puts what is touched together; ",
        };
        let larger = "--set ftl.mapping_unit=16KiB makes a larger drive and smaller tables, ";
        let units = if larger_units_help { larger } else { "" };
        Error::Input(format!(
            "{}: {problem}; {smaller}{units}--volume NAME replays some of its volumes",
            path.display()
        ))
    }
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

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}
