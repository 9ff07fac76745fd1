//! The tests of the engine that drive it whole: one program, because each program links all of it again.
//!
//! `tests/allocation.rs` stands alone: it counts what the whole process allocates.

/// Drives with known times, and requests for them.
mod common;
/// The tier of two media as its paper writes it down.
mod naive_tier;
/// Hand-made scenes on a small drive.
mod scenario;

mod accumulator;
mod attribution;
mod back_pressure;
mod buffer_parts;
mod cache_parts;
mod cache_reads;
mod cache_tenants;
mod cached_map;
mod classes;
mod collection_times;
mod copyback;
mod determinism;
mod dram;
mod dynamic_allocation;
mod firmware;
mod forwarding;
mod fua;
mod hazards;
mod heat;
mod identities;
mod lanes;
mod link_messages;
mod map_tenants;
mod mechanisms;
mod one_shot;
mod own_parts;
mod own_planes;
mod parity;
mod plane_reads;
mod power;
mod power_states;
mod program_failures;
mod protocol;
mod queueing;
mod queueing_classes;
mod reliability;
mod scm;
mod sectors;
mod slc_cache;
mod superblocks;
mod suspend;
mod suspend_bounds;
mod suspend_practical;
mod suspend_sequences;
mod tenants;
mod throttle;
mod tier_mechanisms;
mod times;
mod trims;
mod volatile_cache;
mod whole_erase;
mod zones;
mod zrwa;
