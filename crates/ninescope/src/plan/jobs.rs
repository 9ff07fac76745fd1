//! The plan of jobs: copies are made, the limits of the run applied, each laid out on the drive.

use std::collections::BTreeSet;
use std::ops::Range;

use ninescope_engine::{Interface, LaneConfig, Think};
use ninescope_generators::{AccessPattern, JobConfig, JobError, JobRegion, SyntheticJob};
use ninescope_kernel::Ns;
use ninescope_model::{LANES_MAX, Op, QUEUES_MAX, Turns};

use super::buffer_parts;
use super::cache_parts::{self, Refused};
use super::lead_in;
use super::limits::{limit_of, limits};
use super::partitions::{self, OfJobs};
use super::preconditioning::preconditioning;
use super::tenant_traces::{NAMELESS, TenantTraces};
use super::unheard;
use super::{OnDrive, Tenants, check_tenants, disjoint};
use crate::assembly::{Assembly, fit_drive};
use crate::config::{JobOptions, LoadedDrive, LoadedJobs, words_of};
use crate::error::Error;
use crate::precondition::{OwnWrites, WearIn};
use crate::request::{RunRequest, WorkloadSource};
use crate::result::WorkloadReport;

/// What is to be said where a drive is worn in by a job that writes in passes.
const IN_PASSES: &str = "a job writes each block once in each pass over its region: write amplification goes up and down \
                         with the pass, and only whole passes show its mean, which is declared";

/// What a drive is worn in with where traces share it with jobs.
const WITH_TRACES: WearIn = WearIn::Uniform("of traces beside others it is not asked what they write");

/// The run of jobs, and of traces beside them.
pub(super) fn on_drive(
    request: &RunRequest,
    source: &WorkloadSource,
    mut loaded: LoadedJobs,
) -> Result<OnDrive, Error> {
    let mut notes = if loaded.jobs.is_empty() { Vec::new() } else { vec!["synthetic workload".to_owned()] };
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
    let mut assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
    jobs.check_queues(&assembly)?;
    jobs.check_zones(&assembly)?;
    jobs.check_erases(&assembly)?;
    let regions = jobs.laid_out(&assembly)?;
    jobs.traces.put_on(&assembly)?;
    notes.extend(jobs.traces.notes());
    let mut units = jobs.units(&regions, u64::from(assembly.geometry.sectors_per_unit()));
    let OfJobs { partitions, of_job } = jobs.partitions(&units, request, &assembly)?;
    assembly.ftl.partitions = partitions;
    jobs.divide_memory(&drive, &mut assembly)?;
    if assembly.ftl.zones.is_some() {
        units = jobs.units_only_read(units);
    }
    units.extend(jobs.traces.units(&assembly));
    let units = disjoint(units);
    let own = || {
        if jobs.traces.is_empty() { OwnWrites::of_jobs(&jobs.list, &assembly, request.seed) } else { Ok(WITH_TRACES) }
    };
    let (preconditioning, note) = preconditioning(request, || units, &assembly, own)?;
    notes.extend(note);
    let only = request.only_job.as_deref().map(|name| jobs.named(name)).transpose()?;
    let report = jobs.report(source, only)?;
    let total_requests = jobs.requests(&regions, only);
    let mut tenants = Tenants { names: jobs.names().map(str::to_owned).collect(), partitions: of_job };
    // A job alone was given its limit itself.
    let most = request.requests.filter(|_| jobs.several() || jobs.list.is_empty());
    let duration = request.duration.map(|duration| Ns(duration.0));
    let ramp = jobs.ramp_time()?;
    let mut limits = limits(request, total_requests, most, duration, u32::MAX)?;
    let is_warmed = request.warmup.is_some_and(|warmup| !warmup.is_nothing());
    if is_warmed && ramp.is_some() {
        notes.push("the run's warm-up takes the place of ramp_time".to_owned());
    } else {
        limits.warmup_time = ramp;
    }
    let recipe = preconditioning.recipe();
    if recipe.by_workload.is_some() && jobs.list.iter().any(JobConfig::writes_in_passes) {
        notes.push(IN_PASSES.to_owned());
    }
    if request.warmup.is_none() && ramp.is_none() && recipe.until_steady && jobs.are_copies_of_one() {
        limits.warmup_requests = jobs.lead_in(&regions, &assembly);
        notes.extend(lead_in::note(limits.warmup_requests));
    }
    notes.extend(unheard::notes(&jobs.list, jobs.several(), &assembly));
    notes.extend(jobs.traces.streams_unheard(&assembly));
    let mut lanes = jobs.lanes(&assembly, request.seed)?;
    lanes.extend(jobs.traces.lanes()?);
    if let Some(only) = only {
        // What all of them would do has prepared the drive, and laid out its regions.
        lanes = lanes.into_iter().skip(only).take(1).collect();
        tenants.partitions = tenants.partitions.into_iter().skip(only).take(1).collect();
        if let Some(tier) = &mut assembly.tier {
            tier.part_of_tenant = tier.part_of_tenant.iter().skip(only).take(1).copied().collect();
        }
    }
    check_tenants(&drive, lanes.len())?;
    if lanes.len() == 1 {
        tenants.names.clear();
        buffer_parts::leave_one(&mut assembly.engine, only.unwrap_or_default());
    }
    Ok(OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, notes })
}

/// The jobs of a run, every copy by itself, and behind them the traces.
struct Jobs {
    list: Vec<JobConfig>,
    traces: TenantTraces,
    /// Of each, which of the described jobs it is or was copied from.
    origins: Vec<usize>,
    described: LoadedJobs,
}

impl Jobs {
    /// Makes the copies that `numjobs` asks for.
    ///
    /// # Errors
    /// [`Error::Input`] for too many jobs, and for two of one name, which would draw the same random numbers.
    fn new(mut described: LoadedJobs) -> Result<Self, Error> {
        let traces = TenantTraces::read(std::mem::take(&mut described.traces))?;
        let (mut list, mut origins) = (Vec::new(), Vec::new());
        for (index, job) in described.jobs.iter().enumerate() {
            let name = (described.jobs.len() > 1).then_some(job.name.as_str());
            if job.name.trim().is_empty() {
                return Err(described.error_at(index, name, &JobError::new("name", NAMELESS)));
            }
            if job.requests == Some(0) {
                // Whatever number the run says in its place.
                let error = JobError::new("requests", "0 is not a number of requests; write at least 1");
                return Err(described.error_at(index, name, &error));
            }
            let copies = job.copies(LANES_MAX).map_err(|error| described.error_at(index, name, &error))?;
            origins.resize(origins.len() + copies.len(), index);
            list.extend(copies);
        }
        let all = list.len() + traces.names().count();
        if all > LANES_MAX {
            let problem = format!("jobs: {all} are more than the {LANES_MAX} that run at the same time");
            return Err(described.error(&problem));
        }
        let jobs = Self { list, traces, origins, described };
        jobs.check_names()?;
        Ok(jobs)
    }

    fn check_names(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        let second = self.list.iter().position(|job| !names.insert(job.name.as_str()));
        if second.is_none() {
            let second = self.traces.names().position(|name| !names.insert(name));
            return second.map_or(Ok(()), |index| Err(self.traces.called_twice(index)));
        }
        second.map_or(Ok(()), |index| {
            let problem = format!(
                "two are called `{}`; give each a `name` of its own, which its random numbers depend on too",
                self.list[index].name
            );
            Err(self.refused(index, &JobError::new("name", problem)))
        })
    }

    /// What a job was described with, in the words of its file: option and value.
    fn options(&self) -> JobOptions {
        let mut options = self.described.options(&self.origins, &self.list);
        options.jobs.extend(self.traces.descriptions().map(|(name, trace)| (name.to_owned(), words_of(trace))));
        options
    }

    /// What each lane is called.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|job| job.name.as_str()).chain(self.traces.names())
    }

    /// A problem of a job, or behind these of a trace.
    fn refused(&self, index: usize, error: &JobError) -> Error {
        if let Some(trace) = index.checked_sub(self.list.len()) {
            return self.traces.refused(trace, error);
        }
        let (name, origin) = (self.list[index].name.as_str(), self.origins[index]);
        let put_there_by_steps = error.key == "offset" && !name.ends_with(".0") && self.described.steps(origin);
        let key = if put_there_by_steps { "offset_increment" } else { error.key };
        self.described.error_at(origin, self.several().then_some(name), &JobError::new(key, error.problem.as_str()))
    }

    /// Whether all do the same at the same time, so that any of them stands for all.
    fn are_copies_of_one(&self) -> bool {
        let follows = |job: &JobConfig| job.stonewall || job.startdelay.is_some();
        self.traces.is_empty()
            && self.origins.iter().all(|&origin| origin == 0)
            && !(self.several() && self.list.iter().any(follows))
    }

    /// The job of that name, which is to run alone.
    ///
    /// # Errors
    /// [`Error::Input`] where there is none.
    fn named(&self, name: &str) -> Result<usize, Error> {
        self.names().position(|other| other == name).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            Error::Input(format!("only_job: there is no job `{name}`, there are {}", names.join(", ")))
        })
    }

    /// What the result says of them, or of the one that runs alone.
    fn report(&self, source: &WorkloadSource, only: Option<usize>) -> Result<WorkloadReport, Error> {
        let mut options = self.options();
        let traces = self.traces.reports()?;
        let Some(only) = only else { return WorkloadReport::of_jobs(source, &self.list, traces, options) };
        options.jobs = options.jobs.into_iter().skip(only).take(1).collect();
        let job = self.list.get(only).map(std::slice::from_ref).unwrap_or_default();
        let trace = only.checked_sub(self.list.len()).and_then(|index| traces.into_iter().nth(index));
        WorkloadReport::of_jobs(source, job, trace.into_iter().collect(), options)
    }

    fn several(&self) -> bool {
        self.list.len() + self.traces.names().count() > 1
    }

    /// Applies what the run says: to a job alone in place of its own limits, of several to those that have none.
    fn limit(&mut self, request: &RunRequest, iodepth: Option<u32>) {
        let several = self.several();
        for job in &mut self.list {
            if !several {
                job.requests = request.requests.or(job.requests);
                job.duration = request.duration.or(job.duration);
                let has_none = request.requests.is_none() && request.duration.is_none();
                (job.io_size, job.passes) = (job.io_size.filter(|_| has_none), job.passes.filter(|_| has_none));
            } else if !job.has_an_end() {
                (job.requests, job.duration) = (request.requests, request.duration);
            }
            job.iodepth = iodepth.unwrap_or(job.iodepth);
        }
    }

    /// What a drive must hold for everything that the jobs name [B].
    fn end(&self) -> u64 {
        self.list.iter().map(JobConfig::drive_bytes).max().unwrap_or_default().max(self.traces.end())
    }

    /// What is wrong where no drive is large enough for [`Jobs::end`].
    fn beyond_any_drive(&self, problem: String) -> Error {
        if self.list.iter().all(|job| job.drive_bytes() < self.traces.end()) {
            return self
                .described
                .error(&format!("{problem}; `addresses = \"compact\"` puts together what a trace touches"));
        }
        let farthest = (0..self.list.len()).max_by_key(|&index| self.list[index].drive_bytes()).unwrap_or_default();
        let job = &self.list[farthest];
        let begins_beyond_its_size = job.size.is_none_or(|size| job.offset > size);
        let key = if begins_beyond_its_size { job.key_of_begin() } else { "size" };
        self.refused(farthest, &JobError::new(key, problem))
    }

    /// Lays every job out on the drive, from which on it is known where its passes end.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job, where there are several, and the key.
    fn laid_out(&mut self, assembly: &Assembly) -> Result<Vec<JobRegion>, Error> {
        self.go_into_namespaces(assembly)?;
        let region = |(index, job): (usize, &JobConfig)| {
            let region = job.validate(assembly.logical_bytes()).and_then(|region| {
                check_that_time_passes(job, assembly)?;
                Ok(region)
            });
            region.map_err(|error| self.refused(index, &error))
        };
        let regions: Vec<JobRegion> = self.list.iter().enumerate().map(region).collect::<Result<_, _>>()?;
        for (job, region) in self.list.iter_mut().zip(&regions) {
            *job = std::mem::take(job).ended_by_passes(region);
        }
        Ok(regions)
    }

    /// Lays jobs out in the namespaces of a drive that has any: their addresses are those of the drive from then on.
    fn go_into_namespaces(&mut self, assembly: &Assembly) -> Result<(), Error> {
        let (count, has_any) = (assembly.config.namespaces.len(), !assembly.config.namespaces.is_empty());
        for index in 0..self.list.len() {
            let job = &self.list[index];
            let number = job.namespace.unwrap_or(1);
            let Some(bytes) = assembly.namespace(number) else {
                let problem =
                    format!("there is no namespace {number}, the drive has {} ([[namespaces]])", count.max(1));
                return Err(self.refused(index, &JobError::new("namespace", problem)));
            };
            if has_any {
                let region = job.validate(bytes.end - bytes.start).map_err(|error| self.refused(index, &error))?;
                self.list[index] = std::mem::take(&mut self.list[index]).within(bytes.start, &region);
            }
        }
        Ok(())
    }

    /// The units that each job can touch.
    fn units(&self, regions: &[JobRegion], sectors_per_unit: u64) -> Vec<Range<u32>> {
        let units = |(job, region): (&JobConfig, &JobRegion)| {
            let end = region.end_sector(job.sizes_differ() || job.percentage_random < 100);
            (region.first_sector / sectors_per_unit) as u32..end.div_ceil(sectors_per_unit) as u32
        };
        self.list.iter().zip(regions).map(units).collect()
    }

    /// Of these units of each job, those of jobs that write nothing: a zone that is full before the run takes no write.
    fn units_only_read(&self, units: Vec<Range<u32>>) -> Vec<Range<u32>> {
        let reads = |(job, _): &(&JobConfig, Range<u32>)| !job.rw.ops().contains(&Op::Write);
        self.list.iter().zip(units).filter(reads).map(|(_, units)| units).collect()
    }

    /// The partitions that the jobs, whose regions are these `units`, and the traces ask for.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job and the key.
    fn partitions(&self, units: &[Range<u32>], request: &RunRequest, assembly: &Assembly) -> Result<OfJobs, Error> {
        let refused = |(index, error): (usize, JobError)| self.refused(index, &error);
        let mut tenants: Vec<partitions::Tenant<'_>> = self.list.iter().zip(units.iter().cloned()).collect();
        tenants.extend(self.traces.regions(assembly));
        let names_planes =
            |(index, (job, _)): (usize, &partitions::Tenant<'_>)| Some((index, partitions::names_planes(job)?));
        if let Some((index, key)) = tenants.iter().enumerate().find_map(names_planes) {
            partitions::check_drive(request.prefill, assembly)
                .map_err(|problem| refused((index, JobError::new(key, problem))))?;
        }
        partitions::of_jobs(&tenants, &assembly.ftl).map_err(refused)
    }

    /// Gives jobs and traces their parts of the memory above another, and of the write buffer.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job and the key, or that of the drive.
    fn divide_memory(&self, drive: &LoadedDrive, assembly: &mut Assembly) -> Result<(), Error> {
        let tenants: Vec<&JobConfig> = self.list.iter().chain(self.traces.stand_ins()).collect();
        buffer_parts::divide(assembly, &tenants).map_err(|(index, error)| self.refused(index, &error))?;
        cache_parts::divide(assembly, &tenants).map_err(|refused| match refused {
            Refused::Job(index, error) => self.refused(index, &error),
            Refused::Drive(problem) => drive.error_at("tier.parts", &problem),
        })
    }

    /// How many requests they make in all, or one of them alone, where that is known.
    fn requests(&self, regions: &[JobRegion], only: Option<usize>) -> Option<u64> {
        let runs = |&(index, _): &(usize, _)| only.is_none_or(|only| only == index);
        let jobs = self.list.iter().zip(regions).enumerate().filter(runs);
        let mut requests = jobs.map(|(_, (job, region))| job.requests_in_all(region));
        let of_jobs = requests.try_fold(0_u64, |sum, requests| Some(sum.saturating_add(requests?)))?;
        let of_traces = match only {
            Some(only) if only < self.list.len() => 0,
            only => self.traces.requests(only.map(|only| only - self.list.len()))?,
        };
        Some(of_jobs.saturating_add(of_traces))
    }

    /// How many requests lead in after preparing to a steady state.
    pub fn lead_in(&self, regions: &[JobRegion], assembly: &Assembly) -> u64 {
        let geometry = &assembly.geometry;
        let round_units = u64::from(geometry.units_per_group()) * u64::from(geometry.pools());
        lead_in::requests(&self.list, regions, round_units, u64::from(geometry.unit_bytes))
    }

    /// How long the run is not measured.
    ///
    /// # Errors
    /// [`Error::Input`] where the jobs do not agree on it: a run is measured from one time on.
    fn ramp_time(&self) -> Result<Option<Ns>, Error> {
        let ramp = self.list.first().and_then(|job| job.ramp_time);
        let refused = |index: usize, problem: &str| Err(self.refused(index, &JobError::new("ramp_time", problem)));
        if let Some(index) = self.list.iter().position(|job| job.ramp_time != ramp) {
            return refused(index, "the run is measured from one time on, so that it must be the same for all jobs");
        }
        let waits = |(index, job): (usize, &JobConfig)| job.startdelay.is_some() || (job.stonewall && index > 0);
        match self.list.iter().enumerate().position(waits) {
            Some(index) if ramp.is_some() => {
                refused(index, "counts from the beginning of the run, at which this job does not begin; give --warmup")
            }
            _ => Ok(ramp.map(|ramp| Ns(ramp.0))),
        }
    }

    /// That the drive has as many queues as the jobs want.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first one that has none left.
    fn check_queues(&self, assembly: &Assembly) -> Result<(), Error> {
        let sata = assembly.config.controller.interface == Interface::Sata;
        let problem = "the drive has one queue for all jobs (controller.interface = \"sata\")";
        for (index, job) in self.list.iter().chain(self.traces.stand_ins()).enumerate().filter(|_| sata) {
            let of_nvme = [
                ("queues", job.queues.is_some_and(|queues| queues > 1)),
                ("commands_per_queue", job.commands_per_queue.is_some()),
            ];
            if let Some((key, _)) = of_nvme.into_iter().find(|(_, given)| *given) {
                return Err(self.refused(index, &JobError::new(key, problem)));
            }
        }
        let most = assembly.config.controller.queues.unwrap_or(QUEUES_MAX);
        let mut sum = 0_u64;
        for (index, job) in self.list.iter().enumerate() {
            sum += u64::from(job.queues.unwrap_or(1));
            if sum > u64::from(most) {
                let problem =
                    format!("there are {sum} with those of the jobs before, the drive has {most} (controller.queues)");
                return Err(self.refused(index, &JobError::new("queues", problem)));
            }
        }
        Ok(())
    }

    /// What jobs ask of zones is asked of a drive that has some, and not what these cannot do.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first job at fault.
    fn check_zones(&self, assembly: &Assembly) -> Result<(), Error> {
        let has_zones = assembly.ftl.zones.is_some();
        for (index, job) in self.list.iter().enumerate() {
            let problem = match has_zones {
                false if !job.zone_command.is_none() => ("zone_command", "the drive has no zones ([zns])"),
                true if job.fua > 0.0 => {
                    ("fua", "no page of a zone is padded, so that it would be on the media ([zns])")
                }
                _ => continue,
            };
            return Err(self.refused(index, &JobError::new(problem.0, problem.1)));
        }
        Ok(())
    }

    /// What erases the drive is asked of one of flash that can be erased as a whole.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first job at fault.
    fn check_erases(&self, assembly: &Assembly) -> Result<(), Error> {
        let asks = |job: &JobConfig| !job.erase_drive.is_none();
        match (self.list.iter().position(asks), assembly.not_erased_with()) {
            (Some(index), Some(what)) => {
                let problem = format!("the drive is not erased as a whole with {what}");
                Err(self.refused(index, &JobError::new("erase_drive", problem)))
            }
            _ => Ok(()),
        }
    }

    /// The workloads, each with when it begins and ends.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job and the key.
    fn lanes(&self, assembly: &Assembly, seed: u64) -> Result<Vec<LaneConfig>, Error> {
        let mut stage = 0;
        let lane = |(index, job): (usize, &JobConfig)| {
            stage += u32::from(job.stonewall && index > 0);
            let ramp = job.ramp_time.map_or(0, |ramp| ramp.0);
            let (duration, begins) = (job.duration.map(|time| Ns(time.0 + ramp)), job.startdelay);
            let workload = SyntheticJob::new(job.clone(), assembly.logical_sectors(), seed)
                .map_err(|error| self.refused(index, &error))?;
            let begins = begins.map_or(Ns::ZERO, |time| Ns(time.0));
            let every = job.thinktime_blocks.unwrap_or(1);
            let think = job.thinktime.map(|time| Think { time: Ns(time.0), every });
            let turns = Turns { class: job.priority.unwrap_or_default(), weight: job.weight };
            let (limit, queues) = (limit_of(job), job.queues.unwrap_or(1));
            Ok(LaneConfig {
                duration,
                begins,
                stage,
                think,
                turns,
                limit,
                queues,
                commands_per_queue: job.commands_per_queue,
                ..LaneConfig::new(Box::new(workload), job.iodepth)
            })
        };
        self.list.iter().enumerate().map(lane).collect()
    }
}

/// A TRIM takes the controller's time alone. Where that is none, a queue that is kept full of TRIMs never sees
/// the end of a duration.
fn check_that_time_passes(job: &JobConfig, assembly: &Assembly) -> Result<(), JobError> {
    let only_trims = matches!(job.rw, AccessPattern::Trim | AccessPattern::RandTrim);
    let by_time_alone = JobConfig { duration: None, ..job.clone() }.has_an_end();
    let endless = job.duration.is_some() && !by_time_alone && !job.is_paced();
    if only_trims && endless && assembly.engine.command_cost == Ns::ZERO {
        let problem = "never ends trims, which take no time on a drive with controller.command_cost = 0; give \
                       `requests`, `rate_iops` or `rate`";
        return Err(JobError::new("duration", problem));
    }
    Ok(())
}
