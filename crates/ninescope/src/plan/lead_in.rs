//! The lead-in: what a run of jobs on a drive prepared to a steady state leaves out by itself.
//!
//! Preparing takes no time: it collects what each write leaves before the next one, as a drive does that rests in
//! between. It ends with a block group more free in each pool than a drive has under load. Writes that use
//! these up cost no moves, and a window that begins with them shows a write amplification that climbs. A trace has
//! no lead-in: its requests are what it is replayed for, and before its first one a drive did rest.

use ninescope_generators::{JobConfig, JobRegion};
use ninescope_model::Op;

/// So many rounds of block groups (one in each pool) are written first: those that were free, and those that were open.
const ROUNDS: u64 = 2;
/// Of the run it takes no more than this share; a shorter run is all measured.
const SHARE_AT_MOST: f64 = 0.25;

/// Requests of the lead-in. `round_units` is what fills one block group in each pool [units]. None at all where the jobs
/// write nothing, or where it is not known how many requests they make.
pub fn requests(jobs: &[JobConfig], regions: &[JobRegion], round_units: u64, unit_bytes: u64) -> u64 {
    let (mut total, mut written) = (0.0, 0.0);
    for (job, region) in jobs.iter().zip(regions) {
        let Some(requests) = job.requests_in_all(region) else { return 0 };
        total += requests as f64;
        written += requests as f64 * job.write_share() * job.mean_bytes(Op::Write).max(unit_bytes as f64);
    }
    let lead_in = libm::ceil((ROUNDS * round_units * unit_bytes) as f64 * total / written);
    if lead_in <= SHARE_AT_MOST * total { lead_in as u64 } else { 0 }
}

/// What is to be said of it.
pub fn note(requests: u64) -> Option<String> {
    let why = "they use up most of what a drive prepared without time has free";
    (requests > 0).then(|| format!("the first {requests} requests are not measured: {why} (`--warmup 0` measures all)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a job on a drive of 1 GiB whose pools have groups of 512 units of 4 KiB in all.
    fn lead_in(job: &str) -> u64 {
        let job: JobConfig = toml::from_str(job).expect("a job");
        let region = job.validate(1 << 30).expect("it fits");
        requests(&[job], &[region], 512, 4_096)
    }

    #[test]
    fn it_is_two_rounds_of_block_groups() {
        assert_eq!(lead_in("rw = 'randwrite'\nrequests = 30000"), 1_024);
        assert_eq!(lead_in("rw = 'randwrite'\nbs = '16k'\nrequests = 30000"), 256);
        assert_eq!(lead_in("rw = 'randwrite'\nbs = '512'\nrequests = 30000"), 1_024, "parts of a unit take a unit");
        assert_eq!(lead_in("rw = 'randrw'\nrwmixread = 75\nrequests = 30000"), 4_096);
    }

    #[test]
    fn short_runs_and_runs_that_do_not_write_are_measured_whole() {
        assert_eq!(lead_in("rw = 'randwrite'\nrequests = 4095"), 0);
        assert_eq!(lead_in("rw = 'randwrite'\nrequests = 4096"), 1_024);
        assert_eq!(lead_in("rw = 'randread'\nrequests = 30000"), 0);
        assert_eq!(lead_in("rw = 'randtrim'\nrequests = 30000"), 0);
        assert_eq!(lead_in("rw = 'randwrite'\nduration = '1s'"), 0, "nobody knows how many requests that makes");
        assert_eq!(note(0), None);
    }
}
