//! The fuzzer of the target `job` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("job");
