//! The plan of requests that come from a file system, or go to a disk behind a cache on the drive.

use std::ops::Range;

use ninescope_engine::LaneConfig;
use ninescope_generators::host_cache::InitialContent;
use ninescope_generators::{
    FileSystem, FileSystemConfig, HostCache, HostCacheConfig, JobConfig, JobError, SyntheticJob,
};
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{TIME_MAX, Workload};

use super::limits::cached_limits;
use super::preconditioning::preconditioning;
use super::zones;
use super::{OnDrive, Tenants};
use crate::assembly::{Assembly, fit_drive};
use crate::config::{JobFile, JobWork};
use crate::error::Error;
use crate::precondition::WearIn;
use crate::request::{RunRequest, WorkloadSource};
use crate::result::WorkloadReport;

/// What a drive is worn in with here.
pub(super) const UNKNOWN_WRITES: WearIn =
    WearIn::Uniform("writes of a file system or behind a cache are not known before the run");

/// Requests to the disk, and what limits them.
struct DiskWork {
    workload: Box<dyn Workload>,
    /// Requests of the drive.
    requests: Option<u64>,
    duration: Option<Duration>,
    iodepth: u32,
}

/// A run of a job file with a file system or a host cache.
pub(super) fn of_job_file(request: &RunRequest, source: &WorkloadSource, file: JobFile) -> Result<OnDrive, Error> {
    let report = WorkloadReport::of_job_file(source, &file)?;
    let mut notes = vec!["synthetic workload".to_owned()];
    let mut drive = request.load_drive()?;
    if request.sizes_drive() {
        fit_drive(&mut drive, file.drive_bytes())
            .map_err(|unfit| unfit.into_error(|message| Error::Input(format!("{}: {message}", source.job_name()))))?;
        notes.push(format!("default drive: {} blocks per plane", drive.config.blocks_per_plane()));
    }
    let assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
    let JobFile { work, host_cache, zone_log, origin } = file;
    let wrong = |error: JobError| origin.error(&error);
    let in_store = zone_log.as_ref().map(|log| log.size);
    let disk = match work {
        JobWork::Job(mut job) => {
            job.size = job.size.or(in_store);
            disk_job(request, *job).map_err(wrong)?
        }
        JobWork::FileSystem(system) => {
            if host_cache.is_none() && zone_log.is_none() && system.disk_size.0 > assembly.first_namespace_bytes() {
                let drive_size = Bytes(assembly.first_namespace_bytes()).told();
                let problem = format!("{} is more than the drive of {drive_size} holds", system.disk_size);
                return Err(wrong(JobError::new("file_system.disk_size", problem)));
            }
            file_system(request, system).map_err(wrong)?
        }
    };
    let depth = source.iodepth.unwrap_or(disk.iodepth);
    let BehindCache { workload, filled } = match (host_cache, zone_log) {
        (Some(config), _) => behind_cache(config, &assembly, disk.workload).map_err(wrong)?,
        (None, Some(config)) => {
            zones::check_prefill(request, config.full, &assembly)?;
            let (log, filled) = zones::in_log(config, &assembly, disk.workload).map_err(wrong)?;
            BehindCache { workload: Box::new(log), filled }
        }
        (None, None) => BehindCache { workload: disk.workload, filled: whole(&assembly) },
    };
    let (preconditioning, note) = preconditioning(request, || filled, &assembly, || Ok(UNKNOWN_WRITES))?;
    notes.extend(note);
    let limits = cached_limits(request, disk.requests, disk.duration, depth)?;
    let lanes = vec![LaneConfig::new(workload, depth)];
    let (total_requests, tenants) = (disk.requests, Tenants::default());
    Ok(OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, notes })
}

fn whole(assembly: &Assembly) -> Vec<Range<u32>> {
    std::iter::once(0..assembly.addressed_units()).collect()
}

/// What comes out of a cache, and the units of the drive that it holds already.
pub(super) struct BehindCache {
    pub workload: Box<dyn Workload>,
    pub filled: Vec<Range<u32>>,
}

/// Puts a cache on the drive in front of a disk.
pub(super) fn behind_cache(
    config: HostCacheConfig,
    assembly: &Assembly,
    disk: Box<dyn Workload>,
) -> Result<BehindCache, JobError> {
    let full = config.initial == InitialContent::Full;
    let cache = HostCache::new(config, assembly.first_namespace_bytes(), disk)?;
    let units = cache.layout().bytes().div_ceil(u64::from(assembly.geometry.unit_bytes)) as u32;
    let filled = full.then_some(0..units.min(assembly.ftl.logical_units));
    Ok(BehindCache { workload: Box::new(cache), filled: filled.into_iter().collect() })
}

/// A job on the disk behind a cache. Its own limits count requests of the disk, those of the run requests of the drive.
fn disk_job(request: &RunRequest, mut job: JobConfig) -> Result<DiskWork, JobError> {
    if job.size.is_none() {
        let problem = "is absent: with a host cache the region lies on the disk behind it, and has a size of its own";
        return Err(JobError::new("job.size", problem));
    }
    let of_several = [
        ("job.numjobs", job.numjobs != 1),
        ("job.stonewall", job.stonewall),
        ("job.startdelay", job.startdelay.is_some()),
        ("job.ramp_time", job.ramp_time.is_some()),
        ("job.thinktime", job.thinktime.is_some()),
        ("job.channels", job.channels.is_some()),
        ("job.dies", job.dies.is_some()),
        ("job.planes", job.planes.is_some()),
    ];
    if let Some((key, _)) = of_several.into_iter().find(|&(_, is_set)| is_set) {
        return Err(JobError::new(
            key,
            "does not go with a host cache, behind which one job runs from the beginning on",
        ));
    }
    let disk_bytes = job.drive_bytes();
    let duration = request.duration.or(job.duration);
    if request.requests.is_some() || request.duration.is_some() {
        // The run ends it, however many requests of the disk that takes.
        (job.requests, job.io_size, job.passes) = (None, None, None);
        job.duration = Some(Duration(TIME_MAX.0 / 2)); // the longest that a job may have
    }
    let iodepth = job.iodepth;
    let workload = Box::new(SyntheticJob::new(job, disk_bytes / ninescope_model::SECTOR_BYTES, request.seed)?);
    Ok(DiskWork { workload, requests: request.requests, duration, iodepth })
}

fn file_system(request: &RunRequest, config: FileSystemConfig) -> Result<DiskWork, JobError> {
    let requests = request.requests.or(config.requests);
    let duration = request.duration.or(config.duration);
    if requests.is_none() && duration.is_none() {
        let problem = "is absent, and `duration` too: one of them has to end the workload, here or as an option";
        return Err(JobError::new("file_system.requests", problem));
    }
    let iodepth = config.iodepth;
    Ok(DiskWork { workload: Box::new(FileSystem::new(config, request.seed)?), requests, duration, iodepth })
}
