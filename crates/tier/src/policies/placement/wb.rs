//! WB: storage-class memory as a write-back cache of flash, the reference of Yamada et al.
//! (SCM/NAND flash hybrid SSD, section 2).
//!
//! All writes go to the cache, and what is read from flash is copied into it. The cache is inclusive: a clean page has
//! its copy in flash and is dropped free. A page is evicted where a slot is needed, and whoever needs it waits.

use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Classes, DataPlacement, MigrationMode, OnRead, PlacementParameters, Rules, WriteBack, WriteTo};
use crate::policies::eviction::EvictionConfig;

/// Its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wb {
    /// Pages are evicted while no more than this share of the slots is free; 0: where a slot is needed
    /// (inferred).
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
    /// Whether pages are copied up when they are read from flash.
    pub copy_reads: bool,
    /// Whether the rest of a page written in part is brought up from flash.
    pub fetch_on_write: bool,
    /// Pages that are brought up ahead of a read that goes on where one before it ended [count].
    #[serde(skip_serializing_if = "is_none")]
    pub read_ahead: u32,
    /// When the host has rested for so long, what is dirty goes down; absent: not because of that [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub flush_at_rest: Option<Duration>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_none(pages: &u32) -> bool {
    *pages == 0
}

impl Default for Wb {
    fn default() -> Self {
        Self {
            evict_free: 0.0,
            evict_stop: None,
            victim: EvictionConfig::default(),
            migration: MigrationMode::Foreground,
            copy_reads: true,
            fetch_on_write: false,
            read_ahead: 0,
            flush_at_rest: None,
        }
    }
}

impl Wb {
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
            write_back: WriteBack::default(),
            read_ahead: self.read_ahead,
            flush_at_rest: self.flush_at_rest,
        }
    }
}

impl PlacementParameters for Wb {
    fn is_cache(&self) -> bool {
        true
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        Some((Box::new(self.clone()), self.rules()))
    }
}

impl DataPlacement for Wb {
    fn write(&mut self, _access: &Access) -> WriteTo {
        WriteTo::Upper
    }

    fn read(&mut self, _access: &Access) -> OnRead {
        if self.copy_reads { OnRead::Copy } else { OnRead::Stay }
    }
}
