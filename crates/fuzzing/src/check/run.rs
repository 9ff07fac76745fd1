//! Running what was accepted to its end: small drives and few requests only, so that a check stays short.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ninescope::config::{DriveConfig, LoadedDrive};
use ninescope::{DriveSource, RunRequest, Simulation};
use ninescope_generators::JobConfig;

use super::refusal;

/// The drive of inputs that bring none, or one that is too large to be run here.
pub const SMALL_DRIVE: &str = include_str!("../../data/drive.toml");
/// The trace of requests that name one.
const SMALL_TRACE: &[u8] = include_bytes!("../../data/trace.csv");

/// The most units of a drive that is run, and entries of its buffers.
const UNITS_MAX: u128 = 1 << 14;
const ENTRIES_MAX: u128 = 1 << 18;
/// The most units of a drive that is built and not run: the default one has some 2.3 million.
const BUILT_UNITS_MAX: f64 = 4e6;
/// The most requests of a run, and units that they touch.
const REQUESTS_MAX: u64 = 64;
const TOUCHED_MAX: u64 = 1 << 16;
/// A run that takes more steps of the library than this hangs (a step is 50 000 events or 200 000 units prepared).
const STEPS_MAX: u32 = 400;

/// Whether a drive is small enough to be run here.
pub fn is_small(drive: &DriveConfig) -> bool {
    // Memory that is overwritten in place keeps 12 bytes per sector of 512 B.
    if drive.scm.as_ref().is_some_and(|scm| scm.capacity.0 > UNITS_MAX as u64 * 512 || scm.channels > 64) {
        return false;
    }
    let Some(shape) = &drive.geometry else { return drive.scm.is_some() };
    let product =
        |factors: &[u64]| factors.iter().fold(1_u128, |product, &factor| product.saturating_mul(factor.into()));
    let dies = product(&[shape.channels, shape.packages_per_channel, shape.dies_per_package].map(u64::from));
    let units_per_page = u128::from(shape.page_size.0 / drive.ftl.mapping_unit.0.max(1)).max(1);
    let blocks = dies.saturating_mul(product(&[shape.planes_per_die, shape.blocks_per_plane].map(u64::from)));
    let units = blocks.saturating_mul(u128::from(shape.pages_per_block)).saturating_mul(units_per_page);
    let buffered = u128::from(drive.controller.buffered_pages.unwrap_or(8)).saturating_mul(dies);
    let moved = u128::from(drive.ftl.gc_pages_in_flight.unwrap_or(16)).saturating_mul(dies.saturating_mul(4));
    units <= UNITS_MAX && buffered.saturating_add(moved.saturating_mul(units_per_page)) <= ENTRIES_MAX
}

/// Whether the default drive, changed as a request says and sized to its workload, is small enough to be built.
fn is_default_of_some_size(request: &RunRequest, drive: &DriveConfig) -> bool {
    let loaded = request.workload.as_ref().and_then(|workload| workload.load_jobs().ok().flatten());
    let end = |job: &JobConfig| job.offset.0.saturating_add(job.size.map_or(0, |size| size.0));
    let wanted = loaded.and_then(|loaded| loaded.jobs.iter().map(end).max()).unwrap_or_default();
    let Some(shape) = &drive.geometry else { return false };
    let bytes_per_block_index = shape.bytes_per_block_index();
    let fitted = (wanted.max(8 << 30) as f64 * (1.0 + drive.ftl.over_provisioning) / bytes_per_block_index).max(256.0);
    let units = fitted.max(f64::from(shape.blocks_per_plane)) * bytes_per_block_index / drive.ftl.mapping_unit.0 as f64;
    let buffers =
        u64::from(drive.controller.buffered_pages.unwrap_or(1).max(drive.ftl.gc_pages_in_flight.unwrap_or(1)));
    let dies = bytes_per_block_index / f64::from(shape.pages_per_block) / shape.page_size.0 as f64;
    // A size of nothing is no number here, and refused there.
    !(units > BUILT_UNITS_MAX || dies * buffers as f64 > BUILT_UNITS_MAX / 16.0)
}

/// Makes a request one that this machine alone decides and that ends soon: nothing is read but what is kept here.
///
/// # Panics
/// When the default drive is refused as an internal error.
pub fn bounded(mut request: RunRequest, drive: &LoadedDrive) -> Option<(RunRequest, Files)> {
    let is_job =
        request.workload.as_ref().is_some_and(|workload| workload.trace.is_none() && workload.job_file.is_none());
    if request.drive.is_none() && is_job && is_default_of_some_size(&request, &drive.config) {
        drop(Simulation::new(&request).map_err(|error| refusal(&error)));
    }
    if !is_small(&drive.config) || request.drive.is_none() {
        request.drive = Some(DriveSource::Toml(SMALL_DRIVE.to_owned()));
        let small = request.load_drive().ok()?;
        if !is_small(&small.config) {
            return None;
        }
    }
    let files = Files::new();
    request.snapshots = request.snapshots.map(|_| files.folder("snapshots"));
    request.from_snapshot = request.from_snapshot.map(|_| files.file("drive.snapshot", b""));
    let mut bytes = 4096;
    if let Some(workload) = &mut request.workload {
        if workload.trace.is_some() {
            workload.trace = Some(files.file("trace.csv", SMALL_TRACE));
        }
        workload.job_file =
            workload.job_file.as_ref().map(|_| files.file("job.toml", b"rw = \"randrw\"\nsize = \"64KiB\"\n"));
        workload.preset = None; // they are far from small
        if let Ok(Some(loaded)) = workload.load_jobs() {
            bytes = loaded.jobs.iter().map(|job| job.bs.0).max().unwrap_or_default().max(1);
            request.requests = few(request.requests, &loaded.jobs);
        }
    }
    let touched = TOUCHED_MAX.saturating_mul(drive.config.ftl.mapping_unit.0.max(1));
    let most = REQUESTS_MAX.min(touched / bytes).max(1);
    request.requests = request.requests.map(|requests| requests.min(most)).or(Some(most));
    Some((request, files))
}

/// The limit on requests, where the job's own is not one that ends soon.
fn few(limit: Option<u64>, jobs: &[JobConfig]) -> Option<u64> {
    limit.or_else(|| jobs.iter().try_fold(0_u64, |sum, job| Some(sum.saturating_add(job.requests?))))
}

/// Runs a bounded request to its end.
///
/// # Panics
/// When it is neither refused with a reason nor ends with a result.
pub fn to_the_end(request: &RunRequest) -> Result<String, String> {
    let mut simulation = Simulation::new(request).map_err(|error| refusal(&error))?;
    for _ in 0..STEPS_MAX {
        // A budget of nothing is one step.
        let progress = simulation.run_slice(Duration::ZERO).map_err(|error| refusal(&error))?;
        if progress.finished {
            let text = simulation.result_json(true).unwrap_or_else(|error| panic!("the result: {error}"));
            let result: serde_json::Value = serde_json::from_str(&text).expect("the result is JSON");
            assert_eq!(result["complete"], true, "a finished run is complete");
            return Ok(result["digest"].as_str().expect("a digest").to_owned());
        }
    }
    panic!("the run does not end: {request:?}");
}

/// Temporary files in a folder of their own that goes away with their owner.
pub struct Files(PathBuf);

impl Files {
    pub fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ninescope-fuzzing-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    /// Says where a folder is, which is not there yet.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.0.join(Path::new(name))
    }

    /// Writes a file and says where it is.
    pub fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(Path::new(name));
        std::fs::write(&path, content).expect("a temporary file");
        path
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
