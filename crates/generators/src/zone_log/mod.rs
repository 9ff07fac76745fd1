//! A log-structured store of the host on a drive with zones, as a key-value store or a translation layer of the host is one: what is
//! written goes to the end of a log, and a map says where the newest content of each block lies.
//!
//! Requests of any workload go in, by the addresses of blocks; requests to zones come out. `config` says how much the store holds and
//! how it cleans, `log` where blocks lie and which zone is cleaned next, `stage` what the drive is asked. That a zone is where the store
//! believes it to be is the drive's business: what it is asked is asked in order.

mod config;
mod log;
mod stage;

pub use config::{CleaningOrder, ZoneLogConfig, ZoneSpace, ZrwaSpace};
pub use stage::ZoneLog;
