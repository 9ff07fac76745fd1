//! Traces, jobs and profiles as their readers see them: one program for all of it, which is linked once.

mod bad_input;
mod common;
mod file_system;
mod host_cache;
mod jobs;
mod naive_cache;
mod profiles;
mod properties;
mod published_traces;
mod replay;
mod stand_ins;
mod statistics;
mod volumes;
mod writers;
