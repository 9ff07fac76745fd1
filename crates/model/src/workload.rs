//! What every source of requests is to the engine, whoever reads or draws them.

use std::error::Error;

use ninescope_kernel::Ns;

use crate::{HostCacheStatistics, Request, ZoneLogStatistics};

/// No request is submitted later: 73 years. What follows from one has as many years again and more, so that no
/// simulated time overflows.
pub const TIME_MAX: Ns = Ns(1 << 61);

/// The longest request: 1 GiB [512 B]. A longer one is damage, and would take memory that its trace does not.
pub const REQUEST_SECTORS_MAX: u32 = 1 << 21;

/// The most workloads of a run: each is metered by itself, and looked at when a slot becomes free.
pub const LANES_MAX: usize = 256;

/// Who decides when a request is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The workload: each request is submitted at its time stamp.
    Open,
    /// The engine: the next request is submitted as soon as one of the queue's slots is free.
    Closed,
}

/// Why a workload gives no more requests, in the words of whoever reads them.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WorkloadError(Box<dyn Error + Send + Sync>);

impl WorkloadError {
    /// What went wrong with the source.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

/// A source of requests.
pub trait Workload: Send {
    /// Whether the time stamps count. It does not change during a run.
    fn arrival(&self) -> Arrival;

    /// The next request, `None` at the end. Time stamps of an open workload never decrease.
    ///
    /// # Errors
    /// When the source cannot be read on. The workload is over then: later calls give `None`.
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError>;

    /// What the cache did that the requests came through, where there is one.
    fn host_cache(&self) -> Option<&HostCacheStatistics> {
        None
    }

    /// What the log on zones did that the requests went to, where there is one.
    fn zone_log(&self) -> Option<&ZoneLogStatistics> {
        None
    }
}
