//! Drives whose bits fail, scene by scene: times to the nanosecond, counters and causes worked out by hand from the
//! constants of `scenario` and `drives`.
//!
//! Nothing is left to chance in the scenes: bits fail always, never, or as often as the law of large numbers says
//! (`drives::always_corrected`).

pub mod drives;

mod counters;
mod damage;
mod decoders;
mod degraded;
mod die_failures;
mod flushed_data;
mod health;
mod map;
mod programs;
mod queues;
mod refetch;
mod refresh;
mod retry;
mod scrub;
mod statistics;
mod storage_class;
