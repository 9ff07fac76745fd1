//! NV-WB: memory-type above storage-type SCM (Kinoshita, Matsui and Takeuchi, "Multi-SCM SSD", FMS slides).
//!
//! A write-back cache with an LRU table of 16 KiB pages. A read miss is answered from below, and the page is copied up.
//! By itself a write miss fetches nothing, so that the page has only the sectors that were written, and only dirty
//! sectors go down (inferred); `fetch_on_write` with `write_back = "whole-pages"` moves whole pages both ways, as the
//! slides say. The copies run in the background (inferred), for which a few slots are kept free.

use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Access, Below, Classes, DataPlacement, MigrationMode, OnRead, PlacementParameters, Rules, WriteBack, WriteTo,
};
use crate::policies::eviction::EvictionConfig;

/// Its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NvWb {
    /// Pages are evicted while no more than this share of the slots is free; 0: where a slot is needed (inferred).
    #[schemars(range(min = 0, max = 1))]
    pub evict_free: f64,
    /// Once begun, eviction goes on until more than this share is free; that of `evict_free`, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub evict_stop: Option<f64>,
    /// Which page is evicted.
    #[serde(deserialize_with = "string_or_table")]
    pub victim: EvictionConfig,
    /// Whether requests wait for the migrations they cause.
    pub migration: MigrationMode,
    /// Whether the rest of a page written in part is brought up from below.
    pub fetch_on_write: bool,
    /// What of a dirty page is written below.
    pub write_back: WriteBack,
    /// When the host has rested for so long, what is dirty goes down; absent: not because of that [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub flush_at_rest: Option<Duration>,
}

impl Default for NvWb {
    fn default() -> Self {
        Self {
            evict_free: 0.01,
            evict_stop: None,
            victim: EvictionConfig::default(),
            migration: MigrationMode::Background,
            fetch_on_write: false,
            write_back: WriteBack::DirtySectors,
            flush_at_rest: None,
        }
    }
}

impl NvWb {
    /// What the tier needs to know.
    pub fn rules(&self) -> Rules {
        Rules {
            evict_free: self.evict_free,
            evict_stop: self.evict_stop.unwrap_or(self.evict_free),
            victim: self.victim.clone(),
            migration: self.migration,
            classes: Classes::default(),
            fetch_on_write: self.fetch_on_write,
            write_around: false,
            write_back: self.write_back,
            read_ahead: 0,
            flush_at_rest: self.flush_at_rest,
        }
    }
}

impl PlacementParameters for NvWb {
    fn is_cache(&self) -> bool {
        true
    }

    fn below(&self) -> Below {
        Below::Scm
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        Some((Box::new(self.clone()), self.rules()))
    }
}

impl DataPlacement for NvWb {
    fn write(&mut self, _access: &Access) -> WriteTo {
        WriteTo::Upper
    }

    fn read(&mut self, _access: &Access) -> OnRead {
        OnRead::Copy
    }
}
