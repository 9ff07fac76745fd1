//! The engine: it owns time, and joins the rooms that do not know each other.
//!
//! Each part of a drive has an owner, which alone sees its fields: `host` takes requests in and hands completions out,
//! `flash` and `scm` have what waits on dies and banks and what runs there, `dram` the controller's memory, `firmware` its cores, `power` what all of it draws, `tier` what is above
//! and below, `reliability` the bits that fail. `device` hands wake-ups to them, and what one of them says on to the others. `run` has time and what
//! belongs to nobody, `sched` what dies and banks have in common, `meter` says where the time went. Mapping and garbage
//! collection are the FTL's, durations and legality the media's.

mod config;
mod counters;
mod device;
mod dram;
mod error;
mod firmware;
mod flash;
mod host;
pub mod mapping;
pub mod meter;
pub mod policies;
mod power;
mod probe;
pub mod reliability;
mod resources;
mod run;
mod sched;
mod scm;
mod tier;
mod transaction;

pub use config::{
    BufferPartsConfig, Coalescing, EngineConfig, Fetch, Forwarding, Interface, LinkCarries, LinkReads, MergeBy,
    ProtocolConfig, RunLimits, SectorRules, WriteCompletion,
};
pub use counters::EngineCounters;
pub use device::kind::{Kind, OnHeap, Plain, Watched};
pub use device::{Device, HostEnd, Progress, Seen};
pub use dram::{Dram, DramAccess, DramConfig, DramCounters, DramUse, TransferTimes};
pub use error::{SimulationError, Violation};
pub use firmware::{DECISIONS, Dealing, Decision, Firmware, FirmwareConfig, FirmwareCounters, Step};
pub use flash::{BufferLimits, Dropped, MergedWith, ReadFrom};
pub use host::{LaneConfig, Limit, LinkMessage, RequestLogEntry, Think};
pub use meter::Utilization;
pub use policies::channel_arbitration::ChannelArbitrationConfig;
pub use policies::host_arbitration::HostArbitrationConfig;
pub use policies::suspend::{SuspendPolicy, SuspendPolicyConfig};
pub use policies::transaction_scheduler::{TransactionScheduler, TransactionSchedulerConfig};
pub use policies::trim::{Deferral, TrimConfig, TrimmedReads};
pub use policies::write_throttle::WriteThrottleConfig;
pub use power::{
    Energy, HeatConfig, HeatSeen, Peak, Power, PowerConfig, PowerState, StateTimes, ThrottleStep, ThrottleTimes,
};
pub use probe::{Access, Event, Forgotten, NoProbe, Pair, Probe, View};
pub use scm::{ScmCounters, ScmPart};
pub use tier::{Lower, Migration, MigrationKind, Occasion, SlotWaiter, TenantPages, TierConfig, TierPart};
pub use transaction::QueueClass;
