//! The checks of the fuzzers on what is kept: one program, because each program links all of it again.

mod corpus;
mod snapshots;
