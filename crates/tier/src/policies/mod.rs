//! The tier's policies: one folder per trait, one file per policy, one registry line each.
//!
//! A policy may own state and changes only that; everything else it sees is read-only.

pub mod eviction;
pub mod placement;

pub use eviction::EvictionConfig;
pub use placement::{
    Access, Below, Classes, DataPlacement, MigrationMode, OnRead, PlacementConfig, PlacementParameters, Rules,
    WriteBack, WriteTo,
};
