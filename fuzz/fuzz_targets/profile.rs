//! The fuzzer of the target `profile` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("profile");
