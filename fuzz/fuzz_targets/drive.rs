//! The fuzzer of the target `drive` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("drive");
