//! The engine: it owns time, and joins the rooms that do not know each other.
//!
//! `host` takes requests in and hands completions out, `flow` turns them into transactions, `sched`
//! decides which transaction a die runs next and moves it through channel and array, `meter` says where
//! the time went. Mapping and garbage collection are the FTL's, durations and legality the media's.

mod config;
mod counters;
mod device;
mod error;
mod flow;
mod host;
mod kind;
pub mod meter;
mod probe;
pub mod reliability;
mod resources;
mod sched;
mod scm;
mod tier;
mod transaction;

pub use config::{EngineConfig, RunLimits, WriteCompletion};
pub use counters::EngineCounters;
pub use device::{Device, HostEnd, Progress, Seen, Utilization};
pub use error::{SimulationError, Violation};
pub use host::{LANES_MAX, LaneConfig, RequestLogEntry, Think};
pub use kind::{Kind, OnHeap, Plain, Watched};
pub use probe::{Access, BufferLimits, Event, MergedWith, NoProbe, Pair, Probe, ReadFrom, View};
pub use sched::suspend_policy::{self, SuspendPolicy, SuspendPolicyConfig};
pub use sched::transaction_scheduler::{self, TransactionScheduler, TransactionSchedulerConfig};
pub use scm::{ScmCounters, ScmPart};
pub use tier::{Lower, Migration, MigrationKind, SlotWaiter, TierConfig, TierPart};
pub use transaction::QueueClass;
