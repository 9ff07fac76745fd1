//! The library as its callers see it: one program for all of it, because each program links the whole engine
//! again.

mod architecture;
mod bad_input;
mod cache_parts;
mod cached_map;
mod composed;
mod config;
mod dram;
mod drive_files;
mod endurance;
mod firmware;
mod golden;
mod host_cache;
mod jobs;
mod namespaces;
mod policy_cases;
mod prepare;
mod record;
mod scenarios;
mod snapshots;
mod steady;
mod stream_channels;
mod support;
mod traces_beside;
mod victims_compared;
mod write_amplification;
