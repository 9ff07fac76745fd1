//! How long was measured: to the last completion, or to the end of a duration that ended a job.
//!
//! A job of two requests a second for a second issues two requests, the last of them in the middle of the second: it has
//! two requests per second, not four. Limits of the whole run cut several jobs short, so that no duration ended them.

use ninescope_engine::Seen;
use ninescope_engine::meter::LaneMeter;
use ninescope_kernel::Ns;
use ninescope_workload::JobConfig;
use serde_json::Value;

use super::WorkloadReport;

/// The jobs of a run that came to their own ends; none where the run was interrupted or has limits of its own.
#[derive(Clone, Copy)]
pub struct Ends<'a> {
    report: &'a WorkloadReport,
    /// Of several jobs.
    known: bool,
    complete: bool,
}

impl<'a> Ends<'a> {
    /// `run` is what the run was asked for.
    pub fn of(report: &'a WorkloadReport, run: &Value, complete: bool) -> Self {
        let known = complete && run["requests"].is_null() && run["duration"].is_null();
        Self { report, known, complete }
    }

    /// When durations ended jobs, in simulated time.
    pub fn by_time(self, device: &'a Seen<'_>) -> impl Iterator<Item = Ns> + 'a {
        let lanes = &device.meter.lanes;
        let is_alone = lanes.is_empty() && self.complete;
        let alone = self.report.job_of_lane(0).filter(|_| is_alone).and_then(|job| end_alone(job, device.completed));
        alone.into_iter().chain(lanes.iter().enumerate().filter_map(move |(index, lane)| self.of_one(lane, index)))
    }

    fn of_one(self, lane: &LaneMeter, index: usize) -> Option<Ns> {
        end_of_lane(lane, index, self.report).filter(|_| self.known)
    }
}

/// How long a job of several was measured.
pub fn of_lane(lane: &LaneMeter, index: usize, ends: Ends<'_>) -> Ns {
    let end = ends.of_one(lane, index);
    let latest = lane.elapsed();
    end.zip(lane.since).map_or(latest, |(end, since)| latest.max(end.saturating_since(since)))
}

/// When the only job of a run ended, if its duration ended it.
fn end_alone(job: &JobConfig, completed: u64) -> Option<Ns> {
    let lasts = job.duration.filter(|_| is_unlimited(job, completed))?;
    let before = [job.startdelay, job.ramp_time].into_iter().flatten().map(|time| time.0).sum::<u64>();
    Some(Ns(before + lasts.0))
}

/// The same of one of several, whose beginning and ramp are behind it when it is measured.
fn end_of_lane(lane: &LaneMeter, index: usize, report: &WorkloadReport) -> Option<Ns> {
    let job = report.job_of_lane(index)?;
    let counted: u64 = lane.ops.iter().map(|op| op.latency.count()).sum();
    // Of a job with a ramp not all that it issued are counted.
    let is_known = job.requests.is_none() || job.ramp_time.is_none();
    // Of one that issued nothing nothing was measured.
    let lasts = job.duration.filter(|_| counted > 0 && is_known && is_unlimited(job, counted))?;
    Some(lane.since? + Ns(lasts.0))
}

/// Whether a job neither came to its number of requests nor has bytes to come to.
fn is_unlimited(job: &JobConfig, completed: u64) -> bool {
    job.io_size.is_none() && job.requests.is_none_or(|requests| completed < requests)
}
