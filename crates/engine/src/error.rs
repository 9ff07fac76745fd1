//! Why a simulation stops before its end.

use ninescope_ftl::FtlError;
use ninescope_kernel::Ns;
use ninescope_media::nand::IllegalCommand;
use ninescope_media::scm::IllegalScmCommand;
use ninescope_model::WorkloadError;
use thiserror::Error;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Simulated time.
    pub at: Ns,
    /// Name of the invariant.
    pub rule: &'static str,
    /// What is wrong with which objects.
    pub what: String,
}

/// Why a simulation stops before its end. All but `Workload` and `BeyondDrive` are faults of ninescope.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The workload cannot be read on.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A request leaves the drive.
    #[error("request {index} ends at sector {end}, beyond the drive's {sectors} sectors ({bytes} bytes)")]
    BeyondDrive {
        /// Which request, from 0.
        index: u64,
        /// Its end [512 B sectors].
        end: u64,
        /// The drive [512 B sectors].
        sectors: u64,
        /// The drive [B].
        bytes: u64,
    },
    /// A command the media refuses.
    #[error("at {at}: illegal flash command: {source}")]
    Illegal {
        /// Simulated time.
        at: Ns,
        /// What is wrong.
        source: IllegalCommand,
    },
    /// A command that storage-class memory refuses.
    #[error("at {at}: illegal SCM command: {source}")]
    IllegalOnScm {
        /// Simulated time.
        at: Ns,
        /// What is wrong.
        source: IllegalScmCommand,
    },
    /// The FTL cannot go on.
    #[error(transparent)]
    Ftl(#[from] FtlError),
    /// Nothing will happen any more, and work is outstanding.
    #[error("at {at}: nothing is scheduled, but work is outstanding: {holders}")]
    Stuck {
        /// Simulated time.
        at: Ns,
        /// Who holds the work.
        holders: String,
    },
    /// The checker found an invariant violated.
    #[error("at {}: violated: {}: {}", .0.at, .0.rule, .0.what)]
    Violation(Box<Violation>),
    /// A request's parts do not sum to its latency.
    #[error("at {at}: the parts of request {id} sum to {parts} ns, its latency is {latency} ns")]
    Attribution {
        /// Simulated time.
        at: Ns,
        /// The request.
        id: u64,
        /// Sum of the parts [ns].
        parts: u64,
        /// Latency [ns].
        latency: u64,
    },
}
