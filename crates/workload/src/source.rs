//! What every source of requests is to the engine.

use ninescope_model::Request;

use crate::WorkloadError;

/// Who decides when a request is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The workload: each request is submitted at its time stamp.
    Open,
    /// The engine: the next request is submitted as soon as one of the queue's slots is free.
    Closed,
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
}
