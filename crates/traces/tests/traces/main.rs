//! Traces as their readers see them: one program for all of it, which is linked once.

mod bad_input;
mod columns;
mod common;
mod properties;
mod published_traces;
mod replay;
mod statistics;
mod volumes;
mod writers;
