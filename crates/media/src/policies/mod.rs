//! The choices of the media: how bits fail, and when verifying a write ends. One folder per registry, one file per policy, one
//! registry line each.

pub mod error_model;
pub mod program_verify;
