//! The tests of the crate from outside: one program, because each program links all of it again.

mod bad_blocks;
mod block_maps;
mod cost_benefit;
mod fdp;
mod filling;
mod homes;
mod late_moves;
mod parity;
mod partitions;
mod policies;
mod sector_wear_leveling;
mod slc_cache;
mod snapshots;
mod static_orders;
mod stream_choices;
mod streams;
mod superblocks;
mod wear_leveling;
mod wordlines;
mod write_amplification;
mod zones;
