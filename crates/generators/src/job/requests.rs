//! What follows from a job's keys: how large its requests are, how many of which kind come how fast, when it ends.

use ninescope_model::units::{Bytes, BytesPerSecond};
use ninescope_model::{Op, SECTOR_BYTES};

use super::config::{EachPass, JobConfig, RateProcess};
use super::{AddressDistribution, JobError, JobRegion};

// ---- how large they are ------------------------------------------------------------------------------

impl JobConfig {
    /// The smallest and the largest request of the directions in `ops`.
    pub(super) fn sizes(&self, ops: &[Op]) -> (Bytes, Bytes) {
        if let Some(range) = &self.bsrange {
            return range.extremes(ops);
        }
        if let Some(normal) = &self.bsnormal {
            return normal.extremes(ops);
        }
        let Some(split) = &self.bssplit else { return (self.bs, self.bs) };
        let sizes = || split.sizes(ops);
        (sizes().min().unwrap_or(self.bs), sizes().max().unwrap_or(self.bs))
    }

    /// The smallest and the largest request.
    pub fn sizes_of_all(&self) -> (Bytes, Bytes) {
        self.sizes(self.rw.ops())
    }

    /// The smallest request of a direction.
    pub fn least_bytes(&self, op: Op) -> Bytes {
        self.sizes(&[op]).0
    }

    /// The mean request of a direction [B].
    pub fn mean_bytes(&self, op: Op) -> f64 {
        match (&self.bssplit, &self.bsrange, &self.bsnormal) {
            (_, Some(range), _) => range.mean(op),
            (_, None, Some(normal)) => normal.mean(op),
            (Some(split), None, None) => split.mean(op),
            (None, None, None) => self.bs.0 as f64,
        }
    }

    /// Whether requests differ in size.
    pub fn sizes_differ(&self) -> bool {
        self.bssplit.is_some() || self.bsrange.is_some() || self.bsnormal.is_some()
    }

    /// Whether requests of one direction differ in size.
    pub fn sizes_of_an_op_differ(&self) -> bool {
        self.rw.ops().iter().any(|&op| {
            let (least, most) = self.sizes(&[op]);
            least != most
        })
    }

    /// The mean request [B].
    pub fn mean_request(&self) -> f64 {
        let ops = self.rw.ops();
        let reads = self.read_share();
        self.mean_bytes(ops[0]) * reads + self.mean_bytes(ops[ops.len() - 1]) * (1.0 - reads)
    }

    /// The smallest request of all directions, whether there are any of them or not.
    pub fn smallest(&self) -> Bytes {
        [Op::Read, Op::Write, Op::Trim].map(|op| self.least_bytes(op)).into_iter().min().unwrap_or(self.bs)
    }
}

// ---- which kinds, and how fast ------------------------------------------------------------------------

impl JobConfig {
    /// The share of reads among the requests, where the first kind of operation counts as reads.
    pub fn read_share(&self) -> f64 {
        if self.rw.ops().len() == 1 {
            return 1.0;
        }
        match self.pace_of_writes() {
            Some(writes) => {
                let reads = self.pace().map_or(0.0, |pace| self.requests_per_second(pace, Op::Read));
                reads / (reads + self.requests_per_second(writes, Op::Write))
            }
            None => self.rwmixread / 100.0,
        }
    }

    /// The share of writes among the requests.
    pub fn write_share(&self) -> f64 {
        match self.rw.ops() {
            [Op::Write] => 1.0,
            [_, Op::Write] => 1.0 - self.read_share(),
            _ => 0.0,
        }
    }

    /// Whether it writes at random in passes over its region, each block once in each or each pass like the first: the garbage
    /// that its writes find goes up and down with the pass.
    pub fn writes_in_passes(&self) -> bool {
        let in_passes = self.random_map || self.each_pass == Some(EachPass::Same);
        self.rw.is_random() && self.write_share() > 0.0 && in_passes
    }

    /// How many requests arrive per second, where they arrive at a fixed rate.
    pub fn arrivals_per_second(&self) -> Option<f64> {
        let pace = self.pace().filter(|_| self.rate_process == RateProcess::Linear)?;
        let writes = self.pace_of_writes().map_or(0.0, |pace| self.requests_per_second(pace, Op::Write));
        Some(self.requests_per_second(pace, self.rw.ops()[0]) + writes)
    }

    /// Whether requests arrive at a rate, whatever the drive does.
    pub fn is_paced(&self) -> bool {
        self.pace().is_some()
    }

    /// Whether writes of a mixed job arrive at a rate of their own, so that its mix is not drawn.
    pub fn writes_are_paced(&self) -> bool {
        self.pace_of_writes().is_some()
    }

    /// The rate of the job, or of its reads where writes have one of their own.
    pub(super) fn pace(&self) -> Option<Pace> {
        let per_second = self.rate_iops.map(|rate| self.pace_in_requests(rate));
        per_second.or_else(|| self.rate.map(Pace::Bytes))
    }

    /// That of the writes, where they have one of their own.
    pub(super) fn pace_of_writes(&self) -> Option<Pace> {
        let per_second = self.write_rate_iops.map(|rate| self.pace_in_requests(rate));
        per_second.or_else(|| self.write_rate.map(Pace::Bytes)).filter(|_| self.is_paced())
    }

    fn pace_in_requests(&self, rate: f64) -> Pace {
        if self.rate_by_bytes { Pace::Smallest(rate) } else { Pace::Requests(rate) }
    }

    /// How many requests per second a rate comes to in the mean, where `op` is the direction that has it.
    pub(super) fn requests_per_second(&self, pace: Pace, op: Op) -> f64 {
        match pace {
            Pace::Requests(rate) => rate,
            Pace::Smallest(rate) => rate * (self.least_bytes(op).0 as f64 / self.mean_bytes(op)),
            Pace::Bytes(BytesPerSecond(rate)) => rate as f64 / self.mean_paced(op),
        }
    }

    /// The mean of the requests that share a rate with `op` [B].
    pub(super) fn mean_paced(&self, op: Op) -> f64 {
        if self.writes_are_paced() { self.mean_bytes(op) } else { self.mean_request() }
    }
}

/// What a job's rate is one of, in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Requests(f64),
    /// Requests of the smallest size; a larger one takes as much longer.
    Smallest(f64),
    Bytes(BytesPerSecond),
}

// ---- how many there are -----------------------------------------------------------------------------

impl JobConfig {
    /// The jobs that `numjobs` asks for: one, or copies named `name.0` and so on, as in fio.
    ///
    /// # Errors
    /// Names `numjobs` where it is nothing or more than `most`.
    pub fn copies(&self, most: usize) -> Result<Vec<Self>, JobError> {
        match self.numjobs {
            0 => Err(JobError::new("numjobs", "0 jobs do no work; write at least 1")),
            1 => Ok(vec![self.clone()]),
            jobs if jobs as usize > most => {
                Err(JobError::new("numjobs", format!("{jobs} jobs are more than the {most} that run at the same time")))
            }
            jobs => Ok((0..jobs).map(|index| self.copy(index)).collect()),
        }
    }

    fn copy(&self, index: u32) -> Self {
        let further = self.offset_increment.map_or(0, |bytes| bytes.0.saturating_mul(u64::from(index)));
        Self {
            name: format!("{}.{index}", self.name),
            offset: Bytes(self.offset.0.saturating_add(further)),
            // The first of them waits, and the others begin with it.
            stonewall: self.stonewall && index == 0,
            numjobs: 1,
            offset_increment: None,
            ..self.clone()
        }
    }

    /// Whether it says itself when it ends.
    pub fn has_an_end(&self) -> bool {
        self.requests.is_some() || self.io_size.is_some() || self.passes.is_some() || self.duration.is_some()
    }

    /// How many requests it makes, flushes not counted, where that is known: not where its duration alone ends it, and by
    /// the mean of their sizes where bytes do.
    pub fn requests_in_all(&self, region: &JobRegion) -> Option<u64> {
        let of_bytes = self.io_size.map(|bytes| libm::ceil(bytes.0 as f64 / self.mean_request()).max(1.0) as u64);
        self.requests_at_most(region).into_iter().chain(of_bytes).min()
    }

    /// How many requests it makes at most; none where bytes or its duration alone end it.
    pub(super) fn requests_at_most(&self, region: &JobRegion) -> Option<u64> {
        // Like fio without a limit: as many as it takes to cover the region once.
        let unlimited = self.io_size.is_none() && self.duration.is_none();
        self.requests.or_else(|| unlimited.then(|| self.requests_of_one_pass(region)))
    }

    /// The same job with the end that its `passes` come to on a drive where it has this region.
    #[must_use]
    pub fn ended_by_passes(mut self, region: &JobRegion) -> Self {
        let Some(passes) = self.passes.take() else { return self };
        if self.sizes_differ() {
            let bytes = (region.sectors * SECTOR_BYTES).saturating_mul(passes);
            self.io_size = Some(Bytes(self.io_size.map_or(bytes, |size| size.0.min(bytes))));
        } else {
            let requests = region.places.saturating_mul(passes);
            self.requests = Some(self.requests.map_or(requests, |number| number.min(requests)));
        }
        self
    }

    /// How many requests cover the region once.
    fn requests_of_one_pass(&self, region: &JobRegion) -> u64 {
        if !self.sizes_differ() {
            return region.places;
        }
        ((region.sectors * SECTOR_BYTES) as f64 / self.mean_request()).max(1.0) as u64
    }

    /// Whether each place can come once before any comes again.
    pub fn can_be_mapped(&self) -> bool {
        let uniform = self.random_distribution == AddressDistribution::Uniform;
        self.rw.is_random() && uniform && self.percentage_random == 100 && !self.sizes_differ()
    }
}
