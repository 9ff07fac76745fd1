//! The fuzzer of the target `request` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("request");
