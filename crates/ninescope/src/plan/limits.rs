//! Where a run ends, what of it is not measured, and how much of a job the drive takes in.

use ninescope_engine::{Limit, RunLimits};
use ninescope_generators::JobConfig;
use ninescope_kernel::Ns;
use ninescope_model::units::Duration;

use crate::error::Error;
use crate::request::{RunRequest, Warmup};

/// Where the run ends and what of it is not measured. The requests in all are unknown where time alone ends them.
pub fn limits(
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

/// The limits of a run whose number of requests only its end shows, unless it is given.
pub fn cached_limits(
    request: &RunRequest,
    requests: Option<u64>,
    duration: Option<Duration>,
    depth: u32,
) -> Result<RunLimits, Error> {
    if matches!(request.warmup, Some(Warmup::Share(share)) if share > 0.0) && requests.is_none() {
        let problem = "how many requests reach the drive is not known before; give a number of requests, or `requests`";
        return Err(Error::Input(format!("warmup: {problem}")));
    }
    limits(request, requests, requests, duration.map(|duration| Ns(duration.0)), depth)
}

/// What the drive takes in of a job at most.
pub fn limit_of(job: &JobConfig) -> Option<Limit> {
    let bytes_per_second = job.bandwidth_max.map(|rate| rate.0);
    let burst = job.limit_burst.map_or(Ns::ZERO, |time| Ns(time.0));
    (job.iops_max.is_some() || bytes_per_second.is_some()).then_some(Limit {
        iops: job.iops_max,
        bytes_per_second,
        burst,
    })
}
