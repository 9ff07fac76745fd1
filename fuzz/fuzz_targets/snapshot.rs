//! The fuzzer of the target `snapshot` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("snapshot");
