//! The fuzzer of the target `archive` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("archive");
