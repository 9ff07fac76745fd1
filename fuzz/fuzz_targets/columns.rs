//! The fuzzer of the target `columns` of `ninescope_fuzzing`.
#![no_main]

ninescope_fuzz::fuzzer!("columns");
