//! Jobs on their way into a run: copies are made, the limits of the run applied, each laid out on the drive.

use std::ops::Range;

use ninescope_engine::{LANES_MAX, LaneConfig};
use ninescope_kernel::Ns;
use ninescope_workload::{AccessPattern, JobConfig, JobError, JobRegion, SyntheticJob};

use crate::assembly::Assembly;
use crate::error::Error;
use crate::request::RunRequest;

/// The jobs of a run, every copy by itself.
#[derive(Debug)]
pub struct Jobs(Vec<JobConfig>);

impl Jobs {
    /// Makes the copies that `numjobs` asks for.
    ///
    /// # Errors
    /// [`Error::Input`] for too many jobs, and for two of one name, which would draw the same random numbers.
    pub fn new(described: &[JobConfig]) -> Result<Self, Error> {
        let mut jobs: Vec<JobConfig> = Vec::new();
        for job in described {
            let copies = job.copies(LANES_MAX).map_err(|error| named(job, described.len() > 1, error))?;
            jobs.extend(copies);
        }
        if jobs.len() > LANES_MAX {
            return Err(Error::Input(format!(
                "jobs: {} are more than the {LANES_MAX} that run at the same time",
                jobs.len()
            )));
        }
        let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::Input(format!(
                "jobs: two are called `{}`; give each a `name` of its own, which its random numbers depend on too",
                pair[0]
            ))),
            None => Ok(Self(jobs)),
        }
    }

    /// Each job.
    pub fn list(&self) -> &[JobConfig] {
        &self.0
    }

    fn several(&self) -> bool {
        self.0.len() > 1
    }

    /// Applies what the run says: to a job alone in place of its own limits, of several to those that have none.
    pub fn limit(&mut self, request: &RunRequest, iodepth: Option<u32>) {
        let several = self.several();
        for job in &mut self.0 {
            if !several {
                job.requests = request.requests.or(job.requests);
                job.duration = request.duration.or(job.duration);
            } else if job.requests.is_none() && job.duration.is_none() {
                (job.requests, job.duration) = (request.requests, request.duration);
            }
            job.iodepth = iodepth.unwrap_or(job.iodepth);
        }
    }

    /// The first byte behind everything that the jobs name.
    pub fn end(&self) -> u64 {
        let end = |job: &JobConfig| job.size.map_or(0, |size| job.offset.0.saturating_add(size.0));
        self.0.iter().map(end).max().unwrap_or_default()
    }

    /// Lays every job out on the drive.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job, where there are several, and the key.
    pub fn regions(&self, assembly: &Assembly) -> Result<Vec<JobRegion>, Error> {
        let region = |job: &JobConfig| {
            let region = job.validate(assembly.logical_bytes()).and_then(|region| {
                check_that_time_passes(job, assembly)?;
                Ok(region)
            });
            region.map_err(|error| named(job, self.several(), error))
        };
        self.0.iter().map(region).collect()
    }

    /// The units that the jobs can touch.
    pub fn units(&self, regions: &[JobRegion], sectors_per_unit: u64) -> Vec<Range<u32>> {
        let units = |(job, region): (&JobConfig, &JobRegion)| {
            let end = region.end_sector(job.sizes_differ() || job.percentage_random < 100);
            (region.first_sector / sectors_per_unit) as u32..end.div_ceil(sectors_per_unit) as u32
        };
        disjoint(self.0.iter().zip(regions).map(units).collect())
    }

    /// How many requests they make in all, where that is known.
    pub fn requests(&self, regions: &[JobRegion]) -> Option<u64> {
        let mut requests = self.0.iter().zip(regions).map(|(job, region)| job.requests_in_all(region));
        requests.try_fold(0_u64, |sum, requests| Some(sum.saturating_add(requests?)))
    }

    /// How long the run is not measured.
    ///
    /// # Errors
    /// [`Error::Input`] where the jobs do not agree on it: a run is measured from one time on.
    pub fn ramp_time(&self) -> Result<Option<Ns>, Error> {
        let ramp = self.0[0].ramp_time;
        let refused = |job: &JobConfig, problem: &str| Err(named(job, true, JobError::new("ramp_time", problem)));
        if let Some(job) = self.0.iter().find(|job| job.ramp_time != ramp) {
            return refused(job, "the run is measured from one time on, so that it must be the same for all jobs");
        }
        let waits = |(index, job): (usize, &JobConfig)| job.startdelay.is_some() || (job.stonewall && index > 0);
        match self.0.iter().enumerate().find(|&entry| waits(entry)) {
            Some((_, job)) if ramp.is_some() => {
                refused(job, "counts from the beginning of the run, at which this job does not begin; give --warmup")
            }
            _ => Ok(ramp.map(|ramp| Ns(ramp.0))),
        }
    }

    /// The workloads, each with when it begins and ends.
    ///
    /// # Errors
    /// [`Error::Input`] that names the job and the key.
    pub fn lanes(self, assembly: &Assembly, seed: u64) -> Result<Vec<LaneConfig>, Error> {
        let several = self.several();
        let mut stage = 0;
        let lane = |(index, job): (usize, JobConfig)| {
            stage += u32::from(job.stonewall && index > 0);
            let ramp = job.ramp_time.map_or(0, |ramp| ramp.0);
            let (duration, begins) = (job.duration.map(|time| Ns(time.0 + ramp)), job.startdelay);
            let workload = SyntheticJob::new(job.clone(), assembly.logical_sectors(), seed)
                .map_err(|error| named(&job, several, error))?;
            let begins = begins.map_or(Ns::ZERO, |time| Ns(time.0));
            Ok(LaneConfig { duration, begins, stage, ..LaneConfig::new(Box::new(workload), job.iodepth) })
        };
        self.0.into_iter().enumerate().map(lane).collect()
    }
}

/// A problem of a job, by its name where there are several.
fn named(job: &JobConfig, several: bool, error: JobError) -> Error {
    if several { Error::Input(format!("job `{}`: {error}", job.name)) } else { error.into() }
}

/// A TRIM takes the controller's time alone. Where that is none, a queue that is kept full of TRIMs never sees
/// the end of a duration.
fn check_that_time_passes(job: &JobConfig, assembly: &Assembly) -> Result<(), JobError> {
    let only_trims = matches!(job.rw, AccessPattern::Trim | AccessPattern::RandTrim);
    let endless = job.duration.is_some() && job.requests.is_none() && job.rate_iops.is_none();
    if only_trims && endless && assembly.engine.command_cost == Ns::ZERO {
        let problem = "never ends trims, which take no time on a drive with controller.command_cost = 0; give \
                       `requests` or `rate_iops`";
        return Err(JobError::new("duration", problem));
    }
    Ok(())
}

/// The same numbers in ranges that do not overlap, in their order.
pub fn disjoint(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    for range in &mut ranges {
        range.start = range.start.max(end).min(range.end);
        end = end.max(range.end);
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}
