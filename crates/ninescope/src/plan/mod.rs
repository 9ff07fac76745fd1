//! What a run will do, worked out from its request: the drive, its workload, how the drive is preconditioned and where the
//! run ends. Everything a user can get wrong is found here, before anything is simulated.
//!
//! Each kind of workload has a room, which goes the same way: the drive is described, made large enough and assembled, the
//! workload laid out on it; then come preconditioning, limits and the report of the workload.

mod buffer_parts;
mod cache_parts;
mod cached;
mod jobs;
mod lead_in;
mod limits;
mod listed;
mod partitions;
mod preconditioning;
mod tenant_traces;
mod trace;
mod unheard;
mod zones;

use std::ops::Range;

use ninescope_engine::{Device, Kind, LaneConfig, Limit, RunLimits};
use ninescope_ftl::Partition;
use ninescope_media::nand::PlaneReads;
use ninescope_model::{Arrival, Request};

use crate::assembly::{
    Assembly, completion_note, firmware_note, map_note, over_provisioning_note, sata_note, shared_buffer_note,
    suspend_note,
};
use crate::config::LoadedDrive;
use crate::error::Error;
use crate::precondition::{Preconditioning, PrefillMode};
use crate::prepare::Preparing;
use crate::request::RunRequest;
use crate::result::WorkloadReport;
use crate::snapshot::{PreparedDrive, Shape, SnapshotPlace};
use preconditioning::prefill_note;
use trace::BeforeDrive;

/// A run that has not begun.
pub struct Plan {
    pub(crate) assembly: Assembly,
    pub(crate) seed: u64,
    pub(crate) prefill: PrefillMode,
    pub(crate) limits: RunLimits,
    pub(crate) report: WorkloadReport,
    pub(crate) total_requests: Option<u64>,
    preconditioning: Preconditioning,
    /// Where the prepared drive may be.
    snapshot_place: Option<SnapshotPlace>,
    pub(crate) lanes: Vec<LaneConfig>,
    /// What the lanes are called, where there are several.
    pub(crate) job_names: Vec<String>,
    /// The partition of each lane; empty where the drive is one.
    pub(crate) job_partitions: Vec<u32>,
    pub(crate) notes: Vec<String>,
    /// What the result calls the drive.
    pub(crate) drive_name: String,
    /// How the run was asked for, for the result.
    pub(crate) run: serde_json::Value,
}

/// What results tell lanes apart by.
#[derive(Default)]
struct Tenants {
    /// What they are called, where there are several.
    names: Vec<String>,
    /// The partition of each; empty where the drive is one.
    partitions: Vec<u32>,
}

/// A workload on the drive that it runs on: what each kind of workload comes to.
struct OnDrive {
    assembly: Assembly,
    lanes: Vec<LaneConfig>,
    tenants: Tenants,
    /// Requests of the workload, where they are known.
    total_requests: Option<u64>,
    limits: RunLimits,
    preconditioning: Preconditioning,
    report: WorkloadReport,
    notes: Vec<String>,
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

impl Plan {
    /// Reads and checks everything a request names.
    ///
    /// # Errors
    /// [`Error::Input`] that names file, line or key.
    pub fn new(request: &RunRequest) -> Result<Self, Error> {
        let place = request.snapshot_place()?;
        let source = request.workload()?;
        let before_drive = BeforeDrive::of(&source)?;
        let no_jobs = || match request.only_job {
            Some(_) => Err(Error::Input("only_job: the workload has no jobs of which one could run alone".into())),
            None => Ok(()),
        };
        let on_drive = if let Some(file) = source.load_job_file()? {
            no_jobs()?;
            cached::of_job_file(request, &source, file)?
        } else if let Some(loaded) = source.load_jobs()? {
            jobs::on_drive(request, &source, loaded)?
        } else {
            no_jobs()?;
            trace::on_drive(request, source, before_drive)?
        };
        Ok(Self::of(request, place, on_drive))
    }

    /// A run of listed requests, in the order of their times, on the drive of `request`. Its workload is ignored;
    /// a footprint prefill writes every unit that the list reads.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    #[allow(clippy::needless_pass_by_value)] // whoever makes a list for a run hands it over
    pub fn of_requests(
        request: &RunRequest,
        requests: Vec<Request>,
        arrival: Arrival,
        queue_depth: u32,
    ) -> Result<Self, Error> {
        Self::of_dealt_requests(request, &requests, (arrival, queue_depth), (1, None), Vec::new())
    }

    /// The same requests, dealt in turn to so many tenants that share the drive, which falls into these partitions, or none; the
    /// first of them may be limited.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn of_dealt_requests(
        request: &RunRequest,
        requests: &[Request],
        arrival_and_depth: (Arrival, u32),
        (tenants, limit): (usize, Option<Limit>),
        partitions: Vec<Partition>,
    ) -> Result<Self, Error> {
        let place = request.snapshot_place()?;
        let tenants = (tenants.max(1), limit);
        let on_drive = listed::on_drive(request, requests, arrival_and_depth, tenants, partitions)?;
        Ok(Self::of(request, place, on_drive))
    }

    fn of(request: &RunRequest, snapshot_place: Option<SnapshotPlace>, on_drive: OnDrive) -> Self {
        let OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, mut notes } = on_drive;
        notes.extend(assembly.spare_note());
        notes.extend(prefill_note(request, &assembly));
        notes.extend(over_provisioning_note(&assembly.config));
        notes.extend(suspend_note(&assembly.config));
        notes.extend(map_note(&assembly));
        notes.extend(sata_note(&assembly.config));
        notes.extend(completion_note(&assembly.config));
        notes.extend(shared_buffer_note(&assembly.engine, &assembly.geometry));
        notes.extend(firmware_note(assembly.firmware.as_ref()));
        Self {
            assembly,
            seed: request.seed,
            prefill: request.prefill,
            total_requests: total_requests.into_iter().chain(limits.requests).min(),
            limits,
            report,
            preconditioning,
            snapshot_place,
            lanes,
            job_names: tenants.names,
            job_partitions: tenants.partitions,
            notes,
            drive_name: request.drive_name(),
            run: request.run_settings(),
        }
    }

    /// What is to be said about the run before it begins.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What has dies do several things at a time, if anything does.
    pub fn dies_do_several_things(&self) -> Option<&'static str> {
        let timing = self.assembly.timing.as_ref()?;
        match (timing.plane_reads, timing.cache_read) {
            (PlaneReads::Independently, _) => Some("nand.plane_reads is \"independently\""),
            (PlaneReads::Together, Some(_)) => Some("nand.cache_read is given"),
            (PlaneReads::Together, None) => None,
        }
    }

    /// Requests at its beginning that are not measured, as many as were asked for or as the lead-in takes.
    pub fn warmup_requests(&self) -> u64 {
        self.limits.warmup_requests
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

    /// What the drive's namespaces hold [B], and the number of that into which each lane goes.
    pub fn namespaces(&self) -> (Vec<u64>, Vec<u32>) {
        let bytes = self.assembly.config.namespaces.iter().map(|namespace| namespace.size.0).collect();
        let of_lane = |lane: usize| self.report.namespace_of_lane(lane).unwrap_or(1);
        (bytes, (0..self.lanes.len()).map(of_lane).collect())
    }

    /// What it is prepared as: a workload that does not wear it in leaves that to uniform writes.
    fn prepared_as(&self) -> PrefillMode {
        let uniform = self.prefill == PrefillMode::Steady && self.preconditioning.recipe().by_workload.is_none();
        if uniform { PrefillMode::SteadyUniform } else { self.prefill }
    }

    /// What the prepared drive depends on.
    pub fn shape(&self) -> Shape {
        Shape::new(self.prepared_as(), self.preconditioning.recipe(), self.assembly.ftl.clone())
    }

    /// Whether the drive may be formatted and sanitized.
    pub fn may_be_erased(&self) -> bool {
        self.assembly.not_erased_with().is_none()
    }

    /// Whether the drive is as its run finds it.
    pub(crate) fn nothing_to_prepare(&self) -> bool {
        self.preconditioning.is_of_nothing()
    }

    /// The preparation of the drive. The plan can no longer prepare another then.
    ///
    /// # Errors
    /// [`Error::Input`] when its snapshot cannot be there.
    pub(crate) fn preparing(&mut self) -> Result<Preparing, Error> {
        let (shape, place) = (self.shape(), self.snapshot_place.take());
        let preconditioning = std::mem::replace(&mut self.preconditioning, Preconditioning::of_nothing());
        Preparing::new(shape, preconditioning, place, self.assembly.timing.is_some())
    }

    /// Prepares the drive. The plan can no longer prepare another then.
    ///
    /// # Errors
    /// [`Error::Internal`] when a checked configuration cannot be prepared.
    pub fn prepare(&mut self) -> Result<PreparedDrive, Error> {
        let mut preparing = self.preparing()?;
        loop {
            if let Some(drive) = preparing.step()? {
                return Ok(drive);
            }
        }
    }

    /// Puts the device together around a prepared drive, of any kind, with its probe.
    ///
    /// # Errors
    /// [`Error::Input`] where the drive lay on a shelf whose temperature says nothing to it, [`Error::Internal`] when a checked
    /// drive cannot be built.
    pub fn device_of<K: Kind>(mut self, drive: PreparedDrive, probe: K::Probe) -> Result<Device<K>, Error> {
        self.assembly.lay_on(&drive.shelves)?;
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

/// What several tenants of a drive cannot share.
fn check_tenants(drive: &LoadedDrive, tenants: usize) -> Result<(), Error> {
    let takes_link = drive.config.ftl.map.chosen().rules().is_some_and(|rules| rules.host_link);
    if tenants > 1 && takes_link {
        let message =
            "is true, and several jobs share the drive: whose data waits behind what is fetched of the map is not told";
        return Err(drive.error_at("ftl.map.host_link", message));
    }
    Ok(())
}

/// The same numbers in ranges that do not overlap, in their order.
fn disjoint(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    for range in &mut ranges {
        range.start = range.start.max(end).min(range.end);
        end = end.max(range.end);
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}
