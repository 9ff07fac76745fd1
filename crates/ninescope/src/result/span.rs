//! How long was measured: to the last completion, or to the end of a duration that ended a job.
//!
//! A job of two requests a second for a second issues two requests, the last of them in the middle of the second: it has
//! two requests per second, not four. Limits of the whole run cut several jobs short, so that no duration ended them.

use ninescope_engine::Seen;
use ninescope_engine::meter::LaneMeter;
use ninescope_generators::JobConfig;
use ninescope_kernel::Ns;
use serde_json::Value;

use super::WorkloadReport;

/// When the jobs of a run came to their ends. It knows none of an interrupted run.
#[derive(Clone, Copy)]
pub struct Ends<'a> {
    report: &'a WorkloadReport,
    complete: bool,
    /// The run has limits of its own; those of a single job are that job's.
    limited: bool,
}

impl<'a> Ends<'a> {
    /// `run` is what the run was asked for.
    pub fn of(report: &'a WorkloadReport, run: &Value, complete: bool) -> Self {
        let limited = ["requests", "duration"].iter().any(|&limit| !run[limit].is_null());
        Self { report, complete, limited }
    }

    /// When the only job begins, in simulated time; the run's beginning where there are several, or none.
    pub fn beginning(self, device: &Seen<'_>) -> Ns {
        let alone = self.report.job_of_lane(0).filter(|_| device.meter.lanes.is_empty());
        alone.and_then(|job| job.startdelay).map_or(Ns::ZERO, |delay| Ns(delay.0))
    }

    /// When durations ended jobs, in simulated time.
    pub fn by_time(self, device: &'a Seen<'_>) -> impl Iterator<Item = Ns> + 'a {
        let lanes = &device.meter.lanes;
        let alone = if lanes.is_empty() { self.of_the_only_one(device) } else { None };
        alone.into_iter().chain(lanes.iter().enumerate().filter_map(move |(index, lane)| self.of_lane(lane, index)))
    }

    /// How long a job of several was measured.
    pub fn elapsed(self, lane: &LaneMeter, index: usize) -> Ns {
        let end = self.of_lane(lane, index).zip(lane.since);
        end.map_or(Ns::ZERO, |(end, since)| end.saturating_since(since)).max(lane.elapsed())
    }

    fn of_the_only_one(self, device: &Seen<'_>) -> Option<Ns> {
        let job = self.report.job_of_lane(0).filter(|_| self.complete)?;
        let moved = device.meter.before.bytes + device.meter.ops.iter().map(|op| op.bytes).sum::<u64>();
        let began = job.startdelay.map_or(Ns::ZERO, |delay| Ns(delay.0));
        when_its_time_ends(job, began).filter(|_| ends_by_nothing_else(job, device.completed, moved))
    }

    fn of_lane(self, lane: &LaneMeter, index: usize) -> Option<Ns> {
        let job = self.report.job_of_lane(index).filter(|_| self.complete && !self.limited)?;
        let (measured, before) = (lane.completed(), lane.before);
        // Of one that issued nothing nothing was measured.
        let by_time =
            measured > 0 && ends_by_nothing_else(job, before.requests + measured, before.bytes + lane.bytes());
        when_its_time_ends(job, lane.began?).filter(|_| by_time)
    }
}

/// When the duration of a job that began then is over, which counts from the end of its ramp on.
fn when_its_time_ends(job: &JobConfig, began: Ns) -> Option<Ns> {
    let ramp = job.ramp_time.map_or(Ns::ZERO, |ramp| Ns(ramp.0));
    job.duration.map(|lasts| began + ramp + Ns(lasts.0))
}

/// Whether a job came neither to its number of requests nor to its bytes.
fn ends_by_nothing_else(job: &JobConfig, completed: u64, moved: u64) -> bool {
    job.io_size.is_none_or(|size| moved < size.0) && job.requests.is_none_or(|requests| completed < requests)
}
