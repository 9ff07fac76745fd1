//! The fuzzer of the target `trace` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("trace");
